#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/core/infinity.hpp"
#include "gpu.hpp"

/// Batches of rows in the precisions of a GPU, laid out in its memory in several ways.
namespace fenchel::test {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = kInfinity;

inline std::size_t size_of(index_t n) { return static_cast<std::size_t>(n); }

inline std::vector<double> normal_numbers(index_t count, double scale, unsigned seed) {
  std::mt19937_64 rng(seed);
  std::normal_distribution<double> normal(0, scale);
  std::vector<double> x(size_of(count));
  for (double& value : x) value = normal(rng);
  return x;
}

template <class T>
std::vector<T> all_stored(const std::vector<double>& x) {
  std::vector<T> result;
  for (const double value : x) result.push_back(stored<T>(value));
  return result;
}
template <class T>
std::vector<double> all_widened(const std::vector<T>& x) {
  std::vector<double> result;
  for (const T value : x) result.push_back(static_cast<double>(widened(value)));
  return result;
}
/// The numbers that a storage type has nearest to these.
template <class T>
std::vector<double> rounded(const std::vector<double>& x) {
  return all_widened(all_stored<T>(x));
}

/// Unit of rounding of what is written, and the distance of subnormal numbers.
template <class T>
inline constexpr double kRounding = 0x1p-53;
template <>
inline constexpr double kRounding<float> = 0x1p-24;
template <>
inline constexpr double kRounding<cuda::Half> = 0x1p-11;
template <>
inline constexpr double kRounding<cuda::BFloat16> = 0x1p-8;
template <class T>
inline constexpr double kSubnormal = 0x1p-149;
template <>
inline constexpr double kSubnormal<cuda::Half> = 0x1p-24;
template <>
inline constexpr double kSubnormal<cuda::BFloat16> = 0x1p-133;

/// Ways to lay out rows: one after the other, at an odd distance and address, every third number, across
/// memory, and across the middle of three dimensions.
enum class Layout { dense, odd, stepped, across, middle };
inline constexpr Layout kLayouts[] = {Layout::dense, Layout::odd, Layout::stepped, Layout::across,
                                      Layout::middle};

/// Rows in the memory of the GPU with poison between and around them.
template <class T>
class LaidOut {
 public:
  LaidOut(Layout layout, index_t rows, index_t cols) : rows_(nullptr, rows, cols) {
    index_t size = rows * cols;
    offset_ = 0;
    if (layout == Layout::odd) {
      offset_ = 1;
      rows_.stride = cols + 3;
      size = rows * rows_.stride;
    } else if (layout == Layout::stepped) {
      rows_.step = 3;
      rows_.stride = 3 * cols + 2;
      size = rows * rows_.stride;
    } else if (layout == Layout::across) {
      rows_.step = rows + 1;
      rows_.stride = 1;
      size = cols * (rows + 1);
    } else if (layout == Layout::middle) {
      rows_.inner = 3;
      rows_.step = 3;
      rows_.stride = 1;
      rows_.outer_stride = 3 * cols;
      size = (rows + 2) / 3 * 3 * cols;
    }
    std::vector<T> poison(size_of(size) + kAround + size_of(offset_));
    std::memset(poison.data(), 0xFF, poison.size() * sizeof(T));
    before_ = poison;
    memory_ = std::make_unique<DeviceArray<T>>(poison);
    rows_.data = memory_->data() + offset_;
  }
  LaidOut(Layout layout, const std::vector<double>& values, index_t rows)
      : LaidOut(layout, rows, static_cast<index_t>(values.size()) / rows) {
    for (index_t i = 0; i < rows; ++i) {
      for (index_t j = 0; j < rows_.cols; ++j) {
        before_[place(i, j)] = stored<T>(values[size_of(i * rows_.cols + j)]);
      }
    }
    memory_ = std::make_unique<DeviceArray<T>>(before_);
    rows_.data = memory_->data() + offset_;
  }

  [[nodiscard]] cuda::DeviceRows<T> view() const { return rows_; }

  /// The rows one after the other; what is between and around them must be as it was.
  [[nodiscard]] std::vector<double> values() {
    const std::vector<T> now = memory_->values();
    std::vector<double> result;
    for (index_t i = 0; i < rows_.rows; ++i) {
      for (index_t j = 0; j < rows_.cols; ++j) {
        result.push_back(static_cast<double>(widened(now[place(i, j)])));
        before_[place(i, j)] = now[place(i, j)];
      }
    }
    EXPECT_EQ(std::memcmp(now.data(), before_.data(), now.size() * sizeof(T)), 0) << "written outside";
    return result;
  }

 private:
  static constexpr std::size_t kAround = 64;
  [[nodiscard]] std::size_t place(index_t i, index_t j) const {
    const cuda::DeviceRows<T>& r = rows_;
    return size_of(offset_ + (i / r.inner) * r.outer_stride + (i % r.inner) * r.stride + j * r.step);
  }

  cuda::DeviceRows<T> rows_;
  index_t offset_;
  std::vector<T> before_;
  std::unique_ptr<DeviceArray<T>> memory_;
};

/// Errors of a batch, each relative to its row's scale.
inline double largest_error(const std::vector<double>& got, const std::vector<double>& exact,
                            const std::vector<double>& scales) {
  const std::size_t cols = exact.size() / scales.size();
  double worst = 0;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    if (got[k] == exact[k] || (std::isnan(got[k]) && std::isnan(exact[k]))) continue;
    const double error = std::abs(got[k] - exact[k]) / scales[k / cols];
    worst = std::isnan(error) ? kInf : std::max(worst, error);
  }
  return worst;
}

/// The rule of the GPU: at most twice the error of the CPU in float, and the rounding of what is written;
/// double is compared with double.
template <class T>
void expect_close(const std::vector<double>& got, const std::vector<double>& exact,
                  const std::vector<double>& in_float, const std::vector<double>& scales,
                  const std::string& what) {
  constexpr bool kDouble = sizeof(T) == 8;
  const double baseline = kDouble ? 8 * kRounding<double> : largest_error(in_float, exact, scales);
  const double unit = kDouble ? kRounding<double> : kRounding<float>;
  const std::size_t cols = exact.size() / scales.size();
  for (std::size_t k = 0; k < exact.size(); ++k) {
    if (got[k] == exact[k] || (std::isnan(got[k]) && std::isnan(exact[k]))) continue;
    const double bound = (2 * baseline + unit) * scales[k / cols] +
                         (sizeof(T) == 2 ? kRounding<T> * std::abs(exact[k]) : 0.0) + kSubnormal<T>;
    ASSERT_LE(std::abs(got[k] - exact[k]), bound)
        << what << ", row " << k / cols << " column " << k % cols << ": " << got[k] << " for " << exact[k];
  }
}

}  // namespace fenchel::test
