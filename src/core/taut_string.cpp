#include "fenchel/core/taut_string.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "core/taut_string.hpp"
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
  const auto require_all = [&](std::string_view name, std::span<const double> x, std::string_view constraint,
                               const auto& good) {
    const auto bad = std::ranges::find_if_not(x, good);
    if (bad != x.end()) throw_domain_error(kWhere, indexed(name, bad - x.begin()), constraint, *bad);
  };
  require_all("y", y, "must be finite", [](double v) { return std::isfinite(v); });
  require_all("caps", caps, "must be finite and not negative",
              [](double v) { return v >= 0 && std::isfinite(v); });
  require_all("weights", weights, "must be positive and finite",
              [](double v) { return v > 0 && std::isfinite(v); });
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
