#include "fenchel/core/gamma_ratio.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/golden.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

TEST(GammaRatio, MatchesTheTable) {
  for (const auto& block : testing::golden_blocks("beta_gaussian.txt")) {
    const auto n = static_cast<index_t>(block.at("case")[0]);
    const double am1 = block.at("case")[1] - 1, ratio = block.at("log_gamma_ratio")[0],
                 slope = block.at("log_gamma_ratio")[1];
    SCOPED_TRACE(::testing::Message() << "n=" << n << " am1=" << am1);
    EXPECT_NEAR(log_gamma_ratio(n, am1), ratio, kLogGammaRatioError * (1 + std::abs(ratio)));
    EXPECT_NEAR(log_gamma_ratio(n, am1), ratio, 1e-13 * std::abs(ratio));
    EXPECT_NEAR(log_gamma_ratio_slope(n, am1), slope, kLogGammaRatioError * slope);
  }
}

TEST(GammaRatio, PowerMassSlopeIsContinuousWhereItsFormulaChanges) {
  for (const index_t n : {1, 2, 3, 7}) {
    for (const double am1 : {-0.1, 1e-9, 0.5, 3.0, 1e6}) {
      for (const double edge : {0.75, 1.0, 1.25}) {
        const double below = log_power_mass_slope(n, am1, edge * (1 - 1e-13)),
                     above = log_power_mass_slope(n, am1, edge * (1 + 1e-13));
        EXPECT_NEAR(below, above, 1e-11) << n << " " << am1 << " " << edge;
      }
    }
    // Order 0 measures the support, from both sides.
    EXPECT_NEAR(log_power_mass_slope(n, 1.0, 0.0), log_power_mass_slope(n, 1.0, 1e-14), 1e-11);
    EXPECT_EQ(log_power_mass_slope(n, testing::kInf, 0.5), 0);
  }
}

}  // namespace
}  // namespace fenchel
