#include "fenchel/score/multivariate_quadratic_score.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <cmath>

#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using Eigen::Matrix2d, Eigen::Matrix3d, Eigen::MatrixXd, Eigen::Vector2d, Eigen::Vector3d, Eigen::VectorXd;
using testing::kInf, testing::kNaN, testing::message_of;

const Matrix2d kScale = (Matrix2d() << 0.6, 0.4, 0.4, 0.48).finished();

TEST(MultivariateQuadraticScore, RegularScaleHasItsCholeskyFactor) {
  const MultivariateQuadraticScore f(Vector2d(1, -2), kScale);
  EXPECT_EQ(f.rank(), 2);
  EXPECT_EQ(f.factor()(0, 1), 0);
  EXPECT_LT((f.factor() * f.factor().transpose() - kScale).norm(), 1e-15);
  EXPECT_LT((f.whitening() * f.factor() - Matrix2d::Identity()).norm(), 1e-15);
  EXPECT_NEAR(f.log_det(), std::log(kScale.determinant()), 1e-15);
  const Vector2d x(0.3, 0.7), t = f.mu() + x;
  EXPECT_NEAR(f.mahalanobis2(t), x.dot(kScale.inverse() * x), 1e-14);
  EXPECT_NEAR(f(t), -x.dot(kScale.inverse() * x) / 2, 1e-14);
}

TEST(MultivariateQuadraticScore, UnitsThatDifferAreNotSingular) {
  const Vector2d units(1e-20, 1e20);
  const MultivariateQuadraticScore wide(Vector2d::Zero(), units.asDiagonal());
  EXPECT_EQ(wide.rank(), 2);
  EXPECT_NEAR(wide.log_det(), 0, 1e-14);
  EXPECT_NEAR(wide.mahalanobis2(Vector2d(1e-10, 1e10)), 2, 1e-14);
  const Matrix2d graded = units.asDiagonal() * kScale * units.asDiagonal();
  const MultivariateQuadraticScore f(Vector2d::Zero(), graded);
  EXPECT_EQ(f.rank(), 2);
  EXPECT_NEAR(f.log_det(), std::log(kScale.determinant()), 1e-14);
  const Vector2d x(0.3, 0.7);
  EXPECT_NEAR(f.mahalanobis2(units.asDiagonal() * x), x.dot(kScale.inverse() * x), 1e-13);
}

TEST(MultivariateQuadraticScore, SingularScaleIsInfiniteOffItsImage) {
  const Vector3d v(1, 2, -1), w(0, 1, 1);
  const Vector3d mu(5, 6, 7);
  const MultivariateQuadraticScore f(mu, v * v.transpose() + w * w.transpose());
  EXPECT_EQ(f.rank(), 2);
  EXPECT_LT((f.factor() * f.factor().transpose() - f.Sigma()).norm(), 1e-14);
  // v and w are a basis of the image with coordinates of unit scale; det(G) is of their Gram matrix.
  EXPECT_NEAR(f.log_det(), std::log(6.0 * 2 - 1), 1e-14);
  EXPECT_NEAR(f.mahalanobis2(mu + 0.3 * v - 0.5 * w), 0.09 + 0.25, 1e-14);
  EXPECT_EQ(f.mahalanobis2(mu), 0);
  const Vector3d normal = v.cross(w);
  EXPECT_EQ(f.mahalanobis2(mu + normal), kInf);
  EXPECT_EQ(f.mahalanobis2(mu + v + 1e-6 * normal), kInf);
  EXPECT_EQ(f(mu + normal), -kInf);

  const MultivariateQuadraticScore flat(Vector2d::Zero(), Vector2d(0, 4).asDiagonal());
  EXPECT_EQ(flat.rank(), 1);
  EXPECT_NEAR(flat.mahalanobis2(Vector2d(0, 3)), 9. / 4, 1e-15);
  EXPECT_EQ(flat.mahalanobis2(Vector2d(1e-3, 3)), kInf);
}

