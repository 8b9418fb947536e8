#pragma once

#include "backend/cuda/device/storage.cuh"
#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/core/index.hpp"

/// A row as its team holds it: read once into registers, or, where it is too long for them, read at every
/// visit. What names a column among the numbers of a thread is its place. After centre(top) its values are d
/// = z - top <= 0, and at least kMasked<Real>: masks, and what fills up a team's last columns, are that.
namespace fenchel::cuda::device {

/// Far enough for no mass, and finite: 0 times it is 0.
template <class Real>
inline constexpr Real kMasked = static_cast<Real>(sizeof(Real) == 8 ? -1e300 : -1e30);

template <class Real>
inline constexpr Real kLowest = static_cast<Real>(-__builtin_huge_val());

__device__ inline float larger_or_nan(float x, float y) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(x), "f"(y));
  return larger;
}
__device__ inline double larger_or_nan(double x, double y) { return x > y || x != x ? x : y; }

/// kPacks times 16 bytes a thread. Packed rows are read 16 bytes at a time, neighbours by neighbours; others
/// number by number.
template <class T, int kTeam, int kPacks>
class RegisterRow {
 public:
  using Real = Computed<T>;
  using Sum = Real;
  using Place = int;
  static constexpr bool kKeeps = true;  ///< what it is told to
  static constexpr int kSize = Pack<T>::kSize, kItems = kPacks * kSize, kCapacity = kTeam * kItems;

  __device__ RegisterRow(const T* row, index_t cols, index_t step, bool packed, int rank)
      : cols_(static_cast<int>(cols)), rank_(rank), packed_(packed) {
    if (packed) {
      const int whole = cols_ - cols_ % kSize;
      Pack<T> packs[kPacks];
#pragma unroll
      for (int v = 0; v < kPacks; ++v) {
        if (column(v, 0) < whole) packs[v] = load_streaming(row + column(v, 0));
      }
#pragma unroll
      for (int v = 0; v < kPacks; ++v) {
#pragma unroll
        for (int e = 0; e < kSize; ++e) {
          at(v, e) = column(v, 0) < whole ? widened(packs[v].values[e]) : kLowest<Real>;
        }
        if (column(v, 0) == whole) {
#pragma unroll
          for (int e = 0; e < kSize; ++e) {
            if (whole + e < cols_) at(v, e) = widened(row[whole + e]);
          }
        }
      }
    } else {
#pragma unroll
      for (int v = 0; v < kPacks; ++v) {
#pragma unroll
        for (int e = 0; e < kSize; ++e) {
          at(v, e) = column(v, e) < cols_ ? widened(row[column(v, e) * step]) : kLowest<Real>;
        }
      }
    }
  }

  [[nodiscard]] __device__ Real largest() const {
    Real top = kLowest<Real>;
#pragma unroll
    for (int k = 0; k < kItems; ++k) top = larger_or_nan(top, values_[k]);
    return top;
  }
  __device__ void centre(Real top) {
#pragma unroll
    for (int k = 0; k < kItems; ++k) values_[k] = max(values_[k] - top, kMasked<Real>);
  }
  template <class Function>
  __device__ void for_each(Function f) const {
#pragma unroll
    for (int k = 0; k < kItems; ++k) f(values_[k]);
  }
  /// Keeps f of each value in its place.
  template <class Function>
  __device__ void replace(Function f) {
#pragma unroll
    for (int k = 0; k < kItems; ++k) values_[k] = f(values_[k]);
  }
  /// Writes f(value, place) to a row of storage type U.
  template <class U, class Function>
  __device__ void write(U* out, index_t step, bool packed, Function f) const {
    constexpr int kOut = Pack<U>::kSize;
    static_assert(kSize % kOut == 0);
#pragma unroll
    for (int v = 0; v < kPacks; ++v) {
#pragma unroll
      for (int first = 0; first < kSize; first += kOut) {
        Pack<U> pack;
#pragma unroll
        for (int e = 0; e < kOut; ++e) {
          pack.values[e] = stored<U>(f(at(v, first + e), v * kSize + first + e));
        }
        if (packed && packed_ && column(v, first) + kOut <= cols_) {
          store_streaming(out + column(v, first), pack);
        } else {
#pragma unroll
          for (int e = 0; e < kOut; ++e) {
            const int j = column(v, first + e);
            if (j < cols_) out[j * step] = pack.values[e];
          }
        }
      }
    }
  }
  /// Calls f(value, place) for all.
  template <class Function>
  __device__ void for_each_place(Function f) const {
#pragma unroll
    for (int k = 0; k < kItems; ++k) f(values_[k], k);
  }
  /// Where this thread has a column; -1 where it has not.
  [[nodiscard]] __device__ Place place_of(index_t column) const {
    const int j = static_cast<int>(column), width = packed_ ? kSize : 1, pack = j / width;
    if (column < 0 || column >= cols_ || pack % kTeam != rank_) return -1;
    return pack / kTeam * width + j % width;
  }

 private:
  [[nodiscard]] __device__ int column(int v, int e) const {
    return packed_ ? (v * kTeam + rank_) * kSize + e : (v * kSize + e) * kTeam + rank_;
  }
  [[nodiscard]] __device__ Real& at(int v, int e) { return values_[v * kSize + e]; }
  [[nodiscard]] __device__ Real at(int v, int e) const { return values_[v * kSize + e]; }

  Real values_[kItems];
  int cols_, rank_;
  bool packed_;
};

/// Read again at every visit.
template <class T, int kTeam>
class MemoryRow {
 public:
  using Real = Computed<T>;
  using Sum = double;  // of many numbers a thread
  using Place = index_t;
  static constexpr bool kKeeps = false;

  __device__ MemoryRow(const T* row, index_t cols, index_t step, bool, int rank)
      : row_(row), cols_(cols), step_(step), rank_(rank) {}

  [[nodiscard]] __device__ Real largest() const {
    Real top = kLowest<Real>;
#pragma unroll 4
    for (index_t j = rank_; j < cols_; j += kTeam) top = larger_or_nan(top, widened(row_[j * step_]));
    return top;
  }
  __device__ void centre(Real top) { top_ = top; }
  template <class Function>
  __device__ void for_each(Function f) const {
    for_each_place([&](Real x, Place) { f(x); });
  }
  /// The column itself is the place.
  [[nodiscard]] __device__ Place place_of(index_t column) const { return column; }
  template <class Function>
  __device__ void for_each_place(Function f) const {
#pragma unroll 4
    for (index_t j = rank_; j < cols_; j += kTeam) f(value(j), j);
  }
  template <class U, class Function>
  __device__ void write(U* out, index_t step, bool, Function f) const {
#pragma unroll 4
    for (index_t j = rank_; j < cols_; j += kTeam) out[j * step] = stored<U>(f(value(j), j));
  }

 private:
  [[nodiscard]] __device__ Real value(index_t j) const {
    return max(widened(row_[j * step_]) - top_, kMasked<Real>);
  }

  const T* row_;
  index_t cols_, step_;
  int rank_;
  Real top_ = 0;
};

}  // namespace fenchel::cuda::device
