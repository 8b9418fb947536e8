"""Losses of entmax, and the functions that they are made of: Omega_alpha, its conjugate, escort distributions."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from . import _core
from ._row_functions import Reduction, loss_rows, map_rows, number_rows
from ._rows import Array, Batch, Parameter, real_array


def entmax_loss(
    scores: npt.ArrayLike, target: npt.ArrayLike, alpha: Parameter = 1.5, *, axis: int = -1,
    reduction: Reduction = "mean", ignore_index: int = -100, return_gradient: bool = False,
    return_alpha_gradient: bool = False, measure: npt.ArrayLike | None = None,
) -> Any:
    """The Fenchel-Young loss of scores: Omega*(scores) + Omega(q) - <scores, q>, never negative, 0 for q = entmax.

    For alpha = 1 it is the cross-entropy of classes, and the Kullback-Leibler divergence from distributions.

    Parameters
    ----------
    scores : array_like
        As in `entmax`.
    target : array_like
        Classes: integers of the shape of the scores without the axis. Or distributions q: of the shape of the scores,
        not negative, adding up to one along the axis.
    alpha, axis
        As in `entmax`.
    reduction : {'mean', 'sum', 'none'}
        Over the rows; 'none' gives the loss of each.
    ignore_index : int
        A class that is no target: its row has loss 0, gradient 0, and does not count in the mean.
    return_gradient : bool
        Also return the gradient of the reduced loss with respect to the scores: entmax(scores) - q, times the row's
        share.
    return_alpha_gradient : bool
        Also return the derivative with respect to alpha, one number for each row.
    measure : array_like, optional
        The base measure, `weight` of `entmax`. Omega(q) is then that of the density q / measure, +inf where q charges a
        weight of 0.

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
    gradients = (return_gradient, return_alpha_gradient)
    return _loss("entmax_loss", scores, target, alpha, axis, reduction, ignore_index, gradients, measure)


def _loss(
    where: str, scores: npt.ArrayLike, target: npt.ArrayLike, alpha: Parameter, axis: int, reduction: Reduction,
    ignore_index: int, gradients: tuple[bool, bool], measure: npt.ArrayLike | None,
) -> Any:
    common = (where, scores, target, ("alpha", alpha), axis, reduction, ignore_index, gradients)
    if measure is None:
        return loss_rows(*common)
    return loss_rows(*common, lambda batch: (batch.spread_rows("measure", measure),), f"weighted_{where}")


def cross_omega(
    scores: npt.ArrayLike, target: npt.ArrayLike, alpha: Parameter = 1.5, *, axis: int = -1,
    reduction: Reduction = "mean", ignore_index: int = -100, return_gradient: bool = False,
    return_alpha_gradient: bool = False, measure: npt.ArrayLike | None = None,
) -> Any:
    """The cross-Omega loss: Omega*(scores) - <scores, q>, which is `entmax_loss` without the constant Omega(q).

    Its parameters, and its gradient with respect to the scores, are those of `entmax_loss`; for classes so is its
    value, unless there is a measure.

    Examples
    --------
    >>> import fenchel
    >>> round(float(fenchel.cross_omega([0.0, 0.0], [0.5, 0.5], alpha=1)), 4)
    0.6931
    """
    gradients = (return_gradient, return_alpha_gradient)
    return _loss("cross_omega", scores, target, alpha, axis, reduction, ignore_index, gradients, measure)


def entmax_hessian_product(
    scores: npt.ArrayLike, direction: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1, out: Array | None = None
) -> Array:
    """The Hessian of each row's `entmax_loss` in the scores, times a direction; it is the same for all targets.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.entmax_hessian_product([0.0, 0.0], [1.0, 0.0], alpha=1)
    array([ 0.25, -0.25])
    """
    where = "entmax_hessian_product"
    scores, direction = real_array(where, "scores", scores), real_array(where, "direction", direction)
    batch = Batch(where, axis, "scores", scores, direction)
    rows, directions = batch.rows_of("scores", scores), batch.rows_of("direction", direction)
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
    return number_rows("negentropy", ("p", p), alpha, axis)


def entmax_conjugate(scores: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1) -> Any:
    """Omega*(scores), the largest <p, scores> - Omega_alpha(p); log(sum(exp(scores))) for alpha = 1.

    Its gradient is entmax(scores).

    Examples
    --------
    >>> import fenchel
    >>> round(float(fenchel.entmax_conjugate([0.0, 0.0], alpha=2)), 4)
    0.25
    """
    return number_rows("entmax_conjugate", ("scores", scores), alpha, axis)


def entmax_normalizer(scores: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1) -> Any:
    """A of entmax = exp_{2-alpha}(scores - A); log(sum(exp(scores))) for alpha = 1.

    Its gradient is escort(entmax(scores, alpha), 2 - alpha). `entmax_threshold` is A - 1 / (alpha - 1).

    Examples
    --------
    >>> import fenchel
    >>> round(float(fenchel.entmax_normalizer([0.0, 0.0], alpha=2)), 4)
    0.5
    """
    return number_rows("entmax_normalizer", ("scores", scores), alpha, axis)


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
    return map_rows("escort", ("p", p), ("beta", beta), axis, out)
