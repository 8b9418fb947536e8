#include "fenchel/backend/cpu/cached_attention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "dot_product_problem.hpp"
#include "fenchel/core/parallel.hpp"
#include "support/messages.hpp"

/// Attention of the last tokens of sequences to a cache, against plain loops over the tokens that they see.
namespace fenchel {
namespace {

using namespace testing;

template <class Real>
constexpr double kBar = sizeof(Real) == 4 ? 4e-6 : 1e-13;

template <class Real>
class CachedAttention : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CachedAttention, Reals);

using Lengths = std::vector<std::int64_t>;

struct Sides {
  index_t window = std::numeric_limits<index_t>::max(), sinks = 0;
};

/// A problem whose keys are a cache: with one page for each sequence, or with pages in any order.
template <class Real>
struct Cache {
  Problem<Real> problem;
  Lengths lengths;
  Sides sides;
  index_t page_rows, page_count;
  std::vector<std::int32_t> pages;
  Filled<Real> key, value;

  Cache(const Shape& shape, Lengths of, Sides seen = {}, index_t rows = 0, bool exact = false)
      : problem(shape, exact),
        lengths(std::move(of)),
        sides(seen),
        page_rows(rows == 0 ? shape.m : rows),
        page_count((shape.m + page_rows - 1) / page_rows),
        pages(index_of(shape.batch * page_count)),
        key{shape.batch * page_count + 1, shape.key_heads, page_rows, shape.d},
        value{shape.batch * page_count + 1, shape.key_heads, page_rows, shape.e} {
    std::iota(pages.begin(), pages.end(), 0);
    if (rows != 0) std::shuffle(pages.begin(), pages.end(), std::mt19937(5));
    for (auto* numbers : {&key.numbers, &value.numbers})
      std::fill(numbers->begin(), numbers->end(), static_cast<Real>(kNaN));
    fill(problem.key, key);
    fill(problem.value, value);
  }

  [[nodiscard]] CachedDotProducts<Real> products(PerRow alpha, PerRow scale) const {
    return {problem.query.view(),
            key.view(),
            value.view(),
            {pages.data(), problem.shape.batch, page_count},
            lengths,
            alpha,
            scale,
            {},
            sides.window,
            sides.sinks};
  }

  /// What each query sees, for the plain loops.
  [[nodiscard]] std::vector<KeyRange> ranges() const {
    std::vector<KeyRange> found;
    for (const index_t length : lengths) {
      for (index_t i = 0; i < problem.shape.n; ++i) {
        const index_t place = length - problem.shape.n + i;
        const index_t first = place > sides.window ? place - sides.window : 0;
        if (place < 0) {
          found.push_back({0, 0, 0});
        } else {
          found.push_back({0, static_cast<std::int32_t>(first), static_cast<std::int32_t>(place + 1)});
        }
      }
    }
    return found;
  }

