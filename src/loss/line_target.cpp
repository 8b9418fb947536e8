#include "fenchel/loss/line_target.hpp"

#include <algorithm>

#include "fenchel/core/error.hpp"
#include "fenchel/core/quadrature.hpp"

namespace fenchel::detail {

double integrate_pieces(FunctionRef<double(double)> f, std::vector<double> cuts, double scale) {
  constexpr double kAsked = 1e-12, kAccepted = 1e-10;
  std::sort(cuts.begin(), cuts.end());
  Quadrature sum;
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
    const double lower = cuts[k], upper = cuts[k + 1];
    if (lower == upper) continue;
    const double centre = std::isinf(lower) ? upper : lower;
    const auto standard = [&](double x) { return f(centre + scale * x) * scale; };
    const Quadrature part =
        std::isinf(lower) || std::isinf(upper)
            ? integrate(standard, (lower - centre) / scale, (upper - centre) / scale, kAsked)
            : integrate(f, lower, upper, kAsked);
    sum.value += part.value;
    sum.error += part.error;
    sum.scale += part.scale;
  }
  if (!(sum.error <= kAccepted * sum.scale))
    throw ConvergenceError(error_message("integrate_pieces", "the estimated relative error",
                                         "must reach the accuracy", sum.error / sum.scale));
  return sum.value;
}

}  // namespace fenchel::detail
