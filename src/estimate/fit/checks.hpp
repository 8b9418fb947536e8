#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "fenchel/core/check.hpp"
#include "fenchel/core/index.hpp"

/// What fits ask of their data and options; they throw in the name of `where`.
namespace fenchel::detail {

inline constexpr auto kNormalRange = "must be in the range of normal doubles (choose another unit)";

/// Throws std::domain_error unless there is data.
inline void check_total_weight(std::string_view where, double weight) {
  checked_positive(where, "the weight of all rows", weight);
}

/// Throws std::domain_error unless 1 <= alpha < infinity.
inline void check_alpha_from_one(std::string_view where, double alpha) {
  if (!(alpha >= 1 && alpha <= std::numeric_limits<double>::max()))
    throw_domain_error(where, "alpha", "must be finite and at least 1", alpha);
}

/// "column 'length'": how a message names column k, by its number where there are no names.
[[nodiscard]] inline std::string column_name(std::span<const std::string> names, index_t k) {
  return names.empty() ? "column " + shortest(k) : "column '" + names[static_cast<std::size_t>(k)] + "'";
}

/// Throws std::invalid_argument unless there is a feature for each coefficient of a fit.
inline void check_features(std::string_view where, index_t features, index_t coefficients) {
  if (features != coefficients)
    throw_invalid_argument(where, "features", "must number " + shortest(coefficients), features);
}

}  // namespace fenchel::detail
