#include <nanobind/eigen/dense.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <Eigen/Core>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/arrays/rows.hpp"
#include "bindings/bindings.hpp"
#include "bindings/gil.hpp"
#include "fenchel/attention/ridge_regression.hpp"
#include "fenchel/backend/cpu/match_weights.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::python {
namespace {

using detail::RidgeSystem;
using Systems = std::vector<const RidgeSystem*>;

/// run(length -> system) without the GIL. There is a system for each length that occurs.
template <class Run>
void with_systems(const Systems& systems, const Run& run) {
  std::map<index_t, const RidgeSystem*> by_length;
  for (const RidgeSystem* system : systems) by_length.emplace(system->matrix().rows(), system);
  const WithoutGil released;
  run([&](index_t length) -> const RidgeSystem& { return *by_length.at(length); });
}

/// No points mean the centres of cells of [0, 1].
cpu::WeightPositions weight_positions(const std::optional<RowsArray<const double>>& points,
                                      const Numbers<const index_t>& lengths) {
  return {rows_of(points), span_of(lengths)};
}

template <class Real>
void bind_rows(nb::module_& m) {
  using In = RowsArray<const Real>;
  using Out = RowsArray<Real>;
  m.def("ridge_rows", [](const Systems& systems, const In& values, const Numbers<const index_t>& lengths,
                         const Out& coefficients) {
    with_systems(systems, [&](detail::RidgeSystems at) {
      detail::fit_rows<Real>(at, rows_of(values), span_of(lengths), rows_of(coefficients));
    });
  });
  m.def("match_weights_rows",
        [](const Parameter& alpha, const In& weights, const std::optional<RowsArray<const double>>& points,
           const Numbers<const index_t>& lengths, std::optional<double> floor, const Out& mu,
           const Out& scale) {
          const WithoutGil released;
          cpu::match_weights<Real>(per_row(alpha), rows_of(weights), weight_positions(points, lengths), floor,
                                   {.mu = rows_of(mu), .Sigma = rows_of(scale)});
        });
  m.def("match_weights_rows_vjp",
        [](const Parameter& alpha, const In& weights, const std::optional<RowsArray<const double>>& points,
           const Numbers<const index_t>& lengths, std::optional<double> floor,
           const Numbers<const Real>& d_alpha, const In& d_mu, const In& d_scale, const Out& weights_gradient,
           const Numbers<Real>& alpha_gradient) {
          const WithoutGil released;
          cpu::match_weights_vjp<Real>(per_row(alpha), rows_of(weights), weight_positions(points, lengths),
                                       floor, {span_of(d_alpha), rows_of(d_mu), rows_of(d_scale)},
                                       rows_of(weights_gradient), span_of(alpha_gradient));
        });
}

}  // namespace

void bind_ridge(nb::module_& m) {
  nb::class_<RidgeSystem>(m, "RidgeSystem")
      .def(nb::init<const Eigen::MatrixXd&, double>(), nb::call_guard<WithoutGil>())
      .def("matrix", &RidgeSystem::matrix)
      .def("vjp",
           [](const RidgeSystem& system, const Eigen::MatrixXd& values, const Eigen::MatrixXd& cotangent) {
             RidgeGradient gradient = without_gil([&] { return system.vjp(values, cotangent); });
             return std::pair(std::move(gradient.observations), gradient.ridge);
           });
  bind_rows<double>(m);
  bind_rows<float>(m);
}

}  // namespace fenchel::python
