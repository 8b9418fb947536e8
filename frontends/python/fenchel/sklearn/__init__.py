"""Estimators for scikit-learn: regression, counts, classes and densities with sparse distributions.

They work where scikit-learn's own do: in a `Pipeline`, a `GridSearchCV`, `cross_val_score`. `fenchel_young_scorer`
scores any classifier that predicts probabilities. Needs scikit-learn 1.6.
"""

from ._beta_gaussian_regressor import BetaGaussianRegressor
from ._density_estimator import DensityEstimator
from ._entmax_classifier import EntmaxClassifier
from ._kernel_density import KernelDensityEstimator
from ._kernel_regressor import KernelRegressor
from ._scoring import fenchel_young_loss, fenchel_young_scorer
from ._sparse_poisson_regressor import SparsePoissonRegressor

__all__ = [
    "BetaGaussianRegressor",
    "DensityEstimator",
    "EntmaxClassifier",
    "KernelDensityEstimator",
    "KernelRegressor",
    "SparsePoissonRegressor",
    "fenchel_young_loss",
    "fenchel_young_scorer",
]
