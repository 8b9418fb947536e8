#pragma once

#include <concepts>

#include "fenchel/core/index.hpp"
#include "fenchel/core/philox.hpp"

namespace fenchel {

/// What every distribution is: an immutable value with free accessors. Accessors are total: outside the
/// support the density is 0 and its log -inf.
template <class P>
concept Distribution = std::copyable<P> && requires(const P& p, Philox& rng) {
  typename P::value_type;
  support(p);
  mode(p);
  { entropy(p) } -> std::convertible_to<double>;
  { tsallis_entropy(p, 2.0) } -> std::convertible_to<double>;
  { sample(p, rng) } -> std::convertible_to<typename P::value_type>;
};

/// A distribution on a countable set.
template <class P>
concept DiscreteDistribution = Distribution<P> && requires(const P& p, typename P::value_type i) {
  { pmf(p, i) } -> std::convertible_to<double>;
  { log_pmf(p, i) } -> std::convertible_to<double>;
  { cdf(p, i) } -> std::convertible_to<double>;
  { quantile(p, 0.5) } -> std::convertible_to<typename P::value_type>;
};

}  // namespace fenchel
