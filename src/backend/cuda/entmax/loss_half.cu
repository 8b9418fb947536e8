#include "backend/cuda/entmax/loss.cuh"

namespace fenchel::cuda {

template void entmax_loss(DeviceRows<const Half>, PerRow, const Targets<Half>&, const LossOutputs<Half>&,
                          Stream);
template void entmax_loss(DeviceRows<const BFloat16>, PerRow, const Targets<BFloat16>&,
                          const LossOutputs<BFloat16>&, Stream);

}  // namespace fenchel::cuda
