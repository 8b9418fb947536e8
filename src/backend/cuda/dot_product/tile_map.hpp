#pragma once

#include <cuda.h>

#include <string_view>

#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/backend/dot_product_views.hpp"

namespace fenchel::cuda {

/// What the copy engine of compute capability 9.0 must know to read tiles of 64 rows and 64 columns.
using TileMap = CUtensorMap;

/// The tiles of the matrices of all heads, whose rows begin at multiples of 16 bytes. Throws CudaError where
/// the driver refuses.
template <class T>
[[nodiscard]] TileMap tile_map(std::string_view where, const Matrices<const T>& x);

}  // namespace fenchel::cuda
