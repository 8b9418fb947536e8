#include "fenchel/backend/cuda/cached_attention.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "backend/cuda/dot_product/cached_pages.cuh"
#include "backend/cuda/dot_product/cached_scores.cuh"
#include "backend/cuda/dot_product/cached_thresholds.cuh"
#include "backend/cuda/dot_product/cached_values.cuh"
#include "backend/cuda/dot_product/pieces.hpp"
#include "backend/cuda/launch.cuh"
#include "backend/dot_product/cached_checks.hpp"

namespace fenchel::cuda {
namespace {

constexpr index_t kFewColumns = 64, kManyColumns = 128;
constexpr index_t kPagesOfLength = sizeof(std::int64_t) / sizeof(std::int32_t);

[[nodiscard]] index_t ceil_divided(index_t x, index_t by) { return (x + by - 1) / by; }

[[nodiscard]] index_t padded_columns(index_t cols) {
  return cols <= kFewColumns ? kFewColumns : cols <= kManyColumns ? kManyColumns : kCachedColumns;
}

/// body(std::integral_constant<int, padded_columns(cols)>()).
template <class Body>
void with_columns(index_t cols, const Body& body) {
  if (cols <= kFewColumns) return body(std::integral_constant<int, kFewColumns>());
  if (cols <= kManyColumns) return body(std::integral_constant<int, kManyColumns>());
  return body(std::integral_constant<int, kCachedColumns>());
}

/// Of all sequences, for each head of keys.
template <class T>
[[nodiscard]] index_t page_count(const CachedDotProducts<T>& x) {
  return x.query.batch * x.key.heads * x.pages.cols;
}

/// In memory of so many bytes, or without memory, to ask how many.
template <class T>
[[nodiscard]] device::CachedProblem<T> problem_in(std::byte* memory, std::size_t& bytes,
                                                  const CachedDotProducts<T>& x) {
  const auto longest = std::max_element(x.lengths.begin(), x.lengths.end());
  device::CachedProblem<T> p{x};
  if (longest != x.lengths.end()) p.longest = *longest;
  if (x.key.heads > 0) p.group_heads = static_cast<int>(x.query.heads / x.key.heads);
  p.sharing = p.group_heads * static_cast<int>(x.query.rows);
  bytes = 0;
  const auto take = [&]<class Number>(Number*& pointer, index_t count) {
    pointer = memory == nullptr ? nullptr : reinterpret_cast<Number*>(memory + bytes);
    bytes += (static_cast<std::size_t>(count) * sizeof(Number) + 255) / 256 * 256;
  };
  take(p.scores, p.row_count() * p.columns());
  take(p.largest, p.row_count() * p.groups());
  take(p.sums, p.row_count() * p.chunks() * padded_columns(x.value.cols));
  take(p.masses, p.row_count() * p.chunks());
  take(p.rows, p.row_count());
  if (x.bounds.data != nullptr && x.bias.data == nullptr) {
    take(p.page_bounds, p.row_count() * x.pages.cols);
    take(p.page_states, page_count(x));
  }
  // The table: lengths, and pages behind them.
  take(p.lengths, x.query.batch + ceil_divided(x.query.batch * x.pages.cols, kPagesOfLength));
  p.pages = reinterpret_cast<const std::int32_t*>(p.lengths + x.query.batch);
  return p;
}

template <class T>
void check(std::string_view where, const CachedDotProducts<T>& x, const Matrices<T>& out) {
  detail::check_cached_products(where, x, detail::NumbersOn::kGpu);
  detail::check_output(where, "out", x, out);
  if (!x.alpha.per_row() && std::isinf(x.alpha[0])) {
    throw_domain_error(where, "alpha", "must be finite on a GPU", x.alpha[0]);
  }
  check_pieces(where, "query", x.query, kCachedColumns);
  check_pieces(where, "key", x.key, kCachedColumns);
  check_pieces(where, "value", x.value, kCachedColumns);
  if (x.bounds.data != nullptr) {
    check_pieces(where, "bounds", x.bounds, kCachedColumns);
    if (x.key.rows % device::kGroupKeys != 0) {
      throw_invalid_argument(where, "key.rows", "must be a multiple of 16 beside bounds", x.key.rows);
    }
  }
  // Tokens are numbers of 32 bits, and what is behind the last block of them is counted, too.
  constexpr index_t kMostTokens = std::numeric_limits<std::int32_t>::max() - device::kChunkKeys;
  const index_t room = x.pages.cols * x.key.rows;
  if (room > kMostTokens) {
    throw_invalid_argument(where, "pages.cols * key.rows", "must be at most " + std::to_string(kMostTokens),
                           room);
  }
}

/// Lengths and pages in one copy. It reads them now, whatever the stream still has to do.
template <class T>
void copy_table(std::string_view where, const device::CachedProblem<T>& p, Stream stream) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  throw_if_failed(where, cudaStreamIsCapturing(stream, &capture));
  if (capture != cudaStreamCaptureStatusNone) {
    throw_invalid_argument(where, "stream",
                           "must not be captured, since a graph would keep pages and lengths", "one that is");
  }
  const CachedDotProducts<T>& x = p.x;
  const index_t batch = x.query.batch, cols = x.pages.cols;
  std::vector<std::int64_t> table(
      static_cast<std::size_t>(batch + ceil_divided(batch * cols, kPagesOfLength)));
  auto* const pages =
      reinterpret_cast<std::int32_t*>(std::copy(x.lengths.begin(), x.lengths.end(), table.data()));
  for (index_t b = 0; b < batch; ++b) std::copy_n(x.pages.row(b), cols, pages + b * cols);
  throw_if_failed(where, cudaMemcpyAsync(const_cast<std::int64_t*>(p.lengths), table.data(),
                                         table.size() * sizeof table[0], cudaMemcpyHostToDevice, stream));
}

template <class T>
void launch_scores(std::string_view where, const device::CachedProblem<T>& p, device::PageState wanted,
                   Stream stream) {
  using namespace device;
  const index_t blocks = p.x.query.batch * p.x.key.heads *
                         ceil_divided(p.sharing, kMostTiles * kTileQueries) *
                         ceil_divided(p.longest, kScoreKeys);
  with_columns(p.x.key.cols, [&](auto columns) {
    constexpr int kD = decltype(columns)::value;
    launch(where, scores_of_cache<T, kD>, grid_of(where, blocks), dim3(kScoreThreads),
           QueryTiles<T, kD>::kBytes, stream, p, wanted);
  });
}

/// The scores of all pages that may have weight.
template <class T>
void launch_scores_of_pages(std::string_view where, const device::CachedProblem<T>& p, Stream stream) {
  using namespace device;
  const dim3 rows = grid_of(where, p.row_count()), threads(kPageThreads);
  const index_t groups = p.x.query.batch * p.x.key.heads * ceil_divided(p.x.pages.cols, kGroupKeys);
  static_assert(static_cast<int>(PageState::kSkipped) == 0);
  throw_if_failed(where,
                  cudaMemsetAsync(p.page_states, 0, static_cast<std::size_t>(page_count(p.x)), stream));
  with_columns(p.x.key.cols, [&](auto columns) {
    launch(where, bounds_of_pages<T, decltype(columns)::value>, grid_of(where, groups), dim3(kWarp), 0,
           stream, p);
  });
  launch(where, choose_first_pages<T>, rows, threads, 0, stream, p);
  launch_scores(where, p, PageState::kFirst, stream);
  launch(where, choose_second_pages<T>, rows, threads, CachedRow<T, kPageThreads>::kSums, stream, p);
  launch_scores(where, p, PageState::kSecond, stream);
}

/// Few groups are for few threads, so that blocks share a multiprocessor.
template <class T>
void launch_thresholds(std::string_view where, const device::CachedProblem<T>& p, Stream stream) {
  constexpr int kFewThreads = 256, kManyThreads = 1024, kMostRoom = 1800;
  const auto with = [&](auto threads) {
    constexpr int kThreads = decltype(threads)::value;
    using Row = device::CachedRow<T, kThreads>;
    const int bytes = std::min(Row::shared(kMostRoom), static_cast<int>(most_shared_memory()));
    launch_behind(where, device::thresholds_of_cache<T, kThreads>, grid_of(where, p.row_count()),
                  dim3(kThreads), static_cast<std::size_t>(bytes), stream, p, Row::room(bytes));
  };
  if (p.groups() <= 4 * kFewThreads) {
    with(std::integral_constant<int, kFewThreads>());
  } else {
    with(std::integral_constant<int, kManyThreads>());
  }
}

template <class T>
void launch_outputs(std::string_view where, const device::CachedProblem<T>& p, const Matrices<T>& out,
                    Stream stream) {
  with_columns(p.x.value.cols, [&](auto columns) {
    constexpr int kE = decltype(columns)::value;
    if (p.chunks() > 0) {
      launch_behind(where, device::sums_of_chunks<T, kE>, grid_of(where, p.row_count() * p.chunks()),
                    dim3(device::kValueThreads), 0, stream, p);
    }
    const index_t slices = ceil_divided(p.x.value.cols, device::kWarp);
    launch_behind(where, device::outputs_of_cache<T, kE>, grid_of(where, p.row_count(), slices),
                  dim3(device::kOutputThreads), 0, stream, p, out);
  });
}

}  // namespace

