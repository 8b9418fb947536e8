#pragma once

/// `fit_mixture` and `choose_mixture`: a mixture of beta-Gaussians from weights over positions.

#include <Eigen/Core>
#include <optional>
#include <span>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/euclidean/multivariate_mixture.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/mixture.hpp"

/// From weights over positions, as discrete attention gives them, to a density with several modes [A.
/// Farinhas, A. Martins, P. Aguiar, Multimodal continuous visual attention mechanisms, ICCVW 2021]. A
/// mixture of Gaussians is fitted by EM, and each component replaced by the beta-Gaussian of the same mean
/// and covariance: EM with bounded supports would never move a point that no component covers.
namespace fenchel {

/// What choose_mixture minimises: -2 n log_likelihood + parameters * (log n, or 2), n the observations.
enum class MixtureCriterion { bic, aic };

struct MixtureFitOptions {
  /// The order of the responsibilities, at least 1: those of a point are entmax of its K log densities in
  /// place of softmax, exactly one component's where that leads by 1 / (order - 1) (docs/math.md 7.7).
  double responsibilities = 1;
  MixtureCriterion criterion = MixtureCriterion::bic;
  /// How many observations the weights stand for; unless it is said, the points with positive weight.
  std::optional<double> observations = {};
  /// The least variance of a component in any direction, in squared units of the positions; unless it is
  /// said, kRelativeVarianceFloor times the mean variance of the points. Spacing h resolves h^2 / 12.
  std::optional<double> variance_floor = {};
  /// EM ends where an iteration adds no more to the objective: a number without units, as all weight is one.
  double tolerance = 1e-9;
  index_t max_iterations = 1000;
};

inline constexpr double kRelativeVarianceFloor = 1e-6;

template <class P>
struct MixtureFit {
  Mixture<P> mixture;     ///< may have fewer components than asked for: empty ones are left out
  double log_likelihood;  ///< sum_i w_i log q(x_i), q the Gaussian mixture, the weights w made to sum to one
  double objective;  ///< what EM raised: log_likelihood, and a bound below it for sparse responsibilities
  index_t iterations;
  bool converged;
  double criterion;
};

/// The mixture of that many components, from a deterministic start. Unless the floor binds, its mean and
/// (co)variance are those of the points, and an affine map of the positions maps the fit. Throws
/// std::invalid_argument or std::domain_error for bad positions, weights and numbers of components, and as
/// from_variance does: unless alpha > 1/3, and where sigma2 overflows, as for most finite alpha >= 1e3.
[[nodiscard]] FENCHEL_EXPORT MixtureFit<BetaGaussian> fit_mixture(double alpha,
                                                                  std::span<const double> positions,
                                                                  std::span<const double> weights,
                                                                  index_t components,
                                                                  const MixtureFitOptions& options = {});
/// The same where position l is column l of a D x L matrix; alpha > D / (D + 2).
[[nodiscard]] FENCHEL_EXPORT MixtureFit<MultivariateBetaGaussian> fit_mixture(
    double alpha, const Eigen::MatrixXd& positions, std::span<const double> weights, index_t components,
    const MixtureFitOptions& options = {});

/// The fit of 1 to max_components, or to as many distinct points as have weight, with the least criterion.
[[nodiscard]] FENCHEL_EXPORT MixtureFit<BetaGaussian> choose_mixture(double alpha,
                                                                     std::span<const double> positions,
                                                                     std::span<const double> weights,
                                                                     index_t max_components,
                                                                     const MixtureFitOptions& options = {});
[[nodiscard]] FENCHEL_EXPORT MixtureFit<MultivariateBetaGaussian> choose_mixture(
    double alpha, const Eigen::MatrixXd& positions, std::span<const double> weights, index_t max_components,
    const MixtureFitOptions& options = {});

}  // namespace fenchel
