#pragma once

/// `fit_regression`: a linear mean and a scale that depends on the features, with beta-Gaussian noise.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/estimate/regression/minimize.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

/// Heteroscedastic regression y ~ mu(x) + N_beta(0, sigma2(x)) [SCD22, Section 9.2; docs/math.md 9]: mu is
/// linear in the features x, sigma or its logarithm too, and the mean cross-Omega loss (docs/math.md 5.5, E3)
/// is minimised over both, or for alpha < 1, Student's noise, the mean of -log p(y) (docs/math.md 5.11).
namespace fenchel {

enum class NoiseLoss {
  automatic,    ///< likelihood for alpha < 1, else cross_omega: at alpha = 1 they agree
  cross_omega,  ///< with one sigma its line is that of least squares, whatever alpha is
  likelihood,   ///< for alpha <= 1; a row counts the less the farther it lies outside of the noise
};
/// "auto", "cross_omega", "likelihood".
[[nodiscard]] FENCHEL_EXPORT std::string_view to_string(NoiseLoss loss) noexcept;

enum class ScaleLink {
  linear,  ///< sigma = |w.x + b|
  log,     ///< sigma = exp(w.x + b)
};

struct RegressionOptions {
  double alpha = 2;  ///< above 1/3, where the noise has a variance and cross-Omega exists; finite
  ScaleLink link = ScaleLink::log;
  /// Half of it times the sum of squares of all coefficients, not of intercepts, is added to the mean loss,
  /// both for standardised features and a unit of y in which sigma = 1 at least squares.
  double penalty = 0;
  /// The same for the coefficients of the scale alone, besides. It keeps sigma from vanishing at a row. Where
  /// none is given: 0 for one feature or a linear sigma, else 10 for each feature that varies over the weight
  /// of all rows, as if log sigma had, before data, a variance of a tenth over the rows (docs/math.md 9).
  std::optional<double> scale_penalty = {};
  NoiseLoss noise_loss = NoiseLoss::automatic;
  int starts = 4;
  std::uint64_t seed = 0;         ///< of all starts but the first
  MinimizeOptions minimize = {};  ///< of each start; a callback that cancels ends them all
};

/// How the search from one start ended. The loss has no least value: it falls without bound as mu passes
/// through a row and sigma vanishes there (if its link is log, for alpha > 1). Searches that end so do not
/// converge, so the best of those that converged is chosen. Larger alpha have smaller basins.
struct RegressionStart {
  double objective;  ///< the loss with the penalty, in the unit of y
  double residual;   ///< of the gradient, in the units of the penalty
  int iterations, evaluations;
  MinimizeStatus status;
};

/// Minima do not depend on units: if y is c times as large, so is mu, sigma is c^{(alpha + 1) / 2} times as
/// large, and the loss less 1 / (alpha (alpha - 1)) is c^{1 - alpha} times as large; for alpha = 1 and of the
/// likelihood the loss grows by log c.
struct RegressionFit {
  double alpha;
  ScaleLink link;
  NoiseLoss noise_loss;            ///< not automatic
  std::vector<std::string> names;  ///< of the features
  Eigen::VectorXd mean_coefficients;
  double mean_intercept;
  Eigen::VectorXd scale_coefficients;  ///< of sigma or of log sigma
  double scale_intercept;
  /// Of the estimators, for large samples of the fitted model, H^-1 C H^-1 / weight: of the mean's
  /// coefficients and, last, intercept, and of the scale's, which are uncorrelated with them.
  Eigen::MatrixXd mean_covariance, scale_covariance;
  double loss;    ///< the mean loss, without the penalty, in the units of the data
  double weight;  ///< of all rows
  /// Where no start converges, a path of scale penalties leads from a large one, at which sigma is almost
  /// constant, to the one that was wanted, given or not. If it breaks off before, scale_penalty is the least
  /// at which it converged, and the fit is the minimum there. The status then is not converged.
  double wanted_scale_penalty, scale_penalty;
  double residual;  ///< this and the next are those of the search that led here
  int iterations;
  MinimizeStatus status;
  std::vector<RegressionStart> starts;
  std::size_t chosen;  ///< the start that led here, starts.size() where the path did

  [[nodiscard]] Eigen::VectorXd mean_errors() const { return mean_covariance.diagonal().cwiseSqrt(); }
  [[nodiscard]] Eigen::VectorXd scale_errors() const { return scale_covariance.diagonal().cwiseSqrt(); }
};

/// Columns: y, then the features. The first start is least squares with the constant sigma whose variance is
/// that of the residuals, the others are near it. Throws std::domain_error for options that mean nothing,
/// data of less weight than there are parameters, a sigma too large or small for a double, residuals of least
/// squares that are all 0, and, unless there is a penalty, constant or collinear features; Cancelled by
/// data.progress.
[[nodiscard]] FENCHEL_EXPORT RegressionFit fit_regression(const Data& data,
                                                          const RegressionOptions& options = {});

/// The distribution of y at these features. Throws std::invalid_argument unless there is one for each
/// coefficient, std::domain_error where sigma is 0 or too large.
[[nodiscard]] FENCHEL_EXPORT BetaGaussian predict(const RegressionFit& fit, std::span<const double> features);

}  // namespace fenchel
