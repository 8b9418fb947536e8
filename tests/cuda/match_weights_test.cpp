#include "fenchel/backend/cuda/match_weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include "fenchel/backend/cpu/match_weights.hpp"
#include "fenchel/core/infinity.hpp"
#include "gpu.hpp"

namespace fenchel {
namespace {

using test::DeviceArray;

/// A batch of weights with cotangents and directions, on the host.
template <class Real>
struct Batch {
  index_t rows, cols, dimension;
  bool on_points;
  std::vector<Real> weights, of_mu, of_scale, of_alpha, direction, along_alpha;
  std::vector<double> points, alpha;
  std::vector<index_t> lengths;

  Batch(index_t row_count, index_t col_count, index_t points_dimension, bool ragged, unsigned seed)
      : rows(row_count),
        cols(col_count),
        dimension(std::max<index_t>(points_dimension, 1)),
        on_points(points_dimension > 0) {
    std::mt19937 rng(seed);
    std::normal_distribution<double> normal;
    const auto fill = [&](std::vector<Real>& x, index_t each) {
      for (index_t k = 0; k < rows * each; ++k) x.push_back(static_cast<Real>(normal(rng)));
    };
    for (index_t k = 0; k < cols * dimension; ++k) points.push_back(normal(rng));
    const double alphas[] = {1, std::nextafter(1.0, 2.0), 1 + 1e-8, 4. / 3, 1.5, 2, 5, 0.95};
    for (index_t i = 0; i < rows; ++i) {
      alpha.push_back(alphas[i % 8]);
      lengths.push_back(ragged ? cols - static_cast<index_t>(rng() % static_cast<unsigned>(cols / 2 + 1))
                               : cols);
      std::vector<double> w;
      double sum = 0;
      for (index_t l = 0; l < cols; ++l) {
        w.push_back(rng() % 4 == 0 ? 0 : std::exp(normal(rng)));
        if (l == 0) w[0] = 1;
        if (l < lengths.back()) sum += w.back();
      }
      for (index_t l = 0; l < cols; ++l) {
        weights.push_back(l < lengths.back() ? static_cast<Real>(w[static_cast<std::size_t>(l)] / sum)
                                             : std::numeric_limits<Real>::quiet_NaN());
      }
    }
    fill(of_mu, dimension);
    fill(of_scale, dimension * dimension);
    for (index_t i = 0; i < rows; ++i) {  // cotangents of Sigma are symmetric
      for (index_t a = 0; a < dimension; ++a) {
        for (index_t b = 0; b < a; ++b) {
          Real* const g = of_scale.data() + i * dimension * dimension;
          g[b * dimension + a] = g[a * dimension + b];
        }
      }
    }
    fill(of_alpha, 1);
    fill(direction, cols);
    fill(along_alpha, 1);
  }

  [[nodiscard]] cpu::WeightPositions cpu_positions() const {
    cpu::WeightPositions positions;
    if (on_points) positions.points = {points.data(), cols, dimension};
    positions.lengths = lengths;
    return positions;
  }
  [[nodiscard]] cpu::DensityTangents<const Real> cpu_cotangent() const {
    return {of_alpha, {of_mu.data(), rows, dimension}, {of_scale.data(), rows, dimension * dimension}};
  }
  [[nodiscard]] Rows<const Real> cpu_weights() const { return {weights.data(), rows, cols}; }
};

/// What an operation writes: two arrays.
template <class Real>
struct Written {
  std::vector<Real> first, second;
};

template <class Real>
struct CpuOperations {
  const Batch<Real>& batch;
  PerRow alpha;
  std::optional<double> floor;

