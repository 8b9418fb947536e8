#include "fenchel/backend/cpu/weighted_entmax.hpp"

#include <optional>

#include "bindings/arrays/row_losses.hpp"
#include "bindings/arrays/rows.hpp"
#include "bindings/bindings.hpp"

namespace fenchel::python {
namespace {

/// The kernels of entmax with the weights after their other arguments.
template <class Real>
void bind(nb::module_& m) {
  using Weights = RowsArray<const Real>;
  using cpu::LossOutputs;
  bind_map<Real, Weights, std::optional<Numbers<double>>, std::optional<Numbers<double>>,
           std::optional<Numbers<index_t>>>(
      m, "weighted_entmax",
      [](Rows<const Real> scores, PerRow alpha, Rows<Real> p, const Weights& weights, const auto& normalizer,
         const auto& threshold, const auto& support_size) {
        cpu::weighted_entmax<Real>(scores, rows_of(weights), alpha, p,
                                   {data_of(normalizer), data_of(threshold), data_of(support_size)});
      },
      rows_argument("weights"), rows_argument("normalizer") = nb::none(),
      rows_argument("threshold") = nb::none(), rows_argument("support_size") = nb::none());
  bind_jacobian_product<Real, double, Weights, std::optional<RowsArray<Real>>>(
      m, "weighted_entmax_vjp",
      [](Rows<const Real> p, PerRow alpha, Rows<const Real> v, Rows<Real> result, std::span<double> by_alpha,
         const Weights& weights, const std::optional<RowsArray<Real>>& by_weights) {
        cpu::weighted_entmax_vjp<Real>(p, rows_of(weights), alpha, v,
                                       {result, rows_of(by_weights), by_alpha});
      },
      rows_argument("weights"), rows_argument("by_weights").none());
  bind_jacobian_product<Real, const double, Weights, std::optional<Weights>>(
      m, "weighted_entmax_jvp",
      [](Rows<const Real> p, PerRow alpha, Rows<const Real> v, Rows<Real> result,
         std::span<const double> d_alpha, const Weights& weights, const std::optional<Weights>& d_weights) {
        cpu::weighted_entmax_jvp<Real>(p, rows_of(weights), alpha, {v, rows_of(d_weights), d_alpha}, result);
      },
      rows_argument("weights"), rows_argument("d_weights").none());
  const auto gradient_of = [](const LossOutputs<Real>& outputs) {
    return cpu::WeightedLossOutputs<Real>{outputs.loss, {outputs.residual, {}, outputs.slope}};
  };
  bind_loss<Real, Weights>(
      m, "weighted_entmax_loss",
      [gradient_of](Rows<const Real> scores, PerRow alpha, const auto& targets,
                    const LossOutputs<Real>& outputs, const Weights& weights) {
        cpu::weighted_entmax_loss<Real>(scores, rows_of(weights), alpha, targets, gradient_of(outputs));
      },
      rows_argument("weights"));
  bind_loss<Real, Weights>(
      m, "weighted_cross_omega",
      [gradient_of](Rows<const Real> scores, PerRow alpha, const auto& targets,
                    const LossOutputs<Real>& outputs, const Weights& weights) {
        cpu::weighted_cross_omega<Real>(scores, rows_of(weights), alpha, targets, gradient_of(outputs));
      },
      rows_argument("weights"));
}

}  // namespace

void bind_weighted_entmax(nb::module_& m) {
  bind<double>(m);
  bind<float>(m);
}

}  // namespace fenchel::python
