#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "device_beta_gaussian.hpp"
#include "fenchel/backend/cpu/beta_gaussian_batch.hpp"
#include "fenchel/backend/cuda/beta_gaussian_batch.hpp"

namespace fenchel {
namespace {

using test::DeviceArray, test::DeviceBetaGaussian;
using testing::BetaGaussianCase;

class CudaSample : public test::GpuTest {};

template <class Real>
auto bits_of(Real x) {
  return std::bit_cast<std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>>(x);
}

/// Every number of the CPU, bit by bit.
template <class Real>
void expect_the_draws_of_the_cpu(const cpu::BetaGaussianParams& p, index_t rows, std::uint64_t seed,
                                 std::uint64_t first_stream) {
  const auto cols = std::ssize(p.mu);
  std::vector<Real> expected(static_cast<std::size_t>(rows * cols));
  cpu::sample_rows(p, seed, first_stream, Rows<Real>(expected.data(), rows, cols));
  const DeviceBetaGaussian device(p);
  const DeviceArray<Real> out(expected.size());
  cuda::sample_rows(device.params(), seed, first_stream, out.rows(rows), nullptr);
  const std::vector<Real> got = out.values();
  std::size_t different = 0;
  for (std::size_t k = 0; k < got.size(); ++k) different += bits_of(got[k]) != bits_of(expected[k]);
  EXPECT_EQ(different, 0u) << "of " << got.size() << ", " << cols << " columns, am1 = " << p.constants.am1;
}

TEST_F(CudaSample, HasTheBitsOfTheCpu) {
  for (const double alpha : testing::kBetaGaussianAlphas) {
    for (const index_t n : {1, 2, 3}) {
      const BetaGaussianCase p(alpha, n);
      for (const index_t rows : {1, 31, 257, 20000}) {
        expect_the_draws_of_the_cpu<double>(p.params(), rows, 7, 1000);
        expect_the_draws_of_the_cpu<float>(p.params(), rows, ~std::uint64_t{0}, ~std::uint64_t{0} - 100);
      }
    }
  }
}

TEST_F(CudaSample, HasThemInManyDimensionsToo) {
  for (const double alpha : {0.999, 1.0, 1.5, 5.0}) {
    for (const index_t n : {4, 7, 33, 64, 129, 600}) {
      const BetaGaussianCase p(alpha, n);
      expect_the_draws_of_the_cpu<double>(p.params(), n > 100 ? 300 : 3000, 3, 5);
    }
  }
}

TEST_F(CudaSample, OfASmallerRankLieOnTheImage) {
  const std::vector<double> mu{1, 2, 3, 4}, whitening(3 * 4, 0.0);
  std::vector<double> factor(4 * 3);
  for (std::size_t k = 0; k < factor.size(); ++k) factor[k] = static_cast<double>(k % 5) - 1;
  for (const index_t rank : {1, 2, 3}) {
    const cpu::BetaGaussianParams p{
        beta_gaussian_constants(rank, 0.5, 0.3), mu, {whitening.data(), rank, 4}, {factor.data(), 4, rank}};
    expect_the_draws_of_the_cpu<double>(p, 1000, 1, 0);
  }
}

TEST_F(CudaSample, WritesAnyRowsAndNothingBeside) {
  const BetaGaussianCase p(1.5, 3);
  constexpr index_t kRows = 50, kStride = 11, kStep = 3;
  std::vector<double> expected(kRows * 3);
  cpu::sample_rows(p.params(), 9, 0, Rows<double>(expected.data(), kRows, 3));
  const DeviceBetaGaussian device(p.params());
  const DeviceArray<double> out(kRows * kStride);
  cuda::DeviceRows<double> rows(out.data() + 1, kRows, 3, kStride);
  rows.step = kStep;
  cuda::sample_rows(device.params(), 9, 0, rows, nullptr);
  const std::vector<double> got = out.values();
  for (index_t k = 0; k < kRows * kStride; ++k) {
    const index_t row = k / kStride, column = k % kStride - 1;
    const bool written = column >= 0 && column % kStep == 0 && column / kStep < 3;
    const auto at = static_cast<std::size_t>(k);
    if (written) {
      EXPECT_EQ(got[at], expected[static_cast<std::size_t>(row * 3 + column / kStep)]);
    } else {
      EXPECT_EQ(bits_of(got[at]), ~std::uint64_t{0}) << k;
    }
  }
}

TEST_F(CudaSample, DirectionsAreThoseOfTheCpu) {
  std::vector<double> seeds(1000);
  for (std::size_t k = 0; k < seeds.size(); ++k) seeds[k] = static_cast<double>(k * k);
  for (const index_t n : {1, 2, 3, 10}) {
    std::vector<double> expected(seeds.size() * static_cast<std::size_t>(n));
    cpu::draw_directions(seeds, Rows<double>(expected.data(), std::ssize(seeds), n));
    const DeviceArray<double> in(seeds), out(expected.size());
    cuda::draw_directions(in.data(), std::ssize(seeds), n, out.data(), nullptr);
    const std::vector<double> got = out.values();
    for (std::size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], expected[k], 2.3e-16) << n;
  }
}

TEST_F(CudaSample, RefusesWhatDoesNotFit) {
  const BetaGaussianCase p(1.5, 2);
  const DeviceBetaGaussian device(p.params());
  const DeviceArray<double> out(6);
  cuda::sample_rows(device.params(), 1, 0, cuda::DeviceRows<double>(out.data(), 0, 2), nullptr);
  EXPECT_THROW(cuda::sample_rows(device.params(), 1, 0, out.rows(2), nullptr), std::invalid_argument);
  cuda::BetaGaussianParams none = device.params();
  none.constants.am1 = -1;
  EXPECT_THROW(cuda::sample_rows(none, 1, 0, out.rows(3), nullptr), std::domain_error);
}

}  // namespace
}  // namespace fenchel
