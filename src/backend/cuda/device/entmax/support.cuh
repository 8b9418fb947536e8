#pragma once

#include "backend/cuda/device/row.cuh"
#include "backend/cuda/device/team.cuh"

namespace fenchel::cuda::device {

/// So many numbers are solved by one warp, and shared with all blocks of a cluster.
inline constexpr int kFewNumbers = 1024;

/// The packs of a row in registers that can have mass, in shared memory, those of a thread one after the
/// other: what a solver does then costs as much as there are of them, few in most rows of a sparse map. A
/// block has room for all of a row. Packs come as they are stored, and have room for as many Number. Where
/// kSeeks, one number is sought for all threads.
template <class Row, class Team, class Number, bool kSeeks>
class Support {
 public:
  using Real = typename Row::Real;
  static constexpr int kSize = Row::kSize;

  /// The shared memory of a block for them.
  [[nodiscard]] static constexpr std::size_t bytes() {
    return std::size_t{Team::kRows} * kRoom * sizeof(Number);
  }

  /// Of the packs that have a value above the cut. `own` is the place of a number that is sought, -1 where
  /// this thread has not got it. Threads read what others put there after a barrier.
  __device__ Support(const Row& row, Real cut, int own, Team& team) : packs_(row.above(cut)) {
    const Placed placed = placed_in_warp<kLanes>(__popc(packs_));
    first_ = placed.before, count_ = placed.all;
    if constexpr (!Team::kInWarp) place_among_warps(team);
    const int v = own / kSize;
    own_ = kSeeks && own >= 0 && (packs_ >> v & 1) != 0 ? place_of(v) * kSize + own % kSize : -1;
    int place = first_;
#pragma unroll
    for (int k = 0; k < Row::kPacks; ++k) {
      if ((packs_ >> k & 1) == 0) continue;
      uint4& to = at<uint4>(place++);
      if (is_whole_) {
        team.store(&to, row.stored(k));
      } else {
        to = row.stored(k);
      }
    }
    share_own(team);
  }

  /// Whether the list of this block is of all of the row.
  [[nodiscard]] __device__ bool is_whole() const { return is_whole_; }
  /// Which packs can have mass, a bit each.
  [[nodiscard]] __device__ unsigned packs() const { return packs_; }
  /// How many packs are in the list.
  [[nodiscard]] __device__ int count() const { return count_; }
  /// Where the number that is sought is in the list; -1 where it is not.
  [[nodiscard]] __device__ int own() const { return own_; }
  [[nodiscard]] __device__ Number* numbers() const {
    extern __shared__ __align__(16) unsigned char lists[];
    return reinterpret_cast<Number*>(lists) +
           (Team::kInWarp ? static_cast<int>(threadIdx.x) / kLanes * kRoom : 0);
  }
  /// Pack k of the list.
  template <class Value>
  [[nodiscard]] __device__ Value& at(int k) const {
    return *reinterpret_cast<Value*>(numbers() + k * kSize);
  }
  /// Where the list has a pack of this thread.
  [[nodiscard]] __device__ int place_of(int v) const { return first_ + __popc(packs_ & ((1u << v) - 1)); }

 private:
  static constexpr int kLanes = Team::kInWarp ? Team::kSize : kWarp,
                       kRoom = Row::kItems * (Team::kSize / Team::kBlocks);

  /// Over the warps of all blocks where the row has few such numbers, else over those of this block.
  __device__ void place_among_warps(Team& team) {
    constexpr int kWarps = Team::kBlockThreads / kWarp, kAll = kWarps * Team::kBlocks;
    __shared__ int counts[kAll];
    const int warp = team.rank() / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp, block = warp / kWarps;
    if (lane == 0) team.store(counts + warp, count_);
    if (kSeeks && threadIdx.x == 0) *shared_own() = -1;
    team.sync();
    int all = 0, before = 0;
    [[maybe_unused]] int here = 0, before_here = 0;
    for (int w = lane; w < kAll; w += kWarp) {
      const int count = counts[w];
      all += count;
      before += w < warp ? count : 0;
      if constexpr (Team::kBlocks > 1) {
        here += w / kWarps == block ? count : 0;
        before_here += w / kWarps == block && w < warp ? count : 0;
      }
    }
    all = warp_reduce(all, Plus());
    before = warp_reduce(before, Plus());
    is_whole_ = Team::kBlocks == 1 || all * kSize <= kFewNumbers;
    if constexpr (Team::kBlocks > 1) {
      here = warp_reduce(here, Plus());
      before_here = warp_reduce(before_here, Plus());
      if (!is_whole_) all = here, before = before_here;
    }
    first_ += before;
    count_ = all;
  }
  [[nodiscard]] __device__ static int* shared_own() {
    __shared__ int own;
    return &own;
  }
  /// A barrier for the list, too.
  __device__ void share_own(Team& team) {
    if constexpr (!kSeeks) {
      team.sync();
    } else if constexpr (Team::kInWarp) {
      __syncwarp();
      const unsigned group = __ballot_sync(kAllLanes, own_ >= 0) >> (threadIdx.x % kWarp / kLanes * kLanes);
      const int from = __ffs(kLanes < kWarp ? group & ((1u << kLanes % kWarp) - 1) : group) - 1;
      own_ = __shfl_sync(kAllLanes, own_, max(from, 0), kLanes);
    } else {
      if (own_ >= 0 && is_whole_) team.store(shared_own(), own_);
      if (own_ >= 0 && !is_whole_) *shared_own() = own_;
      team.sync();
      own_ = *shared_own();
    }
  }

  unsigned packs_;
  int first_ = 0, count_ = 0, own_ = -1;
  bool is_whole_ = true;
};

}  // namespace fenchel::cuda::device
