#pragma once

/// `attention`, of queries to keys with entmax for weights, in blocks of queries, and its gradients.

#include <type_traits>

#include "fenchel/backend/dot_product_views.hpp"
#include "fenchel/core/config.hpp"

/// Attention of backend/dot_product_views.hpp in float and double, for every alpha >= 1 and infinity. Memory
/// beside the results is, for each thread, a copy of one head of keys and values and some dozens of rows of
/// scores, never a matrix of them; and where there are less than 16 heads of keys, up to 15 of their
/// gradients.
///
/// A NaN in a query, or in any key that it may see, makes its output NaN. Results do not depend on the number
/// of threads. Throw std::invalid_argument for shapes that do not fit, a null view, and ranges that are not
/// those of KeyRange, std::domain_error for alpha below 1, a scale that is not finite, and a dropout outside
/// of [0, 1).
namespace fenchel::cpu {

/// out = sum_j p_j value_j, and what the backward pass needs.
template <class Real>
FENCHEL_EXPORT void attention(const DotProducts<Real>& x, Matrices<std::type_identity_t<Real>> out,
                              const AttentionRecord<std::type_identity_t<Real>>& record);

/// The gradients of <cotangent, out>, given what `attention` has recorded.
template <class Real>
FENCHEL_EXPORT void attention_vjp(
    const DotProducts<Real>& x, const AttentionRecord<std::type_identity_t<Real>>& record,
    Matrices<const std::type_identity_t<Real>> cotangent,
    const DotProductGradients<std::type_identity_t<Real>, std::type_identity_t<Real>>& gradient);

}  // namespace fenchel::cpu
