#pragma once

/// `cached_attention`, of the last tokens of sequences to keys and values in the pages of a cache.

#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "fenchel/backend/dot_product_views.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/rows.hpp"

namespace fenchel::cpu {

/// Attention of backend/dot_product_views.hpp for decoding: few queries, those of the last tokens of
/// sequences, and many keys. A page is a matrix of keys, and one of values, for each head; token j of
/// sequence b is row j % R of the page pages[b][j / R], for pages of R rows. One page a sequence is a cache
/// without pages. Sequences may share pages.
template <class T>
struct CachedDotProducts {
  Matrices<const T> query;       ///< of the last n tokens of each sequence
  Matrices<const T> key, value;  ///< the batch is that of the pages; whole rows lie between their first rows
  Rows<const std::int32_t> pages;
  std::span<const std::int64_t> lengths;  ///< how many tokens a sequence has, with the last n
  PerRow alpha, scale;                    ///< one, or one for each head of the queries; alpha is at least 1
  /// n x m, where no sequence is longer than m; null where there is none.
  Matrices<const T> bias = {};
  /// A query sees its own token and so many before it, and the first `sinks` tokens of its sequence.
  index_t window = std::numeric_limits<index_t>::max();
  index_t sinks = 0;
};

/// out = sum_j p_j value_j. A query before the first token of its sequence sees no key, and its output is 0:
/// new tokens of sequences that are not alike in number stand at the end. Memory beside the result is some
/// 2^24 scores, or those of eight queries in the heads that share a head of keys, where these are more.
///
/// A NaN in a query, or in any key that it sees, makes its output NaN. Results do not depend on the number of
/// threads, nor on the pages. Throws std::invalid_argument for shapes, lengths and pages that do not fit or a
/// null view, std::domain_error for alpha below 1 and a scale that is not finite.
template <class Real>
FENCHEL_EXPORT void cached_attention(const CachedDotProducts<Real>& x,
                                     Matrices<std::type_identity_t<Real>> out);

}  // namespace fenchel::cpu
