#pragma once

/// `index_t`: the signed type of sizes, strides and positions.

#include <cstddef>

namespace fenchel {

/// Sizes, strides and positions. Signed, so that differences and reversed strides need no care.
using index_t = std::ptrdiff_t;

}  // namespace fenchel
