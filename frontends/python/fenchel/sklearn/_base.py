"""What the estimators share: how arguments become those of fenchel._core."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from .._arrays import FloatArray, RandomState, reals, seed_from, shown

LARGEST_COUNT = 2**31 - 1


def seed(random_state: RandomState) -> int:
    """A number is the seed itself; None asks NumPy's global generator, as scikit-learn does."""
    return seed_from(check_random_state(None) if random_state is None else random_state)


class Estimator(BaseEstimator):  # type: ignore[misc]
    """Parameters and arguments as the library takes them."""

    def _real(self, name: str) -> float:
        """A parameter that is a number; the library says which numbers mean something."""
        value = getattr(self, name)
        if not isinstance(value, Real) or isinstance(value, bool):
            raise TypeError(f"{type(self).__name__}: {name} must be a number, got {shown(value)}")
        return reals(**{f"{type(self).__name__}: {name}": value})[0]

    def _count(self, name: str) -> int:
        value = getattr(self, name)
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise TypeError(f"{type(self).__name__}: {name} must be a whole number, got {shown(value)}")
        if not 1 <= int(value) <= LARGEST_COUNT:
            raise ValueError(f"{type(self).__name__}: {name} must be in [1, {LARGEST_COUNT}], got {shown(value)}")
        return int(value)

    def _weights(self, rows: FloatArray, sample_weight: npt.ArrayLike | None) -> FloatArray | None:
        if sample_weight is None:
            return None
        weights = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
        return np.ascontiguousarray(weights)

    def _rows(self, X: npt.ArrayLike) -> FloatArray:
        """X to predict from."""
        check_is_fitted(self)
        return np.require(validate_data(self, X, reset=False, dtype=np.float64), np.float64, ("C", "ALIGNED"))


class LinearEstimator(Estimator):
    """A model that is linear in the features, fitted by minimising a mean loss and a penalty."""

    def _data(
        self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None, **checks: Any
    ) -> tuple[FloatArray, npt.NDArray[Any], FloatArray | None]:
        """Rows, targets and weights to fit."""
        rows, targets = validate_data(self, X, y, dtype=np.float64, **checks)
        return rows, targets, self._weights(rows, sample_weight)

    def _names(self, target: str) -> list[str]:
        """Of the columns of a table: the target, then the features."""
        names = getattr(self, "feature_names_in_", None)
        return [target, *(names if names is not None else (f"x{i}" for i in range(self.n_features_in_)))]

    def _keep_search(self, fit: Any, advice: str) -> None:
        """Keeps how the search ended, and warns unless it converged."""
        self.n_iter_ = max(1, int(fit.iterations))
        if fit.status != "converged":
            # No iterations were asked for where none can help.
            more = "a larger max_iter, " if fit.status == "iteration limit" and fit.iterations > 0 else ""
            warnings.warn(
                f"{type(self).__name__} did not converge ({fit.status} after {fit.iterations} iterations, "
                f"gradient {fit.residual:.3g}): {more}{advice}",
                ConvergenceWarning,
                stacklevel=3,
            )


class LinearRegressor(RegressorMixin, LinearEstimator):  # type: ignore[misc]
    """A linear model whose prediction for a row is a distribution; `_fit()` is what the library predicts with."""

    def _fit(self) -> Any:
        raise NotImplementedError

    def predict_interval(self, X: npt.ArrayLike, confidence: float = 0.9) -> FloatArray:
        """For each row the ends of the interval that has this probability, with equal tails: shape (n_samples, 2).

        A confidence of 1 gives the support, which is bounded for alpha > 1.
        """
        if not 0 <= confidence <= 1:
            raise ValueError(f"{type(self).__name__}: confidence must be in [0, 1], got {confidence}")
        rows = self._rows(X)
        fit, tail = self._fit(), (1 - confidence) / 2
        return np.column_stack([fit.quantiles(rows, tail), fit.survival_quantiles(rows, tail)])

    def score_samples(self, X: npt.ArrayLike, y: npt.ArrayLike | None = None) -> FloatArray:
        """The logarithm of the predicted density, or probability, of each row's y: -inf outside of the support.

        Without y, what is expected of it: less the entropy of the prediction. Where the model is right, both have the
        same mean.
        """
        rows = self._rows(X)
        if y is None:
            expected: FloatArray = self._fit().expected_log_densities(rows)
            return expected
        targets = check_array(y, dtype=np.float64, ensure_2d=False, ensure_min_samples=0)
        check_consistent_length(rows, targets)
        logs: FloatArray = self._fit().log_densities(rows, np.ascontiguousarray(column_or_1d(targets)))
        return logs
