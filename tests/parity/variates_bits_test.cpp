// The contract: these bits, with every compiler, option and platform. The test is built and run with several.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>

#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"

namespace fenchel {
namespace {

struct Pinned {
  double first[4];
  std::uint64_t digest;  // of 100'000 draws, so that tails and rejections are among them
};

template <class Rng, class Draw>
void expect_bits(Rng rng, const Pinned& pinned, const Draw& draw) {
  std::uint64_t digest = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double value = draw(rng);
    if (i < 4) {
      EXPECT_EQ(value, pinned.first[i]) << "draw " << i << ": " << std::hexfloat << value;
    }
    digest = std::rotl(digest, 5) * 0x9E3779B97F4A7C15 + std::bit_cast<std::uint64_t>(value);
  }
  EXPECT_EQ(digest, pinned.digest) << std::hex << digest;
}

const Philox kRng(20240607, 3);

TEST(VariatesBits, Uniform) {
  expect_bits(kRng,
              {{0x1.a77d9798d22d7p-1, 0x1.c6493d5b9460ap-2, 0x1.f960f20c534d1p-1, 0x1.24c256ff82a46p-2},
               0x009dbbd1de212b97},
              [](auto& rng) { return uniform01(rng); });
}
TEST(VariatesBits, Exponential) {
  expect_bits(kRng,
              {{0x1.84b25c3e1efadp-3, 0x1.a02010f81ae1ap-1, 0x1.aa870fe964234p-7, 0x1.408b0a3f5e3dfp+0},
               0x5b8267cd503a62df},
              [](auto& rng) { return standard_exponential(rng); });
}
TEST(VariatesBits, Normal) {
  expect_bits(kRng,
              {{-0x1.ca99ab919a4b3p-2, 0x1.9608f5ac30572p+0, -0x1.0999dae4903f2p-5, 0x1.95a410f1ec13ap-1},
               0xcd9a5ce148621d7d},
              [](auto& rng) { return standard_normal(rng); });
}
TEST(VariatesBits, Gamma) {
  expect_bits(kRng,
              {{0x1.927171d50ecd6p+0, 0x1.0f44f87d573a9p+1, 0x1.429546c9ef178p-1, 0x1.3fbc28e2bdcb4p+1},
               0x5d6403c0b1682154},
              [](auto& rng) { return standard_gamma(2.5, rng); });
}
TEST(VariatesBits, GammaOfSmallShape) {
  expect_bits(kRng,
              {{0x1.89666731eebd6p-2, 0x1.8fd43679d9b8ap-8, 0x1.4af033593d99bp-29, 0x1.af32f9fc8b8f1p-7},
               0x99d639b924075f84},
              [](auto& rng) { return standard_gamma(0.1, rng); });
}
TEST(VariatesBits, LogGammaOfTinyShape) {
  expect_bits(kRng,
              {{-0x1.c0d34e477c155p+3, -0x1.1900c88cea5dcp+9, -0x1.ef65044087032p+10, -0x1.bb2ce40530459p+8},
               0xc2f41ef0a5df0c6e},
              [](auto& rng) { return standard_log_gamma(1e-3, rng); });
}
TEST(VariatesBits, Beta) {
  expect_bits(kRng,
              {{0x1.14f656e1bffa4p-2, 0x1.9236f2b652699p-4, 0x1.ab41b73a17b9p-2, 0x1.e9469c994e0eap-2},
               0x5db4c3a099962b5b},
              [](auto& rng) { return standard_beta(2, 3.5, rng); });
}
TEST(VariatesBits, BetaOfSmallShapes) {
  expect_bits(kRng,
              {{0x1.56babd0908b7bp-2, 0x1.190492564471fp-284, 0x1.9649b81008029p-139, 0x1.d6143a4d43a1ap-236},
               0x9a69cc811782f6ae},
              [](auto& rng) { return standard_beta(0.01, 0.25, rng); });
}

// The engines of the standard library, whose numbers the standard fixes: 64, 32, and 30 bits a draw.
TEST(VariatesBits, NormalFromMersenneTwister64) {
  expect_bits(std::mt19937_64(),
              {{-0x1.2019b09b8a8c3p-1, 0x1.5a1cf22225444p-1, -0x1.9bb242e5b78a8p-1, -0x1.129aff2184bfcp-3},
               0x6ccc0e5a215828a9},
              [](auto& rng) { return standard_normal(rng); });
}
TEST(VariatesBits, NormalFromMersenneTwister32) {
  expect_bits(std::mt19937(),
              {{0x1.62b55531be2b3p-2, -0x1.b459f6613e8bbp-2, -0x1.3ff6e049b98e4p-4, 0x1.2bfd311b7e715p-1},
               0x47069de789b94e76},
              [](auto& rng) { return standard_normal(rng); });
}
TEST(VariatesBits, NormalFromMinimalStandard) {
  expect_bits(std::minstd_rand(),
              {{0x1.631f6e4839228p-2, 0x1.a065dd0888fc5p-2, -0x1.324bf0cc04ea9p+0, -0x1.dae2c1be04a34p-1},
               0x7fff8051b535416a},
              [](auto& rng) { return standard_normal(rng); });
}

}  // namespace
}  // namespace fenchel
