#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "fenchel/core/error.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"
#include "support/differences.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kNaN, testing::message_of, testing::slope_of;

double scale_derivative(const QuadraticGammaGradient& gradient) { return gradient.sigma2; }
double scale_derivative(const AbsoluteGammaGradient& gradient) { return gradient.b; }

template <class P>
class SmoothGradient : public ::testing::Test {};
using Families = ::testing::Types<SmoothParabola, SmoothTriangular>;
TYPED_TEST_SUITE(SmoothGradient, Families);

/// Derivatives of E[psi] against differences.
TYPED_TEST(SmoothGradient, AgreesWithDifferences) {
  const auto psi = [](double t) { return std::exp(0.3 * t) + std::cos(2 * t) + std::abs(t - 0.45); };
  for (const double gamma : {1e-4, 0.01, 0.2, 0.3, 1.0, 100.0}) {
    const double mu = 0.2, scale = 0.9;
    const auto mean_of = [&](const TypeParam& p) {
      const Interval s = support(p);
      return integrate([&](double t) { return pdf(p, t) * psi(t); }, s.lower(), 0.45, 1e-14).value +
             integrate([&](double t) { return pdf(p, t) * psi(t); }, 0.45, s.upper(), 1e-14).value;
    };
    SCOPED_TRACE(gamma);
    const auto gradient = expectation_gradient(TypeParam(gamma, mu, scale), psi);
    EXPECT_NEAR(gradient.mu,
                slope_of([&](double m) { return mean_of(TypeParam(gamma, m, scale)); }, mu, 1e-3), 1e-8);
    EXPECT_NEAR(scale_derivative(gradient),
                slope_of([&](double s) { return mean_of(TypeParam(gamma, mu, s)); }, scale, 1e-3), 1e-8);
    const double in_gamma =
        slope_of([&](double g) { return mean_of(TypeParam(g, mu, scale)); }, gamma, 1e-2 * gamma);
    EXPECT_NEAR(gradient.gamma, in_gamma, 2e-7 * (1 + std::abs(in_gamma)));
  }
}

TYPED_TEST(SmoothGradient, IsOneSidedAtGammaZero) {
  const auto psi = [](double t) { return std::exp(0.3 * t) + std::cos(2 * t); };
  const TypeParam p(0, 0.2, 0.9);
  const auto gradient = expectation_gradient(p, psi);
  const double mean = expectation(p, psi, 1e-13), step = 1e-6;
  const double forward = (expectation(TypeParam(step, 0.2, 0.9), psi, 1e-13) - mean) / step;
  EXPECT_NEAR(gradient.gamma, forward, 5e-3 * std::abs(forward));
  EXPECT_NEAR(gradient.gamma, expectation_gradient(TypeParam(1e-30, 0.2, 0.9), psi).gamma, 1e-9);
  EXPECT_NEAR(expectation_gradient(p, [](double) { return 1.0; }).gamma, 0, 1e-12);
  EXPECT_NEAR(expectation_gradient(p, [](double t) { return t; }).mu, 1, 1e-12);
}

TYPED_TEST(SmoothGradient, OfTheVariance) {
  for (const double gamma : {1e-8, 0.1, 100.0, 1e8}) {
    const auto of = [&](double g, double scale) { return variance(TypeParam(g, 0, scale)); };
    const auto gradient = expectation_gradient(TypeParam(gamma, 0, 1), [](double t) { return t * t; });
    const double in_gamma = slope_of([&](double g) { return of(g, 1); }, gamma, 1e-2 * gamma);
    const double noise = gamma < 1e-6 ? 1e-4 : 1e-6;
    EXPECT_NEAR(gradient.gamma, in_gamma, noise * std::abs(in_gamma)) << gamma;
    const double in_scale = slope_of([&](double s) { return of(gamma, s); }, 1, 1e-3);
    EXPECT_NEAR(scale_derivative(gradient), in_scale, 1e-8 * in_scale);
    EXPECT_NEAR(gradient.mu, 0, 1e-9);
  }
}

/// Values about mu that differ by rounding alone are no failure to converge.
TYPED_TEST(SmoothGradient, OfAnEvenFunctionAboutMu) {
  for (const double gamma : {0.0, 0.01, 1.0}) {
    const auto square = [](double t) { return t * t; };
    const auto about =
        expectation_gradient(TypeParam(gamma, 0.3, 0.8), [&square](double t) { return square(t - 0.3); });
    const auto want = expectation_gradient(TypeParam(gamma, 0, 0.8), square);
    EXPECT_NEAR(about.mu, 0, 1e-14);
    EXPECT_NEAR(scale_derivative(about), scale_derivative(want), 1e-13);
    EXPECT_NEAR(about.gamma, want.gamma, 1e-12);
  }
}

TYPED_TEST(SmoothGradient, ReachesTheAccuracyOrThrows) {
  for (const double gamma : {0.01, 1.0}) {
    const TypeParam p(gamma, 0, 0.8);
    const auto pole = [](double t) { return 1 / (t - 0.1); };
    EXPECT_THROW(static_cast<void>(expectation_gradient(p, pole)), ConvergenceError);
    const auto kink = [](double t) { return std::abs(t - 0.1); };
    const auto fine = expectation_gradient(p, kink, 1e-13), coarse = expectation_gradient(p, kink, 1e-4);
    EXPECT_NEAR(coarse.gamma, fine.gamma, 1e-3);
    EXPECT_NE(coarse.gamma, fine.gamma);
  }
}

TYPED_TEST(SmoothGradient, BadInput) {
  const TypeParam p(1, 0, 1);
  const auto message = [&p](auto psi, double accuracy) {
    return message_of<std::domain_error>([&] { static_cast<void>(expectation_gradient(p, psi, accuracy)); });
  };
  double at = kNaN;
  const auto nan = [&at](double t) { return at = t, kNaN; };
  const std::string got = message(nan, 1e-10);
  EXPECT_EQ(got, "fenchel::expectation: f(" + shortest(at) + ") must be a number, got nan");
  EXPECT_EQ(message([](double t) { return t; }, 0),
            "fenchel::expectation: accuracy must be positive and finite, got 0");
}

/// V(l^2 gamma, l^k scale) = l^2 V, k = 3 for the parabola and 2 for the triangular density.
TYPED_TEST(SmoothGradient, OfTheVarianceIsHomogeneous) {
  const double power = std::is_same_v<TypeParam, SmoothParabola> ? 3 : 2;
  for (const double gamma : {0., 1e-8, 1e-4, 0.05, 0.25, 0.3, 0.35, 1., 100., 1e8}) {
    const TypeParam p(gamma, 0, 0.8);
    const auto gradient = expectation_gradient(p, [](double t) { return t * t; });
    EXPECT_NEAR((2 * gamma * gradient.gamma + power * 0.8 * scale_derivative(gradient)) / (2 * variance(p)),
                1, 1e-11)
        << gamma;
  }
  const auto at_zero = expectation_gradient(TypeParam(0, 0, 0.8), [](double t) { return t * t; });
  EXPECT_NEAR(at_zero.gamma, power == 3 ? 1 : 4. / 3, 1e-12);
}

}  // namespace
}  // namespace fenchel
