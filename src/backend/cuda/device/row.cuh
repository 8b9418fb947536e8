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

/// The columns of a row are neighbours. kPackCount times 16 bytes a thread, as they are stored, from aligned
/// addresses: the packs at both ends of the row may have places that are not of it.
template <class T, int kTeam, int kPackCount>
class RegisterRow {
 public:
  using Stored = T;
  using Real = Computed<T>;
  static constexpr bool kKeeps = true;  ///< its numbers, from one visit to the next
  static constexpr bool kStoresReal = std::is_same_v<T, Real>;
  static constexpr int kPacks = kPackCount, kSize = Pack<T>::kSize, kItems = kPacks * kSize,
                       kCapacity = kTeam * kItems;
  static_assert(kPacks <= 32);

  __device__ RegisterRow(const AnyRow& row, index_t cols, int rank)
      : type_(row.type), cols_(static_cast<int>(cols)), first_(rank * kSize - before<T>(row)) {
    const T* const from = static_cast<const T*>(row.data);
    const int head = first_, tail = first_ + (cols_ - 1 - first_) / kStep * kStep;
    const Pack<T> first = head < 0 ? part(from, head) : Pack<T>{};
    const Pack<T> last = tail + kSize > cols_ ? part(from, tail) : Pack<T>{};
#pragma unroll
    for (int v = 0; v < kPacks; ++v) {
      if (is_inside(v)) packs_[v] = load_streaming(from + column(v));
    }
#pragma unroll
    for (int v = 0; v < kPacks; ++v) {
      if (is_inside(v)) continue;
      if (v == 0 && head < 0) {
        packs_[v] = first;
      } else if (column(v) < cols_) {
        packs_[v] = last;
      } else {
#pragma unroll
        for (int e = 0; e < kSize; ++e) packs_[v].values[e] = lowest<T>(type_);
      }
    }
  }

  [[nodiscard]] __device__ Real largest() const {
    Real top = kLowest<Real>;
#pragma unroll
    for (int v = 0; v < kPacks; ++v) top = larger_or_nan(top, largest_of(packs_[v], type_));
    return top;
  }
  /// Values take the place of numbers that are stored as they are computed with.
  __device__ void centre(Real top) {
    if constexpr (kStoresReal) {
#pragma unroll
      for (Pack<T>& pack : packs_) {
#pragma unroll
        for (Real& x : pack.values) x = max(x - top, kMasked<Real>);
      }
    } else {
      top_ = top;
    }
  }
  /// The largest value.
  [[nodiscard]] __device__ Real largest_value() const { return max(largest() - top_, kMasked<Real>); }
  /// The packs that have a value above the cut, a bit each.
  [[nodiscard]] __device__ unsigned above(Real cut) const {
    unsigned packs = 0;
#pragma unroll
    for (int v = 0; v < kPacks; ++v) packs |= largest_of(packs_[v], type_) - top_ > cut ? 1u << v : 0u;
    return packs;
  }
  /// The values of a pack: of this row, or of one that was kept as it is stored.
  [[nodiscard]] __device__ Numbers<T> values(int v) const { return values(packs_[v]); }
  [[nodiscard]] __device__ Numbers<T> values(const Pack<T>& pack) const {
    Numbers<T> d = unpacked(pack, type_);
    if constexpr (!kStoresReal) {
#pragma unroll
      for (Real& x : d.values) x = max(x - top_, kMasked<Real>);
    }
    return d;
  }
  [[nodiscard]] __device__ const Pack<T>& stored(int v) const { return packs_[v]; }
  /// The sum of f(value, place) over all; equal numbers are summed without rounding, as two by two they make
  /// powers of two of them.
  template <class Function>
  [[nodiscard]] __device__ auto sum(Function f) const {
    return sum_of_packs<0, kPacks>(f);
  }
  /// Nothing that was computed from its numbers before is kept in registers: there is no room for it, and it
  /// is cheap.
  __device__ void compute_anew() {
#pragma unroll
    for (Pack<T>& pack : packs_) {
      uint4& bits = reinterpret_cast<uint4&>(pack);
      asm volatile("" : "+r"(bits.x), "+r"(bits.y), "+r"(bits.z), "+r"(bits.w));
    }
  }
  /// Keeps f of each value in its place, where numbers are stored as they are computed with.
  template <class Function>
  __device__ void replace(Function f) {
    static_assert(kStoresReal);
#pragma unroll
    for (Pack<T>& pack : packs_) {
#pragma unroll
      for (Real& x : pack.values) x = f(x);
    }
  }
  /// Writes f(number of a pack), the numbers for its places, in the type that they are stored or computed in.
  template <class Function>
  __device__ void write(const AnyRow& out, Function f) const {
    if constexpr (!kStoresReal) {
      if (out.type == StoredAs::f32) return write_as<float>(out, f);
    }
    write_as<T>(out, f);
  }
  /// Where this thread has a column; -1 where it has not.
  [[nodiscard]] __device__ int place_of(index_t column) const {
    if (column < 0 || column >= cols_) return -1;
    const int from_first = static_cast<int>(column) - first_, pack = from_first / kStep;
    const int e = from_first - pack * kStep;
    return from_first >= 0 && e < kSize ? pack * kSize + e : -1;
  }
  /// The numbers of another row at the places of a pack; 0 beyond its ends.
  [[nodiscard]] __device__ Numbers<T> beside(const AnyRow& row, int v) const {
    const T* const from = static_cast<const T*>(row.data);
    if (is_inside(v) && row.step == 1 && reinterpret_cast<std::uintptr_t>(from + first_) % 16 == 0) {
      return unpacked(load_streaming(from + column(v)), row.type);
    }
    Pack<T> pack{};
#pragma unroll
    for (int e = 0; e < kSize; ++e) {
      if (has(column(v) + e)) pack.values[e] = from[(column(v) + e) * row.step];
    }
    return unpacked(pack, row.type);
  }

