#include "backend/cuda/entmax/held.cuh"

namespace fenchel::cuda {

template bool launch_held(std::string_view, const DeviceRows<const float>&, PerRow, const RowTask<float>&,
                          Stream);

}  // namespace fenchel::cuda
