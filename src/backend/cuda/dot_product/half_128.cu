#include "backend/cuda/dot_product/launches.cuh"

namespace fenchel::cuda {

template void launch_attention<Half, 128>(std::string_view, const DotProducts<Half>&, const Matrices<Half>&,
                                          const AttentionRecord<float>&, Stream);
template void launch_attention_vjp<Half, 128>(std::string_view, const DotProducts<Half>&,
                                              const AttentionRecord<float>&, const Matrices<const Half>&,
                                              const DotProductGradients<Half, float>&, Stream);

}  // namespace fenchel::cuda
