#pragma once

#include <vector>

namespace fenchel {

/// A loss on a finite domain of a regularizer with a gamma.
struct GammaLossAndGradient {
  double value;
  std::vector<double> gradient;  ///< with respect to the scores: predicted less target probabilities
  double gamma;                  ///< the derivative with respect to gamma
};

}  // namespace fenchel
