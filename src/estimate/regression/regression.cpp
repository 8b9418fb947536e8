#include "fenchel/estimate/regression/regression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "estimate/fit/checks.hpp"
#include "estimate/regression/coefficient_errors.hpp"
#include "estimate/regression/regression_loss.hpp"
#include "estimate/regression/standardization.hpp"
#include "estimate/statistics/collective.hpp"
#include "fenchel/core/double_double.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/estimate/regression/least_squares.hpp"
#include "fenchel/estimate/regression/objective.hpp"

namespace fenchel {
namespace {

constexpr const char* kWhere = "fit_regression";
// Of the residuals of least squares over y: below, they are rounding.
constexpr double kLeastResidual = 64 * std::numeric_limits<double>::epsilon();
// A penalty that shrinks no coefficient, collinear features or not, and the residuals, over the deviation of
// y, that are its rounding.
constexpr double kNoPenalty = 1e-12, kLeastShare = 1e-9;
// How far mu, and sigma or its logarithm, of the other starts are from least squares at a typical row, in its
// sigma: a linear sigma keeps its sign at nearly all rows.
constexpr double kMeanSpread = 0.5, kScaleSpread = 0.2;
// How much log sigma varies over the rows, before there is data, by the automatic scale penalty.
constexpr double kPriorVariance = 0.1;
// The scale penalties of a path before the one that was asked for.
constexpr std::array kPath{100., 30., 10., 3., 1., 0.3, 0.1, 0.03, 0.01, 0.003, 0.001};

void check(const RegressionOptions& options) {
  if (!(options.alpha > 1. / 3 && options.alpha <= std::numeric_limits<double>::max()))
    throw_domain_error(kWhere, "alpha",
                       "must be finite and above 1/3, where the noise has a variance and its loss exists",
                       options.alpha);
  if (options.noise_loss == NoiseLoss::likelihood && options.alpha > 1)
    throw_domain_error(
        kWhere, "alpha",
        "must be at most 1 for the likelihood, which is 0 where a row is outside of the support",
        options.alpha);
  if (options.scale_penalty) detail::checked_nonnegative(kWhere, "scale_penalty", *options.scale_penalty);
  if (options.starts < 1) throw_domain_error(kWhere, "starts", "must number at least 1", options.starts);
}

NoiseLoss noise_loss(const RegressionOptions& options) {
  if (options.noise_loss != NoiseLoss::automatic) return options.noise_loss;
  return options.alpha < 1 ? NoiseLoss::likelihood : NoiseLoss::cross_omega;
}

double wanted_scale_penalty(const RegressionOptions& options, const LeastSquares& line) {
  if (options.scale_penalty) return *options.scale_penalty;
  const index_t features = (line.deviation.tail(line.coefficients.size()).array() > 0).count();
  if (options.link == ScaleLink::linear || features < 2) return 0;
  return static_cast<double>(features) / (kPriorVariance * line.weight);
}

/// The problem for standardised features and y - mean(y) in a unit. Parameters are the coefficients and the
/// intercept of mu, then those of sigma or of log sigma.
class StandardProblem {
 public:
  StandardProblem(const Data& data, const RegressionOptions& options, const LeastSquares& line)
      : data_(data),
        options_(options),
        line_(line),
        wanted_scale_penalty_(wanted_scale_penalty(options, line)),
        scale_penalty_(wanted_scale_penalty_),
        loss_(options.alpha, noise_loss(options) == NoiseLoss::likelihood),
        size_(line.coefficients.size()),
        log_unit_((std::log(line.variance) - loss_.log_unit_variance()) / 2),
        features_{detail::feature_names(data.source, 1), line.weight, line.mean[0], line.mean.tail(size_),
                  detail::inverse_or_zero(line.deviation.tail(size_))} {}

  [[nodiscard]] double wanted_penalty() const noexcept { return wanted_scale_penalty_; }
  void set_scale_penalty(double penalty) noexcept { scale_penalty_ = penalty; }

  [[nodiscard]] Eigen::VectorXd start(int number) const {
    Eigen::VectorXd x = Eigen::VectorXd::Zero(2 * size_ + 2);
    x.head(size_) = line_.coefficients.cwiseProduct(line_.deviation.tail(size_)) / unit();
    if (options_.link == ScaleLink::linear) x[2 * size_ + 1] = 1;
    if (number == 0) return x;
    Philox random(options_.seed, static_cast<std::uint64_t>(number));
    for (index_t k = 0; k < x.size(); ++k)
      x[k] += (k <= size_ ? kMeanSpread : kScaleSpread) * standard_normal(random) /
              std::sqrt(static_cast<double>(size_ + 1));
    return x;
  }

