#include "fenchel/attention/mixture_em.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <span>
#include <tuple>

#include "bindings/arrays/arrays.hpp"
#include "bindings/arrays/eigen_arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/gil.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::python {
namespace {

/// Mixture, log-likelihood, objective, iterations, whether it converged, and the criterion.
template <class P>
std::tuple<Mixture<P>, double, double, index_t, bool, double> result(const MixtureFit<P>& fit) {
  return {fit.mixture, fit.log_likelihood, fit.objective, fit.iterations, fit.converged, fit.criterion};
}

/// Positions are numbers, or the columns of a matrix. With `choose` there are up to so many components.
template <class Array, class Positions>
void bind(nb::module_& m, const char* name, const Positions& positions) {
  m.def(name,
        [positions](double alpha, const Array& at, const Input<>& weights, index_t components, bool choose,
                    bool aic, std::optional<double> observations, std::optional<double> floor,
                    double tolerance, index_t max_iterations, double responsibilities) {
          const MixtureFitOptions options{.responsibilities = responsibilities,
                                          .criterion = aic ? MixtureCriterion::aic : MixtureCriterion::bic,
                                          .observations = observations,
                                          .variance_floor = floor,
                                          .tolerance = tolerance,
                                          .max_iterations = max_iterations};
          const std::span<const double> w(weights.data(), weights.size());
          return result(without_gil([&] {
            return choose ? choose_mixture(alpha, positions(at), w, components, options)
                          : fit_mixture(alpha, positions(at), w, components, options);
          }));
        });
}

}  // namespace

void bind_mixture_em(nb::module_& m) {
  using Line = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  bind<Line>(m, "fit_mixture", [](const Line& x) { return std::span<const double>(x.data(), x.size()); });
  bind<InputRows>(m, "fit_multivariate_mixture",
                  [](const InputRows& x) { return Eigen::MatrixXd(matrix_of(x).transpose()); });
}

}  // namespace fenchel::python
