"""Density estimation by matching moments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._arrays import FloatArray, RandomState
from .._fit import fit
from .._line import BetaGaussian
from .._space import MultivariateBetaGaussian
from .._statistics import LineMoments, Moments
from ._base import Estimator, seed


class DensityEstimator(DensityMixin, Estimator):  # type: ignore[misc]
    """The beta-Gaussian density with the mean and the covariance of the data; for alpha > 1 it has bounded support.

    Only moments are kept, so `partial_fit` takes data of any size in parts, and what parts were seen elsewhere is
    added by ``moments_.merge``. The distribution is made of them when it is first asked for.

    Parameters
    ----------
    alpha : float, None or "auto", default=2.0
        Of the density: 1 is the Gaussian, 2 the truncated paraboloid. Greater than N / (N + 2) for N features. None and
        "auto" estimate it by the kurtosis, which needs all the data at once if there are several features.

    Attributes
    ----------
    distribution_ : BetaGaussian or MultivariateBetaGaussian
        For one feature, for several. A ValueError where there is none: a feature is constant or a combination of
        others.
    moments_ : LineMoments or Moments
        Of all data seen.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from fenchel.sklearn import DensityEstimator
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> model = DensityEstimator().fit(X)
    >>> [round(end, 3) for end in model.distribution_.interval(0.9)]
    [0.677, 4.323]
    >>> model.score_samples([[2.5], [7.0]]).round(3)
    array([-1.204,   -inf])
    >>> parts = DensityEstimator().partial_fit(X[:1]).partial_fit(X[1:])
    >>> parts.distribution_ == model.distribution_
    True
    """

    moments_: LineMoments | Moments
    _alpha: float | None
    _distribution: Any

    def __init__(self, alpha: float | str | None = 2.0) -> None:
        self.alpha = alpha

    def fit(
        self, X: npt.ArrayLike, y: None = None, sample_weight: npt.ArrayLike | None = None
    ) -> DensityEstimator:
        """Fit the density to rows X and their weights: a weight of 2 is a row that is there twice."""
        return self._update(X, sample_weight, first=True, last=True)

    def partial_fit(
        self, X: npt.ArrayLike, y: None = None, sample_weight: npt.ArrayLike | None = None
    ) -> DensityEstimator:
        """Add rows to those seen before."""
        return self._update(X, sample_weight, first=not hasattr(self, "moments_"), last=False)

    def _update(
        self, X: npt.ArrayLike, sample_weight: npt.ArrayLike | None, first: bool, last: bool
    ) -> DensityEstimator:
        rows = validate_data(self, X, reset=first, dtype=np.float64)
        weights, size = self._weights(rows, sample_weight), rows.shape[1]
        estimated = self.alpha is None or self.alpha == "auto"
        if estimated:
            if size > 1 and not last:
                raise ValueError(
                    f"DensityEstimator: alpha must be given for partial_fit of {size} features, got {self.alpha}"
                )
        elif not size / (size + 2) < self._real("alpha") < math.inf:
            raise ValueError(
                f"DensityEstimator: alpha must be greater than {size}/{size + 2} and finite, got {self.alpha}"
            )
        if first:
            self.moments_ = LineMoments() if size == 1 else Moments(size)
        self.moments_.update(rows, weights)
        self._alpha, self._distribution = None if estimated else self._real("alpha"), None
        if estimated and size > 1:
            self._distribution = fit(MultivariateBetaGaussian, rows, weights=weights, alpha=None).distribution
        return self

    @property
    def distribution_(self) -> BetaGaussian | MultivariateBetaGaussian:
        """The fitted distribution."""
        check_is_fitted(self)
        if self._distribution is None:
            family = BetaGaussian if self.n_features_in_ == 1 else MultivariateBetaGaussian
            self._distribution = fit(family, self.moments_, alpha=self._alpha).distribution
        made: BetaGaussian | MultivariateBetaGaussian = self._distribution
        return made

    def score_samples(self, X: npt.ArrayLike) -> FloatArray:
        """The logarithm of the density at each row: -inf outside of the support."""
        rows = self._rows(X)
        logs: FloatArray = self.distribution_.logpdf(rows[:, 0] if self.n_features_in_ == 1 else rows)
        return logs

    def score(self, X: npt.ArrayLike, y: None = None) -> float:
        """The logarithm of the likelihood of all rows: -inf where one is outside of the support.

        So a search by this score finds the alpha with the widest support; ``alpha=None`` estimates it.
        """
        return float(np.sum(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> FloatArray:
        """Draws of the fitted distribution, of shape (n_samples, n_features)."""
        draws: Any = self.distribution_.rvs(n_samples, seed(random_state))
        rows: FloatArray = draws.reshape(n_samples, self.n_features_in_)
        return rows
