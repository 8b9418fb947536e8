#pragma once

/// `line_batch`: many members of a family on the line, with their losses and derivatives.

#include <span>
#include <string_view>

#include "fenchel/core/config.hpp"
#include "fenchel/core/rows.hpp"

/// Distributions on the line in bulk, about 0, with derivatives in a shape and a scale [SCD22, Sections 5 and
/// 7; docs/math.md 3, 6.3].
namespace fenchel {

/// The families, with what their shape and scale are.
enum class LineFamily {
  beta_laplace,        ///< alpha, b
  truncated_gaussian,  ///< kappa, sigma2
  capped_triangular,   ///< gamma, b
  capped_parabola,     ///< gamma, sigma2
  smooth_triangular,   ///< gamma, b
  smooth_parabola,     ///< gamma, sigma2
};

/// What is asked of a member, at a number x or of the distribution as a whole.
enum class LineStatistic {
  log_pdf,  ///< -inf off the support, with derivatives 0
  cdf,
  quantile,         ///< of the probability x; NaN outside of [0, 1]
  cross_omega,      ///< the cross-Omega loss of the point x
  half_width,       ///< of the support
  variance,         ///< infinite where it does not exist, with derivatives NaN
  entropy,          ///< Shannon's
  tsallis_entropy,  ///< of the order in the regularizer: alpha, or 2
};

/// By their names above. Throw std::invalid_argument for others.
[[nodiscard]] FENCHEL_EXPORT LineFamily line_family(std::string_view name);
[[nodiscard]] FENCHEL_EXPORT LineStatistic line_statistic(std::string_view name);

/// Members about 0, with a number x each; x is empty for a function of the distribution as a whole.
struct LineBatch {
  std::span<const double> x;
  std::span<const double> shape, scale;
};

/// value[i] is the function of member i. A NaN among x, shape and scale gives NaN. Throws std::domain_error
/// for what is no parameter of the family, std::invalid_argument for sizes that do not fit, and
/// ConvergenceError where the integral of an entropy does not converge.
FENCHEL_EXPORT void line_batch(LineFamily family, LineStatistic statistic, const LineBatch& batch,
                               std::span<double> value);
/// Row i has the derivatives in x, shape and scale. Those in a shape gamma are one-sided at gamma = 0.
FENCHEL_EXPORT void line_batch_gradient(LineFamily family, LineStatistic statistic, const LineBatch& batch,
                                        Rows<double> gradient);

/// The Fenchel-Young losses of the scores of members against targets of the same family, which may have
/// another shape; x are the centres of both. Row i of the gradient has the derivatives in x, shape and scale
/// of the batch.
FENCHEL_EXPORT void line_batch_fenchel_young(LineFamily family, const LineBatch& batch,
                                             const LineBatch& target, std::span<double> value,
                                             Rows<double> gradient);

}  // namespace fenchel
