#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>
#include <vector>

#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/loss/sobolev.hpp"
#include "fenchel/loss/sobolev_function.hpp"
#include "fenchel/loss/total_variation.hpp"
#include "fenchel/loss/total_variation_function.hpp"
#include "support/fused_scores.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::waves;

/// Omega of a prediction by its own numbers.
double omega_of(const TotalVariation& omega, const detail::TotalVariationPrediction& p) {
  return omega.temperature() * (omega.gamma() * p.total_variation - tsallis_entropy(p.density, 2));
}
double omega_of(const Sobolev& omega, const detail::SobolevPrediction& p) {
  return omega.temperature() * (omega.gamma() / 2 * p.roughness - tsallis_entropy(p.density, 2));
}

template <class Omega>
class FusedFunctionLoss : public ::testing::Test {};
using Omegas = ::testing::Types<TotalVariation, Sobolev>;
TYPED_TEST_SUITE(FusedFunctionLoss, Omegas);

// Omega*(f) = E_p[f] - Omega(p): with the prediction as the target the Fenchel-Young loss is 0.
TYPED_TEST(FusedFunctionLoss, VanishesAtThePrediction) {
  for (const double gamma : {0.0, 1e-3, 0.2, 3.0}) {
    const TypeParam omega(gamma, gamma == 0.2 ? 1.0 : 2.5);
    for (const Interval& domain : {Interval(-kInf, kInf), Interval(-1, 2.5)}) {
      const auto p = detail::predict_numeric(omega, waves(), domain, 1e-8);
      const auto loss = cross_omega(omega, waves(), domain, p.density);
      EXPECT_NEAR(loss.value + omega_of(omega, p), 0, 1e-9) << gamma;
    }
    const EvenScore even([](double x) { return -x * x * x; }, 0.3);
    const auto q = detail::predict_even(omega, even);
    EXPECT_NEAR(cross_omega(omega, even, Line{}, q.density).value + omega_of(omega, q), 0, 1e-9) << gamma;
  }
}

// It is positive elsewhere, and Omega* the largest of E_q[f] - Omega(q) over neighbours.
TYPED_TEST(FusedFunctionLoss, IsPositiveElsewhere) {
  const TypeParam omega(0.2);
  for (const double other : {0.05, 0.19, 0.21, 1.0}) {
    const auto q = detail::predict_numeric(TypeParam(other), waves(), Interval(-kInf, kInf), 1e-8);
    const double loss = cross_omega(omega, waves(), Line{}, q.density).value + omega_of(omega, q);
    EXPECT_GT(loss, 0) << other;
  }
}

TYPED_TEST(FusedFunctionLoss, DerivativeWithRespectToGamma) {
  const Dirac q(0.4);
  const EvenScore even([](double x) { return -std::cosh(x); }, 0.3);
  for (const double gamma : {0.05, 0.7}) {
    const double step = 1e-4 * gamma;
    const auto slope = [&](const auto& f, const auto& domain) {
      return (cross_omega(TypeParam(gamma + step, 1.5), f, domain, q).value -
              cross_omega(TypeParam(gamma - step, 1.5), f, domain, q).value) /
             (2 * step);
    };
    const TypeParam omega(gamma, 1.5);
    EXPECT_NEAR(cross_omega(omega, waves(), Line{}, q).gradient.gamma, slope(waves(), Line{}), 1e-6) << gamma;
    const Interval domain(-1, 2.5);
    EXPECT_NEAR(cross_omega(omega, waves(), domain, q).gradient.gamma, slope(waves(), domain), 1e-6) << gamma;
    EXPECT_NEAR(cross_omega(omega, even, Line{}, q).gradient.gamma, slope(even, Line{}), 1e-6) << gamma;
  }
}

TYPED_TEST(FusedFunctionLoss, DerivativeAtGammaZero) {
  const Dirac q(0.4);
  const double step = 1e-7;
  const auto value = [&](double gamma) {
    return cross_omega(TypeParam(gamma), waves(), Interval(-1, 2.5), q).value;
  };
  const auto loss = cross_omega(TypeParam(0), waves(), Interval(-1, 2.5), q);
  EXPECT_NEAR(loss.gradient.gamma, (value(step) - value(0)) / step, 2e-2 * std::abs(loss.gradient.gamma));
}

TYPED_TEST(FusedFunctionLoss, DerivativeWithRespectToTheta) {
  const Dirac q(0.4);
  const std::vector<LinearScore::Statistic> phi = {[](double t) { return t; }, [](double t) { return t * t; },
                                                   [](double t) { return std::cos(2 * t); }};
  const std::vector<double> theta = {0.3, -0.25, 1.5};
  const TypeParam omega(0.1, 1.5);
  const auto loss = cross_omega(omega, LinearScore(theta, phi), Line{}, q);
  ASSERT_EQ(loss.gradient.theta.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<double> more = theta, less = theta;
    more[i] += 1e-5;
    less[i] -= 1e-5;
    const double slope = (cross_omega(omega, LinearScore(more, phi), Line{}, q).value -
                          cross_omega(omega, LinearScore(less, phi), Line{}, q).value) /
                         2e-5;
    EXPECT_NEAR(loss.gradient.theta[i], slope, 1e-7) << i;
  }
}

