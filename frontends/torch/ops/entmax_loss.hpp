#pragma once

#include <optional>
#include <tuple>

#include "ops/tensors.hpp"

namespace fenchel::ops {

/// The operation of this name, for others that call it.
std::tuple<Tensor, Tensor, Tensor> entmax_loss(const Tensor& scores, const std::optional<Tensor>& alphas,
                                               const std::optional<Tensor>& classes,
                                               const std::optional<Tensor>& soft, double alpha,
                                               std::int64_t dim, std::int64_t ignore_index, bool cross,
                                               bool gradient);

}  // namespace fenchel::ops
