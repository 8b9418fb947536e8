#include "core/tsallis_term.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/golden.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// The table has L = log_{2-alpha}(v) and its derivatives, from 60 digits; phi = v L / alpha.
TEST(TsallisTerm, AlphaDerivativesMatchTheTable) {
  int below_one = 0;
  for (const auto& row : testing::golden_rows("deformed.txt")) {
    const double am1 = row[0], v = row[4], log = row[5], first = row[6], second = row[7], alpha = 1 + am1;
    if (v > 1) continue;  // there the parts of the second one cancel
    SCOPED_TRACE(::testing::Message() << "am1 = " << am1 << ", v = " << v);
    ++below_one;
    const double grown = kExpMomentUlp * kEps * (1 + std::abs(am1 * std::log(v)));
    const double slope = v * (first - log / alpha) / alpha;
    EXPECT_NEAR(detail::tsallis_term_alpha_derivative(am1, v), slope, grown * std::abs(slope));
    const double curvature = v * (second - 2 * first / alpha + 2 * log / (alpha * alpha)) / alpha;
    EXPECT_NEAR(detail::tsallis_term_alpha_curvature(am1, v), curvature, grown * std::abs(curvature));
  }
  EXPECT_GT(below_one, 100);
}

TEST(TsallisTerm, AlphaCurvatureIsTotal) {
  for (const double alpha : testing::kAlphas) {
    EXPECT_EQ(detail::tsallis_term_alpha_curvature(alpha - 1, 0), 0);
    EXPECT_EQ(detail::tsallis_term_alpha_curvature(alpha - 1, 1), 0);
    EXPECT_LE(detail::tsallis_term_alpha_curvature(alpha - 1, 0.5), 0);
    EXPECT_TRUE(std::isnan(detail::tsallis_term_alpha_curvature(alpha - 1, testing::kNaN)));
  }
  EXPECT_EQ(detail::tsallis_term_alpha_curvature(testing::kInf, 0.5), 0);
  // l = log(1/2) at alpha = 1: p (l^3 / 3 - l^2 + 2 l).
  const double l = std::log(0.5);
  EXPECT_NEAR(detail::tsallis_term_alpha_curvature(0, 0.5), 0.5 * (l * l * l / 3 - l * l + 2 * l), 1e-15);
}

}  // namespace
}  // namespace fenchel
