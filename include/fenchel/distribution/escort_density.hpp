#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "fenchel/core/check.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/bounded_density.hpp"
#include "fenchel/distribution/generic.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"

namespace fenchel {

/// The escort distribution p^order / int p^order on the support of p [SCD22, Section 4.2], for a family P of
/// unimodal densities on bounded intervals whose escorts leave it. All accessors are by quadrature and root
/// finding, to about detail::kBoundedAccuracy, and 1e-8 for order < 0, where the density is infinite at the
/// edges.
template <class P>
class EscortDensity {
 public:
  using value_type = double;

  /// Throws std::domain_error for an order that is not finite, and ConvergenceError where p^order has no
  /// finite integral.
  EscortDensity(P base, double order)
      : base_(std::move(base)),
        order_(detail::checked_finite("escort", "order", order)),
        log_mass_(log_mass_of()) {}

  [[nodiscard]] const P& base() const noexcept { return base_; }
  [[nodiscard]] double order() const noexcept { return order_; }
  /// log int p^order.
  [[nodiscard]] double log_mass() const noexcept { return log_mass_; }

 private:
  [[nodiscard]] double log_mass_of() const {
    const double centre = mode(base_), log_peak = log_pdf(base_, centre);
    const auto power = [&](double t) {
      const double l = log_pdf(base_, t);
      return std::isinf(l) ? 0 : std::exp(order_ * (l - log_peak));
    };
    return order_ * log_peak + std::log(detail::bounded_integral(power, support(base_), centre));
  }

  P base_;
  double order_, log_mass_;
};

template <class P>
[[nodiscard]] Line domain(const EscortDensity<P>&) noexcept {
  return {};
}
template <class P>
[[nodiscard]] Interval support(const EscortDensity<P>& p) {
  return support(p.base());
}

template <class P>
[[nodiscard]] double log_pdf(const EscortDensity<P>& p, double t) {
  const double l = log_pdf(p.base(), t);
  return std::isinf(l) ? l : p.order() * l - p.log_mass();
}
template <class P>
[[nodiscard]] double pdf(const EscortDensity<P>& p, double t) {
  return std::exp(log_pdf(p, t));
}

namespace detail {
/// The mass between two points of the support.
template <class P>
[[nodiscard]] double mass_between(const EscortDensity<P>& p, double lower, double upper) {
  const auto density = [&p](double t) { return pdf(p, t); };
  const double middle = std::clamp(mode(p.base()), lower, upper);
  return std::min(1.0, integrate(density, lower, middle, kBoundedAccuracy).value +
                           integrate(density, middle, upper, kBoundedAccuracy).value);
}
}  // namespace detail

template <class P>
[[nodiscard]] double cdf(const EscortDensity<P>& p, double t) {
  if (std::isnan(t)) return t;
  const Interval ends = support(p);
  if (t <= ends.lower()) return 0;
  return t >= ends.upper() ? 1 : detail::mass_between(p, ends.lower(), t);
}
template <class P>
[[nodiscard]] double survival(const EscortDensity<P>& p, double t) {
  if (std::isnan(t)) return t;
  const Interval ends = support(p);
  if (t >= ends.upper()) return 0;
  return t <= ends.lower() ? 1 : detail::mass_between(p, t, ends.upper());
}
template <class P>
[[nodiscard]] double log_cdf(const EscortDensity<P>& p, double t) {
  return std::log(cdf(p, t));
}
template <class P>
[[nodiscard]] double log_survival(const EscortDensity<P>& p, double t) {
  return std::log(survival(p, t));
}

/// Throw std::domain_error unless u is in [0, 1].
template <class P>
[[nodiscard]] double quantile(const EscortDensity<P>& p, double u) {
  detail::checked_probability("quantile", "u", u);
  const Interval ends = support(p);
  if (u == 0) return ends.lower();
  if (u == 1) return ends.upper();
  const auto excess = [&](double t) { return detail::ValueAndSlope{cdf(p, t) - u, pdf(p, t)}; };
  return detail::increasing_root(excess, ends.lower(), ends.upper(), quantile(p.base(), u));
}
template <class P>
[[nodiscard]] double survival_quantile(const EscortDensity<P>& p, double u) {
  detail::checked_probability("survival_quantile", "u", u);
  const Interval ends = support(p);
  if (u == 0) return ends.upper();
  if (u == 1) return ends.lower();
  const auto excess = [&](double t) { return detail::ValueAndSlope{u - survival(p, t), pdf(p, t)}; };
  return detail::increasing_root(excess, ends.lower(), ends.upper(), survival_quantile(p.base(), u));
}

/// That of p for order >= 0; the lower end, where the density is infinite, below.
template <class P>
[[nodiscard]] double mode(const EscortDensity<P>& p) {
  return p.order() >= 0 ? mode(p.base()) : support(p).lower();
}

namespace detail {
/// E(t - centre)^n.
template <class P>
[[nodiscard]] double moment_about(const EscortDensity<P>& p, double centre, int n) {
  const auto integrand = [&](double t) { return std::pow(t - centre, n) * pdf(p, t); };
  return bounded_integral(integrand, support(p), mode(p.base()));
}
}  // namespace detail

template <class P>
[[nodiscard]] double mean(const EscortDensity<P>& p) {
  const double centre = mode(p.base());
  return centre + detail::moment_about(p, centre, 1);
}
/// Throws std::domain_error for n < 0.
template <class P>
[[nodiscard]] double central_moment(const EscortDensity<P>& p, int n) {
  if (n < 0) throw_domain_error("central_moment", "n", "must not be negative", n);
  return n == 0 ? 1 : n == 1 ? 0 : detail::moment_about(p, mean(p), n);
}
template <class P>
[[nodiscard]] double variance(const EscortDensity<P>& p) {
  return central_moment(p, 2);
}
template <class P>
[[nodiscard]] double skewness(const EscortDensity<P>& p) {
  return central_moment(p, 3) / std::pow(variance(p), 1.5);
}
template <class P>
[[nodiscard]] double kurtosis(const EscortDensity<P>& p) {
  const double v = variance(p);
  return central_moment(p, 4) / (v * v);
}

/// Throws as detail::bounded_tsallis_entropy does.
template <class P>
[[nodiscard]] double tsallis_entropy(const EscortDensity<P>& p, double order) {
  return detail::bounded_tsallis_entropy([&p](double t) { return log_pdf(p, t); }, support(p), mode(p.base()),
                                         order);
}
template <class P>
[[nodiscard]] double entropy(const EscortDensity<P>& p) {
  return tsallis_entropy(p, 1);
}

/// An escort of an escort is one of the base.
template <class P>
[[nodiscard]] EscortDensity<P> escort(const EscortDensity<P>& p, double order) {
  return {p.base(), p.order() * order};
}

/// One draw, by inversion.
template <class P, std::uniform_random_bit_generator Generator>
[[nodiscard]] double sample(const EscortDensity<P>& p, Generator& rng) {
  return quantile(p, uniform01(rng));
}

}  // namespace fenchel
