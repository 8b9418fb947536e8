#pragma once

/// `Empirical`: a sample on the line as the target of a loss.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <span>

#include "fenchel/core/check.hpp"
#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/domain/line.hpp"

namespace fenchel {

/// A sample on the line as the target of a loss; each value has the same weight where none are given. The
/// caller owns the data.
class Empirical {
 public:
  /// Throws std::invalid_argument for no values, and unless there is a weight for each; std::domain_error for
  /// a weight that is negative or not finite, and where all are 0.
  explicit Empirical(std::span<const double> values, std::span<const double> weights = {})
      : values_(values), weights_(weights), total_(static_cast<double>(values.size())) {
    if (values.empty()) throw_invalid_argument("empirical", "values", "must not be empty", index_t{0});
    if (weights.empty()) return;
    if (weights.size() != values.size())
      throw_invalid_argument("empirical", "weights", "must be one for each value", std::ssize(weights));
    total_ = 0;
    for (const double w : weights) {
      if (!(w >= 0)) throw_domain_error("empirical", "a weight", "must not be negative", w);
      total_ += w;
    }
    detail::checked_positive("empirical", "the sum of the weights", total_);
  }
  [[nodiscard]] std::span<const double> values() const noexcept { return values_; }
  /// Empty where all are 1.
  [[nodiscard]] std::span<const double> weights() const noexcept { return weights_; }
  [[nodiscard]] double total() const noexcept { return total_; }

 private:
  std::span<const double> values_, weights_;
  double total_;
};

[[nodiscard]] inline Line domain(const Empirical&) noexcept { return {}; }
template <std::invocable<double> F>
[[nodiscard]] double expectation(const Empirical& q, F&& f) {
  constexpr std::size_t kTogether = 4096;
  double sum = 0;
  for (std::size_t begin = 0; begin < q.values().size(); begin += kTogether) {
    checkpoint();
    for (std::size_t i = begin; i < std::min(begin + kTogether, q.values().size()); ++i) {
      const double weight = q.weights().empty() ? 1 : q.weights()[i];
      if (weight != 0) sum += weight * f(q.values()[i]);
    }
  }
  return sum / q.total();
}
[[nodiscard]] inline double mean(const Empirical& q) {
  return expectation(q, [](double t) { return t; });
}
/// The mean square deviation (divided by the weight of all values).
[[nodiscard]] inline double variance(const Empirical& q) {
  const double centre = mean(q);
  return expectation(q, [centre](double t) { return (t - centre) * (t - centre); });
}
/// That of an atom: atoms of any size have it.
[[nodiscard]] inline double tsallis_entropy(const Empirical&, double order) noexcept {
  return tsallis_entropy(Dirac{0}, order);
}
[[nodiscard]] inline double negentropy_order_derivative(const Empirical&, double order) noexcept {
  return negentropy_order_derivative(Dirac{0}, order);
}

}  // namespace fenchel
