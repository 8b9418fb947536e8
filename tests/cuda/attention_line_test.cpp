#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "fenchel/backend/cpu/attention.hpp"
#include "fenchel/backend/cuda/attention.hpp"
#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/infinity.hpp"
#include "gpu.hpp"

/// Continuous attention on the line on a GPU against that of the CPU in double.
namespace fenchel {
namespace {

using test::DeviceArray;

constexpr double kInf = kInfinity;
const std::vector<double> kAlphas = {0.4,      0.9,      1 - 1e-3, 1 - 1e-8, 1.0,    std::nextafter(1.0, 2.0),
                                     1 + 1e-8, 1 + 1e-3, 1.01,     1.1,      4. / 3, 1.5,
                                     1.7,      2.0,      3.0,      5.0,      1e6,    kInf};

/// Densities and functions of every size, and what the CPU says of them in double: r, its derivatives along
/// mu, sigma2, alpha and the variances of the functions, and how large these may be by their terms.
class Problem {
 public:
  Problem(index_t rows, index_t count, std::vector<double> alphas, unsigned seed, bool wide_range = true)
      : rows_(rows), count_(count), alpha(std::move(alphas)) {
    std::mt19937 rng(seed);
    std::uniform_real_distribution<double> unit(0, 1);
    const auto log_uniform = [&](double from, double to) { return from * std::pow(to / from, unit(rng)); };
    for (index_t i = 0; i < rows; ++i) {
      mu.push_back(float(3 * unit(rng) - 1));
      sigma2.push_back(float(wide_range ? log_uniform(1e-8, 1e6) : log_uniform(1e-3, 1)));
    }
    for (index_t j = 0; j < count; ++j) {
      const double width = wide_range ? log_uniform(1e-3, 10) : (j % 2 == 0 ? 0.1 : 0.5);
      mean.push_back(j == 0 && wide_range ? 100 : wide_range ? 4 * unit(rng) - 2 : double(j) / double(count));
      variance.push_back(width * width);
    }
    for (index_t k = 0; k < rows * count; ++k) cotangent.push_back(float(2 * unit(rng) - 1));
    ones.assign(size(rows), 1);
    zeros.assign(size(rows), 0);
    value = matrix();
    cpu::attend<double>(densities(), functions(), {value.data(), rows, count});
    slope = along(ones, zeros, zeros);
    stretch = along(zeros, ones, zeros);
    turn = along(zeros, zeros, ones);
    bend = matrix();
    const std::vector<double> basis_ones(size(count), 1);
    cpu::attend_jvp<double>(densities(), functions(),
                            {.mu = {zeros.data(), rows, 1}, .Sigma = {zeros.data(), rows, 1}},
                            {.Sigma = {basis_ones.data(), count, 1}}, {bend.data(), rows, count});
  }

  [[nodiscard]] cpu::Densities<double> densities() const {
    return {cpu_alpha(), {mu.data(), rows_, 1}, {sigma2.data(), rows_, 1}};
  }
  [[nodiscard]] cpu::GaussianFunctions functions() const {
    return {{mean.data(), count_, 1}, {variance.data(), count_, 1}};
  }
  [[nodiscard]] index_t rows() const { return rows_; }
  [[nodiscard]] index_t count() const { return count_; }
  [[nodiscard]] double alpha_of(index_t i) const { return alpha.size() == 1 ? alpha[0] : alpha[size(i)]; }

  /// The half width of a density, or its size where it has no ends.
  [[nodiscard]] double spread(index_t i) const {
    const double s = sigma2[size(i)];
    const BetaGaussianConstants c = beta_gaussian_constants(1, alpha_of(i) - 1, std::log(s));
    return c.am1 > 1e-2 ? std::sqrt(c.radius2 * s) : std::sqrt(c.peak_power * s);
  }
  [[nodiscard]] double width(index_t j) const { return std::sqrt(variance[size(j)]); }
  [[nodiscard]] double peak(index_t j) const { return 0.3989422804014327 / width(j); }

