#pragma once

namespace fenchel::cuda::device {

/// Of alpha: 1, 2, 3/2, or any.
enum class Kind { softmax, sparsemax, three_halves, any };

}  // namespace fenchel::cuda::device
