#pragma once

/// What continuous attention over rows reads and writes, in the memory of the CPU or of a GPU.

#include <span>

#include "fenchel/core/index.hpp"
#include "fenchel/core/rows.hpp"

/// What continuous attention reads and writes, over the rows of a back end. View<T> is Rows<T> for the memory
/// of the CPU, and cuda::DeviceRows<T> for that of a GPU.
namespace fenchel {

/// psi_j(t) = N(t; mu_j, Sigma_j) on R^D: N x D, and N x D^2 with a row for each matrix.
template <template <class> class View>
struct GaussianFunctionViews {
  View<const double> mu, Sigma;
};

/// One prediction of Tsallis(alpha) for -(t - mu)^T Sigma^-1 (t - mu) / 2 in each row: mu is B x D, Sigma is
/// B x D^2, and its lower triangle is read. On the line Sigma is the number sigma2.
template <template <class> class View, class Real>
struct DensityViews {
  PerRow alpha;
  View<const Real> mu, Sigma;
};

/// A number for each parameter of each density: a gradient, or with a const Real a direction. An empty
/// direction of alpha means 0, and an empty gradient is not computed. Those of Sigma are symmetric matrices;
/// a gradient is the G of dL = Tr(G dSigma).
template <template <class> class View, class Real>
struct DensityTangentViews {
  std::span<Real> alpha = {};
  View<Real> mu = {}, Sigma = {};
};

/// A number for each parameter of each function, in double as the functions are: a gradient, or with a const
/// Real a direction. A null direction means 0, and a null gradient is not computed. Those of Sigma are
/// symmetric matrices; a gradient is the G of dL = Tr(G dSigma).
template <template <class> class View, class Real>
struct BasisTangentViews {
  View<Real> mu = {}, Sigma = {};
};

/// Where the columns of a row of weights lie. Row i has the first lengths[i] columns. The others are not
/// read, and are not written except for a gradient of 0. No lengths means all columns. Column l lies at row l
/// of `points`, L x D; no points means the line and the centre (l + 1/2) / length of a cell.
template <template <class> class View>
struct WeightPositionViews {
  View<const double> points = {};
  std::span<const index_t> lengths = {};
};

}  // namespace fenchel
