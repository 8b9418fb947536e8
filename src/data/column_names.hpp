#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// Of a table: so that a few bytes, or a file that is no table, cannot ask for all memory.
inline constexpr index_t kMaxColumns = index_t{1} << 20;

/// "'x', 'y'": how a message lists columns, the first 20 of them.
[[nodiscard]] inline std::string listed(std::span<const std::string> names) {
  constexpr std::size_t kListed = 20;
  std::string list;
  for (const std::string& name : names.first(std::min(names.size(), kListed)))
    list.append(list.empty() ? "'" : ", '").append(name).append("'");
  return names.size() > kListed ? list.append(", ...") : list;
}

}  // namespace fenchel::detail
