#include "fenchel/regularizer/tsallis.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

const std::vector<double> kP{0.5, 0.3, 0.2};

/// docs/math.md, golden values 4 to 7.
TEST(Tsallis, NegentropyMatchesTheGoldenValues) {
  EXPECT_NEAR(tsallis_negentropy(4.0 / 3, kP), -0.64205807052326542, 1e-15);
  EXPECT_NEAR(tsallis_negentropy(1.5, kP), -0.52358283074024642, 1e-15);
  EXPECT_NEAR(tsallis_negentropy(2, kP), -0.31, 1e-15);
  EXPECT_NEAR(tsallis_negentropy(0.5, kP), -2.8081717367666863, 4e-15);
}

TEST(Tsallis, NegentropyMatchesTheTable) {
  for (auto& block : testing::golden_blocks("entmax.txt")) {
    const double expected = block["negentropy"][0];
    EXPECT_NEAR(tsallis_negentropy(block["alpha"][0], block["p"]), expected,
                1e-14 * std::abs(expected) + 1e-16)
        << block["alpha"][0];
  }
}

TEST(Tsallis, NegentropyGoesThroughOneWithoutAJump) {
  double shannon = 0;
  for (const double p : kP) shannon += p * std::log(p);
  EXPECT_NEAR(tsallis_negentropy(1, kP), shannon, 1e-15);
  EXPECT_NEAR(tsallis_negentropy(std::nextafter(1.0, 2.0), kP), shannon, 1e-15);
  EXPECT_NEAR(tsallis_negentropy(1 + 1e-8, kP), shannon, 2e-8);
  EXPECT_EQ(tsallis_negentropy(testing::kInf, kP), 0);
  EXPECT_EQ(tsallis_negentropy(1, std::vector<double>{1, 0}), 0) << "0 log 0 is 0";
}

TEST(Tsallis, WeightsRepeatAtoms) {
  for (const double alpha : testing::kAlphas) {
    EXPECT_NEAR(tsallis_negentropy(alpha, std::vector<double>{0.2, 0.3}, std::vector<double>{2, 2}),
                tsallis_negentropy(alpha, std::vector<double>{0.2, 0.2, 0.3, 0.3}), 1e-14);
  }
}

TEST(Tsallis, AlphaGradientIsTheSlope) {
  for (const double alpha : testing::kAlphas) {
    if (alpha > 100) continue;
    const double h = 1e-5 * alpha;
    const double slope = (tsallis_negentropy(alpha + h, kP) - tsallis_negentropy(alpha - h, kP)) / (2 * h);
    EXPECT_NEAR(tsallis_negentropy_alpha_gradient(alpha, kP), slope, 1e-9 * std::max(1.0, std::abs(slope)))
        << alpha;
  }
  EXPECT_EQ(tsallis_negentropy_alpha_gradient(testing::kInf, kP), 0);
}

TEST(Tsallis, BadParametersAreNamed) {
  using testing::message_of;
  EXPECT_EQ(message_of<std::domain_error>([] { Tsallis(0); }),
            "fenchel::tsallis: alpha must be positive, got 0");
  EXPECT_EQ(message_of<std::domain_error>([] { Tsallis(testing::kNaN); }),
            "fenchel::tsallis: alpha must be positive, got nan");
  EXPECT_EQ(message_of<std::domain_error>([] { Tsallis(2, -3); }),
            "fenchel::tsallis: temperature must be positive and finite, got -3");
  EXPECT_EQ(message_of<std::domain_error>([] { Shannon omega(testing::kInf); }),
            "fenchel::shannon: temperature must be positive and finite, got inf");
  EXPECT_EQ(message_of<std::domain_error>([] { static_cast<void>(tsallis_negentropy(-1, kP)); }),
            "fenchel::tsallis_negentropy: alpha must be positive, got -1");
  EXPECT_EQ(message_of<std::invalid_argument>(
                [] { static_cast<void>(tsallis_negentropy(1, kP, std::vector<double>{1})); }),
            "fenchel::tsallis_negentropy: weights.size() must be 0 or p.size() = 3, got 1");
}

}  // namespace
}  // namespace fenchel
