#include "backend/cuda/checks.hpp"

#include <cuda_runtime_api.h>

#include <string>

namespace fenchel::cuda {

void throw_if_failed(std::string_view where, cudaError_t error) {
  if (error == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // it is reported here, and to nobody who asks later
  throw CudaError("fenchel::" + std::string(where) + ": " + cudaGetErrorString(error) + " (" +
                  std::to_string(static_cast<int>(error)) + ")");
}

}  // namespace fenchel::cuda
