#pragma once

#include "backend/cuda/dot_product/dense_gradients.cuh"
#include "backend/cuda/dot_product/dense_rows.cuh"
#include "backend/cuda/dot_product/launches.hpp"
#include "backend/cuda/dot_product/sparse_gradients.cuh"
#include "backend/cuda/dot_product/sparse_rows.cuh"
#include "backend/cuda/launch.cuh"

/// How the kernels of attention are given to a stream; a source includes it for each type and number of
/// columns.
namespace fenchel::cuda {
namespace {

[[nodiscard]] index_t ceil_divided(index_t x, index_t by) { return (x + by - 1) / by; }

template <class T>
[[nodiscard]] dim3 query_grid(std::string_view where, const DotProducts<T>& x) {
  return grid_of(where, x.query.batch * x.query.heads * ceil_divided(x.query.rows, device::kBlockRows));
}

/// Empty where the current device has no copy engine, and nobody reads it.
template <class T>
[[nodiscard]] TileMap map_of(std::string_view where, const Matrices<const T>& x) {
  return has_clusters() ? tile_map<T>(where, x) : TileMap{};
}

}  // namespace

template <class T, int kCols>
void launch_attention(std::string_view where, const DotProducts<T>& x, const Matrices<T>& out,
                      const AttentionRecord<float>& record, Stream stream) {
  using namespace device;
  constexpr index_t kShortKeys = 65536;  // numbers of 16 bits
  const dim3 grid = query_grid(where, x);
  const SupportRows support{record.support.data};
  const TileMap key_map = map_of<T>(where, x.key), value_map = map_of<T>(where, x.value);
  const std::size_t memory = most_shared_memory();
  const auto sparse = [&]<class Key, bool kLonger>(Key, std::bool_constant<kLonger>) {
    constexpr std::size_t kShared = SparseRows<T, kCols, Key, kLonger>::kShared;
    if (kShared <= memory) {
      launch(where, attention_of_sparse_rows<T, kCols, kCols, Key, kLonger>, grid, dim3(kThreads), kShared,
             stream, x, key_map, out, record.normalizers, support);
    } else if (!kLonger) {  // no lists at all: counts of -1
      static_assert(kNoList == -1);
      throw_if_failed(where, cudaMemsetAsync(support.data, 0xff,
                                             static_cast<std::size_t>(record.support.rows) *
                                                 SupportRows::kStride * sizeof(std::int32_t),
                                             stream));
    }
  };
  const auto both = [&](auto key) {
    sparse(key, std::false_type());
    sparse(key, std::true_type());
  };
  if (x.key.rows <= kShortKeys) {
    both(std::uint16_t());
  } else {
    both(std::uint32_t());
  }
  launch(where, attention_of_dense_rows<T, kCols, kCols>, grid, dim3(kThreads),
         DenseRows<T, kCols, kCols>::kShared, stream, x, key_map, value_map, out, record.normalizers,
         support);
}

template <class T, int kCols>
void launch_attention_vjp(std::string_view where, const DotProducts<T>& x,
                          const AttentionRecord<float>& record, const Matrices<const T>& cotangent,
                          const DotProductGradients<T, float>& gradient, Stream stream) {
  using namespace device;
  const index_t heads = x.key.batch * x.key.heads, rows = x.query.rows * (x.query.heads / x.key.heads);
  std::size_t bytes = 0;
  const Transposed lists =
      Transposed::in(record.scratch.data(), bytes, heads, x.key.rows, rows, kCols, kCols);
  const SupportRows support{record.support.data};
  const dim3 threads(kThreads);
  const bool for_keys = gradient.key.data != nullptr || gradient.value.data != nullptr;
  if (for_keys) sort_by_keys(where, support, lists, stream);
  launch(where, gradients_in_sparse_queries<T, kCols, kCols>,
         grid_of(where, ceil_divided(heads * rows, kThreads / kGroup)), threads, 0, stream, x,
         record.normalizers, support, cotangent, gradient, lists, for_keys);
  const bool slopes = gradient.alpha.data != nullptr || gradient.scale.data != nullptr;
  launch(where,
         slopes ? gradients_in_dense_queries<T, kCols, kCols, true>
                : gradients_in_dense_queries<T, kCols, kCols, false>,
         query_grid(where, x), threads, DenseGradients<T, kCols, kCols>::kQueriesShared, stream, x,
         map_of<T>(where, x.key), map_of<T>(where, x.value), record.normalizers, support, cotangent, gradient,
         lists.means);
  if (!for_keys) return;
  launch(where, gradients_of_dense_queries_in_keys<T, kCols, kCols>,
         grid_of(where, heads * lists.key_blocks()), threads, DenseGradients<T, kCols, kCols>::kKeysShared,
         stream, x, record.normalizers, support, cotangent, lists);
  launch(where, gradients_in_keys<T, kCols, kCols>,
         grid_of(where, ceil_divided(heads * x.key.rows, kThreads / kGroup)), threads, 0, stream, x,
         cotangent, gradient, lists);
}

}  // namespace fenchel::cuda
