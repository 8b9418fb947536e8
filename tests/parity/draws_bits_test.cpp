// The contract: these bits, with every compiler, option, instruction set and platform.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "backend/cpu/beta_gaussian/kernels.hpp"

namespace fenchel {
namespace {

using detail::kBlock;

void expect_bits(const detail::PolarLaw& law, double first_x, double first_y, std::uint64_t expected) {
  std::uint64_t digest = 0;
  for (std::uint64_t block = 0; block < 500; ++block) {
    double x[kBlock], y[kBlock];
    detail::polar_pairs(law, 20240607, block, ~std::uint64_t{0} - 30, x, y);
    if (block == 0) {
      EXPECT_EQ(x[0], first_x) << std::hexfloat << x[0];
      EXPECT_EQ(y[0], first_y) << std::hexfloat << y[0];
    }
    for (index_t k = 0; k < kBlock; ++k) {
      for (const double value : {x[k], y[k]})
        digest = std::rotl(digest, 5) * 0x9E3779B97F4A7C15 + std::bit_cast<std::uint64_t>(value);
    }
  }
  EXPECT_EQ(digest, expected) << std::hex << digest;
}

TEST(DrawsBits, OfTheGaussian) {
  expect_bits({2, 0}, -0x1.0490a2746e5c4p-1, -0x1.0987e81c7660dp+1, 0xfeb4d67a7d4dfa79);
}
TEST(DrawsBits, OfBoundedSupport) {
  expect_bits({3.7, 0.3}, -0x1.4a60a50c7ca22p-2, -0x1.50ac869105639p+0, 0x12031dbf2487c9e5);
}
TEST(DrawsBits, OfHeavyTails) {
  expect_bits({-1.9, -0.8}, -0x1.7f88847e5e5fdp-1, -0x1.86d7bd8bf3f4dp+1, 0x130410d36e07e17e);
}

TEST(DrawsBits, OfTheAffineMap) {
  const double mu[] = {0.1, -0.7}, factor[] = {1.1, 0.3, -0.2, 0.9};
  const cpu::BetaGaussianParams p{{}, mu, {}, {factor, 2, 2}};
  double z[2 * kBlock], sum[kBlock], out[2 * kBlock];
  for (index_t k = 0; k < 2 * kBlock; ++k) z[k] = 1 / static_cast<double>(3 + k);
  detail::affine_rows(p, z, sum, Rows<double>(out, kBlock, 2));
  for (index_t k = 0; k < kBlock; ++k) {
    const double a = z[k], b = z[kBlock + k];
    volatile double products[] = {1.1 * a, 0.3 * b, -0.2 * a, 0.9 * b};  // each rounded on its own
    volatile double sums[] = {products[0] + products[1], products[2] + products[3]};
    EXPECT_EQ(out[2 * k], 0.1 + sums[0]);
    EXPECT_EQ(out[2 * k + 1], -0.7 + sums[1]);
  }
}

}  // namespace
}  // namespace fenchel
