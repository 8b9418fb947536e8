#include "fenchel/distribution/euclidean/multivariate_numeric_density.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <Eigen/Core>
#include <cstdint>
#include <new>
#include <vector>

#include "bindings/arrays/arrays.hpp"
#include "bindings/arrays/eigen_arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/distributions/loss.hpp"
#include "fenchel/distribution/euclidean/multivariate_empirical.hpp"
#include "fenchel/domain/box.hpp"
#include "fenchel/loss/multivariate_function.hpp"
#include "fenchel/predict/multivariate_function.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/multivariate_function_score.hpp"

namespace fenchel::python {
namespace {

using P = MultivariateNumericDensity;
/// Takes points, the rows of an array, and returns one number for each. What the Python files hand over
/// checks the shape of the answer.
using PointsFunction = nb::typed<nb::callable, nb::any(nb::any)>;

/// A Python function that somebody else keeps alive. Needs the GIL.
MultivariateFunctionScore::Batch batch(nb::handle f) {
  return [f](const Eigen::MatrixXd& columns) {
    const nb::object answer = f(matrix_to_array(columns.transpose()));
    return vector_of(nb::cast<Input<>>(answer));
  };
}
MultivariateFunctionScore score_of(const PointsFunction& f) {
  return MultivariateFunctionScore::batched(batch(f));
}

/// Values at the points of an array (..., N).
template <class F>
[[nodiscard]] Output<double> at_points(const P& p, const Input<>& points, const F& value) {
  std::vector<std::size_t> shape = shape_of(points);
  shape.pop_back();
  const Eigen::Map<const Eigen::MatrixXd> columns(points.data(), p.dimension(),
                                                  static_cast<index_t>(points.size()) / p.dimension());
  const Eigen::VectorXd found = log_pdf_at(p, columns);
  std::vector<double> values;
  for (const double x : found) values.push_back(value(x));
  return to_array(std::move(values), shape);
}

template <class From>
const From& as_target(const From& q) {
  return q;
}
MultivariateEmpirical as_target(const Eigen::MatrixXd& sample) { return MultivariateEmpirical(sample); }

template <class From>
void bind_losses(nb::class_<P>& family) {
  family.def_static("fenchel_young",
                    [](const Tsallis& omega, const PointsFunction& f, const Box& domain, const From& q) {
                      return to_python(fenchel_young(omega, score_of(f), domain, as_target(q)));
                    });
  family.def_static("cross_omega",
                    [](const Tsallis& omega, const PointsFunction& f, const Box& domain, const From& q) {
                      return to_python(cross_omega(omega, score_of(f), domain, as_target(q)));
                    });
}

}  // namespace

void bind_multivariate_numeric_density(nb::module_& m) {
  nb::class_<Box>(m, "Box")
      .def(nb::init<Eigen::VectorXd, Eigen::VectorXd>())
      .def_prop_ro("lower", [](const Box& box) { return box.lower(); })
      .def_prop_ro("upper", [](const Box& box) { return box.upper(); });

  nb::class_<P> family(m, "MultivariateNumericDensity", nb::dynamic_attr());
  family
      .def("__init__",
           [](nb::pointer_and_handle<P> self, const Tsallis& omega, const PointsFunction& f,
              const Box& domain) {
             new (self.p) P(predict(omega, score_of(f), domain));
             self.h.attr("f") = f;
           })
      .def_prop_ro("dimension", &P::dimension)
      .def("pdf",
           [](const P& p, const Input<>& x) { return at_points(p, x, [](double l) { return std::exp(l); }); })
      .def("log_pdf",
           [](const P& p, const Input<>& x) { return at_points(p, x, [](double l) { return l; }); })
      .def("bounds", [](const P& p) { return support(p).bounds; })
      .def("modes", [](const P& p) { return p.modes(); })
      .def("mean", [](const P& p) { return mean(p); })
      .def("covariance", [](const P& p) { return covariance(p); })
      .def("entropy", [](const P& p) { return entropy(p); })
      .def("tsallis_entropy", [](const P& p, double order) { return tsallis_entropy(p, order); })
      .def("contours", [](const P& p, double mass) { return contours(p, mass); })
      .def("expectation",
           [](const P& p, const PointsFunction& f) { return detail::expectation(p, batch(f), 0); })
      .def("sample", [](const P& p, index_t count, std::uint64_t seed) { return sample(p, count, seed); });
  bind_losses<P>(family);
  bind_losses<MultivariateBetaGaussian>(family);
  bind_losses<Eigen::MatrixXd>(family);
}

}  // namespace fenchel::python
