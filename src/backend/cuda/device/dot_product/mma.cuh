#pragma once

#include <cstdint>
#include <type_traits>

#include "backend/cuda/device/reduce.cuh"
#include "backend/cuda/device/storage.cuh"

/// Products of tiles by the matrix units of a warp, mma.sync of 16 x 8 x 16 numbers of 16 bits, summed in
/// float. Of such a sum lane 4 g + t holds the columns 2 t and 2 t + 1 of row g, and then those of row g + 8.
namespace fenchel::cuda::device {

inline constexpr int kTileRows = 64;                         ///< rows of a tile in shared memory
inline constexpr int kWarps = 8, kThreads = kWarps * kWarp;  ///< of a block

using TileSums = float[4];
using LeftOperand = unsigned[4];  ///< 16 x 16 numbers

template <class T>
__device__ inline void multiply_add(TileSums& sums, const LeftOperand& a, unsigned b0, unsigned b1) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

/// Two floats as two numbers of 16 bits, the first in the low half.
template <class T>
__device__ inline unsigned pair_of(float low, float high) {
  unsigned pair;
  if constexpr (std::is_same_v<T, BFloat16>) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  }
  return pair;
}

/// A tile of kTileRows x kCols numbers of 16 bits in shared memory: slabs of 64 columns, whose rows of 128
/// bytes are cut into pieces of 16 bytes. Their places within a row differ from row to row, so that eight
/// rows are read without conflicts; it is what wgmma calls a swizzle of 128 bytes.
template <int kCols>
struct Tile {
  static constexpr int kPieces = kCols / 8, kRowPieces = 8, kRowBytes = 16 * kRowPieces;
  static constexpr int kSlabBytes = kTileRows * kRowBytes, kBytes = kTileRows * kCols * 2;
  static constexpr int kAlignment = 8 * kRowBytes;  ///< of the base

  unsigned base;  ///< an address in shared memory

  [[nodiscard]] __device__ unsigned piece(int row, int p) const {
    return base + static_cast<unsigned>(p / kRowPieces * kSlabBytes + row * kRowBytes +
                                        ((p % kRowPieces ^ (row & 7)) << 4));
  }
  /// Four matrices of 8 x 8 numbers; lane 8 k + r gives the address of row r of matrix k.
  __device__ static void load_matrices(unsigned (&to)[4], unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
  }
  __device__ static void load_transposed(unsigned (&to)[4], unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
  }
};

/// 16 rows of a tile as left operands, one for each 16 columns.
template <int kCols>
__device__ inline void load_left(LeftOperand (&left)[kCols / 16], Tile<kCols> tile, int first_row) {
  const int lane = threadIdx.x % kWarp;
  const int row = first_row + (lane & 7) + 8 * (lane >> 3 & 1), half = lane >> 4;
#pragma unroll
  for (int k = 0; k < kCols / 16; ++k) Tile<kCols>::load_matrices(left[k], tile.piece(row, 2 * k + half));
}

/// sums = left tile^T for the rows of the tile from first_row on, eight for each of the sums.
template <class T, int kCols, int kCount>
__device__ inline void multiply_by_rows(TileSums (&sums)[kCount], const LeftOperand (&left)[kCols / 16],
                                        Tile<kCols> tile, int first_row) {
  const int lane = threadIdx.x % kWarp;
  const int row = first_row + (lane & 7) + 8 * (lane >> 4), half = lane >> 3 & 1;
#pragma unroll
  for (int j = 0; j < kCount; ++j) {
#pragma unroll
    for (int e = 0; e < 4; ++e) sums[j][e] = 0;
  }
#pragma unroll
  for (int k = 0; k < kCols / 16; ++k) {
#pragma unroll
    for (int j = 0; j < kCount; j += 2) {
      unsigned right[4];
      Tile<kCols>::load_matrices(right, tile.piece(row + 8 * j, 2 * k + half));
      multiply_add<T>(sums[j], left[k], right[0], right[1]);
      multiply_add<T>(sums[j + 1], left[k], right[2], right[3]);
    }
  }
}

/// sums += weights tile for the rows of the tile from first_row on, eight for each of the weights, which lie
/// as sums do.
template <class T, int kCols, int kCount>
__device__ inline void multiply_by_columns(TileSums (&sums)[kCols / 8], const TileSums (&weights)[kCount],
                                           Tile<kCols> tile, int first_row) {
  const int lane = threadIdx.x % kWarp;
  const int row = first_row + (lane & 7) + 8 * (lane >> 3 & 1), half = lane >> 4;
#pragma unroll
  for (int k = 0; k < kCount / 2; ++k) {
    const LeftOperand left = {pair_of<T>(weights[2 * k][0], weights[2 * k][1]),
                              pair_of<T>(weights[2 * k][2], weights[2 * k][3]),
                              pair_of<T>(weights[2 * k + 1][0], weights[2 * k + 1][1]),
                              pair_of<T>(weights[2 * k + 1][2], weights[2 * k + 1][3])};
#pragma unroll
    for (int j = 0; j < kCols / 8; j += 2) {
      unsigned right[4];
      Tile<kCols>::load_transposed(right, tile.piece(row + 16 * k, j + half));
      multiply_add<T>(sums[j], left, right[0], right[1]);
      multiply_add<T>(sums[j + 1], left, right[2], right[3]);
    }
  }
}

/// 16 bytes into shared memory, without waiting; zeros where there is nothing to read.
__device__ inline void copy_piece(unsigned to, const void* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0)
               : "memory");
}
__device__ inline void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Until at most kStillGoing of the ended groups of copies go on.
template <int kStillGoing>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kStillGoing) : "memory");
}

/// Begins to copy tiles of a matrix, which has so many rows and columns. Each thread copies the same pieces
/// of every tile.
template <class T, int kCols>
class TileCopier {
 public:
  __device__ TileCopier(const T* matrix, index_t row_stride, index_t rows, int cols)
      : first_(matrix + own_row() * row_stride + 8 * own_piece()),
        row_stride_(row_stride),
        rows_(static_cast<int>(rows)),
        offset_(Tile<kCols>{0}.piece(own_row(), own_piece())),
        there_(8 * own_piece() < cols) {}
  /// The rows from first_row on.
  __device__ void begin(Tile<kCols> tile, int first_row) const {
    const T* const from = first_ + first_row * row_stride_;
#pragma unroll
    for (int row = 0; row < kTileRows; row += kRowsTogether) {
      copy_piece(tile.base + offset_ + static_cast<unsigned>(row * Tile<kCols>::kRowBytes),
                 from + row * row_stride_, there_ && first_row + row + own_row() < rows_);
    }
  }

 private:
  static constexpr int kRowsTogether = kThreads / Tile<kCols>::kPieces;
  static_assert(kRowsTogether % 8 == 0, "all rows of a thread have one order of pieces");
  __device__ static int own_row() { return static_cast<int>(threadIdx.x) / Tile<kCols>::kPieces; }
  __device__ static int own_piece() { return static_cast<int>(threadIdx.x) % Tile<kCols>::kPieces; }

  const T* first_;
  index_t row_stride_;
  int rows_;
  unsigned offset_;
  bool there_;
};

}  // namespace fenchel::cuda::device
