#include "fenchel/attention/composition.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <Eigen/Core>
#include <optional>
#include <tuple>

#include "bindings/bindings.hpp"
#include "bindings/gil.hpp"
#include "fenchel/attention/gaussian_basis.hpp"
#include "fenchel/attention/multivariate_gaussian_basis.hpp"

namespace fenchel::python {
namespace {

Composition composition(AttentionKind kind, double weights_alpha, double alpha, std::optional<double> floor) {
  return {.kind = kind, .weights = Tsallis(weights_alpha), .alpha = alpha, .floor = floor};
}

/// A regression is a basis, positions D x L, and the system of both.
template <class Psi>
void bind(nb::module_& m) {
  using detail::RidgeSystem, Eigen::MatrixXd, Eigen::VectorXd;
  m.def("compose", [](AttentionKind kind, double weights_alpha, double alpha, std::optional<double> floor,
                      const Psi& psi, const MatrixXd& positions, const RidgeSystem& system,
                      const VectorXd& scores, const MatrixXd& values) {
    return without_gil([&] {
      return detail::compose(composition(kind, weights_alpha, alpha, floor),
                             {positions, psi.functions(), system}, scores, values);
    });
  });
  m.def("compose_vjp", [](AttentionKind kind, double weights_alpha, double alpha, std::optional<double> floor,
                          const Psi& psi, const MatrixXd& positions, const RidgeSystem& system,
                          const VectorXd& scores, const MatrixXd& values, const VectorXd& cotangent) {
    const CompositionGradient g = without_gil([&] {
      return detail::compose_vjp(composition(kind, weights_alpha, alpha, floor),
                                 {positions, psi.functions(), system}, scores, values, cotangent);
    });
    return std::tuple(g.scores, g.observations, g.weights_alpha, g.alpha, g.ridge);
  });
}

}  // namespace

void bind_composition(nb::module_& m) {
  nb::enum_<AttentionKind>(m, "AttentionKind")
      .value("discrete", AttentionKind::discrete)
      .value("continuous", AttentionKind::continuous)
      .value("both", AttentionKind::both);
  bind<GaussianBasis>(m);
  bind<MultivariateGaussianBasis>(m);
}

}  // namespace fenchel::python
