#include "fenchel/distribution/line/smooth_triangular.hpp"

#include "fenchel/core/check.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "smooth_triangular";
constexpr double kBend = 0;

}  // namespace

SmoothTriangular::SmoothTriangular(double gamma, double mu, double b)
    : mu_(detail::checked_finite(kWhere, "mu", mu)), shape_(kWhere, kBend, gamma, "b", b) {}

SmoothTriangular SmoothTriangular::from_variance(double gamma, double mu, double variance) {
  return SmoothTriangular(
      gamma, mu,
      detail::SmoothShape::scale_of_variance("smooth_triangular::from_variance", kBend, gamma, variance));
}

SmoothTriangular SmoothTriangular::from_mean_deviation(double gamma, double mu, double deviation) {
  return SmoothTriangular(
      gamma, mu,
      detail::SmoothShape::b_of_mean_deviation("smooth_triangular::from_mean_deviation", gamma, deviation));
}

}  // namespace fenchel
