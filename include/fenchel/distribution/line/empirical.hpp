#pragma once

/// `Empirical`: a sample on the line as the target of a loss.

#include <concepts>
#include <span>

#include "fenchel/core/error.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/domain/line.hpp"

namespace fenchel {

/// A sample on the line, in which each value has the same weight, as the target of a loss. The caller owns
/// the data.
class Empirical {
 public:
  /// Throws std::invalid_argument for no values.
  explicit Empirical(std::span<const double> values) : values_(values) {
    if (values.empty()) throw_invalid_argument("empirical", "values", "must not be empty", index_t{0});
  }
  [[nodiscard]] std::span<const double> values() const noexcept { return values_; }

 private:
  std::span<const double> values_;
};

[[nodiscard]] inline Line domain(const Empirical&) noexcept { return {}; }
template <std::invocable<double> F>
[[nodiscard]] double expectation(const Empirical& q, F&& f) {
  double sum = 0;
  for (const double t : q.values()) sum += f(t);
  return sum / static_cast<double>(q.values().size());
}
[[nodiscard]] inline double mean(const Empirical& q) {
  return expectation(q, [](double t) { return t; });
}
/// The mean square deviation (divided by the number of values).
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
