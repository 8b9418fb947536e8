#pragma once

#include "backend/cuda/device/dot_product/mma.cuh"

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
  /// When the copies that this thread has begun are there.
  __device__ void arrive_after_copies() const {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address) : "memory");
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

/// Copies tiles of a matrix, the last ones first. All threads of a block make the same calls: start, and for
/// each tile next and done. Tiles are fetched kAhead before they are needed, and warps may be kStages -
/// kAhead - 1 tiles apart.
template <class T, int kCols, int kStages = 4, int kAhead = 2>
class TileStream {
 public:
  static constexpr int kTiles = kStages * Tile<kCols>::kBytes, kBytes = kTiles + 16 * kStages;

  /// The whole block must meet before the first start.
  __device__ TileStream(unsigned base, const T* matrix, index_t row_stride, index_t rows, int cols)
      : base_(base), copier_(matrix, row_stride, rows, cols) {
    if (threadIdx.x == 0) {
      for (int s = 0; s < kStages; ++s) {
        full(s).init(kThreads);
        empty(s).init(kWarps);
      }
    }
  }
  /// Tiles last, last - 1, ..., first.
  __device__ void start(int last, int first = 0) {
    ahead_ = last;
    first_ = first;
#pragma unroll
    for (int k = 0; k < kAhead; ++k) fetch(nullptr);
  }
  /// The next tile, or false where `stop` is set in the meantime.
  __device__ bool next(Tile<kCols>& tile, const volatile int* stop = nullptr) {
    if (stop != nullptr && *stop != 0) return false;
    if (!fetch(stop)) return false;
    const int stage = used_ % kStages;
    if (!wait(full(stage), used_ / kStages, stop)) return false;
    tile.base = base_ + static_cast<unsigned>(stage) * Tile<kCols>::kBytes;
    return true;
  }
  __device__ void done() {
    __syncwarp();
    if (threadIdx.x % kWarp == 0) empty(used_ % kStages).arrive();
    ++used_;
  }

 private:
  __device__ PhasedBarrier full(int stage) const { return {base_ + kTiles + 16u * stage}; }
  __device__ PhasedBarrier empty(int stage) const { return {base_ + kTiles + 16u * stage + 8}; }
  __device__ static bool wait(PhasedBarrier barrier, int phase, const volatile int* stop) {
    while (!barrier.passed(phase & 1)) {
      if (stop != nullptr && *stop != 0) return false;
    }
    return true;
  }
  __device__ bool fetch(const volatile int* stop) {
    if (ahead_ < first_) return true;
    const int stage = begun_ % kStages;
    if (begun_ >= kStages && !wait(empty(stage), begun_ / kStages - 1, stop)) return false;
    copier_.begin(Tile<kCols>{base_ + static_cast<unsigned>(stage) * Tile<kCols>::kBytes},
                  ahead_ * kTileRows);
    full(stage).arrive_after_copies();
    ++begun_;
    --ahead_;
    return true;
  }

  unsigned base_;
  TileCopier<T, kCols> copier_;
  int ahead_ = -1, first_ = 0, begun_ = 0, used_ = 0;
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
  __syncthreads();
}

}  // namespace fenchel::cuda::device
