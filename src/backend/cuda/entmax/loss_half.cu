#include "backend/cuda/entmax/loss.cuh"

FENCHEL_INSTANTIATE_LOSS(Half)
FENCHEL_INSTANTIATE_LOSS(BFloat16)
