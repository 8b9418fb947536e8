#include "fenchel/estimate/statistics/mean_loss.hpp"

#include <Eigen/Core>
#include <cstddef>

#include "estimate/fit/checks.hpp"
#include "estimate/statistics/chunks.hpp"
#include "fenchel/estimate/regression/objective.hpp"
#include "fenchel/estimate/statistics/count_histogram.hpp"
#include "fenchel/estimate/statistics/moments.hpp"
#include "fenchel/loss/multivariate_quadratic.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "mean_cross_omega";

template <class Score, class Domain>
auto integer_loss(const Tsallis& omega, const Score& f, Domain domain, const Data& data) {
  const CountHistogram counts = collect(data, CountHistogram());
  detail::check_total_weight(kWhere, counts.weight());
  const auto loss = cross_omega(omega, f, domain, IntegerTarget(counts.values(), counts.weights()));
  return MeanLoss<decltype(loss.gradient)>{loss.value, loss.gradient, counts.weight()};
}

}  // namespace

MeanLoss<std::vector<double>> detail::mean_sample_loss(const Data& data, index_t parameters,
                                                       SampleLoss loss) {
  const BatchLoss add = [&](const Eigen::VectorXd&, Rows<const double> rows, PerRow weights,
                            ObjectiveSum& sum) {
    check_shape(kWhere, rows, 1, weights);
    Chunk chunk;  // all of it: a loss may take longer than its mean over a sample
    chunk.capacity = rows.rows;
    chunk.values.resize(static_cast<std::size_t>(rows.rows));
    chunk.weights.resize(static_cast<std::size_t>(rows.rows));
    fill(kWhere, rows, weights, 0, rows.rows, chunk);
    if (chunk.rows == 0) return;
    const auto count = static_cast<std::size_t>(chunk.rows);
    const Empirical q({chunk.column(0), count}, {chunk.weights.data(), count});
    Eigen::VectorXd gradient(parameters);
    const double value = loss(q, {gradient.data(), static_cast<std::size_t>(parameters)});
    sum.add(q.total(), q.total() * value, q.total() * gradient);
  };
  const ObjectiveSum sum = mean_loss(data, add, Eigen::VectorXd::Zero(parameters));
  check_total_weight(kWhere, sum.weight());
  const Eigen::VectorXd gradient = sum.gradient();
  return {sum.value(), std::vector(gradient.begin(), gradient.end()), sum.weight()};
}

MeanLoss<MultivariateQuadraticGradient> mean_cross_omega(const Tsallis& omega,
                                                         const MultivariateQuadraticScore& f,
                                                         const Euclidean& domain, const Data& data) {
  const Moments moments = collect(data, Moments(data.source.columns()));
  detail::check_total_weight(kWhere, moments.weight());
  Loss<MultivariateQuadraticGradient> loss =
      detail::quadratic_loss(omega, f, domain, moments.mean(), moments.covariance(), {0, 0});
  return {loss.value, std::move(loss.gradient), moments.weight()};
}

MeanLoss<PoissonGradient> mean_cross_omega(const Tsallis& omega, const PoissonScore& f, Naturals domain,
                                           const Data& data) {
  return integer_loss(omega, f, domain, data);
}

MeanLoss<IntegerGaussianGradient> mean_cross_omega(const Tsallis& omega, const QuadraticScore& f,
                                                   Integers domain, const Data& data) {
  return integer_loss(omega, f, domain, data);
}

}  // namespace fenchel
