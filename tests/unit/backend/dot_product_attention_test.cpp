#include "fenchel/backend/cpu/dot_product_attention.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "dot_product_problem.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel {
namespace {

using namespace testing;

const std::vector kOrders{1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4.0 / 3, 1.5, 1.7, 2.0};
const std::vector kHighOrders{5.0, 1e6, kInf};

/// The bars of an output: of the largest value in float.
template <class Real>
constexpr double kBar = sizeof(Real) == 4 ? 4e-6 : 1e-13;

template <class Real>
class DotProductAttention : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DotProductAttention, Reals);

template <class Real>
double output_error(Problem<Real>& problem, const DotProducts<Real>& x) {
  problem.run(x);
  return error_of(problem.out.numbers, expected_of(x, problem.cotangent.view()).out.numbers);
}

TYPED_TEST(DotProductAttention, IsTheSumOverTheWeightsOfEntmax) {
  Problem<TypeParam> problem({2, 2, 2, 7, 45, 16, 33});
  for (const double alpha : kOrders)
    EXPECT_LE(output_error(problem, problem.products(alpha, 0.25)), kBar<TypeParam>) << alpha;
  Problem<TypeParam> exact({1, 2, 2, 30, 45, 16, 20}, true);
  for (const double alpha : kHighOrders)
    EXPECT_LE(output_error(exact, exact.products(alpha, 0.25)), kBar<TypeParam>) << alpha;
}

TYPED_TEST(DotProductAttention, HasAnyShape) {
  for (const index_t d : {1, 16, 33, 64, 128, 256}) {
    for (const index_t e : {1, 16, 33, 64, 128, 256}) {
      const index_t n = 1 + (d + e) % 31, m = 1 + (3 * d + e) % 67;
      Problem<TypeParam> problem({1, 1, 1, n, m, d, e});
      const double scale = 1 / std::sqrt(static_cast<double>(d));
      EXPECT_LE(output_error(problem, problem.products(1.5, scale)), kBar<TypeParam>) << d << " " << e;
    }
  }
}

TYPED_TEST(DotProductAttention, WeightsSumToOne) {
  for (const index_t e : {16, 17}) {  // products of dense rows, and sums over lists
    Problem<TypeParam> problem({1, 1, 1, 25, 3000, 16, e});
    std::fill(problem.value.numbers.begin(), problem.value.numbers.end(), TypeParam(1));
    for (const double spread : {0.0, 1e-3, 0.1, 1.0}) {
      for (const double alpha : {1.0, 1 + 1e-8, 4.0 / 3, 1.5, 1.7, 2.0, 5.0}) {
        problem.run(problem.products(alpha, spread / 4));
        for (const TypeParam sum : problem.out.numbers)
          ASSERT_NEAR(sum, 1, sizeof(TypeParam) == 4 ? 2e-6 : 1e-13) << alpha << " " << spread << " " << e;
      }
    }
  }
}

/// Every third query gives weight to few keys, the others to many.
template <class Real>
void sharpen(Problem<Real>& problem) {
  for (index_t i = 0; i < problem.rows; i += 3) {
    for (index_t k = 0; k < problem.shape.d; ++k)
      problem.query.numbers[index_of(i * problem.shape.d + k)] *= 20;
  }
}

TYPED_TEST(DotProductAttention, WeightsAreManyOrFew) {
  Problem<TypeParam> problem({1, 2, 2, 50, 70, 32, 16});
  sharpen(problem);
  for (const bool causal : {false, true}) {
    auto x = problem.products(1.5, 0.05);
    x.causal = causal;
    EXPECT_LE(output_error(problem, x), kBar<TypeParam>) << causal;
  }
}

TYPED_TEST(DotProductAttention, OtherQueriesDoNotChangeAnOutput) {
  Problem<TypeParam> problem({1, 1, 1, 50, 70, 32, 16});
  problem.run(problem.products(1.5, 0.05));
  const auto before = problem.out.numbers;
  sharpen(problem);
  problem.run(problem.products(1.5, 0.05));
  for (index_t k = 0; k < 50 * 16; ++k) {
    if (k / 16 % 3 == 0) continue;
    ASSERT_EQ(problem.out.numbers[index_of(k)], before[index_of(k)]) << k / 16;
  }
}

