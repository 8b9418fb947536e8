#pragma once

#include <cuda_runtime.h>

#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "backend/cuda/checks.hpp"
#include "fenchel/backend/cuda/views.hpp"

namespace fenchel::cuda {

/// So many blocks, and so many layers of them.
inline dim3 grid_of(std::string_view where, index_t blocks, index_t layers = 1) {
  constexpr index_t kMostLayers = 65535;
  if (blocks > std::numeric_limits<int>::max() || layers > kMostLayers) {
    throw_invalid_argument(where, "the batch", "must fit a grid of (2^31 - 1) x 65535 blocks",
                           shortest(blocks) + " x " + shortest(layers));
  }
  return dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(layers));
}

/// Whether the current device has clusters of blocks. One that cannot be asked will refuse the launch.
inline bool has_clusters() {
  int device = 0, major = 0;
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
         major >= 9;
}

/// How many multiprocessors the current device has; 1 where it cannot be asked.
inline index_t multiprocessors() {
  int device = 0, count = 1;
  if (cudaGetDevice(&device) == cudaSuccess) {
    static_cast<void>(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  }
  return count;
}

/// How much shared memory a block may have on the current device; none where it cannot be asked.
inline std::size_t most_shared_memory() {
  int device = 0, bytes = 0;
  if (cudaGetDevice(&device) == cudaSuccess) {
    static_cast<void>(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  }
  return static_cast<std::size_t>(bytes);
}

/// Gives a kernel to a stream, with an attribute or none; throws CudaError where it is refused. A kernel that
/// asks for more shared memory than 48 KiB is allowed it first.
template <class... Params>
void launch_with(std::string_view where, void (*kernel)(Params...), dim3 grid, dim3 block, std::size_t shared,
                 Stream stream, std::optional<cudaLaunchAttribute> attribute,
                 const std::type_identity_t<Params>&... params) {
  constexpr std::size_t kAlwaysAllowed = 48 * 1024;
  if (shared > kAlwaysAllowed) {
    throw_if_failed(where, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                static_cast<int>(shared)));
  }
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = attribute ? &*attribute : nullptr;
  config.numAttrs = attribute ? 1 : 0;
  throw_if_failed(where, cudaLaunchKernelEx(&config, kernel, params...));
}

template <class... Params>
void launch(std::string_view where, void (*kernel)(Params...), dim3 grid, dim3 block, std::size_t shared,
            Stream stream, const std::type_identity_t<Params>&... params) {
  launch_with(where, kernel, grid, block, shared, stream, std::nullopt, params...);
}

/// In clusters of so many blocks.
template <class... Params>
void launch_clusters(std::string_view where, void (*kernel)(Params...), dim3 grid, dim3 block,
                     std::size_t shared, Stream stream, unsigned cluster,
                     const std::type_identity_t<Params>&... params) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster, 1, 1};
  launch_with(where, kernel, grid, block, shared, stream,
              cluster > 1 ? std::optional(attribute) : std::nullopt, params...);
}

/// While the last blocks of the kernel before it in the stream still run. The kernel must wait for them by
/// `device::wait_for_kernel_before`, which code for a GPU before 9.0 has not.
template <class... Params>
void launch_behind(std::string_view where, void (*kernel)(Params...), dim3 grid, dim3 block,
                   std::size_t shared, Stream stream, const std::type_identity_t<Params>&... params) {
  cudaFuncAttributes code{};
  throw_if_failed(where, cudaFuncGetAttributes(&code, kernel));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  launch_with(where, kernel, grid, block, shared, stream,
              code.ptxVersion >= 90 ? std::optional(attribute) : std::nullopt, params...);
}

}  // namespace fenchel::cuda
