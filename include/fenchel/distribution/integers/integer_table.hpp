#pragma once

/// `IntegerTable`: probabilities of integers, with all accessors of a distribution on the integers.

#include <cmath>
#include <concepts>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/integers/integer_tail.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/domain/integers.hpp"

namespace fenchel {

/// A distribution on the integers that holds the probabilities of a window, and outside of it knows them by a
/// formula: there each is below e^kLogSmallest, or they are smooth tails. Copies share the table.
class FENCHEL_EXPORT IntegerTable {
 public:
  using value_type = index_t;
  using LogPmf = std::function<double(index_t)>;

  /// Windows hold what is larger, and at most kMostIntegers.
  static constexpr double kLogSmallest = -700;
  static constexpr index_t kMostIntegers = index_t{1} << 25;

  /// From the probabilities of first, first + 1, ..., divided by their sum. Throws std::domain_error for a
  /// negative, NaN or infinite one, or where all are 0.
  IntegerTable(index_t first, std::span<const double> probabilities);
  /// A window of positive probabilities with sum one, and the log of the probability of every integer of the
  /// support.
  /// Where log_pmf is known to be a smooth concave function outside of the window, sums take few of its
  /// terms.
  IntegerTable(index_t first, std::vector<double> probabilities, IntegerRange support, LogPmf log_pmf,
               bool smooth = false);
  /// The same where the window has sum one only together with tails.
  IntegerTable(index_t first, std::vector<double> probabilities, IntegerRange support, LogPmf log_pmf,
               std::vector<detail::IntegerTail> tails);

  /// The window: its first integer and its probabilities.
  [[nodiscard]] index_t first() const noexcept;
  [[nodiscard]] std::span<const double> probabilities() const noexcept;
  /// From the first to the last integer of positive probability.
  [[nodiscard]] IntegerRange support() const noexcept;
  /// What has mass outside of the window: at most one tail on either side.
  [[nodiscard]] std::span<const detail::IntegerTail> tails() const noexcept;
  /// Whether the window is all of the support.
  [[nodiscard]] bool is_complete() const noexcept;
  [[nodiscard]] bool is_smooth() const noexcept;
  [[nodiscard]] index_t mode() const noexcept;

  [[nodiscard]] double pmf(index_t t) const;
  [[nodiscard]] double log_pmf(index_t t) const;
  [[nodiscard]] double cdf(index_t t) const;
  [[nodiscard]] double survival(index_t t) const;
  [[nodiscard]] double log_cdf(index_t t) const;
  [[nodiscard]] double log_survival(index_t t) const;
  [[nodiscard]] index_t quantile(double u) const;
  [[nodiscard]] index_t survival_quantile(double u) const;
  /// The mean less the mode.
  [[nodiscard]] double mean_offset() const noexcept;
  [[nodiscard]] double central_moment(int n) const;
  [[nodiscard]] double tsallis_entropy(double order) const;
  [[nodiscard]] double expectation(FunctionRef<double(double)> f, double accuracy) const;
  [[nodiscard]] IntegerTable escort(double beta) const;

  [[nodiscard]] const IntegerTable& table() const noexcept { return *this; }

