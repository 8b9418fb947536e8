"""The calls that all maps share: the map, products with its Jacobian, and the loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import integer, shown
from ._rows import Array, Axis, Batch, Parameter, integer_array, real_array

Reduction = Literal["none", "mean", "sum"]
Named = tuple[str, Parameter]
"""The parameter of a map, with its name."""
Extra = Callable[[Batch], tuple[Any, ...]]
"""What a kernel takes besides, for rows of this shape."""

_REDUCTIONS = {"none": None, "mean": _core.Reduction.mean, "sum": _core.Reduction.sum}


def _nothing(batch: Batch) -> tuple[Any, ...]:
    return ()


def _kernel(name: str) -> Any:
    """The kernels are named as the functions here are."""
    return getattr(_core, name)


def map_rows(
    where: str, rows: tuple[str, npt.ArrayLike], parameter: Named, axis: Axis, out: Array | None,
    extra: Extra = _nothing, kernel: str | None = None,
) -> Array:
    """kernel(rows, parameter, result, *extra); rows have a name, too."""
    array = real_array(where, *rows)
    batch = Batch(where, axis, rows[0], array)
    read = batch.rows_of(rows[0], array)
    result = batch.rows_to_write(out, over=(read,))
    _kernel(kernel or where)(read, batch.per_row(*parameter), result, *extra(batch))
    return batch.array_of(result, out)


def _jacobian_product(
    where: str, p: npt.ArrayLike, v: tuple[str, npt.ArrayLike], parameter: Named, axis: Axis, out: Array | None,
    by_parameter: Callable[[Batch], Array | None], extra: Extra, kernel: str | None,
) -> tuple[Batch, Array, Array | None]:
    """kernel(p, parameter, v, result, by_parameter, *extra)."""
    p, vector = real_array(where, "p", p), real_array(where, *v)
    batch = Batch(where, axis, "p", p, vector)
    rows, v_rows = batch.rows_of("p", p), batch.rows_of(v[0], vector)
    result = batch.rows_to_write(out, rows, over=(v_rows,))
    numbers = by_parameter(batch)
    _kernel(kernel or where)(rows, batch.per_row(*parameter), v_rows, result, numbers, *extra(batch))
    return batch, batch.array_of(result, out), numbers


def vjp_rows(
    where: str, p: npt.ArrayLike, cotangent: npt.ArrayLike, parameter: Named, axis: Axis, out: Array | None,
    pair: bool, extra: Extra = _nothing, kernel: str | None = None,
) -> Any:
    """J cotangent, in a pair with the derivative in the parameter of each row where that is asked for."""
    batch, product, by_parameter = _jacobian_product(
        where, p, ("cotangent", cotangent), parameter, axis, out, lambda b: b.numbers() if pair else None, extra,
        kernel,
    )
    return product if by_parameter is None else (product, batch.number_array(by_parameter))


def jvp_rows(
    where: str, p: npt.ArrayLike, direction: npt.ArrayLike, parameter: Named, axis: Axis, out: Array | None,
    along: npt.ArrayLike | None, extra: Extra = _nothing, kernel: str | None = None,
) -> Array:
    """J direction, plus the derivative in the parameter times `along`."""
    name = f"{parameter[0]}_direction"
    return _jacobian_product(
        where, p, ("direction", direction), parameter, axis, out,
        lambda batch: None if along is None else batch.numbers_per_row(name, along), extra, kernel,
    )[1]


def loss_rows(
    where: str, scores: npt.ArrayLike, target: npt.ArrayLike, parameter: Named, axis: Axis, reduction: Reduction,
    ignore_index: int, gradients: tuple[bool, bool], extra: Extra = _nothing, kernel: str | None = None,
) -> Any:
    """The loss, then the gradients that are asked for: in the scores, in the parameter."""
    scores = real_array(where, "scores", scores)
    batch = Batch(where, axis, "scores", scores)
    if not isinstance(reduction, str) or reduction not in _REDUCTIONS:
        raise ValueError(f"{where}: reduction must be 'none', 'mean' or 'sum', got {shown(reduction)}")
    value = np.empty(batch.rows if reduction == "none" else 1, batch.dtype)
    by_scores = np.empty((batch.rows, batch.cols), batch.dtype) if gradients[0] else None
    by_parameter = batch.numbers() if gradients[1] else None
    _kernel(kernel or where)(
        batch.rows_of("scores", scores),
        batch.per_row(*parameter),
        _target_rows(batch, target),
        integer(f"{where}: ignore_index", ignore_index),
        _REDUCTIONS[reduction],
        value,
        by_scores,
        by_parameter,
        *extra(batch),
    )
    loss = batch.number_array(value) if reduction == "none" else value[0]
    if by_scores is None and by_parameter is None:
        return loss
    first = () if by_scores is None else (batch.array_of(by_scores),)
    second = () if by_parameter is None else (batch.number_array(by_parameter),)
    return (loss, *first, *second)


def number_rows(where: str, rows: tuple[str, npt.ArrayLike], alpha: Parameter, axis: int) -> Any:
    """kernel(rows, alpha, values): a number for each row."""
    array = real_array(where, *rows)
    batch = Batch(where, axis, rows[0], array)
    values = np.empty(batch.rows, batch.dtype)
    _kernel(where)(batch.rows_of(rows[0], array), batch.per_row("alpha", alpha), values)
    return batch.number_array(values)


def _target_rows(batch: Batch, target: npt.ArrayLike) -> Array:
    """Distributions where the target has the shape of the scores, else classes."""
    array = real_array(batch.where, "target", target)
    if array.shape == batch.shape:
        return batch.rows_of("target", array)
    if array.shape != batch.batch_shape:
        raise ValueError(
            f"{batch.where}: target must be classes of shape {batch.batch_shape} or distributions of shape "
            f"{batch.shape}, got shape {array.shape}"
        )
    return integer_array(batch.where, "target", array).reshape(batch.rows)
