#include "fenchel/loss/total_variation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fenchel/loss/absolute.hpp"
#include "fenchel/loss/quadratic.hpp"
#include "fenchel/predict/function.hpp"
#include "support/differences.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::slope_of;

constexpr double kGammas[] = {0, 1e-8, 0.3, 1, 1e8};
const std::vector<double> kValues = {-0.7, 0.1, 0.55, 0.55, 1.9};

/// Each kind of target.
template <class Check>
void for_each_target(Check check) {
  check(Dirac{1.2});
  check(Empirical(kValues));
  check(BetaLaplace(1.5, 0.2, 0.4));
  check(BetaGaussian::gaussian(-0.1, 0.3));
  check(BetaGaussian::uniform(-0.4, 0.9));
  check(TruncatedGaussian(3, 0.25, 0.5));
  check(CappedTriangular(0.7, 0.1, 2));
  check(CappedParabola(0.2, 0.1, 2));
}

double derivative_in_scale(const AbsoluteGammaGradient& g) { return g.b; }
double derivative_in_scale(const QuadraticGammaGradient& g) { return g.sigma2; }

template <class Score>
class TotalVariationLoss : public ::testing::Test {};
using Scores = ::testing::Types<AbsoluteScore, QuadraticScore>;
TYPED_TEST_SUITE(TotalVariationLoss, Scores);

TYPED_TEST(TotalVariationLoss, GradientsAgreeWithDifferences) {
  constexpr double kMu = 0.3, kScale = 0.9, kStep = 1e-3;
  for (const double gamma : {0.3, 1.0}) {
    for (const double temperature : {1.0, 1.7}) {
      for_each_target([&](const auto& q) {
        const auto at = [&](double g, double mu, double scale) {
          return cross_omega(TotalVariation(g, temperature), TypeParam(mu, scale), q);
        };
        const auto loss = at(gamma, kMu, kScale);
        const auto in_mu = [&](double x) { return at(gamma, x, kScale).value; };
        const auto in_scale = [&](double x) { return at(gamma, kMu, x).value; };
        const auto in_gamma = [&](double x) { return at(x, kMu, kScale).value; };
        EXPECT_NEAR(loss.gradient.mu, slope_of(in_mu, kMu, kStep), 1e-8);
        EXPECT_NEAR(derivative_in_scale(loss.gradient), slope_of(in_scale, kScale, kStep), 1e-8);
        EXPECT_NEAR(loss.gradient.gamma, slope_of(in_gamma, gamma, kStep), 1e-8);

        const auto whole = fenchel_young(TotalVariation(gamma, temperature), TypeParam(kMu, kScale), q);
        EXPECT_EQ(whole.gradient.mu, loss.gradient.mu);
        EXPECT_EQ(derivative_in_scale(whole.gradient), derivative_in_scale(loss.gradient));
        EXPECT_EQ(whole.gradient.gamma, loss.gradient.gamma + temperature * total_variation(q));
        EXPECT_GE(whole.value, 0);
        if (std::isinf(total_variation(q))) {
          EXPECT_EQ(whole.value, kInf);
        } else {
          const double omega = gamma * total_variation(q) - tsallis_entropy(q, 2);
          EXPECT_NEAR(whole.value, loss.value + temperature * omega, 1e-9);
        }
      });
    }
  }
}

TYPED_TEST(TotalVariationLoss, IsZeroAtThePredictionAlone) {  // fails with the Omega_2 of docs/math.md E10
  for (const double gamma : kGammas) {
    for (const double temperature : {1.0, 1.7}) {
      SCOPED_TRACE(gamma);
      const TotalVariation omega(gamma, temperature);
      const TypeParam f(0.3, 0.9);
      const auto p = predict(omega, f, Line());
      const auto loss = fenchel_young(omega, f, p);
      EXPECT_EQ(loss.value, 0);
      EXPECT_EQ(loss.gradient.mu, 0);
      EXPECT_NEAR(derivative_in_scale(loss.gradient), 0, 1e-15 * variance(p) / f(1.0) / f(1.0));
      EXPECT_EQ(loss.gradient.gamma, 0);
      EXPECT_GT(fenchel_young(omega, TypeParam(0.3 + 1e-3 * p.half_width(), 0.9), p).value, 0);
      EXPECT_GT(fenchel_young(omega, TypeParam(0.3, 0.9001), p).value, 0);
      if (gamma > 1e-3) {
        EXPECT_GT(fenchel_young(TotalVariation(1.001 * gamma, temperature), f, p).value, 0);
      }
    }
  }
}

TYPED_TEST(TotalVariationLoss, IsExactlyZeroFarFromTheOrigin) {
  for (const double gamma : kGammas) {
    for (const double mu : {-1e3, 123456.789, 1e7 / 3}) {
      const TotalVariation omega(gamma);
      const TypeParam f(mu, 0.9);
      EXPECT_EQ(fenchel_young(omega, f, predict(omega, f, Line())).value, 0) << gamma << " " << mu;
    }
  }
}

