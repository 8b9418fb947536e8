#include "fenchel/core/deformed.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fenchel/core/deformed_derivatives.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

using testing::kInf;

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// docs/math.md, golden values 1 to 3; log_b and exp_b have am1 = 1 - b.
TEST(Deformed, MatchesTheGoldenValues) {
  const double b43 = 1.0 - 4.0 / 3;
  EXPECT_NEAR(deformed_log(0.5, 2.0), 0.8284271247461901, 1e-15);
  EXPECT_NEAR(deformed_log(b43, 2.0), 0.61889842204770079, 1e-15);
  EXPECT_NEAR(deformed_exp(0.5, -0.7), 0.4225, 1e-15);
  EXPECT_NEAR(deformed_exp(1.0 / 3, 0.25), 1.271412037037037, 2e-15);
  EXPECT_NEAR(deformed_exp(-0.3, 0.4), 1.5312911039802308, 2e-15);
  EXPECT_NEAR(deformed_log(1e-9, 3.0), 1.0986122892715842, 1e-15);
  EXPECT_NEAR(deformed_exp(-1e-9, 2.0), 7.3890561137087625, 1e-14);
}

TEST(Deformed, StaysWithinItsBoundsAgainstTheTable) {
  for (const auto& row : testing::golden_rows("deformed.txt")) {
    const double am1 = row[0], u = row[1], log_exp = row[2], exp = row[3], v = row[4], log = row[5];
    SCOPED_TRACE(::testing::Message() << "am1 = " << am1 << ", u = " << u << ", v = " << v);
    const double edge = 1 / std::min(1.0, 2 * std::abs(1 + am1 * u));
    EXPECT_NEAR(log_deformed_exp(am1, u), log_exp, kDeformedLogUlp * kEps * edge * std::abs(log_exp));
    EXPECT_NEAR(deformed_exp(am1, u), exp, kDeformedExpUlp * kEps * exp * edge * (1 + std::abs(log_exp)));
    const double grown = 1 + std::abs(am1 * std::log(v));
    EXPECT_NEAR(deformed_log(am1, v), log, kDeformedLogUlp * kEps * grown * std::abs(log));
    EXPECT_NEAR(deformed_log_alpha_derivative<1>(am1, std::log(v)), row[6],
                kExpMomentUlp * kEps * grown * std::abs(row[6]));
    EXPECT_NEAR(deformed_log_alpha_derivative<2>(am1, std::log(v)), row[7],
                kExpMomentUlp * kEps * grown * std::abs(row[7]));
  }
}

TEST(Deformed, IsTotal) {
  EXPECT_EQ(deformed_exp(0.5, -2.0), 0);
  EXPECT_EQ(deformed_exp(0.5, -1e300), 0);
  EXPECT_EQ(log_deformed_exp(0.5, -2.0), -kInf);
  EXPECT_EQ(deformed_exp(-0.5, 2.0), kInf) << "at the pole";
  EXPECT_EQ(deformed_exp(-0.5, 3.0), kInf) << "past the pole";
  EXPECT_EQ(deformed_exp(-0.5, -kInf), 0);
  EXPECT_EQ(deformed_exp(0.0, -kInf), 0);
  EXPECT_EQ(deformed_log(0.5, 0.0), -2);
  EXPECT_EQ(deformed_log(0.0, 0.0), -kInf);
  EXPECT_EQ(deformed_log(-0.5, 0.0), -kInf);
  for (const double am1 : {-0.5, 0.0, 0.5}) {
    EXPECT_TRUE(std::isnan(deformed_exp(am1, testing::kNaN)));
    EXPECT_TRUE(std::isnan(deformed_log(am1, testing::kNaN)));
    EXPECT_TRUE(std::isnan(deformed_log(am1, -1.0)));
  }
}

TEST(Deformed, LogInvertsExpInsideTheSupportOnly) {
  for (const double alpha : testing::kAlphas) {
    const double am1 = alpha - 1;
    for (const double u : {-0.3, -1e-6, 1e-6, 0.2, 0.9}) {
      if (1 + am1 * u <= 0.05) continue;
      EXPECT_NEAR(deformed_log(am1, deformed_exp(am1, u)), u, 1e-14 * (1 + std::abs(am1))) << am1 << ' ' << u;
    }
  }
  EXPECT_EQ(deformed_log(0.5, deformed_exp(0.5, -3.0)), -2)
      << "docs/math.md E14: below the support it is -1/am1";
}

TEST(Deformed, FloatCarriesAlphaThroughOne) {
  EXPECT_NEAR(deformed_exp(1e-6f, -3.0f), std::exp(-3.0f), 1e-6f);
  EXPECT_NEAR(deformed_log(1e-6f, 0.1f), std::log(0.1f), 1e-5f);
}

TEST(ExpMoment, JoinsItsTwoBranches) {
  const auto brute = [](int n, long double y) {
    long double sum = 0;
    constexpr int kSteps = 4000;  // Simpson's rule
    for (int k = 0; k <= kSteps; ++k) {
      const long double t = k / static_cast<long double>(kSteps);
      sum += (k == 0 || k == kSteps ? 1 : k % 2 ? 4 : 2) * std::pow(t, n) * std::exp(t * y);
    }
    return static_cast<double>(sum / (3 * kSteps));
  };
  for (const double y : {-40.0, -3.0, -1.0001, -1.0, -0.9999, -1e-9, 0.0, 0.5, 0.9999, 1.0001, 7.0}) {
    EXPECT_NEAR(exp_moment<0>(y) / brute(0, y), 1, 3e-10) << y;
    EXPECT_NEAR(exp_moment<1>(y) / brute(1, y), 1, 3e-10) << y;
    EXPECT_NEAR(exp_moment<2>(y) / brute(2, y), 1, 3e-10) << y;
  }
}

TEST(LogDeformedExp, AlphaDerivativeJoinsItsTwoBranches) {
  for (const double am1 : {-0.5, 0.25, 3.0}) {
    for (const double y : {-0.9, -0.11, -0.1, -0.09, -1e-3, 1e-3, 0.09, 0.1, 0.11, 0.5, 7.0}) {
      const long double u = y / am1, exact_y = am1 * u;
      const auto exact = static_cast<double>((exact_y / (1 + exact_y) - std::log1p(exact_y)) /
                                             (static_cast<long double>(am1) * am1));
      EXPECT_NEAR(log_deformed_exp_alpha_derivative(am1, y / am1), exact, 64 * kEps * std::abs(exact)) << y;
    }
  }
  EXPECT_EQ(log_deformed_exp_alpha_derivative(0.0, 3.0), -4.5);
}

}  // namespace
}  // namespace fenchel