TYPED_TEST(DotProductAttention, AValueWithoutWeightMayBeAnything) {
  Problem<TypeParam> problem({1, 1, 1, 30, 40, 32, 16});
  problem.value.numbers[5 * 16] = static_cast<TypeParam>(kNaN);
  problem.value.numbers[6 * 16] = static_cast<TypeParam>(kInf);
  const auto mask = std::make_unique<bool[]>(40);
  for (index_t j = 0; j < 40; ++j) mask[index_of(j)] = j != 5 && j != 6;
  auto x = problem.products(1.0, 0.1);
  x.mask = {mask.get(), 1, 1, 30, 40, 0, 0, 0, 1};
  problem.run(x);
  for (const TypeParam y : problem.out.numbers) ASSERT_TRUE(std::isfinite(y));
}

TYPED_TEST(DotProductAttention, IsCausal) {
  for (const auto& [n, m] : {std::pair<index_t, index_t>{50, 50}, {60, 20}, {20, 60}}) {
    Problem<TypeParam> problem({1, 2, 2, n, m, 16, 8});
    auto x = problem.products(1.5, 0.25);
    x.causal = true;
    EXPECT_LE(output_error(problem, x), kBar<TypeParam>);
    for (index_t k = 0; k < 8; ++k)  // The first query sees the first key alone.
      EXPECT_EQ(problem.out.numbers[index_of(k)], problem.value.numbers[index_of(k)]);
  }
}

TYPED_TEST(DotProductAttention, KeepsTheMaskAndAddsTheBias) {
  Problem<TypeParam> problem({2, 2, 2, 30, 40, 16, 8});
  const auto mask = std::make_unique<bool[]>(40);
  std::vector<TypeParam> bias(30 * 40);
  for (index_t j = 0; j < 40; ++j) mask[index_of(j)] = j % 3 != 0;
  for (std::size_t k = 0; k < bias.size(); ++k)
    bias[k] = k % 7 == 1 ? -TypeParam(kInf) : static_cast<TypeParam>(std::sin(static_cast<double>(k)));
  auto x = problem.products(1.5, 0.25);
  x.bias = {bias.data(), 2, 2, 30, 40, 0, 0, 40, 1};
  EXPECT_LE(output_error(problem, x), kBar<TypeParam>);
  x.mask = {mask.get(), 2, 2, 30, 40, 0, 0, 0, 1};
  EXPECT_LE(output_error(problem, x), kBar<TypeParam>);
  x.bias = {bias.data(), 2, 2, 30, 40, 30, 15, 1, 0};  // one number for all keys
  x.causal = true;
  EXPECT_LE(output_error(problem, x), kBar<TypeParam>);
}

TYPED_TEST(DotProductAttention, HeadsHaveTheirOwnAlphaAndScaleAndShareKeys) {
  Problem<TypeParam> problem({2, 6, 3, 10, 30, 16, 8});
  const std::vector<double> alpha{1, 1.2, 1.5, 1.8, 2, 1.5}, scale{0.1, 0.2, 0.3, 0.4, -0.2, 0};
  EXPECT_LE(output_error(problem, problem.products(alpha, scale)), kBar<TypeParam>);
}

