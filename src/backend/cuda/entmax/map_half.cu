#include "backend/cuda/entmax/map.cuh"

namespace fenchel::cuda {

template void entmax(Input<Half>, PerRow, DeviceRows<Half>, Stream);
template void entmax(Input<BFloat16>, PerRow, DeviceRows<BFloat16>, Stream);

}  // namespace fenchel::cuda
