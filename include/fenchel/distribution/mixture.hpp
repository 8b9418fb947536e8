#pragma once

/// `Mixture`: a mixture of distributions of one family, with all accessors.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "fenchel/core/check.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"

namespace fenchel {

/// How far from one the weights of a mixture may sum: room for those that were made in float.
inline constexpr double kMixtureWeightTolerance = 1e-6;

namespace detail {

/// The weights divided by their sum, when they are those of a mixture of `components`; else throws.
[[nodiscard]] FENCHEL_EXPORT std::vector<double> checked_mixture_weights(std::vector<double> weights,
                                                                         index_t components);

/// Throws std::invalid_argument unless component i has the dimension of the first and full rank.
FENCHEL_EXPORT void check_mixture_component(index_t i, index_t dimension, index_t rank, index_t first);

/// The interquartile range of component i; throws std::domain_error where that is 0: quadrature would miss
/// it.
[[nodiscard]] FENCHEL_EXPORT double checked_component_width(index_t i, double width);

/// log(sum e^l) of numbers that come one by one; -inf of none.
class LogSum {
 public:
  void add(double l) noexcept {
    if (l == -kInfinity) return;
    if (l > top_) {
      sum_ = sum_ * std::exp(top_ - l) + 1;
      top_ = l;
    } else {
      sum_ += std::exp(l - top_);
    }
  }
  [[nodiscard]] double value() const noexcept {
    return std::isinf(top_) ? top_ + sum_ : top_ + std::log(sum_);
  }

 private:
  double top_ = -kInfinity, sum_ = 0;
};

/// Intervals that overlap or touch become one; sorted.
[[nodiscard]] FENCHEL_EXPORT std::vector<Interval> merged(std::vector<Interval> intervals);
/// The pieces cut at those of the sorted points that lie inside them.
[[nodiscard]] FENCHEL_EXPORT std::vector<Interval> cut(std::span<const Interval> pieces,
                                                       std::span<const double> points);

/// Where a quantile is known to lie, and a guess.
struct QuantileBracket {
  double lower, upper, start;
};
/// The smallest t with cdf(t) >= u, and with survival(t) <= u: the left end of a gap of the pieces.
[[nodiscard]] FENCHEL_EXPORT double quantile_in_pieces(double u, std::span<const Interval> pieces,
                                                       FunctionRef<double(double)> cdf,
                                                       FunctionRef<double(double)> pdf,
                                                       const QuantileBracket& bracket);
[[nodiscard]] FENCHEL_EXPORT double survival_quantile_in_pieces(double u, std::span<const Interval> pieces,
                                                                FunctionRef<double(double)> survival,
                                                                FunctionRef<double(double)> pdf,
                                                                const QuantileBracket& bracket);

/// The highest point of a density: the first of the modes that no other point is above, where points are the
/// sorted ones, the midpoints between them and, about those above their neighbours, what Brent's method
/// finds.
[[nodiscard]] FENCHEL_EXPORT double highest_point(FunctionRef<double(double)> pdf,
                                                  std::span<const double> modes,
                                                  std::span<const double> points);

/// -Omega_order of a density whose integrals over the segments are smooth, to kMixtureAccuracy.
[[nodiscard]] FENCHEL_EXPORT double tsallis_entropy_in_segments(FunctionRef<double(double)> log_pdf,
                                                                std::span<const Interval> segments,
                                                                double centre, double scale, double order);
/// Of int |p log_{2-order} p|, by estimate.
inline constexpr double kMixtureAccuracy = 1e-10;

}  // namespace detail

/// sum_k weight_k component_k, all of one family. A weight may be 0: the component then keeps its place and
/// changes nothing.
template <Distribution P>
class Mixture {
 public:
  using value_type = typename P::value_type;

  /// Weights are divided by their sum. Throws std::invalid_argument when there is no component, the sizes or
  /// the dimensions differ or a component is singular, std::domain_error unless weights are finite, not
  /// negative and sum to one within kMixtureWeightTolerance.
  Mixture(std::vector<double> weights, std::vector<P> components)
      : weights_(
            detail::checked_mixture_weights(std::move(weights), static_cast<index_t>(components.size()))),
        components_(std::move(components)) {
    if constexpr (requires(const P& p) { p.rank(); }) {
      for (std::size_t k = 0; k < components_.size(); ++k)
        detail::check_mixture_component(static_cast<index_t>(k), components_[k].dimension(),
                                        components_[k].rank(), components_[0].dimension());
    }
  }

  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(weights_.size()); }
  [[nodiscard]] std::span<const double> weights() const noexcept { return weights_; }
  [[nodiscard]] std::span<const P> components() const noexcept { return components_; }

