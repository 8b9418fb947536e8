#include "fenchel/core/taut_string.hpp"

#include <algorithm>
#include <string>

#include "core/taut_string.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {

std::vector<double> taut_string(std::span<const double> y, std::span<const double> caps,
                                std::span<const double> weights) {
  constexpr auto kWhere = "taut_string";
  const auto n = static_cast<index_t>(y.size());
  const auto require = [&](std::string_view name, std::size_t got, index_t expected) {
    if (static_cast<index_t>(got) == expected) return;
    throw_invalid_argument(kWhere, name, "must be " + std::to_string(expected), static_cast<index_t>(got));
  };
  if (n == 0) throw_invalid_argument(kWhere, "y.size()", "must be positive", n);
  require("caps.size()", caps.size(), n - 1);
  if (!weights.empty()) require("weights.size()", weights.size(), n);
  for (index_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    detail::checked_finite(kWhere, indexed("y", i), y[at]);
    if (i + 1 < n) detail::checked_nonnegative(kWhere, indexed("caps", i), caps[at]);
    if (!weights.empty()) detail::checked_positive(kWhere, indexed("weights", i), weights[at]);
  }
  std::vector<detail::StringPiece> pieces(2 * y.size());
  std::vector<double> x(y.size());
  detail::taut_string(
      n, [&](index_t i) { return y[static_cast<std::size_t>(i)]; },
      [&](index_t i) { return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)]; },
      [&](index_t k) { return caps[static_cast<std::size_t>(k)]; }, {pieces.data(), pieces.data() + n},
      [&](index_t begin, index_t end, double value) {
        std::fill(x.begin() + begin, x.begin() + end, value);
      });
  return x;
}

}  // namespace fenchel
