#include "fenchel/distribution/line/capped_parabola.hpp"

#include "fenchel/core/check.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "capped_parabola";
constexpr int kDegree = 2;

}  // namespace

CappedParabola::CappedParabola(double gamma, double mu, double sigma2)
    : mu_(detail::checked_finite(kWhere, "mu", mu)), shape_(kWhere, kDegree, gamma, "sigma2", sigma2) {}

CappedParabola CappedParabola::from_variance(double gamma, double mu, double variance) {
  return CappedParabola(
      gamma, mu,
      detail::CappedShape::scale_of_variance("capped_parabola::from_variance", kDegree, gamma, variance));
}

}  // namespace fenchel
