"""How arguments become the arrays that fenchel._core takes."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
RandomState = int | np.integer[Any] | np.random.Generator | np.random.RandomState | None
Size = int | tuple[int, ...] | None

_PART = 2**20
"""Elements that are copied at once."""


def shown(x: Any) -> str:
    """x in a short line, for messages."""
    try:
        text = " ".join(repr(x).split())
    except Exception:  # an integer may have more digits than Python prints
        return f"a value of type {type(x).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."


def real_numbers(name: str, x: npt.ArrayLike) -> npt.NDArray[Any]:
    """x as an array of real numbers, as it lies in memory."""
    try:
        array = np.asarray(x)
    except ValueError:
        raise ValueError(f"{name} must be an array of real numbers, got {shown(x)}") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must be real numbers, got an array of dtype {array.dtype}")
    if isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        raise ValueError(f"{name} must have no masked elements, got {shown(x)}")
    return array


def fill(out: npt.NDArray[Any], array: npt.NDArray[Any]) -> None:
    """out[...] = array, in parts: Ctrl-C acts between two of them. Of an array that is transposed they are faster, too."""
    if out.size <= _PART:
        out[...] = array
        return
    step = _PART * len(out) // out.size
    for begin in range(0, len(out), max(step, 1)):
        if step > 1:
            out[begin : begin + step] = array[begin : begin + step]
        else:
            fill(out[begin, ...], array[begin, ...])


def contiguous(array: npt.NDArray[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """The array as an aligned one of this type, its elements one after the other; itself where it is one."""
    if array.dtype == dtype and array.flags.c_contiguous and array.flags.aligned:
        return array
    copy = np.empty(array.shape, dtype)
    fill(copy, array)
    return copy


def doubles(name: str, x: npt.ArrayLike) -> FloatArray:
    """x as an aligned array of doubles, its elements one after the other; x itself where it is one."""
    return contiguous(real_numbers(name, x), np.float64)


def vector(name: str, x: npt.ArrayLike) -> FloatArray:
    """x as an array of doubles with one axis."""
    return _with_axes(name, x, 1, "a vector")


def matrix(name: str, x: npt.ArrayLike) -> FloatArray:
    """x as an array of doubles with two axes."""
    return _with_axes(name, x, 2, "a matrix")


def _with_axes(name: str, x: npt.ArrayLike, count: int, kind: str) -> FloatArray:
    array = doubles(name, x)
    if array.ndim != count:
        raise ValueError(f"{name} must be {kind}, got an array of shape {array.shape}")
    return array


def points(name: str, x: npt.ArrayLike, dimension: int) -> FloatArray:
    """x as an array of points of R^dimension, along the last axis."""
    array = doubles(name, x)
    if array.ndim == 0 or array.shape[-1] != dimension:
        raise ValueError(f"{name} must have shape (..., {dimension}), got {array.shape}")
    return array


def elementwise(name: str, f: Callable[[FloatArray], FloatArray], x: npt.ArrayLike) -> Any:
    """f over an array of any shape; a number gives a number."""
    return f(doubles(name, x))[()]


def reals(**values: Any) -> list[float]:
    """Arguments that are real numbers, as floats."""
    for name, x in values.items():
        number = x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x
        if not isinstance(number, numbers.Real):
            raise TypeError(f"{name} must be a real number, got {shown(x)}")
        try:
            values[name] = float(number)
        except OverflowError:
            raise ValueError(f"{name} must be a number that fits a double, got {shown(x)}") from None
    return list(values.values())


def integer(name: str, x: Any, limit: int = 2**63) -> int:
    """An argument that is an integer in [-limit, limit), as C++ takes it."""
    try:
        number = operator.index(x)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {shown(x)}") from None
    if not -limit <= number < limit:
        raise ValueError(f"{name} must be in [{-limit}, {limit}), got {shown(number)}")
    return number


def seed_from(random_state: RandomState) -> int:
    """A seed of 64 bits. A number is the seed itself, as in C++; a generator moves on; None is fresh."""
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**64, dtype=np.uint64))
    if isinstance(random_state, np.random.RandomState):
        return int.from_bytes(random_state.bytes(8), "little")
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"random_state must be in [0, 2**64), got {shown(random_state)}")
        return int(random_state)
    kinds = "a seed, a numpy Generator or RandomState, or None"
    raise TypeError(f"random_state must be {kinds}, got {shown(random_state)}")


def shape_from(size: Size) -> tuple[int, ...]:
    """The shape that size= asks for, as in NumPy: () for None."""
    if size is None:
        return ()
    sizes = size.tolist() if isinstance(size, np.ndarray) else size
    shape = tuple(integer("size", n) for n in (sizes if isinstance(sizes, (tuple, list)) else (sizes,)))
    if any(n < 0 for n in shape):
        raise ValueError(f"size must not be negative, got {size}")
    if math.prod(shape) >= 2**63:
        raise ValueError(f"size must be less than 2**63 in all, got {size}")
    return shape
