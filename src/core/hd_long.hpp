#pragma once

#include "fenchel/core/config.hpp"

/// As FENCHEL_HD, for formulas that device code calls rather than takes in: a function of all of them would
/// take minutes to compile.
#if defined(__CUDACC__)
#define FENCHEL_HD_LONG __host__ __device__ __noinline__
#else
#define FENCHEL_HD_LONG
#endif
