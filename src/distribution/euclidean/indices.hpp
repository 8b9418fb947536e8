#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fenchel/core/error.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// Throws std::invalid_argument unless there are indices of coordinates, all different and below the
/// dimension.
inline void check_indices(std::string_view where, index_t dimension, std::span<const index_t> indices) {
  if (indices.empty()) throw_invalid_argument(where, "indices.size()", "must be positive", index_t{0});
  std::vector<bool> seen(static_cast<std::size_t>(dimension));
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const index_t i = indices[k];
    const std::string name = indexed("indices", static_cast<index_t>(k));
    if (i < 0 || i >= dimension)
      throw_invalid_argument(where, name, "must be in [0, " + shortest(dimension) + ")", i);
    if (seen[static_cast<std::size_t>(i)])
      throw_invalid_argument(where, name, "must differ from those before", i);
    seen[static_cast<std::size_t>(i)] = true;
  }
}

}  // namespace fenchel::detail
