#pragma once

/// The concepts `Distribution`, `DiscreteDistribution`, `NumericDistribution` and `LineDistribution`.

#include <concepts>

#include "fenchel/core/index.hpp"
#include "fenchel/core/philox.hpp"

namespace fenchel {

/// What every distribution is: an immutable value with free accessors. Accessors are total: outside the
/// support the density is 0 and its log -inf. `domain` says what it is a distribution on.
template <class P>
concept Distribution = std::copyable<P> && requires(const P& p, Philox& rng) {
  typename P::value_type;
  domain(p);
  support(p);
  mode(p);
  { entropy(p) } -> std::convertible_to<double>;
  { tsallis_entropy(p, 2.0) } -> std::convertible_to<double>;
  escort(p, 0.5);
  { sample(p, rng) } -> std::convertible_to<typename P::value_type>;
};

/// -Omega_alpha of a prediction, of the alpha that it comes from: 2 for a family that has none.
template <class P>
requires requires(const P& p) { score(p); }
[[nodiscard]] double tsallis_entropy(const P& p) {
  if constexpr (requires { p.alpha(); })
    return tsallis_entropy(p, p.alpha());
  else
    return tsallis_entropy(p, 2);
}

/// A distribution on a countable set.
template <class P>
concept DiscreteDistribution = Distribution<P> && requires(const P& p, typename P::value_type i) {
  { pmf(p, i) } -> std::convertible_to<double>;
  { log_pmf(p, i) } -> std::convertible_to<double>;
  { cdf(p, i) } -> std::convertible_to<double>;
  { quantile(p, 0.5) } -> std::convertible_to<typename P::value_type>;
};

/// A distribution of numbers: one with an order and moments.
template <class P>
concept NumericDistribution = Distribution<P> && requires(const P& p, typename P::value_type t) {
  { cdf(p, t) } -> std::convertible_to<double>;
  { survival(p, t) } -> std::convertible_to<double>;
  { log_cdf(p, t) } -> std::convertible_to<double>;
  { log_survival(p, t) } -> std::convertible_to<double>;
  { quantile(p, 0.5) } -> std::convertible_to<typename P::value_type>;
  { survival_quantile(p, 0.5) } -> std::convertible_to<typename P::value_type>;
  { mean(p) } -> std::convertible_to<double>;
  { median(p) } -> std::convertible_to<typename P::value_type>;
  { variance(p) } -> std::convertible_to<double>;
  { standard_deviation(p) } -> std::convertible_to<double>;
  { skewness(p) } -> std::convertible_to<double>;
  { kurtosis(p) } -> std::convertible_to<double>;
  { moment(p, 3) } -> std::convertible_to<double>;
  { central_moment(p, 3) } -> std::convertible_to<double>;
  {
    expectation(p, [](double x) { return x; })
    } -> std::convertible_to<double>;
  { sample(p, index_t{2}, std::uint64_t{1})[0] } -> std::convertible_to<typename P::value_type>;
};

/// A distribution on the line with a density.
template <class P>
concept LineDistribution = NumericDistribution<P> && requires(const P& p, double t) {
  { pdf(p, t) } -> std::convertible_to<double>;
  { log_pdf(p, t) } -> std::convertible_to<double>;
};

}  // namespace fenchel
