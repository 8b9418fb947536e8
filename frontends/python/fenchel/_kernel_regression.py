"""Regression without a form: local means and local lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import FloatArray, reals, vector
from ._kernel_density import KernelSums, bandwidths, rows_of_data, warn_at_end

RULES = ("silverman", "least-squares")


class KernelRegression(KernelSums):
    """The mean of y near each point: by the rows within reach of a beta-Gaussian kernel, and by these alone.

    Parameters
    ----------
    x : array_like, shape (n,) or (n, N)
        Numbers, or rows of N of them.
    y : array_like, shape (n,)
        What is predicted.
    alpha : float
        Of the kernel, at least 1, as in `KernelDensity`.
    bandwidth : float, array_like of N or str
        The standard deviation of the kernel, or how it is found: "least-squares", by cross-validation, or "silverman",
        which is for the density of x.
    weights : array_like, shape (n,), optional
        A weight of 2 is a row that is there twice.
    fit : {"line", "mean"}
        A local line [Fan 1992], or the weighted mean of Nadaraya and Watson, which is bent at the ends of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from fenchel import KernelRegression
    >>> x = np.arange(10.0)
    >>> m = KernelRegression(x, 2 * x, bandwidth=1.0)
    >>> m.predict([4.5, 9.5, 30.0]).round(9)
    array([ 9., 19., nan])
    >>> KernelRegression(x, 2 * x, bandwidth=1.0, fit="mean").predict([9.0])
    array([16.8])
    """

    __slots__ = ("_fit", "_x", "_y", "_weights")

    def __init__(
        self,
        x: npt.ArrayLike,
        y: npt.ArrayLike,
        alpha: float = 2.0,
        bandwidth: float | npt.ArrayLike | str = "least-squares",
        weights: npt.ArrayLike | None = None,
        fit: str = "line",
    ) -> None:
        rows, self._on_line = rows_of_data("x", x)
        if fit not in ("line", "mean"):
            raise ValueError(f"fit must be 'line' or 'mean', got {fit!r}")
        self._x, self._y, self._fit = rows.copy(), vector("y", y).copy(), fit
        self._weights = None if weights is None else vector("weights", weights).copy()
        order, line = reals(alpha=alpha)[0], fit == "line"
        if isinstance(bandwidth, str) and bandwidth not in RULES:
            raise ValueError(f"bandwidth must be a number or one of {RULES}, got {bandwidth!r}")
        if isinstance(bandwidth, str) and bandwidth == "least-squares":
            self._core, at_end = _core.select_regression(self._x, self._y, order, self._weights, line)
            if at_end:
                warn_at_end("KernelRegression", bandwidth, 2)
            return
        if isinstance(bandwidth, str):
            widths = _core.silverman_bandwidth(self._x, order, self._weights)
        else:
            widths = bandwidths(bandwidth, rows.shape[1])
        self._core = _core.kernel_regression(self._x, self._y, order, widths, self._weights, line)

    def __reduce__(self) -> tuple[Any, ...]:
        x = self._x[:, 0] if self._on_line else self._x
        return type(self), (x, self._y, self.alpha, self.bandwidth, self._weights, self._fit)

    def __repr__(self) -> str:
        return f"KernelRegression({len(self._x)} rows, alpha={self.alpha}, bandwidth={self.bandwidth}, fit={self._fit!r})"

    def predict(self, x: npt.ArrayLike) -> Any:
        """The mean of y at numbers, or at points of shape (..., N): NaN where no row is in reach."""
        at, shape = self._points(x)
        found: FloatArray = self._core.predict(at)
        return found.reshape(shape)[()]

    def least_squares_score(self) -> float:
        """The mean squared error of each row by all others, which "least-squares" minimises."""
        return float(self._core.least_squares_score())
