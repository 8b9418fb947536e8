#include "fenchel/estimate/regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimate/regression_loss.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/estimate/least_squares.hpp"
#include "fenchel/estimate/objective.hpp"

namespace fenchel {
namespace {

constexpr const char* kWhere = "fit_regression";
// Of the residuals of least squares over y: below, they are rounding.
constexpr double kLeastResidual = 64 * std::numeric_limits<double>::epsilon();
// How far mu, and sigma or its logarithm, of the other starts are from least squares at a typical row, in its
// sigma: a linear sigma keeps its sign at nearly all rows.
constexpr double kMeanSpread = 0.5, kScaleSpread = 0.2;

void check(const RegressionOptions& options) {
  if (!(options.alpha >= 1 && std::isfinite(options.alpha)))
    throw_domain_error(kWhere, "alpha", "must be finite and at least 1", options.alpha);
  if (options.starts < 1)
    throw_domain_error(kWhere, "starts", "must number at least 1", static_cast<double>(options.starts));
}

/// The problem for standardised features and y - mean(y) in a unit. Parameters are the coefficients and the
/// intercept of mu, then those of sigma or of log sigma.
class StandardProblem {
 public:
  StandardProblem(const Data& data, const RegressionOptions& options, const LeastSquares& line)
      : data_(data),
        options_(options),
        line_(line),
        loss_(options.alpha),
        features_(line.coefficients.size()),
        log_unit_((std::log(line.variance) - loss_.log_unit_variance()) / 2),
        inverse_deviation_(
            line.deviation.tail(features_).unaryExpr([](double s) { return s > 0 ? 1 / s : 0; })) {}

  [[nodiscard]] Eigen::VectorXd start(int number) const {
    Eigen::VectorXd x = Eigen::VectorXd::Zero(2 * features_ + 2);
    x.head(features_) = line_.coefficients.cwiseProduct(line_.deviation.tail(features_)) / unit();
    if (options_.link == ScaleLink::linear) x[2 * features_ + 1] = 1;
    if (number == 0) return x;
    Philox random(options_.seed, static_cast<std::uint64_t>(number));
    for (index_t k = 0; k < x.size(); ++k)
      x[k] += (k <= features_ ? kMeanSpread : kScaleSpread) * standard_normal(random) /
              std::sqrt(static_cast<double>(features_ + 1));
    return x;
  }

  /// The mean loss and the penalty.
  double objective(const Eigen::VectorXd& x, Eigen::VectorXd& gradient) const {
    const ObjectiveSum mean = mean_loss(data_, batch_, x);
    gradient = mean.gradient();
    for (const index_t first : {index_t{0}, features_ + 1})
      gradient.segment(first, features_) += options_.penalty * x.segment(first, features_);
    return mean.value() + penalty(x);
  }

  [[nodiscard]] double penalty(const Eigen::VectorXd& x) const {
    return options_.penalty / 2 *
           (x.head(features_).squaredNorm() + x.segment(features_ + 1, features_).squaredNorm());
  }

  /// The loss, with or without the penalty, in the unit of y.
  [[nodiscard]] double in_unit_of_y(double loss) const { return loss_.in_smaller_unit(loss, log_unit_); }

  [[nodiscard]] RegressionFit fit(const Minimum& minimum) const {
    const Eigen::VectorXd& x = minimum.x;
    const auto names = data_.source.names();
    RegressionFit fit{options_.alpha,
                      options_.link,
                      {names.begin() + 1, names.end()},
                      {},
                      0,
                      {},
                      0,
                      0,
                      line_.weight,
                      {},
                      0};
    fit.mean_coefficients = unit() * x.head(features_).cwiseProduct(inverse_deviation_);
    fit.mean_intercept = line_.mean[0] + unit() * x[features_] - at_mean(fit.mean_coefficients);
    const double log_scale = (2 + loss_.am1()) / 2 * log_unit_;
    const bool linear = options_.link == ScaleLink::linear;
    const double scale = linear ? std::exp(log_scale) : 1, shift = linear ? 0 : log_scale;
    if (!std::isnormal(scale))
      throw_domain_error(kWhere, "sigma",
                         "must be a double: it grows as the unit of y to the power (alpha + 1) / 2, take "
                         "another unit or a smaller alpha",
                         scale);
    fit.scale_coefficients = scale * x.segment(features_ + 1, features_).cwiseProduct(inverse_deviation_);
    fit.scale_intercept = scale * x[2 * features_ + 1] + shift - at_mean(fit.scale_coefficients);
    fit.loss = in_unit_of_y(minimum.value - penalty(x));
    return fit;
  }

