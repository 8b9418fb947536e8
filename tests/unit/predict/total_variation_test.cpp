#include "fenchel/predict/total_variation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fenchel/core/taut_string.hpp"
#include "fenchel/distribution/line/total_variation.hpp"
#include "fenchel/predict/absolute.hpp"
#include "fenchel/predict/quadratic.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

constexpr double kGammas[] = {0, 1e-8, 0.3, 1, 1e8};
constexpr double kTemperatures[] = {1, 1.7};

TEST(PredictTotalVariation, Parameters) {
  EXPECT_EQ(predict(TotalVariation(0.3), AbsoluteScore(0.2, 1.2), Line()), CappedTriangular(0.3, 0.2, 1.2));
  EXPECT_EQ(predict(TotalVariation(0.3, 2), AbsoluteScore(0.2, 1.2), Line()),
            CappedTriangular(0.3, 0.2, 2.4));
  EXPECT_EQ(predict(TotalVariation(5), QuadraticScore(0.2, 1.5), Line()), CappedParabola(5, 0.2, 1.5));
  EXPECT_EQ(predict(TotalVariation(5, 0.5), QuadraticScore(0.2, 1.5), Line()), CappedParabola(5, 0.2, 0.75));
  EXPECT_EQ(testing::message_of<std::domain_error>([] {
              static_cast<void>(predict(TotalVariation(1, 1e200), AbsoluteScore(0, 1e200), Line()));
            }),
            "fenchel::capped_triangular: b must be positive and finite, got inf");
}

/// Omega(p) with Omega_2 = (int p^2 - 1) / 2: with docs/math.md E10's -1 the conjugate would be off by T / 2.
template <class Score>
void expect_conjugate_is_the_maximum(const Score& f) {
  for (const double gamma : kGammas) {
    for (const double temperature : kTemperatures) {
      const TotalVariation omega(gamma, temperature);
      const auto p = predict(omega, f, Line());
      const double negentropy = (mean_density(p) - 1) / 2 + gamma * total_variation(p);
      const double expected = expectation(p, f, 1e-13) - temperature * negentropy;
      EXPECT_NEAR(conjugate(omega, f, Line()), expected, 1e-12 * (1 + std::abs(expected))) << gamma;
    }
  }
}

TEST(PredictTotalVariation, ConjugateIsTheValueAtThePrediction) {
  expect_conjugate_is_the_maximum(AbsoluteScore(0.3, 0.8));
  expect_conjugate_is_the_maximum(QuadraticScore(0.3, 0.8));
}

TEST(PredictTotalVariation, WithoutGammaItIsTsallisOfTwo) {
  for (const double temperature : kTemperatures) {
    const TotalVariation omega(0, temperature);
    const Tsallis tsallis(2, temperature);
    EXPECT_NEAR(conjugate(omega, AbsoluteScore(0, 0.8), Line()),
                conjugate(tsallis, AbsoluteScore(0, 0.8), Line()), 1e-15);
    EXPECT_NEAR(conjugate(omega, QuadraticScore(0, 0.8), Line()),
                conjugate(tsallis, QuadraticScore(0, 0.8), Line()), 1e-15);
  }
}

/// E_q[f] - Omega(q).
template <class Score, class Q>
double objective(const TotalVariation& omega, const Score& f, const Q& q) {
  return expectation(q, f) -
         omega.temperature() * (omega.gamma() * total_variation(q) - tsallis_entropy(q, 2));
}

TEST(PredictTotalVariation, NoOtherDensityDoesBetter) {
  for (const double gamma : {0.0, 0.3, 2.0}) {
    const TotalVariation omega(gamma, 1.3);
    const AbsoluteScore tent(0.2, 0.9);
    const QuadraticScore bowl(0.2, 0.9);
    for (const double mu : {0.2, 0.25, -0.4}) {
      for (const double scale : {0.3, 0.9 * 1.3, 5.0}) {
        for (const double other : {0.0, 0.1, 0.3, 2.0}) {
          EXPECT_LE(objective(omega, tent, CappedTriangular(other, mu, scale)),
                    conjugate(omega, tent, Line()) + 1e-14);
          EXPECT_LE(objective(omega, tent, CappedParabola(other, mu, scale)), conjugate(omega, tent, Line()));
          EXPECT_LE(objective(omega, bowl, CappedParabola(other, mu, scale)),
                    conjugate(omega, bowl, Line()) + 1e-14);
          EXPECT_LE(objective(omega, bowl, BetaGaussian(1.5, mu, scale)), conjugate(omega, bowl, Line()));
        }
      }
    }
  }
}

/// The proximal map on a grid of step h, in a window so wide that its ends do not matter (docs/math.md 6.1).
template <class Score, class P>
void expect_taut_string(const Score& f, const P& p, double reach) {
  constexpr double kStep = 1e-3;
  const int half = static_cast<int>(reach / kStep);
  std::vector<double> scores;
  for (int i = -half; i <= half; ++i) scores.push_back(f(f.mu() + i * kStep));
  const std::vector<double> caps(scores.size() - 1, p.gamma() / kStep);
  const std::vector<double> x = taut_string(scores, caps);
  for (int i = -half; i <= half; ++i) {
    if (std::abs(i * kStep) > p.half_width()) continue;
    EXPECT_NEAR(excess_score(p, f.mu() + i * kStep), x[static_cast<std::size_t>(i + half)] - p.threshold(),
                2 * kStep);
  }
}

TEST(PredictTotalVariation, TheExcessScoreIsTheTautString) {
  for (const double gamma : {0.05, 0.3, 2.0}) {
    const AbsoluteScore tent(0.2, 0.9);
    const QuadraticScore bowl(0.2, 0.9);
    expect_taut_string(tent, predict(TotalVariation(gamma), tent, Line()), 6);
    expect_taut_string(bowl, predict(TotalVariation(gamma), bowl, Line()), 6);
  }
}

}  // namespace
}  // namespace fenchel
