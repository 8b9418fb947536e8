"""Sparse distributions and Fenchel-Young losses.

Start with `fenchel.sparsemax`, `fenchel.BetaGaussian` and `fenchel.attend`. `fenchel.stats` has the distributions as
SciPy's, `fenchel.sklearn` estimators, `fenchel.plot` pictures, `fenchel.torch` operations and modules for PyTorch; each
needs its package, and is imported by its name.
"""

from ._attention import attend, attend_context, attend_context_vjp, attend_jacobian, attend_jvp, attend_vjp
from ._basis import (
    Basis,
    ConcatenatedBasis,
    FourierBasis,
    FunctionBasis,
    GaussianBasis,
    MultivariateGaussianBasis,
    PolynomialBasis,
    grid_positions,
    positions,
)
from ._compare import Comparison, HeldOutScore, compare
from ._composition import compose, compose_vjp
from ._core import ConvergenceError
from ._core import version as __version__
from ._covariance import beta_covariance
from ._data import batches
from ._densities import Densities
from ._distribution import Distribution, EscortDensity, LineDistribution, NumericDistribution
from ._domain import Box, Domain, Euclidean, IntegerDomain, IntegerRange, Integers, Interval, Line, Naturals
from ._elliptical import Elliptical
from ._finite_attention import key_value_attention, key_value_attention_vjp
from ._fit import fit, fit_linear_score
from ._fitted import Fit
from ._fusedmax import (
    fusedmax,
    fusedmax_grid,
    fusedmax_grid_jvp,
    fusedmax_grid_loss,
    fusedmax_grid_vjp,
    fusedmax_jvp,
    fusedmax_loss,
    fusedmax_vjp,
    smooth_sparsemax,
    smooth_sparsemax_jvp,
    smooth_sparsemax_loss,
    smooth_sparsemax_vjp,
)
from ._gamma import CappedParabola, CappedTriangular, SmoothParabola, SmoothTriangular
from ._geometry import (
    AffineMap,
    FenchelYoungMetric,
    MultivariateAffineMap,
    geodesic,
    geodesic_distance,
    optimal_map,
    wasserstein2,
    wasserstein_geodesic,
)
from ._goodness import ConfidenceInterval, Goodness
from ._integers import IntegerDistribution, IntegerPrediction, IntegerTable, SparseIntegerGaussian, SparsePoisson
from ._kernel_density import KernelDensity
from ._kernel_regression import KernelRegression
from ._line import BetaGaussian, BetaLaplace, Triangular, TruncatedGaussian, Uniform
from ._location_scale import LocationScale
from ._map_losses import (
    cross_omega,
    entmax_conjugate,
    entmax_hessian_product,
    entmax_loss,
    entmax_normalizer,
    escort,
    negentropy,
)
from ._maps import (
    entmax,
    entmax_jvp,
    entmax_threshold,
    entmax_vjp,
    entmax_vjp_vjp,
    softmax,
    sparsemax,
    support_size,
)
from ._mixture import Mixture, MixtureFit, MultivariateMixture, fit_mixture
from ._predict import NumericDensity, NumericIntegers, predict
from ._predict_space import LevelSupport, MultivariateNumericDensity
from ._regularizer import Regularizer, Sobolev, TotalVariation, Tsallis
from ._ridge import RidgeRegression, ValueFunction, ridge_values
from ._score import LinearScore, ParametricScore
from ._space import Ellipsoid, MultivariateBetaGaussian
from ._statistics import AbsoluteMoments, CountHistogram, LineMoments, Moments, RadialMoments, Statistics
from ._threads import num_threads, set_num_threads
from ._weights import match_weights, match_weights_vjp

__all__ = [
    "AbsoluteMoments",
    "AffineMap",
    "Basis",
    "BetaGaussian",
    "BetaLaplace",
    "Box",
    "CappedParabola",
    "CappedTriangular",
    "Comparison",
    "ConcatenatedBasis",
    "ConfidenceInterval",
    "ConvergenceError",
    "CountHistogram",
    "Densities",
    "Distribution",
    "Domain",
    "Ellipsoid",
    "Elliptical",
    "EscortDensity",
    "Euclidean",
    "FenchelYoungMetric",
    "Fit",
    "FourierBasis",
    "FunctionBasis",
    "GaussianBasis",
    "Goodness",
    "HeldOutScore",
    "IntegerDistribution",
    "IntegerDomain",
    "IntegerPrediction",
    "IntegerRange",
    "IntegerTable",
    "Integers",
    "Interval",
    "KernelDensity",
    "KernelRegression",
    "LevelSupport",
    "Line",
    "LineDistribution",
    "LineMoments",
    "LinearScore",
    "LocationScale",
    "Mixture",
    "MixtureFit",
    "Moments",
    "MultivariateAffineMap",
    "MultivariateBetaGaussian",
    "MultivariateGaussianBasis",
    "MultivariateMixture",
    "MultivariateNumericDensity",
    "Naturals",
    "NumericDensity",
    "NumericDistribution",
    "NumericIntegers",
    "ParametricScore",
    "PolynomialBasis",
    "RadialMoments",
    "Regularizer",
    "RidgeRegression",
    "SmoothParabola",
    "SmoothTriangular",
    "Sobolev",
    "SparseIntegerGaussian",
    "SparsePoisson",
    "Statistics",
    "TotalVariation",
    "Triangular",
    "TruncatedGaussian",
    "Tsallis",
    "Uniform",
    "ValueFunction",
    "__version__",
    "attend",
    "attend_context",
    "attend_context_vjp",
    "attend_jacobian",
    "attend_jvp",
    "attend_vjp",
    "batches",
    "beta_covariance",
    "compare",
    "compose",
    "compose_vjp",
    "cross_omega",
    "entmax",
    "entmax_conjugate",
    "entmax_hessian_product",
    "entmax_jvp",
    "entmax_loss",
    "entmax_normalizer",
    "entmax_threshold",
    "entmax_vjp",
    "entmax_vjp_vjp",
    "escort",
    "fit",
    "fit_linear_score",
    "fit_mixture",
    "fusedmax",
    "fusedmax_grid",
    "fusedmax_grid_jvp",
    "fusedmax_grid_loss",
    "fusedmax_grid_vjp",
    "fusedmax_jvp",
    "fusedmax_loss",
    "fusedmax_vjp",
    "geodesic",
    "geodesic_distance",
    "grid_positions",
    "key_value_attention",
    "key_value_attention_vjp",
    "match_weights",
    "match_weights_vjp",
    "negentropy",
    "num_threads",
    "optimal_map",
    "positions",
    "predict",
    "ridge_values",
    "set_num_threads",
    "smooth_sparsemax",
    "smooth_sparsemax_jvp",
    "smooth_sparsemax_loss",
    "smooth_sparsemax_vjp",
    "softmax",
    "sparsemax",
    "support_size",
    "wasserstein2",
    "wasserstein_geodesic",
]