 private:
  template <int kFirst, int kCount, class Function>
  [[nodiscard]] __device__ auto sum_of_packs(Function f) const {
    if constexpr (kCount == 1) {
      const Numbers<T> d = values(kFirst);
      return sum_of<0, kSize>([&](int e) { return f(d.values[e], kFirst * kSize + e); });
    } else {
      return sum_of_packs<kFirst, kCount / 2>(f) + sum_of_packs<kFirst + kCount / 2, kCount / 2>(f);
    }
  }
  template <int kFirst, int kCount, class Function>
  [[nodiscard]] __device__ static auto sum_of(Function f) {
    if constexpr (kCount == 1) {
      return f(kFirst);
    } else {
      return sum_of<kFirst, kCount / 2>(f) + sum_of<kFirst + kCount / 2, kCount / 2>(f);
    }
  }
  template <class U, class Function>
  __device__ void write_as(const AnyRow& out, Function f) const {
    constexpr int kOut = Pack<U>::kSize;
    static_assert(kSize % kOut == 0);
    U* const to = static_cast<U*>(out.data);
    const bool aligned = out.step == 1 && reinterpret_cast<std::uintptr_t>(to + first_) % 16 == 0;
#pragma unroll
    for (int v = 0; v < kPacks; ++v) {
      if (column(v) >= cols_) continue;
      const Numbers<T> results = f(v);
#pragma unroll
      for (int first = 0; first < kSize; first += kOut) {
        const Pack<U> pack = packed<U>(results.values + first, out.type);
        if (aligned && is_inside(v)) {
          store_streaming(to + column(v) + first, pack);
        } else {
#pragma unroll
          for (int e = 0; e < kOut; ++e) {
            const int j = column(v) + first + e;
            if (has(j)) to[j * out.step] = pack.values[e];
          }
        }
      }
    }
  }

  static constexpr int kStep = kTeam * kSize;

  /// Places of the first aligned pack that are before the row.
  template <class U>
  [[nodiscard]] __device__ static int before(const AnyRow& row) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(row.data) % 16 / sizeof(U));
  }
  [[nodiscard]] __device__ int column(int v) const { return first_ + v * kStep; }
  [[nodiscard]] __device__ bool has(int column) const { return column >= 0 && column < cols_; }
  [[nodiscard]] __device__ bool is_inside(int v) const { return column(v) >= 0 && column(v) + kSize <= cols_; }
  /// A pack at an end of the row.
  [[nodiscard]] __device__ Pack<T> part(const T* from, int column) const {
    Pack<T> pack;
#pragma unroll
    for (int e = 0; e < kSize; ++e) pack.values[e] = has(column + e) ? from[column + e] : lowest<T>(type_);
    return pack;
  }

  Pack<T> packs_[kPacks];
  Real top_ = 0;
  StoredAs type_;
  int cols_, first_;
};

/// Read again at every visit. Its type is known when a kernel runs: one kernel serves all that are computed
/// in Real.
template <class Scalar, int kTeam>
class MemoryRow {
 public:
  using Real = Scalar;
  static constexpr bool kKeeps = false;

  __device__ MemoryRow(const AnyRow& row, index_t cols, int rank)
      : row_(row), cols_(cols), rank_(rank) {}

  [[nodiscard]] __device__ Real largest() const {
    Real top = kLowest<Real>;
#pragma unroll 4
    for (index_t j = rank_; j < cols_; j += kTeam) top = larger_or_nan(top, row_.template as<Real>(j));
    return top;
  }
  __device__ void centre(Real top) { top_ = top; }
  /// Calls f(value, column).
  template <class Function>
  __device__ void for_each(Function f) const {
#pragma unroll 4
    for (index_t j = rank_; j < cols_; j += kTeam) f(value(j), j);
  }
  /// Writes f(value, column).
  template <class Function>
  __device__ void write(const AnyRow& out, Function f) const {
#pragma unroll 4
    for (index_t j = rank_; j < cols_; j += kTeam) out.store(j, f(value(j), j));
  }

 private:
  [[nodiscard]] __device__ Real value(index_t j) const {
    return max(row_.template as<Real>(j) - top_, kMasked<Real>);
  }

  AnyRow row_;
  index_t cols_;
  int rank_;
  Real top_ = 0;
};

}  // namespace fenchel::cuda::device
