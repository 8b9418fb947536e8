#pragma once

#include "fenchel/core/config.hpp"

/// As FENCHEL_HD, for code that is written once for one thread of the CPU and for the threads of a GPU that
/// share a row. What a .cu compiles of it is for the GPU alone: its threads cannot meet on the host.
#if defined(__CUDACC__)
#define FENCHEL_TEAM __device__
#else
#define FENCHEL_TEAM
#endif

namespace fenchel::detail {

/// Numbers that are found together.
template <int kCount>
struct Totals {
  double of[kCount];
};

}  // namespace fenchel::detail
