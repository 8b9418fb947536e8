#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "bindings/arrays/arrays.hpp"
#include "bindings/arrays/eigen_arrays.hpp"
#include "bindings/arrays/points.hpp"
#include "bindings/bindings.hpp"
#include "bindings/distributions/score_functions.hpp"
#include "bindings/gil.hpp"
#include "fenchel/backend/cpu/beta_gaussian.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/rows.hpp"
#include "fenchel/distribution/euclidean/multivariate_empirical.hpp"
#include "fenchel/distribution/euclidean/multivariate_expectation.hpp"
#include "fenchel/distribution/euclidean/multivariate_geometry.hpp"
#include "fenchel/distribution/reparametrization.hpp"
#include "fenchel/loss/multivariate_quadratic.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/multivariate_quadratic_score.hpp"

namespace fenchel::python {
namespace {

using P = MultivariateBetaGaussian;

/// A density at each point by the kernel for rows, which needs a regular Sigma: else it projects on the
/// image.
template <class Kernel>
[[nodiscard]] Output<double> density_at(const P& p, const Input<>& points, const Kernel& kernel) {
  std::vector<std::size_t> shape = shape_of(points);
  const index_t size = p.dimension();
  const auto count = static_cast<index_t>(points.size()) / size;
  shape.pop_back();
  auto values = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(count));
  const RowMajor whitening = p.score().whitening(), factor = p.score().factor();
  const cpu::BetaGaussianParams params{p.constants(),
                                       {p.mu().data(), static_cast<std::size_t>(size)},
                                       {whitening.data(), size, size},
                                       {factor.data(), size, size}};
  {
    const WithoutGil released;
    kernel(params, Rows<const double>(points.data(), count, size),
           std::span(values.get(), static_cast<std::size_t>(count)));
  }
  return to_array(std::move(values), shape);
}

[[nodiscard]] Output<double> pdf_at(const P& p, const Input<>& points) {
  if (p.rank() < p.dimension()) return map_points(points, [&p](const auto& t) { return pdf(p, t); });
  return density_at(p, points, [](const auto&... arguments) { cpu::pdf_rows(arguments...); });
}
[[nodiscard]] Output<double> log_pdf_at(const P& p, const Input<>& points) {
  if (p.rank() < p.dimension()) return map_points(points, [&p](const auto& t) { return log_pdf(p, t); });
  return density_at(p, points, [](const auto&... arguments) { cpu::log_pdf_rows(arguments...); });
}

/// A loss, and its derivatives by name.
using Gradient = nb::typed<nb::dict, nb::str, nb::any>;
using ValueAndGradient = std::pair<double, Gradient>;

/// By the names of the parameters.
template <class G>
Gradient to_gradient(const G& gradient) {
  Gradient named;
  named["mu"] = gradient.mu;
  named["Sigma"] = gradient.Sigma;
  named["alpha"] = gradient.alpha;
  return named;
}

ValueAndGradient to_pair(const Loss<MultivariateQuadraticGradient>& loss) {
  return {loss.value, to_gradient(loss.gradient)};
}

template <class Q>
ValueAndGradient fenchel_young_of(const P& p, const Q& q) {
  return to_pair(fenchel_young(Tsallis(p.alpha()), p.score(), domain(q), q));
}
template <class Q>
ValueAndGradient cross_omega_of(const P& p, const Q& q) {
  return to_pair(cross_omega(Tsallis(p.alpha()), p.score(), domain(q), q));
}

/// A sample with a NaN has no covariance, which is not the same as an infinite one.
ValueAndGradient known(ValueAndGradient loss, const Eigen::MatrixXd& sample) {
  if (sample.hasNaN()) loss.first = std::numeric_limits<double>::quiet_NaN();
  return loss;
}

/// Targets are a distribution, or a sample that is the columns of a matrix; one column is a point.
void bind_losses(nb::class_<P>& family) {
  family.def("fenchel_young", [](const P& p, const P& q) { return fenchel_young_of(p, q); })
      .def("fenchel_young",
           [](const P& p, const Eigen::MatrixXd& q) {
             return known(fenchel_young_of(p, MultivariateEmpirical(q)), q);
           })
      .def("cross_omega", [](const P& p, const P& q) { return cross_omega_of(p, q); })
      .def("cross_omega", [](const P& p, const Eigen::MatrixXd& q) {
        return known(cross_omega_of(p, MultivariateEmpirical(q)), q);
      });
}

}  // namespace

