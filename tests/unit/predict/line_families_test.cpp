#include <gtest/gtest.h>

#include <cmath>

#include "core/tsallis_term.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/domain/finite.hpp"
#include "fenchel/predict/absolute.hpp"
#include "fenchel/predict/location_scale.hpp"
#include "fenchel/predict/scaled_gaussian.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "unit/distribution/location_scale_examples.hpp"

namespace fenchel {
namespace {

static_assert(Predictable<Tsallis, AbsoluteScore, Line>);
static_assert(Predictable<Shannon, AbsoluteScore, Line>);
static_assert(Predictable<Tsallis, ScaledGaussianScore, Line>);
static_assert(Predictable<Tsallis, LocationScaleScore, Line>);
static_assert(!Predictable<Tsallis, AbsoluteScore, Finite>);

/// E_p[f] - T Omega_alpha(p) of a density on [lower, upper], cut at the middle.
template <class F, class Density>
double objective(const Tsallis& omega, const F& f, const Density& density, double lower, double upper) {
  const auto integrand = [&](double t) {
    const double p = density(t);
    return p == 0 ? 0 : p * f(t) - omega.temperature() * detail::tsallis_term(omega.alpha() - 1, p);
  };
  const double middle = lower + (upper - lower) / 2;
  return integrate(integrand, lower, middle).value + integrate(integrand, middle, upper).value;
}

/// The prediction attains the conjugate, and mixing it with other densities does worse.
template <class F>
void expect_maximum(const Tsallis& omega, const F& f, double reach) {
  const auto p = predict(omega, f, Line());
  const double mu = f.mu(), lower = mu - reach, upper = mu + reach;
  const auto predicted = [&](double t) { return pdf(p, t); };
  const double best = objective(omega, f, predicted, lower, upper);
  EXPECT_NEAR(best, conjugate(omega, f, Line()), 1e-9 * (1 + std::abs(best)));
  Philox rng(7);
  for (int k = 0; k < 20; ++k) {
    const double centre = mu + (2 * uniform01(rng) - 1) * reach / 2,
                 width = (0.2 + uniform01(rng)) * reach / 4;
    const double weight = uniform01(rng);
    const auto mixed = [&](double t) {
      const double bump = std::max(0.0, 1 - std::abs(t - centre) / width) / width;
      return (1 - weight) * pdf(p, t) + weight * bump;
    };
    EXPECT_LT(objective(omega, f, mixed, lower, upper), best + 1e-9) << k;
  }
}

TEST(PredictLineFamilies, IsTheMaximum) {
  for (const double alpha : {1.0, 1 + 1e-8, 4. / 3, 1.5, 2.0, 5.0}) {
    for (const double temperature : {1.0, 2.5}) {
      SCOPED_TRACE(alpha);
      expect_maximum(Tsallis(alpha, temperature), AbsoluteScore(0.5, 0.8), alpha < 1.3 ? 100 : 8);
    }
  }
  for (const double temperature : {1.0, 2.5}) {
    expect_maximum(Tsallis(2, temperature), ScaledGaussianScore(4, 0.5, 0.8), 6);
    for (const int index : {0, 2, 4})
      expect_maximum(Tsallis(2, temperature), testing::location_scale_example(index, 0.5, 0.8), 6);
  }
}

TEST(PredictLineFamilies, TemperatureDividesTheScore) {
  EXPECT_EQ(predict(Tsallis(1.5, 3), AbsoluteScore(1, 2), Line()), BetaLaplace(1.5, 1, 6));
  EXPECT_EQ(predict(Shannon(3), AbsoluteScore(1, 2), Line()), BetaLaplace(1, 1, 6));
  EXPECT_EQ(predict(Tsallis(2, 2), ScaledGaussianScore(5, 1, 2), Line()), TruncatedGaussian(2.5, 1, 2));
  const auto p = predict(Tsallis(2, 2), testing::location_scale_example(1, 1, 3), Line());  // b = 9, T = 2
  EXPECT_NEAR(p.half_width(), std::sqrt(18.0), 1e-13);
  EXPECT_NEAR(score(p)(2), -1. / 18, 1e-15);
}

TEST(PredictLineFamilies, MovesWithTheScore) {
  for (const double shift : {-3.0, 0.25, 1024.0}) {
    const auto move = [shift](auto make) {
      const auto at = make(0.0), moved = make(shift);
      for (const double t : {-0.5, 0.0, 0.125, 0.75}) EXPECT_NEAR(pdf(moved, t + shift), pdf(at, t), 1e-12);
    };
    move([](double mu) { return predict(Tsallis(1.5), AbsoluteScore(mu, 2), Line()); });
    move([](double mu) { return predict(Tsallis(2), ScaledGaussianScore(3, mu, 2), Line()); });
    move([](double mu) { return predict(Tsallis(2), testing::location_scale_example(2, mu, 2), Line()); });
  }
}

TEST(PredictLineFamilies, WhatHasNoPredictionIsNamed) {
  const auto message = [](auto call) { return testing::message_of<std::domain_error>(call); };
  EXPECT_EQ(message([] { (void)predict(Tsallis(0.5), AbsoluteScore(0, 1), Line()); }),
            "fenchel::predict: alpha must be above 1/2 for an AbsoluteScore on the line, got 0.5");
  EXPECT_EQ(message([] { (void)predict(Tsallis(1.5), ScaledGaussianScore(2, 0, 1), Line()); }),
            "fenchel::predict: alpha must be 2 for a ScaledGaussianScore (a FunctionScore takes others), got "
            "1.5");
  EXPECT_EQ(message([] { (void)predict(Tsallis(1), testing::location_scale_example(1, 0, 1), Line()); }),
            "fenchel::predict: alpha must be 2 for a LocationScaleScore (a FunctionScore takes others), got "
            "1");
  EXPECT_EQ(message([] { (void)predict(Tsallis(2, 4), ScaledGaussianScore(2, 0, 1), Line()); }),
            "fenchel::predict: kappa / temperature must be > 1, got 0.5");
}

TEST(PredictLineFamilies, TruncatedGaussianConjugate) {  // 1/2 + tau + (1/2) int p^2 for alpha = 2
  const LocationScaleScore g = testing::location_scale_example(3, 0.3, 1.5);
  EXPECT_NEAR(conjugate(Tsallis(2), ScaledGaussianScore(2, 0.3, 2.25), Line()),
              conjugate(Tsallis(2), g, Line()), 1e-13);
  const auto triangular = testing::location_scale_example(1, 0.3, 1.5);
  EXPECT_NEAR(conjugate(Tsallis(2), triangular, Line()),
              conjugate(Tsallis(2), AbsoluteScore(0.3, 2.25), Line()), 1e-13);
}

TEST(PredictLineFamilies, ConjugateOfTheAbsoluteScoreIsTheGoldenOne) {
  for (auto& block : testing::golden_blocks("beta_laplace.txt")) {
    const double alpha = block["case"][0], b = block["case"][1], expected = block["conjugate"][0];
    EXPECT_NEAR(conjugate(Tsallis(alpha), AbsoluteScore(0, b), Line()), expected,
                1e-14 * (1 + std::abs(expected)))
        << alpha << " " << b;
  }
  const double b = 2.25, a = 1.5;  // of the triangular, docs/math.md 3
  EXPECT_DOUBLE_EQ(conjugate(Tsallis(2), AbsoluteScore(4, b), Line()), 0.5 - 2 / (3 * a));
}

}  // namespace
}  // namespace fenchel
