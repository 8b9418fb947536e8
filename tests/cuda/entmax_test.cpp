#include "fenchel/backend/cuda/entmax.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/core/infinity.hpp"
#include "gpu.hpp"

namespace fenchel {
namespace {

using test::DeviceArray;

const std::vector<double> kAlphas = {0.3,      0.7,      1.0,    std::nextafter(1.0, 2.0),
                                     1 + 1e-8, 1 - 1e-8, 1.001,  1.1,
                                     1.125,    1.25,     4. / 3, 1.5,
                                     1.7,      1.999,    2.0,    2.001,
                                     3,        5,        100,    1e6,
                                     kInfinity};

std::vector<double> random_scores(std::size_t size, double scale, unsigned seed) {
  std::mt19937_64 rng(seed);
  std::normal_distribution<double> normal(0, scale);
  std::vector<double> z(size);
  for (double& x : z) x = normal(rng);
  return z;
}

/// Numbers as the storage type has them.
template <class T>
std::vector<T> stored(const std::vector<double>& x) {
  std::vector<T> result;
  for (const double value : x) result.push_back(test::stored<T>(value));
  return result;
}
template <class T>
std::vector<double> widened(const std::vector<T>& x) {
  std::vector<double> result;
  for (const T value : x) result.push_back(static_cast<double>(test::widened(value)));
  return result;
}

/// Unit of rounding of what is written.
template <class T>
constexpr double kRounding = 0x1p-53;
template <>
constexpr double kRounding<float> = 0x1p-24;
template <>
constexpr double kRounding<cuda::Half> = 0x1p-11;
template <>
constexpr double kRounding<cuda::BFloat16> = 0x1p-8;

std::vector<double> on_cpu(const std::vector<double>& z, index_t rows, double alpha) {
  std::vector<double> p(z.size());
  const index_t cols = static_cast<index_t>(z.size()) / rows;
  cpu::entmax<double>({z.data(), rows, cols}, alpha, {p.data(), rows, cols});
  return p;
}

/// Newton's steps for c = P^{-am1} in long double, from the CPU's P: where scores of little mass are many,
/// the CPU itself is off by 3e-15. For alpha in (0, 2] other than 1.
void polish(const std::vector<double>& z, index_t rows, double alpha, std::vector<double>& p) {
  const long double am1 = alpha - 1;
  const std::size_t cols = z.size() / static_cast<std::size_t>(rows);
  for (std::size_t first = 0; first < z.size(); first += cols) {
    const double* const top = std::max_element(z.data() + first, z.data() + first + cols);
    long double c = std::pow(static_cast<long double>(p[static_cast<std::size_t>(top - z.data())]), -am1);
    std::vector<long double> e(cols);
    long double sum = 0;
    for (int step = 0; step < 3; ++step) {
      long double escort = 0;
      sum = 0;
      for (std::size_t j = 0; j < cols; ++j) {
        const long double x = am1 * c * (static_cast<long double>(z[first + j]) - *top);
        e[j] = x > -1 ? std::exp(std::log1p(x) / am1) : 0.0L;
        sum += e[j];
        escort += x > -1 ? e[j] / (1 + x) : 0.0L;
      }
      c /= 1 + sum / escort * (c * std::pow(sum, -am1) - 1);
    }
    for (std::size_t j = 0; j < cols; ++j) p[first + j] = static_cast<double>(e[j] / sum);
  }
}

/// The largest error of the CPU in float, relative to the largest probability of its row.
double float_error(const std::vector<double>& z, index_t rows, double alpha,
                   const std::vector<double>& exact) {
  const index_t cols = static_cast<index_t>(z.size()) / rows;
  const std::vector<float> in(z.begin(), z.end());
  std::vector<float> p(z.size());
  cpu::entmax<float>({in.data(), rows, cols}, alpha, {p.data(), rows, cols});
  double worst = 0;
  for (index_t i = 0; i < rows; ++i) {
    const auto first = static_cast<std::size_t>(i * cols);
    const double peak = *std::max_element(exact.begin() + i * cols, exact.begin() + (i + 1) * cols);
    for (std::size_t k = first; k < first + static_cast<std::size_t>(cols); ++k) {
      worst = std::max(worst, std::abs(double{p[k]} - exact[k]) / peak);
    }
  }
  return worst;
}

/// Half of the distance of numbers next to 0.
template <class T>
constexpr double kSubnormal = 0x1p-150;
template <>
constexpr double kSubnormal<cuda::Half> = 0x1p-25;

/// Errors relative to the largest probability of the row: at most twice the CPU's in float, and a few
/// roundings; rows that add up to one.
template <class T>
void expect_close(const std::vector<T>& got_stored, const std::vector<double>& exact, index_t rows,
                  double allowed, const std::string& what) {
  const std::vector<double> got = widened(got_stored);
  const std::size_t cols = got.size() / static_cast<std::size_t>(rows);
  double worst = 0, worst_sum = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
    const double* p = got.data() + i * cols;
    const double* e = exact.data() + i * cols;
    const double peak = *std::max_element(e, e + cols);
    long double sum = 0;
    for (std::size_t j = 0; j < cols; ++j) {
      ASSERT_EQ(std::isnan(p[j]), std::isnan(e[j])) << what << " row " << i << " column " << j;
      if (std::isnan(e[j])) continue;
      worst = std::max(worst, (std::abs(p[j] - e[j]) - kSubnormal<T>) / peak);
      sum += p[j];
    }
    if (!std::isnan(e[0])) worst_sum = std::max(worst_sum, static_cast<double>(std::abs(sum - 1)));
  }
  EXPECT_LE(worst, allowed) << what;
  if (sizeof(T) >= 4) {
    EXPECT_LE(worst_sum, cuda::row_sum_error<T>(cols)) << what;
  }
}

/// `exact_of` gives the probabilities of scores.
template <class T, class Exact>
void check_against(const Exact& exact_of, const std::vector<double>& scores, index_t rows, double alpha,
                   const std::string& what) {
  const std::vector<T> z = stored<T>(scores);
  const std::vector<double> exact_scores = widened(z), exact = exact_of(exact_scores);
  const DeviceArray<T> in(z), p(z.size());
  cuda::entmax(in.rows(rows), alpha, p.rows(rows), nullptr);
  const double baseline = sizeof(T) == 8 ? 1e-15 : float_error(exact_scores, rows, alpha, exact);
  expect_close(p.values(), exact, rows, 2 * baseline + 4 * kRounding<T>,
               what + " alpha " + std::to_string(alpha) + " am1 " + std::to_string((alpha - 1) * 1e9) +
                   "e-9 cols " + std::to_string(scores.size() / static_cast<std::size_t>(rows)));
}

template <class T>
void check_against_cpu(const std::vector<double>& scores, index_t rows, double alpha,
                       const std::string& what) {
  check_against<T>([&](const std::vector<double>& z) { return on_cpu(z, rows, alpha); }, scores, rows, alpha,
                   what);
}

template <class T>
class CudaEntmax : public test::GpuTest {};
using Types = testing::Types<double, float, cuda::Half, cuda::BFloat16>;
TYPED_TEST_SUITE(CudaEntmax, Types);

TYPED_TEST(CudaEntmax, IsThatOfTheCpuForEveryAlpha) {
  for (const double alpha : kAlphas) {
    for (const index_t cols : {1, 2, 3, 31, 33, 127, 500, 1000, 4095}) {
      for (const double scale : {0.01, 1.0, 10.0}) {
        const auto exact_of = [&](const std::vector<double>& z) {
          std::vector<double> p = on_cpu(z, 7, alpha);
          if (sizeof(TypeParam) == 8 && alpha <= 2 && alpha != 1) polish(z, 7, alpha, p);
          return p;
        };
        check_against<TypeParam>(exact_of, random_scores(static_cast<std::size_t>(7 * cols), scale, 1), 7,
                                 alpha, "scale " + std::to_string(scale));
      }
    }
  }
}

TYPED_TEST(CudaEntmax, TakesRowsOfEveryLength) {
  for (const index_t cols : {4,     8,     16,    32,    64,    128,   255,    256,    257,    512,
                             513,   1024,  2047,  2048,  2049,  4096,  4097,   8191,   8192,   8193,
                             16384, 16385, 32768, 32771, 65536, 65537, 131072, 262144, 262147, 1000003}) {
    for (const double alpha : {1.0, 1.3, 1.5, 2.0, 3.0}) {
      check_against_cpu<TypeParam>(random_scores(static_cast<std::size_t>(2 * cols), 1, 2), 2, alpha,
                                   "length");
    }
  }
}

TYPED_TEST(CudaEntmax, EqualScoresAreUniform) {
  for (const index_t cols : {1, 100, 4096, 100000, 1000000}) {
    for (const double alpha : kAlphas) {
      check_against_cpu<TypeParam>(std::vector<double>(static_cast<std::size_t>(cols), 3.0), 1, alpha,
                                   "equal");
    }
  }
}

/// Much of the mass is held by scores that lie within float's rounding of the threshold. With t = P^am1,
/// t^{1/am1} + (cols - 1) (t - am1 / 2)^{1/am1} = 1, by bisection.
TYPED_TEST(CudaEntmax, ACrowdAtTheThreshold) {
  for (const std::size_t cols : {4096, 100000, 1000000}) {
    std::vector<double> z(cols, 0.5);
    z[cols / 2] = 1.0;
    for (const double alpha : {1.5, 1.75, 2.0}) {
      const long double am1 = alpha - 1;
      const auto crowd_of = [&](long double t) { return std::pow(t - am1 / 2, 1 / am1); };
      long double low = am1 / 2, high = 1;
      for (int turn = 0; turn < 100; ++turn) {
        const long double t = (low + high) / 2;
        const long double others = static_cast<long double>(cols - 1);
        (std::pow(t, 1 / am1) + others * crowd_of(t) < 1 ? low : high) = t;
      }
      std::vector<double> exact(cols, static_cast<double>(crowd_of(low)));
      exact[cols / 2] = static_cast<double>(std::pow(low, 1 / am1));
      check_against<TypeParam>([&](const auto&) { return exact; }, z, 1, alpha, "crowd");
    }
  }
}

/// In units of rounding of the largest probability of a row, whatever the CPU errs by.
class CudaEntmaxInFloat : public test::GpuTest {
 protected:
  static void expect_few_roundings(const std::vector<double>& z, index_t rows, double alpha) {
    constexpr double kFew = 6;
    const std::vector<float> scores = stored<float>(z);
    const std::vector<double> exact = on_cpu(widened(scores), rows, alpha);
    const DeviceArray<float> in(scores), p(scores.size());
    cuda::entmax(in.rows(rows), alpha, p.rows(rows), nullptr);
    expect_close(p.values(), exact, rows, kFew * kRounding<float>,
                 "alpha " + std::to_string(alpha) + " rows " + std::to_string(rows) + " cols " +
                     std::to_string(z.size() / static_cast<std::size_t>(rows)));
  }
};

TEST_F(CudaEntmaxInFloat, ErrsByFewRoundingsInACrowd) {
  for (const std::size_t cols : {4096, 16384, 32768, 100000, 1000000}) {
    std::vector<double> z(cols, 0.5);
    z[cols / 2] = 1.0;
    for (const double alpha : {1.3, 1.5, 1.55, 1.6, 1.7, 1.75, 1.95, 2.0}) expect_few_roundings(z, 1, alpha);
  }
}

TEST_F(CudaEntmaxInFloat, ErrsByFewRoundingsInManyRows) {
  for (const double alpha : {0.8, 1.0, 1 + 1e-8, 1.1, 1.25, 4. / 3, 1.4, 1.5, 1.7, 2.0}) {
    for (const index_t cols : {12, 1000, 4096}) {
      constexpr index_t kSize = 1 << 21;
      expect_few_roundings(random_scores(kSize / cols * cols, 1, 6), kSize / cols, alpha);
    }
  }
}

TYPED_TEST(CudaEntmax, MasksAndRowsWithoutPrediction) {
  constexpr index_t kRows = 9;
  for (const index_t cols : {5, 33, 600, 4096, 20000}) {
    for (const double alpha : {0.5, 1.0, 1 + 1e-8, 1.25, 1.5, 2.0, 4.0, kInfinity}) {
      std::vector<double> z = random_scores(static_cast<std::size_t>(kRows * cols), 1, 3);
      const auto at = [&](index_t i, index_t j) -> double& {
        return z[static_cast<std::size_t>(i * cols + j)];
      };
      at(1, cols / 2) = std::numeric_limits<double>::quiet_NaN();
      at(2, cols - 1) = kInfinity;
      for (index_t j = 0; j < cols; ++j) at(3, j) = -kInfinity;
      for (index_t j = 0; j < cols; ++j) at(4, j) = j == cols - 2 ? -7.0 : -kInfinity;
      for (index_t j = 0; j < cols; j += 2) at(5, j) = -kInfinity;
      at(6, 0) = -kInfinity;
      for (index_t j = 0; j < cols; ++j) at(7, j) += 1000;
      check_against_cpu<TypeParam>(z, kRows, alpha, "masks");
      const std::vector<TypeParam> stored_z = stored<TypeParam>(z);
      const DeviceArray<TypeParam> p(stored_z);
      cuda::entmax(p.rows(kRows), alpha, p.rows(kRows), nullptr);  // in place
      const std::vector<double> got = widened(p.values());
      for (const index_t i : {4, 5, 6}) {
        for (index_t j = 0; j < cols; ++j) {
          const auto k = static_cast<std::size_t>(i * cols + j);
          if (z[k] == -kInfinity) {
            ASSERT_EQ(got[k], 0.0) << alpha;
          }
        }
      }
    }
  }
}

TYPED_TEST(CudaEntmax, AlphaOfEachRow) {
  std::vector<double> alphas = kAlphas;
  alphas.insert(alphas.end(), {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), 1.5});
  const auto rows = static_cast<index_t>(alphas.size());
  for (const index_t cols : {7, 40, 500, 3000, 40000}) {
    const std::vector<TypeParam> z =
        stored<TypeParam>(random_scores(static_cast<std::size_t>(rows * cols), 1, 4));
    const std::vector<double> exact_z = widened(z);
    const DeviceArray<TypeParam> in(z), p(z.size());
    const DeviceArray<double> values(alphas);
    cuda::entmax(in.rows(rows), values.span(), p.rows(rows), nullptr);
    const std::vector<TypeParam> got = p.values();
    for (index_t i = 0; i < rows; ++i) {
      const double alpha = alphas[static_cast<std::size_t>(i)];
      const std::vector<double> row(exact_z.begin() + i * cols, exact_z.begin() + (i + 1) * cols);
      const std::vector<double> exact =
          alpha > 0 ? on_cpu(row, 1, alpha)
                    : std::vector<double>(row.size(), std::numeric_limits<double>::quiet_NaN());
      const double baseline =
          sizeof(TypeParam) == 8 || !(alpha > 0) ? 1e-15 : float_error(row, 1, alpha, exact);
      expect_close<TypeParam>({got.begin() + i * cols, got.begin() + (i + 1) * cols}, exact, 1,
                              2 * baseline + 4 * kRounding<TypeParam>,
                              "row of alpha " + std::to_string(alpha) + " cols " + std::to_string(cols));
    }
  }
}

