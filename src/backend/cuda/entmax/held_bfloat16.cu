#include "backend/cuda/entmax/held.cuh"

namespace fenchel::cuda {

template bool launch_held(std::string_view, const DeviceRows<const BFloat16>&, PerRow, const RowTask<float>&,
                          Stream);

}  // namespace fenchel::cuda
