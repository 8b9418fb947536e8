#pragma once

namespace fenchel::cuda::device {

/// Of alpha: 1, 2, 3/2, or any.
enum class Kind { softmax, sparsemax, three_halves, any };

/// alpha - 1 of the others.
template <Kind kKind>
inline constexpr double kAm1Of = kKind == Kind::softmax     ? 0
                                 : kKind == Kind::sparsemax ? 1
                                                            : 0.5;

}  // namespace fenchel::cuda::device
