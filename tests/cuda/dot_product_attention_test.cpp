#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "fenchel/backend/cpu/dot_product_attention.hpp"
#include "fenchel/backend/cuda/dot_product_attention.hpp"
#include "fenchel/core/infinity.hpp"
#include "gpu.hpp"

namespace fenchel {
namespace {

using test::DeviceArray;

/// Sizes and options of one call.
struct Case {
  index_t batch = 2, heads = 2, key_heads = 2, queries = 150, keys = 200, cols = 64;
  std::vector<double> alpha = {1.5};
  double spread = 1;  ///< of the queries: small ones make dense rows
  bool causal = false, masked = false, biased = false;
  bool uneven = false;  ///< every other eight queries prefer two of eight keys, and the others the other six
  /// Lengths of the sequences of a member, of which a query sees the keys from `left` before to `right` after
  /// its own, and the first `sinks`: for the GPU as ranges, for the CPU as a mask.
  std::vector<index_t> sequences = {};
  index_t left = 0, right = 0, sinks = 0;
};

/// Of the queries of a member.
std::vector<KeyRange> ranges_of(const Case& c) {
  std::vector<KeyRange> ranges;
  index_t begin = 0;
  for (const index_t length : c.sequences) {
    for (index_t i = begin; i < begin + length; ++i) {
      const index_t last = std::min({begin + length, i + c.right + 1, c.keys});
      ranges.push_back({std::int32_t(std::min(begin, last)),
                        std::int32_t(std::clamp(i - c.left, begin, last)), std::int32_t(last)});
    }
    begin += length;
  }
  return ranges;
}

template <class T>
struct Numbers {
  std::vector<T> stored;
  std::vector<float> real;
};

template <class T>
Numbers<T> normal(index_t count, double spread, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<double> draw;
  Numbers<T> x;
  for (index_t k = 0; k < count; ++k) {
    x.stored.push_back(test::stored<T>(spread * draw(rng)));
    x.real.push_back(test::widened(x.stored.back()));
  }
  return x;
}

template <class T>
Matrices<T> contiguous(T* data, index_t batch, index_t heads, index_t rows, index_t cols) {
  return {data, batch, heads, rows, cols, heads * rows * cols, rows * cols, cols, 1};
}

/// What the GPU and the CPU in float make of the same numbers.
template <class T>
class Compared {
 public:
  explicit Compared(const Case& c)
      : query_(normal<T>(c.batch * c.heads * c.queries * c.cols, c.spread, 1)),
        key_(normal<T>(c.batch * c.key_heads * c.keys * c.cols, 1, 2)),
        value_(normal<T>(c.batch * c.key_heads * c.keys * c.cols, 1, 3)),
        upstream_(normal<T>(c.batch * c.heads * c.queries * c.cols, 1, 4)),
        bias_(normal<T>(c.heads * c.queries * c.keys, 1, 5)),
        rows_(c.batch * c.heads * c.queries) {
    if (c.uneven) {
      prefer(query_, c.cols, [](index_t row) { return row % 16 < 8 ? 12.0 : -12.0; });
      prefer(key_, c.cols, [](index_t row) { return row % 8 < 2 ? 1.0 : -1.0; });
    }
    std::mt19937 rng(6);
    for (index_t k = 0; k < c.queries * c.keys; ++k) mask_.push_back(k >= 2 * c.keys && rng() % 3 != 0);
    for (std::size_t i = 0; const KeyRange& range : ranges_of(c)) {
      for (index_t j = 0; j < c.keys; ++j) {
        const bool is_sink = j >= range.origin && j < range.origin + c.sinks;
        const bool in_range = j < range.last && (j >= range.first || is_sink);
        mask_[i] = (mask_[i] != 0 || !c.masked) && in_range;
        ++i;
      }
    }
    run_cpu(c);
    run_gpu(c);
  }

  std::vector<T> out, to_query, to_key, to_value;
  std::vector<float> cpu_out, cpu_to_query, cpu_to_key, cpu_to_value;
  std::vector<float> to_alpha, to_scale, cpu_to_alpha, cpu_to_scale;
  std::vector<float> normalizers;
  std::vector<std::int32_t> support;
  bool same_bits_again = false;

