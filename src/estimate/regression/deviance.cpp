#include "fenchel/estimate/regression/deviance.hpp"

#include <array>
#include <cmath>
#include <map>

#include "estimate/fit/checks.hpp"
#include "estimate/regression/count_loss.hpp"
#include "estimate/statistics/collective.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/estimate/fit/sparse_poisson.hpp"

namespace fenchel {
namespace {

constexpr const char* kWhere = "explained_deviance";
constexpr double kLargestCount = 0x1p52;

/// theta = log mu of the prediction with this mean. A mean that is no whole number is that of its neighbours.
double theta_of_mean(double alpha, double mean) {
  if (mean == 0) return -kInfinity;
  const double below = std::floor(mean);
  const std::array counts{below, below + 1}, weights{1 - (mean - below), mean - below};
  return std::log(fit_sparse_poisson(alpha, CountHistogram::of(counts, weights)).distribution.mu());
}

/// Deviances of one alpha; the least losses are kept, as counts repeat.
class Deviance {
 public:
  explicit Deviance(double alpha) : alpha_(alpha), loss_(alpha) {}

  [[nodiscard]] double operator()(double theta, double y) { return 2 * (loss(theta, y) - least(y)); }

 private:
  [[nodiscard]] double loss(double theta, double y) {
    if (theta == -kInfinity) return y > 0 ? kInfinity : 0;
    const double below = std::floor(y), part = y - below;
    const double lower = loss_(theta, below).loss;
    return part == 0 ? lower : (1 - part) * lower + part * loss_(theta, below + 1).loss;
  }
  [[nodiscard]] double least(double y) {
    const auto [place, is_new] = least_.try_emplace(y);
    if (is_new) place->second = loss(theta_of_mean(alpha_, y), y);
    return place->second;
  }

  double alpha_;
  detail::CountLoss loss_;
  std::map<double, double> least_;
};

void check_target(index_t row, double y) {
  if (!(y >= 0 && y <= kLargestCount)) throw BadEntry(kWhere, "count", "must be in [0, 2^52]", row, 0, y);
}

double mean_target(const Data& data) {
  const auto add = [](Rows<const double> rows, PerRow weights, ObjectiveSum& sum) {
    double weight = 0;
    DoubleDouble total;
    for (index_t i = 0; i < rows.rows; ++i) {
      check_target(i, rows.row(i)[0]);
      weight += weights[i];
      total += weights[i] * rows.row(i)[0];
    }
    sum.add(weight, total.value(), {});
  };
  const ObjectiveSum sum = detail::collect_sums(data, 0, add);
  detail::check_total_weight(kWhere, sum.weight());
  return sum.value();
}

}  // namespace

double explained_deviance(const CountRegressionFit& fit, const Data& data) {
  const index_t size = fit.coefficients.size();
  detail::check_features(kWhere, data.source.columns() - 1, size);
  const double constant = theta_of_mean(fit.alpha, mean_target(data));
  const auto add = [&](Rows<const double> rows, PerRow weights, ObjectiveSum& sum) {
    Deviance deviance(fit.alpha);
    double weight = 0, of_fit = 0, of_constant = 0;
    for (index_t i = 0; i < rows.rows; ++i) {
      if (weights[i] == 0) continue;
      const Eigen::Map<const Eigen::VectorXd> x(rows.row(i) + 1, size);
      const double y = rows.row(i)[0];
      weight += weights[i];
      of_fit += weights[i] * deviance(fit.coefficients.dot(x) + fit.intercept, y);
      of_constant += weights[i] * deviance(constant, y);
    }
    sum.add(weight, of_fit, Eigen::VectorXd::Constant(1, of_constant));
  };
  const ObjectiveSum sum = detail::collect_sums(data, 1, add);
  const double of_constant = sum.gradient()[0];
  if (of_constant > 0) return 1 - sum.value() / of_constant;
  return sum.value() > 0 ? 0 : 1;
}

}  // namespace fenchel
