#pragma once

/// `kInfinity`, for the CPU and the GPU.

#include <limits>

namespace fenchel {

/// Infinity, for host and GPU; Real(kInfinity) is that of another type.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace fenchel
