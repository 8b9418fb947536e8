#include <gtest/gtest.h>

#include <cmath>

#include "fenchel/fenchel.hpp"
#include "support/grids.hpp"

/// Laws that compare members of a family: equivariance, limits in alpha, and which loss is zero.
namespace fenchel {
namespace {

using testing::kInf;

constexpr double kAlphas[] = {0.8, 1 - 1e-8, 1, 1 + 0x1p-52, 1 + 1e-8, 4. / 3, 1.5, 2, 5, 1e6};

/// Both densities agree at the quantiles of p, t there being t + shift here.
template <class P, class Q>
void expect_shifted(const P& p, const Q& q, double shift, double tolerance) {
  for (const double u : {0.01, 0.2, 0.5, 0.7, 0.99}) {
    const double t = quantile(p, u);
    EXPECT_NEAR(pdf(q, t + shift), pdf(p, t), tolerance * pdf(p, mode(p))) << "u=" << u;
    EXPECT_NEAR(quantile(q, u), t + shift, tolerance * (std::abs(shift) + std::abs(t))) << "u=" << u;
  }
}

TEST(Equivariance, ATranslationOfTheScoreTranslatesThePrediction) {  // [SCD22, Section 2.2]
  constexpr double kShift = 2.5;
  for (const double alpha : kAlphas) {
    SCOPED_TRACE(::testing::Message() << "alpha=" << alpha);
    expect_shifted(BetaGaussian(alpha, 0.3, 0.7), BetaGaussian(alpha, 0.3 + kShift, 0.7), kShift, 1e-11);
    expect_shifted(BetaLaplace(alpha, 0.3, 0.7), BetaLaplace(alpha, 0.3 + kShift, 0.7), kShift, 1e-11);
  }
  expect_shifted(TruncatedGaussian(2, 0.3, 0.7), TruncatedGaussian(2, 0.3 + kShift, 0.7), kShift, 1e-11);
  const auto waves = [](double t) { return 2 * std::cos(2 * t) - t * t / 8; };
  const auto moved = [&](double t) { return waves(t - kShift) + 17; };  // a constant changes nothing
  expect_shifted(predict(Tsallis(1.5), FunctionScore(waves), Line()),
                 predict(Tsallis(1.5), FunctionScore(moved), Line()), kShift, 1e-8);
}

TEST(Equivariance, ARotationOfTheScoreRotatesThePrediction) {
  const Eigen::Vector2d mu(0.3, -1), t(0.5, -0.8);
  const Eigen::Matrix2d scale{{0.6, 0.4}, {0.4, 0.48}};
  const Eigen::Matrix2d turn{{0.6, -0.8}, {0.8, 0.6}}, mirror{{0, 1}, {1, 0}};
  for (const double alpha : kAlphas) {
    const MultivariateBetaGaussian p(alpha, mu, scale);
    for (const Eigen::Matrix2d& map : {turn, mirror}) {
      const MultivariateBetaGaussian q(alpha, map * mu, map * scale * map.transpose());
      EXPECT_NEAR(log_pdf(q, map * t), log_pdf(p, t), 1e-12) << alpha;
    }
  }
}

TEST(Limits, AlphaOneIsApproachedFromBothSides) {
  constexpr double kStep = 1e-7;
  for (const double side : {-kStep, kStep}) {
    for (const double t : {-2.0, 0.1, 1.7, 5.0}) {
      const double slack = 1000 * kStep;  // the derivative in alpha grows like t^4
      EXPECT_NEAR(log_pdf(BetaGaussian(1 + side, 0.2, 0.9), t), log_pdf(BetaGaussian(1, 0.2, 0.9), t), slack);
      EXPECT_NEAR(log_survival(BetaGaussian(1 + side, 0.2, 0.9), t),
                  log_survival(BetaGaussian(1, 0.2, 0.9), t), slack);
      EXPECT_NEAR(log_pdf(BetaLaplace(1 + side, 0.2, 0.9), t), log_pdf(BetaLaplace(1, 0.2, 0.9), t), slack);
    }
    if (side < 0) continue;  // the integer families begin at 1
    for (const index_t k : {0, 3, 9}) {
      EXPECT_NEAR(pmf(SparsePoisson(1 + side, 4), k), pmf(SparsePoisson(1, 4), k), kStep);
      EXPECT_NEAR(pmf(SparseIntegerGaussian(1 + side, 3.3, 4), k), pmf(SparseIntegerGaussian(1, 3.3, 4), k),
                  kStep);
    }
  }
}

TEST(Limits, InfiniteAlphaIsApproached) {
  for (const double u : {0.1, 0.5, 0.8}) {
    EXPECT_NEAR(quantile(BetaGaussian(1e9, 0.2, 3), u), quantile(BetaGaussian(kInf, 0.2, 3), u), 1e-7);
    EXPECT_NEAR(quantile(BetaLaplace(1e9, 0.2, 3), u), quantile(BetaLaplace(kInf, 0.2, 3), u), 1e-7);
  }
  EXPECT_NEAR(pmf(SparsePoisson(1e9, 4.5), 4), pmf(SparsePoisson(kInf, 4.5), 4), 1e-7);
}

TEST(ZeroLoss, IsAtThePredictionAlone) {  // [SCD22, Section 3.1]
  for (const double alpha : kAlphas) {
    const Tsallis omega(alpha);
    SCOPED_TRACE(::testing::Message() << "alpha=" << alpha);
    const QuadraticScore quadratic(0.3, 0.7);
    EXPECT_EQ(fenchel_young(omega, quadratic, predict(omega, quadratic, Line())).value, 0);
    EXPECT_GT(fenchel_young(omega, quadratic, BetaGaussian(alpha, 0.3, 0.71)).value, 0);
    EXPECT_GT(fenchel_young(omega, quadratic, BetaGaussian(alpha, 0.31, 0.7)).value, 0);
    const AbsoluteScore absolute(0.3, 0.7);
    EXPECT_NEAR(fenchel_young(omega, absolute, predict(omega, absolute, Line())).value, 0, 1e-14);
    EXPECT_GT(fenchel_young(omega, absolute, BetaLaplace(alpha, 0.31, 0.7)).value, 0);
    const MultivariateQuadraticScore plane(Eigen::Vector2d(0.3, 0), Eigen::Matrix2d{{0.6, 0.4}, {0.4, 0.48}});
    EXPECT_EQ(fenchel_young(omega, plane, predict(omega, plane, Euclidean(2))).value, 0);
    EXPECT_GT(
        fenchel_young(omega, plane, MultivariateBetaGaussian(alpha, plane.mu(), 1.01 * plane.Sigma())).value,
        0);
    if (alpha < 1) continue;
    const PoissonScore counts(3);
    EXPECT_EQ(fenchel_young(omega, counts, Naturals(), predict(omega, counts, Naturals())).value, 0);
    EXPECT_GT(fenchel_young(omega, counts, Naturals(), SparsePoisson(alpha, 3.1)).value, 0);
  }
  const ScaledGaussianScore scaled(2, 0.3, 0.7);
  EXPECT_EQ(fenchel_young(Tsallis(2), scaled, predict(Tsallis(2), scaled, Line())).value, 0);
  EXPECT_GT(fenchel_young(Tsallis(2), scaled, TruncatedGaussian(2, 0.31, 0.7)).value, 0);
}

/// Every prediction knows the order of its regularizer.
TEST(FamilyLaws, EntropyIsOfItsOwnOrder) {
  const auto own = [](const auto& p, double order) {
    EXPECT_EQ(tsallis_entropy(p), tsallis_entropy(p, order));
  };
  own(BetaGaussian(1.5), 1.5);
  own(BetaLaplace(1.25), 1.25);
  own(SparsePoisson(1.5), 1.5);
  own(SparseIntegerGaussian(3), 3);
  own(MultivariateBetaGaussian(1.5, Eigen::Vector2d::Zero(), Eigen::Matrix2d::Identity()), 1.5);
  own(TruncatedGaussian(), 2);
  own(CappedParabola(), 2);
  own(SmoothTriangular(), 2);
}

}  // namespace
}  // namespace fenchel