TYPED_TEST(DotProductAttention, ReadsAndWritesAtAnyStride) {
  const Shape shape{2, 3, 3, 11, 13, 16, 8};
  Problem<TypeParam> problem(shape);
  // Query (b, i, h, k), as projections leave it, with gaps; one head of keys for all; values from last to
  // first.
  auto x = problem.products(1.5, 0.25);
  Filled<TypeParam> moved{2, 11, 3, 20}, written{2, 11, 3, 9};
  for (index_t b = 0; b < 2; ++b) {
    for (index_t h = 0; h < 3; ++h) {
      for (index_t i = 0; i < 11; ++i) std::copy_n(x.query.row(b, h, i), 16, moved.view().row(b, i, h));
    }
  }
  x.query = {moved.numbers.data(), 2, 3, 11, 16, 11 * 3 * 20, 20, 3 * 20, 1};
  x.key.head_stride = 0;
  x.value.data = x.value.row(0, 0, 12);
  x.value.row_stride = -8;
  const Matrices<TypeParam> out{written.numbers.data(), 2, 3, 11, 8, 11 * 3 * 9, 9, 3 * 9, 1};
  cpu::attention(x, out, problem.record());
  const Expected expected = expected_of(x, problem.cotangent.view());
  for (index_t row = 0; row < 2 * 3 * 11; ++row) {
    const index_t b = row / 33, h = row / 11 % 3, i = row % 11;
    for (index_t k = 0; k < 8; ++k)
      EXPECT_NEAR(element(out, b, h, i, k), static_cast<double>(element(expected.out.view(), b, h, i, k)),
                  4 * kBar<TypeParam>);
    EXPECT_EQ(out.row(b, h, i)[8], 0) << "between rows";
  }
}

TYPED_TEST(DotProductAttention, RecordsTheLargestScoreAndTheNormalizer) {
  Problem<TypeParam> problem({1, 1, 1, 20, 30, 8, 4}, true);
  for (const double alpha : {1.0, 1.5, 2.0}) {
    problem.run(problem.products(alpha, 0.5));
    for (index_t i = 0; i < 20; ++i) {
      ExtendedVector z;
      for (index_t j = 0; j < 30; ++j) {
        z.push_back(0);
        for (index_t k = 0; k < 8; ++k)
          z.back() += Extended(problem.query.view().row(0, 0, i)[k]) * problem.key.view().row(0, 0, j)[k] / 2;
      }
      const Extended top = *std::max_element(z.begin(), z.end());
      const ExtendedVector p = plain_entmax(alpha, z);
      const Extended peak = *std::max_element(p.begin(), p.end());
      const Extended log_peak =
          alpha == 1 ? std::log(peak) : (std::pow(peak, Extended(alpha) - 1) - 1) / (alpha - 1);
      EXPECT_EQ(problem.normalizers[index_of(2 * i)], top);
      EXPECT_NEAR(problem.normalizers[index_of(2 * i + 1)], static_cast<double>(-log_peak), kBar<TypeParam>);
    }
  }
}

TYPED_TEST(DotProductAttention, AQueryWithoutKeysHasTheOutputZero) {
  Problem<TypeParam> problem({1, 1, 1, 3, 5, 4, 2});
  const bool mask[] = {true, false, true};
  auto x = problem.products(1.5, 0.5);
  x.mask = {mask, 1, 1, 3, 5, 0, 0, 1, 0};
  EXPECT_LE(output_error(problem, x), kBar<TypeParam>);
  for (const std::size_t k : {2u, 3u}) {
    EXPECT_EQ(problem.out.numbers[k], 0);
    EXPECT_TRUE(std::isnan(problem.normalizers[k]));
    EXPECT_FALSE(std::isnan(problem.normalizers[k + 2]));
  }
  Problem<TypeParam> empty({1, 1, 1, 3, 0, 4, 2});
  std::fill(empty.out.numbers.begin(), empty.out.numbers.end(), TypeParam(7));
  empty.run(empty.products(1.5, 0.5));
  EXPECT_EQ(empty.out.numbers, std::vector<TypeParam>(6));
}

