#include "backend/cuda/entmax/loss.cuh"

namespace fenchel::cuda {

template void entmax_loss(DeviceRows<const double>, PerRow, const Targets<double>&,
                          const LossOutputs<double>&, Stream);
template void entmax_loss(DeviceRows<const float>, PerRow, const Targets<float>&, const LossOutputs<float>&,
                          Stream);

}  // namespace fenchel::cuda
