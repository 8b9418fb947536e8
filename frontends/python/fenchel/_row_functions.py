"""The calls that all maps share: the map, products with its Jacobian, and the loss."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import integer, shown
from ._rows import Array, Batch, integer_array, real_array

Reduction = Literal["none", "mean", "sum"]

_REDUCTIONS = {"none": None, "mean": _core.Reduction.mean, "sum": _core.Reduction.sum}


def map_rows(batch: Batch, kernel: Any, z: Array, parameter: float | Array, out: Array | None, *extra: Any) -> Array:
    """kernel(z, parameter, result, *extra)."""
    rows = batch.rows_of("z", z)
    result = batch.rows_to_write(out, over=(rows,))
    kernel(rows, parameter, result, *extra)
    return batch.array_of(result, out)


def jacobian_product(
    batch: Batch,
    kernel: Any,
    p: Array,
    v: tuple[str, Array],
    parameter: float | Array,
    by_parameter: Array | None,
    out: Array | None,
    *extra: Any,
) -> Array:
    """kernel(p, parameter, v, result, by_parameter, *extra); v has a name."""
    rows, v_rows = batch.rows_of("p", p), batch.rows_of(*v)
    result = batch.rows_to_write(out, rows, over=(v_rows,))
    kernel(rows, parameter, v_rows, result, by_parameter, *extra)
    return batch.array_of(result, out)


def vjp_rows(
    batch: Batch,
    kernel: Any,
    p: Array,
    grad: Array,
    parameter: float | Array,
    out: Array | None,
    pair: bool,
    *extra: Any,
) -> Any:
    """J grad, in a pair with the derivative in the parameter of each row where that is asked for."""
    by_parameter = batch.numbers() if pair else None
    product = jacobian_product(batch, kernel, p, ("grad", grad), parameter, by_parameter, out, *extra)
    return product if by_parameter is None else (product, batch.number_array(by_parameter))


def loss_rows(
    batch: Batch,
    kernel: Any,
    z: Array,
    target: npt.ArrayLike,
    parameter: float | Array,
    reduction: Reduction,
    ignore_index: int,
    return_gradient: bool,
    return_parameter_gradient: bool,
    *extra: Any,
) -> Any:
    """The loss, then the gradients that are asked for: in z, in the parameter."""
    if not isinstance(reduction, str) or reduction not in _REDUCTIONS:
        raise ValueError(f"{batch.where}: reduction must be 'none', 'mean' or 'sum', got {shown(reduction)}")
    value = np.empty(batch.rows if reduction == "none" else 1, batch.dtype)
    grad_z = np.empty((batch.rows, batch.cols), batch.dtype) if return_gradient else None
    grad_parameter = batch.numbers() if return_parameter_gradient else None
    kernel(
        batch.rows_of("z", z),
        parameter,
        _target_rows(batch, target),
        integer(f"{batch.where}: ignore_index", ignore_index),
        _REDUCTIONS[reduction],
        value,
        grad_z,
        grad_parameter,
        *extra,
    )
    loss = batch.number_array(value) if reduction == "none" else value[0]
    if grad_z is None and grad_parameter is None:
        return loss
    first = () if grad_z is None else (batch.array_of(grad_z),)
    second = () if grad_parameter is None else (batch.number_array(grad_parameter),)
    return (loss, *first, *second)


def _target_rows(batch: Batch, target: npt.ArrayLike) -> Array:
    """Distributions where the target has the shape of z, else classes."""
    array = real_array(batch.where, "target", target)
    if array.shape == batch.shape:
        return batch.rows_of("target", array)
    if array.shape != batch.batch_shape:
        raise ValueError(
            f"{batch.where}: target must be classes of shape {batch.batch_shape} or distributions of shape "
            f"{batch.shape}, got shape {array.shape}"
        )
    return integer_array(batch.where, "target", array).reshape(batch.rows)
