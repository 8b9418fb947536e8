#include <gtest/gtest.h>

#include <sstream>

#include "batch.hpp"
#include "fenchel/backend/cpu/fusedmax.hpp"
#include "fenchel/backend/cuda/fusedmax.hpp"

namespace fenchel {
namespace {

using test::DeviceArray, test::kInf, test::kNan, test::Layout, test::LaidOut;

/// Columns in plateaus of about `run`, some of them off the support; in every fourth row p is NaN.
template <class T>
std::vector<double> plateaus(index_t rows, index_t cols, index_t run, unsigned seed) {
  std::mt19937_64 rng(seed);
  std::uniform_int_distribution<index_t> length(1, 2 * run);
  std::uniform_int_distribution<int> level(0, 5);
  std::vector<double> p(test::size_of(rows * cols));
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < cols;) {
      const double value = level(rng) / 16.0;
      for (index_t k = length(rng); k > 0 && j < cols; --k, ++j) p[test::size_of(i * cols + j)] = value;
    }
    if (i % 4 == 2) std::fill_n(p.begin() + i * cols, cols, kNan);
  }
  return test::rounded<T>(p);
}

struct Result {
  std::vector<double> rows, gamma;
};

template <class Real>
Result on_cpu(bool forward, const std::vector<double>& p, const std::vector<double>& v,
              const std::vector<double>& gammas, const std::vector<double>& d_gamma, bool with_gamma) {
  const auto rows = static_cast<index_t>(gammas.size()), cols = static_cast<index_t>(p.size()) / rows;
  const std::vector<Real> q(p.begin(), p.end()), x(v.begin(), v.end());
  std::vector<Real> out(q.size());
  Result result;
  if (forward) {
    cpu::fusedmax_jvp<Real>({q.data(), rows, cols}, PerRow(gammas), {x.data(), rows, cols},
                            with_gamma ? std::span<const double>(d_gamma) : std::span<const double>(),
                            {out.data(), rows, cols});
  } else {
    if (with_gamma) result.gamma.resize(gammas.size());
    cpu::fusedmax_vjp<Real>({q.data(), rows, cols}, PerRow(gammas), {x.data(), rows, cols},
                            {out.data(), rows, cols}, result.gamma);
  }
  result.rows.assign(out.begin(), out.end());
  return result;
}

template <class T>
Result on_gpu(bool forward, const std::vector<double>& p, const std::vector<double>& v,
              const std::vector<double>& gammas, const std::vector<double>& d_gamma, bool with_gamma,
              bool own_gammas, Layout layout, bool in_place) {
  const auto rows = static_cast<index_t>(gammas.size()), cols = static_cast<index_t>(p.size()) / rows;
  const LaidOut<T> q(layout, p, rows);
  LaidOut<T> x(layout, v, rows), other(layout, rows, cols);
  LaidOut<T>& out = in_place ? x : other;
  const DeviceArray<double> values(gammas), parts(d_gamma), found(gammas.size());
  const PerRow gamma = own_gammas ? PerRow(values.span()) : PerRow(gammas[0]);
  if (forward) {
    cuda::fusedmax_jvp(q.view(), gamma, x.view(), parts.span_if(with_gamma), out.view(), nullptr);
  } else {
    cuda::fusedmax_vjp(q.view(), gamma, x.view(), out.view(), found.span_if(with_gamma), nullptr);
  }
  Result result{out.values(), {}};
  if (with_gamma && !forward) result.gamma = found.values();
  return result;
}

