#pragma once

/// `roughness`, the integral of p'^2, and `pdf_derivative`.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <utility>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/distribution/line/empirical.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/distribution/line/location_scale.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "fenchel/distribution/mixture.hpp"
#include "fenchel/domain/interval.hpp"

/// dp/dt, and the roughness int p'^2 of Sobolev [SCD22, Section 7], which is infinite for atoms and where the
/// density jumps.
namespace fenchel {

/// -p^{2-alpha} (t - mu) / sigma2, and -p^{2-alpha} sign(t - mu) / b; 0 off the support.
[[nodiscard]] FENCHEL_EXPORT double pdf_derivative(const BetaGaussian& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double pdf_derivative(const BetaLaplace& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double pdf_derivative(const TruncatedGaussian& p, double t) noexcept;
/// A derivative that the density has; else by differences of order 6 with a step of 1e-3 interquartile
/// ranges, less next to modes and ends: relative error about 1e-8 where the density is smooth on that scale.
[[nodiscard]] FENCHEL_EXPORT double pdf_derivative(const LocationScale& p, double t);
[[nodiscard]] FENCHEL_EXPORT double pdf_derivative(const NumericDensity& p, double t);

/// Infinite for alpha >= 3; closed forms, for alpha <= 1 a quadrature to 1e-10.
[[nodiscard]] FENCHEL_EXPORT double roughness(const BetaGaussian& p);
/// 2 p(mu)^2 / ((3 - alpha) spread), infinite for alpha >= 3.
[[nodiscard]] FENCHEL_EXPORT double roughness(const BetaLaplace& p) noexcept;
/// To 1e-10 where the density has its derivative, as predictions of Sobolev do, else to about 1e-7 where it
/// has no kinks but at its modes. Infinite where the density at an end of the
/// support exceeds 1e-6 of that at the mode; throws ConvergenceError where the integral does not converge.
[[nodiscard]] FENCHEL_EXPORT double roughness(const NumericDensity& p);
/// Within a domain, at whose ends the density may jump.
[[nodiscard]] FENCHEL_EXPORT double roughness(const NumericDensity& p, const Interval& domain);
[[nodiscard]] inline double roughness(const Dirac&) noexcept { return kInfinity; }
[[nodiscard]] inline double roughness(const Empirical&) noexcept { return kInfinity; }

namespace detail {
template <LineDistribution P>
[[nodiscard]] double quadrature_roughness(const P& p, double accuracy) {
  const auto integrand = [&p](double t) {
    const double slope = pdf_derivative(p, t);
    return slope * (slope / pdf(p, t));
  };
  return expectation(p, integrand, accuracy);
}
}  // namespace detail

/// Any continuous density with a derivative, by quadrature to 1e-9. Throws ConvergenceError where that is not
/// reached.
template <LineDistribution P>
requires requires(const P& p) {
  { pdf_derivative(p, 0.0) } -> std::convertible_to<double>;
}
[[nodiscard]] double roughness(const P& p) { return detail::quadrature_roughness(p, 1e-9); }

template <LineDistribution P>
[[nodiscard]] double pdf_derivative(const Mixture<P>& p, double t) {
  return detail::weighted_sum(p, [t](const P& c) { return pdf_derivative(c, t); });
}

/// From the roughness of each component and, to 1e-7, products of their derivatives: squares of those that
/// are infinite at an end are known no better than the distance from it. Infinite where a component's is;
/// throws ConvergenceError where the integral does not converge.
template <LineDistribution P>
[[nodiscard]] double roughness(const Mixture<P>& p) {
  constexpr double kAccuracy = 1e-7;
  std::vector<std::pair<double, P>> parts;  // that differ
  detail::for_each_component(p, [&](double weight, const P& c) {
    const auto same = std::find_if(parts.begin(), parts.end(), [&c](const auto& x) { return x.second == c; });
    if (same == parts.end()) {
      parts.emplace_back(weight, c);
    } else {
      same->first += weight;
    }
  });
  const double scale = detail::mixture_scale(p);
  double own = 0;
  for (const auto& [weight, c] : parts) own += weight * weight * roughness(c);
  if (std::isinf(own)) return own;
  const auto products = [&parts](double t) {
    double slope = 0, sum = 0;
    for (const auto& [weight, c] : parts) {
      const double next = weight * pdf_derivative(c, t);
      sum += 2 * slope * next;
      slope += next;
    }
    return sum;
  };
  const std::vector<double> cuts = kinks(p);
  return own + detail::expectation(products, [](double) { return 1.0; }, detail::cut(support(p), cuts),
                                   cuts.front(), scale, kAccuracy, {});
}

}  // namespace fenchel
