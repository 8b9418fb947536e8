#include "fenchel/attention/match_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fenchel/attention/positions.hpp"
#include "support/differences.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "support/normal_matrix.hpp"

namespace fenchel {
namespace {

using testing::message_of;
using testing::normal_matrix;
using testing::slope_of;

/// Where variances exist and Sigma stays within the range of numbers.
std::vector<double> alphas() {
  std::vector<double> found;
  for (const double alpha : testing::kAlphas) {
    if (alpha > .6 && alpha < 10) found.push_back(alpha);
  }
  return found;
}

Eigen::VectorXd softmax(const Eigen::VectorXd& z) {
  const Eigen::VectorXd e = (z.array() - z.maxCoeff()).exp();
  return e / e.sum();
}

Eigen::MatrixXd symmetric(index_t size, unsigned seed) {
  const Eigen::MatrixXd m = normal_matrix(size, size, seed);
  return m + m.transpose();
}

TEST(MatchWeights, HasTheMeanAndVarianceOfTheWeights) {
  const Eigen::VectorXd w = softmax(normal_matrix(9, 1, 1));
  const auto t = positions(9);
  const Eigen::Map<const Eigen::VectorXd> at(t.data(), 9);
  const double mu = w.dot(at), expected = w.dot((at.array() - mu).square().matrix());
  for (const double alpha : alphas()) {
    const BetaGaussian p = match_weights(alpha, w, 0), floored = match_weights(alpha, w);
    EXPECT_NEAR(mean(p), mu, 1e-15);
    EXPECT_NEAR(variance(p), expected, 1e-13 * expected) << alpha;
    EXPECT_NEAR(variance(floored), expected + 1. / (12 * 81), 1e-13 * expected) << alpha;
    const double sigma2 = BetaGaussian::from_variance(alpha, mu, expected + .5).sigma2();
    EXPECT_NEAR(match_weights(alpha, w, .5).sigma2(), sigma2, 1e-13 * sigma2) << alpha;
  }
}

TEST(MatchWeights, HasTheCovarianceOfTheWeights) {
  for (const index_t d : {1, 2, 3, 4}) {
    const index_t count = 12;
    const Eigen::VectorXd w = softmax(normal_matrix(count, 1, 2));
    const Eigen::MatrixXd t = normal_matrix(d, count, 3);
    const Eigen::VectorXd mu = t * w;
    const Eigen::MatrixXd centred = t.colwise() - mu;
    Eigen::MatrixXd expected = centred * w.asDiagonal() * centred.transpose();
    expected.diagonal().array() += .01;
    for (const double alpha : alphas()) {
      if (alpha <= static_cast<double>(d) / static_cast<double>(d + 2)) continue;
      const MultivariateBetaGaussian p = match_weights(alpha, w, t, .01);
      EXPECT_LE((mean(p) - mu).norm(), 1e-14);
      EXPECT_LE((covariance(p) - expected).norm(), 1e-12 * expected.norm()) << alpha << " " << d;
    }
  }
}

TEST(MatchWeights, EqualWeightsOfEveryLengthAreUniform) {
  for (const index_t length : {1, 2, 3, 10, 11, 1000}) {
    const BetaGaussian p =
        match_weights(2, Eigen::VectorXd::Constant(length, 1. / static_cast<double>(length)));
    EXPECT_NEAR(mean(p), .5, 1e-14) << length;
    EXPECT_NEAR(variance(p), 1. / 12, 1e-14) << length;
  }
  const auto p = match_weights(1, Eigen::VectorXd::Constant(49, 1. / 49), grid_positions(7, 7));
  EXPECT_LE((covariance(p) - Eigen::Matrix2d::Identity() / 12).norm(), 1e-14);
}

TEST(MatchWeights, OneWeightIsOneCell) {
  const BetaGaussian p = match_weights(2, Eigen::VectorXd::Unit(10, 3));
  EXPECT_NEAR(mean(p), .35, 1e-15);
  EXPECT_NEAR(variance(p), 1. / 1200, 1e-16);
}

TEST(MatchWeights, GradientsMatchDifferencesOnTheLine) {
  const index_t length = 8;
  const Eigen::VectorXd z = normal_matrix(length, 1, 4), direction = normal_matrix(length, 1, 5);
  const auto moved = [&](double x) { return softmax(z + x * direction); };
  for (const double alpha : alphas()) {
    const QuadraticGradient cotangent{.7, -1.3, .4};
    const auto loss = [&](double a, const Eigen::VectorXd& w) {
      const BetaGaussian p = match_weights(a, w);
      return cotangent.mu * p.mu() + cotangent.sigma2 * p.sigma2() + cotangent.alpha * a;
    };
    const WeightsGradient found = match_weights_vjp(alpha, moved(0), cotangent);
    const Eigen::VectorXd w = moved(0), d_w = w.cwiseProduct((direction.array() - w.dot(direction)).matrix());
    const double slope = slope_of([&](double x) { return loss(alpha, moved(x)); }, 0, 1e-3);
    EXPECT_NEAR(found.weights.dot(d_w), slope, 1e-9 * found.weights.norm()) << alpha;
    EXPECT_NEAR(found.weights.dot(w), 0, 1e-14 * found.weights.norm()) << alpha;
    const double along_alpha = slope_of([&](double a) { return loss(a, w); }, alpha, 1e-3);
    EXPECT_NEAR(found.alpha, along_alpha, 1e-9 * (1 + std::abs(along_alpha))) << alpha;
  }
}

TEST(MatchWeights, GradientsMatchDifferencesInSpace) {
  for (const index_t d : {1, 2, 3}) {
    const index_t count = 7;
    const Eigen::VectorXd z = normal_matrix(count, 1, 6), direction = normal_matrix(count, 1, 7);
    const Eigen::MatrixXd t = .3 * normal_matrix(d, count, 8);
    const auto moved = [&](double x) { return softmax(z + x * direction); };
    for (const double alpha : alphas()) {
      if (alpha <= static_cast<double>(d) / static_cast<double>(d + 2) + .01) continue;
      const MultivariateQuadraticGradient cotangent{normal_matrix(d, 1, 9), symmetric(d, 10), .4};
      const auto loss = [&](double a, const Eigen::VectorXd& w) {
        const MultivariateBetaGaussian p = match_weights(a, w, t, .02);
        return cotangent.mu.dot(p.mu()) + cotangent.Sigma.cwiseProduct(p.Sigma()).sum() + cotangent.alpha * a;
      };
      const Eigen::VectorXd w = moved(0),
                            d_w = w.cwiseProduct((direction.array() - w.dot(direction)).matrix());
      const WeightsGradient found = match_weights_vjp(alpha, w, t, cotangent, .02);
      const double slope = slope_of([&](double x) { return loss(alpha, moved(x)); }, 0, 1e-3);
      EXPECT_NEAR(found.weights.dot(d_w), slope, 1e-8 * found.weights.norm()) << alpha << " " << d;
      const double along_alpha = slope_of([&](double a) { return loss(a, w); }, alpha, 1e-3);
      EXPECT_NEAR(found.alpha, along_alpha, 1e-8 * (1 + std::abs(along_alpha))) << alpha << " " << d;
    }
  }
}

TEST(MatchWeights, SaysWhatIsWrong) {
  const Eigen::VectorXd w = Eigen::VectorXd::Constant(4, .25);
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)match_weights(1. / 3, w); }),
            "fenchel::match_weights: alpha must be finite and greater than 1/3, got 0.3333333333333333");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)match_weights(.5, w, grid_positions(2, 2)); }),
            "fenchel::match_weights: alpha must be finite and greater than 2/4, got 0.5");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)match_weights(testing::kInf, w); }),
            "fenchel::match_weights: alpha must be finite and greater than 1/3, got inf");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)match_weights(1e6, Eigen::VectorXd::Unit(4, 1)); }),
            "fenchel::match_weights: alpha must be smaller, since Sigma leaves the range of numbers at "
            "weights[0], got 1e+06");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)match_weights(2, w, -1); }),
            "fenchel::match_weights: floor must be finite and not negative, got -1");
  EXPECT_EQ(
      message_of<std::domain_error>([&] { (void)match_weights(2, Eigen::VectorXd::Unit(4, 1), 0); }),
      "fenchel::match_weights: floor must be larger, since the covariance of weights[0] is singular, got 0");
  EXPECT_EQ(
      message_of<std::domain_error>([&] { (void)match_weights(2, w, grid_positions(1, 4), 0); }),
      "fenchel::match_weights: floor must be larger, since the covariance of weights[0] is singular, got 0");
  Eigen::MatrixXd oblique(2, 4);
  oblique << .1, .2, .37, .9, .3, .6, 1.11, 2.7;
  EXPECT_EQ(
      message_of<std::domain_error>([&] { (void)match_weights(2, w, oblique, 0); }),
      "fenchel::match_weights: floor must be larger, since the covariance of weights[0] is singular, got 0");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { (void)match_weights(2, w, grid_positions(2, 3)); }),
            "fenchel::match_weights: points.rows must equal weights.cols = 4, got 6");
  EXPECT_EQ(
      message_of<std::invalid_argument>([&] {
        (void)match_weights_vjp(2, w, grid_positions(2, 2), {normal_matrix(3, 1, 1), symmetric(2, 1), 0});
      }),
      "fenchel::match_weights_vjp: cotangent.mu.rows() must be 2, got 3");
}

}  // namespace
}  // namespace fenchel
