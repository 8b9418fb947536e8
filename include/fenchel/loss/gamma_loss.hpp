#pragma once

#include <vector>

namespace fenchel {

/// A loss on a finite set and its derivatives.
struct GammaLossAndGradient {
  double value;
  std::vector<double> gradient;  ///< with respect to the scores: predicted less target probability
  double gamma;                  ///< the derivative with respect to the regularizer's gamma
};

}  // namespace fenchel
