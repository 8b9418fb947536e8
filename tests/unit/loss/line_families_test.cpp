#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/distribution/line/empirical.hpp"
#include "fenchel/loss/absolute.hpp"
#include "fenchel/loss/line_target.hpp"
#include "fenchel/loss/location_scale.hpp"
#include "fenchel/loss/scaled_gaussian.hpp"
#include "support/differences.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"
#include "unit/distribution/location_scale_examples.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::location_scale_example;
using testing::slope_of;

const std::vector<double> kValues = {-0.7, 0.1, 0.55, 0.55, 1.9};

/// Both losses and their gradients for each kind of target.
template <class Check>
void for_each_target(Check check) {
  check(Dirac{1.2});
  check(Empirical(kValues));
  check(BetaLaplace(1.5, 0.2, 0.4));
  check(BetaLaplace::laplace(-0.1, 0.3));
  check(TruncatedGaussian(3, 0.25, 0.5));
}

TEST(AbsoluteLoss, GradientsAgreeWithDifferences) {
  for (const double alpha : {0.8, 1.0, 1 + 1e-8, 4. / 3, 1.5, 2.0, 5.0}) {
    for (const double temperature : {1.0, 1.7}) {
      SCOPED_TRACE(alpha);
      for_each_target([&](const auto& q) {
        const AbsoluteScore f(0.3, 0.9);
        const Tsallis omega(alpha, temperature);
        const auto loss = cross_omega(omega, f, q);
        const auto in_mu = [&](double mu) { return cross_omega(omega, AbsoluteScore(mu, 0.9), q).value; };
        const auto in_b = [&](double b) { return cross_omega(omega, AbsoluteScore(0.3, b), q).value; };
        const auto in_alpha = [&](double a) { return cross_omega(Tsallis(a, temperature), f, q).value; };
        EXPECT_NEAR(loss.gradient.mu, slope_of(in_mu, 0.3, 1e-3), 1e-6);
        EXPECT_NEAR(loss.gradient.b, slope_of(in_b, 0.9, 1e-3), 1e-8);
        EXPECT_NEAR(loss.gradient.alpha, slope_of(in_alpha, alpha, 1e-3),
                    1e-8 * (1 + std::abs(loss.gradient.alpha)));
        const auto whole = fenchel_young(omega, f, q);
        EXPECT_EQ(whole.gradient.mu, loss.gradient.mu);
        EXPECT_EQ(whole.gradient.b, loss.gradient.b);
        if (std::isinf(whole.value)) {
          EXPECT_TRUE(std::isnan(whole.gradient.alpha));
        } else {
          const auto all = [&](double a) { return fenchel_young(Tsallis(a, temperature), f, q).value; };
          EXPECT_NEAR(whole.gradient.alpha, slope_of(all, alpha, 1e-3),
                      1e-7 * (1 + std::abs(whole.gradient.alpha)));
          EXPECT_NEAR(whole.value, loss.value - temperature * tsallis_entropy(q, alpha), 1e-10);
          EXPECT_GE(whole.value, 0);
        }
      });
    }
  }
}

TEST(AbsoluteLoss, AlphaDerivativeGolden) {
  for (auto& block : testing::golden_blocks("beta_laplace.txt")) {
    const double alpha = block["case"][0], b = block["case"][1], want = block["conjugate"][1];
    const double got = cross_omega(Tsallis(alpha), AbsoluteScore(0, b), Line(), Dirac{0}).gradient.alpha;
    EXPECT_NEAR(got, want, 1e-11 * std::abs(want) + 1e-13) << alpha << " " << b;
  }
}

TEST(AbsoluteLoss, ZeroAtThePredictionAlone) {
  for (const double alpha :
       {0.501, 0.6, 0.9, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4. / 3, 1.5, 2.0, 5.0, 1e6, kInf}) {
    for (const double temperature : {1.0, 3.0}) {
      const Tsallis omega(alpha, temperature);
      const AbsoluteScore f(-0.4, 0.7);
      const BetaLaplace p = predict(omega, f, Line());
      const auto loss = fenchel_young(omega, f, p);
      EXPECT_NEAR(loss.value, 0, 1e-16) << alpha;
      EXPECT_GE(loss.value, 0) << alpha;
      EXPECT_NEAR(loss.gradient.mu, 0, 1e-14) << alpha;
      EXPECT_NEAR(loss.gradient.b, 0, 1e-14) << alpha;
      EXPECT_NEAR(loss.gradient.alpha, 0, 1e-14) << alpha;
    }
  }
}

/// Near the prediction the loss is the square of the distance: half its Hessian times the step squared.
TEST(AbsoluteLoss, DoesNotCancelNearThePrediction) {
  for (const double alpha : {0.8, 1.0, 1.5, 2.0}) {
    const double b = 0.7, step = 1e-6, theta = -1 / b;
    const AbsoluteScore f(0, b);
    const BetaLaplace q(alpha, 0, -1 / (theta + step));
    const double value = fenchel_young(Tsallis(alpha), f, q).value;
    const double want = fenchel_young_hessian(Tsallis(alpha), f, Line()) * step * step / 2;
    EXPECT_NEAR(value / want, 1, 1e-4) << alpha;
  }
}

