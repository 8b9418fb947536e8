#include "backend/cuda/entmax/map.cuh"

namespace fenchel::cuda {

template void entmax(Input<double>, PerRow, DeviceRows<double>, Stream);
template void entmax(Input<float>, PerRow, DeviceRows<float>, Stream);

}  // namespace fenchel::cuda
