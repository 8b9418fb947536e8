"""Domains: where predictions live."""

from __future__ import annotations

import math

from . import _core
from ._arrays import integer, reals
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