  /// The sum of the weights that the record gives a query of the first head, by double.
  [[nodiscard]] double mass(const Case& c, index_t i) const {
    const auto at = static_cast<std::size_t>(2 * i);
    const double am1 = c.alpha[0] - 1, top = normalizers[at], peak = normalizers[at + 1];
    double sum = 0;
    for (index_t j = 0; j < c.keys; ++j) {
      double z = 0;
      for (index_t k = 0; k < c.cols; ++k) {
        z += double(query_.real[static_cast<std::size_t>(i * c.cols + k)]) *
             double(key_.real[static_cast<std::size_t>(j * c.cols + k)]);
      }
      const double root = std::pow(peak, am1) + am1 * (z / std::sqrt(double(c.cols)) - top);
      if (root > 0) sum += std::pow(root, 1 / am1);
    }
    return sum;
  }

 private:
  /// Sets the first column.
  template <class OfRow>
  static void prefer(Numbers<T>& x, index_t cols, const OfRow& of_row) {
    for (index_t k = 0; k < static_cast<index_t>(x.stored.size()); k += cols) {
      x.stored[static_cast<std::size_t>(k)] = test::stored<T>(of_row(k / cols));
      x.real[static_cast<std::size_t>(k)] = float(of_row(k / cols));
    }
  }

  template <class S>
  static DotProducts<S> problem(const Case& c, const S* query, const S* key, const S* value,
                                const std::uint8_t* mask, const S* bias, std::span<const double> alpha) {
    DotProducts<S> x{contiguous(query, c.batch, c.heads, c.queries, c.cols),
                     contiguous(key, c.batch, c.key_heads, c.keys, c.cols),
                     contiguous(value, c.batch, c.key_heads, c.keys, c.cols),
                     c.alpha.size() > 1 ? PerRow(alpha) : PerRow(c.alpha[0]),
                     1 / std::sqrt(double(c.cols)),
                     c.causal};
    if (c.masked || (std::is_same_v<S, float> && !c.sequences.empty())) {
      x.mask = {reinterpret_cast<const bool*>(mask), c.batch, c.heads, c.queries, c.keys, 0, 0, c.keys, 1};
    }
    if (c.biased) x.bias = {bias, c.batch, c.heads, c.queries, c.keys, 0, c.queries * c.keys, c.keys, 1};
    return x;
  }

  void run_cpu(const Case& c) {
    cpu_out.resize(query_.real.size());
    cpu_to_query.resize(query_.real.size());
    cpu_to_key.resize(key_.real.size());
    cpu_to_value.resize(key_.real.size());
    cpu_to_alpha.resize(static_cast<std::size_t>(rows_));
    cpu_to_scale.resize(static_cast<std::size_t>(rows_));
    std::vector<float> pairs(2 * static_cast<std::size_t>(rows_));
    const auto x = problem<float>(c, query_.real.data(), key_.real.data(), value_.real.data(), mask_.data(),
                                  bias_.real.data(), c.alpha);
    const AttentionRecord<float> record{Rows<float>(pairs.data(), rows_, 2)};
    const auto of_queries = [&](std::vector<float>& y) {
      return contiguous(y.data(), c.batch, c.heads, c.queries, c.cols);
    };
    const auto of_keys = [&](std::vector<float>& y) {
      return contiguous(y.data(), c.batch, c.key_heads, c.keys, c.cols);
    };
    cpu::attention<float>(x, of_queries(cpu_out), record);
    cpu::attention_vjp<float>(
        x, record, of_queries(upstream_.real),
        {of_queries(cpu_to_query), of_keys(cpu_to_key), of_keys(cpu_to_value),
         Rows<float>(cpu_to_alpha.data(), rows_, 1), Rows<float>(cpu_to_scale.data(), rows_, 1)});
  }

