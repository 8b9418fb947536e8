#include "fenchel/attention/line_function.hpp"

#include <cmath>
#include <numbers>

namespace fenchel {

LineFunction line_function(const GaussianBasis& psi, index_t j) {
  constexpr double kReach = 9;
  const auto i = static_cast<std::size_t>(j);
  const double mean = psi.means()[i], width = psi.widths()[i];
  const double peak = std::numbers::inv_sqrtpi / (std::numbers::sqrt2 * width);
  return {[=](double t) {
            const double z = (t - mean) / width;
            return peak * std::exp(-z * z / 2);
          },
          {mean - kReach * width, mean, mean + kReach * width}};
}

}  // namespace fenchel
