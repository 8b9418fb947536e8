#pragma once

#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/integers/sparse_integer_gaussian.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/capped_parabola.hpp"
#include "fenchel/distribution/line/capped_triangular.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "fenchel/regularizer/sobolev.hpp"
#include "fenchel/regularizer/total_variation.hpp"
#include "fenchel/regularizer/tsallis.hpp"

/// The families of Python, each a line X(class, NAME, the regularizer that a member p is the prediction of).
/// From these lists follow classes, losses and targets of losses, attention, and the fits that fit_NAME has.
#define FENCHEL_LINE_FAMILIES(X)                                    \
  X(BetaGaussian, beta_gaussian, Tsallis(p.alpha()))                \
  X(BetaLaplace, beta_laplace, Tsallis(p.alpha()))                  \
  X(TruncatedGaussian, truncated_gaussian, Tsallis(2))              \
  X(CappedTriangular, capped_triangular, TotalVariation(p.gamma())) \
  X(CappedParabola, capped_parabola, TotalVariation(p.gamma()))     \
  X(SmoothTriangular, smooth_triangular, Sobolev(p.gamma()))        \
  X(SmoothParabola, smooth_parabola, Sobolev(p.gamma()))

#define FENCHEL_INTEGER_FAMILIES(X)                    \
  X(SparsePoisson, sparse_poisson, Tsallis(p.alpha())) \
  X(SparseIntegerGaussian, sparse_integer_gaussian, Tsallis(p.alpha()))

#define FENCHEL_SPACE_FAMILIES(X) X(MultivariateBetaGaussian, multivariate_beta_gaussian, Tsallis(p.alpha()))
