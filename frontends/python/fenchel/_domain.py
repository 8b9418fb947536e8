"""Domains: where predictions live."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import FloatArray, integer, reals, vector
from ._value import Parameter, Value


class Domain(Value):
    """A set of real numbers that densities live on: an immutable value."""

    __slots__ = ()


class Line(Domain):
    """All real numbers.

    Examples
    --------
    >>> from fenchel import Line
    >>> Line()
    Line()
    """

    __slots__ = ()
    _parameters = ()

    def __init__(self) -> None:
        self._core = _core.Interval(-math.inf, math.inf)


class Interval(Domain):
    """The numbers from lower to upper, either of them possibly infinite.

    Examples
    --------
    >>> from fenchel import Interval
    >>> Interval(0, 1)
    Interval(lower=0.0, upper=1.0)
    """

    __slots__ = ()
    _parameters = ("lower", "upper")

    lower = Parameter("Where it begins.")
    upper = Parameter("Where it ends.")

    def __init__(self, lower: float, upper: float) -> None:
        self._core = _core.Interval(*reals(lower=lower, upper=upper))


class IntegerDomain(Domain):
    """A set of integers that distributions live on."""

    __slots__ = ()


class Integers(IntegerDomain):
    """All integers.

    Examples
    --------
    >>> from fenchel import Integers
    >>> Integers()
    Integers()
    """

    __slots__ = ()
    _parameters = ()

    def __init__(self) -> None:
        self._core = _core.IntegerRange(-(2**63), 2**63 - 1)


class Naturals(IntegerDomain):
    """0, 1, 2, ...

    Examples
    --------
    >>> from fenchel import Naturals
    >>> Naturals()
    Naturals()
    """

    __slots__ = ()
    _parameters = ()

    def __init__(self) -> None:
        self._core = _core.IntegerRange(0, 2**63 - 1)


class IntegerRange(IntegerDomain):
    """The integers from first to last, both included.

    Examples
    --------
    >>> from fenchel import IntegerRange
    >>> IntegerRange(1, 6)
    IntegerRange(first=1, last=6)
    """

    __slots__ = ()
    _parameters = ("first", "last")

    def __init__(self, first: int, last: int) -> None:
        start, end = integer("first", first), integer("last", last)
        if not -(2**53) <= start <= end <= 2**53:
            raise ValueError(f"first and last must be in [-2**53, 2**53] and in order, got {start} and {end}")
        self._core = _core.IntegerRange(start, end)

    @property
    def first(self) -> int:
        """The smallest one."""
        return int(self._core.first)

    @property
    def last(self) -> int:
        """The largest one."""
        return int(self._core.last)


class Euclidean(Value):
    """All points of R^N.

    Examples
    --------
    >>> from fenchel import Euclidean
    >>> Euclidean(2)
    Euclidean(dimension=2)
    """

    __slots__ = ()
    _parameters = ("dimension",)

    def __init__(self, dimension: int) -> None:
        size = integer("dimension", dimension)
        if size < 1:
            raise ValueError(f"Euclidean: dimension must be positive, got {size}")
        self._core = _core.Box(np.full(size, -math.inf), np.full(size, math.inf))

    @property
    def dimension(self) -> int:
        """N."""
        return len(self._core.lower)


class Box(Value):
    """The points of R^N between two corners, any coordinate of which may be infinite.

    Examples
    --------
    >>> from fenchel import Box
    >>> Box([0, 0], [1, 2])
    Box(lower=(0.0, 0.0), upper=(1.0, 2.0))
    """

    __slots__ = ()
    _parameters = ("lower", "upper")

    def __init__(self, lower: npt.ArrayLike, upper: npt.ArrayLike) -> None:
        self._core = _core.Box(vector("lower", lower), vector("upper", upper))

    @property
    def lower(self) -> FloatArray:
        """The corner with the least coordinates."""
        return np.array(self._core.lower)

    @property
    def upper(self) -> FloatArray:
        """The corner with the largest coordinates."""
        return np.array(self._core.upper)

    @property
    def dimension(self) -> int:
        """N."""
        return len(self._core.lower)

    def _values(self) -> tuple[Any, ...]:
        return tuple(self.lower.tolist()), tuple(self.upper.tolist())
