#include "fenchel/backend/cpu/reduce_loss.hpp"

#include <algorithm>
#include <cmath>

#include "core/compensated_sum.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

template <class Real>
Real reduce(Reduction reduction, index_t counted, const LossOutputs<Real>& rows) {
  detail::CompensatedSum careful;  // in row order, so that threads do not change it
  double sum = 0;
  for (const Real x : rows.loss) {
    careful.add(x);
    sum += x;
  }
  if (std::isfinite(sum)) sum = careful.total();
  if (reduction == Reduction::sum) return static_cast<Real>(sum);
  const double weight = 1.0 / static_cast<double>(std::max<index_t>(1, counted));
  for (double& x : rows.slope) x *= weight;
  const Rows<Real> residual = rows.residual;
  parallel_rows(residual.rows, workers_for(residual.rows, residual.cols),
                [&](index_t begin, index_t end, int) noexcept {
                  for (index_t i = begin; i < end; ++i) {
                    for (Real& x : residual[i]) x *= static_cast<Real>(weight);
                  }
                });
  return static_cast<Real>(weight * sum);
}

}  // namespace

template <class Real>
Real reduce_loss(Reduction reduction, const ClassTargets& targets, const LossOutputs<Real>& rows) {
  const auto ignored = std::ranges::count(targets.classes, targets.ignored);
  return reduce(reduction, std::ssize(targets.classes) - ignored, rows);
}

template <class Real>
Real reduce_loss(Reduction reduction, const std::type_identity_t<SoftTargets<Real>>& targets,
                 const LossOutputs<Real>& rows) {
  const auto ignored = std::ranges::count_if(targets.ignore, [](unsigned char x) { return x != 0; });
  return reduce(reduction, targets.rows.rows - ignored, rows);
}

template float reduce_loss(Reduction, const ClassTargets&, const LossOutputs<float>&);
template float reduce_loss(Reduction, const SoftTargets<float>&, const LossOutputs<float>&);
template double reduce_loss(Reduction, const ClassTargets&, const LossOutputs<double>&);
template double reduce_loss(Reduction, const SoftTargets<double>&, const LossOutputs<double>&);

}  // namespace fenchel::cpu
