#include "backend/cuda/attention_line_any.cuh"

FENCHEL_INSTANTIATE_ANY_LINE(float)