TYPED_TEST(DotProductAttention, BadNumbersSpoilTheQueriesThatSeeThem) {
  for (const double bad : {kNaN, kInf}) {
    for (const double alpha : {1.0, 1.5, 2.0, 5.0, kInf}) {
      Problem<TypeParam> problem({1, 1, 1, 30, 30, 4, 2});
      std::fill_n(problem.key.numbers.begin() + 10 * 4, 1, static_cast<TypeParam>(bad));
      for (index_t i = 0; i < 30; ++i) problem.query.numbers[index_of(4 * i)] = 1;
      auto x = problem.products(alpha, 0.5);
      x.causal = true;
      problem.run(x);
      for (index_t i = 0; i < 30; ++i)
        EXPECT_EQ(std::isnan(problem.out.numbers[index_of(2 * i)]), i >= 10)
            << bad << " " << alpha << " " << i;
      const auto mask = std::make_unique<bool[]>(30);
      std::fill_n(mask.get(), 30, true);
      mask[10] = false;
      x.mask = {mask.get(), 1, 1, 30, 30, 0, 0, 0, 1};
      problem.run(x);
      for (const TypeParam y : problem.out.numbers) EXPECT_TRUE(std::isfinite(y));
      std::vector<TypeParam> bias(30);
      bias[10] = -static_cast<TypeParam>(kInf);
      x.mask = {};
      x.bias = {bias.data(), 1, 1, 30, 30, 0, 0, 0, 1};
      problem.run(x);
      for (const TypeParam y : problem.out.numbers) EXPECT_TRUE(std::isfinite(y));
    }
  }
}

TYPED_TEST(DotProductAttention, DropsWeightsWithTheirProbability) {
  constexpr index_t kKeys = 400;
  Problem<TypeParam> problem({1, 2, 1, 30, kKeys, 4, kKeys});
  std::fill(problem.value.numbers.begin(), problem.value.numbers.end(), TypeParam(0));
  for (index_t j = 0; j < kKeys; ++j) problem.value.numbers[index_of(j * kKeys + j)] = 1;
  auto x = problem.products(1.0, 0.5);
  problem.run(x);
  const auto weights = problem.out.numbers;
  const std::int64_t seed = 17, other = 18;
  x.dropout = 0.25;
  x.seed = &seed;
  problem.run(x);
  index_t kept = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (problem.out.numbers[k] == 0) continue;
    EXPECT_NEAR(problem.out.numbers[k], weights[k] / 0.75, 1e-6 * weights[k]);
    kept += 1;
  }
  const auto count = static_cast<double>(weights.size());
  EXPECT_NEAR(static_cast<double>(kept) / count, 0.75, 4 * std::sqrt(0.25 * 0.75 / count));
  const auto again = problem.out.numbers;
  problem.run(x);
  EXPECT_EQ(problem.out.numbers, again);
  x.seed = &other;
  problem.run(x);
  EXPECT_NE(problem.out.numbers, again);
}

TYPED_TEST(DotProductAttention, AnEmptyBatchIsNoWork) {
  for (const Shape& shape :
       {Shape{0, 2, 2, 3, 4, 5, 6}, Shape{1, 0, 0, 3, 4, 5, 6}, Shape{1, 2, 2, 0, 4, 5, 6}}) {
    Problem<TypeParam> problem(shape);
    std::fill(problem.key_gradient.numbers.begin(), problem.key_gradient.numbers.end(), TypeParam(7));
    problem.run_vjp(problem.products(1.5, 0.5));
    for (const TypeParam x : problem.key_gradient.numbers) EXPECT_EQ(x, 0);
  }
}

TYPED_TEST(DotProductAttention, ThreadsDoNotChangeTheResult) {
  for (const Shape& shape : {Shape{1, 2, 1, 500, 200, 16, 8}, Shape{3, 8, 8, 30, 200, 16, 8}}) {
    for (const bool causal : {false, true}) {
      Problem<TypeParam> one(shape), many(shape);
      auto x = one.products(1.5, 0.25);
      x.causal = causal;
      set_num_threads(1);
      one.run_vjp(x);
      for (const int threads : {2, 3}) {
        set_num_threads(threads);
        many.run_vjp(x);
        EXPECT_EQ(one.out.numbers, many.out.numbers);
        EXPECT_EQ(one.normalizers, many.normalizers);
        EXPECT_EQ(one.query_gradient.numbers, many.query_gradient.numbers);
        EXPECT_EQ(one.key_gradient.numbers, many.key_gradient.numbers);
        EXPECT_EQ(one.value_gradient.numbers, many.value_gradient.numbers);
        EXPECT_EQ(one.scale_gradient, many.scale_gradient);
        EXPECT_EQ(one.alpha_gradient, many.alpha_gradient);
      }
      set_num_threads(0);
    }
  }
}

}  // namespace
}  // namespace fenchel