 private:
  std::vector<double> weights_;
  std::vector<P> components_;
};

namespace detail {

/// f(weight, component) for each positive weight.
template <class P, class F>
void for_each_component(const Mixture<P>& p, F f) {
  for (std::size_t k = 0; k < p.weights().size(); ++k)
    if (p.weights()[k] > 0) f(p.weights()[k], p.components()[k]);
}
template <class P, class F>
[[nodiscard]] double weighted_sum(const Mixture<P>& p, F f) {
  double sum = 0;
  for_each_component(p, [&](double weight, const P& c) { sum += weight * f(c); });
  return sum;
}
template <class P, class F>
[[nodiscard]] double weighted_log_sum(const Mixture<P>& p, F f) {
  LogSum sum;
  for_each_component(p, [&](double weight, const P& c) { sum.add(std::log(weight) + f(c)); });
  return sum.value();
}

/// The widest interquartile range of a component. Throws std::domain_error where doubles do not resolve one.
template <LineDistribution P>
[[nodiscard]] double mixture_scale(const Mixture<P>& p) {
  double scale = 0;
  for (index_t k = 0; k < p.size(); ++k) {
    const P& c = p.components()[static_cast<std::size_t>(k)];
    if (!(p.weights()[static_cast<std::size_t>(k)] > 0)) continue;
    scale = std::max(scale, checked_component_width(k, survival_quantile(c, 0.25) - quantile(c, 0.25)));
  }
  return scale;
}

/// The bounds that the components' own quantiles of u and of u / weight give; `side` is 1 for quantile, -1
/// for survival_quantile.
template <LineDistribution P, class Quantile>
[[nodiscard]] QuantileBracket quantile_bracket(const Mixture<P>& p, double u, int side,
                                               Quantile quantile_of) {
  QuantileBracket found{kInfinity, -kInfinity, 0};
  double limit = side * kInfinity;
  for_each_component(p, [&](double weight, const P& c) {
    const double t = quantile_of(c, u);
    found.lower = std::min(found.lower, t);
    found.upper = std::max(found.upper, t);
    found.start += weight * t;
    if (u < weight) {
      const double own = quantile_of(c, u / weight);
      limit = side > 0 ? std::min(limit, own) : std::max(limit, own);
    }
  });
  (side > 0 ? found.upper : found.lower) =
      side > 0 ? std::min(found.upper, limit) : std::max(found.lower, limit);
  return found;
}

}  // namespace detail

/// log_pdf is log-sum-exp over the components: right where every pdf underflows.
template <class P, class T>
requires requires(const P& c, const T& t) { log_pdf(c, t); }
[[nodiscard]] double log_pdf(const Mixture<P>& p, const T& t) {
  return detail::weighted_log_sum(p, [&](const P& c) { return log_pdf(c, t); });
}
template <class P, class T>
requires requires(const P& c, const T& t) { pdf(c, t); }
[[nodiscard]] double pdf(const Mixture<P>& p, const T& t) {
  return detail::weighted_sum(p, [&](const P& c) { return pdf(c, t); });
}

/// One draw: a uniform number for the component, then a draw of it.
template <class P, std::uniform_random_bit_generator Generator>
[[nodiscard]] typename P::value_type sample(const Mixture<P>& p, Generator& rng) {
  double u = uniform01(rng);
  const P* chosen = nullptr;
  detail::for_each_component(p, [&](double weight, const P& c) {
    if (u > 0) chosen = &c;
    u -= weight;
  });
  return sample(*chosen, rng);
}

template <LineDistribution P>
[[nodiscard]] Line domain(const Mixture<P>&) noexcept {
  return {};
}

/// The union of the supports, its intervals in order and apart.
template <LineDistribution P>
[[nodiscard]] std::vector<Interval> support(const Mixture<P>& p) {
  std::vector<Interval> all;
  detail::for_each_component(p, [&](double, const P& c) {
    for (const Interval& piece : detail::pieces(support(c))) all.push_back(piece);
  });
  return detail::merged(std::move(all));
}

