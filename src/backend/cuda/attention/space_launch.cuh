#pragma once

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "backend/cuda/attention/arrays.hpp"
#include "backend/cuda/device/attention/space_attend.cuh"
#include "backend/cuda/launch.cuh"
#include "fenchel/core/error.hpp"

/// How attention in R^D is launched: a block takes some rows, whose densities its first threads prepare.
namespace fenchel::cuda {

inline constexpr int kSpaceThreads = 128;
inline constexpr index_t kMostSpaceRows = 16;  ///< of a block

/// Enough blocks for every GPU first, then as many rows a block as share its start.
[[nodiscard]] inline int space_rows(index_t rows, index_t multiple = 1) {
  constexpr index_t kManyBlocks = 2048;
  const index_t most = std::clamp<index_t>(rows / kManyBlocks, 1, kMostSpaceRows);
  return static_cast<int>((most + multiple - 1) / multiple * multiple);
}
[[nodiscard]] inline dim3 space_grid(std::string_view where, index_t rows, int rows_per_block) {
  return grid_of(where, (rows + rows_per_block - 1) / rows_per_block);
}

inline void check_dimension(std::string_view where, index_t dimension, index_t most) {
  if (dimension <= most) return;
  throw_invalid_argument(where, "psi.dimension", "must be at most " + shortest(most) + " on a GPU",
                         dimension);
}

/// Calls body(std::integral_constant<int, kD>{}) with the D that the compiler knows, or 0.
template <class Body>
void with_dimension(std::string_view where, index_t dimension, const Body& body) {
  check_dimension(where, dimension, device::Dimension<0>::kMost);
  if (dimension == 2) {
    body(std::integral_constant<int, 2>{});
  } else {
    body(std::integral_constant<int, 0>{});
  }
}

/// Calls body(std::integral_constant<Family, ...>{}) with what a shared alpha says, in two dimensions. Other
/// kernels know all integrals.
template <int kD, class Body>
void with_family(const PerRow& alpha, const Body& body) {
  using device::Family;
  if constexpr (kD == 2) {
    if (!alpha.per_row() && alpha[0] == 1) {
      return body(std::integral_constant<Family, Family::kGaussian>{});
    }
    if (!alpha.per_row() && alpha[0] > 1) {
      return body(std::integral_constant<Family, Family::kSparse>{});
    }
  }
  body(std::integral_constant<Family, Family::kAny>{});
}

namespace device {

/// The rows [first, first + count) of a block, in its shared memory.
template <int kD, class Densities>
__device__ void load_rows(SpaceRow<kD>* rows, const Densities& p, Dimension<kD> d, index_t first, int count,
                          bool curves = false) {
  for (int k = static_cast<int>(threadIdx.x); k < count; k += static_cast<int>(blockDim.x)) {
    rows[k].load(p, d, first + k, curves);
  }
  __syncthreads();
}

}  // namespace device
}  // namespace fenchel::cuda
