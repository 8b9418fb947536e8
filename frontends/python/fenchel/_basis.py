"""Bases of attention: the functions that values at positions are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import FloatArray, doubles, integer, points, reals, shown
from ._value import Parameter, Value

if TYPE_CHECKING:
    from typing_extensions import Self


def _numbers(name: str, x: npt.ArrayLike) -> list[float]:
    """A vector, or a number, as C++ takes it."""
    array = np.atleast_1d(doubles(name, x))
    if array.ndim != 1:
        raise ValueError(f"{name} must be a number or a vector, got shape {array.shape}")
    return [float(number) for number in array]


def _count(name: str, x: int) -> int:
    """A number of functions or of cells; products of two of them fit 64 bits."""
    return integer(name, x, limit=2**31)


class Basis(Value):
    """Functions psi = (psi_1, ..., psi_N) of a position: an immutable value.

    ``basis(t)`` is psi at each position of an array, N numbers each. ``len(basis)`` is N. A basis is equal to another
    where their parameters are, and can be pickled, copied and used as a key.
    """

    __slots__ = ()

    @property
    def dimension(self) -> int | None:
        """None for functions of a number, D for functions of a point of R^D."""
        return None

    def __len__(self) -> int:
        return int(self._core.size())

    def __call__(self, t: npt.ArrayLike) -> FloatArray:
        """psi at the positions t.

        Parameters
        ----------
        t : array_like
            Numbers, of any shape; for functions on R^D points, of shape (..., D).

        Returns
        -------
        ndarray, shape (..., N)
        """
        at, shape = self._points(t)
        return np.asarray(self._stacked(lambda core: core.design(at)).T.reshape(*shape, len(self)))

    def _points(self, t: npt.ArrayLike) -> tuple[FloatArray, tuple[int, ...]]:
        """The positions as C++ takes them, on R^D a column each, and the shape they came in."""
        if self.dimension is None:
            numbers = doubles("t", t)
            return numbers, numbers.shape
        array = points("t", t, self.dimension)
        return array.reshape(-1, self.dimension).T, array.shape[:-1]

    def _stacked(self, rows: Callable[[Any], Any]) -> Any:
        """rows(the basis in C++): an array with a row for each function."""
        return rows(self._core)


class GaussianBasis(Basis):
    """Gaussian radial basis functions, psi_j(t) = N(t; mu_j, sigma_j^2): densities, so that each integrates to one.

    Parameters
    ----------
    mu : array_like, shape (N,)
        The centres.
    sigma : array_like, shape (N,), or a number for all of them
        The standard deviations.

    Examples
    --------
    >>> from fenchel import GaussianBasis
    >>> basis = GaussianBasis([0.0, 0.5, 1.0], 0.2)
    >>> len(basis)
    3
    >>> basis([0.0, 0.5]).round(4)
    array([[1.9947, 0.0876, 0.    ],
           [0.0876, 1.9947, 0.0876]])
    """

    __slots__ = ()
    _parameters = ("mu", "sigma")

    def __init__(self, mu: npt.ArrayLike, sigma: npt.ArrayLike) -> None:
        centres, deviations = doubles("mu", mu), doubles("sigma", sigma)
        if centres.ndim != 1:
            hint = ": see MultivariateGaussianBasis" * (centres.ndim == 2)
            raise ValueError(f"GaussianBasis: mu must have shape (N,), got {centres.shape}{hint}")
        if deviations.shape not in (centres.shape, ()):
            raise ValueError(
                f"GaussianBasis: sigma must have shape {centres.shape}, as mu has, or be a number, "
                f"got {deviations.shape}"
            )
        deviations = np.broadcast_to(deviations, centres.shape)
        self._core = _core.GaussianBasis(centres.tolist(), deviations.tolist())

    @classmethod
    def linearly_spaced(
        cls, count: int, lower: float = 0.0, upper: float = 1.0, sigma: npt.ArrayLike = (0.1, 0.5)
    ) -> Self:
        """For each sigma in turn as many functions as for the others, `count` in all, from lower to upper.

        The centres include both ends. The paper's basis for audio is ``linearly_spaced(128)``.
        """
        first, last = reals(lower=lower, upper=upper)
        deviations = _numbers("sigma", sigma)
        return cls._of(_core.GaussianBasis.linearly_spaced(_count("count", count), first, last, deviations))

    @property
    def mu(self) -> FloatArray:
        """The centres, (N,)."""
        return np.array(self._core.mu())

    @property
    def sigma(self) -> FloatArray:
        """The standard deviations, (N,)."""
        return np.array(self._core.sigma())


class MultivariateGaussianBasis(Basis):
    """Gaussian radial basis functions on R^D, psi_j(t) = N(t; mu_j, Sigma_j): densities.

    Parameters
    ----------
    mu : array_like, shape (N, D)
        The centres.
    Sigma : array_like, shape (N, D, D), or (D, D) for all of them
        The covariances.

    Examples
    --------
    >>> from fenchel import MultivariateGaussianBasis
    >>> basis = MultivariateGaussianBasis([[0.2, 0.2], [0.8, 0.5]], [[0.1, 0.0], [0.0, 0.2]])
    >>> len(basis), basis.dimension
    (2, 2)
    """

    __slots__ = ()
    _parameters = ("mu", "Sigma")

    def __init__(self, mu: npt.ArrayLike, Sigma: npt.ArrayLike) -> None:
        centres, covariances = doubles("mu", mu), doubles("Sigma", Sigma)
        if centres.ndim != 2:
            hint = ": see GaussianBasis" * (centres.ndim == 1)
            raise ValueError(f"MultivariateGaussianBasis: mu must have shape (N, D), got {centres.shape}{hint}")
        shape = centres.shape + centres.shape[1:]
        if covariances.shape not in (shape, shape[1:]):
            raise ValueError(
                f"MultivariateGaussianBasis: Sigma must have shape {shape} or {shape[1:]}, as mu has {centres.shape}, "
                f"got {covariances.shape}"
            )
        self._core = _core.MultivariateGaussianBasis(centres.T, list(np.broadcast_to(covariances, shape)))

    @classmethod
    def unit_square(cls, rows: int, columns: int, Sigma: npt.ArrayLike) -> Self:
        """rows x columns functions on the unit square with one covariance, row by row, ends included.

        The paper's basis for images is ``unit_square(10, 10, 0.001 * np.eye(2))``.
        """
        covariance = doubles("Sigma", Sigma)
        if covariance.shape != (2, 2):
            raise ValueError(f"unit_square: Sigma must have shape (2, 2), got {covariance.shape}")
        counts = _count("rows", rows), _count("columns", columns)
        return cls._of(_core.MultivariateGaussianBasis.unit_square(*counts, covariance))

    @property
    def dimension(self) -> int:
        """D."""
        return int(self._core.dimension())

    @property
    def mu(self) -> FloatArray:
        """The centres, (N, D)."""
        return np.array([self._core.mu(j) for j in range(len(self))])

    @property
    def Sigma(self) -> FloatArray:
        """The covariances, (N, D, D)."""
        return np.array([self._core.Sigma(j) for j in range(len(self))])


class PolynomialBasis(Basis):
    """psi_k(t) = ((t - centre) / width)^k, k = 0, ..., degree.

    A centre and a width of the place where t lies keep high degrees usable.

    Examples
    --------
    >>> from fenchel import PolynomialBasis
    >>> PolynomialBasis(2)(3.0)
    array([1., 3., 9.])
    """

    __slots__ = ()
    _parameters = ("degree", "centre", "width")

    def __init__(self, degree: int, centre: float = 0.0, width: float = 1.0) -> None:
        self._core = _core.PolynomialBasis(_count("degree", degree), *reals(centre=centre, width=width))

    @property
    def degree(self) -> int:
        """The highest power."""
        return int(self._core.degree)

    centre = Parameter("Where the powers are 0.")
    width = Parameter("The unit of length.")


class FourierBasis(Basis):
    """Waves: 1, then cos(2 pi k t / period) and sin(2 pi k t / period) for k = 1, ..., count.

    Examples
    --------
    >>> from fenchel import FourierBasis
    >>> FourierBasis(1, period=4)(1.0).round(4)
    array([1., 0., 1.])
    """

    __slots__ = ()
    _parameters = ("count", "period")

    def __init__(self, count: int, period: float = 1.0) -> None:
        self._core = _core.FourierBasis(_count("count", count), *reals(period=period))

    @property
    def count(self) -> int:
        """How many frequencies there are."""
        return int(self._core.count)

    period = Parameter("The longest period.")


class FunctionBasis(Basis):
    """Any functions of a float, integrated by quadrature. They need not be differentiable.

    Parameters
    ----------
    functions : sequence of callables
        Each takes a float and gives a float. What they raise reaches the caller.
    cuts : sequence of float
        Places where a function changes quickly, or has a kink or a jump: what is narrower than its distance to them
        may be missed.

    Examples
    --------
    >>> import math
    >>> from fenchel import BetaGaussian, FunctionBasis, attend
    >>> attend(BetaGaussian(1), FunctionBasis([math.cos, abs], cuts=[0.0])).round(4)
    array([0.6065, 0.7979])
    """

    __slots__ = ()
    _parameters = ("functions", "cuts")

    def __init__(self, functions: Sequence[Callable[[float], float]], cuts: Sequence[float] = ()) -> None:
        if not isinstance(functions, Iterable):
            raise TypeError(f"FunctionBasis: functions must be a sequence of callables, got {shown(functions)}")
        called = list(functions)
        for f in called:
            if not callable(f):
                raise TypeError(f"FunctionBasis: functions must be callable, got {shown(f)}")
        self._core = _core.FunctionBasis(called, _numbers("cuts", cuts))

    @property
    def functions(self) -> tuple[Callable[[float], float], ...]:
        """The functions."""
        return tuple(self._core.functions)

    @property
    def cuts(self) -> tuple[float, ...]:
        """Where they change quickly."""
        return tuple(self._core.cuts())


class ConcatenatedBasis(Basis):
    """The functions of several bases on the line, one basis after the other.

    Examples
    --------
    >>> from fenchel import ConcatenatedBasis, FourierBasis, PolynomialBasis
    >>> basis = ConcatenatedBasis(PolynomialBasis(1), FourierBasis(1))
    >>> basis(0.5).round(4)
    array([ 1. ,  0.5,  1. , -1. ,  0. ])
    """

    __slots__ = ("_bases",)
    _parameters = ("bases",)

    def __init__(self, *bases: Basis) -> None:
        self._bases = bases
        if not bases:
            raise ValueError("ConcatenatedBasis: bases must not be empty")
        for basis in bases:
            if not isinstance(basis, Basis) or basis.dimension is not None:
                raise TypeError(f"ConcatenatedBasis: bases must be bases on the line, got {shown(basis)}")

    @property
    def bases(self) -> tuple[Basis, ...]:
        """The parts."""
        return self._bases

    def __len__(self) -> int:
        return sum(map(len, self.bases))

    def _stacked(self, rows: Callable[[Any], Any]) -> Any:
        return np.concatenate([basis._stacked(rows) for basis in self.bases])

    def __repr__(self) -> str:
        return f"ConcatenatedBasis({', '.join(map(repr, self.bases))})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.bases


def positions(length: int) -> FloatArray:
    """Where the frames of a sequence lie: at the centres of `length` equal cells of [0, 1].

    Examples
    --------
    >>> from fenchel import positions
    >>> positions(4)
    array([0.125, 0.375, 0.625, 0.875])
    """
    return np.asarray(_core.positions(integer("length", length)))


def grid_positions(rows: int, columns: int) -> FloatArray:
    """Where the pixels of an image lie: at the centres of the cells of the unit square, (x, y) each, row by row.

    Examples
    --------
    >>> from fenchel import grid_positions
    >>> grid_positions(1, 2)
    array([[0.25, 0.5 ],
           [0.75, 0.5 ]])
    """
    return np.asarray(_core.grid_positions(_count("rows", rows), _count("columns", columns)).T)
