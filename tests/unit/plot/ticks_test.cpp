#include "plot/ticks.hpp"
#include "fenchel/core/infinity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace fenchel::plot {
namespace {

using Labels = std::vector<std::string>;
constexpr double kInf = kInfinity;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

const Range kRanges[] = {{0, 1},
                         {-1, 1},
                         {.1, .7},
                         {0, 14},
                         {-3.7, 12.2},
                         {1960, 2019},
                         {0, 1e-7},
                         {-1e300, 1e300},
                         {1e300, 1e300},
                         {1e-300, 2e-300},
                         {5, 5},
                         {0, 0},
                         {-4, -4},
                         {1, 1 + 1e-15},
                         {1e9, 1e9 + 1},
                         {-kInf, kInf},
                         {kNan, 3},
                         {2, -2},
                         {0, 1e300},
                         {-0.3, 0},
                         {.99999, 1.00001},
                         {1e-5, 1e5},
                         {-1e-280, 1e-280},
                         {123456, 123457}};

bool is_good(double step) {
  const double mantissa = step / std::pow(10., std::floor(std::log10(step) + 1e-9));
  return std::min({std::abs(mantissa - 1), std::abs(mantissa - 2), std::abs(mantissa - 5)}) < 1e-6;
}

TEST(Ticks, AreMultiplesOfAGoodStepThatCoverTheRange) {
  for (const Range& given : kRanges) {
    const Range range = proper(given);
    SCOPED_TRACE(testing::Message() << given.low << " to " << given.high);
    ASSERT_LT(range.low, range.high);
    const Ticks ticks = inner_ticks(given);
    EXPECT_TRUE(is_good(ticks.step)) << ticks.step;
    EXPECT_GE(ticks.values.size(), 3u);
    EXPECT_LE(ticks.values.size(), 8u);
    const double slack = 1e-5 * ticks.step;
    EXPECT_GE(ticks.values.front(), range.low - slack);
    EXPECT_LT(ticks.values.front(), range.low + ticks.step + slack);
    EXPECT_LE(ticks.values.back(), range.high + slack);
    EXPECT_GT(ticks.values.back(), range.high - ticks.step - slack);
    for (const double v : ticks.values) {
      EXPECT_NEAR(v / ticks.step, std::round(v / ticks.step), 1e-6);
    }
    EXPECT_TRUE(std::is_sorted(ticks.values.begin(), ticks.values.end()));
    Labels texts = labels(ticks);
    std::sort(texts.begin(), texts.end());
    EXPECT_EQ(std::unique(texts.begin(), texts.end()), texts.end());
  }
}

TEST(Ticks, AreFourToSevenForMostRanges) {
  for (double high = 1; high < 10; high += .01) {
    const std::size_t count = inner_ticks({0, high}).values.size();
    EXPECT_GE(count, 4u) << high;
    EXPECT_LE(count, 8u) << high;
  }
  EXPECT_LE(inner_ticks({0, 1}, 3).values.size(), 3u);
}

TEST(Ticks, ExtendedRangesHoldTheRangeAndLittleMore) {
  for (const Range& given : kRanges) {
    SCOPED_TRACE(testing::Message() << given.low << " to " << given.high);
    const Range range = proper(given), more = extended(given);
    const double length = range.high - range.low, slack = 1e-6 * length;
    EXPECT_LE(more.low, range.low + slack);
    EXPECT_GE(more.high, range.high - slack);
    EXPECT_LE(more.high - more.low, 1.5 * length);
  }
  EXPECT_EQ(extended({0, .4}).high, .4);
  EXPECT_EQ(extended({-.22, 10.22}).low, -1);
  EXPECT_EQ(extended({-.22, 10.22}).high, 11);
}

TEST(Labels, AreShort) {
  EXPECT_EQ(labels(inner_ticks({0, 1})), (Labels{"0", "0.2", "0.4", "0.6", "0.8", "1"}));
  EXPECT_EQ(labels(inner_ticks({-1, 1})), (Labels{"\u22121", "\u22120.5", "0", "0.5", "1"}));
  EXPECT_EQ(labels(inner_ticks({0, 10})), (Labels{"0", "2", "4", "6", "8", "10"}));
}

TEST(Labels, OfLargeAndSmallNumbersAreReadable) {
  EXPECT_EQ(labels(inner_ticks({1960, 2000})), (Labels{"1960", "1970", "1980", "1990", "2000"}));
  EXPECT_EQ(labels(inner_ticks({0, 20000})), (Labels{"0", "5,000", "10,000", "15,000", "20,000"}));
  EXPECT_EQ(labels(inner_ticks({0, 2e12})), (Labels{"0", "0.5\u00d710\u00b9\u00b2", "1\u00d710\u00b9\u00b2",
                                                    "1.5\u00d710\u00b9\u00b2", "2\u00d710\u00b9\u00b2"}));
  EXPECT_EQ(labels(inner_ticks({-1e-7, 3e-7})),
            (Labels{"\u22121\u00d710\u207b\u2077", "0", "1\u00d710\u207b\u2077", "2\u00d710\u207b\u2077",
                    "3\u00d710\u207b\u2077"}));
}

TEST(Labels, ZeroIsZero) {
  const Ticks ticks = inner_ticks({-.3, .3});
  EXPECT_EQ(std::count(ticks.values.begin(), ticks.values.end(), 0.), 1);
  const Labels texts = labels(ticks);
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "0"), 1);
}

}  // namespace
}  // namespace fenchel::plot
