#pragma once

namespace fenchel::cuda::device {

/// Of alpha: 1, 2 or 3/2, or any.
enum class Kind { softmax, whole, any };

}  // namespace fenchel::cuda::device
