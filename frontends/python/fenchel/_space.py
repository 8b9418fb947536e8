"""Distributions on R^N."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import (
    FloatArray,
    RandomState,
    Size,
    doubles,
    elementwise,
    integer,
    matrix,
    points,
    reals,
    seed_from,
    shape_from,
    shown,
    vector,
)
from ._distribution import Distribution
from ._score import Prediction
from ._value import Parameter, Value


def _indices(indices: Sequence[int]) -> list[int]:
    """Coordinates, as C++ takes them."""
    array = np.asarray(indices)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError(f"indices must be a sequence of integers, got {shown(indices)}")
    return [integer("indices", i) for i in array]


def _read_only(array: FloatArray) -> FloatArray:
    array.flags.writeable = False
    return array


def _tuples(array: FloatArray) -> Any:
    """An array as nested tuples: they compare, and they are keys."""
    return tuple(array.tolist()) if array.ndim == 1 else tuple(map(tuple, array.tolist()))


class Ellipsoid(Value):
    """The points x with (x - centre)^T shape^-1 (x - centre) < radius2.

    Where shape is singular they are those of centre + image of shape. An infinite radius2 is all of it.

    Examples
    --------
    >>> from fenchel import Ellipsoid
    >>> disk = Ellipsoid([0, 0], [[1, 0], [0, 4]], radius2=1)
    >>> disk.contains([[0, 1.9], [1.9, 0]])
    array([ True, False])
    """

    __slots__ = ()
    _parameters = ("centre", "shape", "radius2")

    def __init__(self, centre: npt.ArrayLike, shape: npt.ArrayLike, radius2: float) -> None:
        (size,) = reals(radius2=radius2)
        if not size >= 0:
            raise ValueError(f"Ellipsoid: radius2 must not be negative, got {radius2}")
        self._core = _core.Ellipsoid(vector("centre", centre), matrix("shape", shape), size)

    @property
    def centre(self) -> FloatArray:
        """The centre."""
        return _read_only(self._core.centre)

    @property
    def shape(self) -> FloatArray:
        """The matrix of the form."""
        return _read_only(self._core.shape)

    radius2 = Parameter("The square of the radius, in the metric of the form.")

    def contains(self, x: npt.ArrayLike) -> Any:
        """Whether points of shape (..., N) are inside; False for a NaN."""
        return self._core.contains(points("x", x, len(self._core.centre))).view(bool)[()]

    def _values(self) -> tuple[Any, ...]:
        return _tuples(self.centre), _tuples(self.shape), self.radius2


class SpaceDistribution(Distribution):
    """A distribution on R^N that is a function of a quadratic form: what all of them have."""

    __slots__ = ()

    @property
    def mu(self) -> FloatArray:
        """The centre."""
        return _read_only(self._core.mu)

    @property
    def Sigma(self) -> FloatArray:
        """The matrix of the form."""
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
        """Draws, an array of shape size + (N,).

        An integer `random_state` is the seed of the counter-based generator of the C++ library, which draws the same
        numbers on any number of threads; a numpy Generator gives a seed, and moves on.
        """
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
        """The Tsallis entropy -Omega_alpha: of the order of the regularizer unless alpha is given; Shannon's for 1."""
        return float(self._core.tsallis_entropy(self._order(alpha)))

    def support(self) -> Ellipsoid:
        """The ellipsoid that has all the mass; all of space for alpha <= 1."""
        return Ellipsoid._of(self._core.support())

    def contour(self, mass: float) -> Ellipsoid:
        """The smallest ellipsoid of this mass."""
        return Ellipsoid._of(self._core.contour(*reals(mass=mass)))

    def radial_cdf(self, q: npt.ArrayLike) -> Any:
        """P((X - mu)^T Sigma^-1 (X - mu) <= q)."""
        return elementwise("q", self._core.radial_cdf, q)