  void run_gpu(const Case& c) {
    const DeviceArray<T> query(query_.stored), key(key_.stored), value(value_.stored),
        upstream(upstream_.stored), bias(bias_.stored);
    const DeviceArray<std::uint8_t> mask(mask_);
    const DeviceArray<double> alpha(c.alpha);
    auto x = problem<T>(c, query.data(), key.data(), value.data(), mask.data(), bias.data(), alpha.span());
    std::vector<KeyRange> of_all;
    for (index_t b = 0; b < c.batch; ++b) {
      const auto of_member = ranges_of(c);
      of_all.insert(of_all.end(), of_member.begin(), of_member.end());
    }
    of_all.push_back({});
    const DeviceArray<KeyRange> ranges(of_all);
    x.ranges = c.sequences.empty() ? nullptr : ranges.data();
    x.sinks = c.sinks;
    const DeviceArray<T> y(query.size()), dq(query.size()), dk(key.size()), dv(key.size());
    const DeviceArray<float> pairs(2 * static_cast<std::size_t>(rows_)), da(static_cast<std::size_t>(rows_)),
        ds(static_cast<std::size_t>(rows_));
    const DeviceArray<std::int32_t> lists(static_cast<std::size_t>(rows_ * cuda::kAttentionSupportColumns));
    const DeviceArray<std::byte> scratch(cuda::attention_scratch_bytes(x));
    const AttentionRecord<float> record{
        Rows<float>(pairs.data(), rows_, 2),
        Rows<std::int32_t>(lists.data(), rows_, cuda::kAttentionSupportColumns), scratch.span()};
    const auto of_queries = [&](T* p) { return contiguous(p, c.batch, c.heads, c.queries, c.cols); };
    const auto of_keys = [&](T* p) { return contiguous(p, c.batch, c.key_heads, c.keys, c.cols); };
    const DotProductGradients<T, float> gradient{of_queries(dq.data()), of_keys(dk.data()),
                                                 of_keys(dv.data()), Rows<float>(da.data(), rows_, 1),
                                                 Rows<float>(ds.data(), rows_, 1)};
    std::vector<std::uint16_t> bits[2];
    for (auto& run : bits) {
      cuda::attention<T>(x, of_queries(y.data()), record, nullptr);
      cuda::attention_vjp<T>(x, record, of_queries(upstream.data()), gradient, nullptr);
      for (const auto* array : {&y, &dq, &dk, &dv}) {
        for (const T number : array->values()) run.push_back(number.bits);
      }
    }
    same_bits_again = bits[0] == bits[1];
    out = y.values();
    to_query = dq.values();
    to_key = dk.values();
    to_value = dv.values();
    to_alpha = da.values();
    to_scale = ds.values();
    normalizers = pairs.values();
    support = lists.values();
  }

  Numbers<T> query_, key_, value_, upstream_, bias_;
  std::vector<std::uint8_t> mask_;
  index_t rows_;
};

template <class T>
class CudaKeyAttention : public test::GpuTest {
 protected:
  /// A rounding of the results is 2^-9 or 2^-12; dense rows round their weights, too.
  static constexpr double kError = std::is_same_v<T, cuda::BFloat16> ? 4e-3 : 5e-4;

