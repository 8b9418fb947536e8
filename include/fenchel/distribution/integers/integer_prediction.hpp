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
  /// f(mode + x) - f(mode) in closed form for any number x, beyond what a sum of increments reaches.
  std::function<double(double)> relative;
  /// log(f(mode) - f(mode + e^y)) - growth y for numbers e^y that are too large for a double, below alpha
  /// = 1.
  std::function<double(double)> log_depth{};
  /// f falls like x^growth (log x)^log_growth.
  double growth = 0, log_growth = 0;

  /// f(t) - f(mode).
  [[nodiscard]] double at(index_t t) const {
    return relative(static_cast<double>(t) - static_cast<double>(mode));
  }
};

/// Its prediction exp_{2-alpha}(f - A).
struct FENCHEL_EXPORT IntegerPrediction {
  double am1;
  Normalization normalization;  ///< A and tau, both less f(mode)
  index_t mode;
  std::function<double(double)> relative;  ///< f(mode + x) - f(mode)
  double growth, log_growth;               ///< f falls like x^growth (log x)^log_growth
  IntegerTable table;

  /// f(t) - f(mode) and f(t) - A.
  [[nodiscard]] double below_mode(index_t t) const {
    return relative(static_cast<double>(t) - static_cast<double>(mode));
  }
  [[nodiscard]] double excess(index_t t) const { return below_mode(t) - normalization.offset; }
};

/// The prediction for any alpha > 0, infinity included. Throws std::domain_error about `parameter`, which
/// has the value `got`, where alpha >= 1 and more than IntegerTable::kMostIntegers would be needed.
[[nodiscard]] FENCHEL_EXPORT IntegerPrediction predict_integers(double am1, const IntegerScore& score,
                                                                std::string_view where,
                                                                std::string_view parameter, double got);

/// The farthest integer from `from` towards `end` where the condition holds, given that it holds at `from`
/// and once it fails fails ever after.
[[nodiscard]] FENCHEL_EXPORT index_t farthest(index_t from, index_t end,
                                              const std::function<bool(index_t)>& holds);

}  // namespace fenchel::detail
