"""Regression of counts."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from .. import _core
from .._arrays import FloatArray
from .._integers import SparsePoisson
from ._base import LinearRegressor


class SparsePoissonRegressor(LinearRegressor):
    """Regression of counts that vary less or more than Poisson's; Poisson regression for alpha = 1.

    y has the distribution `SparsePoisson(alpha, exp(coef_ @ x + intercept_))`, and the mean Fenchel-Young loss, which
    is convex, is minimised. So the mean prediction over the rows is the mean of y.

    Parameters
    ----------
    alpha : float, default=2.0
        Above 1/2. From 1, the Poisson distribution, on the support is bounded; below it counts vary more than Poisson's.
    penalty : float, default=1e-6
        Half of it times the sum of squares of the coefficients, of standardised features, is added to the loss. With
        0 constant features are refused.
    tol : float, default=1e-9
        For the largest entry of the gradient, over the mean count if that is above one.
    max_iter : int, default=1000
        The most iterations.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_features,), float
        Of log mu.
    standard_errors_ : ndarray of shape (n_features + 1,)
        Of the coefficients and, last, the intercept, for large samples of the fitted model.
    alpha_ : float
        That of the fit.
    loss_ : float
        The mean loss, without the penalty.
    n_iter_ : int
        Iterations of the search.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from fenchel.sklearn import SparsePoissonRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 2, (500, 1))
    >>> y = rng.poisson(np.exp(0.5 + X[:, 0]))
    >>> model = SparsePoissonRegressor().fit(X, y)
    >>> model.predict([[0.0], [2.0]]).round()
    array([ 2., 12.])
    >>> model.predict_dist([[0.0]])[0].support()
    (1, 3)
    >>> model.predict_interval([[0.0], [2.0]], confidence=1)
    array([[ 1.,  3.],
           [ 9., 14.]])
    """

    alphas: ClassVar[tuple[float, float]] = (1.0, math.inf)
    """The least alpha, and the one that all are below: without it scikit-learn's checks set alpha to 0.01."""

    def __init__(
        self, alpha: float = 2.0, *, penalty: float = 1e-6, tol: float = 1e-9, max_iter: int = 1000
    ) -> None:
        self.alpha = alpha
        self.penalty = penalty
        self.tol = tol
        self.max_iter = max_iter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def fit(
        self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> SparsePoissonRegressor:
        """Fit the model to rows X, their counts y and weights: a weight of 2 is a row that is there twice.

        A y that is no whole number is a mean of counts, such as a rate with the exposure as its weight: the row then
        counts as its two neighbours with this mean, which gives the same coefficients.
        """
        rows, counts, weights = self._data(X, y, sample_weight, y_numeric=True)
        table, part = np.column_stack([counts, rows]), np.mod(counts, 1)
        if part.any():
            weights = np.ones(len(rows)) if weights is None else weights
            above = part > 0
            table = np.vstack([table, table[above]])
            table[:, 0] = np.concatenate([np.floor(counts), np.ceil(counts[above])])
            weights = np.concatenate([weights * (1 - part), (weights * part)[above]])
        fit = _core.fit_count_regression(
            table,
            weights,
            self._names("y"),
            self._real("alpha"),
            self._real("penalty"),
            self._real("tol"),
            self._count("max_iter"),
        )
        self.alpha_ = float(self.alpha)
        self.coef_, self.intercept_ = fit.coefficients, fit.intercept
        self.standard_errors_ = fit.standard_errors
        self.loss_ = fit.loss
        self._keep_search(fit, "a larger penalty or tol may help")
        return self

    def _fit(self) -> Any:
        return _core.CountRegressionFit(self.alpha_, self.coef_, self.intercept_)

    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """The mean count for each row."""
        rows = self._rows(X)
        means: FloatArray = self._fit().means(rows)
        return means

    def predict_dist(self, X: npt.ArrayLike) -> list[SparsePoisson]:
        """The distribution of the count for each row."""
        rows = self._rows(X)
        return [SparsePoisson._of(p) for p in self._fit().predict(rows)]

    def score(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float:
        """D^2, the share of the deviance that the features explain: 1 where all is predicted, 0 for the mean of y.

        The deviance is twice the mean Fenchel-Young loss less the least that each count can have. For alpha = 1 it is
        Poisson's, and the score that of scikit-learn's `PoissonRegressor`. The best constant is one for the rows of X.
        """
        check_is_fitted(self)
        rows, counts, weights = self._data(X, y, sample_weight, y_numeric=True, reset=False)
        share: float = self._fit().explained_deviance(np.column_stack([counts, rows]), weights, self._names("y"))
        return share
