#pragma once

/// `DeviceRows`, `PerRow`, `Half`, `BFloat16` and `Stream`: what the functions on a GPU take.

#include <cstdint>
#include <type_traits>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/rows.hpp"

struct CUstream_st;

/// What functions on a GPU take: the arguments of the CPU's, with DeviceRows for Rows and memory of the GPU
/// behind every span and PerRow of several numbers, and last a stream, whose device must be the current one.
/// A function puts its work on the stream and returns at once. It allocates nothing and never waits, so calls
/// can be captured in a graph. Shapes and numbers of the host are checked as on the CPU. Numbers in the
/// memory of the GPU are not: a bad one makes its row NaN. A launch that the GPU refuses is a CudaError.
namespace fenchel::cuda {

/// cudaStream_t.
using Stream = CUstream_st*;

/// Numbers of 16 bits as they are stored: IEEE's half, and the upper half of a float.
struct FENCHEL_EXPORT Half {
  std::uint16_t bits;
};
struct FENCHEL_EXPORT BFloat16 {
  std::uint16_t bits;
};

/// What numbers of a storage type are computed in: double for double, float for all others.
template <class T>
using Computed = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Rows in the memory of a GPU: element j of row i is
///   data[(i / inner) * outer_stride + (i % inner) * stride + j * step].
/// So rows may run along any dimension of a tensor whose others are two strides. A row that is written must
/// not overlap another.
template <class T>
struct DeviceRows {
  T* data = nullptr;
  index_t rows = 0;
  index_t cols = 0;
  index_t stride = 0;
  index_t step = 1;
  index_t inner = 1;
  index_t outer_stride = 0;

  constexpr DeviceRows() = default;
  /// Rows one after the other, or at a distance.
  constexpr DeviceRows(T* first, index_t row_count, index_t col_count) noexcept
      : DeviceRows(first, row_count, col_count, col_count) {}
  constexpr DeviceRows(T* first, index_t row_count, index_t col_count, index_t row_stride) noexcept
      : data(first),
        rows(row_count),
        cols(col_count),
        stride(row_stride),
        inner(row_count > 0 ? row_count : 1) {}

  /// Rows to write are rows to read.
  template <class U>
  requires std::is_same_v<const U, T>
  constexpr DeviceRows(const DeviceRows<U>& x) noexcept
      : data(x.data),
        rows(x.rows),
        cols(x.cols),
        stride(x.stride),
        step(x.step),
        inner(x.inner),
        outer_stride(x.outer_stride) {}

  [[nodiscard]] FENCHEL_HD constexpr T* row(index_t i) const noexcept {
    return i < inner ? data + i * stride : data + (i / inner) * outer_stride + (i % inner) * stride;
  }
};

/// Rows that are only read; their element type follows from the rows that are written.
template <class T>
using Input = std::type_identity_t<DeviceRows<const T>>;

}  // namespace fenchel::cuda
