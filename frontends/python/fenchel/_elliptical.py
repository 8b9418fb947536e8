"""Elliptical laws on R^N with any generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt

from . import _core
from ._arrays import matrix, reals, shown, vector
from ._space import SpaceDistribution, _indices


class Elliptical(SpaceDistribution):
    """The density proportional to g((x - mu)^T Sigma^-1 (x - mu)) for any non-increasing g.

    Its methods call the generator, so they hold the GIL and run on one thread; what it raises comes back unchanged.
    Methods over points take arrays of shape (..., N).

    Parameters
    ----------
    log_generator : callable
        log g up to a constant, float -> float: finite at 0, never increasing, -inf where g is 0.
    mu : array_like of shape (N,)
        The centre: mean and mode.
    Sigma : array_like of shape (N, N)
        The form, symmetric and positive semidefinite. It is the covariance only if E[r^2] = N.

    Examples
    --------
    >>> import math
    >>> from fenchel import Elliptical
    >>> p = Elliptical(lambda q: -math.sqrt(q), mu=[0, 0, 0], Sigma=[[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> print(round(p.pdf([0, 0, 0]) * 8 * math.pi, 8))
    1.0
    >>> p.cov().diagonal().round(6)
    array([4., 4., 4.])
    """

    __slots__ = ("_kept", "_log_generator")
    _parameters = ("log_generator", "mu", "Sigma")

    def __init__(self, log_generator: Callable[[float], float], mu: npt.ArrayLike, Sigma: npt.ArrayLike) -> None:
        if not callable(log_generator):
            raise TypeError(f"log_generator must be callable, got {shown(log_generator)}")
        self._log_generator = self._kept = log_generator
        self._core = _core.Elliptical(log_generator, vector("mu", mu), matrix("Sigma", Sigma))

    def _derived(self, core: Any) -> Elliptical:
        """A law whose generator is made of this one's, which must stay alive."""
        made = self._of(core)
        made._log_generator, made._kept = core.log_generator, self._kept
        return made

    @property
    def log_generator(self) -> Callable[[float], float]:
        """log g, up to a constant."""
        return self._log_generator

    def marginal(self, indices: Sequence[int]) -> Elliptical:
        """The distribution of these coordinates, in this order: elliptical with another generator."""
        return self._derived(self._core.marginal(_indices(indices)))

    def escort(self, order: float) -> Elliptical:
        """The density proportional to the power `order` of this one."""
        return self._derived(self._core.escort(*reals(order=order)))