template <class T>
std::size_t cached_attention_scratch_bytes(const CachedDotProducts<T>& x) {
  std::size_t bytes = 0;
  static_cast<void>(problem_in<T>(nullptr, bytes, x));
  return bytes;
}

template <class T>
void cached_attention(const CachedDotProducts<T>& x, Matrices<std::type_identity_t<T>> out, Stream stream) {
  constexpr std::string_view kWhere = "cuda::cached_attention";
  check(kWhere, x, out);
  const std::size_t needed = cached_attention_scratch_bytes(x);
  if (x.scratch.size() < needed) {
    throw_invalid_argument(kWhere, "scratch.size()", "must be at least " + std::to_string(needed),
                           static_cast<index_t>(x.scratch.size()));
  }
  if (x.query.batch == 0 || x.query.heads == 0 || x.query.rows == 0) return;
  std::size_t bytes = 0;
  const device::CachedProblem<T> p = problem_in(x.scratch.data(), bytes, x);
  copy_table(kWhere, p, stream);
  if (p.longest > 0 && p.skips_pages()) {
    launch_scores_of_pages(kWhere, p, stream);
  } else if (p.longest > 0) {
    launch_scores(kWhere, p, device::PageState::kFirst, stream);
  }
  launch_thresholds(kWhere, p, stream);
  launch_outputs(kWhere, p, out, stream);
}

template void cached_attention(const CachedDotProducts<Half>&, Matrices<Half>, Stream);
template void cached_attention(const CachedDotProducts<BFloat16>&, Matrices<BFloat16>, Stream);
template std::size_t cached_attention_scratch_bytes(const CachedDotProducts<Half>&);
template std::size_t cached_attention_scratch_bytes(const CachedDotProducts<BFloat16>&);

}  // namespace fenchel::cuda
