#include "fenchel/estimate/fit/sparse_poisson.hpp"

#include <cmath>

#include "distribution/line/bounded_density.hpp"
#include "estimate/fit/integer_loss.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "fit_sparse_poisson";

/// The slope of the mean in log mu.
double hessian(double alpha, double mu) {
  return fenchel_young_hessian(Tsallis(alpha), PoissonScore(mu), Naturals());
}

double solve_mu(double alpha, double wanted) {
  if (alpha == 1) return wanted;
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

}  // namespace

Fit<SparsePoisson> fit_sparse_poisson(double alpha, const CountHistogram& counts) {
  detail::check_integer_fit(kWhere, alpha, counts);
  const auto least = static_cast<double>(counts.values().front());
  if (least < 0) throw_domain_error(kWhere, "the least count", "must not be negative", least);
  if (!(counts.mean() > 0)) throw_domain_error(kWhere, "the mean", "must be positive", counts.mean());
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

}  // namespace fenchel
