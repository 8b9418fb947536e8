#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "dot_product_problem.hpp"
#include "fenchel/backend/cpu/dot_product_attention.hpp"
#include "fenchel/core/parallel.hpp"

/// Attention where queries see intervals of keys: windows, sinks, sequences in a row, padding.
namespace fenchel {
namespace {

using namespace testing;

template <class Real>
constexpr double kBar = sizeof(Real) == 4 ? 4e-6 : 1e-13;

template <class Real>
class DotProductRanges : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DotProductRanges, Reals);

using Ranges = std::vector<KeyRange>;

KeyRange range_of(index_t origin, index_t first, index_t last) {
  const auto narrow = [](index_t key) { return static_cast<std::int32_t>(key); };
  return {narrow(origin), narrow(first), narrow(last)};
}

/// Of sequences in a row, as many queries as keys each: query i sees the keys from i - left to i + right.
Ranges windows(const std::vector<index_t>& lengths, index_t left, index_t right) {
  Ranges ranges;
  index_t origin = 0;
  for (const index_t length : lengths) {
    const index_t end = origin + length;
    for (index_t i = origin; i < end; ++i)
      ranges.push_back(range_of(origin, std::max(origin, i - left), std::min(end, i + right + 1)));
    origin = end;
  }
  return ranges;
}

/// Those of one member, then those of the next.
Ranges joined(Ranges ranges, const Ranges& next) {
  ranges.insert(ranges.end(), next.begin(), next.end());
  return ranges;
}

template <class Real>
DotProducts<Real> with_ranges(DotProducts<Real> x, const Ranges& ranges, index_t sinks) {
  x.ranges = ranges.data();
  x.sinks = sinks;
  return x;
}

template <class Real>
void expect_all(Problem<Real>& problem, const DotProducts<Real>& x) {
  problem.run_vjp(x);
  const Expected expected = expected_of(x, problem.cotangent.view());
  EXPECT_LE(error_of(problem.out.numbers, expected.out.numbers), kBar<Real>) << "out";
  EXPECT_LE(error_of(problem.query_gradient.numbers, expected.query.numbers), kBar<Real>) << "query";
  EXPECT_LE(error_of(problem.key_gradient.numbers, expected.key.numbers), kBar<Real>) << "key";
  EXPECT_LE(error_of(problem.value_gradient.numbers, expected.value.numbers), kBar<Real>) << "value";
  if (x.alpha[0] > 2) return;  // slopes have no bound, and their sums cancel
  EXPECT_LE(error_of(problem.scale_gradient, expected.scale), kBar<Real>) << "scale";
}

/// All results of two problems are the same bits.
template <class Real>
void expect_same(const Problem<Real>& one, const Problem<Real>& other) {
  EXPECT_EQ(one.out.numbers, other.out.numbers);
  EXPECT_EQ(one.normalizers, other.normalizers);
  EXPECT_EQ(one.query_gradient.numbers, other.query_gradient.numbers);
  EXPECT_EQ(one.key_gradient.numbers, other.key_gradient.numbers);
  EXPECT_EQ(one.value_gradient.numbers, other.value_gradient.numbers);
  EXPECT_EQ(one.alpha_gradient, other.alpha_gradient);
  EXPECT_EQ(one.scale_gradient, other.scale_gradient);
}

TYPED_TEST(DotProductRanges, AreWindowsWithSinks) {
  const Ranges ranges = windows({130}, 20, 0);
  for (const double alpha : {1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4.0 / 3, 1.5, 2.0, 5.0, kInf}) {
    SCOPED_TRACE(alpha);
    Problem<TypeParam> problem({1, 2, 1, 130, 130, 16, 16}, true);
    expect_all(problem, with_ranges(problem.products(alpha, 0.25), ranges, 3));
  }
  Problem<TypeParam> problem({1, 2, 1, 130, 130, 16, 16});  // exact scores tie, where slopes have no bound
  expect_all(problem, with_ranges(problem.products(1e6, 0.25), ranges, 3));
}

TYPED_TEST(DotProductRanges, AreOfAnySize) {
  for (const index_t left : {0, 15, 16, 200}) {
    for (const index_t right : {0, 33}) {
      for (const index_t sinks : {0, 1, 17, 300}) {
        SCOPED_TRACE(left);
        SCOPED_TRACE(right);
        SCOPED_TRACE(sinks);
        Problem<TypeParam> problem({1, 1, 1, 90, 90, 16, 8});
        const Ranges ranges = windows({90}, left, right);
        expect_all(problem, with_ranges(problem.products(1.5, 0.25), ranges, sinks));
      }
    }
  }
}

TYPED_TEST(DotProductRanges, SinksMayBeMoreThanKeys) {
  const Ranges ranges = windows({40, 50}, 3, 0);
  Problem<TypeParam> one({1, 1, 1, 90, 90, 16, 8}), other = one;
  one.run_vjp(with_ranges(one.products(1.5, 0.25), ranges, 90));
  other.run_vjp(with_ranges(other.products(1.5, 0.25), ranges, std::numeric_limits<index_t>::max()));
  expect_same(one, other);
}

TYPED_TEST(DotProductRanges, AreSequencesInARow) {
  const std::vector<index_t> lengths{1, 30, 2, 0, 40, 3, 3, 21};
  for (const index_t left : {7, 1000}) {
    for (const index_t sinks : {0, 2}) {
      for (const double alpha : {1.0, 1.5}) {
        for (const index_t e : {16, 9}) {  // dense rows, and lists
          Problem<TypeParam> problem({2, 2, 1, 100, 100, 16, e});
          const Ranges ranges = windows(lengths, left, 4);
          const Ranges both = joined(ranges, ranges);
          expect_all(problem, with_ranges(problem.products(alpha, 0.1), both, sinks));
        }
      }
    }
  }
}

TYPED_TEST(DotProductRanges, StandApartWithinABlock) {
  // Four queries, far from each other. The last has no key but for sinks.
  const Ranges ranges{{0, 100, 103}, {200, 300, 301}, {200, 317, 330}, {590, 600, 600}};
  Problem<TypeParam> problem({1, 1, 1, 4, 600, 16, 16});
  for (const index_t sinks : {0, 4})
    expect_all(problem, with_ranges(problem.products(1.0, 0.25), ranges, sinks));
}

TYPED_TEST(DotProductRanges, MembersHaveTheirOwn) {
  const Ranges ranges = joined(windows({50}, 3, 3), windows({20, 30}, 50, 0));
  Problem<TypeParam> problem({2, 2, 2, 50, 50, 16, 16});
  expect_all(problem, with_ranges(problem.products(1.5, 0.25), ranges, 1));
}

TYPED_TEST(DotProductRanges, MayBeEmpty) {
  // 30 queries without a key, then 10 with a sink alone, then windows.
  Ranges ranges(30);
  ranges.insert(ranges.end(), 10, {0, 5, 5});
  for (index_t i = 40; i < 60; ++i) ranges.push_back(range_of(0, i - 2, i));
  for (const double alpha : {1.0, 1.5, 2.0, kInf}) {
    Problem<TypeParam> problem({1, 2, 2, 60, 60, 16, 16}, true);
    const auto x = problem.products(alpha, 0.25);
    for (const index_t sinks : {0, 1}) {
      expect_all(problem, with_ranges(x, ranges, sinks));
      const index_t empty = sinks == 0 ? 40 : 30;
      for (index_t k = 0; k < empty * 16; ++k) {
        ASSERT_EQ(problem.out.numbers[index_of(k)], 0);
        ASSERT_EQ(problem.query_gradient.numbers[index_of(k)], 0);
      }
    }
    const Ranges nothing(60);
    expect_all(problem, with_ranges(x, nothing, 0));
  }
}

TYPED_TEST(DotProductRanges, HoldBesideMaskBiasAndDropout) {
  const auto mask = std::make_unique<bool[]>(90);
  std::vector<TypeParam> bias(90 * 90);
  for (index_t j = 0; j < 90; ++j) mask[index_of(j)] = j % 3 != 1;
  for (std::size_t k = 0; k < bias.size(); ++k)
    bias[k] = k % 7 == 1 ? -TypeParam(kInf) : static_cast<TypeParam>(std::sin(static_cast<double>(k)));
  const std::int64_t seed = 3;
  const Ranges ranges = windows({90}, 12, 2);
  Problem<TypeParam> problem({1, 2, 1, 90, 90, 16, 16});
  auto x = with_ranges(problem.products(1.5, 0.25), ranges, 2);
  x.mask = {mask.get(), 1, 2, 90, 90, 0, 0, 0, 1};
  expect_all(problem, x);
  x.bias = {bias.data(), 1, 2, 90, 90, 0, 0, 90, 1};
  expect_all(problem, x);
  x.dropout = 0.4;
  x.seed = &seed;
  expect_all(problem, x);
}

TYPED_TEST(DotProductRanges, KnowTheSlopeInAlpha) {
  const Ranges ranges = windows({14}, 5, 1);
  for (const double alpha : {1.0, 1 + 1e-8, 1.5, 2.0}) {
    Problem<TypeParam> problem({1, 1, 1, 14, 14, 16, 16}, true);
    const auto x = with_ranges(problem.products(alpha, 0.125), ranges, 1);
    problem.run_vjp(x);
    const Expected expected = expected_of(x, problem.cotangent.view(), true);
    EXPECT_LE(error_of(problem.alpha_gradient, expected.alpha), sizeof(TypeParam) == 4 ? 4e-6 : 1e-12)
        << alpha;
  }
}

TYPED_TEST(DotProductRanges, SayWhatCausalSays) {
  for (const double alpha : {1.0, 1.5, 2.0, 5.0}) {
    for (const index_t e : {16, 9}) {
      Problem<TypeParam> one({1, 2, 2, 130, 130, 16, e}), other = one;
      const Ranges ranges = windows({130}, 130, 0);
      auto x = with_ranges(one.products(alpha, 0.25), ranges, 0), causal = one.products(alpha, 0.25);
      causal.causal = true;
      one.run_vjp(x);
      other.run_vjp(causal);
      expect_same(one, other);
      x.sinks = 5;
      one.run_vjp(x);
      expect_same(one, other);
    }
  }
}

TYPED_TEST(DotProductRanges, HideBadNumbers) {
  // The second of two sequences has a bad key and a bad value: the first is as it is.
  Problem<TypeParam> problem({1, 1, 1, 60, 60, 16, 16});
  problem.key.numbers[40 * 16] = problem.value.numbers[41 * 16] = static_cast<TypeParam>(kNaN);
  const Ranges ranges = windows({35, 25}, 60, 60);
  const auto x = with_ranges(problem.products(1.0, 0.25), ranges, 0);
  problem.run_vjp(x);
  for (index_t k = 0; k < 60 * 16; ++k) {
    ASSERT_EQ(std::isfinite(problem.out.numbers[index_of(k)]), k < 35 * 16) << k / 16;
    ASSERT_EQ(std::isfinite(problem.key_gradient.numbers[index_of(k)]), k < 35 * 16) << k / 16;
  }
}

TYPED_TEST(DotProductRanges, ThreadsDoNotChangeTheResult) {
  Problem<TypeParam> one({1, 2, 1, 700, 700, 16, 16}), many = one;
  const Ranges ranges = windows({100, 500, 100}, 64, 0);
  const auto x = with_ranges(one.products(1.5, 0.25), ranges, 2);
  set_num_threads(1);
  one.run_vjp(x);
  for (const int threads : {2, 3}) {
    set_num_threads(threads);
    many.run_vjp(x);
    expect_same(one, many);
  }
  set_num_threads(0);
}

}  // namespace
}  // namespace fenchel
