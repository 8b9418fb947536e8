#pragma once

/// Targets and outputs of the losses over rows, in the memory of the CPU or of a GPU.

#include <span>

#include "fenchel/core/index.hpp"

/// What losses over the rows of a batch read and write, over the rows of a back end. View<T> is Rows<T> for
/// the memory of the CPU, and cuda::DeviceRows<T> for that of a GPU.
namespace fenchel {

/// A class for each row, in [0, cols), or `ignored`.
struct ClassTargets {
  std::span<const index_t> classes = {};
  index_t ignored = -100;
};

/// A distribution for each row: not negative, and of sum one to kTargetSumTolerance. Where `ignore` is given,
/// a row whose entry is not 0 is ignored.
template <template <class> class View, class Real>
struct SoftTargetViews {
  View<const Real> rows;
  std::span<const unsigned char> ignore = {};
};

inline constexpr double kTargetSumTolerance = 1e-4;

/// The outputs; those left empty are not computed. An ignored row has 0 in all of them.
template <template <class> class View, class Real>
struct LossOutputViews {
  std::span<Real> loss = {};     ///< one for each row
  View<Real> residual = {};      ///< p - q, the gradient in the scores; on the CPU it may be the scores
  std::span<double> slope = {};  ///< the derivative of each row's loss in the alpha or gamma of that row
};

/// A direction, and the Hessian of each row's loss in scores and alpha times it. With J and D of
/// cpu/entmax_derivatives.hpp and Omega'' the second derivative in alpha (cross_omega has no Omega''(q)),
///   product = J (d - D a),   alpha_product = (Omega''(q) - Omega''(p)) a - <D, product>.
template <template <class> class View, class Real>
struct LossCurvatureViews {
  View<const Real> direction;                    ///< d
  std::span<const double> alpha_direction = {};  ///< a; empty where alpha stands still
  View<Real> product;                            ///< may be the direction
  std::span<double> alpha_product = {};          ///< computed if asked for
};

}  // namespace fenchel
