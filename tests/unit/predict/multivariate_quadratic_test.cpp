#include "fenchel/predict/multivariate_quadratic.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fenchel/distribution/euclidean/multivariate_expectation.hpp"
#include "fenchel/domain/line.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using Eigen::Matrix2d, Eigen::Matrix3d, Eigen::MatrixXd, Eigen::Vector2d, Eigen::Vector3d, Eigen::VectorXd;
using testing::kInf, testing::message_of;

static_assert(Predictable<Tsallis, MultivariateQuadraticScore, Euclidean>);
static_assert(Predictable<Shannon, MultivariateQuadraticScore, Euclidean>);
static_assert(!Predictable<Tsallis, MultivariateQuadraticScore, Line>);

const Matrix2d kScale = (Matrix2d() << 0.6, 0.4, 0.4, 0.48).finished();
const MultivariateQuadraticScore kScore(Vector2d(0.1, -0.2), kScale);

/// E_q[f] - T Omega(q), for q in the family.
double objective(const Tsallis& omega, const MultivariateBetaGaussian& q) {
  const Vector2d offset = q.mu() - kScore.mu();
  const MatrixXd second = covariance(q) + offset * offset.transpose();
  const MatrixXd& whitening = kScore.whitening();
  return -(whitening * second * whitening.transpose()).trace() / 2 +
         omega.temperature() * tsallis_entropy(q, omega.alpha());
}

TEST(PredictMultivariateQuadratic, IsTheMaximum) {
  for (const double alpha : {0.6, 0.9, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4. / 3, 1.5, 2.0, 5.0}) {
    for (const double temperature : {0.3, 1.0, 2.0}) {
      SCOPED_TRACE(::testing::Message() << "alpha=" << alpha << " T=" << temperature);
      const Tsallis omega(alpha, temperature);
      const MultivariateBetaGaussian p = predict(omega, kScore, Euclidean(2));
      const double best = objective(omega, p);
      const Matrix2d turn = (Matrix2d() << 0.1, -0.05, -0.05, 0.2).finished();
      for (const double step : {-0.1, 0.1}) {
        EXPECT_GT(best, objective(omega, {alpha, p.mu() + Vector2d(step, step), p.Sigma()}));
        EXPECT_GT(best, objective(omega, {alpha, p.mu(), (1 + step) * p.Sigma()}));
        EXPECT_GT(best, objective(omega, {alpha, p.mu(), p.Sigma() + step * turn}));
        EXPECT_GT(best, objective(omega, escort(p, 1 + step)));
      }
    }
  }
}

/// p = exp_{2-alpha}(f / T - A): log_{2-alpha} p - f / T is constant on the support.
TEST(PredictMultivariateQuadratic, IsTheDeformedExponentialOfTheScore) {
  for (const double temperature : {0.3, 1.0, 2.0}) {
    const MultivariateBetaGaussian p = predict(Tsallis(1.5, temperature), kScore, Euclidean(2));
    for (const Vector2d& t : {Vector2d(0.1, -0.2), Vector2d(0.2, 0.1), Vector2d(-0.3, -0.3)}) {
      EXPECT_NEAR(2 * (std::sqrt(pdf(p, t)) - 1), kScore(t) / temperature - p.constants().normalizer, 1e-13);
    }
  }
}

TEST(PredictMultivariateQuadratic, ShannonIsTheGaussianAndInfinityTheUniform) {
  const MultivariateBetaGaussian p = predict(Shannon(0.5), kScore, Euclidean(2));
  EXPECT_EQ(p.alpha(), 1);
  EXPECT_TRUE(covariance(p).isApprox(kScale / 2, 1e-15));
  EXPECT_EQ(entropy(predict(Tsallis(kInf), kScore, Euclidean(2))), 0);
}

TEST(PredictMultivariateQuadratic, BadInputIsNamed) {
  EXPECT_EQ(message_of<std::invalid_argument>([] { (void)predict(Tsallis(2), kScore, Euclidean(3)); }),
            "fenchel::predict: f.dimension() must be the domain's dimension 3, got 2");
  EXPECT_EQ(message_of<std::domain_error>([] { (void)predict(Tsallis(0.5), kScore, Euclidean(2)); }),
            "fenchel::predict: alpha must be greater than 2/4 for a score of rank 2, got 0.5");
  const MultivariateQuadraticScore flat(Vector3d::Zero(), Vector3d(1, 0, 0).asDiagonal());
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)predict(Tsallis(0.3), flat, Euclidean(3)); }),
            "fenchel::predict: alpha must be greater than 1/3 for a score of rank 1, got 0.3");
  EXPECT_EQ(predict(Tsallis(0.5), flat, Euclidean(3)).rank(), 1);
}

}  // namespace
}  // namespace fenchel
