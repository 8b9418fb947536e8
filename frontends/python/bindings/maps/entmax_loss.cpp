#include "fenchel/backend/cpu/entmax_loss.hpp"
#include "bindings/arrays/row_losses.hpp"
#include "bindings/bindings.hpp"
#include "bindings/gil.hpp"
#include "fenchel/core/rows.hpp"

namespace fenchel::python {
namespace {

using cpu::ClassTargets, cpu::SoftTargets, cpu::LossOutputs, cpu::Reduction;

/// On a class both losses agree.
template <class Real>
struct CrossOmega {
  void operator()(Rows<const Real> scores, PerRow alpha, const ClassTargets& targets,
                  const LossOutputs<Real>& outputs) const {
    cpu::entmax_loss<Real>(scores, alpha, targets, outputs);
  }
  void operator()(Rows<const Real> scores, PerRow alpha, const SoftTargets<Real>& targets,
                  const LossOutputs<Real>& outputs) const {
    cpu::cross_omega<Real>(scores, alpha, targets, outputs);
  }
};

template <class Real>
void bind(nb::module_& m) {
  bind_loss<Real>(m, "entmax_loss", [](const auto&... arguments) { cpu::entmax_loss<Real>(arguments...); });
  bind_loss<Real>(m, "cross_omega", CrossOmega<Real>());
  m.def(
      "entmax_hessian_product",
      [](const RowsArray<const Real>& scores, const Parameter& alpha, const RowsArray<const Real>& direction,
         const RowsArray<Real>& product) {
        const WithoutGil released;
        cpu::entmax_loss_hessian_product<Real>(rows_of(scores), per_row(alpha), rows_of(direction),
                                               rows_of(product));
      },
      rows_argument("scores"), nb::arg("alpha"), rows_argument("direction"), rows_argument("product"));
}

}  // namespace

void bind_entmax_loss(nb::module_& m) {
  nb::enum_<Reduction>(m, "Reduction").value("mean", Reduction::mean).value("sum", Reduction::sum);
  bind<double>(m);
  bind<float>(m);
}

}  // namespace fenchel::python
