"""Losses of entmax, and the functions that they are made of: Omega_alpha, its conjugate, escort distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._row_functions import Reduction, loss_rows, map_rows
from ._rows import Array, Batch, Parameter, real_array


def entmax_loss(
    z: npt.ArrayLike,
    target: npt.ArrayLike,
    alpha: Parameter = 1.5,
    axis: int = -1,
    reduction: Reduction = "mean",
    ignore_index: int = -100,
    *,
    return_gradient: bool = False,
    return_alpha_gradient: bool = False,
) -> Any:
    """The Fenchel-Young loss of scores: Omega*(z) + Omega(q) - <z, q>, never negative and 0 where q is entmax(z).

    For alpha = 1 it is the cross-entropy of classes, and the Kullback-Leibler divergence from distributions.

    Parameters
    ----------
    z : array_like
        Scores, as in `entmax`.
    target : array_like
        Classes: integers of the shape of z without the axis. Or distributions: of the shape of z, not negative, adding
        up to one along the axis.
    alpha, axis
        As in `entmax`.
    reduction : {'mean', 'sum', 'none'}
        Over the rows; 'none' gives the loss of each.
    ignore_index : int
        A class that is no target: its row has loss 0, gradient 0, and does not count in the mean.
    return_gradient : bool
        Also return the gradient of the reduced loss with respect to z: entmax(z) - q, times the row's share.
    return_alpha_gradient : bool
        Also return the derivative with respect to alpha, one number for each row.

    Returns
    -------
    number or ndarray, or a tuple
        The loss, +inf where the target charges a masked score, NaN for a row without prediction; then the gradients.

    Examples
    --------
    >>> import fenchel
    >>> loss, gradient = fenchel.entmax_loss([[2.0, 1.0, 0.0]], [0], alpha=2, return_gradient=True)
    >>> float(loss), gradient.tolist()
    (0.0, [[0.0, 0.0, 0.0]])
    """
    z = real_array("entmax_loss", "z", z)
    batch = Batch("entmax_loss", axis, "z", z)
    alphas = batch.per_row("alpha", alpha)
    gradients = (return_gradient, return_alpha_gradient)
    return loss_rows(batch, _core.entmax_loss, z, target, alphas, reduction, ignore_index, *gradients)


def cross_omega_loss(
    z: npt.ArrayLike,
    target: npt.ArrayLike,
    alpha: Parameter = 1.5,
    axis: int = -1,
    reduction: Reduction = "mean",
    ignore_index: int = -100,
    *,
    return_gradient: bool = False,
    return_alpha_gradient: bool = False,
) -> Any:
    """The cross-Omega loss: Omega*(z) - <z, q>, which is `entmax_loss` without the constant Omega(q).

    Its parameters, and its gradient with respect to z, are those of `entmax_loss`; for classes so is its value.

    Examples
    --------
    >>> import fenchel
    >>> round(float(fenchel.cross_omega_loss([0.0, 0.0], [0.5, 0.5], alpha=1)), 4)
    0.6931
    """
    z = real_array("cross_omega_loss", "z", z)
    batch = Batch("cross_omega_loss", axis, "z", z)
    alphas = batch.per_row("alpha", alpha)
    gradients = (return_gradient, return_alpha_gradient)
    return loss_rows(batch, _core.cross_omega_loss, z, target, alphas, reduction, ignore_index, *gradients)


def entmax_hessian_product(
    z: npt.ArrayLike, direction: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1, out: Array | None = None
) -> Array:
    """The Hessian of each row's `entmax_loss` in the scores, times a direction; it is the same for all targets.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.entmax_hessian_product([0.0, 0.0], [1.0, 0.0], alpha=1)
    array([ 0.25, -0.25])
    """
    where = "entmax_hessian_product"
    z, direction = real_array(where, "z", z), real_array(where, "direction", direction)
    batch = Batch(where, axis, "z", z, direction)
    rows, directions = batch.rows_of("z", z), batch.rows_of("direction", direction)
    product = batch.rows_to_write(out, rows, directions)
    _core.entmax_hessian_product(rows, batch.per_row("alpha", alpha), directions, product)
    return batch.array_of(product, out)


def negentropy(p: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1) -> Any:
    """Omega_alpha(p) = (sum p^alpha - 1) / (alpha (alpha - 1)), by its limit sum p log p for alpha = 1.

    Parameters
    ----------
    p : array_like
        Distributions along the axis. A negative number or a NaN gives NaN.
    alpha, axis
        As in `entmax`.

    Returns
    -------
    number or ndarray
        Of the shape of p without the axis.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.negentropy([[0.5, 0.5], [1.0, 0.0]], alpha=2)
    array([-0.25,  0.  ])
    """
    return _number_a_row("negentropy", _core.negentropy, "p", p, alpha, axis)


def entmax_conjugate(z: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1) -> Any:
    """Omega*(z), the largest <p, z> - Omega_alpha(p), whose gradient is entmax(z); log(sum(exp(z))) for alpha = 1.

    Examples
    --------
    >>> import fenchel
    >>> round(float(fenchel.entmax_conjugate([0.0, 0.0], alpha=2)), 4)
    0.25
    """
    return _number_a_row("entmax_conjugate", _core.entmax_conjugate, "z", z, alpha, axis)


def escort(p: npt.ArrayLike, beta: Parameter, axis: int = -1, out: Array | None = None) -> Array:
    """The escort distribution of order beta: p^beta, made to add up to one, on the support of p; 0 off it.

    Parameters
    ----------
    p : array_like
        Not negative. A row with a NaN becomes NaN.
    beta : float or array_like
        Finite; 0 is uniform on the support. An array broadcasts to the shape of p without the axis.
    axis, out
        As in `entmax`.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.escort([0.75, 0.25, 0.0], 2)
    array([0.9, 0.1, 0. ])
    """
    p = real_array("escort", "p", p)
    batch = Batch("escort", axis, "p", p)
    return map_rows(batch, _core.escort, p, batch.per_row("beta", beta), out)


def _number_a_row(where: str, kernel: Any, name: str, x: npt.ArrayLike, alpha: Parameter, axis: int) -> Any:
    x = real_array(where, name, x)
    batch = Batch(where, axis, name, x)
    values = np.empty(batch.rows, batch.dtype)
    kernel(batch.rows_of(name, x), batch.per_row("alpha", alpha), values)
    return batch.number_array(values)