  /// The mean loss and the penalty.
  double operator()(const Eigen::VectorXd& x, Eigen::VectorXd& gradient) const {
    const ObjectiveSum mean = mean_loss(data_, std::bind_front(&StandardProblem::add, this), x);
    gradient = mean.gradient();
    gradient.head(size_) += options_.penalty * x.head(size_);
    gradient.segment(size_ + 1, size_) += (options_.penalty + scale_penalty_) * x.segment(size_ + 1, size_);
    return mean.value() + penalty(x);
  }

  [[nodiscard]] double penalty(const Eigen::VectorXd& x) const {
    return (options_.penalty * x.head(size_).squaredNorm() +
            (options_.penalty + scale_penalty_) * x.segment(size_ + 1, size_).squaredNorm()) /
           2;
  }

  /// The loss, with or without the penalty, in the unit of y.
  [[nodiscard]] double in_unit_of_y(double loss) const { return loss_.in_smaller_unit(loss, log_unit_); }

  [[nodiscard]] RegressionFit fit(const Minimum& best, std::vector<RegressionStart> starts,
                                  std::size_t chosen) const {
    const Eigen::VectorXd& x = best.x;
    const double log_scale = (2 + loss_.am1()) / 2 * log_unit_;
    const bool linear = options_.link == ScaleLink::linear;
    const double scale = linear ? std::exp(log_scale) : 1, shift = linear ? 0 : log_scale;
    if (!std::isnormal(scale))
      throw_domain_error(kWhere, "sigma",
                         "must be a double: it grows as the unit of y to the power (alpha + 1) / 2, take "
                         "another unit or a smaller alpha",
                         scale);
    const Eigen::VectorXd mu = unit() * x.head(size_).cwiseProduct(features_.inverse_deviation);
    const Eigen::VectorXd sigma =
        scale * x.segment(size_ + 1, size_).cwiseProduct(features_.inverse_deviation);
    const auto spreads = [&](const Eigen::VectorXd& z) {
      const double s = x.tail(size_ + 1).dot(z);
      auto row = loss_.spreads(linear ? std::log(std::abs(s)) : s);
      const double slope = linear ? 1 / s : 1;  // of log sigma
      row.log_sigma = {row.log_sigma.curvature * slope * slope, row.log_sigma.variance * slope * slope};
      return row;
    };
    const auto covariance = [&](detail::Spread detail::RegressionLoss::Spreads::*part, double penalty,
                                double factor) {
      return Eigen::MatrixXd(
          factor * factor *
          detail::coefficient_covariance(data_, features_, penalty,
                                         [&](const Eigen::VectorXd& z) { return spreads(z).*part; }));
    };
    return {options_.alpha,
            options_.link,
            noise_loss(options_),
            features_.names,
            mu,
            features_.target_mean + unit() * x[size_] - mu.dot(features_.mean),
            sigma,
            scale * x[2 * size_ + 1] + shift - sigma.dot(features_.mean),
            covariance(&detail::RegressionLoss::Spreads::mu, options_.penalty, unit()),
            covariance(&detail::RegressionLoss::Spreads::log_sigma, options_.penalty + scale_penalty_, scale),
            in_unit_of_y(best.value - penalty(x)),
            features_.weight,
            wanted_scale_penalty_,
            scale_penalty_,
            best.residual,
            best.iterations,
            best.status,
            std::move(starts),
            chosen};
  }

 private:
  [[nodiscard]] double unit() const noexcept { return std::exp(log_unit_); }

  void add(const Eigen::VectorXd& x, Rows<const double> rows, PerRow weights, ObjectiveSum& sum) const {
    const bool linear = options_.link == ScaleLink::linear;
    const double unit_of_y = unit();
    double weight = 0;
    DoubleDouble value;  // a rounded sum would end searches before they converge
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(x.size()), z(size_);
    for (index_t i = 0; i < rows.rows; ++i) {
      if (weights[i] == 0) continue;
      features_.apply(rows[i].subspan(1), z);
      const double mu = x.head(size_).dot(z) + x[size_];
      const double s = x.segment(size_ + 1, size_).dot(z) + x[2 * size_ + 1];
      const detail::RegressionTerm term = loss_((rows.row(i)[0] - features_.target_mean) / unit_of_y - mu,
                                                linear ? std::log(std::abs(s)) : s);
      const double mu_slope = weights[i] * term.mu;
      const double s_slope = weights[i] * (linear ? term.log_sigma / s : term.log_sigma);
      weight += weights[i];
      value += weights[i] * term.value;
      gradient.head(size_) += mu_slope * z;
      gradient[size_] += mu_slope;
      gradient.segment(size_ + 1, size_) += s_slope * z;
      gradient[2 * size_ + 1] += s_slope;
    }
    sum.add(weight, value.value(), gradient);
  }

