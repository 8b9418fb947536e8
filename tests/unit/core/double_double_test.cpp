#include "fenchel/core/double_double.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "support/grids.hpp"
#include "support/quad.hpp"

namespace fenchel {
namespace {

using testing::error_of;
using testing::kInf;
using testing::kNaN;
using testing::quad;
using testing::Quad;

constexpr double kMax = std::numeric_limits<double>::max();

class DoubleDoubleCases : public ::testing::Test {
 protected:
  /// Of any size within 2^+-60, with a low part.
  DoubleDouble draw() {
    const double high = std::ldexp(uniform_(generator_), exponent_(generator_));
    return DoubleDouble(high) + high * std::ldexp(uniform_(generator_), -54);
  }

 private:
  std::mt19937_64 generator_{1};
  std::uniform_real_distribution<double> uniform_{-1, 1};
  std::uniform_int_distribution<int> exponent_{-60, 60};
};

TEST_F(DoubleDoubleCases, ArithmeticIsThatOf32Digits) {
  for (int i = 0; i < 20000; ++i) {
    const DoubleDouble a = draw(), b = draw();
    const Quad x = quad(a), y = quad(b);
    const Quad size = (x < 0 ? -x : x) + (y < 0 ? -y : y);
    ASSERT_LT(error_of(a + b, x + y, size), 0x1p-104);
    ASSERT_LT(error_of(a - b, x - y, size), 0x1p-104);
    ASSERT_LT(error_of(a * b, x * y, x * y), 0x1p-102);
    ASSERT_LT(error_of(a / b, x / y, x / y), 0x1p-101);
    DoubleDouble sum = a;
    sum += b.high;
    ASSERT_LT(error_of(sum, x + Quad{b.high}, size), 0x1p-104);
    for (const DoubleDouble& c : {a + b, a - b, a * b, a / b, sum}) ASSERT_EQ(c.high + c.low, c.high);
  }
}

TEST_F(DoubleDoubleCases, ASumOrAProductOfTwoDoublesIsExact) {
  for (int i = 0; i < 20000; ++i) {
    const double a = draw().high, b = draw().high;
    ASSERT_EQ(DoubleDouble(a) * b, DoubleDouble::from_parts(a * b, std::fma(a, b, -(a * b))));
    ASSERT_EQ((DoubleDouble(a) + b) - a - b, DoubleDouble());
  }
}

TEST(DoubleDouble, LongSumsThatCancelAreExact) {
  DoubleDouble sum;
  for (int i = 0; i < 1000; ++i) sum += DoubleDouble(1e16 + i);
  sum += 1.0;
  for (int i = 0; i < 1000; ++i) sum -= 1e16 + i;
  EXPECT_EQ(sum, DoubleDouble(1));
}

TEST(DoubleDouble, InfinityAndNaNHaveNoLowPart) {
  const DoubleDouble third = DoubleDouble(1) / 3.0, infinite(kInf);
  for (const DoubleDouble& x :
       {third + infinite, infinite + third, infinite - third, infinite * third, infinite / third,
        DoubleDouble(kMax) + kMax, DoubleDouble(kMax) * 2.0, third / DoubleDouble(0), infinite + infinite}) {
    EXPECT_EQ(x.high, kInf);
    EXPECT_EQ(x.low, 0);
  }
  DoubleDouble sum = third;
  sum += kInf;
  EXPECT_EQ(sum, infinite);
  EXPECT_EQ(third - infinite, DoubleDouble(-kInf));
  EXPECT_EQ(third / infinite, DoubleDouble(0));
  for (const DoubleDouble& x :
       {infinite - infinite, infinite * 0.0, infinite / infinite, DoubleDouble(0) / 0.0, third + kNaN}) {
    EXPECT_TRUE(std::isnan(x.high));
    EXPECT_EQ(x.low, 0);
  }
}

TEST(DoubleDouble, TheLargestNumbersDivide) {
  EXPECT_NEAR((DoubleDouble(kMax) / 3.0 / kMax).value(), 1.0 / 3, 1e-16);
  EXPECT_EQ((DoubleDouble(kMax) / kMax).value(), 1.0);
}

}  // namespace
}  // namespace fenchel
