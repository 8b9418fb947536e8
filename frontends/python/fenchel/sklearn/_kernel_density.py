"""Densities without a family."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import DensityMixin
from sklearn.utils.validation import validate_data

from .._arrays import FloatArray, RandomState
from .._kernel_density import KernelDensity
from ._base import Estimator, seed


class KernelDensityEstimator(DensityMixin, Estimator):  # type: ignore[misc]
    """Kernel density estimation with beta-Gaussian kernels, by exact sums.

    scikit-learn's `KernelDensity` with kernel="gaussian" is alpha=1. Its other kernels have as their bandwidth where
    they end; here the bandwidth is the standard deviation of a kernel for every alpha, and ``density_.radius`` times it
    is where the kernel ends. `score_samples` and `score` are logarithms as there.

    Parameters
    ----------
    alpha : float, default=2.0
        Of the kernel, at least 1: 1 the Gaussian, 4/3 the triweight, 3/2 the biweight, 2 the Epanechnikov kernel, inf
        the uniform one.
    bandwidth : float, array-like or str, default="silverman"
        The standard deviation of the kernel, for all features or one for each, or how it is found: "silverman",
        "sheather-jones" (one feature), "likelihood" or "least-squares", by cross-validation without a search grid.

    Attributes
    ----------
    density_ : fenchel.KernelDensity
        What was fitted.
    bandwidth_ : ndarray of shape (n_features,)
        One for each feature.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from fenchel.sklearn import KernelDensityEstimator
    >>> X = np.array([[1.0], [2.0], [4.0]])
    >>> model = KernelDensityEstimator(bandwidth=0.5).fit(X)
    >>> model.score_samples([[2.0], [7.0]]).round(4)
    array([-1.3155,    -inf])
    >>> model.sample(2, random_state=0).shape
    (2, 1)
    """

    density_: KernelDensity

    def __init__(self, alpha: float = 2.0, *, bandwidth: float | npt.ArrayLike | str = "silverman") -> None:
        self.alpha = alpha
        self.bandwidth = bandwidth

    def fit(
        self, X: npt.ArrayLike, y: None = None, sample_weight: npt.ArrayLike | None = None
    ) -> KernelDensityEstimator:
        """Take rows X and their weights: a weight of 2 is a row that is there twice."""
        rows = validate_data(self, X, dtype=np.float64)
        weights = self._weights(rows, sample_weight)
        self.density_ = KernelDensity(rows, self._real("alpha"), self.bandwidth, weights)
        self.bandwidth_ = np.asarray(self.density_.bandwidth)
        return self

    def score_samples(self, X: npt.ArrayLike) -> FloatArray:
        """The logarithm of the density at each row: -inf out of reach of all rows that were fitted."""
        rows = self._rows(X)
        logs: FloatArray = self.density_.logpdf(rows)
        return logs

    def score(self, X: npt.ArrayLike, y: None = None) -> float:
        """The logarithm of the likelihood of all rows: -inf where one is out of reach."""
        return float(np.sum(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> FloatArray:
        """Draws, of shape (n_samples, n_features)."""
        draws: Any = self.density_.rvs(n_samples, seed(random_state))
        rows: FloatArray = draws.reshape(n_samples, self.n_features_in_)
        return rows
