"""Predictions for any score on the line."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from . import _core
from ._arrays import reals, shown
from ._distribution import LineDistribution


class NumericDensity(LineDistribution):
    """The prediction of the Tsallis regularizer for a score that is a Python function: what `predict` gives.

    Its methods call f, so they hold the GIL and run on one thread; what f raises comes back unchanged.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.predict(2, lambda t: -abs(t))
    >>> type(p).__name__, [round(end, 4) for end in p.support()]
    ('NumericDensity', [-1.0, 1.0])
    """

    __slots__ = ("_a", "_alpha", "_b", "_f")
    _parameters = ("alpha", "f", "a", "b")

    def __init__(self, alpha: float, f: Callable[[float], float], a: float = -math.inf, b: float = math.inf) -> None:
        if not callable(f):
            raise TypeError(f"f must be callable, got {shown(f)}")
        self._f = f
        self._alpha, self._a, self._b = reals(alpha=alpha, a=a, b=b)
        self._core = _core.NumericDensity(self._alpha, f, self._a, self._b)

    @property
    def alpha(self) -> float:
        """The order of the regularizer."""
        return self._alpha

    @property
    def f(self) -> Callable[[float], float]:
        """The score."""
        return self._f

    @property
    def a(self) -> float:
        """Where the domain begins."""
        return self._a

    @property
    def b(self) -> float:
        """Where the domain ends."""
        return self._b

    def support(self) -> tuple[float, float]:
        """The outermost ends of the support, which may have gaps: see `pieces`."""
        return super().support()

    def pieces(self) -> list[tuple[float, float]]:
        """The intervals that the support is made of, in order."""
        return [(float(lower), float(upper)) for lower, upper in self._core.pieces()]

    def _core_loss(self, name: str, target: Any) -> tuple[float, dict[str, float]]:
        loss: tuple[float, dict[str, float]] = getattr(self._core, name)(*self._values(), target)
        return loss


def predict(alpha: float, f: Callable[[float], float], a: float = -math.inf, b: float = math.inf) -> NumericDensity:
    """The density for a score that is a Python function: large where f is, exactly 0 where f is low and alpha > 1.

    It maximizes E_p[f] - Omega_alpha(p) over the densities on [a, b], to a relative 1e-10: p is the formula of
    `BetaGaussian` for the score f.

    Parameters
    ----------
    alpha : float
        The order of the Tsallis regularizer: 1 gives exp(f) / Z, more than 1 a density that is 0 where f is low.
    f : callable
        The score, float -> float; -inf where the density must be 0. It is looked at on a grid that grows from 0 on the
        line and is even on an interval: a bump that is narrower may be missed.
    a, b : float
        The domain, the line by default.

    Returns
    -------
    NumericDensity

    Raises
    ------
    ValueError
        Where f is NaN or +inf, or no density exists since f does not fall enough.
    ConvergenceError
        Where the accuracy is not reached.

    Examples
    --------
    Sparsemax of a score with two hills has a support with a gap:

    >>> from fenchel import predict
    >>> p = predict(2, lambda t: 3 * t**2 - t**4)
    >>> [(round(a, 3), round(b, 3)) for a, b in p.pieces()]
    [(-1.569, -0.734), (0.734, 1.569)]
    >>> p.pdf([0, 1]).round(4)
    array([0.    , 0.6731])
    """
    return NumericDensity(alpha, f, a, b)
