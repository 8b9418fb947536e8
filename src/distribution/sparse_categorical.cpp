#include "fenchel/distribution/sparse_categorical.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fenchel/core/check.hpp"
#include "fenchel/regularizer/tsallis.hpp"

namespace fenchel {

SparseCategorical::SparseCategorical(std::span<const double> probabilities)
    : size_(static_cast<index_t>(probabilities.size())) {
  for (index_t i = 0; i < size_; ++i) {
    const double probability = probabilities[static_cast<std::size_t>(i)];
    if (!(probability >= 0) || std::isinf(probability)) {
      throw_domain_error("sparse_categorical", indexed("probabilities", i), "must be finite and not negative",
                         probability);
    }
    if (probability == 0) continue;
    support_.push_back(i);
    probabilities_.push_back(probability);
  }
  const double sum = std::accumulate(probabilities_.begin(), probabilities_.end(), 0.0);
  if (!(sum > 0) || std::isinf(sum)) {
    throw_domain_error("sparse_categorical", "the sum of the probabilities", "must be positive and finite",
                       sum);
  }
  const double rounding = std::numeric_limits<double>::epsilon() * static_cast<double>(probabilities_.size());
  if (std::abs(sum - 1) > rounding) {
    for (double& probability : probabilities_) probability /= sum;
  }
  cumulative_.resize(probabilities_.size());
  std::partial_sum(probabilities_.begin(), probabilities_.end(), cumulative_.begin());
  cumulative_.back() = 1;
}

double pmf(const SparseCategorical& p, index_t i) noexcept {
  const auto at = std::ranges::lower_bound(p.support(), i);
  if (at == p.support().end() || *at != i) return 0;
  return p.probabilities()[static_cast<std::size_t>(at - p.support().begin())];
}

double log_pmf(const SparseCategorical& p, index_t i) noexcept { return std::log(pmf(p, i)); }

double cdf(const SparseCategorical& p, index_t i) noexcept {
  const auto count = std::ranges::upper_bound(p.support(), i) - p.support().begin();
  return count == 0 ? 0.0 : p.cumulative()[static_cast<std::size_t>(count - 1)];
}

index_t quantile(const SparseCategorical& p, double u) {
  detail::checked_probability("quantile", "u", u);
  const auto at = std::ranges::lower_bound(p.cumulative(), u) - p.cumulative().begin();
  return p.support()[static_cast<std::size_t>(at)];
}

index_t mode(const SparseCategorical& p) noexcept {
  return p.support()[static_cast<std::size_t>(std::ranges::max_element(p.probabilities()) -
                                              p.probabilities().begin())];
}

double entropy(const SparseCategorical& p) { return tsallis_entropy(p, 1); }

double tsallis_entropy(const SparseCategorical& p, double alpha) {
  return 0.0 - tsallis_negentropy(alpha, p.probabilities());  // 0, not -0, for a certain outcome
}

}  // namespace fenchel
