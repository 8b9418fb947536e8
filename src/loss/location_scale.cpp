#include "fenchel/loss/location_scale.hpp"

namespace fenchel {

double detail::curvature(const LocationScaleScore& f, double y, double unit) {
  const double step = 2e-3 * unit;
  const auto at = [&](double k) { return f.slope(y + k * step); };
  if (y < 3 * step)
    return (-49. / 20 * at(0) + 6 * at(1) - 15. / 2 * at(2) + 20. / 3 * at(3) - 15. / 4 * at(4) +
            6. / 5 * at(5) - at(6) / 6) /
           step;
  return (3. / 4 * (at(1) - at(-1)) - 3. / 20 * (at(2) - at(-2)) + (at(3) - at(-3)) / 60) / step;
}

}  // namespace fenchel