  static std::size_t size(index_t n) { return static_cast<std::size_t>(n); }

 private:
  [[nodiscard]] PerRow cpu_alpha() const {
    return alpha.size() == 1 ? PerRow(alpha[0]) : PerRow(std::span<const double>(alpha));
  }
  [[nodiscard]] std::vector<double> matrix() const { return std::vector<double>(size(rows_ * count_)); }
  [[nodiscard]] std::vector<double> along(const std::vector<double>& a, const std::vector<double>& b,
                                          const std::vector<double>& c) const {
    std::vector<double> out = matrix();
    cpu::attend_jvp<double>(densities(), functions(), {c, {a.data(), rows_, 1}, {b.data(), rows_, 1}}, {},
                            {out.data(), rows_, count_});
    return out;
  }

  index_t rows_, count_;

 public:
  std::vector<double> alpha, mu, sigma2, mean, variance, cotangent, ones, zeros;
  std::vector<double> value, slope, stretch, turn, bend;
};

template <class Real>
std::vector<Real> converted(const std::vector<double>& from) {
  return std::vector<Real>(from.begin(), from.end());
}

/// The problem in the memory of the GPU.
template <class Real>
class OnGpu {
 public:
  explicit OnGpu(const Problem& x)
      : mu(converted<Real>(x.mu)),
        sigma2(converted<Real>(x.sigma2)),
        cotangent(converted<Real>(x.cotangent)),
        mean(x.mean),
        variance(x.variance),
        alpha(x.alpha),
        densities{x.alpha.size() == 1 ? PerRow(x.alpha[0]) : PerRow(alpha.span()), mu.rows(x.rows()),
                  sigma2.rows(x.rows())},
        functions{mean.rows(x.count()), variance.rows(x.count())} {}

