#pragma once

#include <cuda_pipeline.h>

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
/// addresses: what is read at both ends of the row may have places that are not of it. Where they are
/// written with more bytes each than they are read with, a pack is of two parts from different places: then
/// the writes of a warp have no gaps.
template <class T, int kTeam, int kPackCount, int kParts = 1>
class RegisterRow {
 public:
  using Stored = T;
  using Real = Computed<T>;
  static constexpr bool kStoresReal = std::is_same_v<T, Real>;
  static constexpr int kPacks = kPackCount, kSize = Pack<T>::kSize, kItems = kPacks * kSize,
                       kCapacity = kTeam * kItems;
  static_assert(kPacks <= 32);

  __device__ RegisterRow(const AnyRow& row, index_t cols, int rank) : RegisterRow(row, cols, rank, nullptr) {}
  /// A row that fetch() has brought, unless there is no `stage`.
  __device__ RegisterRow(const AnyRow& row, index_t cols, int rank, const unsigned char* stage)
      : RegisterRow(place(row, cols, rank)) {
    const T* const from = static_cast<const T*>(row.data);
    if (stage != nullptr) __pipeline_wait_prior(0);
#pragma unroll
    for (int k = 0; k < kPacks * kParts; ++k) {
      if (stage != nullptr) {
        part(k) = is_inside(k) ? staged(stage, k) : nothing();
      } else {
        part(k) = is_inside(k) ? __ldcs(reinterpret_cast<const Part*>(from + column(k))) : nothing();
      }
    }
    const int head = first_, tail = first_ + (cols_ - 1 - first_) / kStep * kStep;
    if (head < 0) part(0) = end(from, head);
    if (tail + kPartSize > cols_ && tail >= head) {
      const Part last = end(from, tail);
#pragma unroll
      for (int k = 0; k < kPacks * kParts; ++k) part(k) = column(k) == tail ? last : part(k);
    }
  }

  /// Has a row brought to shared memory, each number to the thread that will hold it.
  static constexpr std::size_t kStageBytes = std::size_t{kTeam} * kPacks * 16;
  __device__ static void fetch(const AnyRow& row, index_t cols, int rank, unsigned char* stage) {
    const RegisterRow where = place(row, cols, rank);
    const T* const from = static_cast<const T*>(row.data);
#pragma unroll
    for (int k = 0; k < kPacks * kParts; ++k) {
      if (where.is_inside(k))
        __pipeline_memcpy_async(&staged(stage, k), from + where.column(k), sizeof(Part));
    }
    __pipeline_commit();
  }

