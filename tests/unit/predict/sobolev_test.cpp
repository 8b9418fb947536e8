#include "fenchel/predict/sobolev.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fenchel/predict/absolute.hpp"
#include "fenchel/predict/quadratic.hpp"
#include "support/differences.hpp"

namespace fenchel {
namespace {

using testing::slope_of;

constexpr double kGammas[] = {0, 1e-8, 0.1, 1, 100, 1e8};

/// E_p[f] - T ((int p^2 - 1) / 2 + (gamma / 2) int p'^2).
template <class P, class Score>
double objective(const Sobolev& omega, const Score& f, const P& p) {
  const double negentropy = (mean_density(p) - 1) / 2 + omega.gamma() / 2 * roughness(p);
  return expectation(p, f, 1e-12) - omega.temperature() * negentropy;
}

TEST(SobolevPredict, TemperatureDividesTheScore) {
  EXPECT_TRUE(predict(Sobolev(0.3, 2), QuadraticScore(0.5, 0.7), Line()) == SmoothParabola(0.3, 0.5, 1.4));
  EXPECT_TRUE(predict(Sobolev(0.3, 2), AbsoluteScore(0.5, 0.7), Line()) == SmoothTriangular(0.3, 0.5, 1.4));
}

TEST(SobolevPredict, ConjugateIsTheMaximum) {
  for (const double gamma : kGammas) {
    for (const double temperature : {1.0, 3.0}) {
      const Sobolev omega(gamma, temperature);
      const QuadraticScore quadratic(0.2, 0.7);
      const AbsoluteScore absolute(0.2, 0.7);
      const double best = conjugate(omega, quadratic, Line()), top = conjugate(omega, absolute, Line());
      EXPECT_NEAR(best, objective(omega, quadratic, predict(omega, quadratic, Line())),
                  1e-9 * (1 + std::abs(best)));
      EXPECT_NEAR(top, objective(omega, absolute, predict(omega, absolute, Line())),
                  1e-9 * (1 + std::abs(top)));
      for (const double factor : {0.9, 1.1}) {
        const SmoothParabola other(gamma, 0.2, 0.7 * factor * temperature);
        const SmoothTriangular another(gamma, 0.25, 0.7 * factor * temperature);
        EXPECT_LT(objective(omega, quadratic, other), best);
        EXPECT_LT(objective(omega, absolute, another), top);
      }
      const SmoothTriangular stranger(2 * gamma + 0.1, 0.2, 1);
      EXPECT_LT(objective(omega, quadratic, stranger), best);
    }
  }
}

TEST(SobolevPredict, ConjugateHoldsTheOmegaOfTsallisTwo) {  // E10: -1/2, where the paper prints -1
  const QuadraticScore quadratic(0.2, 0.7);
  const AbsoluteScore absolute(0.2, 0.7);
  for (const double temperature : {1.0, 2.0}) {
    const double parabola = conjugate(Tsallis(2, temperature), quadratic, Line());
    EXPECT_NEAR(conjugate(Sobolev(0, temperature), quadratic, Line()), parabola, 1e-14);
    EXPECT_GT(std::abs(parabola + temperature / 2 - conjugate(Sobolev(0, temperature), quadratic, Line())),
              0.4);
    EXPECT_NEAR(conjugate(Sobolev(0, temperature), absolute, Line()),
                conjugate(Tsallis(2, temperature), absolute, Line()), 1e-14);
  }
}

TEST(SobolevPredict, ConjugateFallsByHalfTheRoughness) {
  const QuadraticScore quadratic(0.2, 0.7);
  const AbsoluteScore absolute(0.2, 0.7);
  for (const double gamma : {1e-3, 0.1, 1.0, 100.0}) {
    const auto of = [&](const auto& f) {
      const double slope =
          slope_of([&](double g) { return conjugate(Sobolev(g), f, Line()); }, gamma, 1e-3 * gamma);
      const double want = -roughness(predict(Sobolev(gamma), f, Line())) / 2;
      EXPECT_NEAR(slope / want, 1, 1e-7) << gamma;
    };
    of(quadratic);
    of(absolute);
  }
}

}  // namespace
}  // namespace fenchel
