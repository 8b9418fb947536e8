#include "estimate/regression/coefficient_errors.hpp"

#include <limits>

#include "estimate/statistics/collective.hpp"
#include "score/factorizations.hpp"

namespace fenchel::detail {
namespace {

constexpr double kLeastShare = 1e-12;  // of the Hessian's eigenvalues in the largest: below, it is singular

}  // namespace

Eigen::MatrixXd coefficient_covariance(const Data& data, const Standardization& features, double penalty,
                                       const std::function<Spread(const Eigen::VectorXd&)>& spread) {
  const index_t size = features.mean.size(), parameters = size + 1;
  const auto add = [&](Rows<const double> rows, PerRow weights, ObjectiveSum& sum) {
    double weight = 0;
    Eigen::MatrixXd both = Eigen::MatrixXd::Zero(parameters, 2 * parameters);
    Eigen::VectorXd z = Eigen::VectorXd::Ones(parameters);
    for (index_t i = 0; i < rows.rows; ++i) {
      if (weights[i] == 0) continue;
      features.apply(rows[i].subspan(1), z.head(size));
      const auto [curvature, variance] = spread(z);
      weight += weights[i];
      both.leftCols(parameters) += (weights[i] * curvature * z) * z.transpose();
      both.rightCols(parameters) += (weights[i] * variance * z) * z.transpose();
    }
    sum.add(weight, 0, both.reshaped());
  };
  const Eigen::MatrixXd both =
      collect_sums(data, 2 * parameters * parameters, add).gradient().reshaped(parameters, 2 * parameters);
  Eigen::MatrixXd unknown =
      Eigen::MatrixXd::Constant(parameters, parameters, std::numeric_limits<double>::quiet_NaN());
  if (!both.allFinite()) return unknown;
  Eigen::MatrixXd hessian = both.leftCols(parameters);
  hessian.diagonal().head(size).array() += penalty;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(hessian);
  const Eigen::VectorXd& values = solver.eigenvalues();
  if (!(values[0] > kLeastShare * values[size])) return unknown;
  const Eigen::MatrixXd to_raw = features.to_raw() * solver.eigenvectors() *
                                 values.cwiseInverse().asDiagonal() * solver.eigenvectors().transpose();
  return to_raw * both.rightCols(parameters) * to_raw.transpose() / features.weight;
}

}  // namespace fenchel::detail
