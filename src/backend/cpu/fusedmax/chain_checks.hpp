#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include "backend/cpu/checks.hpp"
#include "fenchel/backend/cpu/chain.hpp"

/// What operations on chains ask of gamma, lengths and weights.
namespace fenchel::detail {

inline void check_gamma(std::string_view where, PerRow gamma, index_t rows) {
  if (gamma.per_row()) check_count(where, "gamma", gamma.size(), rows);
  for (index_t i = 0; i < gamma.size(); ++i) {
    if (gamma[i] >= 0 && gamma[i] <= std::numeric_limits<double>::max()) continue;
    throw_domain_error(where, gamma.per_row() ? indexed("gamma", i) : "gamma",
                       "must be finite and not negative", gamma[i]);
  }
}

inline void check_chain(std::string_view where, const cpu::Chain& chain, index_t rows, index_t cols) {
  if (!chain.lengths.empty()) {
    check_count(where, "lengths", static_cast<index_t>(chain.lengths.size()), rows);
    for (index_t i = 0; i < rows; ++i) {
      const index_t length = chain.lengths[static_cast<std::size_t>(i)];
      if (length >= 1 && length <= cols) continue;
      throw_invalid_argument(where, indexed("lengths", i), "must be in [1, " + std::to_string(cols) + "]",
                             length);
    }
  }
  if (chain.weights.data == nullptr || rows == 0) return;
  const auto require = [&](std::string_view part, index_t got, index_t expected) {
    if (got == expected) return;
    throw_invalid_argument(where, std::string("weights").append(part), "must be " + std::to_string(expected),
                           got);
  };
  require(".rows", chain.weights.rows, rows);
  require(".cols", chain.weights.cols, cols - 1);
  const index_t distinct = chain.weights.stride == 0 ? 1 : rows;
  for (index_t i = 0; i < distinct; ++i) {
    for (index_t j = 0; j < cols - 1; ++j) {
      const double weight = chain.weights.row(i)[j];
      if (weight > 0 && weight <= std::numeric_limits<double>::max()) continue;
      throw_domain_error(where, indexed(indexed("weights", i), j), "must be positive and finite", weight);
    }
  }
}

/// The arguments of a map.
template <class Real>
void check_chain_map(std::string_view where, Rows<const Real> scores, PerRow gamma, Rows<Real> p,
                     const cpu::Chain& chain) {
  check_view(where, "scores", scores);
  check_same_shape(where, "p", p, "scores", scores);
  check_overlap(where, "p", p, "scores", scores);
  check_gamma(where, gamma, scores.rows);
  check_chain(where, chain, scores.rows, scores.cols);
}

/// Rows, or derivatives in gamma, with their name.
template <class T>
struct Named {
  std::string_view name;
  T value;
};

/// The arguments of a Jacobian product; no derivatives in gamma are none asked for.
template <class Real>
void check_chain_product(std::string_view where, Rows<const Real> p, PerRow gamma,
                         const Named<Rows<const Real>>& v, const Named<Rows<Real>>& product,
                         const cpu::Chain& chain, const Named<std::size_t>& gammas) {
  check_view(where, "p", p);
  check_same_shape(where, v.name, v.value, "p", p);
  check_same_shape(where, product.name, product.value, "p", p);
  check_gamma(where, gamma, p.rows);
  check_chain(where, chain, p.rows, p.cols);
  if (gammas.value != 0) check_count(where, gammas.name, static_cast<index_t>(gammas.value), p.rows);
}

/// How many columns of row i there are.
inline index_t chain_length(const cpu::Chain& chain, index_t i, index_t cols) noexcept {
  return chain.lengths.empty() ? cols : chain.lengths[static_cast<std::size_t>(i)];
}

/// What a map found: the row's largest score, NaN for a row without prediction, and tau less it.
struct MappedRow {
  double top, threshold;
};

/// gamma times the weight of the edge between columns j and j + 1, at most 1e300 so that sums stay finite.
class EdgeGammas {
 public:
  EdgeGammas(double gamma, const cpu::Chain& chain, index_t i) noexcept
      : gamma_(std::min(gamma, kLargest)),
        weights_(chain.weights.data == nullptr ? nullptr : chain.weights.row(i)) {}
  [[nodiscard]] double operator[](index_t j) const noexcept {
    return weights_ == nullptr ? gamma_ : std::min(gamma_ * weights_[j], kLargest);
  }
  [[nodiscard]] double gamma() const noexcept { return gamma_; }
  [[nodiscard]] bool constant() const noexcept { return weights_ == nullptr; }
  [[nodiscard]] double weight(index_t j) const noexcept { return weights_ == nullptr ? 1.0 : weights_[j]; }

 private:
  static constexpr double kLargest = 1e300;
  double gamma_;
  const double* weights_;
};

}  // namespace fenchel::detail
