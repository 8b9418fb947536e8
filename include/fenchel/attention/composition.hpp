#pragma once

/// `compose`: from scores and observations to a discrete, a continuous or a summed context, with gradients.

#include <Eigen/Core>
#include <concepts>
#include <optional>

#include "fenchel/attention/ridge_regression.hpp"
#include "fenchel/backend/cpu/attention.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/regularizer/tsallis.hpp"

/// The three ways of [SCD22, Section 9.1] from scores over the L positions of a regression and observations
/// H, M x L, to a context. The weights w are the prediction for the scores on the finite set of positions.
namespace fenchel {

enum class AttentionKind {
  discrete,    ///< H w
  continuous,  ///< B E_p[psi], B = H G the ridge regression, p = match_weights(alpha, w)
  both,        ///< their sum
};

struct Composition {
  AttentionKind kind = AttentionKind::both;
  Tsallis weights{1};                ///< of the weights: Tsallis(1) is softmax
  double alpha = 2;                  ///< of the density
  std::optional<double> floor = {};  ///< of its variance, as in backend/cpu/match_weights.hpp
};

/// What a loss of the context says about all that it is made of; 0 for what does not take part.
struct CompositionGradient {
  Eigen::VectorXd scores;
  Eigen::MatrixXd observations;
  double weights_alpha, alpha, ridge;
};

namespace detail {

/// A basis that kernels know. (FunctionBasis has other functions().)
template <class Psi>
concept HasGaussianFunctions = requires(const Psi& psi) {
  { psi.functions() } -> std::same_as<cpu::GaussianFunctions>;
};

/// A regression on Gaussian functions.
struct GaussianRegression {
  const Eigen::MatrixXd& positions;
  cpu::GaussianFunctions functions;
  const RidgeSystem& system;
};
[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd compose(const Composition& composition,
                                                     const GaussianRegression& ridge,
                                                     const Eigen::VectorXd& scores,
                                                     const Eigen::MatrixXd& observations);
[[nodiscard]] FENCHEL_EXPORT CompositionGradient compose_vjp(const Composition& composition,
                                                             const GaussianRegression& ridge,
                                                             const Eigen::VectorXd& scores,
                                                             const Eigen::MatrixXd& observations,
                                                             const Eigen::VectorXd& cotangent);

}  // namespace detail

/// The context, M numbers. A score of -inf masks its position. Throws std::invalid_argument unless there is a
/// score and a column of observations for each position, std::domain_error for scores as VectorScore does and
/// otherwise as match_weights.
template <detail::HasGaussianFunctions Psi>
[[nodiscard]] Eigen::VectorXd compose(const Composition& composition, const RidgeRegression<Psi>& ridge,
                                      const Eigen::VectorXd& scores, const Eigen::MatrixXd& observations) {
  return detail::compose(composition, {ridge.positions(), ridge.basis().functions(), ridge.system()}, scores,
                         observations);
}

/// The gradient of <cotangent, context>.
template <detail::HasGaussianFunctions Psi>
[[nodiscard]] CompositionGradient compose_vjp(const Composition& composition,
                                              const RidgeRegression<Psi>& ridge,
                                              const Eigen::VectorXd& scores,
                                              const Eigen::MatrixXd& observations,
                                              const Eigen::VectorXd& cotangent) {
  return detail::compose_vjp(composition, {ridge.positions(), ridge.basis().functions(), ridge.system()},
                             scores, observations, cotangent);
}

}  // namespace fenchel
