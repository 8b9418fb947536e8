#pragma once

/// The prediction for a concave score on a range of integers.

#include <functional>
#include <string_view>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/normalizer.hpp"
#include "fenchel/distribution/integers/integer_table.hpp"
#include "fenchel/domain/integers.hpp"

namespace fenchel::detail {

/// A concave score on a range of integers, seen from its first maximum.
struct IntegerScore {
  index_t mode;
  IntegerRange range;
  /// f(t) - f(t - 1), with relative accuracy.
  std::function<double(index_t)> increment;
  /// f(t) - f(mode) in closed form, for integers that no sum of increments reaches.
  std::function<double(index_t)> relative;
};

/// Its prediction exp_{2-alpha}(f - A).
struct FENCHEL_EXPORT IntegerPrediction {
  double am1;
  Normalization normalization;  ///< A and tau, both less f(mode)
  std::function<double(index_t)> relative;
  IntegerTable table;

  /// f(t) - A.
  [[nodiscard]] double excess(index_t t) const { return relative(t) - normalization.offset; }
};

/// The prediction for any alpha >= 1, infinity included. Throws std::domain_error about `parameter`, which
/// has the value `got`, where more than IntegerTable::kMostIntegers would be needed.
[[nodiscard]] FENCHEL_EXPORT IntegerPrediction predict_integers(double am1, const IntegerScore& score,
                                                                std::string_view where,
                                                                std::string_view parameter, double got);

/// The farthest integer from `from` towards `end` where the condition holds, given that it holds at `from`
/// and once it fails fails ever after.
[[nodiscard]] FENCHEL_EXPORT index_t farthest(index_t from, index_t end,
                                              const std::function<bool(index_t)>& holds);

}  // namespace fenchel::detail
