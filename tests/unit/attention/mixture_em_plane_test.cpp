#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "fenchel/attention/mixture_em.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

using testing::kInf;

Eigen::MatrixXd plane_grid(int side) {
  Eigen::MatrixXd positions(2, side * side);
  for (int i = 0; i < side * side; ++i) positions.col(i) << (i % side + 0.5) / side, (i / side + 0.5) / side;
  return positions;
}

Mixture<MultivariateBetaGaussian> two_blobs() {
  return {
      {0.35, 0.65},
      {MultivariateBetaGaussian(1, Eigen::Vector2d(0.25, 0.3), Eigen::Matrix2d{{4e-3, 2e-3}, {2e-3, 3e-3}}),
       MultivariateBetaGaussian(1, Eigen::Vector2d(0.7, 0.65),
                                Eigen::Matrix2d{{3e-3, -1e-3}, {-1e-3, 6e-3}})}};
}

std::vector<double> weights_on(const Eigen::MatrixXd& positions, const Mixture<MultivariateBetaGaussian>& p) {
  std::vector<double> weights;
  for (index_t i = 0; i < positions.cols(); ++i) weights.push_back(pdf(p, positions.col(i)));
  return weights;
}

TEST(FitMixturePlane, FindsComponentsThatAreApart) {
  const auto truth = two_blobs();
  const Eigen::MatrixXd positions = plane_grid(20);
  const std::vector<double> weights = weights_on(positions, truth);
  for (const double alpha : {1.0, 2.0, 5.0}) {
    const auto fit = choose_mixture(alpha, positions, weights, 4);
    ASSERT_EQ(fit.mixture.size(), 2) << alpha;
    const bool swapped = mean(fit.mixture.components()[0])[0] > 0.5;
    for (std::size_t k = 0; k < 2; ++k) {
      const std::size_t i = swapped ? 1 - k : k;
      EXPECT_NEAR(fit.mixture.weights()[i], truth.weights()[k], 1e-3);
      EXPECT_LT((mean(fit.mixture.components()[i]) - mean(truth.components()[k])).norm(), 1e-3);
      EXPECT_LT((covariance(fit.mixture.components()[i]) - covariance(truth.components()[k])).norm(), 1e-4);
    }
  }
}

TEST(FitMixturePlane, KeepsTheMomentsOfThePoints) {
  const Eigen::MatrixXd positions = plane_grid(16);
  const std::vector<double> weights = weights_on(positions, two_blobs());
  const Eigen::VectorXd w = Eigen::Map<const Eigen::VectorXd>(weights.data(), 256) /
                            std::accumulate(weights.begin(), weights.end(), 0.0);
  const Eigen::VectorXd centre = positions * w;
  const Eigen::MatrixXd about = positions.colwise() - centre;
  const Eigen::MatrixXd expected = about * w.asDiagonal() * about.transpose();
  for (const index_t size : {1, 2, 3}) {
    const auto fit = fit_mixture(2, positions, weights, size);
    EXPECT_LT((mean(fit.mixture) - centre).norm(), 1e-14);
    EXPECT_LT((covariance(fit.mixture) - expected).norm(), 1e-14);
  }
}

TEST(FitMixturePlane, LikelihoodNeverFallsAndAffineMapsMapTheFit) {
  Eigen::MatrixXd positions(2, 60);
  std::vector<double> weights;
  for (int i = 0; i < 60; ++i) {
    positions.col(i) << std::sin(i * 1.7) * (1 + 0.05 * i) + (i % 3), std::cos(i * 2.3);
    weights.push_back(1 + std::cos(i * 0.9));
  }
  for (const std::optional<double> floor : {std::optional<double>(), std::optional(0.2)}) {
    double last = -kInf;
    for (index_t steps = 0; steps < 40; ++steps) {
      const auto fit = fit_mixture(1, positions, weights, 3,
                                   {.variance_floor = floor, .tolerance = 0, .max_iterations = steps});
      EXPECT_GE(fit.log_likelihood, last - 1e-13) << floor.value_or(0) << " " << steps;
      last = fit.log_likelihood;
    }
  }
  const Eigen::Matrix2d map{{0.5, 3}, {-1, 0.2}};
  const Eigen::Vector2d shift(10, -20);
  const auto fit = fit_mixture(2, positions, weights, 2);
  const auto other = fit_mixture(2, Eigen::MatrixXd((map * positions).colwise() + shift), weights, 2);
  for (std::size_t k = 0; k < 2; ++k) {
    const auto &p = fit.mixture.components()[k], &q = other.mixture.components()[k];
    EXPECT_LT((mean(q) - (map * mean(p) + shift)).norm(), 1e-8);
    EXPECT_LT((covariance(q) - map * covariance(p) * map.transpose()).norm(), 1e-7);
  }
}

TEST(FitMixturePlane, PointsOnALineAreRaisedToTheFloor) {
  const Eigen::MatrixXd positions = plane_grid(8).topRows(1).replicate(2, 1);
  const std::vector<double> weights(64, 1.0);
  const auto fit = fit_mixture(2, positions, weights, 2);
  for (const auto& c : fit.mixture.components()) EXPECT_EQ(c.rank(), 2);
}

}  // namespace
}  // namespace fenchel
