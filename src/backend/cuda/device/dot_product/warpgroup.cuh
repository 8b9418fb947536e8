#pragma once

#include "backend/cuda/device/dot_product/mma.cuh"

/// Products of whole tiles by the matrix units of four warps together (wgmma), where the code is for compute
/// capability 9.0 alone; otherwise warp by warp. Each warp has 16 rows of the left operand and of the sums,
/// in both cases in the same places.
namespace fenchel::cuda::device {

/// What this thread has done in shared memory comes before what the copy engine and wgmma do there, once they
/// are told to.
__device__ inline void show_to_engines() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace warpgroup {

/// Where 16 columns of all rows of a slab are, from an address on: rows of 128 bytes, eight of which are 1024
/// bytes. 32 bytes further it is greater by two.
__device__ inline std::uint64_t slab_columns(unsigned address) {
  constexpr std::uint64_t kSwizzleOf128Bytes = 1ull << 62, kEightRows = 64ull << 32, kNotUsed = 1ull << 16;
  return kSwizzleOf128Bytes | kEightRows | kNotUsed | (address & 0x3ffff) >> 4;
}

/// Begins sums = left rows^T, or sums += left rows^T, for 64 rows of 16 columns.
template <class T>
__device__ inline void begin_multiply(TileSums (&d)[8], const LeftOperand& a, std::uint64_t rows, int add) {
// clang-format off
#define FENCHEL_WGMMA(TYPE)                                                                                  \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %37, 0; "                                                     \
               "wgmma.mma_async.sync.aligned.m64n64k16.f32." TYPE "." TYPE " "                               \
               "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"                                     \
               "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, "                          \
               "{%32,%33,%34,%35}, %36, p, 1, 1, 0; }"                                                       \
               : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]),   \
                 "+f"(d[1][2]), "+f"(d[1][3]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]),   \
                 "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3]), "+f"(d[4][0]), "+f"(d[4][1]),   \
                 "+f"(d[4][2]), "+f"(d[4][3]), "+f"(d[5][0]), "+f"(d[5][1]), "+f"(d[5][2]), "+f"(d[5][3]),   \
                 "+f"(d[6][0]), "+f"(d[6][1]), "+f"(d[6][2]), "+f"(d[6][3]), "+f"(d[7][0]), "+f"(d[7][1]),   \
                 "+f"(d[7][2]), "+f"(d[7][3])                                                                \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(rows), "r"(add))
  // clang-format on
  if constexpr (std::is_same_v<T, BFloat16>) {
    FENCHEL_WGMMA("bf16");
  } else {
    FENCHEL_WGMMA("f16");
  }
#undef FENCHEL_WGMMA
}

}  // namespace warpgroup
#endif

/// sums = left tile^T: eight times eight columns. All warps of a block make the same calls.
template <class T, int kCols>
__device__ inline void multiply_by_tile(TileSums (&sums)[kTileRows / 8],
                                        const LeftOperand (&left)[kCols / 16], Tile<kCols> tile) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  const std::uint64_t rows = warpgroup::slab_columns(tile.base);
#pragma unroll
  for (int k = 0; k < kCols / 16; ++k) {
    const int further = (k / 4 * Tile<kCols>::kSlabBytes + k % 4 * 32) / 16;
    warpgroup::begin_multiply<T>(sums, left[k], rows + further, k > 0);
  }
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
#else
  multiply_by_rows<T, kCols>(sums, left, tile, 0);
#endif
}

}  // namespace fenchel::cuda::device