template <class T>
void compare(index_t rows, index_t cols, index_t run, double gamma, Layout layout, bool in_place = false) {
  const std::vector<double> p = plateaus<T>(rows, cols, run, static_cast<unsigned>(cols + run));
  const std::vector<double> v = test::rounded<T>(test::normal_numbers(rows * cols, 1, 3));
  const std::vector<double> gammas(test::size_of(rows), gamma), d_gamma = test::normal_numbers(rows, 1, 4);
  for (const bool forward : {false, true}) {
    for (const bool with_gamma : {false, true}) {
      const Result exact = on_cpu<double>(forward, p, v, gammas, d_gamma, with_gamma);
      const Result in_float = on_cpu<float>(forward, p, v, gammas, d_gamma, with_gamma);
      const Result got = on_gpu<T>(forward, p, v, gammas, d_gamma, with_gamma, false, layout, in_place);
      std::ostringstream what;
      what << (forward ? "jvp" : "vjp") << " cols " << cols << " run " << run << " gamma " << gamma
           << " layout " << int(layout) << " in place " << in_place << " bytes " << sizeof(T);
      const std::vector<double> scales(test::size_of(rows), 4);
      test::expect_close<T>(got.rows, exact.rows, in_float.rows, scales, what.str());
      if (testing::Test::HasFatalFailure()) return;
      if (got.gamma.empty()) continue;
      const std::vector<double> sums(test::size_of(rows), 4 + static_cast<double>(cols) / 10);
      test::expect_close<cuda::Computed<T>>(got.gamma, exact.gamma, in_float.gamma, sums, what.str());
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

template <class T>
class CudaFusedmaxDerivatives : public test::GpuTest {};
using Types = testing::Types<double, float, cuda::Half, cuda::BFloat16>;
TYPED_TEST_SUITE(CudaFusedmaxDerivatives, Types);

TYPED_TEST(CudaFusedmaxDerivatives, AreThoseOfTheCpu) {
  for (const index_t cols :
       {1, 2, 3, 7, 8, 9, 31, 32, 33, 255, 256, 257, 511, 1000, 1024, 1025, 2047, 2048, 2049, 4100, 10000}) {
    for (const index_t run : {1, 3, 40, 700, 5000}) {
      for (const double gamma : {0.0, 0.5}) {
        compare<TypeParam>(6, cols, run, gamma, Layout::dense);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(CudaFusedmaxDerivatives, EveryLayoutAndInPlace) {
  for (const Layout layout : test::kLayouts) {
    for (const index_t cols : {10, 300, 3000}) {
      for (const double gamma : {0.0, 0.5}) {
        compare<TypeParam>(5, cols, 20, gamma, layout, false);
        compare<TypeParam>(5, cols, 900, gamma, layout, true);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(CudaFusedmaxDerivatives, LongRows) {
  compare<TypeParam>(2, 100000, 10, 0.5, Layout::dense);
  compare<TypeParam>(2, 100000, 30000, 0.5, Layout::dense);
  compare<TypeParam>(1, 1100000, 100, 0.5, Layout::dense);
}

TYPED_TEST(CudaFusedmaxDerivatives, OfTheMapItself) {
  constexpr index_t kRows = 4, kCols = 400;
  const std::vector<double> z = test::normal_numbers(kRows * kCols, 0.1, 1);
  std::vector<double> p(z.size());
  cpu::fusedmax<double>({z.data(), kRows, kCols}, 0.05, {p.data(), kRows, kCols});
  p = test::rounded<TypeParam>(p);
  const std::vector<double> v = test::rounded<TypeParam>(test::normal_numbers(kRows * kCols, 1, 2));
  const std::vector<double> gammas(kRows, 0.05), none(kRows, 0.0), scales(kRows, 4);
  const Result exact = on_cpu<double>(false, p, v, gammas, none, true);
  const Result in_float = on_cpu<float>(false, p, v, gammas, none, true);
  const Result got = on_gpu<TypeParam>(false, p, v, gammas, none, true, false, Layout::dense, false);
  test::expect_close<TypeParam>(got.rows, exact.rows, in_float.rows, scales, "map");
}

TYPED_TEST(CudaFusedmaxDerivatives, EachRowHasItsOwnGamma) {
  const std::vector<double> gammas = {0.0, 1.0, 0.3, 1e-300, 1e300, 0.5},
                            bad = {-1, 0.5, kNan, kInf, 1, -0.5};
  constexpr index_t kRows = 6;
  for (const index_t cols : {50, 2000}) {
    const std::vector<double> p = plateaus<TypeParam>(kRows, cols, 5, 9);
    const std::vector<double> v = test::rounded<TypeParam>(test::normal_numbers(kRows * cols, 1, 3));
    const std::vector<double> d_gamma(kRows, 0.5), scales(kRows, 4);
    const Result exact = on_cpu<double>(true, p, v, gammas, d_gamma, true);
    const Result in_float = on_cpu<float>(true, p, v, gammas, d_gamma, true);
    test::expect_close<TypeParam>(
        on_gpu<TypeParam>(true, p, v, gammas, d_gamma, true, true, Layout::dense, false).rows, exact.rows,
        in_float.rows, scales, "own gamma");
    const Result nan = on_gpu<TypeParam>(false, p, v, bad, d_gamma, true, true, Layout::dense, false);
    for (const index_t i : {0, 2, 3, 5}) {
      ASSERT_TRUE(std::isnan(nan.gamma[test::size_of(i)]));
      for (index_t j = 0; j < cols; ++j) ASSERT_TRUE(std::isnan(nan.rows[test::size_of(i * cols + j)]));
    }
    ASSERT_FALSE(std::isnan(nan.rows[test::size_of(cols)]));
  }
}

class CudaFusedmaxDerivativeArguments : public test::GpuTest {};

TEST_F(CudaFusedmaxDerivativeArguments, AreChecked) {
  const DeviceArray<float> p(12), v(12), out(12);
  const auto message = [&](double gamma, index_t rows) -> std::string {
    try {
      cuda::fusedmax_vjp(p.rows(3), gamma, v.rows(rows), out.rows(3), {}, nullptr);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(message(-1, 3), "fenchel::cuda::fusedmax_vjp: gamma must be finite and not negative, got -1");
  EXPECT_EQ(message(kInf, 3), "fenchel::cuda::fusedmax_vjp: gamma must be finite and not negative, got inf");
  EXPECT_EQ(message(1, 4), "fenchel::cuda::fusedmax_vjp: cotangent must have as many rows as p, 3, got 4");
  const cuda::DeviceRows<float> none(nullptr, 0, 5);
  EXPECT_NO_THROW(cuda::fusedmax_jvp(none, 1.0, none, {}, none, nullptr));
}

}  // namespace
}  // namespace fenchel
