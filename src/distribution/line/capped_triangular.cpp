#include "fenchel/distribution/line/capped_triangular.hpp"

#include "fenchel/core/check.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "capped_triangular";
constexpr int kDegree = 1;

}  // namespace

CappedTriangular::CappedTriangular(double gamma, double mu, double b)
    : mu_(detail::checked_finite(kWhere, "mu", mu)), shape_(kWhere, kDegree, gamma, "b", b) {}

CappedTriangular CappedTriangular::from_variance(double gamma, double mu, double variance) {
  return CappedTriangular(
      gamma, mu,
      detail::CappedShape::scale_of_variance("capped_triangular::from_variance", kDegree, gamma, variance));
}

CappedTriangular CappedTriangular::from_mean_deviation(double gamma, double mu, double deviation) {
  return CappedTriangular(
      gamma, mu,
      detail::CappedShape::b_of_mean_deviation("capped_triangular::from_mean_deviation", gamma, deviation));
}

}  // namespace fenchel
