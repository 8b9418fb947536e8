#include "fenchel/distribution/line/generic.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "fenchel/core/check.hpp"
#include "fenchel/core/quadrature.hpp"

namespace fenchel::detail {
namespace {

/// The integral over one piece; beyond an infinite end in units of `scale` from `centre`.
Quadrature integrate_piece(FunctionRef<double(double)> integrand, double lower, double upper, double centre,
                           double scale, double accuracy) {
  if (!std::isinf(lower) && !std::isinf(upper)) return integrate(integrand, lower, upper, accuracy);
  const auto standard = [&](double x) { return integrand(centre + scale * x) * scale; };
  return integrate(standard, (lower - centre) / scale, (upper - centre) / scale, accuracy);
}

}  // namespace

double expectation(FunctionRef<double(double)> f, FunctionRef<double(double)> pdf,
                   std::span<const Interval> support, double centre, double scale, double accuracy) {
  checked_positive("expectation", "accuracy", accuracy);
  double bad = std::numeric_limits<double>::quiet_NaN();
  const auto integrand = [&](double t) {
    const double density = pdf(t);
    if (density == 0) return 0.0;
    const double value = f(t);
    if (std::isnan(value)) bad = t;
    return density * value;
  };
  if (!(scale > 0))
    throw ConvergenceError(error_message("expectation", "the interquartile range",
                                         "must be resolved by doubles near the median", scale));
  double sum = 0, error = 0, size = 0;
  bool converged = true;
  const auto add = [&](double lower, double upper) {
    const Quadrature part = integrate_piece(integrand, lower, upper, centre, scale, accuracy);
    if (!std::isnan(bad))
      throw_domain_error("expectation", "f(" + shortest(bad) + ")", "must be a number",
                         std::numeric_limits<double>::quiet_NaN());
    sum += part.value;
    error += part.error;
    size += part.scale;
    converged = converged && (part.converged || part.error <= accuracy * size);
  };
  for (const Interval& piece : support) {
    const bool cut = piece.lower() < centre && centre < piece.upper();
    add(piece.lower(), cut ? centre : piece.upper());
    if (cut) add(centre, piece.upper());
  }
  if (!converged || !(error <= accuracy * size))
    throw ConvergenceError(error_message("expectation", "the estimated relative error",
                                         "must reach the accuracy", error / size));
  return sum;
}

double raw_moment(int n, double mean, FunctionRef<double(int)> central_moment) {
  if (n < 0) throw_domain_error("moment", "n", "must not be negative", n);
  double sum = 0, binomial = 1;
  for (int k = 0; k <= n; ++k) {  // sum_k C(n, k) mean^{n-k} m_k
    const double power = std::pow(mean, n - k), central = k == 1 ? 0 : central_moment(k);
    if (power != 0 && central != 0) sum += binomial * power * central;
    binomial *= static_cast<double>(n - k) / (k + 1);
  }
  return sum;
}

}  // namespace fenchel::detail
