#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "backend/cuda/checks.hpp"
#include "backend/cuda/dot_product/launches.hpp"
#include "backend/cuda/dot_product/pieces.hpp"
#include "backend/cuda/dot_product/transposed.cuh"
#include "backend/dot_product/checks.hpp"

namespace fenchel::cuda {
namespace {

constexpr int kFewColumns = 64, kManyColumns = kAttentionColumns;

template <class T>
void check_attention(std::string_view where, const DotProducts<T>& x, const AttentionRecord<float>& record) {
  detail::check_dot_products(where, x, detail::NumbersOn::kGpu);
  if (!x.alpha.per_row() && std::isinf(x.alpha[0])) {
    throw_domain_error(where, "alpha", "must be finite on a GPU", x.alpha[0]);
  }
  if (x.dropout != 0) throw_domain_error(where, "dropout", "must be 0 on a GPU", x.dropout);
  if (x.key.rows < 1) throw_invalid_argument(where, "key.rows", "must be at least 1", x.key.rows);
  // Keys, and places in the lists of the queries that look at one head of keys, are numbers of 32 bits.
  constexpr index_t kMostRows = std::numeric_limits<std::int32_t>::max() / kAttentionSupport;
  const auto check_rows = [&](const char* name, index_t rows) {
    if (rows > kMostRows) {
      throw_invalid_argument(where, name, "must be at most " + std::to_string(kMostRows), rows);
    }
  };
  check_rows("key.rows", x.key.rows);
  check_rows("query.rows * query.heads / key.heads", x.query.rows * (x.query.heads / x.key.heads));
  check_pieces(where, "query", x.query, kManyColumns);
  check_pieces(where, "key", x.key, kManyColumns);
  check_pieces(where, "value", x.value, kManyColumns);
  detail::check_query_rows(where, "normalizers", x, record.normalizers, 2);
  detail::check_query_rows(where, "support", x, record.support, kAttentionSupportColumns);
  if (record.support.stride != kAttentionSupportColumns) {
    throw_invalid_argument(where, "support.stride", "must be that of neighbouring rows, 130",
                           record.support.stride);
  }
}

template <class T>
[[nodiscard]] bool has_few_columns(const DotProducts<T>& x) {
  return x.query.cols <= kFewColumns && x.value.cols <= kFewColumns;
}

}  // namespace

template <class T>
void attention(const DotProducts<T>& x, Matrices<std::type_identity_t<T>> out,
               const AttentionRecord<Computed<T>>& record, Stream stream) {
  constexpr std::string_view kWhere = "cuda::attention";
  check_attention(kWhere, x, record);
  detail::check_output(kWhere, "out", x, out);
  check_pieces(kWhere, "out", out, kManyColumns);
  if (detail::has_no_query(x)) return;
  const auto launched =
      has_few_columns(x) ? launch_attention<T, kFewColumns> : launch_attention<T, kManyColumns>;
  launched(kWhere, x, out, record, stream);
}

template <class T>
std::size_t attention_scratch_bytes(const DotProducts<T>& x) {
  const int cols = has_few_columns(x) ? kFewColumns : kManyColumns;
  std::size_t bytes = 0;
  const index_t sharing = x.key.heads > 0 ? x.query.heads / x.key.heads : 0;
  static_cast<void>(device::Transposed::in(nullptr, bytes, x.key.batch * x.key.heads, x.key.rows,
                                           x.query.rows * sharing, cols, cols));
  return bytes;
}

template <class T>
void attention_vjp(const DotProducts<T>& x, const AttentionRecord<Computed<T>>& record,
                   Matrices<const std::type_identity_t<T>> cotangent,
                   const DotProductGradients<std::type_identity_t<T>, Computed<T>>& gradient, Stream stream) {
  constexpr std::string_view kWhere = "cuda::attention_vjp";
  check_attention(kWhere, x, record);
  detail::check_output(kWhere, "cotangent", x, cotangent);
  check_pieces(kWhere, "cotangent", cotangent, kManyColumns);
  const auto check_gradient = [&](const char* name, const Matrices<T>& view, const char* of,
                                  const Matrices<const T>& like) {
    if (view.data == nullptr) return;
    detail::check_as(kWhere, name, view, of, like);
    check_pieces(kWhere, name, view, kManyColumns);
  };
  check_gradient("gradient.query", gradient.query, "query", x.query);
  check_gradient("gradient.key", gradient.key, "key", x.key);
  check_gradient("gradient.value", gradient.value, "value", x.value);
  const auto check_slopes = [&](const char* name, const Rows<float>& view) {
    if (view.data != nullptr) detail::check_query_rows(kWhere, name, x, view, 1);
  };
  check_slopes("gradient.alpha", gradient.alpha);
  check_slopes("gradient.scale", gradient.scale);
  const std::size_t bytes = attention_scratch_bytes(x);
  if (record.scratch.size() < bytes) {
    throw_invalid_argument(kWhere, "scratch.size()", "must be at least " + std::to_string(bytes),
                           static_cast<index_t>(record.scratch.size()));
  }
  if (detail::has_no_query(x)) return;
  const auto launched =
      has_few_columns(x) ? launch_attention_vjp<T, kFewColumns> : launch_attention_vjp<T, kManyColumns>;
  launched(kWhere, x, record, cotangent, gradient, stream);
}

template void attention(const DotProducts<Half>&, Matrices<Half>, const AttentionRecord<float>&, Stream);
template void attention(const DotProducts<BFloat16>&, Matrices<BFloat16>, const AttentionRecord<float>&,
                        Stream);
template std::size_t attention_scratch_bytes(const DotProducts<Half>&);
template std::size_t attention_scratch_bytes(const DotProducts<BFloat16>&);
template void attention_vjp(const DotProducts<Half>&, const AttentionRecord<float>&, Matrices<const Half>,
                            const DotProductGradients<Half, float>&, Stream);
template void attention_vjp(const DotProducts<BFloat16>&, const AttentionRecord<float>&,
                            Matrices<const BFloat16>, const DotProductGradients<BFloat16, float>&, Stream);

}  // namespace fenchel::cuda
