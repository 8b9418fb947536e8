#pragma once

#include "backend/cuda/device/row.cuh"
#include "backend/cuda/device/team.cuh"

namespace fenchel::cuda::device {

/// So many numbers are solved by one warp, and shared with all blocks of a cluster.
inline constexpr int kFewNumbers = 1024;

/// The values of a row in registers that can have mass, in shared memory: the packs that have one of them,
/// those of a thread one after the other. Steps of a solver then cost as much as there are such values, few
/// in most rows of a sparse map. A block has room for kRoom numbers of a row. A thread of the row may have a
/// number that the others ask for.
template <class Row, class Team, int kRoom>
class Support {
 public:
  using Real = typename Row::Real;
  static constexpr int kSize = Row::kSize;

  /// The shared memory of a block for them.
  [[nodiscard]] static constexpr std::size_t bytes() { return std::size_t{Team::kRows} * kRoom * sizeof(Real); }

  /// Of the packs whose bits are set. `own` is the place of the number that is sought, -1 where this
  /// thread has not got it.
  __device__ Support(const Row& row, unsigned packs, int own, Team& team) : packs_(packs) {
    int through = __popc(packs), total;  // as many as this lane and those before it have
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
#pragma unroll
    for (int distance = 1; distance < kLanes; distance *= 2) {
      const int before = __shfl_up_sync(kAllLanes, through, distance, kLanes);
      through += lane >= distance ? before : 0;
    }
    first_ = through - __popc(packs);
    total = __shfl_sync(kAllLanes, through, kLanes - 1, kLanes);
    if constexpr (Team::kInWarp) {
      is_whole_ = total * kSize <= kRoom;
    } else {
      total = place_among_warps(total, team);
    }
    count_ = total * kSize;
    if (is_listed()) {
      int place = first_;
#pragma unroll
      for (int v = 0; v < Row::kPacks; ++v) {
        if ((packs >> v & 1) == 0) continue;
        const auto d = row.values(v);
#pragma unroll
        for (int e = 0; e < kSize; e += Pack<Real>::kSize) {
          Pack<Real> part;
          memcpy(&part, d.values + e, sizeof part);
          auto* const to = reinterpret_cast<Pack<Real>*>(numbers() + place * kSize + e);
          if (is_whole_) {
            team.store(to, part);
          } else {
            *to = part;
          }
        }
        ++place;
      }
    }
    const int v = own / kSize;
    own_ = own >= 0 && has(v) ? place_of_pack(v) * kSize + own % kSize : -1;
    if constexpr (!Team::kInWarp) {
      if (own_ >= 0 && is_whole_) team.store(shared_own(), own_);
      if (own_ >= 0 && !is_whole_) *shared_own() = own_;
    }
    team.sync();
    if constexpr (Team::kInWarp) {
      const unsigned group = __ballot_sync(kAllLanes, own_ >= 0) >> (threadIdx.x % kWarp / kLanes * kLanes);
      const int from = __ffs(kLanes < kWarp ? group & ((1u << kLanes % kWarp) - 1) : group) - 1;
      own_ = __shfl_sync(kAllLanes, own_, max(from, 0), kLanes);
    } else {
      own_ = *shared_own();
    }
  }

  /// Whether this block has a list, and whether that is of all of the row.
  [[nodiscard]] __device__ bool is_listed() const { return is_whole_ || kHoldsAll; }
  [[nodiscard]] __device__ bool is_whole() const { return is_whole_; }
  /// Whether a pack can have mass.
  [[nodiscard]] __device__ bool has(int v) const { return (packs_ >> v & 1) != 0; }
  [[nodiscard]] __device__ int count() const { return count_; }
  /// Where the number that is sought is in the list; -1 where it is not.
  [[nodiscard]] __device__ int own() const { return own_; }
  [[nodiscard]] __device__ Real* numbers() const {
    extern __shared__ __align__(16) unsigned char lists[];
    return reinterpret_cast<Real*>(lists) +
           (Team::kInWarp ? static_cast<int>(threadIdx.x) / kLanes * kRoom : 0);
  }
  /// What the list has for a pack.
  template <class PackNumbers>
  [[nodiscard]] __device__ PackNumbers pack(int v) const {
    PackNumbers listed;
    memcpy(&listed, numbers() + place_of_pack(v) * kSize, sizeof listed);
    return listed;
  }

 private:
  static constexpr bool kHoldsAll = kRoom >= Row::kItems * (Team::kSize / Team::kBlocks);
  static constexpr int kLanes = Team::kInWarp ? Team::kSize : kWarp;

  /// Counts over the warps, of all blocks where the row has few such numbers.
  __device__ int place_among_warps(int mine, Team& team) {
    constexpr int kWarps = Team::kBlockThreads / kWarp, kAll = kWarps * Team::kBlocks;
    __shared__ int counts[kAll];
    const int warp = team.rank() / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp, block = warp / kWarps;
    if (lane == 0) team.store(counts + warp, mine);
    if (threadIdx.x == 0) *shared_own() = -1;
    team.sync();
    int all = 0, before = 0, here = 0, before_here = 0;
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
    is_whole_ = all * kSize <= (Team::kBlocks > 1 ? kFewNumbers : kRoom);
    if constexpr (Team::kBlocks > 1) {
      here = warp_reduce(here, Plus());
      before_here = warp_reduce(before_here, Plus());
      if (!is_whole_) all = here, before = before_here;
    }
    first_ += before;
    return all;
  }
  [[nodiscard]] __device__ static int* shared_own() {
    __shared__ int own;
    return &own;
  }
  [[nodiscard]] __device__ int place_of_pack(int v) const { return first_ + __popc(packs_ & ((1u << v) - 1)); }

  unsigned packs_;
  int first_ = 0, count_ = 0, own_ = -1;
  bool is_whole_ = false;
};

}  // namespace fenchel::cuda::device
