#include "fenchel/core/rows.hpp"

#include <gtest/gtest.h>

#include <array>
#include <type_traits>
#include <vector>

namespace fenchel {
namespace {

static_assert(std::is_trivially_copyable_v<Rows<float>>, "kernels take views by value");
static_assert(std::is_convertible_v<Rows<float>, Rows<const float>>);
static_assert(!std::is_convertible_v<Rows<const float>, Rows<float>>);

TEST(Rows, WalksAnyStride) {
  std::array<int, 12> memory{};
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<int>(i);
  const Rows<const int> padded(memory.data(), 3, 2, 4);
  EXPECT_EQ(padded[2][1], 9);
  const Rows<const int> reversed(memory.data() + 8, 3, 2, -4);
  EXPECT_EQ(reversed[0][0], 8);
  EXPECT_EQ(reversed[2][1], 1);
  const Rows<const int> repeated(memory.data() + 4, 3, 2, 0);
  EXPECT_EQ(repeated[0].data(), repeated[2].data());
}

TEST(PerRow, IsOneNumberOrOneARow) {
  const PerRow same = 1.5;
  EXPECT_EQ(same[0], 1.5);
  EXPECT_EQ(same[1000], 1.5);
  EXPECT_FALSE(same.per_row());
  const std::vector<double> values{1.0, 2.0};
  const PerRow each(values);
  EXPECT_EQ(each[1], 2.0);
  EXPECT_EQ(each.size(), 2);
  EXPECT_TRUE(each.per_row());
  const std::array fixed{3.0, 4.0, 5.0};
  EXPECT_EQ(PerRow(fixed)[2], 5.0);
  EXPECT_EQ(PerRow(std::span<const double>(values)).size(), 2);
}

}  // namespace
}  // namespace fenchel
