#include "fenchel/distribution/euclidean/multivariate_expectation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "distribution/euclidean/sphere_rule.hpp"
#include "fenchel/core/error.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;
using testing::kInf, testing::kNaN, testing::message_of;

MatrixXd mixing(index_t n) {
  MatrixXd factor = MatrixXd::Identity(n, n);
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < i; ++j) factor(i, j) = static_cast<double>((3 * i + 5 * j) % 7 - 3) / 8;
  }
  return factor;
}

MultivariateBetaGaussian example(index_t n, double alpha) {
  const MatrixXd factor = mixing(n);
  return {alpha, VectorXd::LinSpaced(n, -0.5, 0.5), factor * factor.transpose()};
}

TEST(SphereRule, IsExactForPolynomials) {
  for (index_t n = 2; n <= 6; ++n) {
    const auto rule = detail::sphere_rule(n, 4);
    EXPECT_EQ(static_cast<double>(rule.weights.size()), detail::sphere_rule_size(n, 4));
    EXPECT_NEAR(rule.weights.sum(), 1, 1e-14);
    const double size = static_cast<double>(n);
    for (index_t i = 0; i < n; ++i) {
      const Eigen::ArrayXd x = rule.points.row(i), y = rule.points.row((i + 1) % n);
      const Eigen::ArrayXd w = rule.weights;
      EXPECT_NEAR((w * x.square()).sum(), 1 / size, 1e-14);
      EXPECT_NEAR((w * x.square() * y.square()).sum(), 1 / (size * (size + 2)), 1e-14);
      EXPECT_NEAR((w * x.pow(6)).sum(), 15 / (size * (size + 2) * (size + 4)), 1e-14);
      EXPECT_NEAR((w * x * y).sum(), 0, 1e-14);
      EXPECT_NEAR((w * x.cube()).sum(), 0, 1e-14);
    }
    EXPECT_LT((rule.points.colwise().norm().array() - 1).abs().maxCoeff(), 1e-14);
  }
}

TEST(MultivariateExpectation, OfTheGaussianIsKnown) {
  for (index_t n = 1; n <= 4; ++n) {
    const MultivariateBetaGaussian p = example(n, 1);
    const VectorXd k = VectorXd::LinSpaced(n, 0.7, -0.4);
    const double spread = k.dot(p.Sigma() * k), shift = k.dot(p.mu());
    EXPECT_NEAR(expectation(p, [&](const VectorXd& t) { return std::exp(k.dot(t)); }),
                std::exp(shift + spread / 2), 1e-10 * std::exp(shift + spread / 2));
    EXPECT_NEAR(expectation(
                    p, [&](const VectorXd& t) { return std::cos(k.dot(t)); }, 1e-12),
                std::cos(shift) * std::exp(-spread / 2), 1e-12);
  }
}

TEST(MultivariateExpectation, MomentsAtEveryAlpha) {
  for (index_t n = 1; n <= 6; ++n) {
    for (const double alpha : {0.9, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.5, 2.0, 5.0, 1e6, kInf}) {
      if (n > 4 && alpha != 1.5) continue;
      SCOPED_TRACE(::testing::Message() << "n=" << n << " alpha=" << alpha);
      const MultivariateBetaGaussian p = example(n, alpha);
      const index_t last = n - 1;
      EXPECT_NEAR(expectation(
                      p, [&](const VectorXd& t) { return t[last]; }, 1e-9),
                  p.mu()[last], 1e-8);
      EXPECT_NEAR(expectation(
                      p, [&](const VectorXd& t) { return t[0] * t[last]; }, 1e-9),
                  covariance(p)(0, last) + p.mu()[0] * p.mu()[last], 1e-8 * (1 + covariance(p).trace()));
    }
  }
}

TEST(MultivariateExpectation, ConstantsOfEitherSignAndZero) {
  const MultivariateBetaGaussian p = example(3, 2);
  EXPECT_NEAR(expectation(p, [](const VectorXd&) { return -2; }), -2, 1e-10);
  EXPECT_EQ(expectation(p, [](const VectorXd&) { return 0; }), 0);
  EXPECT_NEAR(expectation(p, [&](const VectorXd& t) { return std::sin(t[0] - p.mu()[0]); }), 0, 1e-10);
}

TEST(MultivariateExpectation, SaysWhenItFails) {
  const MultivariateBetaGaussian heavy = example(2, 0.45);
  const auto variance = [&] { (void)expectation(heavy, [](const VectorXd& t) { return t.squaredNorm(); }); };
  const std::string not_reached =
      "fenchel::expectation: the estimated relative error must reach the accuracy (take the mean over "
      "samples "
      "where f is rough or the rank high), got ";
  EXPECT_EQ(message_of<ConvergenceError>(variance), not_reached + "inf");
  const auto many = [] { (void)expectation(example(12, 2), [](const VectorXd&) { return 1.0; }); };
  EXPECT_EQ(message_of<ConvergenceError>(many), not_reached + "1");
  EXPECT_EQ(message_of<std::domain_error>(
                [] { (void)expectation(example(2, 2), [](const VectorXd&) { return kNaN; }); }),
            "fenchel::expectation: f(t) must be a number, got nan");
  EXPECT_EQ(message_of<std::domain_error>([] {
              (void)expectation(
                  example(2, 2), [](const VectorXd&) { return 1; }, 0);
            }),
            "fenchel::expectation: accuracy must be positive and finite, got 0");
}

}  // namespace
}  // namespace fenchel
