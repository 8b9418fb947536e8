#pragma once

/// `entmax`, `softmax` and `sparsemax` over the rows of a batch, with normaliser, threshold and support size.

#include <cmath>
#include <type_traits>

#include "fenchel/core/config.hpp"
#include "fenchel/core/rows.hpp"

/// The maps from scores to probabilities over the rows of a batch, in float and double [SCD22, Section 4;
/// docs/math.md 2].
///
/// -inf is a mask: its probability is exactly 0. A row with a NaN, a +inf or no finite score becomes NaN, and
/// the others are not affected. `p` may be `scores` itself. A batch without rows is allowed. Throws
/// std::invalid_argument for shapes that do not fit, no columns, or a null view, std::domain_error for an
/// alpha that is not positive (infinity is allowed).
namespace fenchel::cpu {

/// Rows that are only read; their element type follows from the rows that are written.
template <class Real>
using Input = std::type_identity_t<Rows<const Real>>;

/// By-products for each row, written where the pointer is not null: A and tau of p = exp_{2-alpha}(z - A) =
/// [am1 (z - tau)]_+^{1/am1} (tau is -inf at alpha = 1), and how many probabilities are positive.
struct EntmaxByproducts {
  double* normalizer = nullptr;
  double* threshold = nullptr;
  index_t* support_size = nullptr;
};

/// How far from 1 the probabilities of a row may add up to: what the tests hold every alpha to.
template <class Real>
double row_sum_error(index_t cols) noexcept {
  return sizeof(Real) == 4 ? 2e-6 : 4e-16 * std::sqrt(static_cast<double>(cols)) + 1e-15;
}

/// argmax_p <p, z> - Omega_alpha(p): softmax at alpha = 1, sparsemax at 2, uniform over the maxima at
/// infinity. Every alpha > 0 is allowed, one for all rows or one for each. |sum - 1| <= row_sum_error.
template <class Real>
FENCHEL_EXPORT void entmax(Input<Real> scores, PerRow alpha, Rows<Real> p, EntmaxByproducts byproducts);
template <class Real>
void entmax(Input<Real> scores, PerRow alpha, Rows<Real> p) {
  entmax<Real>(scores, alpha, p, {});
}

/// entmax at alpha = 1.
template <class Real>
FENCHEL_EXPORT void softmax(Input<Real> scores, Rows<Real> p, EntmaxByproducts byproducts = {});

/// entmax at alpha = 2.
template <class Real>
FENCHEL_EXPORT void sparsemax(Input<Real> scores, Rows<Real> p, EntmaxByproducts byproducts = {});

extern template void entmax(Input<float>, PerRow, Rows<float>, EntmaxByproducts);
extern template void entmax(Input<double>, PerRow, Rows<double>, EntmaxByproducts);
extern template void softmax(Input<float>, Rows<float>, EntmaxByproducts);
extern template void softmax(Input<double>, Rows<double>, EntmaxByproducts);
extern template void sparsemax(Input<float>, Rows<float>, EntmaxByproducts);
extern template void sparsemax(Input<double>, Rows<double>, EntmaxByproducts);

}  // namespace fenchel::cpu
