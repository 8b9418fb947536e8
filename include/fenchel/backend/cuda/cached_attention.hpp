#pragma once

/// `cached_attention` on a GPU: of the last tokens of sequences to keys and values in the pages of a cache.

#include <cstddef>
#include <type_traits>

#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/backend/dot_product_views.hpp"
#include "fenchel/core/config.hpp"

/// Attention to a cache (CachedDotProducts of backend/dot_product_views.hpp) on a GPU, for T = Half and
/// BFloat16, with sums in float. query, key and value have up to kCachedColumns columns, a multiple of 8, and
/// their rows begin at multiples of 16 bytes; alpha is finite. A pass over the keys that are seen leaves
/// their scores in the scratch memory; of the values only those of keys with weight are read.
///
/// With bounds of the pages, the last bits of an output may depend on the other queries that share its head
/// of keys: what one of them needs is read for all. Otherwise they do not.
///
/// Pages and lengths of the host are copied to the GPU, so that a call cannot be captured in a graph. A query
/// with a score that is NaN or +inf has an output of NaN. Throws std::invalid_argument for shapes, lengths
/// and pages that do not fit or a null view, std::domain_error for an alpha below 1; an alpha of a head below
/// 1 makes its output NaN.
namespace fenchel::cuda {

inline constexpr index_t kCachedColumns = 256;

template <class T>
FENCHEL_EXPORT void cached_attention(const CachedDotProducts<T>& x, Matrices<std::type_identity_t<T>> out,
                                     Stream stream);

/// How many bytes of scratch it needs: mainly four for each query and each token of its sequence.
template <class T>
[[nodiscard]] FENCHEL_EXPORT std::size_t cached_attention_scratch_bytes(const CachedDotProducts<T>& x);

}  // namespace fenchel::cuda
