"""Maps whose columns are neighbours: fusedmax and smooth sparsemax on a chain, fusedmax on images."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import doubles, shown
from ._row_functions import Reduction, jacobian_product, loss_rows, map_rows, vjp_rows
from ._rows import Array, Axis, Batch, Parameter, real_array


class _Regularizer:
    """The functions of one regularizer that has a gamma."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._map, self._vjp, self._jvp, self._loss = (
            getattr(_core, name + part) for part in ("", "_vjp", "_jvp", "_loss")
        )

    def map(self, z: npt.ArrayLike, gamma: Parameter, axis: Axis, out: Array | None, *shape: Any) -> Array:
        z = real_array(self.name, "z", z)
        batch = Batch(self.name, axis, "z", z)
        return map_rows(batch, self._map, z, batch.per_row("gamma", gamma), out, *self.extra(batch, axis, *shape))

    def vjp(
        self,
        p: npt.ArrayLike,
        grad: npt.ArrayLike,
        gamma: Parameter,
        axis: Axis,
        out: Array | None,
        return_gamma_gradient: bool,
        *shape: Any,
    ) -> Any:
        where = self.name + "_vjp"
        p, grad = real_array(where, "p", p), real_array(where, "grad", grad)
        batch = Batch(where, axis, "p", p, grad)
        gammas, extra = batch.per_row("gamma", gamma), self.extra(batch, axis, *shape)
        return vjp_rows(batch, self._vjp, p, grad, gammas, out, return_gamma_gradient, *extra)

    def jvp(
        self,
        p: npt.ArrayLike,
        direction: npt.ArrayLike,
        gamma: Parameter,
        axis: Axis,
        out: Array | None,
        gamma_direction: npt.ArrayLike | None,
        *shape: Any,
    ) -> Array:
        where = self.name + "_jvp"
        p, direction = real_array(where, "p", p), real_array(where, "direction", direction)
        batch = Batch(where, axis, "p", p, direction)
        gammas, extra = batch.per_row("gamma", gamma), self.extra(batch, axis, *shape)
        d_gamma = None if gamma_direction is None else batch.numbers_per_row("gamma_direction", gamma_direction)
        return jacobian_product(batch, self._jvp, p, ("direction", direction), gammas, d_gamma, out, *extra)

    def loss(
        self,
        z: npt.ArrayLike,
        target: npt.ArrayLike,
        gamma: Parameter,
        axis: Axis,
        reduction: Reduction,
        ignore_index: int,
        gradients: tuple[bool, bool],
        *shape: Any,
    ) -> Any:
        where = self.name + "_loss"
        z = real_array(where, "z", z)
        batch = Batch(where, axis, "z", z)
        gammas, extra = batch.per_row("gamma", gamma), self.extra(batch, axis, *shape)
        return loss_rows(batch, self._loss, z, target, gammas, reduction, ignore_index, *gradients, *extra)

    def extra(self, batch: Batch, axis: Axis, *shape: Any) -> tuple[Any, ...]:
        """How columns hang together, as the kernels take it."""
        raise NotImplementedError


class _Chain(_Regularizer):
    def extra(self, batch: Batch, axis: Axis, *shape: Any) -> tuple[Any, ...]:
        lengths, weights = shape
        return (
            None if lengths is None else batch.integers_per_row("lengths", lengths),
            None if weights is None or batch.cols == 1 else _edge_rows(batch, weights),
        )


class _Grid(_Regularizer):
    def extra(self, batch: Batch, axis: Axis, *shape: Any) -> tuple[Any, ...]:
        if not isinstance(axis, tuple) or len(axis) != 2:
            raise ValueError(f"{batch.where}: axis must be a pair, got {shown(axis)}")
        return (batch.shape[axis[0]],)


def _edge_rows(batch: Batch, weights: npt.ArrayLike) -> Array:
    array, shape = doubles(f"{batch.where}: weights", weights), (*batch.batch_shape, batch.cols - 1)
    try:
        rows = np.broadcast_to(array, shape).reshape(batch.rows, batch.cols - 1)
    except ValueError:
        raise ValueError(f"{batch.where}: weights must broadcast to shape {shape}, got {array.shape}") from None
    return rows if rows.strides[1] == rows.itemsize else np.ascontiguousarray(rows)


_FUSED, _SMOOTH, _FUSED_GRID = _Chain("fusedmax"), _Chain("smooth_sparsemax"), _Grid("fusedmax_grid")


