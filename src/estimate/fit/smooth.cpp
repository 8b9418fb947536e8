#include "fenchel/estimate/fit/smooth.hpp"

#include <cmath>

#include "estimate/fit/location_fit.hpp"
#include "fenchel/core/check.hpp"

namespace fenchel {
namespace {

constexpr auto kTriangular = "fit_smooth_triangular";

/// -Omega(p).
template <class P>
double entropy_of(const P& p) {
  const double entropy = (1 - mean_density(p)) / 2;
  return p.gamma() == 0 ? entropy : entropy - p.gamma() * roughness(p) / 2;  // which may be infinite
}

}  // namespace

Fit<SmoothParabola> fit_smooth_parabola(double gamma, const LineMoments& moments) {
  constexpr auto kWhere = "fit_smooth_parabola";
  detail::checked_nonnegative(kWhere, "gamma", gamma);
  detail::check_moments(kWhere, moments);
  const auto p = SmoothParabola::from_variance(gamma, moments.mean(), moments.variance());
  const SmoothParabola centred(gamma, 0, p.sigma2());  // far from 0 the integral would lose digits
  const double slope = expectation_gradient(centred, [](double t) { return t * t; }).sigma2;
  return detail::variance_fit(p, variance(p) / (slope * p.sigma2()), entropy_of(p), moments.weight());
}

Fit<SmoothTriangular> fit_smooth_triangular(double gamma, const AbsoluteMoments& moments) {
  detail::checked_nonnegative(kTriangular, "gamma", gamma);
  detail::check_deviation(kTriangular, moments);
  const auto p = SmoothTriangular::from_mean_deviation(gamma, moments.centre(), moments.moment(0));
  const SmoothTriangular centred(gamma, 0, p.b());  // far from 0 the integral would lose digits
  const double slope = expectation_gradient(centred, [](double t) { return std::abs(t); }).b;
  return detail::deviation_fit(p, mean_deviation(p, p.mu()) / (slope * p.b()), entropy_of(p),
                               moments.weight());
}

Fit<SmoothTriangular> fit_smooth_triangular(double gamma, const Data& data) {
  detail::checked_nonnegative(kTriangular, "gamma", gamma);
  return fit_smooth_triangular(gamma, detail::deviation_of(data));
}

}  // namespace fenchel
