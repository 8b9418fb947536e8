#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "dot_product_problem.hpp"
#include "fenchel/backend/cpu/dot_product_attention.hpp"
#include "support/differences.hpp"

namespace fenchel {
namespace {

using namespace testing;

/// The bars of a gradient: of its largest element, or of 1.
template <class Real>
constexpr double kBar = sizeof(Real) == 4 ? 4e-6 : 1e-13;

template <class Real>
class DotProductAttentionVjp : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DotProductAttentionVjp, Reals);

template <class Real>
void expect_gradients(Problem<Real>& problem, const DotProducts<Real>& x, double bar = kBar<Real>) {
  problem.run_vjp(x);
  const Expected expected = expected_of(x, problem.cotangent.view());
  EXPECT_LE(error_of(problem.query_gradient.numbers, expected.query.numbers), bar) << "query";
  EXPECT_LE(error_of(problem.key_gradient.numbers, expected.key.numbers), bar) << "key";
  EXPECT_LE(error_of(problem.value_gradient.numbers, expected.value.numbers), bar) << "value";
  EXPECT_LE(error_of(problem.scale_gradient, expected.scale), bar) << "scale";
}

TYPED_TEST(DotProductAttentionVjp, IsThatOfEntmax) {
  for (const double alpha : {1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4.0 / 3, 1.5, 1.7, 2.0, 5.0, kInf}) {
    SCOPED_TRACE(alpha);
    Problem<TypeParam> problem({2, 2, 2, 29, 45, 16, 33}, true);
    expect_gradients(problem, problem.products(alpha, 0.25));
  }
  Problem<TypeParam> problem({2, 2, 2, 29, 45, 16, 33});  // exact scores tie, where slopes have no bound
  expect_gradients(problem, problem.products(1e6, 0.25));
}

TYPED_TEST(DotProductAttentionVjp, HasAnyShape) {
  for (const index_t d : {1, 16, 33, 64, 128, 256}) {
    for (const index_t e : {1, 16, 33, 64, 128, 256}) {
      SCOPED_TRACE(d);
      SCOPED_TRACE(e);
      Problem<TypeParam> problem({1, 1, 1, 1 + (d + e) % 31, 1 + (3 * d + e) % 67, d, e});
      expect_gradients(problem, problem.products(1.5, 1 / std::sqrt(static_cast<double>(d))));
    }
  }
}

TYPED_TEST(DotProductAttentionVjp, PartsOfTheQueriesAreSummed) {
  Problem<TypeParam> problem({1, 4, 2, 250, 20, 16, 8});
  expect_gradients(problem, problem.products(1.5, 0.25));
}

TYPED_TEST(DotProductAttentionVjp, KnowsMasksBiasAndDropout) {
  Problem<TypeParam> problem({2, 4, 2, 30, 40, 16, 8});
  const auto mask = std::make_unique<bool[]>(30 * 40);
  std::vector<TypeParam> bias(30 * 40);
  for (std::size_t k = 0; k < bias.size(); ++k) {
    mask[k] = k % 3 != 0 && k / 40 != 5;  // query 5 has no key
    bias[k] = k % 7 == 1 ? -TypeParam(kInf) : static_cast<TypeParam>(std::sin(static_cast<double>(k)));
  }
  const std::vector<double> alpha{1, 1.2, 1.5, 2}, scale{0.1, 0.2, 0, -0.4};
  auto x = problem.products(alpha, scale);
  x.mask = {mask.get(), 2, 4, 30, 40, 0, 0, 40, 1};
  expect_gradients(problem, x);
  for (index_t k = 0; k < 16; ++k) EXPECT_EQ(problem.query_gradient.numbers[index_of(5 * 16 + k)], 0);
  x.bias = {bias.data(), 2, 4, 30, 40, 0, 0, 40, 1};
  x.causal = true;
  expect_gradients(problem, x);
  const std::int64_t seed = 3;
  x.dropout = 0.4;
  x.seed = &seed;
  expect_gradients(problem, x);
}

TYPED_TEST(DotProductAttentionVjp, WeightsAreManyOrFew) {
  Problem<TypeParam> problem({1, 4, 2, 50, 70, 32, 16}, true);
  for (index_t k = 0; k < problem.rows * 32; ++k)
    problem.query.numbers[index_of(k)] *= k / 32 % 3 == 0 ? TypeParam(20) : TypeParam(1);
  const auto mask = std::make_unique<bool[]>(70);
  for (index_t j = 0; j < 70; ++j) mask[index_of(j)] = j != 7;
  for (const double alpha : {1.0, 1.5}) {
    for (const bool causal : {false, true}) {
      auto x = problem.products(alpha, 0.0625);
      x.causal = causal;
      x.mask = {mask.get(), 1, 4, 50, 70, 0, 0, 0, 1};
      expect_gradients(problem, x);
    }
  }
}

TYPED_TEST(DotProductAttentionVjp, WhatHasNoWeightMayBeAnything) {
  constexpr index_t kQueries = 30, kKeys = 40, d = 32, e = 16;
  const auto mask = std::make_unique<bool[]>(kQueries * kKeys);
  for (index_t k = 0; k < kQueries * kKeys; ++k) {
    const index_t i = k / kKeys, j = k % kKeys;
    mask[index_of(k)] = j != 5 && j != 6 && (i == 9) == (j >= 30);  // query 9 alone sees the last keys
  }
  const auto bad = static_cast<TypeParam>(kNaN);
  for (const bool of_query : {false, true}) {
    Problem<TypeParam> problem({1, 1, 1, kQueries, kKeys, d, e});
    if (of_query) {
      problem.cotangent.numbers[9 * e] = bad;
    } else {
      problem.key.numbers[5 * d] = problem.value.numbers[6 * e] = bad;
    }
    auto x = problem.products(1.0, 0.1);
    x.mask = {mask.get(), 1, 1, kQueries, kKeys, 0, 0, kKeys, 1};
    problem.run_vjp(x);
    for (index_t k = 0; k < kQueries * d; ++k)
      ASSERT_EQ(std::isnan(problem.query_gradient.numbers[index_of(k)]), of_query && k / d == 9) << k / d;
    for (index_t k = 0; k < kKeys * d; ++k)
      ASSERT_EQ(std::isnan(problem.key_gradient.numbers[index_of(k)]), of_query && k / d >= 30) << k / d;
    for (index_t j = 0; j < kKeys; ++j)
      ASSERT_EQ(std::isnan(problem.value_gradient.numbers[index_of(j * e)]), of_query && j >= 30) << j;
  }
}

TYPED_TEST(DotProductAttentionVjp, KnowsTheSlopeInAlpha) {
  for (const double alpha : {1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4.0 / 3, 1.5, 1.7, 2.0, 3.0}) {
    for (const index_t e : {4, 16}) {  // lists, and dense rows
      Problem<TypeParam> problem({1, 2, 1, 6, 15, 16, e}, true);
      const auto x = problem.products(alpha, 0.125);
      problem.run_vjp(x);
      const Expected expected = expected_of(x, problem.cotangent.view(), true);
      EXPECT_LE(error_of(problem.alpha_gradient, expected.alpha), sizeof(TypeParam) == 4 ? 4e-6 : 1e-12)
          << alpha;
    }
  }
}

TYPED_TEST(DotProductAttentionVjp, ComputesWhatIsAsked) {
  Problem<TypeParam> all({2, 4, 2, 30, 40, 16, 8}), some({2, 4, 2, 30, 40, 16, 8});
  const auto x = all.products(1.5, 0.25);
  all.run_vjp(x);
  const auto cotangent = all.cotangent.view();
  cpu::attention_vjp(x, all.record(), cotangent, {.query = some.query_gradient.view()});
  cpu::attention_vjp(x, all.record(), cotangent, {.key = some.key_gradient.view()});
  cpu::attention_vjp(x, all.record(), cotangent, {.value = some.value_gradient.view()});
  cpu::attention_vjp(x, all.record(), cotangent, {.alpha = {some.alpha_gradient.data(), 240, 1}});
  cpu::attention_vjp(x, all.record(), cotangent, {.scale = {some.scale_gradient.data(), 240, 1}});
  EXPECT_EQ(all.query_gradient.numbers, some.query_gradient.numbers);
  EXPECT_EQ(all.key_gradient.numbers, some.key_gradient.numbers);
  EXPECT_EQ(all.value_gradient.numbers, some.value_gradient.numbers);
  EXPECT_EQ(all.alpha_gradient, some.alpha_gradient);
  EXPECT_EQ(all.scale_gradient, some.scale_gradient);
}

TEST(DotProductAttentionVjpDouble, IsThatOfDifferences) {
  Problem<double> problem({1, 2, 1, 5, 9, 4, 3});
  double scale = 0.5;
  const auto loss = [&] {
    problem.run(problem.products(1.5, scale));
    double sum = 0;
    for (std::size_t k = 0; k < problem.out.numbers.size(); ++k)
      sum += problem.out.numbers[k] * problem.cotangent.numbers[k];
    return sum;
  };
  const auto slope = [&](double& number) {
    const double at = number, found = slope_of(
                                  [&](double x) {
                                    number = x;
                                    return loss();
                                  },
                                  at, 1e-4);
    number = at;
    return found;
  };
  problem.run_vjp(problem.products(1.5, scale));
  for (std::size_t k = 0; k < problem.query.numbers.size(); ++k)
    EXPECT_NEAR(problem.query_gradient.numbers[k], slope(problem.query.numbers[k]), 1e-9);
  for (std::size_t k = 0; k < problem.key.numbers.size(); ++k)
    EXPECT_NEAR(problem.key_gradient.numbers[k], slope(problem.key.numbers[k]), 1e-9);
  for (std::size_t k = 0; k < problem.value.numbers.size(); ++k)
    EXPECT_NEAR(problem.value_gradient.numbers[k], slope(problem.value.numbers[k]), 1e-9);
  double in_scale = 0;
  for (const double x : problem.scale_gradient) in_scale += x;
  EXPECT_NEAR(in_scale, slope(scale), 1e-9);
}

TYPED_TEST(DotProductAttentionVjp, BadNumbersSpoilWhatTheyTouch) {
  for (const double alpha : {1.0, 1.5, 2.0, 5.0, kInf}) {
    SCOPED_TRACE(alpha);
    Problem<TypeParam> problem({1, 1, 1, 30, 30, 4, 2});
    problem.query.numbers[10 * 4] = static_cast<TypeParam>(kNaN);
    auto x = problem.products(alpha, 0.5);
    x.causal = true;
    problem.run_vjp(x);
    for (index_t i = 0; i < 30; ++i) {
      EXPECT_EQ(std::isnan(problem.query_gradient.numbers[index_of(4 * i)]), i == 10) << i;
      EXPECT_EQ(std::isnan(problem.scale_gradient[index_of(i)]), i == 10) << i;
      EXPECT_EQ(std::isnan(problem.key_gradient.numbers[index_of(4 * i)]), i <= 10) << i;
      EXPECT_EQ(std::isnan(problem.value_gradient.numbers[index_of(2 * i)]), i <= 10) << i;
    }
  }
}

}  // namespace
}  // namespace fenchel
