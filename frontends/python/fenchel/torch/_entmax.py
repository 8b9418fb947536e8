"""entmax and its special cases: from scores to probabilities."""

from __future__ import annotations

from typing import Any

import torch

from ._differentiable import Places, Tensors, differentiable, or_zeros
from ._library import ops, per_row_like, register_rows, rows_like, without_autograd
from ._row_map import RowMap, register_row_map
from ._rows import Parameter, parameter_of_rows, scores_and_dim
from ._weighted_entmax import weighted_entmax

register_row_map("entmax")
register_rows("entmax_value", lambda *args: rows_like(args[0], args[-1]))
without_autograd("entmax_value")
register_rows(
    "entmax_vjp_vjp",
    lambda p, alphas, grad_p, weight_scores, weight_alphas, alpha, dim: (
        rows_like(p, dim),
        per_row_like(alphas, p, dim),
    ),
)


class _Entmax(RowMap):
    name = "entmax"

    @staticmethod
    def hessian(
        x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        (p,), (d_scores, d_alphas) = outputs, dx
        return ops.entmax_vjp_vjp(p, x[1], grad, or_zeros(d_scores, p), d_alphas, *static)


entmax_of_rows = differentiable(_Entmax)


def entmax(
    scores: torch.Tensor, alpha: Parameter = 1.5, dim: int = -1, *, weight: torch.Tensor | None = None
) -> torch.Tensor:
    """The distribution p that maximises <p, scores> - Omega_alpha(p), along a dimension.

    It is softmax for alpha = 1 and sparsemax for alpha = 2. For alpha > 1 probabilities can be exactly 0.

    Parameters
    ----------
    scores : Tensor
        -inf is a mask, of probability 0. A row with a NaN, a +inf or no finite score becomes NaN.
    alpha : float or Tensor
        Positive, inf is uniform over the maxima. A tensor broadcasts to the shape of the scores with `dim` of size 1,
        and gets a gradient: alpha can be learned, one for all rows or one each.
    dim : int
        Along which probabilities add up to one.
    weight : Tensor, optional
        A base measure: a weight for each node, not negative, that broadcasts to the shape of the scores and gets a
        gradient. p = weight * exp_{2 - alpha}(scores - A), so p / weight is a density. For alpha = 1 it is softmax with
        a prior, weight * exp(scores) / sum; with the weights of a quadrature rule it is a density on a line or a
        plane. A node of weight 0 is not there.

    Returns
    -------
    Tensor
        Of the shape and dtype of the scores. float16 and bfloat16 are computed in float32, and under autocast the result
        is float32, as with torch.softmax on a GPU.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import entmax
    >>> entmax(torch.tensor([2.0, 1.0, 0.1, -2.0]))
    tensor([0.8307, 0.1693, 0.0000, 0.0000])
    >>> entmax(torch.tensor([2.0, 1.0, 0.1, -2.0]), weight=torch.tensor([0.25, 1.0, 1.0, 1.0]))
    tensor([0.3807, 0.5387, 0.0806, 0.0000])
    """
    scores, dim = scores_and_dim(scores, dim)
    if weight is not None:
        return weighted_entmax(scores, weight, *parameter_of_rows(alpha, scores, dim), dim)
    return entmax_of_rows(scores, *parameter_of_rows(alpha, scores, dim), dim)


def sparsemax(
    scores: torch.Tensor, dim: int = -1, k: int | None = None, *, weight: torch.Tensor | None = None
) -> torch.Tensor:
    """entmax at alpha = 2: the distribution nearest to the scores.

    scores, dim, weight and the result are those of `entmax`. k, an argument of the entmax package, changes nothing.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import sparsemax
    >>> sparsemax(torch.tensor([2.0, 1.5, 0.1, -2.0]))
    tensor([0.7500, 0.2500, 0.0000, 0.0000])
    """
    return entmax(scores, 2.0, dim, weight=weight)


def entmax15(
    scores: torch.Tensor, dim: int = -1, k: int | None = None, *, weight: torch.Tensor | None = None
) -> torch.Tensor:
    """entmax at alpha = 3/2, between softmax and sparsemax.

    scores, dim, weight and the result are those of `entmax`. k, an argument of the entmax package, changes nothing.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import entmax15
    >>> entmax15(torch.tensor([2.0, 1.5, 0.1, -2.0]))
    tensor([0.6740, 0.3260, 0.0000, 0.0000])
    """
    return entmax(scores, 1.5, dim, weight=weight)


def entmax_bisect(
    scores: torch.Tensor, alpha: Parameter = 1.5, dim: int = -1, n_iter: int = 50, ensure_sum_one: bool = True
) -> torch.Tensor:
    """`entmax`, by its name in the entmax package.

    scores, alpha, dim and the result are those of `entmax`. n_iter and ensure_sum_one change nothing: there is no
    bisection, and the sum is one.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import entmax_bisect
    >>> entmax_bisect(torch.tensor([[2.0, 1.5, 0.1], [2.0, 1.5, 0.1]]), alpha=torch.tensor([[1.25], [2.0]]))
    tensor([[0.6277, 0.3426, 0.0297],
            [0.7500, 0.2500, 0.0000]])
    """
    return entmax(scores, alpha, dim)


def sparsemax_bisect(
    scores: torch.Tensor, dim: int = -1, n_iter: int = 50, ensure_sum_one: bool = True
) -> torch.Tensor:
    """`sparsemax`, by another name of the entmax package.

    scores, dim and the result are those of `entmax`. n_iter and ensure_sum_one change nothing, as in `entmax_bisect`.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import sparsemax_bisect
    >>> sparsemax_bisect(torch.tensor([2.0, 1.5, 0.1, -2.0]))
    tensor([0.7500, 0.2500, 0.0000, 0.0000])
    """
    return entmax(scores, 2.0, dim)
