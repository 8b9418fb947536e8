#pragma once

/// `attend` and `key_value_attention` over a finite set of positions, with gradients.

#include <Eigen/Core>
#include <span>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/sparse_categorical.hpp"
#include "fenchel/regularizer/tsallis.hpp"

/// Attention over a finite set, where E_p[psi] is a sum and p = predict(Tsallis(alpha), scores, Finite())
/// [SCD22, Section 8]: softmax attention at alpha = 1, sparsemax at 2, and any alpha > 0.
namespace fenchel {

/// E_p[psi] where column i of `psi`, N x L, is psi at atom i. Throws std::invalid_argument unless there is a
/// column for each atom.
[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd attend(const SparseCategorical& p, const Eigen::MatrixXd& psi);

/// What may be looked at, n queries x L keys, as numbers to add to scores: 0, or -inf where it may not.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd additive_mask(
    const Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic>& allowed);
/// Query i may look at the first lengths[i] of `keys` keys. Throws std::invalid_argument unless they are in
/// [1, keys].
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd additive_mask(std::span<const index_t> lengths, index_t keys);

/// What queries see.
struct KeyValueAttention {
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> probabilities;  ///< n x L
  Eigen::MatrixXd contexts;                                                              ///< n x M
};

/// Row i is the mean of `values`, L x M, under the prediction for the scores <query i, key l> + mask(i, l),
/// queries n x d, keys L x d, mask n x L or empty; Tsallis(alpha, sqrt(d)) divides scores by sqrt(d). A query
/// without a key, or with a score of NaN or +inf, has no distribution: its row is NaN, others are untouched.
/// Throws std::invalid_argument for shapes that do not fit.
[[nodiscard]] FENCHEL_EXPORT KeyValueAttention key_value_attention(const Tsallis& omega,
                                                                   const Eigen::MatrixXd& queries,
                                                                   const Eigen::MatrixXd& keys,
                                                                   const Eigen::MatrixXd& values,
                                                                   const Eigen::MatrixXd& mask = {});

struct KeyValueGradient {
  Eigen::MatrixXd queries, keys, values;
  double alpha;
};
/// From the gradient in the contexts, n x M, and what key_value_attention gave. A query whose cotangent is 0
/// counts for nothing, even where it is NaN.
[[nodiscard]] FENCHEL_EXPORT KeyValueGradient key_value_attention_vjp(
    const Tsallis& omega, const Eigen::MatrixXd& queries, const Eigen::MatrixXd& keys,
    const Eigen::MatrixXd& values, const KeyValueAttention& attention, const Eigen::MatrixXd& cotangent);

}  // namespace fenchel
