#pragma once

/// `probability_loss`: the Fenchel-Young losses of probabilities that anything predicted.

#include <span>

#include "fenchel/backend/loss_views.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/rows.hpp"

namespace fenchel {

/// The loss of each row of probabilities p at its class y: the least Fenchel-Young loss of all scores that
/// predict p with Tsallis(alpha) [SCD22, Section 4.2; docs/math.md 2.11],
///   (1 - alpha p_y^{alpha - 1} + (alpha - 1) sum_k p_k^alpha) / (alpha (alpha - 1)),
/// -log p_y at alpha = 1 and half of Brier's score at 2. A proper score: on average it is least for the true
/// probabilities. At most 1 / (alpha - 1) for alpha > 1, while a p_y of 0 costs +infinity for alpha <= 1.
///
/// The rows are divided by their sums. An ignored row has the loss 0. Throws std::domain_error unless alpha
/// is positive and finite, every class is a column, and the probabilities of a row are not negative and add
/// up to one within kTargetSumTolerance; std::invalid_argument for shapes that do not fit.
FENCHEL_EXPORT void probability_loss(Rows<const double> probabilities, const ClassTargets& target,
                                     double alpha, std::span<double> losses);

}  // namespace fenchel
