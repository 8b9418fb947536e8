#include "fenchel/distribution/euclidean/elliptical.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "fenchel/core/deformed.hpp"
#include "fenchel/distribution/euclidean/multivariate_geometry.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using Eigen::Matrix2d, Eigen::Matrix3d, Eigen::MatrixXd, Eigen::Vector2d, Eigen::Vector3d, Eigen::VectorXd;
using testing::kInf, testing::message_of;

const Matrix3d kCube = (Matrix3d() << 1, 0.3, -0.2, 0.3, 0.8, 0.1, -0.2, 0.1, 0.5).finished();
const Vector3d kCentre(0.4, -1, 2);
const double kAlphas[] = {0.8, 1, std::nextafter(1.0, 2.0), 1 + 1e-8, 4. / 3, 1.5, 2, 5, kInf};

/// A beta-Gaussian as an elliptical law: its generator is the deformed exponential of -q/2 in its own scale.
Elliptical same(const MultivariateBetaGaussian& p) {
  const double end = support(p).radius2;
  if (p.alpha() == kInf) return {[end](double q) { return q < end ? 0 : -kInf; }, p.mu(), p.Sigma()};
  const double am1 = p.alpha() - 1, scale = std::exp(am1 * p.constants().log_peak);
  return {[am1, scale](double q) { return log_deformed_exp(am1, -q / (2 * scale)); }, p.mu(), p.Sigma()};
}

/// g(q) = exp(-sqrt q) in R^3: all in closed form.
Elliptical laplace() {
  return {[](double q) { return -std::sqrt(q); }, Vector3d::Zero(), Matrix3d::Identity()};
}

TEST(Elliptical, BetaGaussiansAreEllipticalLaws) {
  for (const double alpha : kAlphas) {
    SCOPED_TRACE(alpha);
    const MultivariateBetaGaussian p(alpha, kCentre, kCube);
    const Elliptical q = same(p);
    for (const Vector3d& offset : {Vector3d(0, 0, 0), Vector3d(0.2, -0.1, 0.1), Vector3d(0.5, 0.3, -0.4)}) {
      const Vector3d t = kCentre + offset;
      EXPECT_NEAR(pdf(q, t), pdf(p, t), 2e-10 * pdf(p, t));
    }
    const MatrixXd expected = covariance(p);
    EXPECT_LT((covariance(q) - expected).cwiseAbs().maxCoeff(), 1e-8 * expected.maxCoeff());
    for (const double mass : {0.01, 0.5, 0.9}) {
      const double square = mahalanobis_contour(p, mass).radius2;
      EXPECT_NEAR(radial_cdf(q, square), mass, 1e-9);
      EXPECT_NEAR(mahalanobis_contour(q, mass).radius2, square, 1e-8 * square);
    }
    for (const double order : {1.0, 1.5, 2.0})
      EXPECT_NEAR(tsallis_entropy(q, order), tsallis_entropy(p, order), 1e-9);
    EXPECT_NEAR(entropy(q), entropy(p), 1e-9);
    if (alpha > 1.01) {
      EXPECT_NEAR(support(q).radius2, support(p).radius2, 1e-12 * support(p).radius2);
    }
  }
}

TEST(Elliptical, MarginalsAreThoseOfBetaGaussians) {
  for (const double alpha : {0.8, 1.0, 1.5, kInf}) {
    SCOPED_TRACE(alpha);
    const MultivariateBetaGaussian p(alpha, kCentre, kCube);
    const Elliptical q = same(p);
    for (const std::vector<index_t>& indices : {std::vector<index_t>{2}, std::vector<index_t>{2, 0}}) {
      const auto expected = marginal(p, indices);
      const Elliptical got = marginal(q, indices);
      EXPECT_EQ(got.mu(), expected.mu());
      for (const double step : {0.0, 0.1, 0.4}) {
        const VectorXd t = expected.mu().array() + step;
        EXPECT_NEAR(pdf(got, t), pdf(expected, t), 1e-9 * pdf(expected, t)) << step;
      }
    }
  }
}

TEST(Elliptical, TheEscortIsAPowerOfTheGenerator) {
  const MultivariateBetaGaussian p(1.5, kCentre, kCube);
  const Vector3d t = kCentre + Vector3d(0.2, -0.1, 0.1);
  EXPECT_NEAR(pdf(escort(same(p), 0.5), t), pdf(escort(p, 0.5), t), 1e-9);
}

