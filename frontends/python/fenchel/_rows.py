"""How arrays become the rows that the kernels take, and rows arrays: without a copy where there is a way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import contiguous, doubles, fill, integer, real_numbers, reals

Array = npt.NDArray[Any]
Axis = int | tuple[int, ...]
Parameter = float | npt.ArrayLike

_FLOAT32 = np.dtype(np.float32)
_FLOAT64 = np.dtype(np.float64)


def real_array(where: str, name: str, x: npt.ArrayLike) -> Array:
    """x as an array of real numbers, as it lies in memory."""
    return real_numbers(f"{where}: {name}", x)


def integer_array(where: str, name: str, x: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """x as integers of 64 bits; what does not fit stays too large."""
    array = real_array(where, name, x)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{where}: {name} must be integers, got an array of dtype {array.dtype}")
    if array.dtype.kind == "u":
        array = np.minimum(array, np.uint64(np.iinfo(np.int64).max))
    return array.astype(np.int64)


def _axes(where: str, axis: Axis, ndim: int) -> tuple[int, ...]:
    """The axes, counted from the front."""
    axes = tuple(integer(f"{where}: axis", a) for a in (axis if isinstance(axis, tuple) else (axis,)))
    for a in axes:
        if not -ndim <= a < ndim:
            raise np.exceptions.AxisError(a, ndim)
    axes = tuple(a % ndim for a in axes)
    if len(set(axes)) != len(axes):
        raise ValueError(f"{where}: axis must not name an axis twice, got {axis}")
    return axes


def check_out(where: str, out: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raises unless a result of this shape and type can be written to out."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"{where}: out must be a numpy array, got {type(out).__name__}")
    if out.shape != shape:
        raise ValueError(f"{where}: out must have shape {shape}, got {out.shape}")
    if out.dtype != dtype:
        raise TypeError(f"{where}: out must have dtype {dtype}, got {out.dtype}")
    if not out.flags.writeable:
        raise ValueError(f"{where}: out must be writable, got a read-only array")


def _same_place(a: Array, b: Array) -> bool:
    return a.__array_interface__["data"] == b.__array_interface__["data"] and a.strides == b.strides


class Batch:
    """The shape of arrays in which the elements along an axis, or along several, make a row.

    `dtype` is what they are worked on in: float64, or float32 where all of them are that or float16.
    """

    __slots__ = ("where", "shape", "batch_shape", "rows", "cols", "dtype", "_order")
    dtype: np.dtype[Any]
    _order: tuple[int, ...] | None

    def __init__(self, where: str, axis: Axis, name: str, *arrays: Array) -> None:
        self.where = where
        self.shape = shape = arrays[0].shape
        if not shape:
            raise ValueError(f"{where}: {name} must have at least one dimension, got a number")
        self.dtype = _FLOAT32
        for a in arrays:
            if a.dtype.kind != "f" or a.dtype.itemsize > 4:
                self.dtype = _FLOAT64
        if isinstance(axis, int) and (axis == -1 or axis == len(shape) - 1):
            self._order = None
            self.batch_shape, self.cols = shape[:-1], shape[-1]
        else:
            axes = _axes(where, axis, len(shape))
            kept = [i for i in range(len(shape)) if i not in axes]
            self._order = (*kept, *axes)
            self.batch_shape = tuple([shape[i] for i in kept])
            self.cols = math.prod([shape[i] for i in axes])
        self.rows = math.prod(self.batch_shape)
        if self.cols == 0:
            raise ValueError(f"{where}: {name} must not be empty along axis {axis}, got shape {shape}")

    def rows_of(self, name: str, array: Array) -> Array:
        """The rows of an array of this shape: a view, or a copy where kernels could not read it in place."""
        if array.shape != self.shape:
            raise ValueError(f"{self.where}: {name} must have shape {self.shape}, got {array.shape}")
        if self._order is not None:
            array = array.transpose(self._order)
        if array.dtype != self.dtype or not array.flags.aligned or (self._order is not None and array.ndim > 2):
            array = contiguous(array, self.dtype)
        rows = array.reshape(self.rows, self.cols)
        if self.cols > 1 and rows.strides[1] != rows.itemsize:
            rows = contiguous(rows, self.dtype)
        return rows

    def spread_rows(self, name: str, x: npt.ArrayLike) -> Array:
        """The rows of what broadcasts to this shape."""
        array = real_array(self.where, name, x)
        try:
            return self.rows_of(name, np.broadcast_to(array, self.shape))
        except ValueError:
            raise ValueError(
                f"{self.where}: {name} must broadcast to shape {self.shape}, got shape {array.shape}"
            ) from None

    def rows_to_write(self, out: Array | None, *read: Array, over: tuple[Array, ...] = ()) -> Array:
        """The rows of `out` where a kernel can write them in place, else new ones; `array_of` gives them back.

        The kernel reads `read` and `over`. It may write to the very place of one of `over`, not to a part of it.
        """
        if out is None:
            return np.empty((self.rows, self.cols), self.dtype)
        check_out(self.where, out, self.shape, self.dtype)
        rows = self.rows_of("out", out)
        shared = [x for x in (*read, *over) if np.may_share_memory(rows, x)]
        if all(any(x is y for y in over) and _same_place(rows, x) for x in shared):
            return rows
        return np.empty((self.rows, self.cols), self.dtype)

    def array_of(self, rows: Array, out: Array | None = None) -> Array:
        """The array with these rows: `out`, where it is given."""
        if out is not None and np.may_share_memory(rows, out):
            return out
        if self._order is None:
            array = rows.reshape(self.shape)
        else:
            back = sorted(range(len(self.shape)), key=self._order.__getitem__)
            array = rows.reshape([self.shape[i] for i in self._order]).transpose(back)
        if out is None:
            return array
        fill(out, array)
        return out

    def numbers(self, dtype: npt.DTypeLike = np.float64) -> Array:
        """Room for a number a row; `number_array` makes an array of it."""
        return np.empty(self.rows, dtype)

    def number_array(self, numbers: Array) -> Any:
        """The numbers of the rows, in the shape without the axis; one number for one row without others."""
        return numbers.reshape(self.batch_shape)[()]

    def per_row(self, name: str, value: Parameter) -> float | Array:
        """A parameter as kernels take it: a number, or one a row from what broadcasts to the shape without the axis."""
        if isinstance(value, (float, int)):
            return reals(**{f"{self.where}: {name}": value})[0] if isinstance(value, int) else float(value)
        array = doubles(f"{self.where}: {name}", value)
        return float(array) if array.ndim == 0 else self._spread(name, array)

    def numbers_per_row(self, name: str, value: npt.ArrayLike) -> Array:
        """One number a row."""
        return self._spread(name, doubles(f"{self.where}: {name}", value))

    def integers_per_row(self, name: str, value: npt.ArrayLike) -> Array:
        """One integer a row."""
        return self._spread(name, integer_array(self.where, name, value))

    def _spread(self, name: str, array: Array) -> Array:
        try:
            spread = np.broadcast_to(array, self.batch_shape)
        except ValueError:
            raise ValueError(
                f"{self.where}: {name} must broadcast to the shape without the axis, {self.batch_shape}, "
                f"got shape {array.shape}"
            ) from None
        return np.ascontiguousarray(spread).reshape(self.rows)
