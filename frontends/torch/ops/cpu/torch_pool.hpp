#pragma once

#include "fenchel/core/parallel.hpp"

namespace fenchel::ops {

/// torch's own threads, as many as torch.set_num_threads says: an operation works on them and on no others.
[[nodiscard]] ThreadPool& torch_pool() noexcept;

}  // namespace fenchel::ops
