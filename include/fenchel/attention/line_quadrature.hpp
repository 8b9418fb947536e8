#pragma once

/// Expectations of basis functions by quadrature, where there is no closed form.

#include <span>
#include <vector>

#include "fenchel/attention/line_function.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/distribution/beta_covariance.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/domain/interval.hpp"

/// E_p[psi_j] by quadrature, for densities and functions that have nothing better.
namespace fenchel::detail {

/// What quadrature asks of a density: panels start at `knots`, its modes and kinks.
struct LineDensityView {
  FunctionRef<double(double)> log_pdf;
  std::span<const Interval> support;
  std::span<const double> knots;
};

/// The error relative to E_p|f| that quadrature answers for.
inline constexpr double kAttendAccuracy = 1e-10;

/// E_p[f]. Throws std::domain_error where f is NaN, ConvergenceError when kAttendAccuracy is not reached.
[[nodiscard]] FENCHEL_EXPORT double line_expectation(const LineDensityView& p, const LineFunction& f);

/// The same for a Gaussian density f, however narrow, wide or far from the support of p: panels start where
/// the product is largest as well. Never negative; 0 where it underflows.
[[nodiscard]] FENCHEL_EXPORT double gaussian_expectation(const LineDensityView& p, const LineFunction& f,
                                                         double mean, double width);

template <LineDistribution P>
[[nodiscard]] std::vector<double> knots(const P& p) {
  std::vector<double> at = modes(p);
  if constexpr (requires { kinks(p); }) {
    for (const double t : kinks(p)) at.push_back(t);
  }
  return at;
}

/// use(density), the density a view of p.
template <LineDistribution P, class Use>
auto with_line_density(const P& p, Use use) {
  const auto log_density = [&p](double t) { return static_cast<double>(log_pdf(p, t)); };
  const std::vector<Interval> support_pieces = pieces(support(p));
  const std::vector<double> at = knots(p);
  return use(LineDensityView{log_density, support_pieces, at});
}

}  // namespace fenchel::detail
