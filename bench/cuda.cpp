/// Attention and small maps on a GPU, timed around the calls of C++: what a call from Python would hide.
///
/// A time is the median over single calls between events, which begin after work that flushes the cache and
/// outlasts the launch. A call on 64 x 64 scores is timed by the host instead, in a long row of calls. The
/// error of a value is relative to it, or to 1e-6 of the function's peak where it is smaller; that of a
/// gradient is of the one in mu, relative to the sum of its terms' sizes; of a map, relative to its peak. All
/// are against the CPU in double, over the first densities or over all rows.
///
/// usage: bench_cuda [--json]     (one line of JSON for each case, as bench/gpu.py reads them)
#include <cuda_runtime_api.h>

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numbers>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fenchel/attention/gaussian_basis.hpp"
#include "fenchel/attention/multivariate_gaussian_basis.hpp"
#include "fenchel/backend/cpu/attention.hpp"
#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/backend/cuda/attention.hpp"
#include "fenchel/backend/cuda/entmax.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"

namespace {

using namespace fenchel;

constexpr index_t kChecked = 32;  // densities that are compared with the CPU

std::size_t size(index_t n) { return static_cast<std::size_t>(n); }

/// The larger one, or NaN if there is one.
double larger(double x, double y) { return x > y || std::isnan(x) ? x : y; }

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// Memory of the GPU.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : size_(count) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)));
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    check(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] cuda::DeviceRows<T> rows(index_t count) const {
    return {data_, count, static_cast<index_t>(size_) / count};
  }
  /// Waits for the GPU.
  [[nodiscard]] std::vector<double> first(index_t count) const {
    std::vector<T> out(size(count));
    check(cudaMemcpy(out.data(), data_, out.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return {out.begin(), out.end()};
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

using Run = std::function<void()>;

/// Milliseconds that the GPU takes for a call.
class Stopwatch {
 public:
  Stopwatch() {
    check(cudaEventCreate(&begin_));
    check(cudaEventCreate(&end_));
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

  [[nodiscard]] double median(const Run& run) const {
    for (int warm_up = 0; warm_up < 3; ++warm_up) run();
    std::vector<double> times(once(run) > 5 ? 5 : 25);
    for (double& time : times) time = once(run);
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                     times.end());
    return times[times.size() / 2];
  }

 private:
  [[nodiscard]] double once(const Run& run) const {
    check(cudaMemsetAsync(flushed_.data(), 0, kFlushed, nullptr));
    check(cudaEventRecord(begin_, nullptr));
    run();
    check(cudaEventRecord(end_, nullptr));
    check(cudaEventSynchronize(end_));
    float elapsed = 0;
    check(cudaEventElapsedTime(&elapsed, begin_, end_));
    return elapsed;
  }

  static constexpr std::size_t kFlushed = std::size_t{1} << 29;
  DeviceArray<char> flushed_{kFlushed};
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

/// What is printed of a case.
class Report {
 public:
  explicit Report(bool json) : json_(json) {
    if (!json_) std::printf("%-52s %10s %10s\n", "", "ms", "error");
  }
  void add(const std::string& name, double milliseconds, double error) const {
    std::printf(json_ ? "{\"case\": \"%s\", \"ms\": %.6g, \"error\": \"%.3e\"}\n" : "%-52s %10.4f %10.1e\n",
                name.c_str(), milliseconds, error);
    std::fflush(stdout);
  }

 private:
  bool json_;
};

struct Alpha {
  const char* name;
  double value;
};

/// Densities and functions on R^D, here and on the GPU.
template <class Real>
class Problem {
 public:
  Problem(std::string name, index_t dimension, const std::vector<double>& mu,
          const std::vector<double>& Sigma, const cpu::GaussianFunctions& functions)
      : name_(std::move(name) + (sizeof(Real) == 4 ? ", float32" : ", float64")),
        rows_(static_cast<index_t>(mu.size()) / dimension),
        dimension_(dimension),
        count_(functions.mu.rows),
        functions_(functions),
        mu_(std::vector<Real>(mu.begin(), mu.end())),
        Sigma_(std::vector<Real>(Sigma.begin(), Sigma.end())),
        cotangent_(cotangents(rows_ * count_)),
        r_(size(rows_ * count_)),
        d_mu_(mu.size()),
        d_Sigma_(Sigma.size()),
        means_(copied(functions.mu)),
        covariances_(copied(functions.Sigma)) {}

  /// The forward pass, the VJP and, where it is asked for, both together.
  void time(const Report& report, const Stopwatch& stopwatch, const Alpha& alpha, bool together) const {
    const cuda::Densities<Real> p{alpha.value, mu_.rows(rows_), Sigma_.rows(rows_)};
    const cuda::GaussianFunctions psi{means_.rows(count_), covariances_.rows(count_)};
    const Run forward = [&] { cuda::attend<Real>(p, psi, r_.rows(rows_), nullptr); };
    const Run vjp = [&] {
      cuda::attend_vjp<Real>(p, psi, cotangent_.rows(rows_), {{}, d_mu_.rows(rows_), d_Sigma_.rows(rows_)},
                             {}, nullptr);
    };
    const auto run = [&](const char* what, const Run& call, double (Problem::*error)(double) const) {
      const double milliseconds = stopwatch.median(call);
      report.add(name_ + ", alpha " + alpha.name + ", " + what, milliseconds, (this->*error)(alpha.value));
    };
    run("forward", forward, &Problem::value_error);
    const Run both = [&] {
      forward();
      vjp();
    };
    run(together ? "forward + VJP" : "VJP", together ? both : vjp, &Problem::gradient_error);
  }

 private:
  static std::vector<Real> cotangents(index_t count) {
    Philox rng(3, 0);
    std::vector<Real> out(size(count));
    for (Real& x : out) x = static_cast<Real>(2 * uniform01(rng) - 1);
    return out;
  }
  static std::vector<double> copied(Rows<const double> x) { return {x.data, x.data + x.rows * x.cols}; }

  [[nodiscard]] double peak(index_t j) const {
    const double* s = functions_.Sigma.row(j);
    const double det = dimension_ == 1 ? s[0] : s[0] * s[3] - s[1] * s[2];
    return std::pow(2 * std::numbers::pi, -0.5 * static_cast<double>(dimension_)) / std::sqrt(det);
  }

  [[nodiscard]] double value_error(double alpha) const {
    const std::vector<double> mu = mu_.first(kChecked * dimension_),
                              Sigma = Sigma_.first(kChecked * dimension_ * dimension_),
                              got = r_.first(kChecked * count_);
    std::vector<double> exact(got.size());
    cpu::attend<double>(
        {alpha, {mu.data(), kChecked, dimension_}, {Sigma.data(), kChecked, dimension_ * dimension_}},
        functions_, {exact.data(), kChecked, count_});
    double worst = 0;
    for (std::size_t k = 0; k < got.size(); ++k) {
      const double at_least = 1e-6 * peak(static_cast<index_t>(k) % count_);
      worst = larger(worst, std::abs(got[k] - exact[k]) / std::max(exact[k], at_least));
    }
    return worst;
  }

  [[nodiscard]] double gradient_error(double alpha) const {
    const index_t d = dimension_;
    const std::vector<double> mu = mu_.first(kChecked * d), Sigma = Sigma_.first(kChecked * d * d),
                              cotangent = cotangent_.first(kChecked * count_),
                              got = d_mu_.first(kChecked * d);
    const std::vector<double> ones(mu.size(), 1), zeros(Sigma.size(), 0);
    std::vector<double> tangent(cotangent.size());
    cpu::attend_jvp<double>({alpha, {mu.data(), kChecked, d}, {Sigma.data(), kChecked, d * d}}, functions_,
                            {{}, {ones.data(), kChecked, d}, {zeros.data(), kChecked, d * d}}, {},
                            {tangent.data(), kChecked, count_});
    double worst = 0;
    for (index_t i = 0; i < kChecked; ++i) {
      double difference = 0, terms = 0;
      for (index_t a = 0; a < d; ++a) difference += got[size(i * d + a)];
      for (index_t j = 0; j < count_; ++j) {
        const double term = cotangent[size(i * count_ + j)] * tangent[size(i * count_ + j)];
        difference -= term;
        terms += std::abs(term);
      }
      worst = larger(worst, std::abs(difference) / terms);
    }
    return worst;
  }

  std::string name_;
  index_t rows_, dimension_, count_;
  cpu::GaussianFunctions functions_;
  DeviceArray<Real> mu_, Sigma_, cotangent_, r_, d_mu_, d_Sigma_;
  DeviceArray<double> means_, covariances_;
};

/// mu in [0, 1] and sigma2 from 1e-3 to 1, over the paper's functions for audio.
void line(const Report& report, const Stopwatch& stopwatch) {
  constexpr index_t kRows = 524288;
  const GaussianBasis basis = GaussianBasis::linearly_spaced(128, 0, 1);
  Philox rng(1, 0);
  std::vector<double> mu(size(kRows)), sigma2(size(kRows));
  for (double& x : mu) x = uniform01(rng);
  for (double& x : sigma2) x = std::pow(10.0, -3 * uniform01(rng));
  const Problem<float> problem("line", 1, mu, sigma2, basis.functions());
  for (const Alpha& alpha :
       {Alpha{"1", 1}, Alpha{"2", 2}, Alpha{"3/2", 1.5}, Alpha{"4/3", 4. / 3}, Alpha{"1 + 1e-8", 1 + 1e-8},
        Alpha{"1.7", 1.7}, Alpha{"3", 3}, Alpha{"0.8", 0.8}}) {
    problem.time(report, stopwatch, alpha, true);
  }
}

/// mu in the unit square, deviations from .03 to .3 and correlations up to .8, over the paper's functions for
/// images, `side` of them on a side.
template <class Real>
void plane(const Report& report, const Stopwatch& stopwatch, index_t rows, index_t side) {
  const MultivariateGaussianBasis basis =
      MultivariateGaussianBasis::unit_square(side, side, 0.001 * Eigen::Matrix2d::Identity());
  Philox rng(2, 0);
  std::vector<double> mu(size(2 * rows)), Sigma;
  for (double& x : mu) x = uniform01(rng);
  for (index_t i = 0; i < rows; ++i) {
    const double x = 0.03 * std::pow(10.0, uniform01(rng)), y = 0.03 * std::pow(10.0, uniform01(rng));
    const double xy = x * y * (1.6 * uniform01(rng) - 0.8);
    Sigma.insert(Sigma.end(), {x * x, xy, xy, y * y});
  }
  const std::string shape = std::to_string(rows) + " x " + std::to_string(side * side);
  const Problem<Real> problem("plane, " + shape, 2, mu, Sigma, basis.functions());
  for (const Alpha& alpha : {Alpha{"1", 1}, Alpha{"2", 2}, Alpha{"3/2", 1.5}}) {
    problem.time(report, stopwatch, alpha, false);
  }
}

/// A call on 64 x 64 scores, by the host's clock.
void small(const Report& report) {
  constexpr index_t kSide = 64;
  constexpr int kCalls = 1000;
  Philox rng(4, 0);
  std::vector<float> scores(size(kSide * kSide));
  for (float& x : scores) x = static_cast<float>(2 * standard_normal(rng));
  const std::vector<double> z(scores.begin(), scores.end());
  const DeviceArray<float> on_gpu(scores), p(scores.size());
  for (const Alpha& alpha : {Alpha{"1", 1}, Alpha{"2", 2}, Alpha{"3/2", 1.5}, Alpha{"5/4", 1.25}}) {
    const auto call = [&](int times) {
      for (int k = 0; k < times; ++k) {
        cuda::entmax<float>(on_gpu.rows(kSide), alpha.value, p.rows(kSide), nullptr);
      }
      check(cudaDeviceSynchronize());
    };
    call(100);
    const auto begin = std::chrono::steady_clock::now();
    call(kCalls);
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
    std::vector<double> exact(z.size());
    cpu::entmax<double>({z.data(), kSide, kSide}, alpha.value, {exact.data(), kSide, kSide});
    const std::vector<double> got = p.first(kSide * kSide);
    double worst = 0;
    for (index_t i = 0; i < kSide; ++i) {
      const double* row = exact.data() + i * kSide;
      const double peak = *std::max_element(row, row + kSide);
      for (index_t j = 0; j < kSide; ++j) {
        worst = larger(worst, std::abs(got[size(i * kSide + j)] - row[j]) / peak);
      }
    }
    report.add(std::string("64 x 64, float32, alpha ") + alpha.name, elapsed.count() / kCalls, worst);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::puts("bench_cuda: there is no GPU here");
    return 0;
  }
  const Report report(argc > 1 && std::string_view(argv[1]) == "--json");
  const Stopwatch stopwatch;
  line(report, stopwatch);
  plane<float>(report, stopwatch, 65536, 16);
  plane<double>(report, stopwatch, 65536, 16);
  plane<float>(report, stopwatch, 4096, 10);
  small(report);
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_cuda: %s\n", error.what());
  return 1;
}
