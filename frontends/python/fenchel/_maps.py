"""softmax, sparsemax, entmax: from scores to probabilities, and derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._row_functions import jvp_rows, map_rows, vjp_rows
from ._rows import Array, Batch, Parameter, real_array


def entmax(
    scores: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1, out: Array | None = None, *,
    weight: npt.ArrayLike | None = None,
) -> Array:
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
    weight : array_like, optional
        A base measure: a weight for each score, not negative, that broadcasts to the shape of the scores. Then p =
        weight * exp_{2-alpha}(scores - A), and p / weight is a density. With alpha = 1 it is softmax with a prior, with
        the weights of a quadrature rule a density on a line or a plane. A node of weight 0 is not there.

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
    >>> fenchel.entmax([2.0, 1.0, 0.1, -2.0], weight=[0.25, 1.0, 1.0, 1.0]).round(4)
    array([0.3807, 0.5387, 0.0806, 0.    ])
    """
    return _map("entmax", scores, alpha, axis, out, weight)


def _map(
    where: str, scores: npt.ArrayLike, alpha: Parameter, axis: int, out: Array | None, weight: npt.ArrayLike | None
) -> Array:
    if weight is None:
        return map_rows(where, ("scores", scores), ("alpha", alpha), axis, out, kernel="entmax")
    return map_rows(
        where, ("scores", scores), ("alpha", alpha), axis, out, lambda b: (b.spread_rows("weight", weight),),
        kernel="weighted_entmax",
    )


def softmax(
    scores: npt.ArrayLike, axis: int = -1, out: Array | None = None, *, weight: npt.ArrayLike | None = None
) -> Array:
    """exp(scores) / sum(exp(scores)) along an axis: `entmax` with alpha = 1, whose parameters it shares.

    With a weight it is softmax with a prior, weight * exp(scores) / sum(weight * exp(scores)).

    Examples
    --------
    >>> import fenchel
    >>> fenchel.softmax([2.0, 1.0, 0.1]).round(4)
    array([0.659 , 0.2424, 0.0986])
    """
    return _map("softmax", scores, 1.0, axis, out, weight)


def sparsemax(
    scores: npt.ArrayLike, axis: int = -1, out: Array | None = None, *, weight: npt.ArrayLike | None = None
) -> Array:
    """The point of the simplex that is nearest to the scores, along an axis: `entmax` with alpha = 2.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.sparsemax([[1.0, 0.8, 0.1], [3.0, 0.0, 0.0]]).round(4)
    array([[0.6, 0.4, 0. ],
           [1. , 0. , 0. ]])
    """
    return _map("sparsemax", scores, 2.0, axis, out, weight)


def entmax_threshold(
    scores: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1, *, weight: npt.ArrayLike | None = None
) -> Any:
    """tau of p = [(alpha - 1) (scores - tau)]_+^(1 / (alpha - 1)), in float64: for alpha > 1 scores up to it get 0.

    -inf for alpha = 1, NaN for a row without prediction. The shape is that of the scores without the axis.

    Examples
    --------
    >>> import fenchel
    >>> round(float(fenchel.entmax_threshold([1.0, 0.8, 0.1], alpha=2)), 4)
    0.4
    """
    return _found("entmax_threshold", scores, alpha, axis, weight, "threshold", np.float64)


def support_size(
    scores: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1, *, weight: npt.ArrayLike | None = None
) -> Any:
    """How many probabilities of entmax(scores, alpha) are positive; 0 for a row without prediction.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.support_size([[1.0, 0.8, 0.1], [3.0, 0.0, 0.0]], alpha=2)
    array([2, 1])
    """
    return _found("support_size", scores, alpha, axis, weight, "support_size", np.int64)


def _found(
    where: str, scores: npt.ArrayLike, alpha: Parameter, axis: int, weight: npt.ArrayLike | None, name: str,
    dtype: npt.DTypeLike,
) -> Any:
    """What entmax finds on its way, a number for each row."""
    scores = real_array(where, "scores", scores)
    batch = Batch(where, axis, "scores", scores)
    rows, numbers = batch.rows_of("scores", scores), batch.numbers(dtype)
    found: dict[str, Any] = {name: numbers}
    order, p = batch.per_row("alpha", alpha), np.empty(rows.shape, rows.dtype)
    if weight is None:
        _core.entmax(rows, order, p, **found)
    else:
        _core.weighted_entmax(rows, order, p, batch.spread_rows("weight", weight), **found)
    return batch.number_array(numbers)


def entmax_vjp(
    p: npt.ArrayLike, cotangent: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1, out: Array | None = None, *,
    return_alpha_gradient: bool = False, weight: npt.ArrayLike | None = None, return_weight_gradient: bool = False,
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
    weight : array_like, optional
        That of `entmax`.
    return_weight_gradient : bool
        Also return the gradient with respect to the weight, of the shape of p.

    Returns
    -------
    ndarray, or a tuple
        The gradient; the derivative with respect to alpha is one number for each row, to be added up for an alpha that
        rows share; the gradient with respect to the weight.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.sparsemax([1.0, 0.8, 0.1])
    >>> fenchel.entmax_vjp(p, [1.0, 0.0, 0.0], alpha=2)
    array([ 0.5, -0.5,  0. ])
    """
    where, parameter = "entmax_vjp", ("alpha", alpha)
    if weight is None:
        if return_weight_gradient:
            raise ValueError(f"{where}: weight must be given where its gradient is asked for, got None")
        return vjp_rows(where, p, cotangent, parameter, axis, out, return_alpha_gradient)
    by_weight: list[tuple[Batch, Array]] = []

    def extra(batch: Batch) -> tuple[Array, Array | None]:
        if return_weight_gradient:
            by_weight.append((batch, np.empty((batch.rows, batch.cols), batch.dtype)))
        return batch.spread_rows("weight", weight), by_weight[0][1] if by_weight else None

    kernel = "weighted_entmax_vjp"
    found = vjp_rows(where, p, cotangent, parameter, axis, out, return_alpha_gradient, extra, kernel)
    if not by_weight:
        return found
    return (*(found if return_alpha_gradient else (found,)), by_weight[0][0].array_of(by_weight[0][1]))


def entmax_jvp(
    p: npt.ArrayLike, direction: npt.ArrayLike, alpha: Parameter = 1.5, axis: int = -1, out: Array | None = None, *,
    alpha_direction: npt.ArrayLike | None = None, weight: npt.ArrayLike | None = None,
    weight_direction: npt.ArrayLike | None = None,
) -> Array:
    """How p = entmax(scores, alpha) changes with the scores in a direction: J direction.

    With `alpha_direction`, which is as alpha, alpha changes too: dp/dalpha times it is added. With `weight_direction`,
    which is as weight, so does the weight. Other parameters are as in `entmax_vjp`.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.sparsemax([1.0, 0.8, 0.1])
    >>> fenchel.entmax_jvp(p, [0.1, 0.0, 0.0], alpha=2)
    array([ 0.05, -0.05,  0.  ])
    """
    where, parameter = "entmax_jvp", ("alpha", alpha)
    if weight is None:
        if weight_direction is not None:
            raise ValueError(f"{where}: weight must be given where it has a direction, got None")
        return jvp_rows(where, p, direction, parameter, axis, out, alpha_direction)

    def extra(batch: Batch) -> tuple[Array, Array | None]:
        d_weight = None if weight_direction is None else batch.spread_rows("weight_direction", weight_direction)
        return batch.spread_rows("weight", weight), d_weight

    return jvp_rows(where, p, direction, parameter, axis, out, alpha_direction, extra, "weighted_entmax_jvp")


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