def fusedmax(
    z: npt.ArrayLike,
    gamma: Parameter = 1.0,
    axis: int = -1,
    out: Array | None = None,
    *,
    lengths: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
) -> Array:
    """Sparse probabilities that neighbours share: argmax of <p, z> - |p|^2 / 2 - gamma sum |p[k+1] - p[k]|.

    gamma = 0 is `sparsemax`, a large gamma the uniform distribution.

    Parameters
    ----------
    z, axis, out
        As in `entmax`.
    gamma : float or array_like
        Not negative. An array broadcasts to the shape of z without the axis.
    lengths : array_like of int, optional
        How many elements of each row there are, from the first on: the others do not exist, and get 0. Broadcasts to
        the shape of z without the axis.
    weights : array_like, optional
        Factors of gamma, positive: n - 1 of them for rows of n, or one such row for each along the last axis.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.fusedmax([1.0, 0.9, 0.2, 0.3], gamma=0.1).round(4)
    array([0.5, 0.5, 0. , 0. ])
    """
    return _FUSED.map(z, gamma, axis, out, lengths, weights)


def fusedmax_vjp(
    p: npt.ArrayLike,
    grad: npt.ArrayLike,
    gamma: Parameter = 1.0,
    axis: int = -1,
    out: Array | None = None,
    *,
    lengths: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    return_gamma_gradient: bool = False,
) -> Any:
    """The gradient with respect to z of a function of p = fusedmax(z, gamma), and in gamma, as in `entmax_vjp`.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.fusedmax([1.0, 0.9, 0.2, 0.3], gamma=0.0)
    >>> fenchel.fusedmax_vjp(p, [1.0, 0.0, 0.0, 0.0], gamma=0.0)
    array([ 0.5, -0.5,  0. ,  0. ])
    """
    return _FUSED.vjp(p, grad, gamma, axis, out, return_gamma_gradient, lengths, weights)


def fusedmax_jvp(
    p: npt.ArrayLike,
    direction: npt.ArrayLike,
    gamma: Parameter = 1.0,
    axis: int = -1,
    out: Array | None = None,
    *,
    lengths: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    gamma_direction: npt.ArrayLike | None = None,
) -> Array:
    """How p = fusedmax(z, gamma) changes with z in a direction, and with gamma, as in `entmax_jvp`.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.fusedmax([1.0, 0.9, 0.6, -1.0], gamma=0.1)
    >>> fenchel.fusedmax_jvp(p, [0.1, 0.0, 0.0, 0.0], gamma=0.1).round(4)
    array([ 0.0167,  0.0167, -0.0333,  0.    ])
    """
    return _FUSED.jvp(p, direction, gamma, axis, out, gamma_direction, lengths, weights)


def fusedmax_loss(
    z: npt.ArrayLike,
    target: npt.ArrayLike,
    gamma: Parameter = 1.0,
    axis: int = -1,
    reduction: Reduction = "mean",
    ignore_index: int = -100,
    *,
    lengths: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    return_gradient: bool = False,
    return_gamma_gradient: bool = False,
) -> Any:
    """The Fenchel-Young loss of `fusedmax`, with the parameters of `entmax_loss`: 0 where the target is fusedmax(z).

    Examples
    --------
    >>> import fenchel
    >>> z = [1.0, 0.9, 0.2, 0.3]
    >>> float(fenchel.fusedmax_loss(z, fenchel.fusedmax(z, 0.1), 0.1))
    0.0
    """
    gradients = (return_gradient, return_gamma_gradient)
    return _FUSED.loss(z, target, gamma, axis, reduction, ignore_index, gradients, lengths, weights)


def smooth_sparsemax(
    z: npt.ArrayLike,
    gamma: Parameter = 1.0,
    axis: int = -1,
    out: Array | None = None,
    *,
    lengths: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
) -> Array:
    """Sparse probabilities that vary slowly: argmax of <p, z> - |p|^2 / 2 - (gamma / 2) sum (p[k+1] - p[k])^2.

    gamma = 0 is `sparsemax`. Parameters are as in `fusedmax`.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.smooth_sparsemax([1.0, 0.9, 0.2, 0.3], gamma=1.0).round(4)
    array([0.5167, 0.3833, 0.0833, 0.0167])
    """
    return _SMOOTH.map(z, gamma, axis, out, lengths, weights)


def smooth_sparsemax_vjp(
    p: npt.ArrayLike,
    grad: npt.ArrayLike,
    gamma: Parameter = 1.0,
    axis: int = -1,
    out: Array | None = None,
    *,
    lengths: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    return_gamma_gradient: bool = False,
) -> Any:
    """The gradient with respect to z of a function of p = smooth_sparsemax(z, gamma), as in `entmax_vjp`.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.smooth_sparsemax([1.0, 0.9, -2.0])
    >>> fenchel.smooth_sparsemax_vjp(p, [1.0, 0.0, 0.0]).round(4)
    array([ 0.1429, -0.1429,  0.    ])
    """
    return _SMOOTH.vjp(p, grad, gamma, axis, out, return_gamma_gradient, lengths, weights)


