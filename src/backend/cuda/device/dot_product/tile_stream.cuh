#pragma once

#include "backend/cuda/device/dot_product/warpgroup.cuh"
#include "backend/cuda/dot_product/tile_map.hpp"
#include "fenchel/backend/dot_product_views.hpp"

/// Tiles of a matrix that pass through shared memory while the warps of a block work on them, each at its own
/// pace.
namespace fenchel::cuda::device {

/// A barrier in shared memory, which is passed when so many arrivals have come, again and again.
struct PhasedBarrier {
  unsigned address;

  __device__ void init(unsigned arrivals) const {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(arrivals) : "memory");
  }
  __device__ void arrive() const {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(address) : "memory");
  }
  /// Counts as an arrival, and so many bytes that are copied must come as well.
  __device__ void arrive_and_expect(unsigned bytes) const {
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }" ::"r"(address),
                 "r"(bytes)
                 : "memory");
#endif
  }
  [[nodiscard]] __device__ bool passed(unsigned parity) const {
    unsigned done;
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(address), "r"(parity)
                 : "memory");
#else
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(address), "r"(parity)
                 : "memory");
#endif
    return done != 0;
  }
};

/// All threads of a block copy tiles; a warp arrives when its copies are there.
template <class T, int kCols>
class ThreadsCopier {
 public:
  static constexpr unsigned kArrivals = kWarps;
  __device__ static bool copies() { return true; }
  __device__ ThreadsCopier(const TileMap&, const Matrices<const T>& x, index_t b, index_t h)
      : copier_(x.row(b, h, 0), x.row_stride, x.rows, static_cast<int>(x.cols)) {}
  __device__ void begin(Tile<kCols> tile, int first_row, PhasedBarrier) const {
    copier_.begin(tile, first_row);
  }
  /// Also where nothing was begun.
  __device__ void end() const { end_copies(); }
  template <int kStillGoing>
  __device__ void arrive_when_there(PhasedBarrier full) const {
    wait_for_copies<kStillGoing>();
    __syncwarp();
    if (threadIdx.x % kWarp == 0) full.arrive();
  }

 private:
  TileCopier<T, kCols> copier_;
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
/// The copy engine copies tiles, 64 columns at a time, with zeros for what is not there.
template <class T, int kCols>
class EngineCopier {
 public:
  static constexpr unsigned kArrivals = 1;
  __device__ static bool copies() { return threadIdx.x == 0; }
  __device__ EngineCopier(const TileMap& map, const Matrices<const T>&, index_t b, index_t h)
      : map_(&map), b_(static_cast<int>(b)), h_(static_cast<int>(h)) {}
  __device__ void begin(Tile<kCols> tile, int first_row, PhasedBarrier full) const {
    full.arrive_and_expect(Tile<kCols>::kBytes);
#pragma unroll
    for (int slab = 0; slab < kCols / 64; ++slab) {
      asm volatile(
          "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
          "[%1, {%2,%3,%4,%5}], [%6];" ::"r"(tile.base + slab * Tile<kCols>::kSlabBytes),
          "l"(map_), "r"(64 * slab), "r"(first_row), "r"(h_), "r"(b_), "r"(full.address)
          : "memory");
    }
  }
  __device__ void end() const {}
  template <int kStillGoing>
  __device__ void arrive_when_there(PhasedBarrier) const {}

 private:
  const TileMap* map_;
  int b_, h_;
};
#endif

/// In which order tiles are read, counted from 0: some, then others that are further on.
struct TileOrder {
  int early;               ///< how many come before the others
  int early_shift, shift;  ///< how much further both are than their number in the order

  [[nodiscard]] __device__ int operator()(int tile) const {
    return tile + (tile < early ? early_shift : shift);
  }
};

/// Copies tiles of the matrix of one head, the last ones of an order first. All threads of a block make the
/// same calls: start, and for each tile next and done. Tiles are fetched kAhead before they are needed, and
/// warps may be kStages - kAhead - 1 tiles apart. In code for compute capability 9.0 alone the copy engine
/// fetches them, at the word of one thread; otherwise all threads do.
template <class T, int kCols, int kStages = kCols == 64 ? 4 : 2, int kAhead = kStages / 2>
class TileStream {
 public:
  static constexpr int kTiles = kStages * Tile<kCols>::kBytes, kBytes = kTiles + Tile<kCols>::kAlignment;