  [[nodiscard]] std::vector<Real> numbers(index_t each) const {
    return std::vector<Real>(static_cast<std::size_t>(batch.rows * each));
  }
  [[nodiscard]] Written<Real> run(int operation) const {
    const index_t d = batch.dimension, b = batch.rows;
    Written<Real> mu_scale{numbers(d), numbers(d * d)}, columns{numbers(batch.cols), numbers(1)};
    const Rows<Real> mu(mu_scale.first.data(), b, d), scale(mu_scale.second.data(), b, d * d),
        out(columns.first.data(), b, batch.cols);
    const Rows<const Real> direction(batch.direction.data(), b, batch.cols);
    const auto positions = batch.cpu_positions();
    switch (operation) {
      case 0:
        cpu::match_weights<Real>(alpha, batch.cpu_weights(), positions, floor, {.mu = mu, .Sigma = scale});
        return mu_scale;
      case 1:
        cpu::match_weights_vjp<Real>(alpha, batch.cpu_weights(), positions, floor, batch.cpu_cotangent(), out,
                                     columns.second);
        return columns;
      case 2:
        cpu::match_weights_jvp<Real>(alpha, batch.cpu_weights(), positions, floor, direction,
                                     batch.along_alpha, {.mu = mu, .Sigma = scale});
        return mu_scale;
      default:
        cpu::match_weights_vjp_vjp<Real>(alpha, batch.cpu_weights(), positions, floor, batch.cpu_cotangent(),
                                         direction, batch.along_alpha, out, columns.second);
        return columns;
    }
  }
};

/// The same on the GPU; weights and what has columns lie in memory with a row stride and a step, mu and Sigma
/// in one row.
template <class Real>
struct GpuOperations {
  const Batch<Real>& batch;
  PerRow alpha;
  std::optional<double> floor;
  bool spread = false;

  [[nodiscard]] index_t step() const { return spread ? 2 : 1; }
  [[nodiscard]] index_t stride() const { return spread ? 2 * batch.cols + 5 : batch.cols; }
  template <class T>
  [[nodiscard]] cuda::DeviceRows<T> view(T* data) const {
    cuda::DeviceRows<T> rows(data, batch.rows, batch.cols, stride());
    rows.step = step();
    return rows;
  }
  [[nodiscard]] DeviceArray<Real> placed(const std::vector<Real>& x) const {
    std::vector<Real> memory(static_cast<std::size_t>(batch.rows * stride()));
    for (index_t i = 0; i < batch.rows; ++i) {
      for (index_t l = 0; l < batch.cols; ++l) {
        memory[static_cast<std::size_t>(i * stride() + l * step())] =
            x[static_cast<std::size_t>(i * batch.cols + l)];
      }
    }
    return DeviceArray<Real>(memory);
  }
  /// The columns of what was written; all else must still be poisoned.
  [[nodiscard]] std::vector<Real> taken(const DeviceArray<Real>& memory) const {
    std::vector<Real> columns;
    const std::vector<Real> all = memory.values();
    for (index_t k = 0; k < std::ssize(all); ++k) {
      const index_t at = k % stride();
      const Real x = all[static_cast<std::size_t>(k)];
      if (k / stride() < batch.rows && at % step() == 0 && at / step() < batch.cols) {
        columns.push_back(x);
      } else {
        EXPECT_TRUE(std::isnan(x)) << k;
      }
    }
    return columns;
  }

  /// The parts of densities that lie in one row.
  template <class T>
  [[nodiscard]] cuda::DensityTangents<T> density_parts(const DeviceArray<Real>& x) const {
    const index_t d = batch.dimension, size = d + d * d;
    return {.mu = {x.data(), batch.rows, d, size}, .Sigma = {x.data() + d, batch.rows, d * d, size}};
  }
  [[nodiscard]] DeviceArray<Real> joined(const std::vector<Real>& mu, const std::vector<Real>& scale) const {
    const index_t d = batch.dimension;
    std::vector<Real> rows;
    for (index_t i = 0; i < batch.rows; ++i) {
      rows.insert(rows.end(), mu.begin() + i * d, mu.begin() + (i + 1) * d);
      rows.insert(rows.end(), scale.begin() + i * d * d, scale.begin() + (i + 1) * d * d);
    }
    return DeviceArray<Real>(rows);
  }
  [[nodiscard]] Written<Real> divided(const DeviceArray<Real>& densities) const {
    const index_t d = batch.dimension, size = d + d * d;
    const std::vector<Real> all = densities.values();
    Written<Real> parts;
    for (index_t i = 0; i < batch.rows; ++i) {
      const auto row = all.begin() + i * size;
      parts.first.insert(parts.first.end(), row, row + d);
      parts.second.insert(parts.second.end(), row + d, row + size);
    }
    return parts;
  }

