#pragma once

/// `Hessian`: second derivatives, in the order of a gradient's members.

#include <array>
#include <cstddef>

namespace fenchel {

/// Rows and columns in the order of the members of the gradient that it belongs to.
template <std::size_t N>
using Hessian = std::array<std::array<double, N>, N>;

}  // namespace fenchel
