#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "fenchel/backend/cuda/views.hpp"

/// Numbers as they are stored and as they are computed with, and 16 bytes of them at a time.
namespace fenchel::cuda::device {

__device__ inline double widened(double x) { return x; }
__device__ inline float widened(float x) { return x; }
__device__ inline float widened(Half x) { return __half2float(__ushort_as_half(x.bits)); }
__device__ inline float widened(BFloat16 x) { return __bfloat162float(__ushort_as_bfloat16(x.bits)); }

/// The nearest number of a storage type.
template <class T>
__device__ inline T stored(Computed<T> x) {
  if constexpr (std::is_same_v<T, Half>) {
    return {__half_as_ushort(__float2half_rn(x))};
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return {__bfloat16_as_ushort(__float2bfloat16_rn(x))};
  } else {
    return x;
  }
}

/// A storage type as a number.
enum class StoredAs { f64, f32, f16, bf16 };
template <class T>
inline constexpr StoredAs kStoredAs = std::is_same_v<T, double>  ? StoredAs::f64
                                      : std::is_same_v<T, float> ? StoredAs::f32
                                      : std::is_same_v<T, Half>  ? StoredAs::f16
                                                                 : StoredAs::bf16;

/// 16 bytes of consecutive numbers.
template <class T>
struct alignas(16) Pack {
  static constexpr int kSize = 16 / sizeof(T);
  T values[kSize];
};

/// The numbers of a pack to compute with.
template <class T>
struct Numbers {
  static constexpr int kSize = Pack<T>::kSize;
  Computed<T> values[kSize];
};

/// 16 bytes as registers hold them: of structs the compiler keeps each number in a register of its own.
template <class T>
__device__ inline uint4 words_of(const Pack<T>& pack) {
  uint4 words;
  memcpy(&words, &pack, sizeof words);
  return words;
}
/// The number at the low end, which makes room for the next one at the high end: a loop that need not be
/// unrolled, for packs of which not all numbers are wanted.
template <class T>
__device__ inline T take_first(uint4& words) {
  T first;
  memcpy(&first, &words, sizeof first);
  if constexpr (sizeof(T) == 2) {
    words = {__funnelshift_r(words.x, words.y, 16), __funnelshift_r(words.y, words.z, 16),
             __funnelshift_r(words.z, words.w, 16), words.w >> 16};
  } else if constexpr (sizeof(T) == 4) {
    words = {words.y, words.z, words.w, 0};
  } else {
    words = {words.z, words.w, 0, 0};
  }
  return first;
}
template <class T>
__device__ inline void put_last(uint4& words, T last) {
  take_first<T>(words);
  memcpy(reinterpret_cast<unsigned char*>(&words) + sizeof words - sizeof last, &last, sizeof last);
}

template <class T>
using Pair = std::conditional_t<std::is_same_v<T, Half>, __half2, __nv_bfloat162>;

template <class T>
__device__ inline Numbers<T> unpacked(const uint4& words) {
  Numbers<T> numbers;
  if constexpr (sizeof(T) == 2) {
    const unsigned pairs[] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if constexpr (std::is_same_v<T, BFloat16>) {
        numbers.values[2 * k] = __uint_as_float(pairs[k] << 16);
        numbers.values[2 * k + 1] = __uint_as_float(pairs[k] & 0xffff0000u);
      } else {
        __half2 both;
        memcpy(&both, pairs + k, sizeof both);
        const float2 two = __half22float2(both);
        numbers.values[2 * k] = two.x;
        numbers.values[2 * k + 1] = two.y;
      }
    }
  } else {
    memcpy(&numbers, &words, sizeof words);
  }
  return numbers;
}

/// The nearest numbers of storage type T of the first kCount, the others 0.
template <class T, int kCount>
__device__ inline Pack<T> packed(const Computed<T>* numbers) {
  Pack<T> pack{};
  if constexpr (sizeof(T) == 2) {  // two at a time
    Pair<T> pairs[kCount / 2];
#pragma unroll
    for (int k = 0; k < kCount / 2; ++k) {
      if constexpr (std::is_same_v<T, Half>) {
        pairs[k] = __floats2half2_rn(numbers[2 * k], numbers[2 * k + 1]);
      } else {
        pairs[k] = __floats2bfloat162_rn(numbers[2 * k], numbers[2 * k + 1]);
      }
    }
    memcpy(&pack, pairs, sizeof pairs);
  } else {
#pragma unroll
    for (int e = 0; e < kCount; ++e) pack.values[e] = numbers[e];
  }
  return pack;
}

__device__ inline float larger_or_nan(float x, float y) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(x), "f"(y));
  return larger;
}
__device__ inline double larger_or_nan(double x, double y) { return x > y || x != x ? x : y; }

