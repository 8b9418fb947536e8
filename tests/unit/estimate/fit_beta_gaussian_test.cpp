#include "fenchel/estimate/fit/beta_gaussian.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <string>
#include <vector>

#include "fenchel/loss/quadratic.hpp"
#include "support/differences.hpp"
#include "support/grids.hpp"
#include "support/three_points.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::moments_with, testing::slope_of;

TEST(FitBetaGaussian, FindsTheMemberWithTheseMoments) {
  for (const double alpha : {0.35, 0.5, 0.7, 0.9, 1 - 1e-9, std::nextafter(1., 0.), 1.,
                             std::nextafter(1., 2.), 1 + 1e-8, 4. / 3, 1.5, 2., 5., 1e6}) {
    const BetaGaussian p(alpha, -1.3, 2.5);
    const auto fit = fit_beta_gaussian(alpha, moments_with(-1.3, variance(p), 2));
    const double tolerance = 4e-15 * (1 + alpha);
    EXPECT_EQ(fit.distribution.alpha(), alpha);
    EXPECT_NEAR(fit.distribution.mu(), -1.3, 1e-15 * (1 + standard_deviation(p))) << alpha;
    EXPECT_NEAR(fit.distribution.sigma2() / 2.5, 1, tolerance) << alpha;
    EXPECT_EQ(fit.parameters, Eigen::Vector2d(fit.distribution.mu(), fit.distribution.sigma2()));
    EXPECT_EQ(fit.names, (std::vector<std::string>{"mu", "sigma2"}));
    EXPECT_DOUBLE_EQ(fit.weight, 100);
  }
}

TEST(FitBetaGaussian, EstimatesAlphaFromTheKurtosis) {
  for (const double alpha : {0.62, 0.7, 0.9, 1 - 1e-9, 1., 1 + 1e-8, 4. / 3, 1.5, 2., 5., 50.}) {
    const BetaGaussian p(alpha, 0.4, 1.5);
    const auto fit = fit_beta_gaussian(moments_with(0.4, variance(p), kurtosis(p)));
    const double far = 5 * alpha - 3, tolerance = 1e-15 * (1 + far * far + 1 / far);
    EXPECT_NEAR(fit.distribution.alpha(), alpha, tolerance);
    EXPECT_NEAR(fit.distribution.sigma2() / 1.5, 1, 10 * tolerance) << alpha;
    EXPECT_EQ(fit.names, (std::vector<std::string>{"alpha", "mu", "sigma2"}));
    EXPECT_EQ(fit.parameters,
              Eigen::Vector3d(fit.distribution.alpha(), fit.distribution.mu(), fit.distribution.sigma2()));
  }
}