void bind_multivariate_beta_gaussian(nb::module_& m) {
  nb::class_<Ellipsoid>(m, "Ellipsoid")
      .def("__init__",
           [](Ellipsoid* self, Eigen::VectorXd centre, Eigen::MatrixXd shape, double radius2) {
             const MultivariateQuadraticScore checked(centre, std::move(shape));
             new (self) Ellipsoid{std::move(centre), checked.Sigma(), radius2};
           })
      .def_prop_ro("centre", [](const Ellipsoid& e) { return e.centre; })
      .def_prop_ro("shape", [](const Ellipsoid& e) { return e.shape; })
      .def_ro("radius2", &Ellipsoid::radius2)
      .def("contains", [](const Ellipsoid& e, const Input<>& x) {
        const MultivariateQuadraticScore form(e.centre, e.shape);
        return map_points<std::uint8_t>(
            x, [&](const auto& t) { return std::uint8_t{form.mahalanobis2(t) < e.radius2}; });
      });

  nb::class_<P> family(m, "MultivariateBetaGaussian");
  family
      .def(nb::init<double, Eigen::VectorXd, Eigen::MatrixXd>(), nb::arg("alpha"), nb::arg("mu"),
           nb::arg("Sigma"))
      .def_static("diagonal", &P::diagonal)
      .def_static("from_covariance", &P::from_covariance)
      .def_static("uniform", &P::uniform)
      .def_prop_ro("alpha", &P::alpha)
      .def_prop_ro("mu", [](const P& p) { return p.mu(); })
      .def_prop_ro("Sigma", [](const P& p) { return p.Sigma(); })
      .def_prop_ro("dimension", &P::dimension)
      .def_prop_ro("rank", &P::rank)
      .def("pdf", &pdf_at)
      .def("log_pdf", &log_pdf_at)
      .def("radial_cdf",
           [](const P& p, const Input<>& q) {
             return map_array_here(q, [&p](double x) { return radial_cdf(p, x); });
           })
      .def("support", [](const P& p) { return support(p); })
      .def("contour", [](const P& p, double mass) { return mahalanobis_contour(p, mass); })
      .def("covariance", [](const P& p) { return covariance(p); })
      .def("kurtosis", [](const P& p) { return kurtosis(p); })
      .def("entropy", [](const P& p) { return entropy(p); })
      .def("tsallis_entropy", [](const P& p, double order) { return tsallis_entropy(p, order); })
      .def("escort", [](const P& p, double order) { return escort(p, order); })
      .def("affine",
           [](const P& p, const Eigen::MatrixXd& B, const Eigen::VectorXd& b) { return affine(p, B, b); })
      .def("marginal", [](const P& p, const std::vector<index_t>& indices) { return marginal(p, indices); })
      .def("conditional", [](const P& p, const std::vector<index_t>& indices,
                             const Eigen::VectorXd& values) { return conditional(p, indices, values); })
      .def("expectation",
           [](const P& p, const std::function<double(const Eigen::VectorXd&)>& f) {
             return expectation(p, f);
           })
      .def("sample", [](const P& p, index_t count, std::uint64_t seed) {
        return without_gil([&] { return sample(p, count, seed); });
      });
  bind_losses(family);
  bind_score_functions(family, [](const P& p) { return Tsallis(p.alpha()); });
  family.def("sample_gradient", [](const P& p, const Eigen::VectorXd& t, const Eigen::VectorXd& cotangent) {
    return to_gradient(sample_gradient(p, t, cotangent));
  });
}

}  // namespace fenchel::python
