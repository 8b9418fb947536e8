#pragma once

#include <optional>
#include <utility>

#include "ops/targets.hpp"

namespace fenchel::ops {

/// Writes the losses of rows of scores to `loss`, one each, of the type RealOf<type>. What is returned is
/// p - q and the slope in alphas, empty unless `gradient`.
std::pair<Tensor, Tensor> write_entmax_losses(const Device& device, const Tensor& scores,
                                              const std::optional<Tensor>& alphas, const Targets& targets,
                                              double alpha, std::int64_t dim, ScalarType type, bool cross,
                                              bool gradient, void* loss);

}  // namespace fenchel::ops
