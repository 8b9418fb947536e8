#pragma once

/// Directions, gradients and outputs of entmax over weighted nodes, in the memory of the CPU or of a GPU.

#include <span>

#include "fenchel/core/index.hpp"

/// What the derivatives of entmax over weighted nodes read and write, over the rows of a back end: View<T> is
/// Rows<T> for the memory of the CPU, and cuda::DeviceRows<T> for that of a GPU.
namespace fenchel {

/// A direction of scores, weights and alpha, one for each row; what is left empty stands still.
template <template <class> class View, class Real>
struct NodeDirectionViews {
  View<const Real> scores = {};
  View<const Real> weights = {};
  std::span<const double> alpha = {};
};

/// Numbers for scores, weights and alpha, one for each row; what is left empty is not computed.
template <template <class> class View, class Real>
struct NodeGradientViews {
  View<Real> scores = {};
  View<Real> weights = {};
  std::span<double> alpha = {};
};

/// The loss of each row and its gradient, which in the scores is the residual P - q. An ignored row has 0 in
/// all of them.
template <template <class> class View, class Real>
struct WeightedLossViews {
  std::span<Real> loss = {};
  NodeGradientViews<View, Real> gradient = {};
};

}  // namespace fenchel
