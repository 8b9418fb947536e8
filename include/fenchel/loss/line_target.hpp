#pragma once

/// What the losses on the line ask of a target.

#include <cmath>
#include <string_view>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/hessian.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/distribution/line/shaped_density.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/score/absolute_score.hpp"
#include "fenchel/score/quadratic_score.hpp"

/// What the losses on the line ask of a target q: a density, of which integrals are cut where either
/// integrand may have a kink, or anything with expectation(q, f) and tsallis_entropy(q, order).
namespace fenchel::detail {

/// int f over the line between the least and the largest cut, in pieces between the cuts, to `accuracy` times
/// int |f| if f is known so well; infinite ends are scanned at `scale`.
struct PieceIntegral {
  double value;
  double error;  ///< estimated, relative to int |f|
};
[[nodiscard]] FENCHEL_EXPORT PieceIntegral integrate_pieces(FunctionRef<double(double)> f,
                                                            std::vector<double> cuts, double scale,
                                                            double accuracy);

/// The same to 1e-12; throws ConvergenceError when the estimated error exceeds 1e-10 times int |f|.
[[nodiscard]] FENCHEL_EXPORT double checked_integral(FunctionRef<double(double)> f, std::vector<double> cuts,
                                                     double scale);

/// The ends of the support, the median, and the family's kinks.
template <LineDistribution Q>
[[nodiscard]] std::vector<double> cuts_of(const Q& q) {
  std::vector<double> cuts = {median(q)};
  const auto whole = support(q);
  for (const Interval& piece : pieces(whole)) {
    cuts.push_back(piece.lower());
    cuts.push_back(piece.upper());
  }
  if constexpr (requires { kinks(q); }) {
    for (const double kink : kinks(q)) cuts.push_back(kink);
  }
  return cuts;
}

template <LineDistribution Q>
[[nodiscard]] double scale_of(const Q& q) {
  return survival_quantile(q, 0.25) - quantile(q, 0.25);
}

/// E_q[f] of an f with kinks at `cuts` at most.
template <class Q, class F>
[[nodiscard]] double target_expectation(const Q& q, F&& f, const std::vector<double>& cuts) {
  if constexpr (LineDistribution<Q>) {
    const auto integrand = [&](double t) {
      const double density = pdf(q, t);
      return density == 0 ? 0 : density * f(t);
    };
    std::vector<double> all = cuts_of(q);
    for (const double cut : cuts) {
      if (!std::isinf(cut)) all.push_back(cut);
    }
    return checked_integral(integrand, all, scale_of(q));
  } else {
    return expectation(q, f);
  }
}

/// E_q|t - mu|.
template <class Q>
[[nodiscard]] double target_deviation(const Q& q, double mu) {
  if constexpr (requires { mean_deviation(q, mu); }) {
    return mean_deviation(q, mu);
  } else {
    const double x = mu - location(q);
    return target_expectation(centred(q), [x](double t) { return std::abs(t - x); }, {x});
  }
}

/// E_q sign(t - mu).
template <class Q>
[[nodiscard]] double target_sign(const Q& q, double mu) {
  if constexpr (LineDistribution<Q>) {
    return survival(q, mu) - cdf(q, mu);
  } else {
    return expectation(q, [mu](double t) { return static_cast<double>((t > mu) - (t < mu)); });
  }
}

/// The density of q at mu; an atom there is infinite.
template <class Q>
[[nodiscard]] double target_density(const Q& q, double mu) {
  if constexpr (LineDistribution<Q>) {
    return pdf(q, mu);
  } else {
    return expectation(q, [mu](double t) { return t == mu ? kInfinity : 0; });
  }
}

/// Unless the second derivative in the scale is NaN, as the sum of two that overflow; then throws.
[[nodiscard]] FENCHEL_EXPORT Hessian<3> checked_hessian(Hessian<3> h, std::string_view name, double scale);

/// Adds the second derivatives of E_q[(t - mu)^2] / (2 sigma2), or of E_q|t - mu| / b, in mu and the scale.
template <class Q>
[[nodiscard]] Hessian<3> with_target(Hessian<3> h, const QuadraticScore& f, const Q& q) {
  const double d = mean(q) - f.mu(), sigma2 = f.sigma2(), square = variance(q) / sigma2 + d * (d / sigma2);
  h[0][0] += 1 / sigma2;
  h[0][1] += d / sigma2 / sigma2;
  h[1][0] += d / sigma2 / sigma2;
  h[1][1] += square / sigma2 / sigma2;
  return checked_hessian(h, "sigma2", sigma2);
}
template <class Q>
[[nodiscard]] Hessian<3> with_target(Hessian<3> h, const AbsoluteScore& f, const Q& q) {
  const double b = f.b(), mixed = target_sign(q, f.mu()) / b / b;
  h[0][0] += 2 * target_density(q, f.mu()) / b;
  h[0][1] += mixed;
  h[1][0] += mixed;
  h[1][1] += 2 * (target_deviation(q, f.mu()) / b) / b / b;
  return checked_hessian(h, "b", b);
}

/// The Hessian of Omega* in canonical parameters, from its derivatives in the scale.
[[nodiscard]] inline Hessian<2> canonical_hessian(const QuadraticScore& f,
                                                  const ShapeDerivatives& h) noexcept {
  const double mu = f.mu(), s = f.sigma2(), square = 4 * s * s * (s * (2 * h.scale + s * h.scale_scale));
  return {{{s, 2 * mu * s}, {2 * mu * s, 4 * mu * mu * s + square}}};
}
[[nodiscard]] inline double canonical_hessian(const AbsoluteScore& f, const ShapeDerivatives& h) noexcept {
  return f.b() * f.b() * (f.b() * (2 * h.scale + f.b() * h.scale_scale));
}

/// The Fenchel-Young loss at temperature 1 as conjugate - mean_score + Omega(q), or, where that cancels and q
/// has a density, as the integral of `term`, which is never negative. `alpha` is Omega's.
template <class Q, LineDistribution P, class Term>
[[nodiscard]] double fenchel_young_value(double alpha, double conjugate, double mean_score, const Q& q,
                                         const P& p, Term&& term) {
  constexpr double kCancels = 1. / 16, kAccuracy = 1e-9;  // q - p may be all rounding
  const double negentropy = -tsallis_entropy(q, alpha), value = conjugate - mean_score + negentropy;
  const double terms = std::abs(conjugate) + std::abs(mean_score) + std::abs(negentropy);
  if constexpr (LineDistribution<Q>) {
    if (value < kCancels * terms && !std::isinf(alpha)) {
      std::vector<double> cuts = cuts_of(q);
      for (const double cut : cuts_of(p)) cuts.push_back(cut);
      return integrate_pieces([&](double t) { return term(pdf(q, t), pdf(p, t), t); }, cuts, scale_of(p),
                              kAccuracy)
          .value;
    }
  }
  return value < 0 ? 0 : value;
}

/// The Fenchel-Young loss of Tsallis(2) from the cross-Omega loss: p = [f - tau]_+ is the prediction, and
/// excess_score(p, t) is f - tau (docs/math.md 2).
template <class Q, LineDistribution P>
[[nodiscard]] double sparse_fenchel_young_value(double temperature, double cross_omega, const Q& q,
                                                const P& p) {
  const auto term = [&p](double q_t, double p_t, double t) {
    return (q_t - p_t) * (q_t - p_t) / 2 + (q_t == 0 ? 0 : q_t * (p_t - excess_score(p, t)));
  };
  const double base = 0.5 + mean_density(p) / 2;
  return temperature * fenchel_young_value(2, base, base - cross_omega / temperature, q, p, term);
}

}  // namespace fenchel::detail
