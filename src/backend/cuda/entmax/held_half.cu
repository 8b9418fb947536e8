#include "backend/cuda/entmax/held.cuh"

/// Both types have the same kernels (device::Sixteen).
namespace fenchel::cuda {

template bool launch_held(std::string_view, const DeviceRows<const Half>&, PerRow, const RowTask<float>&, Stream);
template bool launch_held(std::string_view, const DeviceRows<const BFloat16>&, PerRow, const RowTask<float>&,
                          Stream);

}  // namespace fenchel::cuda