  static void expect_close(const Case& c) {
    const Compared<T> x(c);
    EXPECT_LT(test::distance(x.out, x.cpu_out), kError);
    EXPECT_LT(test::distance(x.to_query, x.cpu_to_query), kError);
    EXPECT_LT(test::distance(x.to_key, x.cpu_to_key), kError);
    EXPECT_LT(test::distance(x.to_value, x.cpu_to_value), kError);
    EXPECT_LT(test::distance(x.to_alpha, x.cpu_to_alpha), kError);
    EXPECT_LT(test::distance(x.to_scale, x.cpu_to_scale), kError);
    EXPECT_TRUE(x.same_bits_again);
  }
};
using Types = testing::Types<cuda::BFloat16, cuda::Half>;
TYPED_TEST_SUITE(CudaKeyAttention, Types);

TYPED_TEST(CudaKeyAttention, IsThatOfTheCpuForEveryAlpha) {
  for (const double alpha :
       {1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.1, 1.25, 4.0 / 3, 1.5, 1.7, 2.0, 3.0, 1e6}) {
    SCOPED_TRACE(alpha);
    this->expect_close({.alpha = {alpha}});
  }
}

/// A weight next to the threshold has a slope without bound: roundings of scores move it by their root.
TYPED_TEST(CudaKeyAttention, LargeAlphaFeelsRoundingsOfScores) {
  constexpr double kAlpha = 5, kRounding = 1e-6;
  const Compared<TypeParam> x(Case{.alpha = {kAlpha}});
  EXPECT_LT(test::distance(x.out, x.cpu_out), std::pow((kAlpha - 1) * kRounding, 1 / (kAlpha - 1)));
  EXPECT_TRUE(x.same_bits_again);
}

TYPED_TEST(CudaKeyAttention, HeadsHaveTheirOwnAlpha) {
  this->expect_close({.batch = 1, .heads = 4, .key_heads = 2, .alpha = {1.0, 1.25, 1.5, 2.0}});
}

TYPED_TEST(CudaKeyAttention, MasksBiasesAndCausalRows) {
  this->expect_close({.causal = true});
  this->expect_close({.masked = true});
  this->expect_close({.biased = true});
  this->expect_close({.alpha = {1.25}, .causal = true, .biased = true});
  this->expect_close({.alpha = {1.1}, .masked = true});
}

/// Windows within one block and over many, with sinks that lie in them or far before; and rows that end.
TYPED_TEST(CudaKeyAttention, WindowsAndSinks) {
  for (const double alpha : {1.0, 1.25, 1.5, 2.0}) {
    for (const auto& [left, right] :
         {std::pair<index_t, index_t>{0, 0}, {5, 0}, {70, 3}, {300, 0}, {900, 900}}) {
      for (const index_t sinks : {0, 1, 4, 130}) {
        SCOPED_TRACE(std::to_string(alpha) + ": " + std::to_string(left) + ", " + std::to_string(right) +
                     ", " + std::to_string(sinks));
        this->expect_close({.batch = 2,
                            .heads = 2,
                            .key_heads = 1,
                            .queries = 700,
                            .keys = 700,
                            .alpha = {alpha},
                            .sequences = {700},
                            .left = left,
                            .right = right,
                            .sinks = sinks});
      }
    }
  }
}

/// Some in one block, some that begin in the middle of one, a long one, and one without keys.
TYPED_TEST(CudaKeyAttention, SequencesInARow) {
  const std::vector<index_t> sequences = {1, 30, 2, 128, 64, 400, 15, 60};
  for (const double alpha : {1.1, 1.5, 2.0}) {
    for (const double spread : {1.0, 0.1}) {
      SCOPED_TRACE(std::to_string(alpha) + ", " + std::to_string(spread));
      this->expect_close({.queries = 700,
                          .keys = 700,
                          .alpha = {alpha},
                          .spread = spread,
                          .sequences = sequences,
                          .left = 700,
                          .right = 700});
      this->expect_close({.queries = 700,
                          .keys = 640,
                          .alpha = {alpha},
                          .spread = spread,
                          .biased = true,
                          .sequences = sequences,
                          .left = 700,
                          .right = 0});
      this->expect_close({.queries = 700,
                          .keys = 700,
                          .cols = 128,
                          .alpha = {alpha},
                          .spread = spread,
                          .sequences = sequences,
                          .left = 50,
                          .right = 10,
                          .sinks = 3});
      this->expect_close({.queries = 700,
                          .keys = 700,
                          .alpha = {alpha},
                          .spread = spread,
                          .masked = true,
                          .sequences = sequences,
                          .left = 90,
                          .right = 0,
                          .sinks = 2});
    }
  }
}

TYPED_TEST(CudaKeyAttention, LengthsAndColumnsAroundTheTiles) {
  for (const index_t queries : {1, 16, 127, 129}) {
    for (const index_t keys : {1, 31, 64, 65, 700}) {
      SCOPED_TRACE(std::to_string(queries) + " x " + std::to_string(keys));
      this->expect_close({.batch = 1, .queries = queries, .keys = keys, .cols = 8, .alpha = {1.5}});
      this->expect_close(
          {.batch = 1, .queries = queries, .keys = keys, .cols = 128, .alpha = {2.0}, .spread = 0.1});
    }
  }
}

/// Keys that all queries look at, and more keys than are sorted at a time.
TYPED_TEST(CudaKeyAttention, LongRows) {
  this->expect_close(
      {.batch = 1, .heads = 1, .key_heads = 1, .queries = 140, .keys = 33000, .cols = 16, .alpha = {2.0}});
  this->expect_close(
      {.batch = 1, .heads = 1, .key_heads = 1, .queries = 130, .keys = 2500, .alpha = {4.0 / 3}});
}

/// From two keys with weight to all of them: lists that fit, that must be longer, and that are too long.
TYPED_TEST(CudaKeyAttention, SupportsOfEverySize) {
  for (const double spread : {4.0, 1.0, 0.7, 0.5, 0.4, 0.3, 0.2, 0.1}) {
    SCOPED_TRACE(spread);
    this->expect_close(
        {.batch = 1, .heads = 2, .key_heads = 1, .queries = 260, .keys = 3000, .spread = spread});
  }
}

/// Candidates of a query that all come to one lane, while the other lanes are full of those of another query.
TYPED_TEST(CudaKeyAttention, ListsThatAreUneven) {
  for (const double spread : {1.0, 0.7, 0.5, 0.4}) {
    SCOPED_TRACE(spread);
    this->expect_close({.batch = 1,
                        .heads = 1,
                        .key_heads = 1,
                        .queries = 260,
                        .keys = 5000,
                        .spread = spread,
                        .uneven = true});
  }
}

/// Rows without lists have weights that sum to one. Past alpha = 2 a weight next to the threshold feels a
/// rounding by its root.
TYPED_TEST(CudaKeyAttention, DenseRowsHaveMassOne) {
  for (const double alpha : {1 + 1e-3, 1.25, 4.0 / 3, 1.5, 1.7, 2.0, 3.0}) {
    SCOPED_TRACE(alpha);
    const Case c{.batch = 1,
                 .heads = 1,
                 .key_heads = 1,
                 .queries = 130,
                 .keys = 3000,
                 .alpha = {alpha},
                 .spread = alpha == 2 ? 0.01 : 0.1};
    const Compared<TypeParam> x(c);
    for (index_t i = 0; i < c.queries; i += 3) {
      ASSERT_EQ(x.support[static_cast<std::size_t>(i * cuda::kAttentionSupportColumns)], -1);
      EXPECT_NEAR(x.mass(c, i), 1, alpha > 2 ? std::pow(FLT_EPSILON, 1 / (alpha - 1)) : 5e-6);
    }
  }
}

TYPED_TEST(CudaKeyAttention, ListsAreTheSupport) {
  const Compared<TypeParam> x(Case{.batch = 1, .heads = 1, .key_heads = 1, .alpha = {2.0}});
  for (std::size_t row = 0; row < 150; ++row) {
    const std::int32_t* const list = x.support.data() + row * cuda::kAttentionSupportColumns;
    ASSERT_GE(list[0], 1);
    double sum = 0;
    for (std::int32_t e = list[1]; e < list[1] + list[0]; ++e) {
      // Rows share their room: that of row + r has the entries from r * kAttentionSupport on.
      const index_t room = index_t(row) + (e + 16 * cuda::kAttentionSupport) / cuda::kAttentionSupport - 16;
      const index_t place = (e + 16 * cuda::kAttentionSupport) % cuda::kAttentionSupport;
      float weight;
      std::memcpy(&weight, x.support.data() + room * cuda::kAttentionSupportColumns + 2 + 2 * place + 1,
                  sizeof weight);
      EXPECT_GT(weight, 0);
      sum += weight;
    }
    EXPECT_NEAR(sum, 1, 1e-6);
  }
}

/// Messages are those of the CPU.
TEST(CudaKeyAttentionErrors, BadArgumentsAreNamed) {
  const auto message = [](DotProducts<cuda::BFloat16> x) -> std::string {
    try {
      cuda::attention<cuda::BFloat16>(x, {}, {}, nullptr);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  static cuda::BFloat16 numbers[64];
  const auto some = contiguous<const cuda::BFloat16>(numbers, 1, 1, 1, 64);
  DotProducts<cuda::BFloat16> x{some, some, some, 1.5, 1.0};
  x.key.cols = 32;
  EXPECT_EQ(message(x), "fenchel::cuda::attention: key.cols must be 64, as query.cols, got 32");
  x.key.cols = 64;
  x.alpha = 0.5;
  EXPECT_EQ(message(x), "fenchel::cuda::attention: alpha must be at least 1, got 0.5");
  x.alpha = kInfinity;
  EXPECT_EQ(message(x), "fenchel::cuda::attention: alpha must be finite on a GPU, got inf");
  x.alpha = 1.5;
  x.dropout = 0.1;
  x.seed = reinterpret_cast<const std::int64_t*>(numbers);
  EXPECT_EQ(message(x), "fenchel::cuda::attention: dropout must be 0 on a GPU, got 0.1");
  x.dropout = 0;
  x.query.cols = x.key.cols = 12;
  EXPECT_EQ(message(x), "fenchel::cuda::attention: query.cols must be a multiple of 8 up to 128, got 12");
}

}  // namespace
}  // namespace fenchel
