"""Elliptical laws on R^N with any generator."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import FloatArray, RandomState, Size, elementwise, matrix, points, reals, seed_from, shape_from, shown, vector
from ._distribution import Distribution
from ._space import Ellipsoid, _indices, _read_only


class Elliptical(Distribution):
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
    >>> round(p.pdf([0, 0, 0]) * 8 * math.pi, 8)
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

    @property
    def mu(self) -> FloatArray:
        """The centre."""
        return _read_only(self._core.mu)

    @property
    def Sigma(self) -> FloatArray:
        """The form."""
        return _read_only(self._core.Sigma)

    @property
    def dimension(self) -> int:
        """N."""
        return int(self._core.dimension)

    @property
    def rank(self) -> int:
        """The dimension of the image of Sigma."""
        return int(self._core.rank)

    def pdf(self, x: npt.ArrayLike) -> Any:
        """The density at points of shape (..., N): 0 outside of the support."""
        return self._core.pdf(points("x", x, self.dimension))[()]

    def logpdf(self, x: npt.ArrayLike) -> Any:
        """The logarithm of the density at points of shape (..., N): -inf outside of the support."""
        return self._core.log_pdf(points("x", x, self.dimension))[()]

    def rvs(self, size: Size = None, random_state: RandomState = None) -> FloatArray:
        """Draws, an array of shape size + (N,): a direction, and a radius by inversion."""
        shape = shape_from(size)
        draws: FloatArray = self._core.sample(math.prod(shape), seed_from(random_state)).T
        return draws.reshape(*shape, self.dimension)

    def mean(self) -> FloatArray:
        """The expected value."""
        return np.array(self.mu)

    def mode(self) -> FloatArray:
        """Where the density is largest."""
        return np.array(self.mu)

    def cov(self) -> FloatArray:
        """The covariance matrix; inf where there is none."""
        return np.array(self._core.covariance())

    def entropy(self) -> float:
        """The Shannon entropy, in nats."""
        return float(self._core.entropy())

    def tsallis_entropy(self, alpha: float | None = None) -> float:
        """The Tsallis entropy -Omega_alpha; alpha is needed."""
        return float(self._core.tsallis_entropy(self._order(alpha)))

    def support(self) -> Ellipsoid:
        """The ellipsoid that has all the mass."""
        return Ellipsoid._of(self._core.support())

    def contour(self, mass: float) -> Ellipsoid:
        """The smallest ellipsoid of this mass."""
        return Ellipsoid._of(self._core.contour(*reals(mass=mass)))

    def radial_cdf(self, q: npt.ArrayLike) -> Any:
        """P((X - mu)^T Sigma^-1 (X - mu) <= q)."""
        return elementwise("q", self._core.radial_cdf, q)

    def marginal(self, indices: Sequence[int]) -> Elliptical:
        """The distribution of these coordinates, in this order: elliptical with another generator."""
        return self._derived(self._core.marginal(_indices(indices)))

    def escort(self, order: float) -> Elliptical:
        """The density proportional to the power `order` of this one."""
        return self._derived(self._core.escort(*reals(order=order)))
