"""Sparse distributions and Fenchel-Young losses for PyTorch.

Start with `entmax`, `entmax_loss`, `BetaGaussian` and `continuous_attention`; `fenchel.torch.nn` has the modules. Names
and arguments of the entmax package are kept. The guide is docs/torch.md in the repository.
"""

from . import nn
from .. import Box
from ._attention import continuous_attention
from ._basis import GaussianBasis, MultivariateGaussianBasis
from ._beta_gaussian import BetaGaussian
from ._cache import KeyValueCache
from ._domain import Nodes
from ._dot_product_attention import attention_weights, scaled_dot_product_attention
from ._entmax import entmax, entmax15, entmax_bisect, sparsemax, sparsemax_bisect
from ._entmax_loss import (
    cross_omega,
    entmax15_loss,
    entmax_bisect_loss,
    entmax_loss,
    sparsemax_bisect_loss,
    sparsemax_loss,
)
from ._fusedmax import fusedmax, fusedmax_grid, smooth_sparsemax
from ._fusedmax_loss import fusedmax_grid_loss, fusedmax_loss, smooth_sparsemax_loss
from ._line import (
    BetaLaplace,
    CappedParabola,
    CappedTriangular,
    SmoothParabola,
    SmoothTriangular,
    Triangular,
    TruncatedGaussian,
)
from ._line_bases import ConcatenatedBasis, FourierBasis, FunctionBasis, PolynomialBasis
from ._location_scale import LocationScale
from ._mixture import Mixture, fit_mixture
from ._multivariate_beta_gaussian import MultivariateBetaGaussian
from ._predict import NumericDensity, predict
from ._sparse_integer_gaussian import SparseIntegerGaussian
from ._sparse_poisson import SparsePoisson
from ._values import RidgeValues, match_weights
from ._varlen_attention import varlen_attention

__all__ = [
    "BetaGaussian",
    "BetaLaplace",
    "Box",
    "CappedParabola",
    "CappedTriangular",
    "ConcatenatedBasis",
    "FourierBasis",
    "FunctionBasis",
    "GaussianBasis",
    "KeyValueCache",
    "LocationScale",
    "Mixture",
    "MultivariateBetaGaussian",
    "MultivariateGaussianBasis",
    "Nodes",
    "NumericDensity",
    "PolynomialBasis",
    "RidgeValues",
    "SmoothParabola",
    "SmoothTriangular",
    "SparseIntegerGaussian",
    "SparsePoisson",
    "Triangular",
    "TruncatedGaussian",
    "attention_weights",
    "continuous_attention",
    "cross_omega",
    "entmax",
    "entmax15",
    "entmax15_loss",
    "entmax_bisect",
    "entmax_bisect_loss",
    "entmax_loss",
    "fit_mixture",
    "fusedmax",
    "fusedmax_grid",
    "fusedmax_grid_loss",
    "fusedmax_loss",
    "match_weights",
    "nn",
    "predict",
    "scaled_dot_product_attention",
    "smooth_sparsemax",
    "smooth_sparsemax_loss",
    "sparsemax",
    "sparsemax_bisect",
    "sparsemax_bisect_loss",
    "sparsemax_loss",
    "varlen_attention",
]