TEST(MultivariateQuadraticScore, UnitsThatDifferDoNotHurtASingularScale) {
  const Vector3d units(1e-10, 1e10, 1e-5);
  const Eigen::Matrix<double, 3, 2> basis = (MatrixXd(3, 2) << 1, 0.5, -0.25, 2, 0.75, 1).finished();
  const MatrixXd graded = units.asDiagonal() * basis;
  const MultivariateQuadraticScore f(Vector3d::Zero(), graded * graded.transpose());
  EXPECT_EQ(f.rank(), 2);
  EXPECT_NEAR(f.mahalanobis2(graded * Vector2d(0.3, 0.7)), 0.09 + 0.49, 1e-13);
  const auto minor = [&](int i, int j) { return graded(i, 0) * graded(j, 1) - graded(i, 1) * graded(j, 0); };
  const double gram = std::pow(minor(0, 1), 2) + std::pow(minor(0, 2), 2) + std::pow(minor(1, 2), 2);
  EXPECT_NEAR(f.log_det(), std::log(gram), 1e-12);
}

TEST(MultivariateQuadraticScore, ImageHoldsItsOwnPointsFarFromTheOrigin) {
  const Vector3d v(1, 1e-3, 1e3), mu(1e8, -3, 1e-8);
  const MultivariateQuadraticScore f(mu, v * v.transpose());
  for (const double s : {1e-3, 0.1, 1.0, 30.0}) {
    EXPECT_NEAR(f.mahalanobis2(mu + s * v), s * s, 1e-9 * s * s + 1e-8 * s) << s;
  }
}

TEST(MultivariateQuadraticScore, IsTotal) {
  const MultivariateQuadraticScore f(Vector2d(1, -2), kScale);
  EXPECT_TRUE(std::isnan(f.mahalanobis2(Vector2d(kNaN, 0))));
  EXPECT_EQ(f.mahalanobis2(Vector2d(kInf, -kInf)), kInf);
  EXPECT_EQ(f.mahalanobis2(Vector2d(1e300, -1e300)), kInf);
}

TEST(MultivariateQuadraticScore, RoundingIsSymmetrised) {
  Matrix2d scale = kScale;
  scale(1, 0) += 1e-14;
  const MultivariateQuadraticScore f(Vector2d::Zero(), scale);
  EXPECT_EQ(f.Sigma()(0, 1), f.Sigma()(1, 0));
}

TEST(MultivariateQuadraticScore, BadInputIsNamed) {
  const auto message = [](const VectorXd& mu, const MatrixXd& scale) {
    return message_of<std::domain_error>([&] { MultivariateQuadraticScore(mu, scale); });
  };
  const auto size_message = [](const VectorXd& mu, const MatrixXd& scale) {
    return message_of<std::invalid_argument>([&] { MultivariateQuadraticScore(mu, scale); });
  };
  const Vector2d zero(0, 0);
  EXPECT_EQ(size_message(VectorXd(), MatrixXd()),
            "fenchel::multivariate_quadratic_score: mu.size() must be positive, got 0");
  EXPECT_EQ(size_message(zero, MatrixXd::Ones(3, 2)),
            "fenchel::multivariate_quadratic_score: Sigma must be 2 x 2, got 3 x 2");
  EXPECT_EQ(message(Vector2d(0, kInf), kScale),
            "fenchel::multivariate_quadratic_score: mu[1] must be finite, got inf");
  EXPECT_EQ(message(zero, (Matrix2d() << 1, kNaN, 0, 1).finished()),
            "fenchel::multivariate_quadratic_score: Sigma[0, 1] must be finite, got nan");
  EXPECT_EQ(message(zero, (Matrix2d() << 1, 0.5, 0.25, 1).finished()),
            "fenchel::multivariate_quadratic_score: Sigma[1, 0] must equal Sigma[0, 1] = 0.5, got 0.25");
  EXPECT_EQ(message(zero, Matrix2d::Zero()),
            "fenchel::multivariate_quadratic_score: the largest eigenvalue of Sigma must be positive, got 0");
  EXPECT_EQ(
      message(zero, Vector2d(4, -3).asDiagonal()),
      "fenchel::multivariate_quadratic_score: the smallest eigenvalue of Sigma must not be negative, got -3");
  EXPECT_EQ(
      message(zero, (Matrix2d() << 0, 2, 2, 0).finished()).substr(0, 97),
      "fenchel::multivariate_quadratic_score: the smallest eigenvalue of Sigma must not be negative, got");
  EXPECT_EQ(message_of<std::invalid_argument>(
                [&] { return MultivariateQuadraticScore(zero, kScale).mahalanobis2(Vector3d(1, 2, 3)); }),
            "fenchel::multivariate_quadratic_score: t.size() must be the dimension 2, got 3");
}

}  // namespace
}  // namespace fenchel