  /// The whole block must meet before the first start.
  __device__ TileStream(unsigned base, const TileMap& map, const Matrices<const T>& x, index_t b, index_t h,
                        const TileOrder& order)
      : base_(base), copier_(map, x, b, h), order_(order) {
    if (threadIdx.x == 0) {
      for (unsigned s = 0; s < kStages; ++s) {
        full(s).init(Copier::kArrivals);
        empty(s).init(kWarps);
      }
      show_to_engines();
    }
  }
  /// Tiles last, last - 1, ..., first.
  __device__ void start(int last, int first = 0) {
    ahead_ = last;
    first_ = first;
#pragma unroll
    for (int k = 0; k < kAhead; ++k) fetch();
  }
  [[nodiscard]] __device__ Tile<kCols> next() {
    fetch();
    const unsigned stage = used_ % kStages;
    copier_.template arrive_when_there<kAhead>(full(stage));
    while (!__all_sync(kAllLanes, full(stage).passed(used_ / kStages & 1))) continue;
    return {base_ + stage * Tile<kCols>::kBytes};
  }
  __device__ void done() {
    __syncwarp();
    if (threadIdx.x % kWarp == 0) empty(used_ % kStages).arrive();
    ++used_;
  }
  /// In place of the calls for all other tiles: none may come after the block has left its memory.
  __device__ void abandon() {
    if (!Copier::copies()) return;
    for (; used_ < begun_; ++used_) {
      copier_.template arrive_when_there<0>(full(used_ % kStages));
      wait(full(used_ % kStages), used_ / kStages);
    }
  }

 private:
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Copier = EngineCopier<T, kCols>;
#else
  using Copier = ThreadsCopier<T, kCols>;
#endif
  __device__ PhasedBarrier full(unsigned stage) const { return {base_ + kTiles + 16 * stage}; }
  __device__ PhasedBarrier empty(unsigned stage) const { return {base_ + kTiles + 16 * stage + 8}; }
  __device__ static void wait(PhasedBarrier barrier, unsigned phase) {
    while (!barrier.passed(phase & 1)) continue;
  }
  __device__ void fetch() {
    if (Copier::copies() && ahead_ >= first_) {
      const unsigned stage = begun_ % kStages;
      if (begun_ >= kStages) wait(empty(stage), begun_ / kStages - 1);
      copier_.begin(Tile<kCols>{base_ + stage * Tile<kCols>::kBytes}, order_(ahead_) * kTileRows,
                    full(stage));
      ++begun_;
      --ahead_;
    }
    copier_.end();
  }

  unsigned base_;
  Copier copier_;
  TileOrder order_;
  int ahead_ = -1, first_ = 0;
  unsigned begun_ = 0, used_ = 0;
};

/// A block's rows as left operands of its warps, 16 rows each, through shared memory that is free again
/// afterwards.
template <class T, int kCols>
__device__ inline void load_block_rows(LeftOperand (&left)[kCols / 16], unsigned base, const T* matrix,
                                       index_t row_stride, index_t rows, int cols, index_t first) {
  constexpr int kLeftRows = 16, kTileWarps = kTileRows / kLeftRows;
  const int warp = threadIdx.x / kWarp;
  const TileCopier<T, kCols> copier(matrix, row_stride, rows, cols);
#pragma unroll
  for (int t = 0; t < kWarps / kTileWarps; ++t) {
    copier.begin(Tile<kCols>{base + static_cast<unsigned>(t) * Tile<kCols>::kBytes},
                 static_cast<int>(first) + t * kTileRows);
  }
  end_copies();
  wait_for_copies<0>();
  __syncthreads();
  load_left<kCols>(left, Tile<kCols>{base + static_cast<unsigned>(warp / kTileWarps) * Tile<kCols>::kBytes},
                   warp % kTileWarps * kLeftRows);
  show_to_engines();
  __syncthreads();
}

}  // namespace fenchel::cuda::device
