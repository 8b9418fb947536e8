#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "backend/cpu/dot_product/products.hpp"
#include "backend/cpu/entmax/row.hpp"
#include "backend/dot_product/cached_checks.hpp"
#include "core/scratch.hpp"
#include "fenchel/backend/cpu/cached_attention.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

constexpr index_t kQueries = 8;             // of a bundle: they read the same keys
constexpr index_t kChunk = 256;             // keys that are multiplied together, while they are in the cache
constexpr index_t kScores = 1 << 24;        // are in memory at the same time
constexpr index_t kNumbersANanosecond = 4;  // that a product or a sum reads, about

/// The tokens that a query sees: `sinks` first ones, and an interval that follows them.
struct Sight {
  index_t sinks, first, last;

  [[nodiscard]] index_t count() const noexcept { return sinks + last - first; }
  /// The token of a score.
  [[nodiscard]] index_t token(index_t column) const noexcept {
    return column < sinks ? column : first + column - sinks;
  }
};

/// Consecutive queries of the heads that share a head of keys.
struct Bundle {
  index_t b, g, first, count;
};

/// A row of scores.
struct Query {
  index_t h, i;
};

/// Where the tokens of a sequence stand in the table of all rows of a head, from some token on.
class Places {
 public:
  Places(const std::int32_t* pages, index_t page_rows, index_t page_distance, index_t token) noexcept
      : pages_(pages), page_rows_(page_rows), page_distance_(page_distance) {
    turn_to(token / page_rows);
  }

  /// Tokens must not decrease.
  index_t operator()(index_t token) noexcept {
    if (token >= begin_ + page_rows_) turn_to(token / page_rows_);
    return origin_ + token - begin_;
  }

 private:
  void turn_to(index_t page) noexcept {
    begin_ = page * page_rows_;
    origin_ = pages_[page] * page_distance_;
  }

  const std::int32_t* pages_;
  index_t page_rows_, page_distance_, begin_ = 0, origin_ = 0;
};

template <class Real>
class Call {
 public:
  Call(const CachedDotProducts<Real>& x, const Matrices<Real>& out) : x_(x), out_(out) {
    longest_ = *std::max_element(x.lengths.begin(), x.lengths.end());
    stride_ = detail::padded(longest_);
    chunks_ = (longest_ + kChunk - 1) / kChunk;
    group_ = x.query.heads / x.key.heads;
    blocks_ = (x.query.rows + kQueries - 1) / kQueries;
    rows_ = group_ * std::min(kQueries, x.query.rows);
  }

  /// Scores of some bundles, then their outputs, then those of the next ones.
  void run() {
    const index_t bundles = x_.query.batch * x_.key.heads * blocks_;
    const index_t together = std::clamp<index_t>(kScores / (rows_ * stride_), 1, bundles);
    scores_ = std::make_unique_for_overwrite<Real[]>(static_cast<std::size_t>(together * rows_ * stride_));
    const index_t outputs = together * rows_;
    const int workers = workers_for(outputs, longest_);
    const detail::Scratch memory(workers, scratch_bytes());
    for (begin_ = 0; begin_ < bundles; begin_ += together) {
      const index_t count = std::min(together, bundles - begin_);
      const index_t products = rows_ * kChunk * x_.key.cols / kNumbersANanosecond;
      parallel_rows(count * chunks_, workers_for(count * chunks_, products),
                    [&](index_t begin, index_t end, int) noexcept {
                      for (index_t u = begin; u < end; ++u) multiply(u / chunks_, u % chunks_);
                    });
      parallel_rows(count * rows_, workers, [&](index_t begin, index_t end, int worker) noexcept {
        auto part = memory.of(worker);
        Row row(part, longest_);
        for (index_t u = begin; u < end; ++u) write(u / rows_, u % rows_, row);
      });
    }
  }

 private:
  /// The memory of a worker for one row.
  struct Row {
    Row(detail::WorkerScratch& memory, index_t n) noexcept
        : entmax(detail::take_entmax_scratch<Real>(memory, n)),
          p(memory.take<Real>(detail::padded(n))),
          weights(memory.take<Real>(detail::padded(n))),
          places(memory.take<index_t>(detail::padded(n))) {}

    detail::EntmaxScratch<Real> entmax;
    Real *p, *weights;
    index_t* places;
  };

  [[nodiscard]] std::size_t scratch_bytes() const noexcept {
    const index_t size = detail::padded(longest_);
    return detail::entmax_scratch_bytes<Real>(longest_) + 2 * detail::scratch_bytes<Real>(size) +
           detail::scratch_bytes<index_t>(size);
  }

  [[nodiscard]] Bundle bundle(index_t u) const noexcept {
    const index_t block = u % blocks_, head = u / blocks_, first = block * kQueries;
    return {head / x_.key.heads, head % x_.key.heads, first, std::min(kQueries, x_.query.rows - first)};
  }
  [[nodiscard]] Query query(const Bundle& of, index_t row) const noexcept {
    return {of.g * group_ + row / of.count, of.first + row % of.count};
  }
  [[nodiscard]] Real* scores(index_t slot, index_t row) const noexcept {
    return scores_.get() + (slot * rows_ + row) * stride_;
  }

