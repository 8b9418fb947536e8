#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <variant>
#include <vector>

#include "bindings/arrays/rows.hpp"
#include "bindings/gil.hpp"
#include "fenchel/backend/cpu/entmax_loss.hpp"
#include "fenchel/backend/cpu/reduce_loss.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::python {

/// name(scores, parameter, target, ignored, reduction, loss, grad_scores, grad_parameter, extra...) runs
/// loss(scores, parameter, targets, outputs, extra...) without the GIL, targets classes or rows. A reduction
/// of None leaves a loss for each row.
template <class Real, class... Extra, class Loss, class... Names>
void bind_loss(nb::module_& m, const char* name, const Loss& loss, const Names&... names) {
  using Target = std::variant<Numbers<const index_t>, RowsArray<const Real>>;
  m.def(
      name,
      [loss](const RowsArray<const Real>& scores, const Parameter& parameter, const Target& target,
             index_t ignored, std::optional<cpu::Reduction> reduction, const Numbers<Real>& value,
             const std::optional<RowsArray<Real>>& grad_scores,
             const std::optional<Numbers<double>>& grad_parameter, const Extra&... extra) {
        const WithoutGil released;
        std::vector<Real> rows(reduction ? scores.shape(0) : 0);
        const cpu::LossOutputs<Real> outputs{reduction ? std::span(rows) : span_of(value),
                                             rows_of(grad_scores), span_of(grad_parameter)};
        const auto run = [&](const auto& targets) {
          loss(rows_of(scores), per_row(parameter), targets, outputs, extra...);
          if (reduction) span_of(value)[0] = cpu::reduce_loss<Real>(*reduction, targets, outputs);
        };
        if (const auto* classes = std::get_if<Numbers<const index_t>>(&target)) {
          run(cpu::ClassTargets{span_of(*classes), ignored});
        } else {
          run(cpu::SoftTargets<Real>{rows_of(std::get<RowsArray<const Real>>(target))});
        }
      },
      rows_argument("scores"), nb::arg("parameter"), rows_argument("target"), nb::arg("ignored"),
      nb::arg("reduction").none(), rows_argument("loss"), rows_argument("grad_scores").none(),
      rows_argument("grad_parameter").none(), names...);
}

}  // namespace fenchel::python