/// Rows along each of the dimensions of a 5 x cols x 40 tensor, and rows at a distance that is not aligned:
/// what lies between the outputs is not touched.
TYPED_TEST(CudaEntmax, AnyStride) {
  constexpr index_t kOuter = 5, kInner = 40;
  for (const index_t cols : {3, 70, 1500}) {
    for (const double alpha : {1.0, 1.5, 1.8, 2.0, 3.0}) {
      for (const bool inner_first : {true, false}) {
        const index_t distance = inner_first ? kInner + 3 : cols + 3;
        const index_t rows = kOuter * kInner;
        cuda::DeviceRows<TypeParam> layout(nullptr, rows, cols);
        if (inner_first) {  // outer x cols x (inner + 3): rows run along the middle
          layout.stride = 1, layout.step = distance, layout.inner = kInner,
          layout.outer_stride = cols * distance;
        } else {  // outer x inner x (cols + 3)
          layout.stride = distance, layout.step = 1, layout.inner = kInner,
          layout.outer_stride = kInner * distance + 1;
        }
        const auto size = static_cast<std::size_t>(kOuter * layout.outer_stride + 64);
        const std::vector<TypeParam> z = stored<TypeParam>(random_scores(size, 1, 5));
        const DeviceArray<TypeParam> in(z), p(size);
        auto to = layout;
        to.data = p.data();
        auto from = layout;
        from.data = in.data();
        cuda::entmax<TypeParam>(from, alpha, to, nullptr);
        const std::vector<TypeParam> got = p.values();
        std::vector<bool> written(size, false);
        for (index_t i = 0; i < rows; ++i) {
          std::vector<double> row;
          std::vector<TypeParam> result;
          for (index_t j = 0; j < cols; ++j) {
            const auto k = static_cast<std::size_t>(i / kInner * layout.outer_stride +
                                                    i % kInner * layout.stride + j * layout.step);
            row.push_back(static_cast<double>(test::widened(z[k])));
            result.push_back(got[k]);
            written[k] = true;
          }
          const std::vector<double> exact = on_cpu(row, 1, alpha);
          const double baseline = sizeof(TypeParam) == 8 ? 1e-15 : float_error(row, 1, alpha, exact);
          expect_close(result, exact, 1, 2 * baseline + 4 * kRounding<TypeParam>, "strided");
        }
        for (std::size_t k = 0; k < size; ++k) {
          if (written[k]) continue;
          unsigned char bytes[sizeof(TypeParam)];
          std::memcpy(bytes, &got[k], sizeof bytes);
          for (const unsigned char byte : bytes) ASSERT_EQ(byte, 0xFF) << "written outside at " << k;
        }
      }
    }
  }
}

TYPED_TEST(CudaEntmax, ErrorsAreThoseOfTheCpu) {
  const DeviceArray<TypeParam> z(12);
  const auto rows = z.rows(3);
  const auto message = [&](auto call) -> std::string {
    try {
      call();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([&] { cuda::entmax(rows, 0.0, rows, nullptr); }),
            "fenchel::cuda::entmax: alpha must be positive, got 0");
  EXPECT_EQ(message([&] {
              cuda::entmax<TypeParam>({z.data(), 3, 3}, 1.5, rows, nullptr);
            }),
            "fenchel::cuda::entmax: p must have as many columns as scores, 3, got 4");
  EXPECT_EQ(message([&] {
              cuda::entmax<TypeParam>({nullptr, 3, 4}, 1.5, rows, nullptr);
            }),
            "fenchel::cuda::entmax: scores must not be null, got a null view");
  EXPECT_EQ(message([&] { cuda::entmax<TypeParam>({nullptr, 0, 4}, 1.5, {nullptr, 0, 4}, nullptr); }), "");
}

}  // namespace
}  // namespace fenchel