  const Data& data_;
  const RegressionOptions& options_;
  const LeastSquares& line_;
  double wanted_scale_penalty_, scale_penalty_;
  detail::RegressionLoss loss_;
  index_t size_;     // the number of features
  double log_unit_;  // of the unit in which sigma = 1 has the variance of the residuals
  detail::Standardization features_;
};

/// Throws where least squares leaves no noise, also without the penalty, which would leave some of the
/// signal.
void check_noise(const Data& data, const RegressionOptions& options, const LeastSquares& line) {
  // No search, no sigma that depends on the features: least squares is asked for.
  const bool shrunk = options.penalty > kNoPenalty && options.minimize.max_iterations > 0;
  const double residual =
      std::sqrt(shrunk ? detail::fit_least_squares(kWhere, data, kNoPenalty).variance : line.variance);
  const double least = std::max(kLeastResidual * std::hypot(line.mean[0], line.deviation[0]),
                                shrunk ? kLeastShare * line.deviation[0] : 0);
  if (!(residual > least))
    throw_domain_error(kWhere, "the residual of least squares", "must be more than rounding", residual);
}

/// Where a path of scale penalties ended.
struct PathEnd {
  double scale_penalty;
  Minimum minimum;  ///< for this penalty, but of the status that the search for the next one had, if any
};

/// Follows the minimum from a large scale penalty to the one asked for, or to the last at which the search
/// converges; none where the first does not.
std::optional<PathEnd> follow_path(const Data& data, const RegressionOptions& options,
                                   StandardProblem& problem) {
  std::vector<double> penalties;
  for (const double penalty : kPath) {
    if (penalty > problem.wanted_penalty()) penalties.push_back(penalty);
  }
  penalties.push_back(problem.wanted_penalty());
  std::optional<PathEnd> end;
  for (const double penalty : penalties) {
    problem.set_scale_penalty(penalty);
    Minimum next = detail::minimize_together(data.processes, problem, end ? end->minimum.x : problem.start(0),
                                             options.minimize);
    if (next.status != MinimizeStatus::converged) {
      if (end) end->minimum.status = next.status;
      break;
    }
    end = PathEnd{penalty, std::move(next)};
  }
  problem.set_scale_penalty(end ? end->scale_penalty : problem.wanted_penalty());
  return end;
}

}  // namespace

std::string_view to_string(NoiseLoss loss) noexcept {
  switch (loss) {
    case NoiseLoss::automatic:
      return "auto";
    case NoiseLoss::cross_omega:
      return "cross_omega";
    case NoiseLoss::likelihood:
      return "likelihood";
  }
  return "";
}

RegressionFit fit_regression(const Data& data, const RegressionOptions& options) {
  check(options);
  const LeastSquares line = detail::fit_least_squares(kWhere, data, options.penalty);
  const index_t parameters = 2 * (line.coefficients.size() + 1);
  if (line.weight < static_cast<double>(parameters))
    throw_domain_error(kWhere, "the weight of all rows",
                       "must be at least the number of parameters, " + shortest(parameters), line.weight);
  check_noise(data, options, line);

  StandardProblem problem(data, options, line);
  std::vector<RegressionStart> starts;
  std::size_t chosen = 0;
  Minimum best;
  for (int number = 0; number < options.starts; ++number) {
    Minimum minimum =
        detail::minimize_together(data.processes, problem, problem.start(number), options.minimize);
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
  if (best.status != MinimizeStatus::converged && starts.back().status != MinimizeStatus::cancelled &&
      options.minimize.max_iterations > 0) {
    if (std::optional<PathEnd> end = follow_path(data, options, problem)) {
      best = std::move(end->minimum);
      chosen = starts.size();
    }
  }
  return problem.fit(best, std::move(starts), chosen);
}

BetaGaussian predict(const RegressionFit& fit, std::span<const double> features) {
  detail::check_features("predict", static_cast<index_t>(features.size()), fit.mean_coefficients.size());
  const Eigen::Map<const Eigen::VectorXd> x(features.data(), fit.mean_coefficients.size());
  const double s = fit.scale_coefficients.dot(x) + fit.scale_intercept;
  return BetaGaussian(fit.alpha, fit.mean_coefficients.dot(x) + fit.mean_intercept,
                      fit.link == ScaleLink::linear ? s * s : std::exp(2 * s));
}

}  // namespace fenchel
