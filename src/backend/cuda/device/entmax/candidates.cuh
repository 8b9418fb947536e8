#pragma once

#include "backend/cuda/device/row.cuh"
#include "backend/cuda/device/team.cuh"

namespace fenchel::cuda::device {

/// The values above a cut of the row that a block's threads hold in registers, in shared memory: a list for
/// each warp, lane by lane, filled up with kMasked to a multiple of the warp. Steps of a solver cost as much
/// as there are candidates, few in most rows of a sparse map. After 32 numbers one place is left out, so that
/// lanes with 32 numbers each write to different banks.
template <class Real, int kItems>
class Candidates {
 public:
  static constexpr int kStride = (kItems + 1) * (kWarp + 1);

  [[nodiscard]] static constexpr std::size_t bytes(int threads) {
    return static_cast<std::size_t>(threads / kWarp) * kStride * sizeof(Real);
  }

  /// The list of this thread's warp.
  template <class Row>
  __device__ Candidates(const Row& row, Real cut)
      : list_(list_of(static_cast<int>(threadIdx.x) / kWarp)), lane_(static_cast<int>(threadIdx.x) % kWarp) {
    int mine = 0;
    if (__any_sync(kAllLanes, row.largest() > cut)) {
      row.for_each([&](Real d) { mine += d > cut ? 1 : 0; });
      int through = mine;  // as many as this lane and those before it have
#pragma unroll
      for (int distance = 1; distance < kWarp; distance *= 2) {
        const int before = __shfl_up_sync(kAllLanes, through, distance);
        through += lane_ >= distance ? before : 0;
      }
      count_ = __shfl_sync(kAllLanes, through, kWarp - 1);
      first_ = through - mine;
      int place = first_;
      row.for_each([&](Real d) {
        if (d > cut) list_[address(place++)] = d;
      });
    }
    list_[address(count_ + lane_)] = kMasked<Real>;
    __syncwarp();
  }

  [[nodiscard]] __device__ int count() const { return count_; }

  /// This lane's share of the list, or of every kStep-th 32 numbers of it.
  template <int kStep = 1, class Function>
  __device__ void for_each(Function f) const {
#pragma unroll 2
    for (int k = lane_; k < count_ + lane_; k += kStep * kWarp) f(list_[address(k)]);
  }
  /// Calls f(value, place) for the list, a lane's share of it.
  template <class Function>
  __device__ void for_each_place(Function f) const {
    for (int k = lane_; k < count_; k += kWarp) f(list_[address(k)], k);
  }
  /// Keeps f of each value in its place, in the list and in the row: 0 for what is no candidate.
  template <class Row, class Function>
  __device__ void replace(Row& row, Real cut, Function f) const {
    for (int k = lane_; k < count_; k += kWarp) list_[address(k)] = f(list_[address(k)]);
    __syncwarp();
    int place = first_;
    row.replace([&](Real d) { return d > cut ? list_[address(place++)] : Real(0); });
  }

 private:
  [[nodiscard]] __device__ static Real* list_of(int warp) {
    extern __shared__ __align__(16) unsigned char lists[];
    return reinterpret_cast<Real*>(lists) + warp * kStride;
  }
  [[nodiscard]] __device__ static int address(int place) {
    return place + static_cast<int>(static_cast<unsigned>(place) / kWarp);
  }

  Real* list_;
  int lane_, count_ = 0, first_ = 0;
};

}  // namespace fenchel::cuda::device
