#include "fenchel/distribution/line/smooth_parabola.hpp"

#include "fenchel/core/check.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "smooth_parabola";
constexpr double kBend = 1;

}  // namespace

SmoothParabola::SmoothParabola(double gamma, double mu, double sigma2)
    : mu_(detail::checked_finite(kWhere, "mu", mu)), shape_(kWhere, kBend, gamma, "sigma2", sigma2) {}

SmoothParabola SmoothParabola::from_variance(double gamma, double mu, double variance) {
  return SmoothParabola(
      gamma, mu,
      detail::SmoothShape::scale_of_variance("smooth_parabola::from_variance", kBend, gamma, variance));
}

}  // namespace fenchel
