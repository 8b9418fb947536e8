#include "backend/cuda/attention/line_any.cuh"

FENCHEL_INSTANTIATE_ANY_LINE(double)
