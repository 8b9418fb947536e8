#pragma once

/// What the losses of `TotalVariation` and `Sobolev` return.

#include <concepts>
#include <utility>
#include <vector>

#include "fenchel/loss/loss.hpp"
#include "fenchel/score/parametric_score.hpp"

/// What the losses of TotalVariation and Sobolev return, besides the gradients of
/// distribution/gamma_gradient.hpp.
namespace fenchel {

/// A loss on a finite set and its derivatives.
struct GammaLossAndGradient {
  double value;
  std::vector<double> gradient;  ///< with respect to the scores: predicted less target probability
  double gamma;                  ///< the derivative with respect to the regularizer's gamma
};

/// Derivatives with respect to the gamma of TotalVariation or Sobolev, and to theta of a LinearScore or
/// ParametricScore.
struct GammaGradient {
  double gamma;
};
struct LinearGammaGradient {
  std::vector<double> theta;
  double gamma;
};

namespace detail {

/// Of the peak, asked of the prediction for a free score: values and gradients are then right to 1e-9.
inline constexpr double kLossAccuracy = 1e-10;

/// A loss of the prediction p and the target q.
template <class Score, class Prediction, class Target>
[[nodiscard]] auto make_gamma_loss(double value, double gamma, const Score& f, const Prediction& p,
                                   const Target& q) {
  if constexpr (DifferentiableScore<Score>) {
    std::vector<double> theta;
    for (const auto& slope : f.gradient()) theta.push_back(expectation(p, slope) - expectation(q, slope));
    return Loss<LinearGammaGradient>{value, {std::move(theta), gamma}};
  } else {
    return Loss<GammaGradient>{value, {gamma}};
  }
}

/// The Fenchel-Young loss from the cross-Omega loss, `penalty` being what gamma multiplies in Omega(q).
template <class Gradient, class Omega, class Target>
[[nodiscard]] Loss<Gradient> add_omega(Loss<Gradient> cross_omega, const Omega& omega, double penalty,
                                       const Target& q) {
  const double gamma = omega.gamma(), temperature = omega.temperature();
  Loss<Gradient> loss = std::move(cross_omega);
  loss.value += temperature * ((gamma == 0 ? 0 : gamma * penalty) - tsallis_entropy(q, 2));
  if (loss.value < 0) loss.value = 0;
  loss.gradient.gamma += temperature * penalty;
  return loss;
}

}  // namespace detail

}  // namespace fenchel
