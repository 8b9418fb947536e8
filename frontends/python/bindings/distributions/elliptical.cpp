#include "fenchel/distribution/euclidean/elliptical.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/vector.h>

#include <Eigen/Core>
#include <cstdint>
#include <new>
#include <vector>

#include "bindings/arrays/arrays.hpp"
#include "bindings/arrays/points.hpp"
#include "bindings/bindings.hpp"
#include "bindings/python_function.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::python {

using P = Elliptical;

/// Everything here may call the generator, and holds the GIL.
void bind_elliptical(nb::module_& m) {
  nb::class_<P>(m, "Elliptical")
      .def("__init__",
           [](P* self, const Function& log_generator, Eigen::VectorXd mu, Eigen::MatrixXd Sigma) {
             new (self) P(PythonFunction("log_generator", log_generator), std::move(mu), std::move(Sigma));
           })
      .def_prop_ro("mu", [](const P& p) { return p.mu(); })
      .def_prop_ro("Sigma", [](const P& p) { return p.Sigma(); })
      .def_prop_ro("dimension", &P::dimension)
      .def_prop_ro("rank", &P::rank)
      .def("log_generator", &P::log_generator)
      .def("pdf",
           [](const P& p, const Input<>& x) {
             return map_points_here(x, [&p](const auto& t) { return pdf(p, t); });
           })
      .def("log_pdf",
           [](const P& p, const Input<>& x) {
             return map_points_here(x, [&p](const auto& t) { return log_pdf(p, t); });
           })
      .def("radial_cdf",
           [](const P& p, const Input<>& q) {
             return map_array_here(q, [&p](double x) { return radial_cdf(p, x); });
           })
      .def("support", [](const P& p) { return support(p); })
      .def("contour", [](const P& p, double mass) { return mahalanobis_contour(p, mass); })
      .def("covariance", [](const P& p) { return covariance(p); })
      .def("entropy", [](const P& p) { return entropy(p); })
      .def("tsallis_entropy", [](const P& p, double order) { return tsallis_entropy(p, order); })
      .def("escort", [](const P& p, double order) { return escort(p, order); })
      .def("marginal", [](const P& p, const std::vector<index_t>& indices) { return marginal(p, indices); })
      .def("sample", [](const P& p, index_t count, std::uint64_t seed) { return sample(p, count, seed); });
}

}  // namespace fenchel::python