/// Omega* does not depend on mu: the loss of a prediction moved by d is E[f] less what it is at 0, d^2 p(0) /
/// b on the plateau, or d^2 / (2 sigma2).
double loss_of_a_shift(const CappedTriangular& p, double d) { return d * d * pdf(p, 0) / p.b(); }
double loss_of_a_shift(const CappedParabola& p, double d) { return d * d / (2 * p.sigma2()); }

TYPED_TEST(TotalVariationLoss, KeepsItsDigitsNearTheZero) {
  for (const double gamma : {1e-3, 0.3, 5.0, 1e3}) {
    const TotalVariation omega(gamma);
    const auto p = predict(omega, TypeParam(0, 1), Line());
    for (const double share : {1e-7, 1e-4, 0.3}) {
      const double shift = share * p.plateau(), expected = loss_of_a_shift(p, shift);
      EXPECT_NEAR(fenchel_young(omega, TypeParam(shift, 1), p).value / expected, 1, 1e-7)
          << gamma << " " << share;
    }
  }
}

TYPED_TEST(TotalVariationLoss, TheNeverNegativeFormIsTheLoss) {
  for (const double gamma : {0.0, 1e-8, 0.3, 1.0}) {
    const TotalVariation omega(gamma);
    const TypeParam f(0.3, 0.9);
    const auto p = predict(omega, f, Line());
    const auto check = [&](const auto& q) {
      const double plain = conjugate(omega, f, Line()) - expectation(q, f, 1e-12) - tsallis_entropy(q, 2) +
                           gamma * total_variation(q);
      const double height = total_variation(q) / 2, level = f(0.3 + p.plateau());
      std::vector<double> cuts = detail::cuts_of(p);
      for (const double cut : detail::cuts_of(q)) cuts.push_back(cut);
      const auto integrand = [&](double t) {
        const double gap = pdf(q, t) - pdf(p, t);
        return gap * gap / 2 + std::max(0.0, f(t) - level) * (height - pdf(q, t)) +
               std::max(0.0, p.threshold() - f(t)) * pdf(q, t);
      };
      const double integral = detail::integrate_pieces(integrand, cuts, 1, 1e-12).value;
      EXPECT_NEAR(integral, plain, 1e-10);
      EXPECT_NEAR(fenchel_young(omega, f, q).value, plain, 1e-10);
    };
    check(BetaLaplace(1.5, 0.2, 0.4));
    check(BetaGaussian::gaussian(-0.1, 0.3));
    check(BetaGaussian::uniform(-0.4, 0.9));
    check(CappedTriangular(0.7, 0.1, 2));
    check(CappedParabola(0.25, 0.31, 0.95));
    const auto waves = [](double t) { return 2 * std::cos(2 * t) + 0.3 * t - t * t / 8; };
    const NumericDensity q = predict(Tsallis(2), FunctionScore(waves), Line());
    EXPECT_NEAR(fenchel_young(omega, f, q).value,
                cross_omega(omega, f, q).value - tsallis_entropy(q, 2) + gamma * total_variation(q), 1e-9);
  }
}

TYPED_TEST(TotalVariationLoss, WithoutGammaItIsThatOfTsallis) {
  const TypeParam f(0.3, 0.9);
  for (const double temperature : {1.0, 1.7}) {
    for_each_target([&](const auto& q) {
      const double here = fenchel_young(TotalVariation(0, temperature), f, q).value;
      const double there = fenchel_young(Tsallis(2, temperature), f, q).value;
      if (std::isinf(there)) {
        EXPECT_EQ(here, kInf);
      } else {
        EXPECT_NEAR(here, there, 1e-10);
      }
      EXPECT_NEAR(cross_omega(TotalVariation(0, temperature), f, q).value,
                  cross_omega(Tsallis(2, temperature), f, q).value, 1e-10);
    });
  }
}

TYPED_TEST(TotalVariationLoss, ATemperatureScalesTheScore) {
  constexpr double kTemperature = 1.7;
  const TypeParam f(0.3, 0.9), cooled(0.3, 0.9 * kTemperature);
  for (const double gamma : kGammas) {
    const CappedParabola q(0.25, 0.31, 0.95);
    const auto loss = fenchel_young(TotalVariation(gamma, kTemperature), f, q);
    const auto unit = fenchel_young(TotalVariation(gamma), cooled, q);
    EXPECT_NEAR(loss.value / (kTemperature * unit.value), 1, 1e-12) << gamma;
    EXPECT_NEAR(loss.gradient.gamma, kTemperature * unit.gradient.gamma, 1e-12) << gamma;
  }
}

/// A rounding of E|t - mu| / b, over b, overflowed.
TEST(LossTotalVariationOfNarrowScores, HasNoSlopeAtThePrediction) {
  for (const double b : {5e-324, 1e-307, 1.0}) {
    for (const double gamma : {0.0, 1e-3, 0.1, 1.0, 100.0}) {
      const TotalVariation omega(gamma);
      const AbsoluteScore f(0, b);
      EXPECT_EQ(fenchel_young(omega, f, Line(), predict(omega, f, Line())).gradient.b, 0)
          << b << " " << gamma;
    }
  }
}

}  // namespace
}  // namespace fenchel
