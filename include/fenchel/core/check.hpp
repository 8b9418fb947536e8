#pragma once

/// Checks of parameters that return the parameter, for use in initialisers.

#include <limits>
#include <string_view>

#include "fenchel/core/error.hpp"

/// Checks of parameters that pass their value on, for use in initialisers. They throw std::domain_error.
namespace fenchel::detail {

inline double checked_finite(std::string_view where, std::string_view what, double x) {
  constexpr double kMax = std::numeric_limits<double>::max();
  if (!(x >= -kMax && x <= kMax)) throw_domain_error(where, what, "must be finite", x);
  return x;
}

inline double checked_positive(std::string_view where, std::string_view what, double x) {
  if (!(x > 0 && x <= std::numeric_limits<double>::max()))
    throw_domain_error(where, what, "must be positive and finite", x);
  return x;
}

inline double checked_nonnegative(std::string_view where, std::string_view what, double x) {
  if (!(x >= 0 && x <= std::numeric_limits<double>::max()))
    throw_domain_error(where, what, "must be finite and not negative", x);
  return x;
}

inline double checked_probability(std::string_view where, std::string_view what, double u) {
  if (!(u >= 0 && u <= 1)) throw_domain_error(where, what, "must be in [0, 1]", u);
  return u;
}

}  // namespace fenchel::detail
