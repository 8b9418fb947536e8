#pragma once

#include <cuda_runtime.h>

#include <cstring>

#include "backend/cuda/device/reduce.cuh"

/// Threads that work on a row together: kThreads neighbours of a warp, or a whole block. Every one of them
/// takes part in every call, and so do the other groups of its warp.
namespace fenchel::cuda::device {

template <class Value, class Exchange>
__device__ inline Value exchanged(const Value& value, Exchange exchange) {
  static_assert(sizeof(Value) % sizeof(unsigned) == 0);
  unsigned words[sizeof(Value) / sizeof(unsigned)];
  std::memcpy(words, &value, sizeof value);
#pragma unroll
  for (unsigned& word : words) word = exchange(word);
  Value result;
  std::memcpy(&result, words, sizeof result);
  return result;
}

template <int kThreads>
class RowGroup {
 public:
  static constexpr bool kInWarp = kThreads <= kWarp;
  static constexpr int kLanes = kInWarp ? kThreads : kWarp, kWarps = kInWarp ? 1 : kThreads / kWarp;
  /// What a group that is a block needs of shared memory.
  static constexpr int kSharedWords = kInWarp ? 1 : kWarps * 16;

  __device__ explicit RowGroup(unsigned* shared)
      : shared_(shared), rank_(static_cast<int>(threadIdx.x) % kThreads) {}

  [[nodiscard]] __device__ int rank() const { return rank_; }

  /// What one thread wrote before all may read after.
  __device__ void sync() const {
    if constexpr (kInWarp) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }

  /// The operation over the threads before this one, in their order.
  template <class Value, class Operation>
  [[nodiscard]] __device__ Value before(const Value& own, const Value& none, Operation operation) const {
    const Value up_to = scan<true>(own, none, operation);
    Value before = shifted<true>(up_to, none);
    if constexpr (!kInWarp) {
      const Value carry = carried<true>(up_to, kWarp - 1, none, operation);
      before = operation(carry, before);
    }
    return before;
  }

  /// The operation over the threads after this one, in their order.
  template <class Value, class Operation>
  [[nodiscard]] __device__ Value after(const Value& own, const Value& none, Operation operation) const {
    const Value from = scan<false>(own, none, operation);
    Value after = shifted<false>(from, none);
    if constexpr (!kInWarp) {
      const Value carry = carried<false>(from, 0, none, operation);
      after = operation(after, carry);
    }
    return after;
  }

  /// A commutative operation over all of them, for all of them: any two that it joins are neighbours, of 1,
  /// 2, 4 ... threads each.
  template <class Value, class Operation>
  [[nodiscard]] __device__ Value all(Value value, Operation operation) const {
    value = butterfly<kLanes>(value, operation);
    if constexpr (!kInWarp) {
      put(value, 0);
      const int lane = rank_ % kWarp;
      value = butterfly<kWarp>(get<Value>(lane % kWarps), operation, kWarps);
      __syncthreads();
    }
    return value;
  }

 private:
  template <int kWidth, class Value, class Operation>
  static __device__ Value butterfly(Value value, Operation operation, int count = kWidth) {
#pragma unroll
    for (int distance = 1; distance < kWidth; distance *= 2) {
      if (distance >= count) break;
      value = operation(
          value, exchanged(value, [=](unsigned w) { return __shfl_xor_sync(kAllLanes, w, distance); }));
    }
    return value;
  }

  /// Up to, or from, each lane.
  template <bool kForward, class Value, class Operation>
  static __device__ Value scan(Value value, const Value& none, Operation operation) {
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
#pragma unroll
    for (int distance = 1; distance < kLanes; distance *= 2) {
      const Value other = moved<kForward>(value, distance);
      const bool exists = kForward ? lane >= distance : lane + distance < kLanes;
      const Value safe = exists ? other : none;
      value = kForward ? operation(safe, value) : operation(value, safe);
    }
    return value;
  }

  template <bool kForward, class Value>
  static __device__ Value moved(const Value& value, int distance) {
    return exchanged(value, [=](unsigned w) {
      return kForward ? __shfl_up_sync(kAllLanes, w, distance, kLanes)
                      : __shfl_down_sync(kAllLanes, w, distance, kLanes);
    });
  }

  template <bool kForward, class Value>
  static __device__ Value shifted(const Value& value, const Value& none) {
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    const Value other = moved<kForward>(value, 1);
    return (kForward ? lane == 0 : lane == kLanes - 1) ? none : other;
  }

  /// Over the warps before, or after, that of the thread: `total` of a warp is that of its lane `last`.
  template <bool kForward, class Value, class Operation>
  __device__ Value carried(const Value& total, int last, const Value& none, Operation operation) const {
    put(total, last);
    const int lane = rank_ % kWarp, warp = rank_ / kWarp;
    const Value own = lane < kWarps ? get<Value>(lane) : none;
    const Value across = shifted<kForward>(scan<kForward>(own, none, operation), none);
    __syncthreads();
    return exchanged(across, [=](unsigned w) { return __shfl_sync(kAllLanes, w, warp); });
  }

  template <class Value>
  __device__ void put(const Value& value, int lane) const {
    static_assert(sizeof(Value) * kWarps <= sizeof(unsigned) * kSharedWords);
    if (rank_ % kWarp == lane) std::memcpy(shared_ + rank_ / kWarp * kWordsOf<Value>, &value, sizeof value);
    __syncthreads();
  }
  template <class Value>
  __device__ Value get(int warp) const {
    Value value;
    std::memcpy(&value, shared_ + warp * kWordsOf<Value>, sizeof value);
    return value;
  }
  template <class Value>
  static constexpr int kWordsOf = sizeof(Value) / sizeof(unsigned);

  unsigned* shared_;
  int rank_;
};

}  // namespace fenchel::cuda::device