/// The largest number of a pack, or NaN.
template <class T>
__device__ inline Computed<T> largest_of(const uint4& words) {
  if constexpr (sizeof(T) == 2) {
    Pair<T> pairs[4];
    memcpy(pairs, &words, sizeof pairs);
    const Pair<T> pair = __hmax2_nan(__hmax2_nan(pairs[0], pairs[1]), __hmax2_nan(pairs[2], pairs[3]));
    const Numbers<T> both = unpacked<T>(uint4{*reinterpret_cast<const unsigned*>(&pair), 0, 0, 0});
    return larger_or_nan(both.values[0], both.values[1]);
  } else {
    const Numbers<T> numbers = unpacked<T>(words);
    Computed<T> largest = numbers.values[0];
#pragma unroll
    for (int e = 1; e < Pack<T>::kSize; ++e) largest = larger_or_nan(largest, numbers.values[e]);
    return largest;
  }
}

/// -inf as it is stored.
template <class T>
__device__ inline T lowest() {
  if constexpr (std::is_same_v<T, Half>) {
    return {0xfc00};
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return {0xff80};
  } else {
    return static_cast<T>(-__builtin_huge_val());
  }
}

/// Reads and writes of what is touched once, which need not stay in the caches. Addresses are multiples of
/// 16 bytes.
template <class T>
__device__ inline Pack<T> load_streaming(const T* address) {
  const uint4 bits = __ldcs(reinterpret_cast<const uint4*>(address));
  return *reinterpret_cast<const Pack<T>*>(&bits);
}
template <class T>
__device__ inline void store_streaming(T* address, const Pack<T>& pack) {
  __stcs(reinterpret_cast<uint4*>(address), *reinterpret_cast<const uint4*>(&pack));
}

/// A row of a known type, in double.
template <class T>
struct KnownRow {
  T* data;
  index_t step;

  [[nodiscard]] __device__ double get(index_t j) const { return widened(data[j * step]); }
  __device__ void set(index_t j, double x) const { data[j * step] = stored<T>(static_cast<Computed<T>>(x)); }
  [[nodiscard]] __device__ double largest() const { return std::numeric_limits<T>::max(); }
};

template <class T>
struct KnownRows {
  index_t rows, cols;
  DeviceRows<T> of;

  template <class U>
  KnownRows(const DeviceRows<U>& x) : rows(x.rows), cols(x.cols) {
    of = DeviceRows<T>(const_cast<T*>(x.data), x.rows, x.cols, x.stride);
    of.step = x.step;
    of.inner = x.inner;
    of.outer_stride = x.outer_stride;
  }
  [[nodiscard]] __device__ KnownRow<T> row(index_t i) const { return {of.row(i), of.step}; }
};

/// A row of any type.
struct AnyRow {
  void* data;
  index_t step;
  StoredAs type;

  /// A number as it is computed with: in float, where it is not stored in double.
  template <class Real>
  [[nodiscard]] __device__ Real as(index_t j) const {
    const index_t at = j * step;
    if constexpr (std::is_same_v<Real, double>) {
      if (type == StoredAs::f64) return static_cast<const double*>(data)[at];
    }
    switch (type) {
      case StoredAs::f16:
        return widened(static_cast<const Half*>(data)[at]);
      case StoredAs::bf16:
        return widened(static_cast<const BFloat16*>(data)[at]);
      default:
        return static_cast<const float*>(data)[at];
    }
  }
  template <class Real>
  __device__ void store(index_t j, Real x) const {
    const index_t at = j * step;
    if constexpr (std::is_same_v<Real, double>) {
      if (type == StoredAs::f64) {
        static_cast<double*>(data)[at] = x;
        return;
      }
    }
    const auto single = static_cast<float>(x);
    switch (type) {
      case StoredAs::f16:
        static_cast<Half*>(data)[at] = stored<Half>(single);
        return;
      case StoredAs::bf16:
        static_cast<BFloat16*>(data)[at] = stored<BFloat16>(single);
        return;
      default:
        static_cast<float*>(data)[at] = single;
    }
  }
  [[nodiscard]] __device__ double get(index_t j) const { return as<double>(j); }
  __device__ void set(index_t j, double x) const { store(j, x); }
  /// The largest number that it holds.
  [[nodiscard]] __device__ double largest() const {
    return type == StoredAs::f64   ? 0x1.fffffffffffffp1023
           : type == StoredAs::f32 ? 0x1.fffffep127
           : type == StoredAs::f16 ? 65504
                                   : 0x1.fep127;
  }
};

/// Their type is known when a kernel runs.
class AnyRows {
 public:
  index_t rows, cols;

  template <class T>
  AnyRows(const DeviceRows<T>& of)
      : rows(of.rows),
        cols(of.cols),
        bytes_(reinterpret_cast<unsigned char*>(const_cast<std::remove_const_t<T>*>(of.data)), of.rows,
               of.cols, of.stride * kBytes<T>),
        step_(of.step),
        type_(kStoredAs<std::remove_const_t<T>>) {
    bytes_.inner = of.inner;
    bytes_.outer_stride = of.outer_stride * kBytes<T>;
  }
  [[nodiscard]] __device__ AnyRow row(index_t i) const { return {bytes_.row(i), step_, type_}; }
  /// Whether they are not null.
  [[nodiscard]] __device__ bool exists() const { return bytes_.data != nullptr; }

 private:
  template <class T>
  static constexpr index_t kBytes = sizeof(T);

  DeviceRows<unsigned char> bytes_;
  index_t step_;
  StoredAs type_;
};

}  // namespace fenchel::cuda::device
