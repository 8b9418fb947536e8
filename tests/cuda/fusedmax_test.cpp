#include "fenchel/backend/cuda/fusedmax.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "fenchel/backend/cpu/fusedmax.hpp"
#include "fenchel/core/infinity.hpp"
#include "gpu.hpp"

namespace fenchel {
namespace {

using test::DeviceArray;

constexpr double kInf = kInfinity;

template <class T>
class CudaFusedmax : public test::GpuTest {
 protected:
  /// The map on the GPU of rows in any layout; `poison` elements lie before and after the memory of p.
  static std::vector<T> mapped(const std::vector<T>& scores, cuda::DeviceRows<const T> in, PerRow gamma,
                               std::size_t size, cuda::DeviceRows<T> out) {
    const DeviceArray<T> z(scores), p(size + 2 * kPoison);
    const std::size_t bytes = cuda::fusedmax_scratch_bytes<T>(in.rows, in.cols);
    const DeviceArray<double> scratch(bytes / sizeof(double) + 1);
    in.data = z.data();
    out.data = p.data() + kPoison;
    cuda::fusedmax(in, gamma, out, bytes > 0 ? scratch.data() : nullptr, nullptr);
    std::vector<T> all = p.values();
    for (std::size_t k = 0; k < kPoison; ++k) {
      EXPECT_TRUE(poisoned(all[k])) << k;
      EXPECT_TRUE(poisoned(all[size + kPoison + k])) << k;
    }
    return {all.begin() + kPoison, all.end() - kPoison};
  }
  static std::vector<T> mapped(const std::vector<T>& scores, index_t rows, PerRow gamma) {
    const index_t cols = static_cast<index_t>(scores.size()) / rows;
    return mapped(scores, {nullptr, rows, cols}, gamma, scores.size(), {nullptr, rows, cols});
  }

  static bool poisoned(const T& x) {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &x, sizeof x);
    return std::ranges::all_of(bytes, [](unsigned char byte) { return byte == 0xFF; });
  }

  static std::vector<T> rounded(const std::vector<double>& x) {
    std::vector<T> out;
    for (const double value : x) out.push_back(test::stored<T>(value));
    return out;
  }

  static double epsilon() {
    return std::is_same_v<T, double>           ? 0
           : std::is_same_v<T, float>          ? 0x1p-24
           : std::is_same_v<T, cuda::BFloat16> ? 0x1p-8
                                               : 0x1p-11;
  }

  /// That `got` is fusedmax of the scores as they are stored, to kFusedmaxError and one rounding, with equal
  /// numbers where the exact p has plateaus.
  static void expect_map(const std::vector<T>& scores, index_t rows, const std::vector<double>& gammas,
                         const std::vector<T>& got, const std::string& what) {
    const index_t cols = static_cast<index_t>(scores.size()) / rows;
    std::vector<double> z, expected(scores.size());
    for (const T& x : scores) z.push_back(test::widened(x));
    cpu::fusedmax<double>({z.data(), rows, cols}, PerRow(gammas), {expected.data(), rows, cols});
    for (index_t i = 0; i < rows; ++i) {
      double low = kInf, high = -kInf, sum = 0;
      for (index_t j = 0; j < cols; ++j) {
        const double x = z[static_cast<std::size_t>(i * cols + j)];
        if (!std::isfinite(x)) continue;
        low = std::min(low, x);
        high = std::max(high, x);
      }
      const double bound = cpu::kFusedmaxError * (1 + (high - low) + gammas[static_cast<std::size_t>(i)]);
      for (index_t j = 0; j < cols; ++j) {
        const auto k = static_cast<std::size_t>(i * cols + j);
        const double p = test::widened(got[k]);
        if (std::isnan(expected[k])) {
          ASSERT_TRUE(std::isnan(p)) << what << ", row " << i << ", column " << j;
          continue;
        }
        ASSERT_NEAR(p, expected[k], bound + (1.001 * epsilon()) * expected[k] + (epsilon() > 0 ? 0x1p-25 : 0))
            << what << ", row " << i << ", column " << j;
        sum += p;
      }
      if (std::is_same_v<T, double>) {
        ASSERT_TRUE(std::isnan(expected[static_cast<std::size_t>(i * cols)]) || std::abs(sum - 1) < 1e-12)
            << what << ", row " << i << ": " << sum;
      }
    }
  }