 private:
  void fill(const Filled<Real>& from, Filled<Real>& to) const {
    for (index_t b = 0; b < from.batch; ++b) {
      for (index_t j = 0; j < lengths[index_of(b)]; ++j) {
        const index_t page = pages[index_of(b * page_count + j / page_rows)];
        for (index_t g = 0; g < from.heads; ++g) {
          for (index_t k = 0; k < from.cols; ++k)
            element(to.view(), page, g, j % page_rows, k) = element(from.view(), b, g, j, k);
        }
      }
    }
  }
};

template <class Real>
double error(Cache<Real>& cache, const CachedDotProducts<Real>& x) {
  cpu::cached_attention(x, cache.problem.out.view());
  auto plain = cache.problem.products(x.alpha, x.scale);
  const auto ranges = cache.ranges();
  plain.ranges = ranges.data();
  plain.sinks = x.sinks;
  plain.bias = x.bias;
  return error_of(cache.problem.out.numbers, expected_of(plain, cache.problem.cotangent.view()).out.numbers);
}

TYPED_TEST(CachedAttention, IsThatOfPlainLoops) {
  for (const double alpha : {1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4.0 / 3, 1.5, 2.0, 5.0, kInf}) {
    for (const index_t page_rows : {0, 16}) {
      SCOPED_TRACE(alpha);
      Cache<TypeParam> cache({2, 4, 2, 3, 70, 16, 24}, {70, 41}, {}, page_rows, true);
      EXPECT_LE(error(cache, cache.products(alpha, 0.25)), kBar<TypeParam>);
    }
  }
  Cache<TypeParam> cache({2, 4, 2, 3, 70, 16, 24}, {70, 41});  // exact scores tie, where slopes have no bound
  EXPECT_LE(error(cache, cache.products(1e6, 0.25)), kBar<TypeParam>);
}

TYPED_TEST(CachedAttention, TakesAnyNumberOfTokens) {
  for (const index_t m : {1, 2, 256, 257, 600}) {
    for (const index_t n : {1, 9}) {
      for (const index_t d : {1, 17}) {
        SCOPED_TRACE(m);
        SCOPED_TRACE(n);
        Cache<TypeParam> cache({2, 2, 1, n, m, d, 5}, {m, m / 2});
        EXPECT_LE(error(cache, cache.products(1.5, 0.25)), kBar<TypeParam>);
      }
    }
  }
}

TYPED_TEST(CachedAttention, SeesWindowsAndSinks) {
  for (const index_t window : {0, 5, 300}) {
    for (const index_t sinks : {0, 1, 20, 700}) {
      for (const index_t page_rows : {0, 32}) {
        SCOPED_TRACE(window);
        SCOPED_TRACE(sinks);
        Cache<TypeParam> cache({3, 2, 2, 3, 600, 16, 8}, {600, 310, 2}, {window, sinks}, page_rows);
        EXPECT_LE(error(cache, cache.products(1.5, 0.25)), kBar<TypeParam>);
      }
    }
  }
}

TYPED_TEST(CachedAttention, HasAnAlphaAndAScaleForEachHeadAndABias) {
  const std::vector<double> alpha{1, 1.25, 1.5, 2}, scale{0.1, 0.5, 1, -0.25};
  std::vector<TypeParam> bias(4 * 2 * 50);
  for (std::size_t k = 0; k < bias.size(); ++k)
    bias[k] = k % 7 == 1 ? -TypeParam(kInf) : static_cast<TypeParam>(std::sin(static_cast<double>(k)));
  Cache<TypeParam> cache({2, 4, 2, 2, 50, 16, 16}, {50, 30}, {20, 3});
  auto x = cache.products(alpha, scale);
  x.bias = {bias.data(), 2, 4, 2, 50, 0, 100, 50, 1};
  EXPECT_LE(error(cache, x), kBar<TypeParam>);
  std::fill(bias.begin(), bias.end(), -TypeParam(kInf));
  EXPECT_EQ(error(cache, x), 0);  // no query sees a key
}

TYPED_TEST(CachedAttention, IsTheSameForAllPages) {
  for (const double alpha : {1.0, 1.5}) {
    Cache<TypeParam> whole({2, 4, 2, 3, 300, 16, 24}, {300, 77}, {150, 4});
    EXPECT_LE(error(whole, whole.products(alpha, 0.25)), kBar<TypeParam>);
    for (const index_t page_rows : {1, 7, 16, 256}) {
      Cache<TypeParam> paged({2, 4, 2, 3, 300, 16, 24}, {300, 77}, {150, 4}, page_rows);
      cpu::cached_attention(paged.products(alpha, 0.25), paged.problem.out.view());
      EXPECT_EQ(paged.problem.out.numbers, whole.problem.out.numbers) << page_rows;
    }
  }
}

TYPED_TEST(CachedAttention, SequencesMayShareAPage) {
  Cache<TypeParam> cache({2, 2, 2, 1, 40, 16, 16}, {40, 40});
  cache.pages[1] = cache.pages[0];
  std::copy_n(cache.problem.query.numbers.begin(), 32, cache.problem.query.numbers.begin() + 32);
  cpu::cached_attention(cache.products(1.5, 0.25), cache.problem.out.view());
  const auto& out = cache.problem.out.numbers;
  EXPECT_TRUE(std::equal(out.begin(), out.begin() + 32, out.begin() + 32));
}

TYPED_TEST(CachedAttention, IsZeroBeforeTheFirstToken) {
  Cache<TypeParam> cache({3, 2, 1, 4, 30, 16, 16}, {0, 1, 30});
  EXPECT_LE(error(cache, cache.products(1.5, 0.25)), kBar<TypeParam>);
  const auto out = cache.problem.out.view();
  for (index_t i = 0; i < 4; ++i) {
    EXPECT_EQ(element(out, 0, 1, i, 0), 0);
    EXPECT_EQ(element(out, 1, 1, i, 0) == 0, i < 3) << i;
  }
}

TYPED_TEST(CachedAttention, DoesNotReadWhatItDoesNotSee) {
  // All that is not a token of a sequence is NaN already.
  Cache<TypeParam> cache({1, 1, 1, 1, 600, 16, 16}, {600}, {10, 2}, 16);
  const auto spoil = [&](Filled<TypeParam>& numbers, index_t token) {
    element(numbers.view(), cache.pages[index_of(token / 16)], 0, token % 16, 3) =
        static_cast<TypeParam>(kNaN);
  };
  const auto first = [&](double alpha) {
    cpu::cached_attention(cache.products(alpha, 0.25), cache.problem.out.view());
    return cache.problem.out.numbers[0];
  };
  spoil(cache.key, 2);
  spoil(cache.key, 588);
  EXPECT_TRUE(std::isfinite(first(1.5)));
  spoil(cache.value, 595);
  const TypeParam& spoiled = cache.problem.out.numbers[3];
  first(kInf);  // that token is not the best one
  EXPECT_TRUE(std::isfinite(spoiled));
  first(1.0);
  EXPECT_TRUE(std::isnan(spoiled));
  spoil(cache.key, 1);
  EXPECT_TRUE(std::isnan(first(1.5)));
}

TYPED_TEST(CachedAttention, ComesInSeveralTurnsWhereScoresAreMany) {
  // 48 x 8 bundles of 16 rows of 3000 scores and what rows have besides: 1.2 times what is kept.
  Cache<TypeParam> many({48, 16, 8, 8, 3000, 1, 1}, Lengths(48, 3000));
  cpu::cached_attention(many.products(2, 1), many.problem.out.view());
  for (index_t b = 0; b < 48; ++b) {
    auto one = many.products(2, 1);
    Filled<TypeParam> out{1, 16, 8, 1};
    one.query.batch = 1;
    one.query.data = one.query.row(b, 0, 0);
    one.pages = {many.pages.data() + b, 1, 1};
    one.lengths = one.lengths.subspan(index_of(b), 1);
    cpu::cached_attention(one, out.view());
    EXPECT_TRUE(std::equal(out.numbers.begin(), out.numbers.end(), many.problem.out.view().row(b, 0, 0)))
        << b;
  }
}

TYPED_TEST(CachedAttention, ThreadsDoNotChangeTheResult) {
  Cache<TypeParam> one({1, 2, 1, 2, 5000, 64, 64}, {5000}, {}, 16), many = one;
  set_num_threads(1);
  cpu::cached_attention(one.products(1.5, 0.25), one.problem.out.view());
  for (const int threads : {2, 3}) {
    set_num_threads(threads);
    cpu::cached_attention(many.products(1.5, 0.25), many.problem.out.view());
    EXPECT_EQ(one.problem.out.numbers, many.problem.out.numbers);
  }
  set_num_threads(0);
}

template <class Error = std::invalid_argument, class Spoil>
std::string after(Spoil spoil) {
  Cache<double> cache({2, 4, 2, 3, 40, 8, 8}, {40, 20}, {}, 16);
  auto x = cache.products(1.5, 0.25);
  const std::vector<double> bias(30);
  spoil(cache, x);
  if (x.bias.rows != 0) x.bias.data = bias.data();
  return message_of<Error>([&] { cpu::cached_attention(x, cache.problem.out.view()); });
}

TEST(CachedAttentionMessages, NameTheArgument) {
  EXPECT_EQ(after([](auto&, auto&) {}), "(no error)");
  EXPECT_EQ(after([](auto&, auto& x) { x.key.heads = 3; }),
            "fenchel::cached_attention: key.heads must divide query.heads = 4, got 3");
  EXPECT_EQ(after([](auto&, auto& x) { x.value.rows = 8; }),
            "fenchel::cached_attention: value.rows must be 16, as key.rows, got 8");
  EXPECT_EQ(after([](auto&, auto& x) { x.key.batch_stride += 3; }),
            "fenchel::cached_attention: key.batch_stride must be a multiple of row_stride, 8, got 259");
  EXPECT_EQ(after([](auto&, auto& x) { x.lengths = x.lengths.first(1); }),
            "fenchel::cached_attention: lengths.size() must be 2, as query.batch, got 1");
  EXPECT_EQ(after([](auto& cache, auto&) { cache.lengths[1] = 49; }),
            "fenchel::cached_attention: lengths[1] must be in [0, 48], the rows of its pages, got 49");
  EXPECT_EQ(after([](auto& cache, auto&) { cache.lengths[0] = -1; }),
            "fenchel::cached_attention: lengths[0] must be in [0, 48], the rows of its pages, got -1");
  EXPECT_EQ(after([](auto& cache, auto&) { cache.pages[4] = 7; }),
            "fenchel::cached_attention: pages[1][1] must be in [0, 7), got 7");
  EXPECT_EQ(after([](auto& cache, auto&) { cache.pages[5] = 7; }), "(no error)");  // no token is there
  EXPECT_EQ(after([](auto&, auto& x) { x.pages.rows = 1; }),
            "fenchel::cached_attention: pages.rows must be 2, got 1");
  EXPECT_EQ(after([](auto&, auto& x) { x.bias = {nullptr, 2, 4, 3, 30, 0, 0, 0, 1}; }),
            "fenchel::cached_attention: bias.cols must be at least 40, got 30");
  EXPECT_EQ(after([](auto&, auto& x) { x.window = -1; }),
            "fenchel::cached_attention: window must not be negative, got -1");
  EXPECT_EQ(after([](auto&, auto& x) { x.sinks = -1; }),
            "fenchel::cached_attention: sinks must not be negative, got -1");
  EXPECT_EQ(after<std::domain_error>([](auto&, auto& x) { x.alpha = 0.5; }),
            "fenchel::cached_attention: alpha must be at least 1, got 0.5");
  EXPECT_EQ(after<std::domain_error>([](auto&, auto& x) { x.scale = kInf; }),
            "fenchel::cached_attention: scale must be finite, got inf");
}

}  // namespace
}  // namespace fenchel