class MultivariateBetaGaussian(SpaceDistribution, Prediction):
    """A bell in N dimensions, on an ellipsoid for alpha > 1: `BetaGaussian` for points.

    p(x) is the formula of `BetaGaussian` for the score f(x) = -(x - mu)^T Sigma^-1 (x - mu) / 2: Student (alpha < 1),
    Gaussian (1), a density on an ellipsoid (alpha > 1), uniform on it (inf). Methods over points take arrays of shape
    (..., N).

    Parameters
    ----------
    alpha : float
        Greater than max(0, 1 - 2 / rank); inf is allowed.
    mu : array_like of shape (N,)
        The centre: mean and mode.
    Sigma : array_like of shape (N, N) or (N,)
        The scale of the score, symmetric and positive semidefinite; a vector is a diagonal. It is the covariance for
        alpha = 1 only: see `from_covariance`. With a singular Sigma it is a density on mu + image of Sigma.

    Examples
    --------
    >>> from fenchel import MultivariateBetaGaussian
    >>> p = MultivariateBetaGaussian(alpha=2, mu=[0, 0], Sigma=[[1, 0.5], [0.5, 1]])
    >>> p.pdf([[0, 0], [0.5, 0.5], [3, 3]]).round(4)
    array([0.6063, 0.4396, 0.    ])
    >>> p.support().contains([[0.5, 0.5], [3, 3]])
    array([ True, False])
    >>> round(p.marginal([0]).alpha, 4)
    1.6667
    """

    __slots__ = ()
    _parameters = ("alpha", "mu", "Sigma")

    alpha = Parameter("The order of the regularizer.")

    def __init__(self, alpha: float, mu: npt.ArrayLike, Sigma: npt.ArrayLike) -> None:
        (order,), centre, scale = reals(alpha=alpha), vector("mu", mu), doubles("Sigma", Sigma)
        if scale.ndim == 1:
            self._core = _core.MultivariateBetaGaussian.diagonal(order, centre, scale)
        else:
            self._core = _core.MultivariateBetaGaussian(order, centre, matrix("Sigma", scale))

    @classmethod
    def from_covariance(cls, alpha: float, mu: npt.ArrayLike, covariance: npt.ArrayLike) -> MultivariateBetaGaussian:
        """The member with this covariance; it exists for alpha > rank / (rank + 2)."""
        (order,), centre = reals(alpha=alpha), vector("mu", mu)
        return cls._of(
            _core.MultivariateBetaGaussian.from_covariance(order, centre, matrix("covariance", covariance))
        )

    @classmethod
    def uniform(cls, support: Ellipsoid) -> MultivariateBetaGaussian:
        """The density that is constant on an ellipsoid: alpha is inf."""
        if not isinstance(support, Ellipsoid):
            raise TypeError(f"support must be an Ellipsoid, got {shown(support)}")
        return cls._of(_core.MultivariateBetaGaussian.uniform(support._core))

    def var(self) -> FloatArray:
        """The variance of each coordinate: the diagonal of `cov`."""
        return np.diag(self.cov()).copy()

    def kurtosis(self) -> float:
        """Mardia's E[((X - mu)^T cov^-1 (X - mu))^2]: rank (rank + 2) for the Gaussian."""
        return float(self._core.kurtosis())

    def marginal(self, indices: Sequence[int]) -> MultivariateBetaGaussian:
        """The distribution of these coordinates, in this order. Its alpha is another one."""
        return self._of(self._core.marginal(_indices(indices)))

    def conditional(self, indices: Sequence[int], values: npt.ArrayLike) -> MultivariateBetaGaussian:
        """The distribution of the other coordinates where these coordinates have these values."""
        return self._of(self._core.conditional(_indices(indices), vector("values", values)))

    def affine(self, B: npt.ArrayLike, b: npt.ArrayLike) -> MultivariateBetaGaussian:
        """The distribution of B X + b."""
        return self._of(self._core.affine(matrix("B", B), vector("b", b)))

    def escort(self, order: float) -> MultivariateBetaGaussian:
        """The density proportional to the power `order` of this one."""
        return self._of(self._core.escort(*reals(order=order)))

    def expect(self, func: Callable[[FloatArray], float]) -> float:
        """E[func(X)], to 1e-10 of E|func(X)|; func takes a vector. For smooth func and rank <= 4."""
        if not callable(func):
            raise TypeError(f"func must be callable, got {shown(func)}")
        return float(self._core.expectation(lambda x: reals(**{"what func returns": func(x)})[0]))

    def sample_gradient(self, x: npt.ArrayLike, cotangent: npt.ArrayLike) -> dict[str, Any]:
        """The derivatives of cotangent . x by mu, Sigma and alpha, where a draw x keeps its quantile and direction.

        NaN outside of the support. That of Sigma is the symmetric matrix G of dL = Tr(G dSigma).

        >>> MultivariateBetaGaussian(2, [0, 0], [1, 1]).sample_gradient([0.5, 0.0], [1, 2])["mu"]
        array([1., 2.])
        """
        gradient: dict[str, Any] = self._core.sample_gradient(vector("x", x), vector("cotangent", cotangent))
        return gradient

    def fenchel_young(self, target: MultivariateBetaGaussian | npt.ArrayLike, return_gradient: bool = False) -> Any:
        """The Fenchel-Young loss of the score against a target: never negative, 0 exactly for this distribution.

        A target is a beta-Gaussian, a point (a vector) or a sample (a matrix of rows); for the latter two the loss is
        inf for alpha >= 1. With `return_gradient` a pair: the loss, and a dict of its derivatives by mu, Sigma (the
        symmetric matrix G of dL = Tr(G dSigma)) and alpha.
        """
        loss, gradient = self._core.fenchel_young(self._target(target))
        return (loss, gradient) if return_gradient else loss

    def cross_omega(self, target: MultivariateBetaGaussian | npt.ArrayLike, return_gradient: bool = False) -> Any:
        """The Fenchel-Young loss without the target's negentropy, Omega*(f) - E_target[f]."""
        loss, gradient = self._core.cross_omega(self._target(target))
        return (loss, gradient) if return_gradient else loss

    def _target(self, target: Any) -> Any:
        """What the losses of C++ take: a distribution, or a sample as the columns of a matrix."""
        if isinstance(target, MultivariateBetaGaussian):
            return target._core
        sample = points("target", target, self.dimension)
        if sample.ndim > 2:
            raise ValueError(f"target must be a vector or a matrix of rows, got an array of shape {sample.shape}")
        return sample.reshape(-1, self.dimension).T

    def _is_built(self) -> bool:
        """Whether alpha, mu and Sigma say all; a uniform density has a radius, too."""
        return self.alpha < math.inf or self.support() == type(self)(*self._values()[:3]).support()

    def _values(self) -> tuple[Any, ...]:
        values = self.alpha, _tuples(self.mu), _tuples(self.Sigma)
        return values if self.alpha < math.inf else (*values, self.support().radius2)

    def __repr__(self) -> str:
        return super().__repr__() if self._is_built() else f"{type(self).__name__}.uniform({self.support()!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), self._values()[:3]) if self._is_built() else (type(self).uniform, (self.support(),))
