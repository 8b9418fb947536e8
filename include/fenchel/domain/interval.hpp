#pragma once

/// `Interval`: the numbers from a lower to an upper end.

#include <cmath>

#include "fenchel/core/error.hpp"

namespace fenchel {

/// The numbers from lower to upper, either of them possibly infinite: a domain, and what supports are made
/// of.
class Interval {
 public:
  /// Throws std::domain_error unless lower <= upper.
  constexpr Interval(double lower, double upper) : lower_(lower), upper_(upper) {
    if (!(lower <= upper)) {
      if (std::isnan(lower)) throw_domain_error("interval", "lower", "must be a number", lower);
      throw_domain_error("interval", "upper", "must be at least lower", upper);
    }
  }

  [[nodiscard]] constexpr double lower() const noexcept { return lower_; }
  [[nodiscard]] constexpr double upper() const noexcept { return upper_; }
  [[nodiscard]] constexpr double width() const noexcept { return upper_ - lower_; }
  [[nodiscard]] constexpr bool contains(double t) const noexcept { return t >= lower_ && t <= upper_; }

  friend constexpr bool operator==(const Interval&, const Interval&) = default;

 private:
  double lower_, upper_;
};

}  // namespace fenchel
