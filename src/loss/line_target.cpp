#include "fenchel/loss/line_target.hpp"

#include <algorithm>
#include <utility>

#include "fenchel/core/error.hpp"
#include "fenchel/core/quadrature.hpp"

namespace fenchel::detail {

PieceIntegral integrate_pieces(FunctionRef<double(double)> f, std::vector<double> cuts, double scale,
                               double accuracy) {
  std::sort(cuts.begin(), cuts.end());
  Quadrature sum;
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
    const double lower = cuts[k], upper = cuts[k + 1];
    if (lower == upper) continue;
    const double centre = std::isinf(lower) ? upper : lower;
    const auto standard = [&](double x) { return f(centre + scale * x) * scale; };
    const Quadrature part =
        std::isinf(lower) || std::isinf(upper)
            ? integrate(standard, (lower - centre) / scale, (upper - centre) / scale, accuracy)
            : integrate(f, lower, upper, accuracy);
    sum.value += part.value;
    sum.error += part.error;
    sum.scale += part.scale;
  }
  return {sum.value, sum.scale == 0 ? 0 : sum.error / sum.scale};
}

double checked_integral(FunctionRef<double(double)> f, std::vector<double> cuts, double scale) {
  constexpr double kAsked = 1e-12, kAccepted = 1e-10;
  const PieceIntegral result = integrate_pieces(f, std::move(cuts), scale, kAsked);
  if (!(result.error <= kAccepted))
    throw ConvergenceError(error_message("expectation", "the estimated relative error",
                                         "must reach the accuracy", result.error));
  return result.value;
}

Hessian<3> checked_hessian(Hessian<3> h, std::string_view name, double scale) {
  if (std::isnan(h[1][1]))
    throw_domain_error("fenchel_young_hessian", name, "must keep second derivatives in the range of doubles",
                       scale);
  return h;
}

}  // namespace fenchel::detail
