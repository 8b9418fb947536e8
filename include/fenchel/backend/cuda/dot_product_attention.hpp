#pragma once

/// `attention` of queries to keys on a GPU, without a matrix of scores, and its gradients.

#include <cstddef>
#include <type_traits>

#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/backend/dot_product_views.hpp"
#include "fenchel/core/config.hpp"

/// Attention of backend/dot_product_views.hpp on a GPU, for T = Half and BFloat16, with sums in float. query,
/// key and value have up to kAttentionColumns columns, a multiple of 8, their rows begin at multiples of 16
/// bytes, and there is at least one key, no dropout, and a finite alpha.
///
/// The keys that a query gives weight to are kept in the record, which has room for kAttentionSupport of them
/// for each query; neighbouring queries share it. Queries of blocks where one has more than 128, or some have
/// no room, are solved by passes over all scores, to the same accuracy, and have no list. A query with a
/// score that is NaN or +inf has an output and a gradient of NaN. Throw std::invalid_argument for shapes that
/// do not fit or a null view, std::domain_error for an alpha below 1; an alpha of a head below 1 makes its
/// output NaN.
namespace fenchel::cuda {

inline constexpr index_t kAttentionSupport = 64, kAttentionColumns = 128;
/// Columns of the support of a record.
inline constexpr index_t kAttentionSupportColumns = 2 + 2 * kAttentionSupport;

template <class T>
FENCHEL_EXPORT void attention(const DotProducts<T>& x, Matrices<std::type_identity_t<T>> out,
                              const AttentionRecord<Computed<T>>& record, Stream stream);

/// How many bytes of scratch the record needs for the gradients.
template <class T>
[[nodiscard]] FENCHEL_EXPORT std::size_t attention_scratch_bytes(const DotProducts<T>& x);

template <class T>
FENCHEL_EXPORT void attention_vjp(const DotProducts<T>& x, const AttentionRecord<Computed<T>>& record,
                                  Matrices<const std::type_identity_t<T>> cotangent,
                                  const DotProductGradients<std::type_identity_t<T>, Computed<T>>& gradient,
                                  Stream stream);

}  // namespace fenchel::cuda
