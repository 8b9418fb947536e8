#pragma once

/// Derivatives in the parameters of a score and in the gamma of `TotalVariation` or `Sobolev`.

namespace fenchel {

/// Derivatives with respect to the parameters of an AbsoluteScore, or a QuadraticScore, and to the gamma of
/// the regularizer, TotalVariation or Sobolev.
struct AbsoluteGammaGradient {
  double mu, b, gamma;
};
struct QuadraticGammaGradient {
  double mu, sigma2, gamma;
};

}  // namespace fenchel
