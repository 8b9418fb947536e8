#include "fenchel/backend/cuda/entmax_derivatives.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "batch.hpp"
#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/backend/cpu/entmax_derivatives.hpp"

namespace fenchel {
namespace {

using test::DeviceArray, test::kInf, test::kNan, test::Layout, test::LaidOut;

const std::vector<double> kAlphas = {
    0.5, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4. / 3, 1.5, 1.7, 2.0, 2.5, 5.0, 1e6, kInf};
constexpr index_t kLengths[] = {1,   2,   3,   31,   32,   33,   64,   100,  128,  255,  256,   257,
                                512, 513, 900, 1000, 1024, 2048, 4095, 4096, 4100, 8192, 12000, 16385};

/// Rows of p that a storage type has, of scores of some spread, and a direction; in every fifth row p is NaN.
struct Batch {
  index_t rows, cols;
  std::vector<double> p, v, w, scales;

  template <class T>
  static Batch of(index_t rows, index_t cols, const std::vector<double>& alphas, unsigned seed,
                  double spread = 2) {
    Batch b{rows, cols, std::vector<double>(test::size_of(rows * cols)), {}, {}, {}};
    std::vector<double> z = test::normal_numbers(rows * cols, 1, seed);
    for (double& x : z) x *= spread;
    cpu::entmax<double>({z.data(), rows, cols}, PerRow(alphas), {b.p.data(), rows, cols});
    b.p = test::rounded<T>(b.p);
    b.v = test::rounded<T>(test::normal_numbers(rows * cols, 1, seed + 1));
    b.w = test::rounded<T>(test::normal_numbers(rows * cols, 1, seed + 2));
    for (index_t i = 3; i < rows; i += 5) {
      std::fill_n(b.p.begin() + i * cols, cols, kNan);
    }
    return b;
  }
  template <class Real>
  [[nodiscard]] std::vector<Real> in(const std::vector<double>& x) const {
    return {x.begin(), x.end()};
  }
};

struct Result {
  std::vector<double> rows, alpha;
};

enum class Operation { vjp, jvp, vjp_vjp };

template <class Real>
Result on_cpu(Operation operation, const Batch& b, const std::vector<double>& alphas,
              const std::vector<double>& alpha_parts, bool with_alpha) {
  const auto p = b.in<Real>(b.p), v = b.in<Real>(b.v), w = b.in<Real>(b.w);
  std::vector<Real> out(p.size());
  Result result{{}, std::vector<double>(test::size_of(with_alpha ? b.rows : 0))};
  const auto view = [&](const std::vector<Real>& x) { return Rows<const Real>{x.data(), b.rows, b.cols}; };
  const Rows<Real> out_view{out.data(), b.rows, b.cols};
  const std::span<const double> parts =
      with_alpha ? std::span<const double>(alpha_parts) : std::span<const double>();
  if (operation == Operation::vjp) {
    cpu::entmax_vjp<Real>(view(p), PerRow(alphas), view(v), out_view, result.alpha);
  } else if (operation == Operation::jvp) {
    cpu::entmax_jvp<Real>(view(p), PerRow(alphas), view(v), parts, out_view);
    result.alpha.clear();
  } else {
    cpu::entmax_vjp_vjp<Real>(view(p), PerRow(alphas), view(v), view(w), parts, out_view, result.alpha);
  }
  result.rows.assign(out.begin(), out.end());
  return result;
}

template <class T>
Result on_gpu(Operation operation, const Batch& b, PerRow alpha, const std::vector<double>& alpha_parts,
              bool with_alpha, Layout layout, bool in_place) {
  const LaidOut<T> p(layout, b.p, b.rows), w(layout, b.w, b.rows);
  LaidOut<T> v(layout, b.v, b.rows), other(layout, b.rows, b.cols);
  LaidOut<T>& out = in_place ? v : other;
  const DeviceArray<double> parts(alpha_parts), alpha_out(test::size_of(b.rows));
  const std::span<double> in = parts.span_if(with_alpha), grad = alpha_out.span_if(with_alpha);
  if (operation == Operation::vjp) {
    cuda::entmax_vjp(p.view(), alpha, v.view(), out.view(), grad, nullptr);
  } else if (operation == Operation::jvp) {
    cuda::entmax_jvp(p.view(), alpha, v.view(), in, out.view(), nullptr);
  } else {
    cuda::entmax_vjp_vjp(p.view(), alpha, v.view(), w.view(), in, out.view(), grad, nullptr);
  }
  Result result{out.values(), {}};
  if (with_alpha && operation != Operation::jvp) result.alpha = alpha_out.values();
  return result;
}

/// How large the numbers are that a row's result is the difference of.
std::vector<double> scales_of(const std::vector<double>& exact, index_t rows, double floor) {
  const std::size_t cols = exact.size() / test::size_of(rows);
  std::vector<double> scales(test::size_of(rows), floor);
  for (std::size_t k = 0; k < exact.size(); ++k) {
    if (std::isfinite(exact[k])) scales[k / cols] = std::max(scales[k / cols], std::abs(exact[k]));
  }
  return scales;
}

/// Sums of the sizes of the terms of a derivative in alpha.
std::vector<double> alpha_scales(Operation operation, const Batch& b, double alpha,
                                 const std::vector<double>& exact) {
  std::vector<double> scales(test::size_of(b.rows), 1);
  for (std::size_t k = 0; k < exact.size(); ++k) {
    const double p = b.p[k], l = std::abs(std::log(p));
    if (!(p > 0) || std::isinf(alpha)) continue;
    double& scale = scales[k / test::size_of(b.cols)];
    scale += std::abs(exact[k]) * l * l * std::max(1.0, std::pow(p, alpha - 1));
    if (operation == Operation::vjp_vjp) scale += std::pow(p, 2 - alpha) * (l + l * l * l);
  }
  return scales;
}

template <class T>
void compare(Operation operation, index_t rows, index_t cols, double alpha, bool with_alpha, Layout layout,
             bool in_place = false) {
  const std::vector<double> alphas(test::size_of(rows), alpha);
  const Batch b = Batch::of<T>(rows, cols, alphas, static_cast<unsigned>(cols));
  const std::vector<double> parts = test::normal_numbers(rows, 1, 5);
  const Result exact = on_cpu<double>(operation, b, alphas, parts, with_alpha);
  const Result in_float = on_cpu<float>(operation, b, alphas, parts, with_alpha);
  const Result got = on_gpu<T>(operation, b, alpha, parts, with_alpha, layout, in_place);
  std::ostringstream what;
  what << "operation " << int(operation) << " alpha " << alpha << " cols " << cols << " layout "
       << int(layout) << " with alpha " << with_alpha << " bytes " << sizeof(T);
  // v - mean is a difference of numbers about 1, of which s <= 1 up to alpha = 2 is a factor. Second
  // derivatives, and what moves with alpha, are computed in double.
  const bool in_double = operation == Operation::vjp_vjp || (operation == Operation::jvp && with_alpha);
  const Result& baseline = in_double ? exact : in_float;
  test::expect_close<T>(got.rows, exact.rows, baseline.rows, scales_of(exact.rows, rows, 1), what.str());
  if (got.alpha.empty()) return;
  const std::vector<double> scales = alpha_scales(operation, b, alpha, exact.rows);
  if (in_double) {
    test::expect_close<double>(got.alpha, exact.alpha, baseline.alpha, scales, what.str() + " in alpha");
  } else {
    test::expect_close<cuda::Computed<T>>(got.alpha, exact.alpha, baseline.alpha, scales,
                                          what.str() + " in alpha");
  }
}

template <class T>
class CudaDerivatives : public test::GpuTest {};
using Types = testing::Types<double, float, cuda::Half, cuda::BFloat16>;
TYPED_TEST_SUITE(CudaDerivatives, Types);

TYPED_TEST(CudaDerivatives, ProductsAreThoseOfTheCpuAtEveryLength) {
  for (const index_t cols : kLengths) {
    for (const double alpha : kAlphas) {
      if (cols > 1100 && alpha != 1 && alpha != 1.5 && alpha != 1.7 && alpha != 5) continue;
      compare<TypeParam>(Operation::vjp, 7, cols, alpha, false, Layout::dense);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(CudaDerivatives, DerivativesInAlphaAreThoseOfTheCpu) {
  for (const index_t cols : {1, 2, 33, 257, 1000, 3000}) {
    for (const double alpha : kAlphas) {
      compare<TypeParam>(Operation::vjp, 5, cols, alpha, true, Layout::dense);
      compare<TypeParam>(Operation::jvp, 5, cols, alpha, true, Layout::dense);
      compare<TypeParam>(Operation::jvp, 5, cols, alpha, false, Layout::dense);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(CudaDerivatives, SecondDerivativesAreThoseOfTheCpu) {
  for (const index_t cols : {1, 2, 33, 257, 1000, 3000}) {
    for (const double alpha : kAlphas) {
      if (alpha > 2 && !std::isinf(alpha)) continue;  // they have no bound
      compare<TypeParam>(Operation::vjp_vjp, 5, cols, alpha, true, Layout::dense);
      compare<TypeParam>(Operation::vjp_vjp, 5, cols, alpha, false, Layout::dense);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

/// Within the bounds of docs/numerics.md of their largest entry, also where one score has nearly all of the
/// mass.
TYPED_TEST(CudaDerivatives, ProductsOfScoresFarApartKeepTheirDigits) {
  using T = TypeParam;
  constexpr double kBound = sizeof(T) == 8 ? 5e-15 : 5e-6;
  for (const index_t cols : {2, 33, 300, 5000, 20000}) {
    for (const double alpha : {0.5, 1.0, 1.1, 1.5, 1.7}) {
      const std::vector<double> alphas(10, alpha);
      const Batch b = Batch::of<T>(10, cols, alphas, 11, 10);
      const std::vector<double> exact = on_cpu<double>(Operation::vjp, b, alphas, {}, false).rows;
      const std::vector<double> got =
          on_gpu<T>(Operation::vjp, b, alpha, {}, false, Layout::dense, false).rows;
      const std::vector<double> scales = scales_of(exact, 10, 0);
      for (std::size_t k = 0; k < exact.size(); ++k) {
        if (std::isnan(got[k]) && std::isnan(exact[k])) continue;
        const double written = sizeof(T) == 2 ? test::kRounding<T> * std::abs(exact[k]) : 0.0;
        ASSERT_LE(std::abs(got[k] - exact[k]),
                  kBound * scales[k / test::size_of(cols)] + written + test::kSubnormal<T>)
            << "alpha " << alpha << " cols " << cols << ": " << got[k] << " for " << exact[k];
      }
    }
  }
}

/// Equal scores: p^{2-alpha} is beyond the largest number from some length on.
TYPED_TEST(CudaDerivatives, SecondDerivativesSaturate) {
  using T = TypeParam;
  for (const double alpha : {118.0, 300.0}) {
    for (const index_t cols : {3, 33, 300}) {
      const std::vector<double> alphas(5, alpha), parts(5, 0.5);
      const Batch b = Batch::of<T>(5, cols, alphas, 7, 0);
      const Result expected = on_cpu<double>(Operation::vjp_vjp, b, alphas, parts, true);
      const Result got = on_gpu<T>(Operation::vjp_vjp, b, alpha, parts, true, Layout::dense, false);
      for (std::size_t k = 0; k < got.rows.size(); ++k) {
        if (std::isnan(expected.rows[k])) continue;
        ASSERT_FALSE(std::isnan(got.rows[k])) << alpha << ' ' << cols;
        if (sizeof(T) == 8) {
          ASSERT_NEAR(got.rows[k], expected.rows[k], 1e-9 * std::abs(expected.rows[k]))
              << alpha << ' ' << cols;
        }
      }
      for (std::size_t i = 0; i < got.alpha.size(); ++i)
        ASSERT_EQ(std::isnan(got.alpha[i]), std::isnan(expected.alpha[i])) << alpha << ' ' << cols;
    }
  }
}

TYPED_TEST(CudaDerivatives, EveryLayoutAndInPlace) {
  for (const Layout layout : test::kLayouts) {
    for (const index_t cols : {5, 100, 700, 2000}) {
      for (const double alpha : {1.0, 1.5, 1.7, 2.0, 3.0}) {
        for (const bool in_place : {false, true}) {
          compare<TypeParam>(Operation::vjp, 70, cols, alpha, false, layout, in_place);
          compare<TypeParam>(Operation::vjp, 7, cols, alpha, true, layout, in_place);
          if (alpha <= 2) compare<TypeParam>(Operation::vjp_vjp, 4, cols, alpha, true, layout, in_place);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(CudaDerivatives, RowsOfAnyLength) {
  for (const index_t cols : {16388, 32768, 40000, 65536, 131072, 262144, 262147, 1100000}) {
    compare<TypeParam>(Operation::vjp, 2, cols, 1.5, false, Layout::dense);
    compare<TypeParam>(Operation::vjp, 2, cols, 1.3, false, Layout::dense);
    if (testing::Test::HasFatalFailure()) return;
  }
  for (const double alpha : {1.0, 1.5, 3.0}) {
    compare<TypeParam>(Operation::vjp, 2, 100000, alpha, true, Layout::dense);
    compare<TypeParam>(Operation::vjp, 2, 100001, alpha, false, Layout::odd);
    compare<TypeParam>(Operation::vjp_vjp, 1, 100000, std::min(alpha, 1.5), true, Layout::dense);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TYPED_TEST(CudaDerivatives, EachRowHasItsOwnAlpha) {
  using T = TypeParam;
  const index_t good = static_cast<index_t>(kAlphas.size());
  for (const index_t cols : {20, 100, 300, 1500, 5000}) {
    const Batch b = Batch::of<T>(good, cols, kAlphas, 7);
    for (const bool with_alpha : {false, true}) {
      const std::vector<double> parts = test::normal_numbers(good, 1, 5);
      const Result exact = on_cpu<double>(Operation::vjp, b, kAlphas, parts, with_alpha);
      const Result in_float = on_cpu<float>(Operation::vjp, b, kAlphas, parts, with_alpha);
      const DeviceArray<double> values(kAlphas);
      const Result got = on_gpu<T>(Operation::vjp, b, values.span(), parts, with_alpha, Layout::dense, false);
      test::expect_close<T>(got.rows, exact.rows, in_float.rows, scales_of(exact.rows, good, 1), "own alpha");
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(CudaDerivatives, AnAlphaThatDoesNotExistMakesItsRowNan) {
  using T = TypeParam;
  const std::vector<double> alphas = {0, -1, kNan, 1.5, -kInf};
  for (const index_t cols : {10, 300, 3000}) {
    const Batch b = Batch::of<T>(5, cols, std::vector<double>(5, 1.5), 7);
    const DeviceArray<double> values(alphas);
    for (const Operation operation : {Operation::vjp, Operation::jvp, Operation::vjp_vjp}) {
      for (const bool with_alpha : {false, true}) {
        const Result got = on_gpu<T>(operation, b, values.span(), std::vector<double>(5, 1.0), with_alpha,
                                     Layout::dense, false);
        for (index_t i : {0, 1, 2, 4}) {
          for (index_t j = 0; j < cols; ++j) ASSERT_TRUE(std::isnan(got.rows[test::size_of(i * cols + j)]));
          if (!got.alpha.empty()) {
            ASSERT_TRUE(std::isnan(got.alpha[test::size_of(i)]));
          }
        }
      }
    }
  }
}

class CudaDerivativeArguments : public test::GpuTest {};

TEST_F(CudaDerivativeArguments, AreChecked) {
  const DeviceArray<float> p(12), v(12), out(12);
  const auto message = [&](auto call) -> std::string {
    try {
      call();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(message([&] { cuda::entmax_vjp(p.rows(3), 1.5, v.rows(4), out.rows(3), {}, nullptr); }),
            "fenchel::cuda::entmax_vjp: cotangent must have as many rows as p, 3, got 4");
  EXPECT_EQ(message([&] { cuda::entmax_jvp(p.rows(3), -1.0, v.rows(3), {}, out.rows(3), nullptr); }),
            "fenchel::cuda::entmax_jvp: alpha must be positive, got -1");
  EXPECT_EQ(message([&] {
              cuda::entmax_vjp_vjp<float>({}, 1.5, v.rows(3), v.rows(3), {}, out.rows(3), {}, nullptr);
            }),
            "fenchel::cuda::entmax_vjp_vjp: p must have at least one column, got 0");
  const DeviceArray<double> two(2);
  EXPECT_EQ(message([&] { cuda::entmax_vjp(p.rows(3), two.span(), v.rows(3), out.rows(3), {}, nullptr); }),
            "fenchel::cuda::entmax_vjp: alpha.size() must equal the number of rows, 3, got 2");
  EXPECT_EQ(message([&] { cuda::entmax_vjp(p.rows(3), 1.5, v.rows(3), out.rows(3), two.span(), nullptr); }),
            "fenchel::cuda::entmax_vjp: alpha_gradient.size() must equal the number of rows, 3, got 2");
  const cuda::DeviceRows<float> none(nullptr, 0, 5);
  EXPECT_EQ(message([&] { cuda::entmax_vjp(none, 1.5, none, none, {}, nullptr); }), "nothing");
}

}  // namespace
}  // namespace fenchel
