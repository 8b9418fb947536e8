#include "fenchel/estimate/count_regression.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <Eigen/Eigenvalues>

#include "estimate/count_loss.hpp"
#include "estimate/fit_checks.hpp"
#include "estimate/standardization.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/estimate/objective.hpp"

namespace fenchel {
namespace {

constexpr const char* kWhere = "fit_count_regression";
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeastShare = 1e-12;  // of the Hessian's eigenvalues in the largest: below, it is singular
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
    // Raw parameters are this times standardised ones.
    Eigen::MatrixXd raw = Eigen::MatrixXd::Identity(size() + 1, size() + 1);
    raw.topLeftCorner(size(), size()) = features_.inverse_deviation.asDiagonal();
    raw.row(size()).head(size()) = -features_.mean.cwiseProduct(features_.inverse_deviation).transpose();
    const Eigen::VectorXd parameters = raw * x;
    return {options_.alpha,
            features_.names,
            parameters.head(size()),
            parameters[size()],
            raw * covariance(x) * raw.transpose(),
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

  /// Calls add(weight, theta, count, z), z the features and a one, for every row that counts.
  template <class Add>
  void for_each_row(const Eigen::VectorXd& x, Rows<const double> rows, PerRow weights, Add add) const {
    Eigen::VectorXd z = Eigen::VectorXd::Ones(size() + 1);
    for (index_t i = 0; i < rows.rows; ++i) {
      if (weights[i] == 0) continue;
      features_.apply(rows[i].subspan(1), z.head(size()));
      add(weights[i], x.dot(z), rows.row(i)[0], z);
    }
  }

  void add_losses(const Eigen::VectorXd& x, Rows<const double> rows, PerRow weights,
                  ObjectiveSum& sum) const {
    detail::CountLoss loss(options_.alpha);
    double weight = 0, value = 0;
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(x.size());
    for_each_row(x, rows, weights, [&](double w, double theta, double count, const Eigen::VectorXd& z) {
      const auto [term, slope] = loss(theta, count);
      weight += w;
      value += w * term;
      gradient += (w * slope) * z;
    });
    sum.add(weight, value, gradient);
  }

  void add_spreads(const Eigen::VectorXd& x, Rows<const double> rows, PerRow weights,
                   ObjectiveSum& sum) const {
    detail::CountLoss loss(options_.alpha);
    double weight = 0;
    Eigen::MatrixXd both = Eigen::MatrixXd::Zero(x.size(), 2 * x.size());
    for_each_row(x, rows, weights, [&](double w, double theta, double, const Eigen::VectorXd& z) {
      const auto [curvature, variance] = loss.spread(theta);
      weight += w;
      both.leftCols(x.size()) += (w * curvature * z) * z.transpose();
      both.rightCols(x.size()) += (w * variance * z) * z.transpose();
    });
    sum.add(weight, 0, both.reshaped());
  }

  /// H^-1 C H^-1 / weight.
  [[nodiscard]] Eigen::MatrixXd covariance(const Eigen::VectorXd& x) const {
    const auto add = [&](Rows<const double> rows, PerRow weights, ObjectiveSum& sum) {
      add_spreads(x, rows, weights, sum);
    };
    const Eigen::MatrixXd both =
        detail::collect_sums(data_, 2 * x.size() * x.size(), add).gradient().reshaped(x.size(), 2 * x.size());
    Eigen::MatrixXd hessian = both.leftCols(x.size());
    hessian.diagonal().head(size()).array() += options_.penalty;
    if (!both.allFinite()) return Eigen::MatrixXd::Constant(x.size(), x.size(), kNaN);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(hessian);
    const Eigen::VectorXd& values = solver.eigenvalues();
    if (!(values[0] > kLeastShare * values[x.size() - 1]))
      return Eigen::MatrixXd::Constant(x.size(), x.size(), kNaN);
    const Eigen::MatrixXd inverse =
        solver.eigenvectors() * values.cwiseInverse().asDiagonal() * solver.eigenvectors().transpose();
    return inverse * both.rightCols(x.size()) * inverse / features_.weight;
  }

  const Data& data_;
  const CountRegressionOptions& options_;
  detail::Standardization features_;
  double unit_;
};

void check(const CountRegressionOptions& options) {
  detail::check_alpha_from_one(kWhere, options.alpha);
  detail::checked_nonnegative(kWhere, "penalty", options.penalty);
}

}  // namespace

CountRegressionFit fit_count_regression(const Data& data, const CountRegressionOptions& options) {
  check(options);
  const StandardProblem problem(data, options);
  return problem.fit(minimize(problem, problem.start(), options.minimize));
}

SparsePoisson predict(const CountRegressionFit& fit, std::span<const double> features) {
  const index_t size = fit.coefficients.size();
  detail::check_features("predict", static_cast<index_t>(features.size()), size);
  const Eigen::Map<const Eigen::VectorXd> x(features.data(), size);
  return {fit.alpha, std::exp(fit.coefficients.dot(x) + fit.intercept)};
}

}  // namespace fenchel