  [[nodiscard]] __device__ Real largest() const {
    Real top = kLowest<Real>;
#pragma unroll
    for (int v = 0; v < kPacks; ++v) top = larger_or_nan(top, largest_of<T>(packs_[v]));
    return top;
  }
  /// Values take the place of numbers that are stored as they are computed with.
  __device__ void centre(Real top) {
    if constexpr (kStoresReal) {
#pragma unroll
      for (uint4& words : packs_) {
        Numbers<T> numbers = unpacked<T>(words);
#pragma unroll
        for (Real& x : numbers.values) x = max(x - top, kMasked<Real>);
        memcpy(&words, &numbers, sizeof words);
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
    for (int v = 0; v < kPacks; ++v) packs |= largest_of<T>(packs_[v]) - top_ > cut ? 1u << v : 0u;
    return packs;
  }
  /// The value of a number as it is stored.
  [[nodiscard]] __device__ Real value(T stored) const {
    return kStoresReal ? widened(stored) : max(widened(stored) - top_, kMasked<Real>);
  }
  /// The values of a pack: of this row, or of one that was kept as it is stored.
  [[nodiscard]] __device__ Numbers<T> values(int v) const { return values(packs_[v]); }
  [[nodiscard]] __device__ Numbers<T> values(const uint4& words) const {
    Numbers<T> d = unpacked<T>(words);
    if constexpr (!kStoresReal) {
#pragma unroll
      for (Real& x : d.values) x = max(x - top_, kMasked<Real>);
    }
    return d;
  }
  [[nodiscard]] __device__ const uint4& stored(int v) const { return packs_[v]; }
  /// The sum of f(value, place) over the packs whose bits are set, in kSize parts: many equal numbers would
  /// all round the same way.
  template <class Function>
  [[nodiscard]] __device__ auto sum(unsigned packs, Function f) const {
    decltype(f(Real(), 0)) parts[kSize] = {};
#pragma unroll
    for (int v = 0; v < kPacks; ++v) {
      if ((packs >> v & 1) == 0) continue;
      const Numbers<T> d = values(v);
#pragma unroll
      for (int e = 0; e < kSize; ++e) parts[e] = parts[e] + f(d.values[e], v * kSize + e);
    }
#pragma unroll
    for (int half = kSize / 2; half > 0; half /= 2) {
#pragma unroll
      for (int e = 0; e < half; ++e) parts[e] = parts[e] + parts[e + half];
    }
    return parts[0];
  }
  /// Nothing that was computed from its numbers before is kept in registers: there is no room for it, and it
  /// is cheap.
  __device__ void compute_anew() {
#pragma unroll
    for (uint4& words : packs_) {
      asm volatile("" : "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w));
    }
  }
  /// Keeps f of each value in its place, where numbers are stored as they are computed with.
  /// Packs whose bits are not set become 0.
  template <class Function>
  __device__ void replace(unsigned packs, Function f) {
    static_assert(kStoresReal);
#pragma unroll
    for (int v = 0; v < kPacks; ++v) {
      Numbers<T> numbers{};
      if ((packs >> v & 1) != 0) {
        numbers = unpacked<T>(packs_[v]);
#pragma unroll
        for (Real& x : numbers.values) x = f(x);
      }
      memcpy(packs_ + v, &numbers, sizeof numbers);
    }
  }
  /// Writes f(number of a pack), the numbers for its places, in the type that they are stored in, or,
  /// where it may be either, in that they are computed in.
  template <bool kEither, class Function>
  __device__ void write(const AnyRow& out, Function f) const {
    const bool as_real = kEither && !kStoresReal && out.type == kStoredAs<Real>;
    const bool aligned = out.step == 1 && (as_real ? is_aligned<Real>(out) : is_aligned<T>(out));
#pragma unroll
    for (int v = 0; v < kPacks; ++v) {
      if (column(v * kParts) >= cols_) continue;
      const Numbers<T> results = f(v);
      if (as_real) {
        write_pack<Real>(out, aligned, v, results);
      } else {
        write_pack<T>(out, aligned, v, results);
      }
    }
  }
  /// Where this thread has a column; -1 where it has not.
  [[nodiscard]] __device__ int place_of(index_t column) const {
    if (column < 0 || column >= cols_) return -1;
    const int from_first = static_cast<int>(column) - first_, k = from_first / kStep;
    const int e = from_first - k * kStep;
    return from_first >= 0 && e < kPartSize ? k * kPartSize + e : -1;
  }
  /// The numbers of another row at the places of a pack; 0 beyond its ends.
  [[nodiscard]] __device__ Numbers<T> beside(const AnyRow& row, int v) const {
    static_assert(kParts == 1);
    const T* const from = static_cast<const T*>(row.data);
    if (is_inside(v) && row.step == 1 && reinterpret_cast<std::uintptr_t>(from + first_) % 16 == 0) {
      return unpacked<T>(*reinterpret_cast<const uint4*>(from + column(v)));
    }
    uint4 words{};
#pragma unroll 1
    for (int j = column(v); j < column(v) + kSize; ++j) put_last(words, has(j) ? from[j * row.step] : T{});
    return unpacked<T>(words);
  }

 private:
  /// Numbers of type U that are written at once.
  template <class U>
  static constexpr int kAtOnce = std::min(Pack<T>::kSize / kParts, Pack<U>::kSize);

  template <class U>
  [[nodiscard]] __device__ bool is_aligned(const AnyRow& out) const {
    return reinterpret_cast<std::uintptr_t>(static_cast<U*>(out.data) + first_) % (kAtOnce<U> * sizeof(U)) ==
           0;
  }
  template <class U>
  __device__ void write_pack(const AnyRow& out, bool aligned, int v, const Numbers<T>& results) const {
    using Words = std::conditional_t<kAtOnce<U> * sizeof(U) == 16, uint4, uint2>;
    U* const to = static_cast<U*>(out.data);
#pragma unroll
    for (int first = 0; first < kSize; first += kAtOnce<U>) {
      const int k = v * kParts + first / kPartSize, begin = column(k) + first % kPartSize;
      uint4 words = words_of(packed<U, kAtOnce<U>>(results.values + first));
      if (aligned && is_inside(k)) {
        __stcs(reinterpret_cast<Words*>(to + begin), reinterpret_cast<const Words&>(words));
      } else {
#pragma unroll 1
        for (int j = begin; j < begin + kAtOnce<U>; ++j) {
          const U x = take_first<U>(words);
          if (has(j)) to[j * out.step] = x;
        }
      }
    }
  }

  using Part = std::conditional_t<kParts == 1, uint4, uint2>;
  static constexpr int kPartSize = kSize / kParts, kStep = kTeam * kPartSize;

  RegisterRow() = default;
  /// Without its numbers.
  [[nodiscard]] __device__ static RegisterRow place(const AnyRow& row, index_t cols, int rank) {
    RegisterRow empty;
    empty.cols_ = static_cast<int>(cols);
    empty.first_ = rank * kPartSize - before(row);
    return empty;
  }
  template <class Byte>
  [[nodiscard]] __device__ static auto& staged(Byte* stage, int k) {
    using Staged = std::conditional_t<std::is_const_v<Byte>, const Part, Part>;
    return reinterpret_cast<Staged*>(stage)[k * kTeam + static_cast<int>(threadIdx.x)];
  }

  /// Places of the first aligned part that are before the row.
  [[nodiscard]] __device__ static int before(const AnyRow& row) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(row.data) % sizeof(Part) / sizeof(T));
  }
  [[nodiscard]] __device__ Part& part(int k) { return reinterpret_cast<Part*>(packs_)[k]; }
  [[nodiscard]] __device__ int column(int k) const { return first_ + k * kStep; }
  [[nodiscard]] __device__ bool has(int column) const { return column >= 0 && column < cols_; }
  [[nodiscard]] __device__ bool is_inside(int k) const {
    return column(k) >= 0 && column(k) + kPartSize <= cols_;
  }
  /// A part at an end of the row, and one beyond it.
  [[nodiscard]] __device__ Part end(const T* from, int column) const {
    uint4 words{};
#pragma unroll 1
    for (int j = column; j < column + kPartSize; ++j) put_last(words, has(j) ? from[j] : lowest<T>());
    if constexpr (kParts == 1) return words;
    if constexpr (kParts == 2) return {words.z, words.w};
  }
  [[nodiscard]] __device__ static Part nothing() {
    Pack<T> pack;
#pragma unroll
    for (int e = 0; e < kSize; ++e) pack.values[e] = lowest<T>();
    const uint4 words = words_of(pack);
    return reinterpret_cast<const Part&>(words);
  }

  uint4 packs_[kPacks];
  Real top_ = 0;
  int cols_, first_;
};

/// Read again at every visit. Its type is known when a kernel runs: one kernel serves all that are computed
/// in Real.
template <class Scalar, int kTeam>
class MemoryRow {
 public:
  using Real = Scalar;

  __device__ MemoryRow(const AnyRow& row, index_t cols, int rank) : row_(row), cols_(cols), rank_(rank) {}

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
