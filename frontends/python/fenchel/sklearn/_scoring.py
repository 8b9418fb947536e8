"""Scores of classifiers by Fenchel-Young losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_array, check_consistent_length, column_or_1d

from .. import _core
from .._arrays import reals


def fenchel_young_loss(
    y_true: npt.ArrayLike,
    y_proba: npt.ArrayLike,
    *,
    alpha: float = 1.5,
    sample_weight: npt.ArrayLike | None = None,
    labels: npt.ArrayLike | None = None,
) -> float:
    """The mean Fenchel-Young loss of predicted probabilities: less is better, and the true ones are best on average.

    Of all scores that predict the probabilities by `entmax` the loss is that of the best. `alpha` is 1 for
    scikit-learn's `log_loss` and 2 for half of Brier's score. For alpha > 1 a class of probability 0 costs at most
    1 / (alpha - 1), where `log_loss` is infinite.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The labels.
    y_proba : array-like of shape (n_samples, n_classes) or (n_samples,)
        Probabilities of the sorted labels, as `predict_proba` gives them; one column is that of the larger of two.
    alpha : float, default=1.5
        Positive.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    labels : array-like, default=None
        All labels, where not all of them are in `y_true`.

    Examples
    --------
    >>> from fenchel.sklearn import fenchel_young_loss
    >>> round(fenchel_young_loss(["cat", "dog", "dog"], [[0.9, 0.1], [0.0, 1.0], [1.0, 0.0]]), 3)
    0.675
    """
    truth = column_or_1d(y_true)
    check_classification_targets(truth)
    classes = np.unique(truth if labels is None else column_or_1d(labels))
    p = check_array(y_proba, dtype=np.float64, ensure_2d=False)
    if p.ndim == 1 or p.shape[1] == 1:
        p = np.column_stack([1 - p.ravel(), p.ravel()])
    check_consistent_length(truth, p)
    if len(classes) != p.shape[1]:
        raise ValueError(
            f"fenchel_young_loss: y_proba must have a column for each label, got {p.shape[1]} columns for "
            f"{len(classes)} labels; labels= names those that y_true lacks"
        )
    columns = np.minimum(np.searchsorted(classes, truth), len(classes) - 1)
    known = classes[columns] == truth
    if not np.all(known):
        raise ValueError(f"fenchel_young_loss: y_true must hold labels alone, got {truth[~known][0]}")
    order = reals(**{"fenchel_young_loss: alpha": alpha})[0]
    losses = _core.probability_loss(np.ascontiguousarray(p), columns.astype(np.int64), order)
    if sample_weight is None:
        return float(np.mean(losses))
    weights = _check_sample_weight(sample_weight, p, dtype=np.float64, ensure_non_negative=True)
    return float(np.average(losses, weights=weights))


class _Scorer:
    """Less the loss of an estimator's probabilities. Unlike those of `make_scorer` it asks the estimator for the
    classes, which a fold may lack."""

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha

    def __call__(
        self, estimator: Any, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> float:
        return -fenchel_young_loss(
            y,
            estimator.predict_proba(X),
            alpha=self.alpha,
            sample_weight=sample_weight,
            labels=estimator.classes_,
        )

    def __repr__(self) -> str:
        return f"fenchel_young_scorer({self.alpha!r})"


def fenchel_young_scorer(alpha: float = 1.5) -> Any:
    """What `cross_val_score`, `GridSearchCV` and others take as `scoring`: less the `fenchel_young_loss`.

    It scores whatever has `predict_proba`. A search over the alpha of an `EntmaxClassifier` needs one alpha for all,
    which this is.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from fenchel.sklearn import EntmaxClassifier, fenchel_young_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> print(cross_val_score(EntmaxClassifier(), X, y, scoring=fenchel_young_scorer(2)).mean().round(2))
    -0.03
    """
    return _Scorer(alpha)
