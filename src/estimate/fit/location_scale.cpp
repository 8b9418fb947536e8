#include "fenchel/estimate/fit/location_scale.hpp"

#include <cmath>

#include "estimate/fit/excess_fit.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/loss/location_scale.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "fit_location_scale";

/// In mu and log sigma.
detail::ExcessModel model_of(const LocationScale& p) {
  const auto excess = [p](double t, Eigen::VectorXd& derivative) {
    const double mu = p.mu(), sigma = p.sigma(), y = std::abs(t - mu) / sigma;
    const double e = excess_score(p, t), bend = detail::curvature(p.score(), y, p.a()) / sigma;
    derivative[0] = t == mu ? 0 : std::copysign(bend / sigma, t - mu);
    derivative[1] = y * bend - e;
    return e;
  };
  return {p.mu(), p.half_width(), excess};
}

}  // namespace

Fit<LocationScale> fit_location_scale(std::function<double(double)> g, std::function<double(double)> slope,
                                      const Data& data) {
  const LocationScale unit(LocationScaleScore(g, slope, 0, 1));
  const double kink = detail::curvature(unit.score(), 0, unit.a()) * unit.a() / unit.edge_slope();
  constexpr double kSmooth = 0.1;  // the differences of a power of t do not see a 0
  if (!(std::abs(kink) < kSmooth))
    throw_domain_error(kWhere, "a g''(0) / g'(a)",
                       "must be 0: else the score has a kink at mu, and the loss one at every value", kink);
  const auto member = [&](double mu, double sigma) {
    return LocationScale(LocationScaleScore(g, slope, mu, sigma));
  };
  const Eigen::Vector2d start(0, -std::log(variance(unit)) / 2);
  const detail::ExcessFit found = detail::fit_excess(
      kWhere, data, [&](const Eigen::VectorXd& x) { return model_of(member(x[0], std::exp(x[1]))); }, start);
  const double mu = found.centre + found.deviation * found.x[0],
               sigma = found.deviation * std::exp(found.x[1]);
  const Eigen::DiagonalMatrix<double, 2> jacobian(found.deviation, sigma);
  return {
      member(mu, sigma), {"mu", "sigma"}, Eigen::Vector2d(mu, sigma), jacobian * found.covariance * jacobian,
      found.loss,        found.weight};
}

}  // namespace fenchel