  static constexpr std::size_t kPoison = 64;
};

using Types = testing::Types<double, float, cuda::Half, cuda::BFloat16>;
TYPED_TEST_SUITE(CudaFusedmax, Types);

TYPED_TEST(CudaFusedmax, IsThatOfTheCpuAtEveryLength) {
  std::mt19937 rng(1);
  std::normal_distribution<double> normal;
  for (const index_t cols :
       {1,   2,    3,    4,    5,    7,    15,   16,   17,   31,   32,   33,   63,   64,
        67,  68,   69,   127,  128,  129,  255,  256,  257,  271,  272,  273,  511,  512,
        513, 1000, 1024, 1055, 1056, 1057, 2047, 2048, 4095, 4096, 4351, 4352, 4353, 10000}) {
    constexpr index_t kRows = 36;
    std::vector<double> scores, gammas;
    for (index_t i = 0; i < kRows; ++i) {
      const double gamma[] = {0, 1e-3, 0.05, 0.3, 1, 10}, scale[] = {0.01, 0.3, 1, 5};
      gammas.push_back(gamma[i % 6]);
      double walk = 0;
      for (index_t j = 0; j < cols; ++j) {
        const double step = scale[i % 4] * normal(rng);
        walk += step;
        scores.push_back(i % 3 == 0 ? step : i % 3 == 1 ? walk : std::round(2 * step) / 2);
        if (i % 5 == 4 && rng() % 3 == 0) scores.back() = -kInf;
      }
    }
    const auto stored = this->rounded(scores);
    const DeviceArray<double> device_gammas(gammas);
    const auto got = this->mapped(stored, kRows, device_gammas.span());
    this->expect_map(stored, kRows, gammas, got, "cols " + std::to_string(cols));
  }
}

TYPED_TEST(CudaFusedmax, OfLongRows) {
  std::mt19937 rng(2);
  std::normal_distribution<double> normal;
  constexpr index_t kRows = 3, kCols = 100'003;
  for (const double gamma : {0.2, 3.0}) {
    std::vector<double> scores;
    for (index_t k = 0; k < kRows * kCols; ++k)
      scores.push_back(1e-2 * normal(rng) + std::sin(1e-4 * static_cast<double>(k)));
    const auto stored = this->rounded(scores);
    this->expect_map(stored, kRows, std::vector<double>(kRows, gamma), this->mapped(stored, kRows, gamma),
                     "gamma " + std::to_string(gamma));
  }
}

TYPED_TEST(CudaFusedmax, OfMoreRowsThanBlocks) {
  std::mt19937 rng(3);
  std::normal_distribution<double> normal;
  constexpr index_t kRows = 300, kCols = 4700;
  std::vector<double> scores;
  for (index_t k = 0; k < kRows * kCols; ++k) scores.push_back(normal(rng));
  const auto stored = this->rounded(scores);
  this->expect_map(stored, kRows, std::vector<double>(kRows, 0.5), this->mapped(stored, kRows, 0.5), "many");
}

TYPED_TEST(CudaFusedmax, RowsWithoutPredictionAreNaN) {
  for (const index_t cols : {1, 3, 20, 100, 300, 1000, 3000, 5000}) {
    std::vector<double> scores;
    const auto fill = [&](double value) {
      scores.insert(scores.end(), static_cast<std::size_t>(cols), value);
    };
    fill(1);
    fill(1);
    scores.back() = std::nan("");
    fill(-2);
    scores[static_cast<std::size_t>(2 * cols + cols / 2)] = kInf;
    fill(-kInf);
    fill(0.5);
    fill(0.25);
    fill(-kInf);
    scores.back() = 3;
    const auto stored = this->rounded(scores);
    std::vector<double> gammas = {1, 1, 1, 1, -1, std::nan(""), 0.5};
    const DeviceArray<double> device_gammas(gammas);
    const auto got = this->mapped(stored, 7, device_gammas.span());
    for (index_t i : {1, 2, 3, 4, 5}) {
      for (index_t j = 0; j < cols; ++j) {
        ASSERT_TRUE(std::isnan(test::widened(got[static_cast<std::size_t>(i * cols + j)]))) << i << ' ' << j;
      }
    }
    gammas[4] = gammas[5] = 1;
    for (const index_t i : {0, 6}) {
      const auto first = stored.begin() + i * cols;
      const auto p = got.begin() + i * cols;
      this->expect_map({first, first + cols}, 1, {gammas[static_cast<std::size_t>(i)]}, {p, p + cols},
                       "cols " + std::to_string(cols));
    }
  }
}

TYPED_TEST(CudaFusedmax, ExtremesOfGammaAndScores) {
  std::mt19937 rng(5);
  std::normal_distribution<double> normal;
  for (const index_t cols : {2, 30, 200, 1000, 5000}) {
    for (const double gamma : {1e-300, 1e-8, 1e4, 1e300, std::numeric_limits<double>::max()}) {
      std::vector<double> scores;
      for (index_t j = 0; j < 2 * cols; ++j)
        scores.push_back(j < cols ? normal(rng) : 60000 + 16 * normal(rng));
      const auto stored = this->rounded(scores);
      const auto got = this->mapped(stored, 2, gamma);
      if (gamma < 1e5) {
        this->expect_map(stored, 2, {gamma, gamma}, got, "gamma " + std::to_string(gamma));
      } else {
        const double uniform = test::widened(test::stored<TypeParam>(1 / static_cast<double>(cols)));
        for (const auto& p : got) ASSERT_NEAR(test::widened(p), uniform, 1e-12 * uniform) << gamma;
      }
    }
  }
}

TYPED_TEST(CudaFusedmax, ColumnsOfAPlateauHaveTheSameNumber) {
  std::mt19937 rng(6);
  std::normal_distribution<double> normal;
  for (const index_t cols : {12, 100, 400, 1000, 4000, 6000}) {
    std::vector<double> scores;
    for (index_t j = 0; j < cols; ++j)
      scores.push_back(1e-2 * normal(rng) + (j > cols / 3 && j < cols / 2 ? 0.5 : 0.0));
    const auto stored = this->rounded(scores);
    const auto got = this->mapped(stored, 1, 1.0 * std::log(static_cast<double>(cols)));
    index_t levels = 1;
    for (index_t j = 1; j < cols; ++j) {
      levels += test::widened(got[static_cast<std::size_t>(j)]) !=
                        test::widened(got[static_cast<std::size_t>(j - 1)])
                    ? 1
                    : 0;
    }
    EXPECT_LE(levels, 3) << cols;
  }
}

TYPED_TEST(CudaFusedmax, OfAnyStrideAndOfTheScoresThemselves) {
  std::mt19937 rng(7);
  std::normal_distribution<double> normal;
  constexpr index_t kOuter = 3, kInner = 5, kRows = kOuter * kInner;
  for (const index_t cols : {6, 90, 333, 1000, 4660}) {
    std::vector<double> scores(static_cast<std::size_t>(kRows * cols));
    for (double& z : scores) z = normal(rng);
    const auto plain = this->rounded(scores);
    // Rows along the middle of kOuter x cols x kInner, from reversed and to gapped memory.
    std::vector<TypeParam> turned(plain.size());
    for (index_t i = 0; i < kRows; ++i) {
      for (index_t j = 0; j < cols; ++j) {
        turned[static_cast<std::size_t>(i / kInner * cols * kInner + j * kInner + i % kInner)] =
            plain[static_cast<std::size_t>(i * cols + j)];
      }
    }
    cuda::DeviceRows<const TypeParam> in(nullptr, kRows, cols, 1);
    in.step = kInner;
    in.inner = kInner;
    in.outer_stride = cols * kInner;
    cuda::DeviceRows<TypeParam> out(nullptr, kRows, cols, 2 * cols + 3);
    out.step = 2;
    const auto size = static_cast<std::size_t>(kRows * (2 * cols + 3));
    const auto spread = this->mapped(turned, in, 0.3, size, out);
    std::vector<TypeParam> got;
    for (std::size_t k = 0; k < size; ++k) {
      const index_t j = static_cast<index_t>(k) % (2 * cols + 3);
      if (j < 2 * cols && j % 2 == 0) {
        got.push_back(spread[k]);
      } else {
        ASSERT_TRUE(this->poisoned(spread[k])) << k;
      }
    }
    this->expect_map(plain, kRows, std::vector<double>(kRows, 0.3), got, "strides");

    const DeviceArray<TypeParam> both(plain);
    const DeviceArray<double> scratch(cuda::fusedmax_scratch_bytes<TypeParam>(kRows, cols) / 8 + 1);
    cuda::fusedmax<TypeParam>(both.rows(kRows), 0.3, both.rows(kRows), scratch.data(), nullptr);
    this->expect_map(plain, kRows, std::vector<double>(kRows, 0.3), both.values(), "in place");
  }
}

TYPED_TEST(CudaFusedmax, RefusesWhatItCanSee) {
  const DeviceArray<TypeParam> z(12), p(12);
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  const auto map = [&](cuda::DeviceRows<TypeParam> in, double gamma, cuda::DeviceRows<TypeParam> out) {
    return message([&] { cuda::fusedmax<TypeParam>(in, gamma, out, nullptr); });
  };
  EXPECT_EQ(map(z.rows(3), -1, p.rows(3)),
            "fenchel::cuda::fusedmax: gamma must be finite and not negative, got -1");
  EXPECT_EQ(map(z.rows(3), kInf, p.rows(3)),
            "fenchel::cuda::fusedmax: gamma must be finite and not negative, got inf");
  EXPECT_EQ(map(z.rows(3), 1, p.rows(4)),
            "fenchel::cuda::fusedmax: p must have as many rows as scores, 3, got 4");
  EXPECT_EQ(map({z.data(), 3, 0}, 1, p.rows(3)),
            "fenchel::cuda::fusedmax: scores must have at least one column, got 0");
  EXPECT_EQ(map({nullptr, 3, 4}, 1, p.rows(3)),
            "fenchel::cuda::fusedmax: scores must not be null, got a null view");
  EXPECT_EQ(map({z.data(), 1, 10000}, 1, {p.data(), 1, 10000}),
            "fenchel::cuda::fusedmax: scratch must have fusedmax_scratch_bytes, got a null pointer");
  EXPECT_EQ(map({nullptr, 0, 4}, 1, {nullptr, 0, 4}), "");
  EXPECT_EQ(cuda::fusedmax_scratch_bytes<TypeParam>(0, 10000), 0u);
}

}  // namespace
}  // namespace fenchel
