"""Densities without a family: kernel density estimation."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import FloatArray, RandomState, Size, doubles, points, reals, seed_from, shape_from, shown, vector
from ._domain import Domain, Interval, Line

RULES = {
    "silverman": _core.BandwidthRule.silverman,
    "sheather-jones": _core.BandwidthRule.sheather_jones,
    "likelihood": _core.BandwidthRule.likelihood,
    "least-squares": _core.BandwidthRule.least_squares,
}
_LINE = Line()


def rows_of_data(name: str, data: npt.ArrayLike) -> tuple[FloatArray, bool]:
    """Data as rows by columns, and whether they are numbers of the line."""
    array = doubles(name, data)
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} must have shape (n,) or (n, N), got {array.shape}")
    return array.reshape(-1, 1) if array.ndim == 1 else array, array.ndim == 1


def bandwidths(bandwidth: Any, columns: int) -> list[float]:
    """One for each column, of a number or of as many as there are columns."""
    if np.ndim(bandwidth) == 0:
        return reals(bandwidth=bandwidth) * columns
    return [float(h) for h in vector("bandwidth", bandwidth)]


def warn_at_end(who: str, rule: str, level: int) -> None:
    """Says that a search ended at the end of its range."""
    warnings.warn(
        f"{who}: {rule} is best at the end of its search, as for data with many ties: choose a bandwidth",
        stacklevel=level + 1,
    )


class KernelSums:
    """What densities and regressions have of their kernels."""

    __slots__ = ("_core", "_on_line")
    _core: Any
    _on_line: bool
    """Whether rows are numbers."""

    @property
    def alpha(self) -> float:
        """Of the kernel."""
        return float(self._core.alpha())

    @property
    def bandwidth(self) -> Any:
        """The standard deviation of the kernel: a number for data of shape (n,), else an array of N."""
        widths = self._core.bandwidth()
        return widths[0] if self._on_line else np.array(widths)

    @property
    def dimension(self) -> int:
        """N."""
        return int(self._core.dimension())

    def _points(self, x: npt.ArrayLike) -> tuple[FloatArray, tuple[int, ...]]:
        array = doubles("x", x) if self._on_line else points("x", x, self.dimension)
        return array.reshape(-1, self.dimension), array.shape if self._on_line else array.shape[:-1]


class KernelDensity(KernelSums):
    """The mean of a beta-Gaussian kernel about each row of data: a density without a family.

    It is a sum over all rows, exact to rounding: kernels of alpha > 1 end, and a tree skips what is out of reach and
    adds up what is within it. Its support is the union of those of the kernels.

    Parameters
    ----------
    data : array_like, shape (n,) or (n, N)
        Numbers, or rows of N of them.
    alpha : float
        Of the kernel, at least 1: 1 is the Gaussian, 4/3 the triweight, 3/2 the biweight, 2 the Epanechnikov kernel, inf
        the uniform one.
    bandwidth : float, array_like of N or str
        The standard deviation of the kernel, one for all coordinates or one for each; for every alpha, so that kernels
        with one bandwidth smooth alike. They reach `radius` times as far. Or how it is found: "silverman", best for
        normal data; "sheather-jones", by the curvature, on the line; "likelihood" and "least-squares", by
        cross-validation.
    weights : array_like, shape (n,), optional
        A weight of 2 is a row that is there twice.
    domain : Line or Interval
        The line, or a half-line such as ``Interval(0, math.inf)`` that holds all the data: kernels are reflected at its
        end, and no mass is lost.

    Examples
    --------
    >>> import math
    >>> from fenchel import Interval, KernelDensity
    >>> p = KernelDensity([1.0, 2.0, 4.0], bandwidth=0.5)
    >>> p.pdf([2.0, 2.5, 7.0]).round(4)
    array([0.2683, 0.1789, 0.    ])
    >>> [round(end, 3) for end in p.support()]
    [-0.118, 5.118]
    >>> p.cdf([3.0]).round(4)
    array([0.6667])
    >>> KernelDensity([1.0, 2.0, 4.0], alpha=1, domain=Interval(0, math.inf)).cdf([0.0])
    array([0.])
    """

    __slots__ = ("_at_end", "_data", "_domain", "_weights")

    def __init__(
        self,
        data: npt.ArrayLike,
        alpha: float = 2.0,
        bandwidth: float | npt.ArrayLike | str = "silverman",
        weights: npt.ArrayLike | None = None,
        domain: Domain = _LINE,
    ) -> None:
        rows, self._on_line = rows_of_data("data", data)
        if not isinstance(domain, (Line, Interval)):
            raise TypeError(f"domain must be Line() or an Interval, got {shown(domain)}")
        # A copy of what the caller may change.
        self._data = rows.copy() if np.may_share_memory(rows, np.asarray(data)) else rows
        self._weights = None if weights is None else vector("weights", weights).copy()
        self._domain, self._at_end = domain, False
        order = reals(alpha=alpha)[0]
        if isinstance(bandwidth, str):
            if bandwidth not in RULES:
                raise ValueError(f"bandwidth must be a number or one of {tuple(RULES)}, got {bandwidth!r}")
            rule = RULES[bandwidth]
            self._core, self._at_end = _core.select_bandwidth(rule, self._data, order, self._weights, domain._core)
            if self._at_end:
                warn_at_end("KernelDensity", bandwidth, 2)
        else:
            widths = bandwidths(bandwidth, rows.shape[1])
            self._core = _core.kernel_density(self._data, order, widths, self._weights, domain._core)

    def __reduce__(self) -> tuple[Any, ...]:
        data = self._data[:, 0] if self._on_line else self._data
        return type(self), (data, self.alpha, self.bandwidth, self._weights, self._domain)

    def __repr__(self) -> str:
        return f"KernelDensity({len(self._data)} rows, alpha={self.alpha}, bandwidth={self.bandwidth})"

    @property
    def radius(self) -> float:
        """How far kernels reach, in bandwidths: sqrt(N + 2 + 2 / (alpha - 1))."""
        return float(self._core.radius())

    @property
    def domain(self) -> Domain:
        """The line or a half-line."""
        return self._domain

    def pdf(self, x: npt.ArrayLike) -> Any:
        """The density: 0 out of reach of every row. At numbers, or at points of shape (..., N)."""
        rows, shape = self._points(x)
        return self._core.pdf(rows).reshape(shape)[()]

    def logpdf(self, x: npt.ArrayLike) -> Any:
        """Its logarithm: -inf out of reach."""
        rows, shape = self._points(x)
        return self._core.log_pdf(rows).reshape(shape)[()]

    def cdf(self, x: npt.ArrayLike) -> Any:
        """P(X <= x), on the line."""
        array = doubles("x", x)
        return self._core.cdf(array.ravel()).reshape(array.shape)[()]

    def support(self) -> Any:
        """The ends of the least interval that holds the support; in R^N an array of shape (N, 2)."""
        ends = [self._core.hull(j) for j in range(self.dimension)]
        return ends[0] if self._on_line else np.array(ends)

    def rvs(self, size: Size = None, random_state: RandomState = None) -> Any:
        """Draws: a number or an array of shape `size`; for data of shape (n, N) of shape size + (N,)."""
        shape = shape_from(size)
        draws = self._core.sample(math.prod(shape), seed_from(random_state))
        return draws.reshape(shape if self._on_line else (*shape, self.dimension))[()]

    def likelihood_score(self) -> float:
        """The mean of the log-density of each row by all others, which "likelihood" maximises.

        An estimate of the expected logarithm of the density at a new row. A row is left out with all of its weight.
        """
        return float(self._core.likelihood_score())

    def least_squares_score(self) -> float:
        """The integral of the squared density less twice its mean at each row by all others.

        An estimate of the integrated squared error but for a constant, which "least-squares" minimises.
        """
        return float(self._core.least_squares_score())
