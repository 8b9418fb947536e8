#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "fenchel/backend/cuda/views.hpp"

/// What tests on a GPU share: memory there, and a case that is skipped where there is no GPU.
namespace fenchel::test {

/// Throws away a test that cannot run, and waits for the GPU at the end of one that could.
class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "there is no GPU";
  }
  void TearDown() override {
    if (IsSkipped()) return;
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
};

inline void expect_success(cudaError_t error) { ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error); }

/// Memory of the GPU with the contents of a vector, or poisoned: every byte 0xFF, which is NaN.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    expect_success(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  explicit DeviceArray(std::size_t size) : size_(size) {
    expect_success(cudaMalloc(reinterpret_cast<void**>(&data_), size_ * sizeof(T)));
    expect_success(cudaMemset(data_, 0xFF, size_ * sizeof(T)));
  }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  DeviceArray& operator=(DeviceArray&&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Waits for the GPU.
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> out(size_);
    expect_success(cudaDeviceSynchronize());
    expect_success(cudaMemcpy(out.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return out;
  }
  [[nodiscard]] cuda::DeviceRows<T> rows(index_t count) const {
    return {data_, count, static_cast<index_t>(size_) / count};
  }
  [[nodiscard]] std::span<T> span() const { return {data_, size_}; }
  /// Nothing unless it is wanted.
  [[nodiscard]] cuda::DeviceRows<T> rows_if(bool wanted, index_t count) const {
    return wanted ? rows(count) : cuda::DeviceRows<T>();
  }
  [[nodiscard]] std::span<T> span_if(bool wanted) const { return wanted ? span() : std::span<T>(); }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

/// To and from storage types on the host: rounded to nearest even, which is what the GPU does.
inline float widened(float x) { return x; }
inline double widened(double x) { return x; }
inline float widened(cuda::BFloat16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}
inline float widened(cuda::Half x) {
  const std::uint32_t sign = (x.bits & 0x8000u) << 16, exponent = x.bits >> 10 & 31,
                      fraction = x.bits & 0x3ffu;
  const float size =
      exponent == 31 ? (fraction != 0 ? std::bit_cast<float>(0x7fc00000u) : std::bit_cast<float>(0x7f800000u))
      : exponent == 0 ? static_cast<float>(fraction) * 0x1p-24f
                      : std::bit_cast<float>((exponent + 112) << 23 | fraction << 13);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(size) | sign);
}

/// |x - y| / |y|, or |x| where y is 0.
template <class T>
double distance(const std::vector<T>& x, const std::vector<float>& y) {
  double error = 0, size = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    error += std::pow(widened(x[k]) - double(y[k]), 2);
    size += std::pow(double(y[k]), 2);
  }
  return std::sqrt(size > 0 ? error / size : error);
}
template <class T>
T stored(double x) {
  if constexpr (std::is_same_v<T, cuda::BFloat16>) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
    if (x != x) return {0x7fff};
    return {static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
  } else if constexpr (std::is_same_v<T, cuda::Half>) {
    const _Float16 half = static_cast<_Float16>(x);
    cuda::Half result;
    std::memcpy(&result.bits, &half, sizeof half);
    return result;
  } else {
    return static_cast<T>(x);
  }
}

}  // namespace fenchel::test
