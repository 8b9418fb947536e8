#include "backend/cuda/entmax/held.cuh"

namespace fenchel::cuda {

template bool launch_held(std::string_view, const DeviceRows<const double>&, PerRow, const RowTask<double>&,
                          Stream);

}  // namespace fenchel::cuda
