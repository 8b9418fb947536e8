"""Heteroscedastic linear regression."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .. import _core
from .._arrays import RandomState
from .._line import BetaGaussian
from ._base import LinearRegressor, seed
from ._model import regression_from_dict, regression_to_dict

LINKS = ("log", "linear")
LOSSES = ("auto", "cross_omega", "likelihood")


class BetaGaussianRegressor(LinearRegressor):
    """Linear regression in which the width of the noise depends on the features too.

    y has the distribution `BetaGaussian(alpha, mu(x), sigma(x)**2)`, bounded for alpha > 1, Student's t for alpha < 1.
    mu is linear in the features, and so is sigma or its logarithm; a mean loss is minimised over both.

    The loss has no least value: it falls without bound where mu passes through a row and sigma vanishes there. So the
    search starts at least squares and, `starts` - 1 times, near it, and the best result that converged is kept. Where
    none does, a path of scale penalties leads from a large one to `scale_penalty`. If it breaks off before, the fit is
    that of the last penalty, `scale_penalty_`, and a ConvergenceWarning says so. Where rows weigh less than there are
    parameters, the fit is least squares with one sigma, with a ConvergenceWarning too.

    Parameters
    ----------
    alpha : float, default=2.0
        Above 1/3: below 1 Student's t with 2 / (1 - alpha) - 1 degrees of freedom, for data with outliers; 1 is the
        Gaussian; above it the noise is bounded, and convergence is harder as alpha grows.
    link : {"log", "linear"}, default="log"
        Whether sigma is the exponential of ``scale_coef_ @ x + scale_intercept_``, or its absolute value as in the
        paper, which seldom converges for alpha > 1 where that is 0 among the rows.
    penalty : float, default=0
        Half of it times the sum of squares of all coefficients, of standardised features, is added to the loss. With
        0 features that are constant or collinear are refused.
    scale_penalty : float or "auto", default="auto"
        The same for the coefficients of the scale alone, besides. It keeps sigma from vanishing at a row: with several
        features and alpha > 1 the linear link needs about 1. "auto" is 10 for each feature over the weight of all rows,
        as if log sigma had a variance of a tenth before there is data, and 0 for one feature and for the linear link.
        Rows with a small sigma count most: where r2 is below that of least squares, 1 or more may help.
    noise_loss : {"auto", "cross_omega", "likelihood"}, default="auto"
        What is minimised: the cross-Omega loss, or -log p(y), which is robust for alpha < 1 and refused for alpha > 1.
        "auto" is the likelihood for alpha < 1, and cross-Omega otherwise; at alpha = 1 they agree.
    starts : int, default=4
        How many searches are made.
    tol : float, default=1e-9
        For the largest entry of the gradient.
    max_iter : int, default=1000
        The most iterations of one search.
    random_state : int, RandomState instance or None, default=None
        Draws the starts after the first.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_features,), float
        Of mu.
    scale_coef_, scale_intercept_ : ndarray of shape (n_features,), float
        Of sigma or its logarithm.
    standard_errors_, scale_standard_errors_ : ndarray of shape (n_features + 1,)
        Of the coefficients and, last, the intercept, for large samples of the fitted model.
    alpha_, link_, noise_loss_, scale_penalty_ : float, str, str, float
        Those of the fit; a `scale_penalty_` above `scale_penalty` is one to which the path came.
    loss_ : float
        The mean loss, without the penalty.
    n_iter_ : int
        Iterations of the search that was kept.
    starts_ : list of tuple
        The loss with the penalty, the iterations and the status of each search.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from fenchel.sklearn import BetaGaussianRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (1000, 1))
    >>> y = 1 + 2 * X[:, 0] + np.exp(0.2 * X[:, 0]) * rng.uniform(-1, 1, 1000)
    >>> model = BetaGaussianRegressor(random_state=0).fit(X, y)
    >>> mean, std = model.predict([[1.0], [9.0]], return_std=True)
    >>> mean.round(), std.round(1)
    (array([ 3., 19.]), array([0.7, 3.7]))
    >>> model.predict_interval([[1.0], [9.0]]).round()
    array([[ 2.,  4.],
           [13., 25.]])
    >>> round(model.predict_dist([[1.0]])[0].support()[0], 1)
    1.4
    """

    alphas: ClassVar[tuple[float, float]] = (1 / 3, math.inf)
    """What alpha is above, and the one that all are below: without it scikit-learn's checks set alpha to 0.01."""

    def __init__(
        self,
        alpha: float = 2.0,
        *,
        link: str = "log",
        penalty: float = 0.0,
        scale_penalty: float | str = "auto",
        noise_loss: str = "auto",
        starts: int = 4,
        tol: float = 1e-9,
        max_iter: int = 1000,
        random_state: RandomState = None,
    ) -> None:
        self.alpha = alpha
        self.link = link
        self.penalty = penalty
        self.scale_penalty = scale_penalty
        self.noise_loss = noise_loss
        self.starts = starts
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(
        self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> BetaGaussianRegressor:
        """Fit the model to rows X, their targets y and weights: a weight of 2 is a row that is there twice."""
        if self.link not in LINKS:
            raise ValueError(f"BetaGaussianRegressor: link must be one of {LINKS}, got {self.link!r}")
        if self.noise_loss not in LOSSES:
            raise ValueError(f"BetaGaussianRegressor: noise_loss must be one of {LOSSES}, got {self.noise_loss!r}")
        rows, targets, weights = self._data(X, y, sample_weight, y_numeric=True, ensure_min_samples=2)
        weight, parameters = len(rows) if weights is None else weights.sum(), 2 * (rows.shape[1] + 1)
        penalty, max_iter = self._real("penalty"), self._count("max_iter")
        too_few = penalty > 0 and 0 < weight < parameters
        if too_few:
            # The library asks for as much weight as there are parameters; the scale of weights changes no line.
            weights = (np.ones(len(rows)) if weights is None else weights) * (parameters * (1 + 1e-9) / weight)
            max_iter = 0
        automatic = isinstance(self.scale_penalty, str) and self.scale_penalty == "auto"
        fit = _core.fit_regression(
            np.column_stack([targets, rows]),
            weights,
            self._names("y"),
            self._real("alpha"),
            self.link == "log",
            penalty,
            None if automatic else self._real("scale_penalty"),
            self.noise_loss,
            self._count("starts"),
            seed(self.random_state),
            self._real("tol"),
            max_iter,
        )
        self.alpha_, self.link_, self.noise_loss_ = float(self.alpha), self.link, fit.noise_loss
        self.scale_penalty_ = fit.scale_penalty
        self.coef_, self.intercept_ = fit.coefficients, fit.intercept
        self.scale_coef_, self.scale_intercept_ = fit.scale_coefficients, fit.scale_intercept
        self.standard_errors_, self.scale_standard_errors_ = fit.standard_errors, fit.scale_standard_errors
        self.loss_, self.starts_ = fit.loss, fit.starts
        if fit.scale_penalty > fit.wanted_scale_penalty:
            self.n_iter_ = fit.iterations
            warnings.warn(
                f"BetaGaussianRegressor did not converge for scale_penalty={fit.wanted_scale_penalty:g}: the fit is the minimum "
                f"for scale_penalty={fit.scale_penalty:g}. Give this or more, a smaller alpha or the other link",
                ConvergenceWarning,
                stacklevel=2,
            )
            return self
        advice = "a smaller alpha, a larger scale_penalty, more starts or the other link may help"
        if too_few:
            self.standard_errors_[:], self.scale_standard_errors_[:] = np.nan, np.nan
            advice = f"least squares with one sigma is kept; {parameters} parameters need as many rows"
        self._keep_search(fit, advice)
        return self

    def to_dict(self, y: str = "y") -> dict[str, Any]:
        """The fit as JSON holds it: a model that ``fenchel predict`` takes, where `y` names the column to predict."""
        check_is_fitted(self)
        return regression_to_dict(self, self._names(y))

    @classmethod
    def from_dict(cls, model: Mapping[str, Any]) -> BetaGaussianRegressor:
        """The estimator that `to_dict` or ``fenchel regress -o model.json`` has written, to predict with.

        Attributes that the model does not have are NaN or missing. A ValueError names the key that is missing or bad.
        """
        return regression_from_dict(cls, model)

    def _fit(self) -> Any:
        return _core.RegressionFit(
            self.alpha_, self.link_ == "log", self.coef_, self.intercept_, self.scale_coef_, self.scale_intercept_
        )

    def predict(self, X: npt.ArrayLike, return_std: bool = False) -> Any:
        """The mean of y for each row; with `return_std` a pair of it and the standard deviation."""
        rows = self._rows(X)
        mean = rows @ self.coef_ + self.intercept_
        return (mean, self._fit().deviations(rows)) if return_std else mean

    def predict_dist(self, X: npt.ArrayLike) -> list[BetaGaussian]:
        """The distribution of y for each row. A ValueError where sigma is 0."""
        rows = self._rows(X)
        return [BetaGaussian._of(p) for p in self._fit().predict(rows)]
