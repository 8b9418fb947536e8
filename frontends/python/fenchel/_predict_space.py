"""Predictions for any score in the plane and in space."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import FloatArray, RandomState, Size, points, reals, seed_from, shape_from, shown
from ._distribution import Distribution
from ._domain import Box, Euclidean
from ._regularizer import Tsallis
from ._space import MultivariateBetaGaussian

PointsFunction = Callable[[FloatArray], npt.ArrayLike]


def _checked(name: str, f: PointsFunction) -> Callable[[FloatArray], FloatArray]:
    """f with one float for each point, which C++ relies on."""

    def values(x: FloatArray) -> FloatArray:
        array = np.ascontiguousarray(f(x), dtype=float)
        if array.shape != x.shape[:1]:
            raise ValueError(f"{name} must return one number for each point, shape {x.shape[:1]}, got {array.shape}")
        return array

    return values


class LevelSupport:
    """Where a density in the plane or in space is positive.

    Attributes
    ----------
    bounds : Box
        All of it is inside.

    Examples
    --------
    >>> from fenchel import Euclidean, Tsallis, predict
    >>> p = predict(Tsallis(2), lambda x: -(x**2).sum(-1) / 2, Euclidean(2))
    >>> p.support().contains([[0, 0], [2, 2]])
    array([ True, False])
    """

    __slots__ = ("_density", "bounds")

    def __init__(self, density: MultivariateNumericDensity) -> None:
        self._density = density
        core = density._core.bounds()
        self.bounds = Box(core.lower, core.upper)

    def contains(self, x: npt.ArrayLike) -> Any:
        """Whether points of shape (..., N) are inside; False for a NaN."""
        return np.asarray(self._density.logpdf(x)) > -math.inf

    def contours(self) -> list[FloatArray]:
        """Its edge in the plane, lines of shape (k, 2), open where they meet that of the domain; none for alpha <= 1."""
        return self._density.contour(1)


class MultivariateNumericDensity(Distribution):
    """The prediction of `Tsallis` for a score of points that is a Python function: what `predict` gives.

    Methods over points take arrays of shape (..., N). Its methods call f, so they hold the GIL and run on one thread;
    what f raises comes back unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> from fenchel import Euclidean, Tsallis, predict
    >>> p = predict(Tsallis(2), lambda x: 3 * x[:, 0] ** 2 - x[:, 0] ** 4 - x[:, 1] ** 2, Euclidean(2))
    >>> len(p.support().contours()), np.sort(p.modes()[:, 0]).round(3).tolist()
    (2, [-1.225, 1.225])
    """

    __slots__ = ("_domain", "_f", "_regularizer")
    _parameters = ("regularizer", "f", "domain")

    def __init__(self, regularizer: Tsallis, f: PointsFunction, domain: Euclidean | Box) -> None:
        if not isinstance(regularizer, Tsallis):
            raise TypeError(f"regularizer must be Tsallis in the plane and in space, got {shown(regularizer)}")
        if not callable(f):
            raise TypeError(f"f must be callable, got {shown(f)}")
        if not isinstance(domain, (Euclidean, Box)):
            raise TypeError(f"domain must be Euclidean or a Box, got {shown(domain)}")
        self._regularizer, self._f, self._domain = regularizer, f, domain
        self._core = _core.MultivariateNumericDensity(regularizer._core, _checked("f", f), domain._core)

    @property
    def regularizer(self) -> Tsallis:
        """What it costs to be certain."""
        return self._regularizer

    @property
    def f(self) -> PointsFunction:
        """The score."""
        return self._f

    @property
    def domain(self) -> Euclidean | Box:
        """Where it lives."""
        return self._domain

    @property
    def dimension(self) -> int:
        """N."""
        return int(self._core.dimension)

    def pdf(self, x: npt.ArrayLike) -> Any:
        """The density at points of shape (..., N): 0 outside of the support."""
        return self._core.pdf(points("x", x, self.dimension))[()]

    def logpdf(self, x: npt.ArrayLike) -> Any:
        """The logarithm of the density at points of shape (..., N): -inf outside of the support."""
        return self._core.log_pdf(points("x", x, self.dimension))[()]

    def rvs(self, size: Size = None, random_state: RandomState = None) -> FloatArray:
        """Draws, an array of shape size + (N,): an integer `random_state` is a seed, as for other distributions.

        A draw in space integrates over a plane, and takes about a thousand times as long as one in the plane.
        """
        shape = shape_from(size)
        draws: FloatArray = self._core.sample(math.prod(shape), seed_from(random_state)).T
        return draws.reshape(*shape, self.dimension)

    def mean(self) -> FloatArray:
        """The expected value; NaN where tails are too heavy for one."""
        return np.array(self._core.mean())

    def mode(self) -> FloatArray:
        """Where the density is largest."""
        return np.array(self._core.modes()[0])

    def modes(self) -> FloatArray:
        """The local maxima that were found in the support, the highest first: an array of shape (k, N)."""
        return np.array(self._core.modes())

    def cov(self) -> FloatArray:
        """The covariance matrix; inf where there is none."""
        return np.array(self._core.covariance())

    def var(self) -> FloatArray:
        """The variance of each coordinate: the diagonal of `cov`."""
        return np.diag(self.cov()).copy()

    def entropy(self) -> float:
        """The Shannon entropy, in nats."""
        return float(self._core.entropy())

    def tsallis_entropy(self, alpha: float | None = None) -> float:
        """The Tsallis entropy -Omega_alpha: of the order of the regularizer unless alpha is given; Shannon's for 1."""
        return float(self._core.tsallis_entropy(self._order(self._regularizer.alpha if alpha is None else alpha)))

    def support(self) -> LevelSupport:
        """Where the density is positive: `contains`, `bounds` and, in the plane, `contours`."""
        return LevelSupport(self)

    def contour(self, mass: float) -> list[FloatArray]:
        """The edge, in the plane, of the smallest set of this mass: lines of shape (k, 2), the set on their left."""
        return [np.array(line.T) for line in self._core.contours(*reals(mass=mass))]

    def expect(self, func: PointsFunction) -> float:
        """E[func(X)], to the accuracy of the density; func takes points of shape (n, N), as f does."""
        if not callable(func):
            raise TypeError(f"func must be callable, got {shown(func)}")
        return float(self._core.expectation(_checked("func", func)))

    def fenchel_young(self, target: Any, return_gradient: bool = False) -> Any:
        """The Fenchel-Young loss of the score against a target: never negative, 0 for this distribution.

        A target is a density, a point (a vector) or a sample (a matrix of rows); for the latter two the loss is inf for
        alpha >= 1. With `return_gradient` a pair: the loss, and a dict with its derivative by alpha.
        """
        return self._loss("fenchel_young", target, return_gradient)

    def cross_omega(self, target: Any, return_gradient: bool = False) -> Any:
        """The Fenchel-Young loss without the target's negentropy, Omega*(f) - E_target[f]."""
        return self._loss("cross_omega", target, return_gradient)

    def _loss(self, name: str, target: Any, return_gradient: bool) -> Any:
        if isinstance(target, (MultivariateNumericDensity, MultivariateBetaGaussian)):
            core: Any = target._core
        else:
            sample = points("target", target, self.dimension)
            if sample.ndim > 2:
                raise ValueError(f"target must be a vector or a matrix of rows, got an array of shape {sample.shape}")
            core = sample.reshape(-1, self.dimension).T
        parts = self._regularizer._core, _checked("f", self._f), self._domain._core
        loss, gradient = getattr(self._core, name)(*parts, core)
        return (loss, gradient) if return_gradient else loss
