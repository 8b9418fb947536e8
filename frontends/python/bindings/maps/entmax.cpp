#include "fenchel/backend/cpu/entmax.hpp"

#include <optional>

#include "bindings/arrays/rows.hpp"
#include "bindings/bindings.hpp"
#include "bindings/gil.hpp"
#include "fenchel/backend/cpu/entmax_derivatives.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/rows.hpp"

namespace fenchel::python {
namespace {

template <class Real>
void bind(nb::module_& m) {
  bind_map<Real, std::optional<Numbers<double>>, std::optional<Numbers<double>>,
           std::optional<Numbers<index_t>>>(
      m, "entmax",
      [](Rows<const Real> scores, PerRow alpha, Rows<Real> p, const auto& normalizer, const auto& threshold,
         const auto& support_size) {
        cpu::entmax<Real>(scores, alpha, p, {data_of(normalizer), data_of(threshold), data_of(support_size)});
      },
      rows_argument("normalizer") = nb::none(), rows_argument("threshold") = nb::none(),
      rows_argument("support_size") = nb::none());
  bind_jacobian_product<Real, double>(m, "entmax_vjp",
                                      [](auto... arguments) { cpu::entmax_vjp<Real>(arguments...); });
  bind_jacobian_product<Real, const double>(m, "entmax_jvp",
                                            [](auto p, PerRow alpha, auto v, auto result, auto d_alpha) {
                                              cpu::entmax_jvp<Real>(p, alpha, v, d_alpha, result);
                                            });
  m.def(
      "entmax_vjp_vjp",
      [](const RowsArray<const Real>& p, const Parameter& alpha, const RowsArray<const Real>& cotangent,
         const RowsArray<const Real>& weight_scores, const std::optional<Numbers<const double>>& weight_alpha,
         const RowsArray<Real>& grad_scores, const std::optional<Numbers<double>>& grad_alpha) {
        const WithoutGil released;
        cpu::entmax_vjp_vjp<Real>(rows_of(p), per_row(alpha), rows_of(cotangent), rows_of(weight_scores),
                                  span_of(weight_alpha), rows_of(grad_scores), span_of(grad_alpha));
      },
      rows_argument("p"), nb::arg("alpha"), rows_argument("cotangent"), rows_argument("weight_scores"),
      rows_argument("weight_alpha").none(), rows_argument("grad_scores"), rows_argument("grad_alpha").none());
}

}  // namespace

void bind_entmax(nb::module_& m) {
  bind<double>(m);
  bind<float>(m);
}

}  // namespace fenchel::python
