#pragma once

/// `reduce_loss`: the mean or the sum of the losses of rows, with its gradients.

#include "fenchel/backend/cpu/entmax_loss.hpp"

namespace fenchel::cpu {

/// One number for the losses of all rows that are not ignored, whose mean is 0 where there are none.
enum class Reduction { mean, sum };

/// That number, from what a loss wrote for each row: residual and slope become its gradients.
template <class Real>
[[nodiscard]] FENCHEL_EXPORT Real reduce_loss(Reduction reduction, const ClassTargets& targets,
                                              const LossOutputs<Real>& rows);
template <class Real>
[[nodiscard]] FENCHEL_EXPORT Real reduce_loss(Reduction reduction,
                                              const std::type_identity_t<SoftTargets<Real>>& targets,
                                              const LossOutputs<Real>& rows);

extern template float reduce_loss(Reduction, const ClassTargets&, const LossOutputs<float>&);
extern template float reduce_loss(Reduction, const SoftTargets<float>&, const LossOutputs<float>&);
extern template double reduce_loss(Reduction, const ClassTargets&, const LossOutputs<double>&);
extern template double reduce_loss(Reduction, const SoftTargets<double>&, const LossOutputs<double>&);

}  // namespace fenchel::cpu
