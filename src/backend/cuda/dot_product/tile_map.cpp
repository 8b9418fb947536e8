#include "backend/cuda/dot_product/tile_map.hpp"

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "backend/cuda/checks.hpp"

namespace fenchel::cuda {
namespace {

/// The driver's function, through the runtime, so that nothing is linked against the driver.
[[nodiscard]] decltype(&cuTensorMapEncodeTiled) encoder(std::string_view where) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  throw_if_failed(where, cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                          cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess) throw_if_failed(where, cudaErrorNotSupported);
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
}

}  // namespace

template <class T>
TileMap tile_map(std::string_view where, const Matrices<const T>& x) {
  TileMap map{};
  constexpr auto kType =
      std::is_same_v<T, BFloat16> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  constexpr cuuint32_t kTile[] = {64, 64, 1, 1}, kEach[] = {1, 1, 1, 1};
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(x.cols), static_cast<cuuint64_t>(x.rows),
                              static_cast<cuuint64_t>(x.heads), static_cast<cuuint64_t>(x.batch)};
  const auto bytes = [](index_t stride) { return static_cast<cuuint64_t>(stride) * sizeof(T); };
  const cuuint64_t strides[] = {bytes(x.row_stride), bytes(x.head_stride), bytes(x.batch_stride)};
  const CUresult result =
      encoder(where)(&map, kType, 4, const_cast<void*>(static_cast<const void*>(x.data)), sizes, strides,
                     kTile, kEach, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                     CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) throw_if_failed(where, cudaErrorInvalidValue);
  return map;
}

template TileMap tile_map(std::string_view, const Matrices<const Half>&);
template TileMap tile_map(std::string_view, const Matrices<const BFloat16>&);

}  // namespace fenchel::cuda
