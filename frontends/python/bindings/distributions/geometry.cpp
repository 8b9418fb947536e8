#include <nanobind/eigen/dense.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>

#include <cmath>
#include <utility>

#include "bindings/bindings.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/wasserstein.hpp"
#include "fenchel/loss/metric.hpp"

namespace fenchel::python {
namespace {

using Line = BetaGaussian;
using Space = MultivariateBetaGaussian;

HalfPlanePoint to_point(const Line& p) { return {p.mu(), std::sqrt(p.sigma2())}; }

}  // namespace

void bind_geometry(nb::module_& m) {
  m.def("wasserstein2", [](const Line& p, const Line& q) { return wasserstein2(p, q); });
  m.def("wasserstein2", [](const Space& p, const Space& q) { return wasserstein2(p, q); });
  m.def("optimal_map", [](const Line& p, const Line& q) {
    const AffineMap map = optimal_map(p, q);
    return std::pair(map.slope, map.shift);
  });
  m.def("optimal_map", [](const Space& p, const Space& q) {
    MultivariateAffineMap map = optimal_map(p, q);
    return std::pair(std::move(map.matrix), std::move(map.shift));
  });
  m.def("wasserstein_geodesic",
        [](const Line& p, const Line& q, double s) { return wasserstein_geodesic(p, q, s); });
  m.def("wasserstein_geodesic",
        [](const Space& p, const Space& q, double s) { return wasserstein_geodesic(p, q, s); });
  nb::class_<FenchelYoungMetric>(m, "FenchelYoungMetric")
      .def(nb::init<double>())
      .def_prop_ro("alpha", &FenchelYoungMetric::alpha)
      .def_prop_ro("constant", &FenchelYoungMetric::constant)
      .def("tensor", &FenchelYoungMetric::tensor)
      .def("curvature", &FenchelYoungMetric::curvature)
      .def("vertical_distance", [](const FenchelYoungMetric& metric, double a,
                                   double b) { return vertical_distance(metric, a, b); })
      .def("geodesic_of_diracs", [](const FenchelYoungMetric& metric, double a, double b, double s) {
        const HalfPlanePoint at = geodesic_of_diracs(metric, a, b).at(s);
        return Line(metric.alpha(), at.mu, at.sigma * at.sigma);
      });
  m.def("geodesic", [](const Line& p, const Line& q, double s) {
    const HalfPlanePoint at = geodesic(FenchelYoungMetric(p.alpha()), to_point(p), to_point(q)).at(s);
    return Line(p.alpha(), at.mu, at.sigma * at.sigma);
  });
  m.def("geodesic_distance", [](const Line& p, const Line& q) {
    return distance(FenchelYoungMetric(p.alpha()), to_point(p), to_point(q));
  });
}

}  // namespace fenchel::python