  DeviceArray<Real> mu, sigma2, cotangent;
  DeviceArray<double> mean, variance, alpha;
  cuda::Densities<Real> densities;
  cuda::GaussianFunctions functions;
};

/// What the GPU promises: of a value, and of a derivative by the size of its terms; and where a value is so
/// small that the promise is of this part of the function's peak.
template <class Real>
struct Promise;
template <>
struct Promise<double> {
  static constexpr double kValue = 2 * cpu::kAttendLineError, kSlope = 2 * cpu::kAttendSlopeError,
                          kFloor = 1e-30, kRounding = 0x1p-53;
};
template <>
struct Promise<float> {
  static constexpr double kValue = cpu::kAttendFloatError, kSlope = cpu::kAttendFloatError, kFloor = 1e-6,
                          kRounding = 0x1p-24;
};

/// Bounds of the error of entry (i, j): of r, and of its derivatives in mu, sigma2, alpha and the variance.
struct Bounds {
  double value, slope, stretch, turn, bend;
};
template <class Real>
Bounds bounds(const Problem& x, index_t i, index_t j) {
  using P = Promise<Real>;
  const std::size_t k = Problem::size(i * x.count() + j), at = Problem::size(i);
  const double s2 = x.sigma2[at], v = x.variance[Problem::size(j)], peak = x.peak(j);
  const double lengths = std::abs(x.mu[at]) + std::abs(x.mean[Problem::size(j)]) + x.spread(i);
  const double value = std::max(x.value[k], P::kFloor * peak), spread = x.spread(i), width = x.width(j);
  const double large = std::max(width, spread), room = std::min(1.0, spread * spread / (width * width));
  // how much 8 roundings of the lengths are, in widths
  const double turns = 8 * P::kRounding * lengths / std::min(width, spread);
  const double rate = 1 / ((1 + std::min(x.alpha_of(i), 1e300)) * s2);
  const double slope = std::abs(x.slope[k]) + value / large,
               stretch = std::abs(x.stretch[k]) + value * rate * room;
  const double turn = std::abs(x.turn[k]) + value, bend = std::abs(x.bend[k]) + value / (large * large);
  return {P::kValue * value + 8 * P::kRounding *
                                  (std::abs(x.slope[k]) * lengths + 2 * std::abs(x.stretch[k]) * s2 +
                                   2 * std::abs(x.bend[k]) * v),
          (P::kSlope + turns) * slope, (P::kSlope + turns) * stretch, (P::kSlope + turns) * turn,
          (P::kSlope + turns) * bend};
}

template <class Real>
void expect_values(const Problem& x, const std::string& what) {
  const OnGpu<Real> gpu(x);
  const index_t n = x.rows() * x.count();
  const DeviceArray<Real> r(Problem::size(n + 8));
  cuda::attend(gpu.densities, gpu.functions, {r.data(), x.rows(), x.count()}, nullptr);
  const std::vector<Real> got = r.values();
  double worst = 0;
  index_t at = 0;
  for (index_t k = 0; k < n; ++k) {
    const double value = double(got[Problem::size(k)]);
    ASSERT_GE(value, 0) << what << ", entry " << k;
    const double error =
        std::abs(value - x.value[Problem::size(k)]) / bounds<Real>(x, k / x.count(), k % x.count()).value;
    if (error > worst) worst = error, at = k;
  }
  EXPECT_LE(worst, 1) << what << ", sigma2 " << x.sigma2[Problem::size(at / x.count())] << " mu "
                      << x.mu[Problem::size(at / x.count())] << " mean "
                      << x.mean[Problem::size(at % x.count())] << " width " << x.width(at % x.count()) << ": "
                      << x.value[Problem::size(at)] << " is " << got[Problem::size(at)];
  for (index_t k = n; k < n + 8; ++k)
    ASSERT_TRUE(std::isnan(got[Problem::size(k)])) << "written past the end";
}

/// Of the gradient, by the sums of the terms' bounds.
template <class Real>
void expect_gradient(const Problem& x, bool in_alpha, const std::string& what) {
  const OnGpu<Real> gpu(x);
  const DeviceArray<Real> mu(Problem::size(x.rows())), scale(Problem::size(x.rows())),
      alpha(Problem::size(x.rows()));
  const DeviceArray<double> mean(Problem::size(x.count())), variance(Problem::size(x.count()));
  cuda::attend_vjp(gpu.densities, gpu.functions, gpu.cotangent.rows(x.rows()),
                   {alpha.span_if(in_alpha), mu.rows(x.rows()), scale.rows(x.rows())},
                   {mean.rows_if(in_alpha, x.count()), variance.rows_if(in_alpha, x.count())}, nullptr);
  const std::vector<Real> by_mu = mu.values(), by_scale = scale.values(), by_alpha = alpha.values();
  const std::vector<double> by_mean = mean.values(), by_variance = variance.values();
  std::vector<double> mean_sum(Problem::size(x.count())), mean_bound(mean_sum), bend_sum(mean_sum),
      bend_bound(mean_sum);
  for (index_t i = 0; i < x.rows(); ++i) {
    double slope = 0, stretch = 0, turn = 0;
    Bounds sum{};
    for (index_t j = 0; j < x.count(); ++j) {
      const std::size_t k = Problem::size(i * x.count() + j), at = Problem::size(j);
      const double c = x.cotangent[k];
      const Bounds b = bounds<Real>(x, i, j);
      slope += c * x.slope[k];
      stretch += c * x.stretch[k];
      turn += c * x.turn[k];
      sum.slope += std::abs(c) * b.slope;
      sum.stretch += std::abs(c) * b.stretch;
      sum.turn += std::abs(c) * b.turn;
      mean_sum[at] -= c * x.slope[k];
      mean_bound[at] += std::abs(c) * b.slope;
      bend_sum[at] += c * x.bend[k];
      bend_bound[at] += std::abs(c) * b.bend;
    }
    const std::size_t at = Problem::size(i);
    EXPECT_NEAR(double(by_mu[at]), slope, sum.slope) << what << ", mu " << i << " sigma2 " << x.sigma2[at];
    EXPECT_NEAR(double(by_scale[at]), stretch, sum.stretch)
        << what << ", sigma2[" << i << "] " << x.sigma2[at];
    if (in_alpha) {
      EXPECT_NEAR(double(by_alpha[at]), turn, sum.turn) << what << ", alpha " << i;
    }
    if (testing::Test::HasFailure()) return;
  }
  for (index_t j = 0; in_alpha && j < x.count(); ++j) {
    const std::size_t at = Problem::size(j);
    EXPECT_NEAR(by_mean[at], mean_sum[at], mean_bound[at]) << what << ", mean " << j;
    EXPECT_NEAR(by_variance[at], bend_sum[at], bend_bound[at]) << what << ", variance " << j;
    if (testing::Test::HasFailure()) return;
  }
}

std::string name(double alpha) { return "alpha " + std::to_string(alpha); }

class CudaAttentionLine : public test::GpuTest {};

TEST_F(CudaAttentionLine, ValuesAreThoseOfTheCpu) {
  for (const double alpha : kAlphas) {
    const Problem x(64, 37, {alpha}, 1);
    expect_values<double>(x, name(alpha) + " double");
    expect_values<float>(x, name(alpha) + " float");
  }
}

TEST_F(CudaAttentionLine, ValuesAreThoseOfTheCpuAtTheSizesOfThePaper) {
  for (const double alpha : {1.0, 4. / 3, 1.5, 2.0, 1.7, 0.8}) {
    expect_values<float>(Problem(300, 128, {alpha}, 2, false), name(alpha));
  }
}

TEST_F(CudaAttentionLine, ShapesOfAllSizes) {
  for (const index_t count : {1, 2, 3, 31, 32, 33, 127, 128, 129, 260}) {
    const Problem x(5, count, {1.5}, 3, false);
    expect_values<float>(x, std::to_string(count) + " functions");
    expect_values<double>(x, std::to_string(count) + " functions");
    expect_gradient<float>(x, false, std::to_string(count) + " functions");
  }
  expect_values<float>(Problem(20000, 2, {2.0}, 4, false), "20000 rows");
}

TEST_F(CudaAttentionLine, EveryRowHasItsAlpha) {
  std::vector<double> alphas;
  for (index_t i = 0; i < 64; ++i) alphas.push_back(kAlphas[Problem::size(i) % kAlphas.size()]);
  const Problem x(64, 37, alphas, 5);
  expect_values<double>(x, "double");
  expect_values<float>(x, "float");
  expect_gradient<double>(x, true, "double");
}

TEST_F(CudaAttentionLine, GradientsAreThoseOfTheCpu) {
  for (const double alpha : kAlphas) {
    const Problem x(64, 37, {alpha}, 6);
    expect_gradient<double>(x, false, name(alpha) + " double");
    expect_gradient<float>(x, false, name(alpha) + " float");
    expect_gradient<double>(x, true, name(alpha) + " with alpha and functions");
    expect_gradient<float>(x, true, name(alpha) + " float with alpha and functions");
  }
}

TEST_F(CudaAttentionLine, TangentsAreThoseOfTheCpu) {
  for (const double alpha : kAlphas) {
    const Problem x(16, 37, {alpha}, 7);
    const std::vector<double> by_mean(37, 0.5), by_variance(37, -0.25);
    for (const bool all : {false, true}) {
      const auto expect = [&]<class Real>(Real) {
        const OnGpu<Real> gpu(x);
        const DeviceArray<Real> ones(converted<Real>(x.ones)), out(16 * 37);
        const DeviceArray<double> mean(by_mean), variance(by_variance);
        cuda::attend_jvp<Real>(gpu.densities, gpu.functions,
                               {ones.span_if(all), ones.rows(16), ones.rows(16)},
                               {mean.rows_if(all, 37), variance.rows_if(all, 37)}, out.rows(16), nullptr);
        const std::vector<Real> got = out.values();
        for (index_t k = 0; k < 16 * 37; ++k) {
          const std::size_t at = Problem::size(k);
          const Bounds b = bounds<Real>(x, k / 37, k % 37);
          double expected = x.slope[at] + x.stretch[at], bound = b.slope + b.stretch;
          if (all) {
            expected += x.turn[at] - 0.5 * x.slope[at] - 0.25 * x.bend[at];
            bound += b.turn + b.bend;
          }
          ASSERT_NEAR(double(got[at]), expected, bound) << name(alpha) << (all ? " all" : "") << sizeof(Real);
        }
      };
      expect(double());
      expect(float());
    }
  }
}

TEST_F(CudaAttentionLine, WhatDoesNotExistIsNaN) {
  for (const double alpha : {1.0, 1.5, 1.7, 0.8}) {
    Problem x(4, 5, {alpha}, 10, false);
    x.mu[0] = kInf;
    x.sigma2[1] = 0;
    x.sigma2[2] = -1;
    x.variance[3] = 0;
    const auto expect = [&]<class Real>(Real) {
      const OnGpu<Real> gpu(x);
      const DeviceArray<Real> r(20), mu(4), scale(4);
      cuda::attend(gpu.densities, gpu.functions, r.rows(4), nullptr);
      cuda::attend_vjp(gpu.densities, gpu.functions, gpu.cotangent.rows(4),
                       {.mu = mu.rows(4), .Sigma = scale.rows(4)}, {}, nullptr);
      const std::vector<Real> got = r.values(), slope = mu.values();
      for (index_t k = 0; k < 20; ++k) {
        EXPECT_EQ(std::isnan(got[Problem::size(k)]), k < 15 || k % 5 == 3) << k << " " << name(alpha);
      }
      for (index_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(slope[Problem::size(i)])) << i;
    };
    expect(double());
    expect(float());
  }
}

TEST_F(CudaAttentionLine, ArgumentsAreChecked) {
  const Problem x(4, 5, {1.5}, 11, false);
  OnGpu<float> gpu(x);
  const DeviceArray<float> r(20);
  const auto message = [&](auto call) -> std::string {
    try {
      call();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  const auto attend = [&](cuda::DeviceRows<float> out) {
    return message([&] { cuda::attend(gpu.densities, gpu.functions, out, nullptr); });
  };
  EXPECT_EQ(attend({nullptr, 4, 5}), "fenchel::cuda::attend: r must not be null, got a null view");
  EXPECT_EQ(attend({r.data(), 5, 4}), "fenchel::cuda::attend: r.rows must be 4, got 5");
  EXPECT_EQ(attend({r.data(), 4, 5, 7}),
            "fenchel::cuda::attend: r must be contiguous, got rows at a distance");
  gpu.densities.alpha = -1;
  EXPECT_EQ(attend(r.rows(4)), "fenchel::cuda::attend: alpha must be positive, got -1");
  const std::vector<double> three(3, 1.5);
  gpu.densities.alpha = three;
  EXPECT_EQ(attend(r.rows(4)), "fenchel::cuda::attend: alpha.size() must equal the number of rows, 4, got 3");
  gpu.densities.alpha = 1.5;
  gpu.densities.mu.rows = 0;
  EXPECT_EQ(attend({}), "");
  const DeviceArray<double> mean(5);
  cuda::attend_vjp<float>(gpu.densities, gpu.functions, {}, {}, {.mu = mean.rows(5)}, nullptr);
  for (const double sum : mean.values()) EXPECT_EQ(sum, 0);
}

}  // namespace
}  // namespace fenchel