  [[nodiscard]] Written<Real> run(int operation) const {
    const auto b = static_cast<std::size_t>(batch.rows), d = static_cast<std::size_t>(batch.dimension);
    const DeviceArray<Real> weights = placed(batch.weights), direction = placed(batch.direction),
                            of_density = joined(batch.of_mu, batch.of_scale), of_alpha(batch.of_alpha),
                            along_alpha(batch.along_alpha), densities(b * (d + d * d)), alphas(b),
                            columns(static_cast<std::size_t>(batch.rows * stride()) + 7);
    const DeviceArray<double> points(batch.points);
    const DeviceArray<index_t> lengths(batch.lengths);
    const cuda::WeightPositions positions{points.rows_if(batch.on_points, batch.cols), lengths.span()};
    const cuda::DeviceRows<const Real> w = view<const Real>(weights.data()),
                                       v = view<const Real>(direction.data());
    const auto density = density_parts<Real>(densities);
    auto cotangent = density_parts<const Real>(of_density);
    cotangent.alpha = of_alpha.span();
    switch (operation) {
      case 0:
        cuda::match_weights<Real>(alpha, w, positions, floor, density, nullptr);
        return divided(densities);
      case 1:
        cuda::match_weights_vjp<Real>(alpha, w, positions, floor, cotangent, view(columns.data()),
                                      alphas.span(), nullptr);
        return {taken(columns), alphas.values()};
      case 2:
        cuda::match_weights_jvp<Real>(alpha, w, positions, floor, v, along_alpha.span(), density, nullptr);
        return divided(densities);
      default:
        cuda::match_weights_vjp_vjp<Real>(alpha, w, positions, floor, cotangent, v, along_alpha.span(),
                                          view(columns.data()), alphas.span(), nullptr);
        return {taken(columns), alphas.values()};
    }
  }
};

/// Both round the same numbers of double precision: within its errors, and a rounding of Real.
template <class Real>
void expect_near(const std::vector<Real>& got, const std::vector<Real>& expected, index_t rows,
                 const std::string& what) {
  ASSERT_EQ(got.size(), expected.size());
  const std::size_t each = got.size() / static_cast<std::size_t>(rows);
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
    double largest = 0;
    for (std::size_t k = i * each; k < (i + 1) * each; ++k) {
      largest = std::max(largest, std::abs(static_cast<double>(expected[k])));
    }
    for (std::size_t k = i * each; k < (i + 1) * each; ++k) {
      const double x = expected[k];
      const double rounding = 1.01 * static_cast<double>(std::numeric_limits<Real>::epsilon()) * std::abs(x);
      ASSERT_NEAR(static_cast<double>(got[k]), x, rounding + 1e-11 * largest) << what << ", row " << i;
    }
  }
}

template <class Real>
class CudaMatchWeights : public test::GpuTest {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(CudaMatchWeights, Types);

constexpr const char* kNames[] = {"match_weights", "vjp", "jvp", "vjp_vjp"};

TYPED_TEST(CudaMatchWeights, IsThatOfTheCpu) {
  for (const index_t dimension : {0, 1, 2, 3, 5}) {
    for (const index_t cols : {8, 31, 32, 33, 128, 255, 256, 257, 1000, 4096}) {
      const Batch<TypeParam> batch(cols < 500 ? 35 : 9, cols, dimension, true, 7);
      const DeviceArray<double> alpha(batch.alpha);
      const CpuOperations<TypeParam> cpu{batch, PerRow(batch.alpha), std::nullopt};
      const GpuOperations<TypeParam> gpu{batch, alpha.span(), std::nullopt, cols % 2 == 1};
      for (int operation = 0; operation < 4; ++operation) {
        const std::string what =
            kNames[operation] + (" D " + std::to_string(dimension)) + " L " + std::to_string(cols);
        const auto expected = cpu.run(operation), got = gpu.run(operation);
        expect_near(got.first, expected.first, batch.rows, what);
        expect_near(got.second, expected.second, batch.rows, what + " second");
      }
    }
  }
}

TYPED_TEST(CudaMatchWeights, WithASharedAlphaAndAFloor) {
  for (const index_t dimension : {0, 2, 3, 17}) {
    for (const double alpha : {1.0, 1 + 1e-8, 1.5, 3.0}) {
      const Batch<TypeParam> batch(5, 100, dimension, false, 8);
      const CpuOperations<TypeParam> cpu{batch, alpha, 0.01};
      const GpuOperations<TypeParam> gpu{batch, alpha, 0.01};
      for (int operation = 0; operation < 4; ++operation) {
        const auto expected = cpu.run(operation), got = gpu.run(operation);
        const std::string what = kNames[operation] + (" D " + std::to_string(dimension));
        expect_near(got.first, expected.first, batch.rows, what);
        expect_near(got.second, expected.second, batch.rows, what);
      }
    }
  }
}

TYPED_TEST(CudaMatchWeights, OneCellAndTwo) {
  for (const index_t cols : {1, 2, 3}) {
    const Batch<TypeParam> batch(9, cols, 0, false, 9);
    const CpuOperations<TypeParam> cpu{batch, 1.5, std::nullopt};
    const GpuOperations<TypeParam> gpu{batch, 1.5, std::nullopt};
    for (int operation = 0; operation < 4; ++operation) {
      const auto expected = cpu.run(operation), got = gpu.run(operation);
      expect_near(got.first, expected.first, batch.rows, kNames[operation]);
      expect_near(got.second, expected.second, batch.rows, kNames[operation]);
    }
  }
}

TYPED_TEST(CudaMatchWeights, RowsThatTheCpuRefusesAreNaN) {
  for (const index_t dimension : {0, 2, 4}) {
    for (const index_t cols : {40, 300}) {
      Batch<TypeParam> batch(10, cols, dimension, false, 10);
      batch.alpha.assign(10, 1.5);
      const auto at = [&](index_t row, index_t l) -> TypeParam& {
        return batch.weights[static_cast<std::size_t>(row * cols + l)];
      };
      at(1, 3) = -at(1, 3) - TypeParam(0.1);
      at(2, cols - 1) = std::numeric_limits<TypeParam>::quiet_NaN();
      at(3, 0) += TypeParam(0.01);
      batch.alpha[4] = 0.3;
      batch.alpha[5] = kInfinity;
      for (index_t l = 0; l < cols; ++l) at(6, l) = l == 7 ? TypeParam(1) : TypeParam(0);  // no covariance
      batch.lengths[7] = 0;
      batch.lengths[8] = cols + 1;
      const DeviceArray<double> alpha(batch.alpha);
      const GpuOperations<TypeParam> gpu{batch, alpha.span(), 0.0};
      for (int operation = 0; operation < 4; ++operation) {
        const auto got = gpu.run(operation);
        for (const auto* numbers : {&got.first, &got.second}) {
          const std::size_t each = numbers->size() / 10;
          for (std::size_t k = 0; k < numbers->size(); ++k) {
            const bool good = k / each == 0 || k / each == 9;
            ASSERT_EQ(std::isnan((*numbers)[k]), !good) << kNames[operation] << " row " << k / each;
          }
        }
      }
    }
  }
}

TYPED_TEST(CudaMatchWeights, RefusesWhatItCanSee) {
  using Real = TypeParam;
  const DeviceArray<Real> w(12), numbers(3);
  const DeviceArray<double> points(260);
  const auto message = [&](cuda::DeviceRows<const Real> weights, const cuda::WeightPositions& positions,
                           PerRow alpha, std::optional<double> floor) -> std::string {
    const cuda::DeviceRows<Real> each(numbers.data(), weights.rows, 1);
    try {
      cuda::match_weights<Real>(alpha, weights, positions, floor, {.mu = each, .Sigma = each}, nullptr);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  const cuda::DeviceRows<const Real> rows(w.data(), 3, 4);
  EXPECT_EQ(message(rows, {}, 0.2, {}),
            "fenchel::cuda::match_weights: alpha must be finite and greater than 1/3, got 0.2");
  EXPECT_EQ(message(rows, {}, 1, -1.0),
            "fenchel::cuda::match_weights: floor must be finite and not negative, got -1");
  EXPECT_EQ(message(rows, {.points = {points.data(), 5, 1}}, 1, {}),
            "fenchel::cuda::match_weights: points.rows must be 4, got 5");
  EXPECT_EQ(message(rows, {.points = points.rows(4)}, 1, {}),
            "fenchel::cuda::match_weights: points.cols must be in [1, 64], got 65");
  EXPECT_EQ(message(rows, {.points = {points.data(), 4, 2}}, 1, {}),
            "fenchel::cuda::match_weights: density.mu.cols must be 2, got 1");
  const DeviceArray<index_t> lengths(2);
  EXPECT_EQ(message(rows, {.lengths = lengths.span()}, 1, {}),
            "fenchel::cuda::match_weights: lengths.size() must equal the number of rows, 3, got 2");
  EXPECT_EQ(message({nullptr, 3, 4}, {}, 1, {}),
            "fenchel::cuda::match_weights: weights must not be null, got a null view");
  EXPECT_EQ(message({nullptr, 0, 4}, {}, 1, {}), "");
}

}  // namespace
}  // namespace fenchel
