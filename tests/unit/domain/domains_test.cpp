#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "fenchel/domain/euclidean.hpp"
#include "fenchel/domain/finite.hpp"
#include "fenchel/domain/grid.hpp"
#include "fenchel/domain/integers.hpp"
#include "fenchel/domain/interval.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::kNaN, testing::message_of;

TEST(Domain, AnIntervalHasBothOfItsEnds) {
  const Interval half(0, kInf);
  EXPECT_TRUE(half.contains(0) && half.contains(kInf));
  EXPECT_FALSE(half.contains(-5e-324) || half.contains(kNaN));
  EXPECT_EQ(Interval(-1, 2).width(), 3);
  EXPECT_EQ(message_of<std::domain_error>([] { Interval(kNaN, 0); }),
            "fenchel::interval: lower must be a number, got nan");
  EXPECT_EQ(message_of<std::domain_error>([] { Interval(1, 0); }),
            "fenchel::interval: upper must be at least lower, got 0");
  EXPECT_EQ(message_of<std::domain_error>([] { Interval(1, kNaN); }),
            "fenchel::interval: upper must be at least lower, got nan");
}

TEST(Domain, ARangeOfIntegersThatCannotBeCountedHasTheLargestSize) {
  constexpr index_t kLeast = std::numeric_limits<index_t>::min(), kMost = std::numeric_limits<index_t>::max();
  EXPECT_EQ((IntegerRange{-2, 3}.size()), 6);
  EXPECT_EQ((IntegerRange{1, kMost}.size()), kMost);
  EXPECT_EQ((IntegerRange{0, kMost}.size()), kMost);
  EXPECT_EQ((IntegerRange{kLeast, kMost}.size()), kMost);
  EXPECT_TRUE((IntegerRange{-2, 3}.contains(-2)));
  EXPECT_FALSE((IntegerRange{-2, 3}.contains(4)));
}

TEST(Domain, WithoutWeightsAFiniteSetIsCounted) {
  EXPECT_EQ(Finite().weight(7), 1);
  EXPECT_TRUE(Finite().weights().empty());
  EXPECT_EQ(Finite({0, 2}).weight(1), 2);
  EXPECT_EQ(message_of<std::domain_error>([] {
              Finite({1, kInf});
            }),
            "fenchel::finite: weights[1] must be finite and not negative, got inf");
  EXPECT_EQ(message_of<std::domain_error>([] {
              Finite({0, 0});
            }),
            "fenchel::finite: the largest weight must be positive, got 0");
}

TEST(Domain, SizesArePositive) {
  EXPECT_EQ(Grid(3, 4).size(), 12);
  EXPECT_EQ(Euclidean(3).dimension(), 3);
  EXPECT_EQ(message_of<std::domain_error>([] { Grid(0, 4); }),
            "fenchel::grid: height must be positive, got 0");
  EXPECT_EQ(message_of<std::domain_error>([] { Grid(3, -1); }),
            "fenchel::grid: width must be positive, got -1");
  EXPECT_EQ(message_of<std::invalid_argument>([] { Euclidean(0); }),
            "fenchel::euclidean: dimension must be positive, got 0");
}

}  // namespace
}  // namespace fenchel