TEST(FitUniform, HasTheMomentsOfTheData) {
  const LineMoments moments = moments_with(2, 0.75, 2, 50);
  const auto fit = fit_uniform(moments);
  EXPECT_EQ(fit.names, (std::vector<std::string>{"lower", "upper"}));
  EXPECT_NEAR(fit.parameters[0], 0.5, 1e-15);
  EXPECT_NEAR(fit.parameters[1], 3.5, 1e-15);
  EXPECT_NEAR(mean(fit.distribution), 2, 1e-15);
  EXPECT_NEAR(variance(fit.distribution), 0.75, 1e-15);
  EXPECT_EQ(fit.loss, 0);
  EXPECT_EQ(fit_uniform(moments_with(2, 0.01, 2, 50)).loss, -kInf);  // shorter than 1
  EXPECT_EQ(fit_beta_gaussian(kInf, moments).parameters, fit.parameters);
  // Of many fits to draws from a uniform distribution.
  const BetaGaussian p = BetaGaussian::uniform(-1, 3);
  constexpr int kFits = 4000, kDraws = 50;
  Eigen::MatrixXd ends(2, kFits);
  for (int i = 0; i < kFits; ++i)
    ends.col(i) = fit_uniform(LineMoments::of(sample(p, kDraws, static_cast<std::uint64_t>(i)))).parameters;
  const Eigen::MatrixXd offsets = ends.colwise() - ends.rowwise().mean();
  const Eigen::MatrixXd spread = offsets * offsets.transpose() / kFits;
  const Eigen::MatrixXd expected =
      fit_uniform(LineMoments::of(sample(p, 100'000, 1))).covariance * 100'000 / kDraws;
  EXPECT_LT((spread - expected).cwiseAbs().maxCoeff(), 0.06 * expected(0, 0)) << spread << "\n" << expected;
}

TEST(FitBetaGaussian, KurtosesUpToTheUniformsGiveTheUniform) {
  for (const double kurtosis : {1., 1.5, 1.8, 1.8 + 1e-8}) {
    const auto fit = fit_beta_gaussian(moments_with(2, 4. / 3, kurtosis, 50));
    EXPECT_EQ(fit.distribution.alpha(), kInf);
    EXPECT_NEAR(support(fit.distribution).lower(), 0, 1e-14);
    EXPECT_NEAR(support(fit.distribution).upper(), 4, 1e-14);
    EXPECT_NEAR(fit.parameters[2], 16, 1e-13);
    EXPECT_EQ(fit.loss, 0);
    const Eigen::VectorXd errors = fit.standard_errors();
    EXPECT_TRUE(std::isnan(errors[0]));
    EXPECT_NEAR(errors[1], std::sqrt(4. / 3 / 50), 1e-14);
    EXPECT_NEAR(errors[2], 16 * std::sqrt(0.8 / 50), 1e-13);
  }
  EXPECT_LT(fit_beta_gaussian(moments_with(2, 4. / 3, 1.81, 50)).distribution.alpha(), 100);
}

/// J H^-1 C H^-1 J^T / n, H the Hessian of the loss in theta = (mu / sigma2, -1 / (2 sigma2)), C the
/// covariance of (t, t^2), J the derivative of (mu, sigma2) in theta.
Eigen::Matrix2d sandwich(const BetaGaussian& p, double weight) {
  const auto h = fenchel_young_hessian(Tsallis(p.alpha()), score(p), Line{});
  const Eigen::Matrix2d hessian{{h[0][0], h[0][1]}, {h[1][0], h[1][1]}};
  const double mu = p.mu(), v = variance(p), s = p.sigma2(), cross = 2 * mu * v;
  const Eigen::Matrix2d c{{v, cross}, {cross, v * v * (kurtosis(p) - 1) + 4 * mu * mu * v}};
  const Eigen::Matrix2d jacobian{{s, 2 * mu * s}, {0, 2 * s * s}};
  const Eigen::Matrix2d map = jacobian * hessian.inverse();
  return map * c * map.transpose() / weight;
}

TEST(FitBetaGaussian, TheCovarianceIsThatOfTheLoss) {
  for (const double alpha : {0.65, 0.9, 1., 1.5, 2., 5., 40.}) {
    const auto fit = fit_beta_gaussian(alpha, moments_with(0.3, 0.2, 2, 70));
    const Eigen::Matrix2d expected = sandwich(fit.distribution, 70);
    const Eigen::Vector2d sizes = expected.diagonal().cwiseSqrt();
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j)
        EXPECT_NEAR(fit.covariance(i, j), expected(i, j), 1e-10 * sizes[i] * sizes[j]) << alpha;
    }
  }
}

/// By the influence of moments to the eighth on variance and kurtosis, and differences of the fit.
TEST(FitBetaGaussian, TheCovarianceWithAlphaIsThatOfVarianceAndKurtosis) {
  for (const double alpha : {0.8, 0.95, 1., 1.5, 2., 5.}) {
    const BetaGaussian p(alpha, 0.4, 1.5);
    const double v = variance(p), k = kurtosis(p), weight = 60;
    const double m6 = central_moment(p, 6) / (v * v * v), m8 = central_moment(p, 8) / (v * v * v * v);
    Eigen::Matrix3d c = Eigen::Matrix3d::Zero();  // of mean, variance, kurtosis
    c(0, 0) = v;
    c(1, 1) = v * v * (k - 1);
    c(1, 2) = c(2, 1) = v * (m6 - k - 2 * k * (k - 1));
    c(2, 2) = m8 - 4 * k * m6 + 4 * k * k * k - k * k;
    Eigen::Matrix3d jacobian = Eigen::Matrix3d::Zero();
    jacobian(1, 0) = 1;
    for (const int i : {0, 2}) {
      const auto at = [&](double variance, double kurtosis) {
        return fit_beta_gaussian(moments_with(0.4, variance, kurtosis)).parameters[i];
      };
      jacobian(i, 1) = slope_of([&](double x) { return at(x, k); }, v, 1e-3 * v);
      jacobian(i, 2) = slope_of([&](double x) { return at(v, x); }, k, 1e-4 * (k - 1.8));
    }
    const auto fit = fit_beta_gaussian(moments_with(0.4, v, k, weight));
    const Eigen::Matrix3d expected = jacobian * c * jacobian.transpose() / weight;
    const Eigen::Vector3d sizes = expected.diagonal().cwiseSqrt();
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j)
        EXPECT_NEAR(fit.covariance(i, j), expected(i, j), 1e-7 * sizes[i] * sizes[j]) << alpha << i << j;
    }
  }
}

TEST(FitBetaGaussian, ErrorsAreInfiniteWhereMomentsAre) {
  const auto given = fit_beta_gaussian(0.55, moments_with(0, 2, 2, 8));
  EXPECT_EQ(given.standard_errors(), Eigen::Vector2d(0.5, kInf));
  EXPECT_EQ(given.covariance(0, 1), 0);
  EXPECT_TRUE(std::isnan(fit_beta_gaussian(0.5, moments_with(0, 2, 2)).covariance(0, 1)));
  const BetaGaussian heavy(0.75, 0, 1);
  const auto estimated = fit_beta_gaussian(moments_with(0, 2, kurtosis(heavy), 8));
  EXPECT_EQ(estimated.standard_errors(), Eigen::Vector3d(kInf, 0.5, kInf));
}

}  // namespace
}  // namespace fenchel
