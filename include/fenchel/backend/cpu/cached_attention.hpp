#pragma once

/// `cached_attention`, of the last tokens of sequences to keys and values in the pages of a cache.

#include <type_traits>

#include "fenchel/backend/dot_product_views.hpp"
#include "fenchel/core/config.hpp"

namespace fenchel::cpu {

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