/// Where the density may have a corner or a narrow peak: modes, ends of supports and corners of components.
template <LineDistribution P>
[[nodiscard]] std::vector<double> kinks(const Mixture<P>& p) {
  std::vector<double> cuts;
  detail::for_each_component(p, [&](double, const P& c) {
    cuts.push_back(mode(c));
    for (const Interval& piece : detail::pieces(support(c)))
      for (const double end : {piece.lower(), piece.upper()})
        if (!std::isinf(end)) cuts.push_back(end);
    if constexpr (requires { kinks(c); })
      for (const double kink : kinks(c)) cuts.push_back(kink);
  });
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

/// P(X <= t), P(X > t) and their logarithms, each with the relative accuracy of the components'.
template <LineDistribution P>
[[nodiscard]] double cdf(const Mixture<P>& p, double t) {
  const double below = detail::weighted_sum(p, [t](const P& c) { return cdf(c, t); });
  return below > 0.5 ? 1 - detail::weighted_sum(p, [t](const P& c) { return survival(c, t); }) : below;
}
template <LineDistribution P>
[[nodiscard]] double survival(const Mixture<P>& p, double t) {
  const double above = detail::weighted_sum(p, [t](const P& c) { return survival(c, t); });
  return above > 0.5 ? 1 - detail::weighted_sum(p, [t](const P& c) { return cdf(c, t); }) : above;
}
template <LineDistribution P>
[[nodiscard]] double log_cdf(const Mixture<P>& p, double t) {
  const double above = survival(p, t);
  if (above < 0.5) return std::log1p(-above);
  return detail::weighted_log_sum(p, [t](const P& c) { return log_cdf(c, t); });
}
template <LineDistribution P>
[[nodiscard]] double log_survival(const Mixture<P>& p, double t) {
  const double below = cdf(p, t);
  if (below < 0.5) return std::log1p(-below);
  return detail::weighted_log_sum(p, [t](const P& c) { return log_survival(c, t); });
}

/// The smallest t with cdf u, or with survival u: in a gap of the support its left end. Newton's iteration
/// between quantiles of the components. Throw std::domain_error unless u is in [0, 1].
template <LineDistribution P>
[[nodiscard]] double quantile(const Mixture<P>& p, double u) {
  detail::checked_probability("quantile", "u", u);
  const auto bracket = detail::quantile_bracket(p, u, 1, [](const P& c, double v) { return quantile(c, v); });
  return detail::quantile_in_pieces(
      u, support(p), [&p](double t) { return cdf(p, t); }, [&p](double t) { return pdf(p, t); }, bracket);
}
template <LineDistribution P>
[[nodiscard]] double survival_quantile(const Mixture<P>& p, double u) {
  detail::checked_probability("survival_quantile", "u", u);
  const auto bracket =
      detail::quantile_bracket(p, u, -1, [](const P& c, double v) { return survival_quantile(c, v); });
  return detail::survival_quantile_in_pieces(
      u, support(p), [&p](double t) { return survival(p, t); }, [&p](double t) { return pdf(p, t); },
      bracket);
}

/// The highest of the local maxima that are found from the modes and the ends of the components; one between
/// them is known to about 1e-8 of its width.
template <LineDistribution P>
[[nodiscard]] double mode(const Mixture<P>& p) {
  std::vector<double> points = kinks(p), modes;
  detail::for_each_component(p, [&](double, const P& c) {
    modes.push_back(mode(c));
    for (const double u : {0.01, 0.25, 0.4}) {
      points.push_back(quantile(c, u));
      points.push_back(survival_quantile(c, u));
    }
  });
  std::sort(points.begin(), points.end());
  return detail::highest_point([&p](double t) { return pdf(p, t); }, modes, points);
}

template <LineDistribution P>
[[nodiscard]] double mean(const Mixture<P>& p) {
  return detail::weighted_sum(p, [](const P& c) { return mean(c); });
}
namespace detail {
/// E(t - origin)^n by the components' own central moments. Where powers of distances overflow with both signs
/// they are taken in units of the largest distance.
template <LineDistribution P>
[[nodiscard]] double moment_about(const Mixture<P>& p, double origin, int n) {
  const auto in_units = [&](double unit) {
    return weighted_sum(p, [&](const P& c) {
      const double own = central_moment(c, n);
      if (std::isinf(own)) return own;
      return raw_moment(n, (mean(c) - origin) / unit,
                        [&](int k) { return central_moment(c, k) / std::pow(unit, k); });
    });
  };
  const double plain = in_units(1);
  if (!std::isnan(plain)) return plain;
  double largest = 0;
  for_each_component(p, [&](double, const P& c) { largest = std::max(largest, std::abs(mean(c) - origin)); });
  const double sum = in_units(largest);
  return sum == 0 ? 0 : sum * std::pow(largest, n);
}
}  // namespace detail

/// E(t - mean)^n and E[t^n]; an even one that does not exist is infinite, an odd one NaN. Throw
/// std::domain_error for n < 0.
template <LineDistribution P>
[[nodiscard]] double central_moment(const Mixture<P>& p, int n) {
  return detail::moment_about(p, mean(p), n);
}
template <LineDistribution P>
[[nodiscard]] double moment(const Mixture<P>& p, int n) {
  if (n < 0) throw_domain_error("moment", "n", "must not be negative", n);
  return detail::moment_about(p, 0, n);
}
template <LineDistribution P>
[[nodiscard]] double variance(const Mixture<P>& p) {
  return central_moment(p, 2);
}
template <LineDistribution P>
[[nodiscard]] double skewness(const Mixture<P>& p) {
  return central_moment(p, 3) / std::pow(variance(p), 1.5);
}
/// E(t - mean)^4 / variance^2, 3 for the Gaussian.
template <LineDistribution P>
[[nodiscard]] double kurtosis(const Mixture<P>& p) {
  const double second = variance(p);
  return std::isinf(second) ? second : central_moment(p, 4) / (second * second);
}

/// E[f(t)] as for every distribution, by integrals that are also cut at the components' modes and ends.
template <LineDistribution P, std::invocable<double> F>
[[nodiscard]] double expectation(const Mixture<P>& p, F&& f, double accuracy = 1e-10,
                                 std::span<const double> cuts = {}) {
  const std::vector<double> own = kinks(p);
  return detail::expectation(
      f, [&p](double t) { return pdf(p, t); }, detail::cut(support(p), own), own.front(),
      detail::mixture_scale(p), accuracy, cuts);
}

/// Tsallis entropy -Omega_order of any order > 0; infinite where a component's is. Throws ConvergenceError
/// where kMixtureAccuracy is not reached.
template <LineDistribution P>
[[nodiscard]] double tsallis_entropy(const Mixture<P>& p, double order) {
  if (!(order > 0)) throw_domain_error("tsallis_entropy", "order", "must be positive", order);
  if (std::isinf(order)) return pdf(p, mode(p)) > 1 ? -kInfinity : 0;
  const double sum = detail::weighted_sum(p, [order](const P& c) { return tsallis_entropy(c, order); });
  if (std::isinf(sum)) return sum;
  const std::vector<double> cuts = kinks(p);
  return detail::tsallis_entropy_in_segments([&p](double t) { return log_pdf(p, t); },
                                             detail::cut(support(p), cuts), cuts.front(),
                                             detail::mixture_scale(p), order);
}
/// Shannon's.
template <LineDistribution P>
[[nodiscard]] double entropy(const Mixture<P>& p) {
  return tsallis_entropy(p, 1);
}

/// p^order / int p^order. Throws as the escort of a NumericDensity does.
template <LineDistribution P>
[[nodiscard]] NumericDensity escort(const Mixture<P>& p, double order) {
  static_cast<void>(detail::mixture_scale(p));  // refuses what doubles do not resolve
  std::vector<double> centres = kinks(p);
  centres.push_back(mode(p));
  return escort(NumericDensity([p](double t) { return log_pdf(p, t); }, support(p), std::move(centres)),
                order);
}

/// As the generic one, on one thread: a component may call functions of its user, which may throw.
template <LineDistribution P>
[[nodiscard]] std::vector<double> sample(const Mixture<P>& p, index_t count, std::uint64_t seed) {
  return detail::sample_on_one_thread(p, count, seed);
}

}  // namespace fenchel
