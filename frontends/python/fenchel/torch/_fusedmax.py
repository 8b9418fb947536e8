"""Maps whose elements are neighbours: fusedmax and smooth sparsemax on chains, fusedmax in images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ._differentiable import Places, Tensors, differentiable, or_zeros
from ._library import ops, register_rows
from ._row_map import RowMap, gradient_like, register_row_map
from ._rows import Parameter, computed_dtype, dim_from_end, parameter_of_rows, scores_and_dim

for _name in ("fusedmax", "smooth_sparsemax", "fusedmax_grid"):
    register_row_map(_name)
register_rows("smooth_sparsemax_vjp_vjp", gradient_like)


class _PiecewiseLinear(RowMap):
    @staticmethod
    def hessian(
        x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        """0: p is piecewise linear in the scores and in gamma."""
        return tuple(None if t is None else torch.zeros_like(t) for t in x)


class _Fusedmax(_PiecewiseLinear):
    name = "fusedmax"
    count = 4


class _FusedmaxGrid(_PiecewiseLinear):
    name = "fusedmax_grid"


class _SmoothSparsemax(RowMap):
    name = "smooth_sparsemax"
    count = 4

    @staticmethod
    def hessian(
        x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        (p,), (d_scores, d_gammas, *_) = outputs, dx
        return ops.smooth_sparsemax_vjp_vjp(p, *x[1:], grad, or_zeros(d_scores, p), d_gammas, *static)


_fusedmax = differentiable(_Fusedmax)
_fusedmax_grid = differentiable(_FusedmaxGrid)
_smooth_sparsemax = differentiable(_SmoothSparsemax)


def through_cpu(function: Callable[..., torch.Tensor], scores: torch.Tensor, *args: Any, **named: Any) -> torch.Tensor:
    """A function without a kernel for a GPU: its tensors go to the CPU, and the result comes back, as gradients do."""

    def moved(x: Any) -> Any:
        return x.cpu() if isinstance(x, torch.Tensor) else x

    computed = scores.to(computed_dtype(scores.dtype, scores.device)).cpu()
    result = function(computed, *map(moved, args), **{name: moved(x) for name, x in named.items()})
    return result.to(scores.device)


def chain(scores: torch.Tensor, dim: int, lengths: torch.Tensor | None, weights: torch.Tensor | None) -> Tensors:
    """Lengths and weights as the operations take them: a number a row, and one less a row than there are scores."""
    shape = list(scores.shape)
    if lengths is not None:
        if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype == torch.bool:
            raise TypeError(f"fenchel.torch: lengths must be integers, got {lengths.dtype}")
        lengths = _broadcast("lengths", lengths.long(), [*shape[:dim], 1, *shape[len(shape) + dim + 1 :]])
    if weights is not None:
        if weights.requires_grad:
            raise ValueError("fenchel.torch: weights must not require a gradient: they get none; detach them")
        edges = [*shape[:dim], max(shape[dim] - 1, 0), *shape[len(shape) + dim + 1 :]]
        weights = _broadcast("weights", weights.to(torch.float64), edges)
    return lengths, weights


def _broadcast(name: str, x: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    try:
        return x.expand(tuple(shape))
    except RuntimeError:
        raise ValueError(
            f"fenchel.torch: {name} must broadcast to {tuple(shape)}, got shape {tuple(x.shape)}"
        ) from None


def fusedmax(
    scores: torch.Tensor,
    gamma: Parameter = 1.0,
    dim: int = -1,
    *,
    lengths: torch.Tensor | None = None,
    weights: torch.Tensor | None = None,
) -> torch.Tensor:
    """The distribution p that maximises <p, scores> - |p|^2 / 2 - gamma sum_k w_k |p_{k+1} - p_k|, along a dimension.

    Neighbours tend to get the same probability, and many probabilities are exactly 0. gamma = 0 is sparsemax.

    Parameters
    ----------
    scores : Tensor
        -inf is a mask: its probability is 0, and its neighbours pay for differing from 0. A row with a NaN, a
        +inf or no finite score becomes NaN.
    gamma : float or Tensor
        Finite and not negative. A tensor broadcasts to the shape of the scores with `dim` of size 1, and gets a
        gradient.
    dim : int
        Along which probabilities add up to one.
    lengths : Tensor of int, optional
        How many elements of each row there are, from the first on: the others do not exist, and get 0. Broadcasts as
        gamma does. With lengths or weights, tensors on a GPU are computed on the CPU, as in `fusedmax_grid`.
    weights : Tensor, optional
        w, positive factors of gamma. Broadcasts to the shape of the scores with one less along `dim`. They get no
        gradient.

    Returns
    -------
    Tensor
        Of the shape and dtype of the scores, as with `entmax`.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import fusedmax
    >>> fusedmax(torch.tensor([0.0, 1.2, 1.0, 1.1, -1.0]), 0.1)
    tensor([0.0000, 0.3333, 0.3333, 0.3333, 0.0000])
    """
    if scores.is_cuda and not (lengths is None and weights is None):
        return through_cpu(fusedmax, scores, gamma, dim, lengths=lengths, weights=weights)
    scores, dim = scores_and_dim(scores, dim)
    gammas, number = parameter_of_rows(gamma, scores, dim, "gamma")
    return _fusedmax(scores, gammas, *chain(scores, dim, lengths, weights), number, dim)


def smooth_sparsemax(
    scores: torch.Tensor,
    gamma: Parameter = 1.0,
    dim: int = -1,
    *,
    lengths: torch.Tensor | None = None,
    weights: torch.Tensor | None = None,
) -> torch.Tensor:
    """The distribution p that maximises <p, scores> - |p|^2 / 2 - (gamma / 2) sum_k w_k (p_{k+1} - p_k)^2.

    Probabilities of neighbours differ little, and many are exactly 0. gamma = 0 is sparsemax. scores, gamma, dim, lengths
    and weights are those of `fusedmax`. Tensors on a GPU are computed on the CPU, as in `fusedmax_grid`.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import smooth_sparsemax
    >>> smooth_sparsemax(torch.tensor([1.0, 0.9, 0.2, 0.3]))
    tensor([0.5167, 0.3833, 0.0833, 0.0167])
    """
    if scores.is_cuda:
        return through_cpu(smooth_sparsemax, scores, gamma, dim, lengths=lengths, weights=weights)
    scores, dim = scores_and_dim(scores, dim)
    gammas, number = parameter_of_rows(gamma, scores, dim, "gamma")
    return _smooth_sparsemax(scores, gammas, *chain(scores, dim, lengths, weights), number, dim)


def image_rows(scores: torch.Tensor, dim: tuple[int, int]) -> tuple[torch.Tensor, tuple[int, int]]:
    """Images as rows of their pixels, along a last dimension, and the dims of height and width from the end."""
    if not isinstance(dim, Sequence) or len(dim) != 2:
        raise ValueError(f"fenchel.torch: dim must be a pair, of the rows and the columns of images, got {dim!r}")
    first, second = (dim_from_end(scores, d) for d in dim)
    if first == second:
        raise ValueError(f"fenchel.torch: dim must not name a dimension twice, got {dim!r}")
    return scores.movedim((first, second), (-2, -1)).flatten(-2), (first, second)


def gamma_of_images(gamma: Parameter, dims: tuple[int, int]) -> Parameter:
    """What broadcasts to images of one pixel, as it broadcasts to rows of one element."""
    if not isinstance(gamma, torch.Tensor) or gamma.dim() == 0:
        return gamma
    if gamma.dim() < max(-d for d in dims) or any(gamma.shape[d] != 1 for d in dims):
        raise ValueError(
            f"fenchel.torch: gamma must be of one number, or of size 1 along dim {dims}, got shape {tuple(gamma.shape)}"
        )
    return gamma.movedim(dims, (-2, -1)).flatten(-2)


def fusedmax_grid(scores: torch.Tensor, gamma: Parameter = 1.0, dim: tuple[int, int] = (-2, -1)) -> torch.Tensor:
    """`fusedmax` of images: gamma times the differences between horizontal and vertical neighbours.

    Regions of an image get one probability, and many pixels get exactly 0. Images on a GPU are computed on the cores of
    the CPU: they go there, and the result comes back. That waits for the GPU, so that no CUDA graph can capture it.

    Parameters
    ----------
    scores : Tensor
        Images; -inf is a mask, as in `fusedmax`.
    gamma : float or Tensor
        Finite and not negative. A tensor of more than one number has size 1 along both dimensions. It gets a gradient.
    dim : pair of int
        The rows and the columns of the images.

    Returns
    -------
    Tensor
        Of the shape and dtype of the scores; each image adds up to one.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import fusedmax_grid
    >>> fusedmax_grid(torch.tensor([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0]]), gamma=0.1)
    tensor([[0.2500, 0.2500, 0.0000],
            [0.2500, 0.2500, 0.0000]])
    """
    if scores.is_cuda:
        return through_cpu(fusedmax_grid, scores, gamma, dim)
    rows, dims = image_rows(scores, dim)
    rows, _ = scores_and_dim(rows, -1)
    height, width = (scores.shape[d] for d in dims)
    gammas, number = parameter_of_rows(gamma_of_images(gamma, dims), rows, -1, "gamma")
    p = _fusedmax_grid(rows, gammas, number, height, -1)
    return p.unflatten(-1, (height, width)).movedim((-2, -1), dims)