TEST(AbsoluteLoss, HessianIsTheSecondDifference) {
  for (const double alpha : {0.6, 1.0, 1.5, 2.0, 5.0}) {
    for (const double temperature : {1.0, 2.0}) {
      const Tsallis omega(alpha, temperature);
      const auto slope = [&](double theta) {  // d/dtheta = b^2 d/db
        const AbsoluteScore f(0.2, -1 / theta);
        return f.b() * f.b() * cross_omega(omega, f, Dirac{0.2}).gradient.b;
      };
      EXPECT_NEAR(fenchel_young_hessian(omega, AbsoluteScore(0.2, 0.8), Line()),
                  slope_of(slope, -1 / 0.8, 1e-3), 1e-7)
          << alpha;
    }
  }
  EXPECT_EQ(fenchel_young_hessian(Tsallis(kInf), AbsoluteScore(0, 1), Line()), 0);
}

TEST(AbsoluteLoss, CrossEntropyOfLaplace) {
  const auto loss = cross_omega(Shannon(), AbsoluteScore(0, 2), Dirac{3});
  EXPECT_NEAR(loss.value, std::log(4) + 1.5, 1e-15);
  EXPECT_EQ(fenchel_young(Tsallis(2), AbsoluteScore(0, 2), Dirac{3}).value, kInf);
  const double kl = std::log(2.0 / 0.5) + 0.5 / 2 - 1;  // of Laplace(0, .5) from Laplace(0, 2)
  EXPECT_NEAR(fenchel_young(Tsallis(1), AbsoluteScore(0, 2), BetaLaplace::laplace(0, 0.5)).value, kl, 1e-12);
}

TEST(ScaledGaussianLoss, GradientsAgreeWithDifferences) {
  for (const double temperature : {1.0, 1.7}) {
    for_each_target([&](const auto& q) {
      const Tsallis omega(2, temperature);
      const auto at = [&](double kappa, double mu, double sigma2) {
        return cross_omega(omega, ScaledGaussianScore(kappa, mu, sigma2), q);
      };
      const auto loss = at(3, 0.3, 0.9);
      const auto in_kappa = [&](double x) { return at(x, 0.3, 0.9).value; };
      const auto in_mu = [&](double x) { return at(3, x, 0.9).value; };
      const auto in_sigma2 = [&](double x) { return at(3, 0.3, x).value; };
      EXPECT_NEAR(loss.gradient.kappa, slope_of(in_kappa, 3, 1e-3), 1e-9);
      EXPECT_NEAR(loss.gradient.mu, slope_of(in_mu, 0.3, 1e-3), 1e-9);
      EXPECT_NEAR(loss.gradient.sigma2, slope_of(in_sigma2, 0.9, 1e-3), 1e-9);
      const auto whole = fenchel_young(omega, ScaledGaussianScore(3, 0.3, 0.9), q);
      EXPECT_EQ(whole.gradient.sigma2, loss.gradient.sigma2);
      if (!std::isinf(whole.value)) {
        EXPECT_NEAR(whole.value, loss.value - temperature * tsallis_entropy(q, 2), 1e-10);
        EXPECT_GE(whole.value, 0);
      }
    });
  }
}

TEST(ScaledGaussianLoss, ZeroAtThePrediction) {
  for (const double kappa : {1.01, 3.0, 1e6, 1e200}) {
    const ScaledGaussianScore f(kappa, 0, 0.7);
    const auto loss = fenchel_young(Tsallis(2), f, predict(Tsallis(2), f, Line()));
    EXPECT_EQ(loss.value, 0) << kappa;
    const auto scale = std::max(1.0, pdf(predict(Tsallis(2), f, Line()), 0));
    EXPECT_NEAR(loss.gradient.mu / scale / scale, 0, 1e-12) << kappa;
    EXPECT_NEAR(loss.gradient.kappa, 0, 1e-12) << kappa;
    EXPECT_NEAR(loss.gradient.sigma2 / scale, 0, 1e-12) << kappa;
  }
}

TEST(LocationScaleLoss, GradientsAgreeWithDifferences) {
  for (const int index : {0, 1, 2, 3, 4, 5}) {
    for (const double temperature : {1.0, 1.7}) {
      if (index == 3 && temperature > 1) continue;  // kappa = 2 of the truncated Gaussian is too cool
      for_each_target([&](const auto& q) {
        const Tsallis omega(2, temperature);
        const auto at = [&](double mu, double sigma) {
          return cross_omega(omega, location_scale_example(index, mu, sigma), q);
        };
        const auto loss = at(0.3, 0.9);
        const auto in_mu = [&](double x) { return at(x, 0.9).value; };
        const auto in_sigma = [&](double x) { return at(0.3, x).value; };
        EXPECT_NEAR(loss.gradient.mu, slope_of(in_mu, 0.3, 1e-3), 1e-6) << index;
        EXPECT_NEAR(loss.gradient.sigma, slope_of(in_sigma, 0.9, 1e-3), 1e-6) << index;
      });
    }
  }
}

