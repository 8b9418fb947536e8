"""Linear classification with sparse probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from .. import _core
from .._arrays import FloatArray
from ._base import LinearEstimator


class EntmaxClassifier(ClassifierMixin, LinearEstimator):  # type: ignore[misc]
    """Linear classification whose probabilities can be exactly 0; logistic regression for alpha = 1.

    The class of a row has the probabilities ``entmax(coef_ @ x + intercept_, alpha)``, and the mean Fenchel-Young
    loss, which is convex, is minimised.

    Parameters
    ----------
    alpha : float, default=1.5
        Positive. Above 1 probabilities can be 0, the more the larger it is; 2 is sparsemax.
    penalty : float, default=0.01
        Half of it times the sum of squares of the coefficients, of standardised features, is added to the loss. With
        0 constant features are refused; for alpha <= 1 classes that can be separated then have no best coefficients.
    tol : float, default=1e-9
        For the largest entry of the gradient.
    max_iter : int, default=1000
        The most iterations.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_, intercept_ : ndarray of shape (n_classes, n_features), ndarray of shape (n_classes,)
        Of the scores. For two classes there is one row, the score of ``classes_[1]`` less that of ``classes_[0]``.
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
    >>> from sklearn.datasets import load_iris
    >>> from fenchel.sklearn import EntmaxClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = EntmaxClassifier().fit(X, y)
    >>> model.predict_proba(X[[20, 50]]).round(3)
    array([[0.929, 0.071, 0.   ],
           [0.   , 0.886, 0.114]])
    >>> model.score(X, y) > 0.95
    True
    """

    def __init__(
        self, alpha: float = 1.5, *, penalty: float = 0.01, tol: float = 1e-9, max_iter: int = 1000
    ) -> None:
        self.alpha = alpha
        self.penalty = penalty
        self.tol = tol
        self.max_iter = max_iter

    def fit(
        self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> EntmaxClassifier:
        """Fit the model to rows X, their labels y and weights: a weight of 2 is a row that is there twice."""
        rows, targets, weights = self._data(X, y, sample_weight)
        check_classification_targets(targets)
        self.classes_, labels = np.unique(targets, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("EntmaxClassifier: y must have at least 2 classes, got only one class")
        fit = _core.fit_classification(
            np.column_stack([labels, rows]),
            weights,
            self._names("class"),
            self._real("alpha"),
            len(self.classes_),
            self._real("penalty"),
            self._real("tol"),
            self._count("max_iter"),
        )
        self.alpha_ = float(self.alpha)
        self.coef_, self.intercept_ = fit.coefficients, fit.intercepts
        if len(self.classes_) == 2:
            self.coef_, self.intercept_ = np.diff(self.coef_, axis=0), np.diff(self.intercept_)
        self.loss_ = fit.loss
        self._keep_search(fit, "a larger penalty or tol may help")
        return self

    def decision_function(self, X: npt.ArrayLike) -> FloatArray:
        """The scores, of shape (n_samples, n_classes), or (n_samples,) for two classes: positive for the second."""
        scores: FloatArray = self._rows(X) @ self.coef_.T + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """The most probable class for each row."""
        scores = self.decision_function(X)
        best = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)
        labels: npt.NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: npt.ArrayLike) -> FloatArray:
        """The probabilities, of shape (n_samples, n_classes), with exact zeros for alpha > 1."""
        rows = self._rows(X)
        coef, intercept = self.coef_, self.intercept_
        if len(self.classes_) == 2:
            coef, intercept = np.vstack([0 * coef, coef]), np.append(0, intercept)
        p: FloatArray = _core.ClassificationFit(self.alpha_, coef, intercept).probabilities(rows)
        return p