def smooth_sparsemax_jvp(
    p: npt.ArrayLike,
    direction: npt.ArrayLike,
    gamma: Parameter = 1.0,
    axis: int = -1,
    out: Array | None = None,
    *,
    lengths: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    gamma_direction: npt.ArrayLike | None = None,
) -> Array:
    """How p = smooth_sparsemax(z, gamma) changes with z in a direction, and with gamma, as in `entmax_jvp`.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.smooth_sparsemax([1.0, 0.9, -2.0])
    >>> fenchel.smooth_sparsemax_jvp(p, [0.1, 0.0, 0.0]).round(4)
    array([ 0.0143, -0.0143,  0.    ])
    """
    return _SMOOTH.jvp(p, direction, gamma, axis, out, gamma_direction, lengths, weights)


def smooth_sparsemax_loss(
    z: npt.ArrayLike,
    target: npt.ArrayLike,
    gamma: Parameter = 1.0,
    axis: int = -1,
    reduction: Reduction = "mean",
    ignore_index: int = -100,
    *,
    lengths: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    return_gradient: bool = False,
    return_gamma_gradient: bool = False,
) -> Any:
    """The Fenchel-Young loss of `smooth_sparsemax`, with the parameters of `entmax_loss`.

    Examples
    --------
    >>> import fenchel
    >>> z = [1.0, 0.9, -2.0]
    >>> round(float(fenchel.smooth_sparsemax_loss(z, 0)), 4)
    0.6007
    """
    gradients = (return_gradient, return_gamma_gradient)
    return _SMOOTH.loss(z, target, gamma, axis, reduction, ignore_index, gradients, lengths, weights)


def fusedmax_grid(
    z: npt.ArrayLike, gamma: Parameter = 1.0, axis: tuple[int, int] = (-2, -1), out: Array | None = None
) -> Array:
    """`fusedmax` of images: gamma times the differences between horizontal and vertical neighbours.

    `axis` is a pair: the rows and the columns of the image. Plateaus of p are regions of one probability.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.fusedmax_grid([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0]], gamma=0.1).round(4)
    array([[0.25, 0.25, 0.  ],
           [0.25, 0.25, 0.  ]])
    """
    return _FUSED_GRID.map(z, gamma, axis, out)


def fusedmax_grid_vjp(
    p: npt.ArrayLike,
    grad: npt.ArrayLike,
    gamma: Parameter = 1.0,
    axis: tuple[int, int] = (-2, -1),
    out: Array | None = None,
    *,
    return_gamma_gradient: bool = False,
) -> Any:
    """The gradient with respect to z of a function of p = fusedmax_grid(z, gamma), as in `entmax_vjp`.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.fusedmax_grid([[1.0, 0.9], [0.5, 0.0]], gamma=0.1)
    >>> fenchel.fusedmax_grid_vjp(p, [[1.0, 0.0], [0.0, 0.0]], gamma=0.1).round(4)
    array([[ 0.1667,  0.1667],
           [-0.3333,  0.    ]])
    """
    return _FUSED_GRID.vjp(p, grad, gamma, axis, out, return_gamma_gradient)


def fusedmax_grid_jvp(
    p: npt.ArrayLike,
    direction: npt.ArrayLike,
    gamma: Parameter = 1.0,
    axis: tuple[int, int] = (-2, -1),
    out: Array | None = None,
    *,
    gamma_direction: npt.ArrayLike | None = None,
) -> Array:
    """How p = fusedmax_grid(z, gamma) changes with z in a direction, and with gamma, as in `entmax_jvp`.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.fusedmax_grid([[1.0, 0.9], [0.5, 0.0]], gamma=0.1)
    >>> fenchel.fusedmax_grid_jvp(p, [[0.1, 0.0], [0.0, 0.0]], gamma=0.1).round(4)
    array([[ 0.0167,  0.0167],
           [-0.0333,  0.    ]])
    """
    return _FUSED_GRID.jvp(p, direction, gamma, axis, out, gamma_direction)


def fusedmax_grid_loss(
    z: npt.ArrayLike,
    target: npt.ArrayLike,
    gamma: Parameter = 1.0,
    axis: tuple[int, int] = (-2, -1),
    reduction: Reduction = "mean",
    ignore_index: int = -100,
    *,
    return_gradient: bool = False,
    return_gamma_gradient: bool = False,
) -> Any:
    """The Fenchel-Young loss of `fusedmax_grid`; a class is a pixel, counted row by row.

    Examples
    --------
    >>> import fenchel
    >>> z = [[1.0, 0.9], [0.5, 0.0]]
    >>> round(float(fenchel.fusedmax_grid_loss(z, 0, gamma=0.1)), 4)
    0.3075
    """
    gradients = (return_gradient, return_gamma_gradient)
    return _FUSED_GRID.loss(z, target, gamma, axis, reduction, ignore_index, gradients)
