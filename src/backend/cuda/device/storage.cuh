#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

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

/// 16 bytes of consecutive numbers.
template <class T>
struct alignas(16) Pack {
  static constexpr int kSize = 16 / sizeof(T);
  T values[kSize];
};

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

/// A storage type as a number, for kernels that are seldom worth compiling for each of them.
enum class StoredAs { f64, f32, f16, bf16 };
template <class T>
inline constexpr StoredAs kStoredAs = std::is_same_v<T, double>  ? StoredAs::f64
                                      : std::is_same_v<T, float> ? StoredAs::f32
                                      : std::is_same_v<T, Half>  ? StoredAs::f16
                                                                 : StoredAs::bf16;

/// A row of any type, in double.
struct AnyRow {
  void* data;
  index_t step;
  StoredAs type;

  [[nodiscard]] __device__ double get(index_t j) const {
    const index_t at = j * step;
    switch (type) {
      case StoredAs::f64:
        return static_cast<const double*>(data)[at];
      case StoredAs::f32:
        return static_cast<const float*>(data)[at];
      case StoredAs::f16:
        return widened(static_cast<const Half*>(data)[at]);
      default:
        return widened(static_cast<const BFloat16*>(data)[at]);
    }
  }
  __device__ void set(index_t j, double x) const {
    const index_t at = j * step;
    const auto single = static_cast<float>(x);
    switch (type) {
      case StoredAs::f64:
        static_cast<double*>(data)[at] = x;
        return;
      case StoredAs::f32:
        static_cast<float*>(data)[at] = single;
        return;
      case StoredAs::f16:
        static_cast<Half*>(data)[at] = stored<Half>(single);
        return;
      default:
        static_cast<BFloat16*>(data)[at] = stored<BFloat16>(single);
    }
  }
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

 private:
  template <class T>
  static constexpr index_t kBytes = sizeof(T);

  DeviceRows<unsigned char> bytes_;
  index_t step_;
  StoredAs type_;
};

}  // namespace fenchel::cuda::device