TEST(LocationScaleLoss, WhereTheScoreOverflowsNothingIsNaN) {
  const LocationScaleScore f([](double y) { return std::sinh(y); }, [](double y) { return std::cosh(y); }, 4,
                             1e-6);
  for (const auto& values : {std::vector{-1.0, 0.0}, std::vector{0.0, 8.0}, std::vector{3.0, 3.5, 9.0}}) {
    const auto loss = cross_omega(Tsallis(2), f, Line(), Empirical(values));
    EXPECT_EQ(loss.value, kInf);
    EXPECT_EQ(loss.gradient.sigma, -kInf);
    EXPECT_FALSE(std::isnan(loss.gradient.mu));
  }
}

TEST(LocationScaleLoss, ZeroAtThePrediction) {
  for (const int index : {0, 2, 4}) {
    const auto f = location_scale_example(index, 0.2, 0.7);
    const auto loss = fenchel_young(Tsallis(2), f, LocationScale(f));
    EXPECT_EQ(loss.value, 0) << index;
    EXPECT_NEAR(loss.gradient.mu, 0, 1e-9) << index;
    EXPECT_NEAR(loss.gradient.sigma, 0, 1e-9) << index;
  }
}

TEST(LocationScaleLoss, AgreesWithTheOtherFamilies) {
  for_each_target([&](const auto& q) {
    const Tsallis omega(2, 1.5);
    const auto triangle = cross_omega(omega, location_scale_example(1, 0.3, 0.8), q);
    const auto same = cross_omega(omega, AbsoluteScore(0.3, 0.64), q);
    EXPECT_NEAR(triangle.value, same.value, 1e-11);
    EXPECT_NEAR(triangle.gradient.mu, same.gradient.mu, 1e-8);
    EXPECT_NEAR(triangle.gradient.sigma, same.gradient.b * 1.6, 1e-8);  // b = sigma^2
  });
}

TEST(BetaLaplace, DeviationIsItsDefinition) {
  for (const double alpha : {0.9, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.5, 2.0, 5.0, kInf}) {
    const BetaLaplace p(alpha, 0.5, 0.7);
    for (const double t : {-9.0, 0.2, 0.5, 0.9, 3.0}) {
      const double brute = detail::target_expectation(p, [t](double x) { return std::abs(x - t); }, {t});
      EXPECT_NEAR(mean_deviation(p, t), brute, 1e-9 * brute) << alpha << " " << t;
    }
  }
}

/// Losses of f against q, and of both moved.
template <class Score, class Q>
void expect_the_same_elsewhere(const Tsallis& omega, const Score& f, const Q& q, const Score& far_f,
                               const Q& far_q) {
  const auto here = fenchel_young(omega, f, q), there = fenchel_young(omega, far_f, far_q);
  EXPECT_EQ(here.value, there.value);
  EXPECT_EQ(here.gradient.mu, there.gradient.mu);
  EXPECT_EQ(cross_omega(omega, f, q).value, cross_omega(omega, far_f, far_q).value);
}

TEST(LossesOnTheLine, DoNotDependOnTheLocation) {
  constexpr double kFar = 0x1p17, kStep = 0x1p-18;  // doubles near kFar are 2^-36 apart
  const Tsallis omega(2);
  for (const double offset : {0., kStep}) {
    SCOPED_TRACE(offset);
    for (const double kappa : {1.5, 2., 1e20}) {
      const TruncatedGaussian q(kappa, 0, 1e-10), far_q(kappa, kFar, 1e-10);
      const ScaledGaussianScore f(kappa, offset, 1e-10), far_f(kappa, kFar + offset, 1e-10);
      expect_the_same_elsewhere(omega, f, q, far_f, far_q);
      EXPECT_EQ(fenchel_young_hessian(omega, f, Line(), q),
                fenchel_young_hessian(omega, far_f, Line(), far_q));
      EXPECT_EQ(fenchel_young(omega, score(far_q), far_q).value, 0);
    }
    const BetaLaplace q(1.5, 0, 1e-8), far_q(1.5, kFar, 1e-8);
    for (const double alpha : {0.8, 1., 1.5, 2.})
      expect_the_same_elsewhere(Tsallis(alpha), AbsoluteScore(offset, 1e-8), q,
                                AbsoluteScore(kFar + offset, 1e-8), far_q);
    const LocationScaleScore f = location_scale_example(0, 0, 1e-5);
    expect_the_same_elsewhere(omega, f.moved(offset), LocationScale(f), f.moved(kFar + offset),
                              LocationScale(f.moved(kFar)));
  }
}

}  // namespace
}  // namespace fenchel
