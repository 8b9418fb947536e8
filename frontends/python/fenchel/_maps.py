"""softmax, sparsemax, entmax: from scores to probabilities, and derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._row_functions import jvp_rows, map_rows, vjp_rows
from ._rows import Array, Batch, Parameter, real_array


def entmax(scores: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1, out: Array | None = None) -> Array:
    """The distribution p that maximises <p, scores> - Omega_alpha(p), along an axis.

    It is `softmax` for alpha = 1 and `sparsemax` for alpha = 2. For alpha > 1 probabilities can be exactly 0.

    Parameters
    ----------
    scores : array_like
        -inf is a mask, of probability 0. A row with a NaN, a +inf or no finite score becomes NaN.
    alpha : float or array_like
        Positive, inf is uniform over the maxima. An array broadcasts to the shape of the scores without the axis.
    axis : int
        Along which probabilities add up to one.
    out : ndarray, optional
        Where to write, of the shape of the scores and the dtype of the result. It may be the scores.

    Returns
    -------
    ndarray
        Of the shape of the scores: float32 where they are float32 or float16, else float64. An array whose elements
        along the axis are neighbours in memory is read in place, any other is copied once.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.entmax([2.0, 1.0, 0.1, -2.0]).round(4)
    array([0.8307, 0.1693, 0.    , 0.    ])
    """
    return map_rows("entmax", ("scores", scores), ("alpha", alpha), axis, out)


def softmax(scores: npt.ArrayLike, axis: int = -1, out: Array | None = None) -> Array:
    """exp(scores) / sum(exp(scores)) along an axis: `entmax` with alpha = 1, whose parameters it shares.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.softmax([2.0, 1.0, 0.1]).round(4)
    array([0.659 , 0.2424, 0.0986])
    """
    return map_rows("softmax", ("scores", scores), ("alpha", 1.0), axis, out, kernel="entmax")


def sparsemax(scores: npt.ArrayLike, axis: int = -1, out: Array | None = None) -> Array:
    """The point of the simplex that is nearest to the scores, along an axis: `entmax` with alpha = 2.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.sparsemax([[1.0, 0.8, 0.1], [3.0, 0.0, 0.0]]).round(4)
    array([[0.6, 0.4, 0. ],
           [1. , 0. , 0. ]])
    """
    return map_rows("sparsemax", ("scores", scores), ("alpha", 2.0), axis, out, kernel="entmax")


def entmax_threshold(scores: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1) -> Any:
    """tau of p = [(alpha - 1) (scores - tau)]_+^(1 / (alpha - 1)), in float64: for alpha > 1 scores up to it get 0.

    -inf for alpha = 1, NaN for a row without prediction. The shape is that of the scores without the axis.

    Examples
    --------
    >>> import fenchel
    >>> round(float(fenchel.entmax_threshold([1.0, 0.8, 0.1], alpha=2)), 4)
    0.4
    """
    return _found("entmax_threshold", scores, alpha, axis, "threshold", np.float64)


def support_size(scores: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1) -> Any:
    """How many probabilities of entmax(scores, alpha) are positive; 0 for a row without prediction.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.support_size([[1.0, 0.8, 0.1], [3.0, 0.0, 0.0]], alpha=2)
    array([2, 1])
    """
    return _found("support_size", scores, alpha, axis, "support_size", np.int64)


def _found(where: str, scores: npt.ArrayLike, alpha: Parameter, axis: int, name: str, dtype: npt.DTypeLike) -> Any:
    """What entmax finds on its way, a number for each row."""
    scores = real_array(where, "scores", scores)
    batch = Batch(where, axis, "scores", scores)
    rows, numbers = batch.rows_of("scores", scores), batch.numbers(dtype)
    found: dict[str, Any] = {name: numbers}
    _core.entmax(rows, batch.per_row("alpha", alpha), np.empty(rows.shape, rows.dtype), **found)
    return batch.number_array(numbers)


def entmax_vjp(
    p: npt.ArrayLike, cotangent: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1, out: Array | None = None, *,
    return_alpha_gradient: bool = False,
) -> Any:
    """The gradient with respect to the scores of a function of p = entmax(scores, alpha): J cotangent.

    Parameters
    ----------
    p : array_like
        What `entmax` gave; the scores themselves are not needed. That of `softmax` has alpha = 1, of `sparsemax` 2.
    cotangent : array_like
        The gradient with respect to p, of its shape.
    alpha, axis
        As in `entmax`.
    out : ndarray, optional
        Where to write. It may be the cotangent.
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
    return vjp_rows("entmax_vjp", p, cotangent, ("alpha", alpha), axis, out, return_alpha_gradient)


def entmax_jvp(
    p: npt.ArrayLike, direction: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1, out: Array | None = None, *,
    alpha_direction: npt.ArrayLike | None = None,
) -> Array:
    """How p = entmax(scores, alpha) changes with the scores in a direction: J direction.

    With `alpha_direction`, which is as alpha, alpha changes too: dp/dalpha times it is added. Other parameters are as
    in `entmax_vjp`.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.sparsemax([1.0, 0.8, 0.1])
    >>> fenchel.entmax_jvp(p, [0.1, 0.0, 0.0], alpha=2)
    array([ 0.05, -0.05,  0.  ])
    """
    return jvp_rows("entmax_jvp", p, direction, ("alpha", alpha), axis, out, alpha_direction)


def entmax_vjp_vjp(
    p: npt.ArrayLike, cotangent: npt.ArrayLike, weight: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1,
    out: Array | None = None, *, alpha_weight: npt.ArrayLike | None = None, return_alpha_gradient: bool = False,
) -> Any:
    """For second derivatives: the gradient of <weight, entmax_vjp(p, cotangent, alpha)> in the scores behind p.

    With `alpha_weight` it is that of the sum with alpha_weight times the derivative in alpha. In the cotangent the
    gradient is entmax_jvp(p, weight, alpha). Parameters are as in `entmax_vjp`; out may be the cotangent or the weight.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.softmax([0.0, 0.0])
    >>> fenchel.entmax_vjp_vjp(p, [1.0, 0.0], [1.0, 0.0], alpha=1)
    array([0., 0.])
    """
    where, given = "entmax_vjp_vjp", {"p": p, "cotangent": cotangent, "weight": weight}
    arrays = {name: real_array(where, name, x) for name, x in given.items()}
    batch = Batch(where, axis, "p", *arrays.values())
    rows, cotangents, weights = (batch.rows_of(name, x) for name, x in arrays.items())
    result = batch.rows_to_write(out, rows, over=(cotangents, weights))
    w_alpha = None if alpha_weight is None else batch.numbers_per_row("alpha_weight", alpha_weight)
    by_alpha = batch.numbers() if return_alpha_gradient else None
    _core.entmax_vjp_vjp(rows, batch.per_row("alpha", alpha), cotangents, weights, w_alpha, result, by_alpha)
    gradient = batch.array_of(result, out)
    return gradient if by_alpha is None else (gradient, batch.number_array(by_alpha))