// The closed forms of the quadratic score give the same losses.
TYPED_TEST(FusedFunctionLoss, IsThatOfTheClosedForms) {
  const QuadraticScore closed(0.3, 0.8);
  const EvenScore even([](double x) { return -x * x / 1.6; }, 0.3);
  const FunctionScore any([](double t) { return -(t - 0.3) * (t - 0.3) / 1.6; });
  const SmoothParabola q(0.2, 0.5, 0.6);
  for (const double gamma : {0.0, 0.1, 2.0}) {
    const TypeParam omega(gamma, 1.5);
    const auto expected = fenchel_young(omega, closed, q);
    for (const auto& loss : {fenchel_young(omega, even, q), fenchel_young(omega, any, q)}) {
      EXPECT_NEAR(loss.value, expected.value, 1e-9) << gamma;
      EXPECT_NEAR(loss.gradient.gamma, expected.gradient.gamma, 1e-9) << gamma;
    }
    EXPECT_EQ(fenchel_young(omega, any, Dirac{0.4}).value, kInf) << gamma;
  }
}

TYPED_TEST(FusedFunctionLoss, FenchelYoungIsZeroAtThePrediction) {
  const TypeParam omega(0.2);
  const auto p = predict(omega, waves(), Line());
  EXPECT_LT(fenchel_young(omega, waves(), p).value, 1e-9);
  EXPECT_GT(fenchel_young(omega, waves(), predict(TypeParam(0.3), waves(), Line())).value, 1e-4);
}

// Kinks and short layers: of the absolute score, and of several modes with a small gamma.
TYPED_TEST(FusedFunctionLoss, FenchelYoungIsZeroAtThePredictionWithKinksAndLayers) {
  const FunctionScore kink([](double t) { return -std::abs(t - 0.3) / 0.8; });
  for (const double gamma : {0.0, 1e-3, 0.1, 2.0}) {
    const TypeParam omega(gamma, 1.5);
    for (const FunctionScore& f : {kink, waves()}) {
      const auto loss = fenchel_young(omega, f, predict(omega, f, Line()));
      EXPECT_LT(loss.value, 1e-9) << gamma;
      EXPECT_NEAR(loss.gradient.gamma, 0, 1e-9) << gamma;
    }
  }
}

TYPED_TEST(FusedFunctionLoss, MatchesTheGoldenValues) {
  for (auto& block : testing::golden_blocks("free_scores.txt")) {
    if ((block["kind"][0] == 0) != std::is_same_v<TypeParam, TotalVariation>) continue;
    const std::vector<double> c = block["score"];
    const auto f = [&c](double t) { return (((c[0] * t + c[1]) * t + c[2]) * t + c[3]) * t + c[4]; };
    for (const double temperature : {1.0, 1.7}) {  // Omega_T* (T f) = T Omega*(f)
      const FunctionScore score([=](double t) { return temperature * f(t); });
      const TypeParam omega(block["gamma"][0], temperature);
      const auto loss = cross_omega(omega, score, Line(), Dirac{0.4});
      EXPECT_NEAR(loss.value / temperature, block["conjugate"][0] - f(0.4), 1e-11) << omega.gamma();
      EXPECT_NEAR(loss.gradient.gamma / temperature, block["conjugate"][1], 1e-10) << omega.gamma();
    }
  }
}

// At the ends of an interval a density may jump, as nothing is paid for it there.
TYPED_TEST(FusedFunctionLoss, FenchelYoungIsZeroAtThePredictionOnAnInterval) {
  const Interval domain(-1, 2.5), within(-0.9, 2.5);
  for (const double gamma : {0.05, 1.0}) {
    const TypeParam omega(gamma, 1.5);
    const auto loss = fenchel_young(omega, waves(), domain, predict(omega, waves(), domain));
    EXPECT_LT(loss.value, 1e-9) << gamma;
    EXPECT_NEAR(loss.gradient.gamma, 0, 1e-9) << gamma;
    EXPECT_GT(fenchel_young(omega, waves(), domain, predict(omega, waves(), within)).value, 1e-3) << gamma;
  }
}

TYPED_TEST(FusedFunctionLoss, TargetsOutsideAndMasked) {
  const FunctionScore f([](double t) { return std::abs(t) > 1 ? -kInf : -t * t; });
  EXPECT_EQ(cross_omega(TypeParam(0.1), f, Line{}, Dirac{2}).value, kInf);
  EXPECT_EQ(cross_omega(TypeParam(0.1), waves(), Interval(0, 1), Dirac{2}).value, kInf);
}

}  // namespace
}  // namespace fenchel
