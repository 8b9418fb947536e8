#include "fenchel/distribution/line/generic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fenchel/core/check.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/quadrature.hpp"

namespace fenchel::detail {
namespace {

/// The integral over one piece; beyond an infinite end in units of `scale` from `centre`.
Quadrature integrate_piece(FunctionRef<double(double)> integrand, double lower, double upper, double centre,
                           double scale, double accuracy, index_t first_panels) {
  if (!std::isinf(lower) && !std::isinf(upper))
    return integrate_twice(integrand, lower, upper, accuracy, first_panels);
  const auto standard = [&](double x) { return integrand(centre + scale * x) * scale; };
  return integrate_twice(standard, (lower - centre) / scale, (upper - centre) / scale, accuracy,
                         first_panels);
}

}  // namespace

double expectation(FunctionRef<double(double)> f, FunctionRef<double(double)> pdf,
                   std::span<const Interval> support, double centre, double scale, double accuracy,
                   std::span<const double> cuts) {
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
  for (const index_t first_panels : {kFirstPanels, kFinestPanels}) {
    double sum = 0, error = 0, size = 0;
    bool converged = true;
    for (const Interval& piece : support) {
      std::vector<double> ends = {piece.lower(), piece.upper(), centre};
      ends.insert(ends.end(), cuts.begin(), cuts.end());
      std::erase_if(ends, [&](double t) { return !(t >= piece.lower() && t <= piece.upper()); });
      std::sort(ends.begin(), ends.end());
      for (std::size_t i = 1; i < ends.size(); ++i) {
        const Quadrature part =
            integrate_piece(integrand, ends[i - 1], ends[i], centre, scale, accuracy, first_panels);
        if (!std::isnan(bad))
          throw_domain_error("expectation", "f(" + shortest(bad) + ")", "must be a number",
                             std::numeric_limits<double>::quiet_NaN());
        sum += part.value;
        error += part.error;
        size += part.scale;
        converged = converged && (part.converged || part.error <= accuracy * size);
      }
    }
    if (!converged || !(error <= accuracy * size))
      throw ConvergenceError(error_message("expectation", "the estimated relative error",
                                           "must reach the accuracy", error / size));
    if (size > 0) return sum;
  }
  return 0;
}

double raw_moment(int n, double mean, FunctionRef<double(int)> central_moment) {
  if (n < 0) throw_domain_error("moment", "n", "must not be negative", n);
  if (n == 0) return 1;
  if (n % 2 == 0 && central_moment(n) == kInfinity) return kInfinity;  // others may have no sign
  if (!std::isfinite(mean)) return mean;
  double sum = 0, binomial = 1;
  for (int k = 0; k <= n; ++k) {  // sum_k C(n, k) mean^{n-k} m_k
    const double power = std::pow(mean, n - k), central = k == 1 ? 0 : central_moment(k);
    if (power != 0 && central != 0) sum += binomial * power * central;
    binomial *= static_cast<double>(n - k) / (k + 1);
  }
  return sum;
}

}  // namespace fenchel::detail
