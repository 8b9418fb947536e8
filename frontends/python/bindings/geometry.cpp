#include <nanobind/eigen/dense.h>
#include <nanobind/stl/pair.h>

#include <Eigen/Core>
#include <cmath>
#include <utility>

#include "bindings/bindings.hpp"
#include "fenchel/distribution/beta_gaussian.hpp"
#include "fenchel/distribution/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/multivariate_geometry.hpp"
#include "fenchel/distribution/wasserstein.hpp"
#include "fenchel/loss/metric.hpp"

namespace fenchel::python {
namespace {

using Line = BetaGaussian;
using Space = MultivariateBetaGaussian;

/// The image of p at the fraction s of the way of every point along the optimal map.
Line displacement(const Line& p, const Line& q, double s) {
  const AffineMap map = optimal_map(p, q);
  const double slope = 1 - s + s * map.slope;
  return Line::from_variance(p.alpha(), slope * p.mu() + s * map.shift, slope * slope * variance(p));
}
Space displacement(const Space& p, const Space& q, double s) {
  const MultivariateAffineMap map = optimal_map(p, q);
  const auto identity = Eigen::MatrixXd::Identity(p.dimension(), p.dimension());
  return affine(p, (1 - s) * identity + s * map.matrix, s * map.shift);
}

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
  m.def("displacement", [](const Line& p, const Line& q, double s) { return displacement(p, q, s); });
  m.def("displacement", [](const Space& p, const Space& q, double s) { return displacement(p, q, s); });
  m.def("geodesic", [](const Line& p, const Line& q, double s) {
    const HalfPlanePoint at = geodesic(FenchelYoungMetric(p.alpha()), to_point(p), to_point(q)).at(s);
    return Line(p.alpha(), at.mu, at.sigma * at.sigma);
  });
  m.def("geodesic_distance", [](const Line& p, const Line& q) {
    return distance(FenchelYoungMetric(p.alpha()), to_point(p), to_point(q));
  });
}

}  // namespace fenchel::python