 private:
  struct Data;
  std::shared_ptr<const Data> data_;
};

/// The distributions that an IntegerTable holds: all accessors below are theirs.
template <class P>
concept TabulatedIntegers = requires(const P& p) {
  { p.table() } -> std::same_as<const IntegerTable&>;
};

[[nodiscard]] inline Integers domain(const IntegerTable&) noexcept { return {}; }

/// The interval of the integers with positive probability; an infinite end is that of index_t.
template <TabulatedIntegers P>
[[nodiscard]] IntegerRange support(const P& p) noexcept {
  return p.table().support();
}

/// 0 and -inf off the support, for any t; far out log_pmf goes on where pmf is 0.
template <TabulatedIntegers P>
[[nodiscard]] double pmf(const P& p, index_t t) {
  return p.table().pmf(t);
}
template <TabulatedIntegers P>
[[nodiscard]] double log_pmf(const P& p, index_t t) {
  return p.table().log_pmf(t);
}

/// P(X <= t), P(X > t) and their logarithms: the smaller of the two is a sum of its own, so that both tails
/// keep their relative accuracy.
template <TabulatedIntegers P>
[[nodiscard]] double cdf(const P& p, index_t t) {
  return p.table().cdf(t);
}
template <TabulatedIntegers P>
[[nodiscard]] double survival(const P& p, index_t t) {
  return p.table().survival(t);
}
template <TabulatedIntegers P>
[[nodiscard]] double log_cdf(const P& p, index_t t) {
  return p.table().log_cdf(t);
}
template <TabulatedIntegers P>
[[nodiscard]] double log_survival(const P& p, index_t t) {
  return p.table().log_survival(t);
}

/// The smallest t of the support with cdf >= u, or with survival <= u; 0 and 1 give the ends of the support.
/// Throw std::domain_error unless u is in [0, 1].
template <TabulatedIntegers P>
[[nodiscard]] index_t quantile(const P& p, double u) {
  return p.table().quantile(u);
}
template <TabulatedIntegers P>
[[nodiscard]] index_t survival_quantile(const P& p, double u) {
  return p.table().survival_quantile(u);
}

/// The most probable integer, the first of several.
template <TabulatedIntegers P>
[[nodiscard]] index_t mode(const P& p) noexcept {
  return p.table().mode();
}
template <TabulatedIntegers P>
[[nodiscard]] double mean(const P& p) noexcept {
  return static_cast<double>(p.table().mode()) + p.table().mean_offset();
}
/// E(t - mean)^n; infinite, or NaN without a sign, where it does not exist. Throws std::domain_error for n <
/// 0.
template <TabulatedIntegers P>
[[nodiscard]] double central_moment(const P& p, int n) {
  return p.table().central_moment(n);
}
template <TabulatedIntegers P>
[[nodiscard]] double variance(const P& p) {
  return p.table().central_moment(2);
}
/// E(t - mean)^3 / variance^{3/2} and E(t - mean)^4 / variance^2; NaN for a certain outcome, infinite where
/// the moment is.
template <TabulatedIntegers P>
[[nodiscard]] double skewness(const P& p) {
  const double spread = variance(p);
  return central_moment(p, 3) / spread / std::sqrt(spread);
}
template <TabulatedIntegers P>
[[nodiscard]] double kurtosis(const P& p) {
  const double spread = variance(p), fourth = central_moment(p, 4);
  return std::isinf(fourth) ? fourth : fourth / spread / spread;
}

/// Shannon entropy, and Tsallis entropy -Omega_order of any order > 0 (else std::domain_error); infinite
/// where the sum is.
template <TabulatedIntegers P>
[[nodiscard]] double entropy(const P& p) {
  return p.table().tsallis_entropy(1);
}
template <TabulatedIntegers P>
[[nodiscard]] double tsallis_entropy(const P& p, double order) {
  return p.table().tsallis_entropy(order);
}

/// p^beta / sum p^beta on the support. Throws std::domain_error unless beta is finite, positive where the
/// support is larger than the window, and the sum is finite.
template <TabulatedIntegers P>
[[nodiscard]] IntegerTable escort(const P& p, double beta) {
  return p.table().escort(beta);
}

/// E[f(t)], the sum over the window. In tails f is taken at real numbers too, and must be smooth there.
/// Throws std::domain_error where f is NaN, ConvergenceError where the sum over a tail misses the accuracy.
template <TabulatedIntegers P, std::invocable<double> F>
[[nodiscard]] double expectation(const P& p, F&& f, double accuracy = 1e-10) {
  return p.table().expectation([&f](double t) { return static_cast<double>(f(t)); }, accuracy);
}

/// One draw by inversion: one uniform number of the generator. What is no index_t is an end of index_t.
template <TabulatedIntegers P, std::uniform_random_bit_generator Generator>
[[nodiscard]] index_t sample(const P& p, Generator& rng) {
  return p.table().quantile(uniform01(rng));
}

static_assert(DiscreteDistribution<IntegerTable> && NumericDistribution<IntegerTable>);

}  // namespace fenchel
