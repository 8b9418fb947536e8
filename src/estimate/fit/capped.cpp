#include "fenchel/estimate/fit/capped.hpp"

#include "estimate/fit/location_fit.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/distribution/line/total_variation.hpp"

namespace fenchel {
namespace {

constexpr auto kTriangular = "fit_capped_triangular";

/// -Omega(p).
template <class P>
double entropy_of(const P& p) {
  return (1 - mean_density(p)) / 2 - p.gamma() * total_variation(p);
}

}  // namespace

Fit<CappedParabola> fit_capped_parabola(double gamma, const LineMoments& moments) {
  constexpr auto kWhere = "fit_capped_parabola";
  detail::checked_nonnegative(kWhere, "gamma", gamma);
  detail::check_moments(kWhere, moments);
  const auto p = CappedParabola::from_variance(gamma, moments.mean(), moments.variance());
  return detail::variance_fit(p, 1.5, entropy_of(p), moments.weight());  // lengths grow like sigma2^{1/3}
}

Fit<CappedTriangular> fit_capped_triangular(double gamma, const AbsoluteMoments& moments) {
  detail::checked_nonnegative(kTriangular, "gamma", gamma);
  detail::check_deviation(kTriangular, moments);
  const auto p = CappedTriangular::from_mean_deviation(gamma, moments.centre(), moments.moment(0));
  return detail::deviation_fit(p, 2, entropy_of(p), moments.weight());  // lengths grow like b^{1/2}
}

Fit<CappedTriangular> fit_capped_triangular(double gamma, const Data& data) {
  detail::checked_nonnegative(kTriangular, "gamma", gamma);
  return fit_capped_triangular(gamma, detail::deviation_of(data));
}

}  // namespace fenchel
