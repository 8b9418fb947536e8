#include "backend/cuda/entmax/loss.cuh"

FENCHEL_INSTANTIATE_LOSS(double)
FENCHEL_INSTANTIATE_LOSS(float)