 private:
  [[nodiscard]] double unit() const noexcept { return std::exp(log_unit_); }
  [[nodiscard]] double at_mean(const Eigen::VectorXd& w) const { return w.dot(line_.mean.tail(features_)); }

  void add(const Eigen::VectorXd& x, Rows<const double> rows, PerRow weights, ObjectiveSum& sum) const {
    const bool linear = options_.link == ScaleLink::linear;
    const auto mu_weights = x.head(features_), sigma_weights = x.segment(features_ + 1, features_);
    const double mu_intercept = x[features_], sigma_intercept = x[2 * features_ + 1], unit_of_y = unit();
    double weight = 0, value = 0;
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(x.size()), z(features_);
    for (index_t i = 0; i < rows.rows; ++i) {
      if (weights[i] == 0) continue;
      const double* row = rows.row(i);
      for (index_t k = 0; k < features_; ++k) z[k] = (row[k + 1] - line_.mean[k + 1]) * inverse_deviation_[k];
      const double mu = mu_weights.dot(z) + mu_intercept;
      const double s = sigma_weights.dot(z) + sigma_intercept;
      const detail::RegressionTerm term =
          loss_((row[0] - line_.mean[0]) / unit_of_y - mu, linear ? std::log(std::abs(s)) : s);
      const double mu_slope = weights[i] * term.mu;
      const double s_slope = weights[i] * (linear ? term.log_sigma / s : term.log_sigma);
      weight += weights[i];
      value += weights[i] * term.value;
      gradient.head(features_) += mu_slope * z;
      gradient[features_] += mu_slope;
      gradient.segment(features_ + 1, features_) += s_slope * z;
      gradient[2 * features_ + 1] += s_slope;
    }
    sum.add(weight, value, gradient);
  }

  const Data& data_;
  const RegressionOptions& options_;
  const LeastSquares& line_;
  detail::RegressionLoss loss_;
  index_t features_;
  double log_unit_;  // of the unit in which sigma = 1 has the variance of the residuals
  Eigen::VectorXd inverse_deviation_;
  BatchLoss batch_ = [this](const Eigen::VectorXd& x, Rows<const double> rows, PerRow weights,
                            ObjectiveSum& sum) { add(x, rows, weights, sum); };
};

}  // namespace

RegressionFit fit_regression(const Data& data, const RegressionOptions& options) {
  check(options);
  const LeastSquares line = detail::fit_least_squares(kWhere, data, options.penalty);
  const index_t parameters = 2 * (line.coefficients.size() + 1);
  if (line.weight < static_cast<double>(parameters))
    throw_domain_error(kWhere, "weight of all rows",
                       "must be at least the number of parameters, " + shortest(parameters), line.weight);
  const double residual = std::sqrt(line.variance);
  if (!(residual > kLeastResidual * std::hypot(line.mean[0], line.deviation[0])))
    throw_domain_error(kWhere, "residual of least squares", "must be more than rounding", residual);

  const StandardProblem problem(data, options, line);
  std::vector<RegressionStart> starts;
  std::size_t chosen = 0;
  Minimum best;
  for (int number = 0; number < options.starts; ++number) {
    Minimum minimum =
        minimize([&](const Eigen::VectorXd& x, Eigen::VectorXd& g) { return problem.objective(x, g); },
                 problem.start(number), options.minimize);
    starts.push_back({problem.in_unit_of_y(minimum.value), minimum.residual, minimum.iterations,
                      minimum.evaluations, minimum.status});
    const bool converged = minimum.status == MinimizeStatus::converged,
               cancelled = minimum.status == MinimizeStatus::cancelled;
    if (number == 0 ||
        (converged && (best.status != MinimizeStatus::converged || minimum.value < best.value))) {
      best = std::move(minimum);
      chosen = starts.size() - 1;
    }
    if (cancelled) break;
  }
  RegressionFit fit = problem.fit(best);
  fit.starts = std::move(starts);
  fit.chosen = chosen;
  return fit;
}

BetaGaussian predict(const RegressionFit& fit, std::span<const double> features) {
  if (static_cast<index_t>(features.size()) != fit.mean_coefficients.size())
    throw_invalid_argument("predict", "features",
                           "must number " + shortest(static_cast<index_t>(fit.mean_coefficients.size())),
                           static_cast<index_t>(features.size()));
  const Eigen::Map<const Eigen::VectorXd> x(features.data(), fit.mean_coefficients.size());
  const double s = fit.scale_coefficients.dot(x) + fit.scale_intercept;
  return {fit.alpha, fit.mean_coefficients.dot(x) + fit.mean_intercept,
          fit.link == ScaleLink::linear ? s * s : std::exp(2 * s)};
}

}  // namespace fenchel
