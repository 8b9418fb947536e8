#include "backend/cuda/dot_product/launches.cuh"

namespace fenchel::cuda {

template void launch_attention<BFloat16, 64>(std::string_view, const DotProducts<BFloat16>&,
                                             const Matrices<BFloat16>&, const AttentionRecord<float>&,
                                             Stream);
template void launch_attention_vjp<BFloat16, 64>(std::string_view, const DotProducts<BFloat16>&,
                                                 const AttentionRecord<float>&,
                                                 const Matrices<const BFloat16>&,
                                                 const DotProductGradients<BFloat16, float>&, Stream);

}  // namespace fenchel::cuda
