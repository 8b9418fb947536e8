#include "fenchel/estimate/fit/sparse_poisson.hpp"

#include <cmath>

#include "distribution/line/bounded_density.hpp"
#include "estimate/fit/count_alpha.hpp"
#include "estimate/fit/integer_loss.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "fit_sparse_poisson";
constexpr double kLeastAlpha = 0.5;  // for a mean score

/// The slope of the mean in log mu.
double hessian(double alpha, double mu) {
  return fenchel_young_hessian(Tsallis(alpha), PoissonScore(mu), Naturals());
}

/// Below alpha = 1 the mean is above mu.
double solve_below_one(double alpha, double wanted) {
  constexpr double kRounding = 1e-14;  // of a mean
  const auto excess = [&](double log_mu) {
    const double mu = std::exp(log_mu);
    const double value = mean(SparsePoisson(alpha, mu)) - wanted;
    return detail::ValueAndSlope{std::abs(value) < kRounding * wanted ? 0 : value, hessian(alpha, mu)};
  };
  double lower = std::log(wanted);
  while (excess(lower).value > 0) lower -= 1;
  return std::exp(detail::increasing_root(excess, lower, lower + 1, lower + 0.5));
}

double solve_mu(double alpha, double wanted) {
  if (alpha == 1) return wanted;
  if (alpha < 1) return solve_below_one(alpha, wanted);
  if (wanted == std::floor(wanted) && std::log1p(1 / wanted) * (alpha - 1) >= 2)
    return std::sqrt(wanted * (wanted + 1));
  const auto excess = [&](double mu) {
    const SparsePoisson p(alpha, mu);
    const double slope = hessian(alpha, mu) / mu;
    return detail::ValueAndSlope{(static_cast<double>(mode(p)) - wanted) + p.table().mean_offset(),
                                 std::isfinite(slope) ? slope : 0};
  };
  return detail::increasing_root(excess, wanted, wanted + 1, wanted + 0.5);
}

void check(double alpha, const CountHistogram& counts) {
  detail::check_integer_fit(kWhere, alpha, kLeastAlpha, "1/2", counts);
  const auto least = static_cast<double>(counts.values().front());
  if (least < 0) throw_domain_error(kWhere, "the least count", "must not be negative", least);
  if (!(counts.mean() > 0)) throw_domain_error(kWhere, "the mean", "must be positive", counts.mean());
}

}  // namespace

Fit<SparsePoisson> fit_sparse_poisson(double alpha, const CountHistogram& counts) {
  check(alpha, counts);
  const double mu = solve_mu(alpha, counts.mean());
  const SparsePoisson p(alpha, mu);
  const double curvature = hessian(alpha, mu);
  Fit<SparsePoisson> fit{p,
                         {"mu"},
                         Eigen::VectorXd::Constant(1, mu),
                         Eigen::MatrixXd(1, 1),
                         detail::mean_cross_omega(p, counts),
                         counts.weight()};
  fit.covariance(0, 0) = mu / curvature * (mu / curvature) * variance(p) / counts.weight();
  return fit;
}

Fit<SparsePoisson> fit_sparse_poisson(const CountHistogram& counts) {
  check(1, counts);
  const double alpha = detail::most_likely_alpha(kWhere, kLeastAlpha, counts, [&](double order) {
    return detail::log_likelihood(SparsePoisson(order, solve_mu(order, counts.mean())), counts);
  });
  Fit<SparsePoisson> fit = fit_sparse_poisson(alpha, counts);
  const double mu = fit.parameters[0];
  const SparsePoisson& p = fit.distribution;
  const auto centre = static_cast<double>(mode(p));
  const auto phi = [centre](double t) -> Eigen::VectorXd { return Eigen::VectorXd::Constant(1, t - centre); };
  const Eigen::Vector2d scale(1, mu);  // of alpha and log mu
  fit.names = {"alpha", "mu"};
  fit.parameters = Eigen::Vector2d(alpha, mu);
  fit.covariance =
      scale.asDiagonal() * detail::alpha_covariance(p.table(), alpha - 1, phi) * scale.asDiagonal();
  fit.covariance /= counts.weight();
  return fit;
}

}  // namespace fenchel