/// int r^2 e^-r = 2, E r^2 = 12, and the marginal of a coordinate is (1 + |x|) e^-|x| / 4.
TEST(Elliptical, AnExponentialGeneratorHasClosedForms) {
  const Elliptical p = laplace();
  EXPECT_NEAR(pdf(p, Vector3d(1, 2, 2)), std::exp(-3.) / (8 * std::numbers::pi), 1e-12);
  EXPECT_NEAR(covariance(p)(1, 1), 4, 1e-9);
  EXPECT_EQ(covariance(p)(0, 1), 0);
  EXPECT_NEAR(entropy(p), 3 + std::log(8 * std::numbers::pi), 1e-9);
  EXPECT_NEAR(radial_cdf(p, 4), 1 - 5 * std::exp(-2.), 1e-10);
  const Elliptical first = marginal(p, std::vector<index_t>{0});
  for (const double x : {0.0, 0.3, 2.0, 10.0})
    EXPECT_NEAR(pdf(first, VectorXd::Constant(1, x)), (1 + x) * std::exp(-x) / 4,
                1e-9 * (1 + x) * std::exp(-x));
}

TEST(Elliptical, DrawsHaveTheRadiusAndEveryDirection) {
  const Elliptical p([](double q) { return -std::sqrt(q); }, kCentre, kCube);
  constexpr index_t kCount = 4000;
  const MatrixXd draws = sample(p, kCount, 7);
  EXPECT_EQ(draws, sample(p, kCount, 7));
  EXPECT_EQ(draws.leftCols(10), sample(p, 10, 7));
  std::vector<double> u;
  for (index_t k = 0; k < kCount; ++k) u.push_back(radial_cdf(p, p.quadratic().mahalanobis2(draws.col(k))));
  std::sort(u.begin(), u.end());
  double worst = 0;
  for (index_t k = 0; k < kCount; ++k)
    worst =
        std::max(worst, std::abs(u[static_cast<std::size_t>(k)] - (static_cast<double>(k) + 0.5) / kCount));
  EXPECT_LT(worst * std::sqrt(static_cast<double>(kCount)), 1.95);
  const MatrixXd centred = draws.colwise() - VectorXd(kCentre),
                 spread = centred * centred.transpose() / kCount;
  EXPECT_LT((spread - covariance(p)).cwiseAbs().maxCoeff(), 0.6);
  EXPECT_LT(centred.rowwise().mean().cwiseAbs().maxCoeff(), 0.15);
}

TEST(Elliptical, ASingularSigmaLivesOnItsImage) {
  const MatrixXd flat = Vector3d(1, 2, 2) * Vector3d(1, 2, 2).transpose();
  const Elliptical p([](double q) { return -q / 2; }, Vector3d::Zero(), flat);
  EXPECT_EQ(p.rank(), 1);
  EXPECT_EQ(log_pdf(p, Vector3d(1, 0, 0)), -kInf);
  EXPECT_NEAR(pdf(p, Vector3d(0.5, 1, 1)), std::exp(-0.125) / std::sqrt(2 * std::numbers::pi * 9), 1e-11);
}

TEST(Elliptical, RefusesWhatIsNoGenerator) {
  const auto expect = [](Elliptical::LogGenerator log_g, const std::string& said) {
    const std::string message = message_of<std::domain_error>(
        [&] { Elliptical(std::move(log_g), Vector2d::Zero(), Matrix2d::Identity()); });
    EXPECT_NE(message.find(said), std::string::npos) << message;
  };
  expect([](double q) { return -std::log(q); },
         "fenchel::elliptical: log_generator(0) must be finite, got inf");
  expect([](double q) { return q < 1 ? -1. : -q * std::cos(q); }, "must not exceed log_generator(");
  expect([](double) { return 0.; }, "log_generator must fall so fast that the mass is finite");
  expect([](double q) { return q > 0.5 ? std::nan("") : -q; }, "got nan");
  EXPECT_ANY_THROW(
      Elliptical([](double q) { return -std::log1p(q); }, Vector2d::Zero(), Matrix2d::Identity()));
  EXPECT_ANY_THROW(Elliptical([](double q) { return -q; }, Vector2d::Zero(), Matrix3d::Identity()));
  EXPECT_THROW((void)escort(laplace(), 0), std::domain_error);
  EXPECT_THROW((void)marginal(laplace(), std::vector<index_t>{3}), std::invalid_argument);
}

}  // namespace
}  // namespace fenchel
