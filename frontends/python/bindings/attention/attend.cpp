#include <nanobind/eigen/dense.h>
#include <nanobind/stl/tuple.h>

#include <Eigen/Core>
#include <tuple>
#include <type_traits>

#include "bindings/bindings.hpp"
#include "bindings/distributions/families.hpp"
#include "bindings/gil.hpp"
#include "fenchel/attention/attend_derivatives.hpp"
#include "fenchel/attention/fourier_basis.hpp"
#include "fenchel/attention/function_basis.hpp"
#include "fenchel/attention/gaussian_basis.hpp"
#include "fenchel/attention/mixture_attend.hpp"
#include "fenchel/attention/multivariate_attend.hpp"
#include "fenchel/attention/multivariate_gaussian_basis.hpp"
#include "fenchel/attention/polynomial_basis.hpp"
#include "fenchel/distribution/line/location_scale.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/score/linear_score.hpp"
#include "fenchel/score/parametric_score.hpp"

namespace fenchel::python {
namespace {

template <class P, class Psi>
void bind_pair(nb::module_& m) {
  m.def("attend",
        [](const P& p, const Psi& psi) { return without_gil<P, Psi>([&] { return attend(p, psi); }); });
  if constexpr (requires(const P& p, const Psi& psi) { attend_jacobian(p, psi); }) {
    m.def("attend_jacobian", [](const P& p, const Psi& psi) {
      return without_gil<P, Psi>([&] { return attend_jacobian(p, psi); });
    });
  }
  if constexpr (detail::DifferentiableExpectation<P>) {
    m.def("attend_gradient", [](const P& p, const Psi& psi) {
      return without_gil<P, Psi>([&] { return detail::attend_gradient(p, psi); });
    });
  }
}

template <class P>
void bind_family(nb::module_& m) {
  bind_pair<P, GaussianBasis>(m);
  bind_pair<P, PolynomialBasis>(m);
  bind_pair<P, FourierBasis>(m);
  bind_pair<P, FunctionBasis>(m);
}

/// The prediction of a score by its parameters.
template <class Score>
void bind_score(nb::module_& m) {
  const auto bind = [&m]<class Psi>(std::type_identity<Psi>) {
    m.def("attend_jacobian", [](const Tsallis& omega, const Score& f, const NumericDensity& p,
                                const Psi& psi) { return attend_jacobian(omega, f, p, psi); });
  };
  bind(std::type_identity<GaussianBasis>());
  bind(std::type_identity<PolynomialBasis>());
  bind(std::type_identity<FourierBasis>());
  bind(std::type_identity<FunctionBasis>());
}

/// On R^D there are Gaussian functions only, and derivatives by products.
void bind_space(nb::module_& m) {
  using P = MultivariateBetaGaussian;
  using Psi = MultivariateGaussianBasis;
  m.def("attend",
        [](const P& p, const Psi& psi) { return without_gil<P, Psi>([&] { return attend(p, psi); }); });
  m.def("attend", [](const Mixture<P>& p, const Psi& psi) {
    return without_gil<P, Psi>([&] { return attend(p, psi); });
  });
  m.def("attend_jacobian", [](const P& p, const Psi& psi) {
    return without_gil<P, Psi>([&] { return attend_jacobian(p, psi); });
  });
  m.def("attend_vjp", [](const P& p, const Psi& psi, const Eigen::VectorXd& cotangent) {
    const auto gradient = without_gil<P, Psi>([&] { return attend_vjp(p, psi, cotangent); });
    return std::tuple(gradient.mu, gradient.Sigma, gradient.alpha);
  });
  m.def("attend_jvp", [](const P& p, const Psi& psi, const Eigen::VectorXd& mu, const Eigen::MatrixXd& scale,
                         double alpha) {
    return without_gil<P, Psi>([&] { return attend_jvp(p, psi, {mu, scale, alpha}); });
  });
}

}  // namespace

void bind_attend(nb::module_& m) {
#define FENCHEL_BIND(P, name, omega) bind_family<P>(m);
  FENCHEL_LINE_FAMILIES(FENCHEL_BIND)
  FENCHEL_INTEGER_FAMILIES(FENCHEL_BIND)
#undef FENCHEL_BIND
  bind_family<LocationScale>(m);
  bind_family<NumericDensity>(m);
  bind_score<LinearScore>(m);
  bind_score<ParametricScore>(m);
  bind_family<Mixture<BetaGaussian>>(m);
  bind_family<IntegerTable>(m);
  bind_space(m);
}

}  // namespace fenchel::python
