#include "fenchel/estimate/regression/determination.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::message_of;

TEST(Determination, DividesByTheVariationOfEither) {
  // SSE = 1; SS about the means 2 and 7/3: 2 and 14/3.
  const Determination got = determination(std::array{1.0, 2.0, 3.0}, std::array{1.0, 2.0, 4.0});
  EXPECT_DOUBLE_EQ(got.r2, 1 - 1.0 / 2);
  EXPECT_DOUBLE_EQ(got.r2_swapped, 1 - 1.0 / (14.0 / 3));
}

TEST(Determination, SwapsItsArguments) {
  const std::vector<double> a{1e9 + 1, 1e9 + 5, 1e9 + 2}, b{1e9 + 2, 1e9 + 4, 1e9 + 2};
  const Determination ab = determination(a, b), ba = determination(b, a);
  EXPECT_EQ(ab.r2, ba.r2_swapped);
  EXPECT_EQ(ab.r2_swapped, ba.r2);
  EXPECT_NEAR(ab.r2, 1 - 2 / (26.0 / 3), 1e-9);
}

TEST(Determination, AWeightIsSoManyRows) {
  const Determination weighted =
      determination(std::array{1.0, 5.0, 7.0}, std::array{2.0, 4.0, 0.0}, std::array{3.0, 2.0, 0.0});
  const Determination repeated =
      determination(std::array{1.0, 1.0, 1.0, 5.0, 5.0}, std::array{2.0, 2.0, 2.0, 4.0, 4.0});
  EXPECT_DOUBLE_EQ(weighted.r2, repeated.r2);
  EXPECT_DOUBLE_EQ(weighted.r2_swapped, repeated.r2_swapped);
}

TEST(Determination, NothingToExplain) {
  const Determination wrong = determination(std::array{1.0, 1.0}, std::array{1.0, 2.0});
  EXPECT_EQ(wrong.r2, -kInf);
  EXPECT_EQ(wrong.r2_swapped, -1);
  EXPECT_TRUE(std::isnan(determination(std::array{1.0}, std::array{1.0}).r2));
}

TEST(Determination, SizesMustAgree) {
  const std::vector<double> two{1, 2}, three{1, 2, 3};
  EXPECT_EQ(message_of<std::invalid_argument>([&] { static_cast<void>(determination(two, three)); }),
            "fenchel::determination: predictions must number 2, got 3");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { static_cast<void>(determination(two, two, three)); }),
            "fenchel::determination: weights must number 2, got 3");
}

}  // namespace
}  // namespace fenchel
