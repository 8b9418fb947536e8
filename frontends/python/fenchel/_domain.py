"""Domains: where predictions live."""

from __future__ import annotations

import math

from . import _core
from ._arrays import reals
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
