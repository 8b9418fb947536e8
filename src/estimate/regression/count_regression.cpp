#include "fenchel/estimate/regression/count_regression.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "estimate/fit/checks.hpp"
#include "estimate/regression/coefficient_errors.hpp"
#include "estimate/regression/count_loss.hpp"
#include "estimate/regression/standardization.hpp"
#include "estimate/statistics/collective.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/estimate/regression/objective.hpp"

namespace fenchel {
namespace {

constexpr const char* kWhere = "fit_count_regression";
constexpr double kLargestCount = 0x1p52;

void check_count(index_t row, std::span<const double> targets) {
  const double y = targets[0];
  if (!(y >= 0 && y <= kLargestCount && y == std::floor(y)))
    throw BadEntry(kWhere, "count", "must be a natural number up to 2^52", row, 0, y);
}

/// The problem for standardised features; parameters are the coefficients, then the intercept.
class StandardProblem {
 public:
  StandardProblem(const Data& data, const CountRegressionOptions& options)
      : data_(data),
        options_(options),
        features_(detail::standardize(kWhere, data, 1, check_count, options.penalty)),
        unit_(std::max(1.0, features_.target_mean)) {}

  [[nodiscard]] index_t size() const noexcept { return features_.mean.size(); }

  [[nodiscard]] Eigen::VectorXd start() const {
    if (!(features_.target_mean > 0))
      throw_domain_error(kWhere, "the mean count", "must be positive", features_.target_mean);
    Eigen::VectorXd x = Eigen::VectorXd::Zero(size() + 1);
    x[size()] = std::log(features_.target_mean);
    return x;
  }

  /// Over the mean count, of whose order its gradient and Hessian are: so no count is too large to converge.
  double operator()(const Eigen::VectorXd& x, Eigen::VectorXd& gradient) const {
    const ObjectiveSum mean = mean_loss(data_, std::bind_front(&StandardProblem::add_losses, this), x);
    gradient = mean.gradient();
    gradient.head(size()) += options_.penalty * x.head(size());
    gradient /= unit_;
    return (mean.value() + penalty(x)) / unit_;
  }

  [[nodiscard]] CountRegressionFit fit(const Minimum& minimum) const {
    const Eigen::VectorXd& x = minimum.x;
    const Eigen::VectorXd parameters = features_.to_raw() * x;
    const auto spread = [&](const Eigen::VectorXd& z) {
      return detail::CountLoss(options_.alpha).spread(x.dot(z));
    };
    return {options_.alpha,
            features_.names,
            parameters.head(size()),
            parameters[size()],
            detail::coefficient_covariance(data_, features_, options_.penalty, spread),
            unit_ * minimum.value - penalty(x),
            features_.weight,
            minimum.residual,
            minimum.iterations,
            minimum.status};
  }

 private:
  [[nodiscard]] double penalty(const Eigen::VectorXd& x) const {
    return options_.penalty / 2 * x.head(size()).squaredNorm();
  }

  void add_losses(const Eigen::VectorXd& x, Rows<const double> rows, PerRow weights,
                  ObjectiveSum& sum) const {
    detail::CountLoss loss(options_.alpha);
    double weight = 0, value = 0;
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(x.size()), z = Eigen::VectorXd::Ones(x.size());
    for (index_t i = 0; i < rows.rows; ++i) {
      if (weights[i] == 0) continue;
      features_.apply(rows[i].subspan(1), z.head(size()));
      const auto [term, slope] = loss(x.dot(z), rows.row(i)[0]);
      weight += weights[i];
      value += weights[i] * term;
      gradient += (weights[i] * slope) * z;
    }
    sum.add(weight, value, gradient);
  }

  const Data& data_;
  const CountRegressionOptions& options_;
  detail::Standardization features_;
  double unit_;
};

void check(const CountRegressionOptions& options) {
  if (!(options.alpha > 0.5 && options.alpha < kInfinity))
    throw_domain_error(kWhere, "alpha", "must be finite and greater than 1/2", options.alpha);
  detail::checked_nonnegative(kWhere, "penalty", options.penalty);
}

}  // namespace

CountRegressionFit fit_count_regression(const Data& data, const CountRegressionOptions& options) {
  check(options);
  const StandardProblem problem(data, options);
  return problem.fit(detail::minimize_together(data.processes, problem, problem.start(), options.minimize));
}

SparsePoisson predict(const CountRegressionFit& fit, std::span<const double> features) {
  const index_t size = fit.coefficients.size();
  detail::check_features("predict", static_cast<index_t>(features.size()), size);
  const Eigen::Map<const Eigen::VectorXd> x(features.data(), size);
  return SparsePoisson(fit.alpha, std::exp(fit.coefficients.dot(x) + fit.intercept));
}

}  // namespace fenchel
