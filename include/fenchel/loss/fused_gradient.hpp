#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include "fenchel/loss/loss.hpp"
#include "fenchel/score/linear_score.hpp"

namespace fenchel {

/// Derivatives with respect to the gamma of TotalVariation or Sobolev, and to the theta of a LinearScore.
struct GammaGradient {
  double gamma;
};
struct LinearGammaGradient {
  std::vector<double> theta;
  double gamma;
};

namespace detail {

/// A loss of the prediction p and the target q.
template <class Score, class Prediction, class Target>
[[nodiscard]] auto make_gamma_loss(double value, double gamma, const Score& f, const Prediction& p,
                                   const Target& q) {
  if constexpr (std::same_as<Score, LinearScore>) {
    std::vector<double> theta;
    for (const auto& phi : f.phi()) theta.push_back(expectation(p, phi) - expectation(q, phi));
    return Loss<LinearGammaGradient>{value, {std::move(theta), gamma}};
  } else {
    return Loss<GammaGradient>{value, {gamma}};
  }
}

}  // namespace detail

}  // namespace fenchel
