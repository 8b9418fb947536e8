#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays/array_source.hpp"
#include "bindings/arrays/arrays.hpp"
#include "bindings/arrays/eigen_arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/gil.hpp"
#include "fenchel/estimate/fit/beta_gaussian.hpp"
#include "fenchel/estimate/fit/beta_laplace.hpp"
#include "fenchel/estimate/fit/capped.hpp"
#include "fenchel/estimate/fit/multivariate_beta_gaussian.hpp"
#include "fenchel/estimate/fit/smooth.hpp"
#include "fenchel/estimate/fit/sparse_integer_gaussian.hpp"
#include "fenchel/estimate/fit/sparse_poisson.hpp"
#include "fenchel/estimate/fit/truncated_gaussian.hpp"

namespace fenchel::python {
namespace {

using Shape = std::optional<double>;
/// Distribution, names, parameters, covariance, standard errors, loss and weight.
template <class P>
using Result = std::tuple<P, std::vector<std::string>, Output<>, Output<>, Output<>, double, double>;

template <class P>
Result<P> result(const Fit<P>& fit) {
  return {fit.distribution,
          fit.names,
          vector_to_array(fit.parameters),
          matrix_to_array(fit.covariance),
          vector_to_array(fit.standard_errors()),
          fit.loss,
          fit.weight};
}

/// The families of TotalVariation and Sobolev have sigma in Python, for the b of triangular densities and the
/// square root of the sigma2 of parabolas.
template <class P>
Fit<P> in_sigma(Fit<P> fit) {
  if (fit.names[1] == "sigma2") return with_root(std::move(fit), 1, "sigma");
  fit.names[1] = "sigma";
  return fit;
}

/// Sigma is the scale in Python.
Fit<MultivariateBetaGaussian> in_capitals(Fit<MultivariateBetaGaussian> fit) {
  for (std::string& name : fit.names) {
    if (name.starts_with("scale")) name.replace(0, 5, "Sigma");
  }
  return fit;
}

/// f(shape, statistics), which other threads may change meanwhile.
template <class S, class F>
void bind_from_statistics(nb::module_& m, const char* name, const F& f) {
  m.def(
      name,
      [f](const S& statistics, Shape shape) {
        const S mine = statistics;
        return result(without_gil([&] { return f(shape, mine); }));
      },
      nb::arg("statistics"), nb::arg("shape").none());
}

/// f(shape, data), for what needs several passes.
template <class F>
void bind_from_data(nb::module_& m, const char* name, const F& f) {
  m.def(
      name,
      [f](const InputRows& rows, const std::optional<Input<>>& weights, std::vector<std::string> names,
          Shape shape) {
        return result(
            with_data(rows, weights, std::move(names), 0, [&](const Data& data) { return f(shape, data); }));
      },
      nb::arg("rows"), nb::arg("weights").none(), nb::arg("names"), nb::arg("shape").none());
}

}  // namespace

void bind_fit(nb::module_& m) {
  bind_from_statistics<LineMoments>(m, "fit_beta_gaussian", [](Shape alpha, const LineMoments& moments) {
    return alpha ? fit_beta_gaussian(*alpha, moments) : fit_beta_gaussian(moments);
  });
  bind_from_statistics<Moments>(m, "fit_multivariate_beta_gaussian", [](Shape alpha, const Moments& moments) {
    return in_capitals(fit_multivariate_beta_gaussian(alpha.value(), moments));
  });
  bind_from_data(m, "fit_multivariate_beta_gaussian", [](Shape alpha, const Data& data) {
    return in_capitals(alpha ? fit_multivariate_beta_gaussian(*alpha, data)
                             : fit_multivariate_beta_gaussian(data));
  });
  bind_from_data(m, "fit_truncated_gaussian", [](Shape kappa, const Data& data) {
    return kappa ? fit_truncated_gaussian(*kappa, data) : fit_truncated_gaussian(data);
  });
  const auto beta_laplace = [](Shape alpha, const auto& data) {
    return fit_beta_laplace(alpha.value(), data);
  };
  bind_from_statistics<AbsoluteMoments>(m, "fit_beta_laplace", beta_laplace);
  bind_from_data(m, "fit_beta_laplace", beta_laplace);
  const auto capped_triangular = [](Shape gamma, const auto& data) {
    return in_sigma(fit_capped_triangular(gamma.value(), data));
  };
  bind_from_statistics<AbsoluteMoments>(m, "fit_capped_triangular", capped_triangular);
  bind_from_data(m, "fit_capped_triangular", capped_triangular);
  const auto smooth_triangular = [](Shape gamma, const auto& data) {
    return in_sigma(fit_smooth_triangular(gamma.value(), data));
  };
  bind_from_statistics<AbsoluteMoments>(m, "fit_smooth_triangular", smooth_triangular);
  bind_from_data(m, "fit_smooth_triangular", smooth_triangular);
  bind_from_statistics<LineMoments>(m, "fit_capped_parabola", [](Shape gamma, const LineMoments& moments) {
    return in_sigma(fit_capped_parabola(gamma.value(), moments));
  });
  bind_from_statistics<LineMoments>(m, "fit_smooth_parabola", [](Shape gamma, const LineMoments& moments) {
    return in_sigma(fit_smooth_parabola(gamma.value(), moments));
  });
  bind_from_statistics<CountHistogram>(
      m, "fit_sparse_poisson",
      [](Shape alpha, const CountHistogram& counts) { return fit_sparse_poisson(alpha.value(), counts); });
  bind_from_statistics<CountHistogram>(m, "fit_sparse_integer_gaussian",
                                       [](Shape alpha, const CountHistogram& counts) {
                                         return fit_sparse_integer_gaussian(alpha.value(), counts);
                                       });
}

}  // namespace fenchel::python
