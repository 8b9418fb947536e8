"""What laws are made of. A law calls what it is about, counts the numbers that it has looked at, and raises Broken."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

Function = Callable[..., Any]
EPSILON = float(np.finfo(float).eps)


class Broken(AssertionError):
    """What a law says that does not hold."""


class Count:
    """How many numbers laws have looked at in this process."""

    numbers = 0


def must(what: str, holds: Any, *shown: Any) -> None:
    """Every number of an array fulfils a condition."""
    array = np.asarray(holds)
    Count.numbers += array.size
    if not array.all():
        place = np.unravel_index(int(np.argmin(array)), array.shape)
        values = [repr(np.broadcast_to(np.asarray(x), array.shape)[place].item()) for x in shown]
        raise Broken(f"{what}{': ' + ', '.join(values) if shown else ''}")


def must_agree(what: str, a: Any, b: Any, relative: float = 0.0, absolute: Any = 0.0) -> None:
    """a and b are the same within bounds; equal infinities are."""
    x, y = np.asarray(a, float), np.asarray(b, float)
    must(f"{what}: shapes {x.shape} and {y.shape}", x.shape == y.shape)
    with np.errstate(all="ignore"):
        near = (x == y) | (abs(x - y) <= absolute + relative * np.maximum(abs(x), abs(y)))
    must(what, near, x, y)


def finite(x: Any) -> Any:
    """Numbers, arrays and what holds them: all finite."""
    if isinstance(x, dict):
        return {name: finite(value) for name, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [finite(value) for value in x]
    must("finite", np.isfinite(np.asarray(x, float)), x)
    return x


def not_nan(x: Any) -> Any:
    must("not NaN", ~np.isnan(np.asarray(x, float)), x)
    return x


def value(made: Any) -> Any:
    """An immutable value: equal to its copy by pickle, and so is its hash."""
    copied = pickle.loads(pickle.dumps(made))
    must("equals its copy", copied == made and hash(copied) == hash(made) and repr(copied) == repr(made))
    return made


def agree(a: Any, b: Any, relative: float = 0.0, absolute: Any = 0.0) -> None:
    """Two ways to the same numbers."""
    must_agree("the same", finite(a), b, relative, absolute)


def holds(x: Any) -> None:
    must("true", x)
