#include "fenchel/backend/cuda/cached_attention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "fenchel/backend/cpu/cached_attention.hpp"
#include "fenchel/core/infinity.hpp"
#include "gpu.hpp"

/// Attention to a cache on a GPU, against the CPU's of the same numbers in float.
namespace fenchel {
namespace {

using test::DeviceArray;

struct Case {
  index_t heads = 4, key_heads = 2, queries = 1, cols = 64, value_cols = 64;
  std::vector<std::int64_t> lengths = {300, 129};
  index_t page_rows = 0;  ///< 0 is one page for each sequence
  std::vector<double> alpha = {1.5};
  std::vector<double> scale = {0.125};
  double spread = 1;  ///< of the queries: small ones make dense rows
  index_t window = std::numeric_limits<index_t>::max(), sinks = 0;
  bool biased = false, bounded = false;
  bool clustered = false;     ///< keys of a page are alike
  bool heads_inside = false;  ///< heads of a token lie beside each other
};

template <class T>
struct Numbers {
  std::vector<T> stored;
  std::vector<float> real;

  explicit Numbers(index_t count) : stored(std::size_t(count)), real(std::size_t(count)) {}
  void set(std::size_t k, double x) {
    stored[k] = test::stored<T>(x);
    real[k] = test::widened(stored[k]);
  }
  void draw(double spread, unsigned seed) {
    std::mt19937 rng(seed);
    std::normal_distribution<double> normal;
    for (std::size_t k = 0; k < stored.size(); ++k) set(k, spread * normal(rng));
  }
};

/// A cache, queries, and what the two back ends make of them.
template <class T>
class Compared {
 public:
  explicit Compared(const Case& given)
      : c(given),
        batch(std::ssize(c.lengths)),
        page_rows(c.page_rows > 0 ? c.page_rows : *std::max_element(c.lengths.begin(), c.lengths.end())),
        each(std::max<index_t>(
            1, (*std::max_element(c.lengths.begin(), c.lengths.end()) + page_rows - 1) / page_rows)),
        pages(std::size_t(batch * each)),
        query(batch * c.heads * c.queries * c.cols),
        key(batch * each * c.key_heads * page_rows * c.cols),
        value(batch * each * c.key_heads * page_rows * c.value_cols),
        bias(c.heads * c.queries * each * page_rows),
        bounds(batch * each * c.key_heads * 2 * c.cols) {
    std::iota(pages.begin(), pages.end(), 0);
    std::shuffle(pages.begin(), pages.end(), std::mt19937(5));
    query.draw(c.spread, 1);
    key.draw(c.clustered ? 0.2 : 1, 2);
    value.draw(1, 3);
    bias.draw(1, 4);
    if (c.clustered) gather_keys();
    for (index_t b = 0; b < batch; ++b) {
      for (index_t k = 0; k < each; ++k)
        if (k * page_rows >= c.lengths[std::size_t(b)]) pages[std::size_t(b * each + k)] = -1;
    }
  }

  void find_bounds() {
    for (index_t page = 0; page < batch * each * c.key_heads; ++page) {
      for (index_t k = 0; k < c.cols; ++k) {
        float least = float(kInfinity), largest = -float(kInfinity);
        for (index_t j = 0; j < page_rows; ++j) {
          const float x = key.real[std::size_t((page * page_rows + j) * c.cols + k)];
          least = std::min(least, x), largest = std::max(largest, x);
        }
        bounds.set(std::size_t((page * 2) * c.cols + k), least);
        bounds.set(std::size_t((page * 2 + 1) * c.cols + k), largest);
      }
    }
  }

  [[nodiscard]] std::vector<float> by_cpu() const {
    std::vector<float> out(std::size_t(batch * c.heads * c.queries * c.value_cols));
    cpu::cached_attention(problem(query.real.data(), key.real.data(), value.real.data(), bias.real.data(),
                                  static_cast<const float*>(nullptr), one_or_each(c.alpha, c.alpha),
                                  one_or_each(c.scale, c.scale)),
                          outputs(out.data()));
    return out;
  }
  [[nodiscard]] std::vector<T> by_gpu() const {
    const DeviceArray q(query.stored), k(with_nan_behind(key, c.cols)),
        v(with_nan_behind(value, c.value_cols)), added(bias.stored), ends(bounds.stored);
    const DeviceArray alphas(c.alpha), scales(c.scale);
    const DeviceArray<T> out(std::size_t(batch * c.heads * c.queries * c.value_cols));
    auto x = problem(static_cast<const T*>(q.data()), static_cast<const T*>(k.data()),
                     static_cast<const T*>(v.data()), static_cast<const T*>(added.data()),
                     c.bounded ? static_cast<const T*>(ends.data()) : nullptr,
                     one_or_each(c.alpha, alphas.span()), one_or_each(c.scale, scales.span()));
    const DeviceArray<std::byte> scratch(cuda::cached_attention_scratch_bytes(x));
    x.scratch = scratch.span();
    cuda::cached_attention(x, outputs(out.data()), nullptr);
    return out.values();
  }

