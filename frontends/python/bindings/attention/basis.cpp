#include <nanobind/eigen/dense.h>
#include <nanobind/stl/vector.h>

#include <Eigen/Core>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "bindings/arrays/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/gil.hpp"
#include "bindings/python_function.hpp"
#include "fenchel/attention/attend.hpp"
#include "fenchel/attention/fourier_basis.hpp"
#include "fenchel/attention/function_basis.hpp"
#include "fenchel/attention/gaussian_basis.hpp"
#include "fenchel/attention/multivariate_attend.hpp"
#include "fenchel/attention/multivariate_gaussian_basis.hpp"
#include "fenchel/attention/polynomial_basis.hpp"
#include "fenchel/attention/positions.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::python {
namespace {

/// design is psi at positions, N x L, whose transpose is the array of Python.
template <class Psi, class... Extra>
nb::class_<Psi> bind_line_basis(nb::module_& m, const char* name, const Extra&... extra) {
  return nb::class_<Psi>(m, name, extra...)
      .def("size", &Psi::size)
      .def("design",
           [](const Psi& psi, const Input<>& t) {
             const std::span<const double> positions(t.data(), t.size());
             return without_gil<Psi>([&] { return design_matrix(psi, positions); });
           })
      .def("attend_sample", [](const Psi& psi, const Input<>& t) {
        const Empirical sample(std::span<const double>(t.data(), t.size()));
        return without_gil<Psi>([&] { return attend(sample, psi); });
      });
}

}  // namespace

void bind_basis(nb::module_& m) {
  bind_line_basis<GaussianBasis>(m, "GaussianBasis")
      .def(nb::init<std::vector<double>, std::vector<double>>())
      .def_static("linearly_spaced",
                  [](index_t count, double lower, double upper, const std::vector<double>& sigma) {
                    return GaussianBasis::linearly_spaced(count, lower, upper, sigma);
                  })
      .def("mu", [](const GaussianBasis& psi) { return copy_to_array(psi.mu()); })
      .def("sigma", [](const GaussianBasis& psi) { return copy_to_array(psi.sigma()); });
  bind_line_basis<PolynomialBasis>(m, "PolynomialBasis")
      .def(nb::init<index_t, double, double>())
      .def_prop_ro("degree", &PolynomialBasis::degree)
      .def_prop_ro("centre", &PolynomialBasis::centre)
      .def_prop_ro("width", &PolynomialBasis::width);
  bind_line_basis<FourierBasis>(m, "FourierBasis")
      .def(nb::init<index_t, double>())
      .def_prop_ro("count", &FourierBasis::count)
      .def_prop_ro("period", &FourierBasis::period);
  // The object in Python keeps the functions as an attribute, where the garbage collector sees them.
  bind_line_basis<FunctionBasis>(m, "FunctionBasis", nb::dynamic_attr())
      .def("__init__",
           [](nb::pointer_and_handle<FunctionBasis> self, const std::vector<Function>& functions,
              const std::vector<double>& cuts) {
             std::vector<FunctionBasis::Function> called;
             for (const Function& f : functions) called.emplace_back(PythonFunction("functions", f));
             new (self.p) FunctionBasis(std::move(called), cuts);
             self.h.attr("functions") = functions;
           })
      .def("cuts",
           [](const FunctionBasis& psi) { return std::vector(psi.cuts().begin(), psi.cuts().end()); });

  using Multivariate = MultivariateGaussianBasis;
  nb::class_<Multivariate>(m, "MultivariateGaussianBasis")
      .def(nb::init<const Eigen::MatrixXd&, const std::vector<Eigen::MatrixXd>&>())
      .def_static("unit_square", &Multivariate::unit_square)
      .def("size", &Multivariate::size)
      .def("dimension", &Multivariate::dimension)
      .def("mu", &Multivariate::mu)
      .def("Sigma", &Multivariate::Sigma)
      .def("design",
           [](const Multivariate& psi, const Eigen::MatrixXd& t) {
             return without_gil<Multivariate>([&] { return design_matrix(psi, t); });
           })
      .def("attend_sample", [](const Multivariate& psi, const Eigen::MatrixXd& t) {
        return without_gil<Multivariate>([&] { return attend(MultivariateEmpirical(t), psi); });
      });

  m.def("positions", [](index_t length) { return to_array(positions(length)); });
  m.def("grid_positions", &grid_positions);
}

}  // namespace fenchel::python
