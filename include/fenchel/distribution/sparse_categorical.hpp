#pragma once

/// `SparseCategorical`: probabilities of finitely many classes, of which only positive ones are stored.

#include <random>
#include <span>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/domain/finite.hpp"

namespace fenchel {

/// A distribution over {0, ..., size - 1} that keeps only the atoms of positive probability: what predict
/// gives on a finite domain.
class FENCHEL_EXPORT SparseCategorical {
 public:
  using value_type = index_t;

  /// From the probability of each atom, divided by their sum unless that is 1 to rounding. Throws
  /// std::domain_error for a negative, NaN or infinite one, or where all are 0.
  explicit SparseCategorical(std::span<const double> probabilities);

  [[nodiscard]] index_t size() const noexcept { return size_; }
  /// The atoms of positive probability, ascending.
  [[nodiscard]] std::span<const index_t> support() const noexcept { return support_; }
  /// Their probabilities, in the same order.
  [[nodiscard]] std::span<const double> probabilities() const noexcept { return probabilities_; }

  /// Their cumulative sums; the last one is 1.
  [[nodiscard]] std::span<const double> cumulative() const noexcept { return cumulative_; }

  friend bool operator==(const SparseCategorical&, const SparseCategorical&) = default;

 private:
  index_t size_;
  std::vector<index_t> support_;
  std::vector<double> probabilities_, cumulative_;
};

[[nodiscard]] inline Finite domain(const SparseCategorical&) { return {}; }
[[nodiscard]] inline std::span<const index_t> support(const SparseCategorical& p) noexcept {
  return p.support();
}

/// 0 and -inf off the support, for any i.
[[nodiscard]] FENCHEL_EXPORT double pmf(const SparseCategorical& p, index_t i) noexcept;
[[nodiscard]] FENCHEL_EXPORT double log_pmf(const SparseCategorical& p, index_t i) noexcept;

/// P(X <= i).
[[nodiscard]] FENCHEL_EXPORT double cdf(const SparseCategorical& p, index_t i) noexcept;

/// The smallest atom of the support with cdf >= u. Throws std::domain_error unless u is in [0, 1].
[[nodiscard]] FENCHEL_EXPORT index_t quantile(const SparseCategorical& p, double u);

/// The most probable atom, the first of several.
[[nodiscard]] FENCHEL_EXPORT index_t mode(const SparseCategorical& p) noexcept;

/// Shannon entropy, and Tsallis entropy -Omega_alpha for any alpha > 0.
[[nodiscard]] FENCHEL_EXPORT double entropy(const SparseCategorical& p);
[[nodiscard]] FENCHEL_EXPORT double tsallis_entropy(const SparseCategorical& p, double alpha);

/// p^beta / sum p^beta on the support. Throws std::domain_error unless beta is finite.
[[nodiscard]] FENCHEL_EXPORT SparseCategorical escort(const SparseCategorical& p, double beta);

/// One draw by inversion: one uniform number of the generator.
template <std::uniform_random_bit_generator Generator>
[[nodiscard]] index_t sample(const SparseCategorical& p, Generator& rng) {
  return quantile(p, uniform01(rng));
}

static_assert(DiscreteDistribution<SparseCategorical>);

}  // namespace fenchel
