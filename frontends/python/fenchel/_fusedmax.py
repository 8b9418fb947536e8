"""Maps whose columns are neighbours: fusedmax and smooth sparsemax on a chain, fusedmax on images."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import doubles, shown
from ._row_functions import Extra, Reduction, jvp_rows, loss_rows, map_rows, vjp_rows
from ._rows import Array, Batch, Parameter

MaybeArray = npt.ArrayLike | None
Pair = tuple[int, int]


def _chain(lengths: MaybeArray, weights: MaybeArray) -> Extra:
    """Columns in a row, as the kernels take them: how many there are, and what their edges weigh."""
    return lambda batch: (
        None if lengths is None else batch.integers_per_row("lengths", lengths),
        None if weights is None or batch.cols == 1 else _edge_rows(batch, weights),
    )


def _grid(axis: Pair) -> Extra:
    """Columns in an image, as the kernels take them: its height."""

    def height(batch: Batch) -> tuple[int]:
        if not isinstance(axis, tuple) or len(axis) != 2:
            raise ValueError(f"{batch.where}: axis must be a pair, got {shown(axis)}")
        return (batch.shape[axis[0]],)

    return height


def _edge_rows(batch: Batch, weights: npt.ArrayLike) -> Array:
    array, shape = doubles(f"{batch.where}: weights", weights), (*batch.batch_shape, batch.cols - 1)
    try:
        rows = np.broadcast_to(array, shape).reshape(batch.rows, batch.cols - 1)
    except ValueError:
        raise ValueError(f"{batch.where}: weights must broadcast to shape {shape}, got {array.shape}") from None
    return rows if rows.strides[1] == rows.itemsize else np.ascontiguousarray(rows)


def fusedmax(
    scores: npt.ArrayLike, gamma: Parameter = 1.0, axis: int = -1, out: Array | None = None, *,
    lengths: MaybeArray = None, weights: MaybeArray = None,
) -> Array:
    """Sparse probabilities that neighbours share: argmax of <p, scores> - |p|^2 / 2 - gamma sum |p[k+1] - p[k]|.

    gamma = 0 is `sparsemax`, a large gamma the uniform distribution.

    Parameters
    ----------
    scores, axis, out
        As in `entmax`.
    gamma : float or array_like
        Not negative. An array broadcasts to the shape of the scores without the axis.
    lengths : array_like of int, optional
        How many elements of each row there are, from the first on: the others do not exist, and get 0. Broadcasts to
        the shape of the scores without the axis.
    weights : array_like, optional
        Factors of gamma, positive: n - 1 of them for rows of n, or one such row for each along the last axis.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.fusedmax([1.0, 0.9, 0.2, 0.3], gamma=0.1).round(4)
    array([0.5, 0.5, 0. , 0. ])
    """
    return map_rows("fusedmax", ("scores", scores), ("gamma", gamma), axis, out, _chain(lengths, weights))


def fusedmax_vjp(
    p: npt.ArrayLike, cotangent: npt.ArrayLike, gamma: Parameter = 1.0, axis: int = -1, out: Array | None = None, *,
    lengths: MaybeArray = None, weights: MaybeArray = None, return_gamma_gradient: bool = False,
) -> Any:
    """The gradient in the scores of a function of p = fusedmax(scores, gamma), and in gamma, as in `entmax_vjp`.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.fusedmax([1.0, 0.9, 0.2, 0.3], gamma=0.0)
    >>> fenchel.fusedmax_vjp(p, [1.0, 0.0, 0.0, 0.0], gamma=0.0)
    array([ 0.5, -0.5,  0. ,  0. ])
    """
    chain = _chain(lengths, weights)
    return vjp_rows("fusedmax_vjp", p, cotangent, ("gamma", gamma), axis, out, return_gamma_gradient, chain)


def fusedmax_jvp(
    p: npt.ArrayLike, direction: npt.ArrayLike, gamma: Parameter = 1.0, axis: int = -1, out: Array | None = None, *,
    lengths: MaybeArray = None, weights: MaybeArray = None, gamma_direction: MaybeArray = None,
) -> Array:
    """How p = fusedmax(scores, gamma) changes with the scores in a direction, and with gamma, as in `entmax_jvp`.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.fusedmax([1.0, 0.9, 0.6, -1.0], gamma=0.1)
    >>> fenchel.fusedmax_jvp(p, [0.1, 0.0, 0.0, 0.0], gamma=0.1).round(4)
    array([ 0.0167,  0.0167, -0.0333,  0.    ])
    """
    chain = _chain(lengths, weights)
    return jvp_rows("fusedmax_jvp", p, direction, ("gamma", gamma), axis, out, gamma_direction, chain)


def fusedmax_loss(
    scores: npt.ArrayLike, target: npt.ArrayLike, gamma: Parameter = 1.0, *, axis: int = -1,
    reduction: Reduction = "mean", ignore_index: int = -100, lengths: MaybeArray = None,
    weights: MaybeArray = None, return_gradient: bool = False, return_gamma_gradient: bool = False,
) -> Any:
    """The Fenchel-Young loss of `fusedmax`, with the parameters of `entmax_loss`: 0 for target = fusedmax(scores).

    Examples
    --------
    >>> import fenchel
    >>> scores = [1.0, 0.9, 0.2, 0.3]
    >>> float(fenchel.fusedmax_loss(scores, fenchel.fusedmax(scores, 0.1), 0.1))
    0.0
    """
    gradients, chain = (return_gradient, return_gamma_gradient), _chain(lengths, weights)
    return loss_rows("fusedmax_loss", scores, target, ("gamma", gamma), axis, reduction, ignore_index, gradients, chain)


def smooth_sparsemax(
    scores: npt.ArrayLike, gamma: Parameter = 1.0, axis: int = -1, out: Array | None = None, *,
    lengths: MaybeArray = None, weights: MaybeArray = None,
) -> Array:
    """Sparse probabilities that vary slowly: argmax of <p, scores> - |p|^2 / 2 - (gamma / 2) sum (p[k+1] - p[k])^2.

    gamma = 0 is `sparsemax`. Parameters are as in `fusedmax`.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.smooth_sparsemax([1.0, 0.9, 0.2, 0.3], gamma=1.0).round(4)
    array([0.5167, 0.3833, 0.0833, 0.0167])
    """
    return map_rows("smooth_sparsemax", ("scores", scores), ("gamma", gamma), axis, out, _chain(lengths, weights))


def smooth_sparsemax_vjp(
    p: npt.ArrayLike, cotangent: npt.ArrayLike, gamma: Parameter = 1.0, axis: int = -1, out: Array | None = None, *,
    lengths: MaybeArray = None, weights: MaybeArray = None, return_gamma_gradient: bool = False,
) -> Any:
    """The gradient in the scores of a function of p = smooth_sparsemax(scores, gamma), as in `fusedmax_vjp`.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.smooth_sparsemax([1.0, 0.9, -2.0])
    >>> fenchel.smooth_sparsemax_vjp(p, [1.0, 0.0, 0.0]).round(4)
    array([ 0.1429, -0.1429,  0.    ])
    """
    chain = _chain(lengths, weights)
    return vjp_rows("smooth_sparsemax_vjp", p, cotangent, ("gamma", gamma), axis, out, return_gamma_gradient, chain)


def smooth_sparsemax_jvp(
    p: npt.ArrayLike, direction: npt.ArrayLike, gamma: Parameter = 1.0, axis: int = -1, out: Array | None = None, *,
    lengths: MaybeArray = None, weights: MaybeArray = None, gamma_direction: MaybeArray = None,
) -> Array:
    """How p = smooth_sparsemax(scores, gamma) changes in a direction, as in `fusedmax_jvp`.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.smooth_sparsemax([1.0, 0.9, -2.0])
    >>> fenchel.smooth_sparsemax_jvp(p, [0.1, 0.0, 0.0]).round(4)
    array([ 0.0143, -0.0143,  0.    ])
    """
    chain = _chain(lengths, weights)
    return jvp_rows("smooth_sparsemax_jvp", p, direction, ("gamma", gamma), axis, out, gamma_direction, chain)


def smooth_sparsemax_loss(
    scores: npt.ArrayLike, target: npt.ArrayLike, gamma: Parameter = 1.0, *, axis: int = -1,
    reduction: Reduction = "mean", ignore_index: int = -100, lengths: MaybeArray = None,
    weights: MaybeArray = None, return_gradient: bool = False, return_gamma_gradient: bool = False,
) -> Any:
    """The Fenchel-Young loss of `smooth_sparsemax`, with the parameters of `entmax_loss`.

    Examples
    --------
    >>> import fenchel
    >>> round(float(fenchel.smooth_sparsemax_loss([1.0, 0.9, -2.0], 0)), 4)
    0.6007
    """
    named, gradients, chain = ("gamma", gamma), (return_gradient, return_gamma_gradient), _chain(lengths, weights)
    return loss_rows("smooth_sparsemax_loss", scores, target, named, axis, reduction, ignore_index, gradients, chain)


def fusedmax_grid(
    scores: npt.ArrayLike, gamma: Parameter = 1.0, axis: Pair = (-2, -1), out: Array | None = None
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
    return map_rows("fusedmax_grid", ("scores", scores), ("gamma", gamma), axis, out, _grid(axis))


def fusedmax_grid_vjp(
    p: npt.ArrayLike, cotangent: npt.ArrayLike, gamma: Parameter = 1.0, axis: Pair = (-2, -1),
    out: Array | None = None, *, return_gamma_gradient: bool = False,
) -> Any:
    """The gradient in the scores of a function of p = fusedmax_grid(scores, gamma), as in `fusedmax_vjp`.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.fusedmax_grid([[1.0, 0.9], [0.5, 0.0]], gamma=0.1)
    >>> fenchel.fusedmax_grid_vjp(p, [[1.0, 0.0], [0.0, 0.0]], gamma=0.1).round(4)
    array([[ 0.1667,  0.1667],
           [-0.3333,  0.    ]])
    """
    named = ("gamma", gamma)
    return vjp_rows("fusedmax_grid_vjp", p, cotangent, named, axis, out, return_gamma_gradient, _grid(axis))


def fusedmax_grid_jvp(
    p: npt.ArrayLike, direction: npt.ArrayLike, gamma: Parameter = 1.0, axis: Pair = (-2, -1),
    out: Array | None = None, *, gamma_direction: MaybeArray = None,
) -> Array:
    """How p = fusedmax_grid(scores, gamma) changes in a direction, as in `fusedmax_jvp`.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.fusedmax_grid([[1.0, 0.9], [0.5, 0.0]], gamma=0.1)
    >>> fenchel.fusedmax_grid_jvp(p, [[0.1, 0.0], [0.0, 0.0]], gamma=0.1).round(4)
    array([[ 0.0167,  0.0167],
           [-0.0333,  0.    ]])
    """
    return jvp_rows("fusedmax_grid_jvp", p, direction, ("gamma", gamma), axis, out, gamma_direction, _grid(axis))


def fusedmax_grid_loss(
    scores: npt.ArrayLike, target: npt.ArrayLike, gamma: Parameter = 1.0, *, axis: Pair = (-2, -1),
    reduction: Reduction = "mean", ignore_index: int = -100, return_gradient: bool = False,
    return_gamma_gradient: bool = False,
) -> Any:
    """The Fenchel-Young loss of `fusedmax_grid`; a class is a pixel, counted row by row.

    Examples
    --------
    >>> import fenchel
    >>> round(float(fenchel.fusedmax_grid_loss([[1.0, 0.9], [0.5, 0.0]], 0, gamma=0.1)), 4)
    0.3075
    """
    named, gradients = ("gamma", gamma), (return_gradient, return_gamma_gradient)
    where = "fusedmax_grid_loss"
    return loss_rows(where, scores, target, named, axis, reduction, ignore_index, gradients, _grid(axis))
