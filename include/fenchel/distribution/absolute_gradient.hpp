#pragma once

/// `AbsoluteGradient`: derivatives in mu, b and alpha.

namespace fenchel {

/// Derivatives with respect to the mu and b of an AbsoluteScore, and to the regularizer's alpha.
struct AbsoluteGradient {
  double mu, b;
  double alpha;  ///< of a loss: at fixed f and q; NaN where the loss is infinite
};

}  // namespace fenchel
