#include "fenchel/core/normalizer.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/reference.hpp"

namespace fenchel {
namespace {

using testing::kInf;

std::vector<double> less_maximum(std::vector<double> z) {
  const double top = *std::max_element(z.begin(), z.end());
  for (double& x : z) x -= top;
  return z;
}

TEST(Normalizer, MatchesTheTable) {
  for (auto& block : testing::golden_blocks("entmax.txt")) {
    const double alpha = block["alpha"][0];
    const auto& z = block["scores"];
    SCOPED_TRACE(::testing::Message() << "alpha = " << alpha << ", " << z.size() << " scores from " << z[0]);
    const double top = *std::max_element(z.begin(), z.end());
    std::vector<double> p = less_maximum(z);
    const Normalization found = normalize(alpha - 1, p);
    for (std::size_t i = 0; i < p.size(); ++i)
      EXPECT_NEAR(p[i], block["p"][i], 2e-14 * block["p"][i] + 4e-16);
    EXPECT_NEAR(top + found.offset, block["normalizer"][0], 1e-14 * std::abs(block["normalizer"][0]) + 1e-15);
    if (alpha == 1) {
      EXPECT_EQ(found.threshold, -kInf);
    } else {
      EXPECT_NEAR(top + found.threshold, block["threshold"][0],
                  2e-14 * std::abs(block["threshold"][0]) + 1e-15);
    }
  }
}

/// An atom of weight w stands for w atoms of weight one.
TEST(Normalizer, WeightsRepeatAtoms) {
  for (const double alpha : testing::kAlphas) {
    std::vector<double> merged{0, -0.1, -0.4, -1}, repeated{0, 0, -0.1, -0.1, -0.1, -0.4, -1, -1};
    const std::vector<double> weights{2, 3, 1, 2};
    const auto found = normalize(alpha - 1, merged, weights), expected = normalize(alpha - 1, repeated);
    EXPECT_NEAR(found.offset, expected.offset, 4e-15) << alpha;
    EXPECT_NEAR(merged[0], repeated[0], 4e-15) << alpha;
    EXPECT_NEAR(merged[1], repeated[2], 4e-15) << alpha;
    EXPECT_NEAR(merged[2], repeated[5], 4e-15) << alpha;
    EXPECT_NEAR(merged[3], repeated[6], 4e-15) << alpha;
  }
}

TEST(Normalizer, SmallWeightsMakeDensitiesAboveOne) {
  for (const double alpha : testing::kAlphas) {
    std::vector<double> p{0, -0.2, -0.7};
    const std::vector<double> weights{0.01, 0.02, 0.005};
    const auto found = normalize(alpha - 1, p, weights);
    EXPECT_NEAR(0.01 * p[0] + 0.02 * p[1] + 0.005 * p[2], 1, 4e-16) << alpha;
    EXPECT_GT(p[0], 1);
    if (alpha > 10) continue;  // p^am1 is past the largest double, and so is A
    for (std::size_t i = 0; i < 2; ++i) {
      const double d = i == 0 ? 0 : -0.2;
      EXPECT_NEAR(deformed_exp(alpha - 1, d - found.offset), p[i], 1e-12 * p[i]) << alpha;
    }
  }
}

/// Each Newton step on these scores drops few atoms: the safeguard must end it.
/// Also where am1 times their difference is no double above 0.
TEST(Normalizer, ScoresThatHardlyDifferShareTheMass) {
  for (const double alpha : testing::kAlphas) {
    if (alpha > 10) continue;  // the smallest difference leaves a score without mass
    for (const double d : {-1e-300, -9e-317, -5e-324}) {
      std::vector<double> values{0, d}, equal{0, 0};
      const double offset = normalize(alpha - 1, values).offset;
      EXPECT_NEAR(offset, normalize(alpha - 1, equal).offset, 1e-15) << alpha << ' ' << d;
      for (const double p : values) EXPECT_NEAR(p, 0.5, 1e-15) << alpha << ' ' << d;
    }
  }
}

TEST(Normalizer, EndsOnSlowlyShrinkingSupports) {
  for (const double alpha : {1.5, 1.9, 2.0}) {
    std::vector<double> p;
    for (int k = 0; k < 400; ++k) p.push_back(-1 + std::pow(0.95, k));
    const testing::ExtendedVector z(p.begin(), p.end());
    const auto expected = testing::reference_entmax(alpha, z);
    normalize(alpha - 1, p);
    for (std::size_t i = 0; i < p.size(); ++i)
      ASSERT_NEAR(p[i], double(expected[i]), 1e-14) << alpha << ' ' << i;
  }
}

TEST(Normalizer, InfiniteAlphaIsUniformOverTheMaxima) {
  std::vector<double> p{-1e-300, 0, -kInf, 0};
  const auto found = normalize(kInf, p);
  EXPECT_EQ(p, (std::vector<double>{0, 0.5, 0, 0.5}));
  EXPECT_EQ(found.offset, 0);
  EXPECT_EQ(found.threshold, 0);
}

}  // namespace
}  // namespace fenchel
