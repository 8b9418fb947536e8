#include <nanobind/eigen/dense.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <vector>

#include "bindings/arrays/arrays.hpp"
#include "bindings/arrays/points.hpp"
#include "bindings/bindings.hpp"
#include "bindings/distributions/line_distribution.hpp"
#include "bindings/gil.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/euclidean/multivariate_mixture.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/mixture.hpp"

namespace fenchel::python {
namespace {

template <class P>
nb::class_<Mixture<P>> bind_mixture_of(nb::class_<Mixture<P>> mixture) {
  return mixture.def(nb::init<std::vector<double>, std::vector<P>>())
      .def("weights", [](const Mixture<P>& p) { return copy_to_array(p.weights()); })
      .def("components",
           [](const Mixture<P>& p) { return std::vector(p.components().begin(), p.components().end()); });
}

}  // namespace

void bind_mixture(nb::module_& m) {
  bind_mixture_of(bind_line_distribution<Mixture<BetaGaussian>>(m, "Mixture"));
  using P = Mixture<MultivariateBetaGaussian>;
  bind_mixture_of(nb::class_<P>(m, "MultivariateMixture"))
      .def("pdf", [](const P& p,
                     const Input<>& x) { return map_points(x, [&p](const auto& t) { return pdf(p, t); }); })
      .def("log_pdf",
           [](const P& p, const Input<>& x) {
             return map_points(x, [&p](const auto& t) { return log_pdf(p, t); });
           })
      .def("mean", [](const P& p) { return mean(p); })
      .def("covariance", [](const P& p) { return covariance(p); })
      .def("sample", [](const P& p, index_t count, std::uint64_t seed) {
        return without_gil([&] { return sample(p, count, seed); });
      });
}

}  // namespace fenchel::python
