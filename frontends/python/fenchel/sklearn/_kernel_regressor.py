"""Regression without a form."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from .._arrays import FloatArray
from .._kernel_regression import KernelRegression
from ._base import Estimator


class KernelRegressor(RegressorMixin, Estimator):  # type: ignore[misc]
    """Local lines, or the local means of Nadaraya and Watson, by beta-Gaussian kernels.

    Where kernels of alpha > 1 reach no row, the prediction is the mean of all targets; ``regression_.predict`` gives
    NaN there.

    Parameters
    ----------
    alpha : float, default=2.0
        Of the kernel, at least 1, as in `KernelDensityEstimator`.
    bandwidth : float, array-like or str, default="least-squares"
        The standard deviation of the kernel, for all features or one for each, or how it is found: "least-squares", by
        cross-validation, or "silverman".
    local_fit : {"line", "mean"}, default="line"
        What is fitted to the rows in reach.

    Attributes
    ----------
    regression_ : fenchel.KernelRegression
        What was fitted.
    bandwidth_ : ndarray of shape (n_features,)
        One for each feature.
    mean_ : float
        Of the targets.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from fenchel.sklearn import KernelRegressor
    >>> X = np.arange(20.0).reshape(-1, 1)
    >>> model = KernelRegressor(bandwidth=1.0).fit(X, 2 * X[:, 0])
    >>> model.predict([[4.5], [100.0]]).round(6)
    array([ 9., 19.])
    """

    regression_: KernelRegression
    alphas: ClassVar[tuple[float, float]] = (1.0, math.inf)
    """The least and the largest: without it scikit-learn's checks set alpha to 0.01."""

    def __init__(
        self,
        alpha: float = 2.0,
        *,
        bandwidth: float | npt.ArrayLike | str = "least-squares",
        local_fit: str = "line",
    ) -> None:
        self.alpha = alpha
        self.bandwidth = bandwidth
        self.local_fit = local_fit

    def fit(
        self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> KernelRegressor:
        """Take rows X, their targets y and weights: a weight of 2 is a row that is there twice."""
        rows, targets = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        weights = self._weights(rows, sample_weight)
        self.regression_ = KernelRegression(rows, targets, self._real("alpha"), self.bandwidth, weights, self.local_fit)
        self.bandwidth_ = np.asarray(self.regression_.bandwidth)
        self.mean_ = float(np.average(targets, weights=weights))
        return self

    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """The mean of y for each row."""
        rows = self._rows(X)
        found: FloatArray = self.regression_.predict(rows)
        return np.where(np.isnan(found), self.mean_, found)