  Case c;
  index_t batch, page_rows, each;
  std::vector<std::int32_t> pages;
  Numbers<T> query, key, value, bias, bounds;

  /// Of a token of the first sequence and a head of keys.
  [[nodiscard]] std::size_t key_place(index_t token, index_t g) const {
    const index_t page = pages[std::size_t(token / page_rows)];
    return std::size_t(((page * c.key_heads + g) * page_rows + token % page_rows) * c.cols);
  }

 private:
  /// Those of the heads lie where they are read.
  [[nodiscard]] static PerRow one_or_each(const std::vector<double>& x, std::span<const double> lying) {
    return x.size() > 1 ? PerRow(lying) : PerRow(x[0]);
  }
  /// Rows of a last page that no token has yet.
  [[nodiscard]] std::vector<T> with_nan_behind(const Numbers<T>& x, index_t cols) const {
    std::vector<T> found = x.stored;
    for (index_t b = 0; b < batch; ++b) {
      const index_t length = c.lengths[std::size_t(b)], used = length % page_rows;
      if (used == 0) continue;
      const index_t page = pages[std::size_t(b * each + length / page_rows)];
      const Matrices<T> view = matrices(found.data(), batch * each, c.key_heads, page_rows, cols);
      for (index_t g = 0; g < c.key_heads; ++g) {
        for (index_t j = used; j < page_rows; ++j)
          std::fill_n(view.row(page, g, j), cols, test::stored<T>(std::numeric_limits<double>::quiet_NaN()));
      }
    }
    return found;
  }
  /// Adds a centre to the keys of each page.
  void gather_keys() {
    std::mt19937 rng(6);
    std::normal_distribution<double> normal;
    for (index_t page = 0; page < batch * each * c.key_heads; ++page) {
      for (index_t k = 0; k < c.cols; ++k) {
        const double centre = normal(rng);
        for (index_t j = 0; j < page_rows; ++j) {
          const auto at = std::size_t((page * page_rows + j) * c.cols + k);
          key.set(at, key.real[at] + centre);
        }
      }
    }
  }
  template <class Number>
  [[nodiscard]] Matrices<Number> matrices(Number* data, index_t count, index_t heads, index_t rows,
                                          index_t cols) const {
    if (c.heads_inside) return {data, count, heads, rows, cols, heads * rows * cols, cols, heads * cols};
    return {data, count, heads, rows, cols, heads * rows * cols, rows * cols, cols};
  }
  template <class Number>
  [[nodiscard]] Matrices<Number> outputs(Number* out) const {
    return matrices(out, batch, c.heads, c.queries, c.value_cols);
  }
  template <class Number>
  [[nodiscard]] CachedDotProducts<Number> problem(const Number* q, const Number* k, const Number* v,
                                                  const Number* added, const Number* ends, PerRow alpha,
                                                  PerRow scale) const {
    CachedDotProducts<Number> x{matrices(q, batch, c.heads, c.queries, c.cols),
                                matrices(k, batch * each, c.key_heads, page_rows, c.cols),
                                matrices(v, batch * each, c.key_heads, page_rows, c.value_cols),
                                {pages.data(), batch, each},
                                c.lengths,
                                alpha,
                                scale};
    const index_t room = each * page_rows;
    if (c.biased) x.bias = {added, batch, c.heads, c.queries, room, 0, c.queries * room, room};
    x.window = c.window;
    x.sinks = c.sinks;
    if (ends != nullptr) x.bounds = matrices(ends, batch * each, c.key_heads, index_t(2), c.cols);
    return x;
  }
};

/// A rounding to T, of which the output has one.
template <class T>
constexpr double kRounding = std::is_same_v<T, cuda::BFloat16> ? 0x1p-8 : 0x1p-11;

template <class T>
class CachedAttentionGpu : public test::GpuTest {};
using Types = testing::Types<cuda::BFloat16, cuda::Half>;
TYPED_TEST_SUITE(CachedAttentionGpu, Types);
class CachedAttentionGpuStream : public test::GpuTest {};

template <class T>
void expect_the_same(const Case& c) {
  Compared<T> both(c);
  if (c.bounded) both.find_bounds();
  const std::vector<T> found = both.by_gpu();
  EXPECT_LE(test::distance(found, both.by_cpu()), 0.75 * kRounding<T>);
  const std::vector<T> again = both.by_gpu();
  EXPECT_EQ(std::memcmp(found.data(), again.data(), found.size() * sizeof(T)), 0);
}

TYPED_TEST(CachedAttentionGpu, HasTheOutputsOfTheCpuForEveryAlpha) {
  for (const double alpha :
       {1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.1, 1.25, 4.0 / 3, 1.5, 1.7, 2.0, 2.5, 5.0, 10.0, 1e6}) {
    for (const double spread : {0.0, 0.05, 1.0, 8.0}) {  // with 0 all scores are equal
      SCOPED_TRACE(std::to_string(alpha) + " " + std::to_string(spread));
      Case c;
      c.alpha = {alpha};
      c.spread = spread;
      expect_the_same<TypeParam>(c);
    }
  }
}

TYPED_TEST(CachedAttentionGpu, AHeadHasItsOwnAlphaAndScale) {
  Case c;
  c.scale = {0.125, -0.3, 0, 1};
  for (const std::vector<double>& alpha : std::vector<std::vector<double>>{
           {1, 1.2, 1.5, 3}, {1.5, 10, 1e6, kInfinity}, {kInfinity, kInfinity, kInfinity, 2}}) {
    c.alpha = alpha;
    expect_the_same<TypeParam>(c);
  }
}

TYPED_TEST(CachedAttentionGpu, ReadsTensorsWhoseHeadsLieInside) {
  Case c;
  c.queries = 3;
  c.page_rows = 48;
  c.heads_inside = true;
  expect_the_same<TypeParam>(c);
}

TYPED_TEST(CachedAttentionGpu, EqualKeysShareTheirWeight) {
  for (const double alpha : {1.5, 3.0, 10.0, 1e6}) {
    SCOPED_TRACE(std::to_string(alpha));
    Case c;
    c.lengths = {3000};
    c.alpha = {alpha};
    Compared<TypeParam> both(c);
    for (const index_t token : {100, 101, 1700, 2999}) {
      for (index_t g = 0; g < c.key_heads; ++g) {
        for (index_t k = 0; k < c.cols; ++k) {
          const float q = both.query.real[std::size_t(g * 2 * c.cols + k)];
          both.key.set(both.key_place(token, g) + std::size_t(k), 4 * q);
        }
      }
    }
    EXPECT_LE(test::distance(both.by_gpu(), both.by_cpu()), 0.75 * kRounding<TypeParam>);
  }
}

TYPED_TEST(CachedAttentionGpu, ReadsPagesOfAnySizeAndAnyNumberOfColumns) {
  for (const index_t page_rows : {1, 7, 16, 48, 64, 256}) {
    for (const index_t cols : {8, 16, 24, 64, 72, 128, 136, 256}) {
      SCOPED_TRACE(std::to_string(page_rows) + " " + std::to_string(cols));
      Case c;
      c.page_rows = page_rows;
      c.cols = cols;
      c.value_cols = 264 - cols;
      c.scale = {1 / std::sqrt(double(cols))};
      expect_the_same<TypeParam>(c);
    }
  }
}

TYPED_TEST(CachedAttentionGpu, TakesAnyNumberOfQueriesKeysAndHeads) {
  for (const index_t length : {1, 2, 15, 16, 17, 63, 64, 65, 255, 256, 257, 511, 513, 1025}) {
    for (const index_t queries : {1, 2, 5}) {
      SCOPED_TRACE(std::to_string(length) + " " + std::to_string(queries));
      Case c;
      c.lengths = {length, (length + 1) / 2, 0};  // some queries are before the first token, and see none
      c.queries = queries;
      expect_the_same<TypeParam>(c);
    }
  }
  for (const index_t heads : {1, 3, 8, 9, 16, 71}) {
    Case c;
    c.heads = heads;
    c.key_heads = 1;
    c.queries = 2;
    expect_the_same<TypeParam>(c);
  }
}

TYPED_TEST(CachedAttentionGpu, SequencesWithoutTokensHaveTheOutputZero) {
  for (const bool bounded : {false, true}) {
    Case c;
    c.lengths = {0, 0};
    c.page_rows = 16;
    c.bounded = bounded;
    Compared<TypeParam> both(c);
    for (const TypeParam x : both.by_gpu()) EXPECT_EQ(test::widened(x), 0);
  }
}

TYPED_TEST(CachedAttentionGpu, SolvesManyKeysWithFewAndWithManyWeights) {
  for (const double alpha : {1.0, 1.25, 1.5, 2.0, 3.0}) {
    for (const double spread :
         {0.02, 0.3, 1.0}) {  // the first gives most keys weight, more than are kept at a time
      for (const index_t length : {16000, 70000}) {
        SCOPED_TRACE(std::to_string(alpha) + " " + std::to_string(spread) + " " + std::to_string(length));
        Case c;
        c.heads = c.key_heads = 1;
        c.cols = c.value_cols = 16;
        c.scale = {0.25};
        c.lengths = {length, length / 3};
        c.page_rows = 256;
        c.alpha = {alpha};
        c.spread = spread;
        expect_the_same<TypeParam>(c);
      }
    }
  }
}

TYPED_TEST(CachedAttentionGpu, WindowsSinksAndBiases) {
  for (const index_t window : {0, 5, 100, 290}) {
    for (const index_t sinks : {0, 1, 20, 500}) {
      SCOPED_TRACE(std::to_string(window) + " " + std::to_string(sinks));
      Case c;
      c.queries = 3;
      c.window = window;
      c.sinks = sinks;
      expect_the_same<TypeParam>(c);
      c.biased = true;
      expect_the_same<TypeParam>(c);
    }
  }
}

TYPED_TEST(CachedAttentionGpu, PagesThatAreSkippedHaveNoWeight) {
  for (const bool clustered : {false, true}) {
    for (const double alpha : {1.0, 1.3, 1.5, 2.0, 3.0}) {
      for (const double scale : {0.125, -0.125}) {
        for (const index_t page_rows : {16, 64}) {
          SCOPED_TRACE(std::to_string(alpha) + " " + std::to_string(scale) + (clustered ? " clustered" : ""));
          Case c;
          c.lengths = {5000, 1300};
          c.queries = 2;
          c.page_rows = page_rows;
          c.alpha = {alpha};
          c.scale = {scale};
          c.bounded = true;
          c.clustered = clustered;
          expect_the_same<TypeParam>(c);
          c.window = 2000;
          expect_the_same<TypeParam>(c);
          c.sinks = 20;
          expect_the_same<TypeParam>(c);
        }
      }
    }
  }
}

TYPED_TEST(CachedAttentionGpu, PagesAreSkippedByTheirBoundsAlone) {
  // Bounds that are wrong hide the best key: so they were read, and the page was not.
  Case c;
  c.lengths = {4096};
  c.page_rows = 16;
  c.bounded = c.clustered = true;
  Compared<TypeParam> both(c);
  for (index_t g = 0; g < c.key_heads; ++g) {
    for (index_t k = 0; k < c.cols; ++k) {
      const float q = both.query.real[std::size_t(g * 2 * c.cols + k)];
      both.key.set(both.key_place(2000, g) + std::size_t(k), 4 * q);
    }
  }
  both.find_bounds();
  EXPECT_LE(test::distance(both.by_gpu(), both.by_cpu()), 0.75 * kRounding<TypeParam>);
  const index_t page = both.pages[2000 / 16];
  for (index_t k = 0; k < 2 * c.key_heads * c.cols; ++k)
    both.bounds.set(std::size_t(page * 2 * c.key_heads * c.cols + k), 0);
  EXPECT_GT(test::distance(both.by_gpu(), both.by_cpu()), 0.1);
}

TYPED_TEST(CachedAttentionGpu, ABadKeyIsSeenByThoseAlone) {
  for (const bool bounded : {false, true}) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), float(kInfinity)}) {
      Case c;
      c.lengths = {600};
      c.queries = 3;
      c.page_rows = 16;
      c.window = 99;  // the queries see tokens from 498, 499 and 500 on
      c.bounded = bounded;
      Compared<TypeParam> both(c);
      both.find_bounds();
      const std::vector<TypeParam> good = both.by_gpu();
      both.key.set(both.key_place(498, 0), bad);
      both.find_bounds();
      for (const index_t page : {both.pages[498 / 16]}) {  // as torch's least and largest numbers are
        for (const index_t side : {0, 1})
          both.bounds.set(std::size_t((page * c.key_heads * 2 + side) * c.cols), bad);
      }
      const std::vector<TypeParam> found = both.by_gpu();
      for (index_t h = 0; h < c.heads; ++h) {
        for (index_t i = 0; i < c.queries; ++i) {
          for (index_t k = 0; k < c.value_cols; ++k) {
            const auto at = std::size_t((h * c.queries + i) * c.value_cols + k);
            if (h >= 2 || i > 0) {
              const double before = test::widened(good[at]), allowed = bounded ? 2 * kRounding<TypeParam> : 0;
              EXPECT_NEAR(test::widened(found[at]), before, allowed * std::abs(before));
            } else if (std::isnan(bad)) {
              EXPECT_TRUE(std::isnan(test::widened(found[at])));
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(CachedAttentionGpu, AnAlphaOfAHeadBelowOneIsNaNThereAlone) {
  Case c;
  c.alpha = {1.5, 0.5, 2, 1.5};
  const Compared<TypeParam> both(c);
  const std::vector<TypeParam> found = both.by_gpu();
  for (index_t b = 0; b < 2; ++b) {
    for (index_t h = 0; h < c.heads; ++h) {
      for (index_t k = 0; k < c.value_cols; ++k) {
        EXPECT_EQ(std::isnan(test::widened(found[std::size_t((b * c.heads + h) * c.value_cols + k)])),
                  h == 1);
      }
    }
  }
}

TEST_F(CachedAttentionGpuStream, ThatIsCapturedIsAnError) {
  cudaStream_t stream = nullptr;
  test::expect_success(cudaStreamCreate(&stream));
  const std::int64_t length = 0;
  const std::int32_t page = 0;
  const DeviceArray<std::byte> memory(1 << 16);
  auto* const numbers = reinterpret_cast<cuda::Half*>(memory.data());
  CachedDotProducts<cuda::Half> x{{numbers, 1, 1, 1, 8},
                                  {numbers, 1, 1, 1, 8},
                                  {numbers, 1, 1, 1, 8},
                                  {&page, 1, 1},
                                  {&length, 1},
                                  1.5,
                                  1};
  x.scratch = memory.span();
  test::expect_success(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  EXPECT_THROW(cuda::cached_attention(x, {numbers, 1, 1, 1, 8}, stream), std::invalid_argument);
  cudaGraph_t graph = nullptr;
  test::expect_success(cudaStreamEndCapture(stream, &graph));
  test::expect_success(cudaGraphDestroy(graph));
  test::expect_success(cudaStreamDestroy(stream));
}

TEST(CachedAttentionGpuErrors, NameTheArgument) {
  const auto message_of = [](const CachedDotProducts<cuda::Half>& x) -> std::string {
    try {
      cuda::cached_attention(x, {nullptr, 0, 1, 1, x.value.cols}, nullptr);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "no error";
  };
  CachedDotProducts<cuda::Half> x{
      {nullptr, 0, 1, 1, 8}, {nullptr, 1, 1, 0, 8}, {nullptr, 1, 1, 0, 8}, {nullptr, 0, 1}, {}, 1.5, 1};
  EXPECT_EQ(message_of(x), "no error");
  x.query.cols = x.key.cols = 12;
  EXPECT_EQ(message_of(x),
            "fenchel::cuda::cached_attention: query.cols must be a multiple of 8 up to 256, got 12");
  x.query.cols = x.key.cols = 8;
  x.alpha = kInfinity;
  EXPECT_EQ(message_of(x), "fenchel::cuda::cached_attention: alpha must be finite on a GPU, got inf");
  x.alpha = 0.5;
  EXPECT_EQ(message_of(x), "fenchel::cuda::cached_attention: alpha must be at least 1, got 0.5");
}

}  // namespace
}  // namespace fenchel
