#include "ops/entmax_loss.hpp"

#include <torch/csrc/stable/library.h>

#include "fenchel/backend/cpu/entmax_loss.hpp"
#include "ops/cpu.hpp"

namespace fenchel::ops {
namespace {

std::tuple<Tensor, Tensor, Tensor> entmax_loss(const Tensor& scores, const std::optional<Tensor>& alphas,
                                               const std::optional<Tensor>& classes,
                                               const std::optional<Tensor>& soft, double alpha,
                                               std::int64_t dim, std::int64_t ignore_index, bool cross,
                                               bool gradient) {
  const auto loss_of = []<class Real>(Rows<const Real> z, PerRow order, const Targets<Cpu>& targets,
                                      std::span<Real> losses, Rows<Real> residual, std::span<double> slope) {
    const cpu::LossOutputs<Real> outputs{losses, residual, slope};
    constexpr auto kNone = cpu::Reduction::none;
    if (!targets.soft()) {
      const cpu::ClassTargets one_class{targets.classes(), targets.ignored};
      cpu::fenchel_young(z, order, one_class, kNone, outputs);
      return;
    }
    const cpu::SoftTargets<Real> distributions{targets.distributions<Real>()};
    if (targets.cross) {
      cpu::cross_omega(z, order, distributions, kNone, outputs);
    } else {
      cpu::fenchel_young(z, order, distributions, kNone, outputs);
    }
  };
  return loss_rows<Cpu>(scores, alphas, classes, soft, alpha, dim, ignore_index, cross, gradient, loss_of);
}

std::tuple<Tensor, Tensor> entmax_loss_curvature(const Tensor& residual, const std::optional<Tensor>& alphas,
                                                 const std::optional<Tensor>& classes,
                                                 const std::optional<Tensor>& soft, const Tensor& d_scores,
                                                 const std::optional<Tensor>& d_alphas, double alpha,
                                                 std::int64_t dim, std::int64_t ignore_index, bool cross) {
  const auto product_of = []<class Real>(Rows<const Real> rows, PerRow order, const Targets<Cpu>& targets,
                                         Rows<const Real> direction, std::span<const double> d_order,
                                         Rows<Real> product, std::span<double> product_alphas) {
    const cpu::LossCurvature<Real> curvature{direction, d_order, product, product_alphas};
    if (!targets.soft()) {
      const cpu::ClassTargets one_class{targets.classes(), targets.ignored};
      cpu::fenchel_young_curvature(rows, order, one_class, curvature);
      return;
    }
    const cpu::SoftTargets<Real> distributions{targets.distributions<Real>()};
    if (targets.cross) {
      cpu::cross_omega_curvature(rows, order, distributions, curvature);
    } else {
      cpu::fenchel_young_curvature(rows, order, distributions, curvature);
    }
  };
  return loss_curvature_rows<Cpu>(residual, alphas, classes, soft, d_scores, d_alphas, alpha, dim,
                                  ignore_index, cross, product_of);
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CPU, m) {
  m.impl("entmax_loss", TORCH_BOX(&entmax_loss));
  m.impl("entmax_loss_curvature", TORCH_BOX(&entmax_loss_curvature));
}

}  // namespace fenchel::ops
