"""softmax, sparsemax, entmax: from scores to probabilities, and derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._row_functions import jacobian_product, map_rows, vjp_rows
from ._rows import Array, Batch, Parameter, real_array


def entmax(z: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1, out: Array | None = None) -> Array:
    """The distribution p that maximises <p, z> - Omega_alpha(p), along an axis.

    It is `softmax` for alpha = 1 and `sparsemax` for alpha = 2. For alpha > 1 probabilities can be exactly 0.

    Parameters
    ----------
    z : array_like
        Scores. -inf is a mask, of probability 0. A row with a NaN, a +inf or no finite score becomes NaN.
    alpha : float or array_like
        Positive, inf is uniform over the maxima. An array broadcasts to the shape of z without the axis.
    axis : int
        Along which probabilities add up to one.
    out : ndarray, optional
        Where to write, of the shape of z and the dtype of the result. It may be z.

    Returns
    -------
    ndarray
        Of the shape of z: float32 where z is float32 or float16, else float64. An array whose elements along the axis
        are neighbours in memory is read in place, any other is copied once.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.entmax([2.0, 1.0, 0.1, -2.0]).round(4)
    array([0.8307, 0.1693, 0.    , 0.    ])
    """
    z = real_array("entmax", "z", z)
    batch = Batch("entmax", axis, "z", z)
    return map_rows(batch, _core.entmax, z, batch.per_row("alpha", alpha), out)


def softmax(z: npt.ArrayLike, axis: int = -1, out: Array | None = None) -> Array:
    """exp(z) / sum(exp(z)) along an axis: `entmax` with alpha = 1, whose parameters it shares.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.softmax([2.0, 1.0, 0.1]).round(4)
    array([0.659 , 0.2424, 0.0986])
    """
    z = real_array("softmax", "z", z)
    return map_rows(Batch("softmax", axis, "z", z), _core.entmax, z, 1.0, out)


def sparsemax(z: npt.ArrayLike, axis: int = -1, out: Array | None = None) -> Array:
    """The point of the simplex that is nearest to z, along an axis: `entmax` with alpha = 2.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.sparsemax([[1.0, 0.8, 0.1], [3.0, 0.0, 0.0]]).round(4)
    array([[0.6, 0.4, 0. ],
           [1. , 0. , 0. ]])
    """
    z = real_array("sparsemax", "z", z)
    return map_rows(Batch("sparsemax", axis, "z", z), _core.entmax, z, 2.0, out)


def entmax_threshold(z: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1) -> Any:
    """tau of p = [(alpha - 1) (z - tau)]_+^(1 / (alpha - 1)), in float64: for alpha > 1 scores up to it get 0.

    -inf for alpha = 1, NaN for a row without prediction. The shape is that of z without the axis.

    Examples
    --------
    >>> import fenchel
    >>> round(float(fenchel.entmax_threshold([1.0, 0.8, 0.1], alpha=2)), 4)
    0.4
    """
    z = real_array("entmax_threshold", "z", z)
    batch = Batch("entmax_threshold", axis, "z", z)
    threshold = batch.numbers()
    map_rows(batch, _core.entmax, z, batch.per_row("alpha", alpha), None, None, threshold)
    return batch.number_array(threshold)


def support_size(z: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1) -> Any:
    """How many probabilities of entmax(z, alpha) are positive; 0 for a row without prediction.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.support_size([[1.0, 0.8, 0.1], [3.0, 0.0, 0.0]], alpha=2)
    array([2, 1])
    """
    z = real_array("support_size", "z", z)
    batch = Batch("support_size", axis, "z", z)
    sizes = batch.numbers(np.int64)
    map_rows(batch, _core.entmax, z, batch.per_row("alpha", alpha), None, None, None, sizes)
    return batch.number_array(sizes)


def entmax_vjp(
    p: npt.ArrayLike,
    grad: npt.ArrayLike,
    alpha: Parameter = 1.5,
    axis: int = -1,
    out: Array | None = None,
    *,
    return_alpha_gradient: bool = False,
) -> Any:
    """The gradient with respect to the scores z of a function of p = entmax(z, alpha): J grad.

    Parameters
    ----------
    p : array_like
        What `entmax` gave; the scores themselves are not needed.
    grad : array_like
        The gradient with respect to p, of its shape.
    alpha, axis
        As in `entmax`.
    out : ndarray, optional
        Where to write. It may be grad.
    return_alpha_gradient : bool
        Also return the derivative with respect to alpha.

    Returns
    -------
    ndarray, or a pair
        The gradient; the derivative with respect to alpha is one number for each row, to be added up for an alpha that
        rows share.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.sparsemax([1.0, 0.8, 0.1])
    >>> fenchel.entmax_vjp(p, [1.0, 0.0, 0.0], alpha=2)
    array([ 0.5, -0.5,  0. ])
    """
    p, grad = real_array("entmax_vjp", "p", p), real_array("entmax_vjp", "grad", grad)
    batch = Batch("entmax_vjp", axis, "p", p, grad)
    return vjp_rows(batch, _core.entmax_vjp, p, grad, batch.per_row("alpha", alpha), out, return_alpha_gradient)


def entmax_jvp(
    p: npt.ArrayLike,
    direction: npt.ArrayLike,
    alpha: Parameter = 1.5,
    axis: int = -1,
    out: Array | None = None,
    *,
    alpha_direction: npt.ArrayLike | None = None,
) -> Array:
    """How p = entmax(z, alpha) changes with z in a direction: J direction, plus dp/dalpha times `alpha_direction`.

    Parameters are as in `entmax_vjp`; `alpha_direction` is as alpha, and None means that alpha stands still.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.sparsemax([1.0, 0.8, 0.1])
    >>> fenchel.entmax_jvp(p, [0.1, 0.0, 0.0], alpha=2)
    array([ 0.05, -0.05,  0.  ])
    """
    p, direction = real_array("entmax_jvp", "p", p), real_array("entmax_jvp", "direction", direction)
    batch = Batch("entmax_jvp", axis, "p", p, direction)
    d_alpha = None if alpha_direction is None else batch.numbers_per_row("alpha_direction", alpha_direction)
    alphas = batch.per_row("alpha", alpha)
    return jacobian_product(batch, _core.entmax_jvp, p, ("direction", direction), alphas, d_alpha, out)


def entmax_vjp_vjp(
    p: npt.ArrayLike,
    grad: npt.ArrayLike,
    weight: npt.ArrayLike,
    alpha: Parameter = 1.5,
    axis: int = -1,
    out: Array | None = None,
    *,
    alpha_weight: npt.ArrayLike | None = None,
    return_alpha_gradient: bool = False,
) -> Any:
    """For second derivatives: the gradient of <weight, entmax_vjp(p, grad, alpha)> in the scores behind p.

    With `alpha_weight` it is that of the sum with alpha_weight times the derivative in alpha. In grad the gradient is
    entmax_jvp(p, weight, alpha). Parameters are as in `entmax_vjp`; out may be grad or weight.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.softmax([0.0, 0.0])
    >>> fenchel.entmax_vjp_vjp(p, [1.0, 0.0], [1.0, 0.0], alpha=1)
    array([0., 0.])
    """
    where = "entmax_vjp_vjp"
    p, grad, weight = real_array(where, "p", p), real_array(where, "grad", grad), real_array(where, "weight", weight)
    batch = Batch(where, axis, "p", p, grad, weight)
    rows, grads, weights = batch.rows_of("p", p), batch.rows_of("grad", grad), batch.rows_of("weight", weight)
    result = batch.rows_to_write(out, rows, over=(grads, weights))
    w_alpha = None if alpha_weight is None else batch.numbers_per_row("alpha_weight", alpha_weight)
    by_alpha = batch.numbers() if return_alpha_gradient else None
    _core.entmax_vjp_vjp(rows, batch.per_row("alpha", alpha), grads, weights, w_alpha, result, by_alpha)
    gradient = batch.array_of(result, out)
    return gradient if by_alpha is None else (gradient, batch.number_array(by_alpha))


def softmax_vjp(p: npt.ArrayLike, grad: npt.ArrayLike, axis: int = -1, out: Array | None = None) -> Array:
    """`entmax_vjp` for p = softmax(z).

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.softmax([1.0, 1.0])
    >>> fenchel.softmax_vjp(p, [1.0, 0.0])
    array([ 0.25, -0.25])
    """
    return _vjp("softmax_vjp", 1.0, p, grad, axis, out)


def softmax_jvp(p: npt.ArrayLike, direction: npt.ArrayLike, axis: int = -1, out: Array | None = None) -> Array:
    """`entmax_jvp` for p = softmax(z).

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.softmax([1.0, 1.0])
    >>> fenchel.softmax_jvp(p, [0.2, 0.0])
    array([ 0.05, -0.05])
    """
    return _jvp("softmax_jvp", 1.0, p, direction, axis, out)


def sparsemax_vjp(p: npt.ArrayLike, grad: npt.ArrayLike, axis: int = -1, out: Array | None = None) -> Array:
    """`entmax_vjp` for p = sparsemax(z).

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.sparsemax([1.0, 0.8, 0.1])
    >>> fenchel.sparsemax_vjp(p, [1.0, 0.0, 0.0])
    array([ 0.5, -0.5,  0. ])
    """
    return _vjp("sparsemax_vjp", 2.0, p, grad, axis, out)


def sparsemax_jvp(p: npt.ArrayLike, direction: npt.ArrayLike, axis: int = -1, out: Array | None = None) -> Array:
    """`entmax_jvp` for p = sparsemax(z).

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.sparsemax([1.0, 0.8, 0.1])
    >>> fenchel.sparsemax_jvp(p, [0.1, 0.0, 0.0])
    array([ 0.05, -0.05,  0.  ])
    """
    return _jvp("sparsemax_jvp", 2.0, p, direction, axis, out)


def _vjp(where: str, alpha: float, p: npt.ArrayLike, grad: npt.ArrayLike, axis: int, out: Array | None) -> Array:
    p, grad = real_array(where, "p", p), real_array(where, "grad", grad)
    batch = Batch(where, axis, "p", p, grad)
    return jacobian_product(batch, _core.entmax_vjp, p, ("grad", grad), alpha, None, out)


def _jvp(where: str, alpha: float, p: npt.ArrayLike, direction: npt.ArrayLike, axis: int, out: Array | None) -> Array:
    p, direction = real_array(where, "p", p), real_array(where, "direction", direction)
    batch = Batch(where, axis, "p", p, direction)
    return jacobian_product(batch, _core.entmax_jvp, p, ("direction", direction), alpha, None, out)
