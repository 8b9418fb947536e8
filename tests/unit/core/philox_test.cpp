#include "fenchel/core/philox.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <type_traits>

namespace fenchel {
namespace {

static_assert(std::uniform_random_bit_generator<Philox>);
static_assert(std::is_trivially_copyable_v<Philox>, "kernels take generators by value");

// The three known answers of Random123's kat_vectors for philox4x32 with 10 rounds.
static_assert(philox4x32({{0, 0, 0, 0}}, {{0, 0}}) ==
              PhiloxCounter{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
static_assert(philox4x32({{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, {{0xffffffff, 0xffffffff}}) ==
              PhiloxCounter{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
static_assert(philox4x32({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, {{0xa4093822, 0x299f31d0}}) ==
              PhiloxCounter{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});

constexpr std::uint64_t nth(Philox rng, std::uint64_t n) {
  rng.discard(n);
  return rng();
}

// The words of the first known answer, the low word first.
static_assert(nth(Philox(0, 0), 0) == 0xe169c58d'6627e8d5 && nth(Philox(0, 0), 1) == 0x9b00dbd8'bc57ac4c);
TEST(Philox, GivesTheKnownAnswersAtRunTime) {
  volatile std::uint32_t zero = 0;
  EXPECT_EQ(philox4x32({{zero, 0, 0, 0}}, {{0, 0}}),
            (PhiloxCounter{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}));
}

TEST(Philox, LaysOutSeedStreamAndPositionAsDocumented) {
  const std::uint64_t seed = 0x0123456789abcdef, stream = 0xfedcba9876543210;
  const std::uint64_t position = 0x9000000000000000;
  const PhiloxCounter block =
      philox4x32({{0, 0x48000000, 0x76543210, 0xfedcba98}}, {{0x89abcdef, 0x01234567}});
  EXPECT_EQ(nth(Philox(seed, stream), position), std::uint64_t{block.words[1]} << 32 | block.words[0]);
  EXPECT_EQ(nth(Philox(seed, stream), position + 1), std::uint64_t{block.words[3]} << 32 | block.words[2]);
}

TEST(Philox, DiscardsAsIfItDrew) {
  for (const int start : {0, 1, 2, 3})
    for (const int skipped : {0, 1, 2, 3, 4, 1001}) {
      Philox jumper(5, 9), walker(5, 9);
      for (int i = 0; i < start; ++i) EXPECT_EQ(jumper(), walker());
      jumper.discard(static_cast<std::uint64_t>(skipped));
      for (int i = 0; i < skipped; ++i) walker();
      EXPECT_EQ(jumper, walker);
      for (int i = 0; i < 5; ++i) EXPECT_EQ(jumper(), walker()) << start << " " << skipped;
    }
}

TEST(Philox, ComparesWhatComesNext) {
  Philox drawn(1, 2), jumped(1, 2);
  drawn();
  EXPECT_NE(drawn, jumped);
  jumped.discard(1);
  EXPECT_EQ(drawn, jumped);
  EXPECT_NE(Philox(1, 2), Philox(2, 1));
  EXPECT_NE(Philox(1, 2), Philox(1, 3));
}

// Each bit of each number changes with probability 1/2 when one bit of seed, stream or position does.
TEST(Philox, MixesEveryBitOfItsState) {
  double total = 0;
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t flip = std::uint64_t{1} << bit, base = nth(Philox(11, 22), 33);
    const int changed[] = {std::popcount(base ^ nth(Philox(11 ^ flip, 22), 33)),
                           std::popcount(base ^ nth(Philox(11, 22 ^ flip), 33)),
                           std::popcount(base ^ nth(Philox(11, 22), 33 ^ flip))};
    for (const int count : changed) {
      EXPECT_GT(count, 10);  // 5.5 standard deviations of 4 bits about 32
      EXPECT_LT(count, 54);
      total += count;
    }
  }
  EXPECT_NEAR(total / (3 * 64), 32, 4 * 4 / std::sqrt(3. * 64));
}

}  // namespace
}  // namespace fenchel
