#include "fenchel/attention/mixture_em.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "attention/gaussian_em.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {
namespace {

using detail::GaussianFit, detail::WeightedPoints;

Eigen::MatrixXd row_of(std::span<const double> positions) {
  return Eigen::Map<const Eigen::RowVectorXd>(positions.data(), static_cast<index_t>(positions.size()));
}

WeightedPoints checked_points(const char* where, const Eigen::MatrixXd& positions,
                              std::span<const double> weights, const MixtureFitOptions& options) {
  if (options.observations) detail::checked_positive(where, "observations", *options.observations);
  detail::checked_nonnegative(where, "tolerance", options.tolerance);
  if (!(options.responsibilities >= 1 && options.responsibilities < kInfinity))
    throw_domain_error(where, "responsibilities", "must be finite and at least 1", options.responsibilities);
  if (options.max_iterations < 0)
    throw_invalid_argument(where, "max_iterations", "must not be negative", options.max_iterations);
  return detail::weighted_points(where, positions, weights, options.variance_floor);
}

double criterion_of(const WeightedPoints& points, const GaussianFit& fit, const MixtureFitOptions& options) {
  const double n = options.observations.value_or(static_cast<double>(points.weights.size()));
  const auto size = static_cast<double>(fit.mixture.weights.size());
  const auto dimension = static_cast<double>(points.offsets.rows());
  const double parameters = size - 1 + size * (dimension + dimension * (dimension + 1) / 2);
  return -2 * n * fit.log_likelihood +
         parameters * (options.criterion == MixtureCriterion::bic ? std::log(n) : 2.0);
}

BetaGaussian component(double alpha, const WeightedPoints& points, const GaussianFit& fit, index_t k,
                       std::type_identity<BetaGaussian>) {
  return BetaGaussian::from_variance(alpha, points.mean[0] + fit.mixture.means(0, k),
                                     fit.mixture.covariances[static_cast<std::size_t>(k)](0, 0));
}
MultivariateBetaGaussian component(double alpha, const WeightedPoints& points, const GaussianFit& fit,
                                   index_t k, std::type_identity<MultivariateBetaGaussian>) {
  return MultivariateBetaGaussian::from_covariance(alpha, points.mean + fit.mixture.means.col(k),
                                                   fit.mixture.covariances[static_cast<std::size_t>(k)]);
}

template <class P>
MixtureFit<P> of_family(double alpha, const WeightedPoints& points, const GaussianFit& fit,
                        double criterion) {
  std::vector<P> components;
  for (index_t k = 0; k < fit.mixture.weights.size(); ++k)
    components.push_back(component(alpha, points, fit, k, std::type_identity<P>{}));
  return {Mixture<P>({fit.mixture.weights.begin(), fit.mixture.weights.end()}, std::move(components)),
          fit.log_likelihood,
          fit.objective,
          fit.iterations,
          fit.converged,
          criterion};
}

template <class P>
MixtureFit<P> fit_points(double alpha, const Eigen::MatrixXd& positions, std::span<const double> weights,
                         index_t components, const MixtureFitOptions& options) {
  constexpr auto kWhere = "fit_mixture";
  const WeightedPoints points = checked_points(kWhere, positions, weights, options);
  if (components < 1 || components > points.distinct)
    throw_invalid_argument(kWhere, "components",
                           "must be from 1 to " + shortest(points.distinct) +
                               ", the number of distinct positions with positive weight",
                           components);
  const GaussianFit fit = detail::fit_gaussians(points, components, options);
  return of_family<P>(alpha, points, fit, criterion_of(points, fit, options));
}

template <class P>
MixtureFit<P> choose_points(double alpha, const Eigen::MatrixXd& positions, std::span<const double> weights,
                            index_t max_components, const MixtureFitOptions& options) {
  constexpr auto kWhere = "choose_mixture";
  const WeightedPoints points = checked_points(kWhere, positions, weights, options);
  if (max_components < 1)
    throw_invalid_argument(kWhere, "max_components", "must be positive", max_components);
  GaussianFit best = detail::fit_gaussians(points, 1, options);
  double least = criterion_of(points, best, options);
  for (index_t size = 2; size <= std::min(max_components, points.distinct); ++size) {
    GaussianFit fit = detail::fit_gaussians(points, size, options);
    const double here = criterion_of(points, fit, options);
    if (!(here < least)) continue;
    least = here;
    best = std::move(fit);
  }
  return of_family<P>(alpha, points, best, least);
}

}  // namespace

MixtureFit<BetaGaussian> fit_mixture(double alpha, std::span<const double> positions,
                                     std::span<const double> weights, index_t components,
                                     const MixtureFitOptions& options) {
  return fit_points<BetaGaussian>(alpha, row_of(positions), weights, components, options);
}
MixtureFit<MultivariateBetaGaussian> fit_mixture(double alpha, const Eigen::MatrixXd& positions,
                                                 std::span<const double> weights, index_t components,
                                                 const MixtureFitOptions& options) {
  return fit_points<MultivariateBetaGaussian>(alpha, positions, weights, components, options);
}

MixtureFit<BetaGaussian> choose_mixture(double alpha, std::span<const double> positions,
                                        std::span<const double> weights, index_t max_components,
                                        const MixtureFitOptions& options) {
  return choose_points<BetaGaussian>(alpha, row_of(positions), weights, max_components, options);
}
MixtureFit<MultivariateBetaGaussian> choose_mixture(double alpha, const Eigen::MatrixXd& positions,
                                                    std::span<const double> weights, index_t max_components,
                                                    const MixtureFitOptions& options) {
  return choose_points<MultivariateBetaGaussian>(alpha, positions, weights, max_components, options);
}

}  // namespace fenchel