  [[nodiscard]] Sight sight(index_t b, index_t i) const noexcept {
    const index_t place = x_.lengths[static_cast<std::size_t>(b)] - x_.query.rows + i;
    if (place < 0) return {0, 0, 0};
    const index_t first = place > x_.window ? place - x_.window : 0;
    return {std::min(x_.sinks, first), first, place + 1};
  }

  /// The table of all rows of a head, and where the tokens of a sequence stand in it.
  [[nodiscard]] static detail::Table<const Real> table(const Matrices<const Real>& of, index_t g) noexcept {
    return {of.row(0, g, 0), of.row_stride};
  }
  [[nodiscard]] Places places(const Matrices<const Real>& of, index_t b, index_t token) const noexcept {
    return {x_.pages.row(b), of.rows, of.batch_stride / std::max<index_t>(of.row_stride, 1), token};
  }

  /// The scores of a bundle for a chunk of tokens.
  void multiply(index_t slot, index_t chunk) const noexcept {
    const Bundle own = bundle(begin_ + slot);
    const index_t begin = chunk * kChunk;
    const index_t end = std::min(begin + kChunk, x_.lengths[static_cast<std::size_t>(own.b)]);
    if (begin >= end) return;
    std::array<index_t, kChunk> keys;
    Places place = places(x_.key, own.b, begin);
    for (index_t j = begin; j < end; ++j) keys[static_cast<std::size_t>(j - begin)] = place(j);
    for (index_t row = 0; row < group_ * own.count; ++row) {
      const Query at = query(own, row);
      const Sight seen = sight(own.b, at.i);
      const auto add = [&](index_t first, index_t last, index_t token, index_t column) {
        first = std::max(first, begin), last = std::min(last, end);
        if (first >= last) return;
        Real* z = scores(slot, row) + column + first - token;
        detail::dots(detail::Selection<Real>{last - first, keys.data() + first - begin, nullptr},
                     table(x_.key, own.g), x_.key.cols, x_.query.row(own.b, at.h, at.i), z);
        finish(own.b, at, first, last - first, z);
      };
      add(0, seen.sinks, 0, 0);
      add(seen.first, seen.last, seen.first, seen.sinks);
    }
  }

  void finish(index_t b, Query of, index_t token, index_t count, Real* z) const noexcept {
    const Real scale = static_cast<Real>(x_.scale[of.h]);
    for (index_t j = 0; j < count; ++j) z[j] *= scale;
    if (x_.bias.data == nullptr) return;
    const Real* bias = x_.bias.row(b, of.h, of.i) + token * x_.bias.step;
    for (index_t j = 0; j < count; ++j) {
      const Real own = bias[j * x_.bias.step];
      z[j] = own == kNone ? kNone : z[j] + own;
    }
  }

  void write(index_t slot, index_t row, Row& memory) const noexcept {
    const Bundle own = bundle(begin_ + slot);
    if (row >= group_ * own.count) return;
    const auto [h, i] = query(own, row);
    const Sight seen = sight(own.b, i);
    const Real* z = scores(slot, row);
    const index_t n = seen.count();
    Real* to = out_.row(own.b, h, i);
    if (std::all_of(z, z + n, [](Real score) { return score == kNone; })) {
      std::fill_n(to, out_.cols, Real(0));
      return;
    }
    if (std::isnan(detail::entmax_row(z, n, x_.alpha[h], memory.entmax, memory.p).top)) {
      std::fill_n(to, out_.cols, std::numeric_limits<Real>::quiet_NaN());
      return;
    }
    const index_t count = detail::select_above(memory.p, n, Real(0), memory.places, memory.weights);
    Places place = places(x_.value, own.b, seen.token(memory.places[0]));
    for (index_t k = 0; k < count; ++k) memory.places[k] = place(seen.token(memory.places[k]));
    detail::weighted_sum(detail::Selection<Real>{count, memory.places, memory.weights},
                         table(x_.value, own.g), out_.cols, to);
  }

  static constexpr Real kNone = -Real(kInfinity);

  const CachedDotProducts<Real>& x_;
  const Matrices<Real>& out_;
  index_t longest_, stride_, chunks_, group_, blocks_, rows_, begin_ = 0;
  std::unique_ptr<Real[]> scores_;
};

/// Rows of all pages are places of one table.
template <class T>
void check_pages_are_rows(std::string_view where, std::string_view name, const Matrices<T>& view) {
  if (view.batch < 2 || (view.row_stride > 0 && view.batch_stride % view.row_stride == 0)) return;
  throw_invalid_argument(where, std::string(name) + ".batch_stride",
                         "must be a multiple of row_stride, " + std::to_string(view.row_stride),
                         view.batch_stride);
}

}  // namespace

template <class Real>
void cached_attention(const CachedDotProducts<Real>& x, Matrices<std::type_identity_t<Real>> out) {
  constexpr auto kWhere = "cached_attention";
  detail::check_cached_products(kWhere, x, detail::NumbersOn::kCpu);
  check_pages_are_rows(kWhere, "key", x.key);
  check_pages_are_rows(kWhere, "value", x.value);
  detail::check_output(kWhere, "out", x, out);
  if (x.query.batch == 0 || x.query.heads == 0 || x.query.rows == 0) return;
  Call<Real>(x, out).run();
}

template void cached_attention(const CachedDotProducts<float>&, Matrices<float>);
template void cached_attention(const CachedDotProducts<double>&, Matrices<double>);

}  // namespace fenchel::cpu
