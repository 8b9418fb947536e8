"""The losses whose predictions are fusedmax, smooth sparsemax, and fusedmax of images."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

import torch

from ._differentiable import Places, Rule, Tensors, differentiable, or_zeros
from ._entmax_loss import reduced, targets_of
from ._fusedmax import chain, gamma_of_images, image_rows, through_cpu
from ._library import ops, per_row_like, register_rows, rows_like
from ._row_map import gradient_like
from ._rows import HALF, Parameter, dim_from_end, parameter_of_rows


def _fake_loss(*args: Any) -> Tensors:
    scores, gammas, dim = args[0], args[1], args[-1]
    computed = scores.float() if scores.dtype in HALF else scores
    return (
        rows_like(computed.narrow(dim, 0, 1), dim),
        rows_like(computed, dim),
        per_row_like(gammas, scores, dim),
    )


for _name in ("fusedmax_loss", "fusedmax_grid_loss", "smooth_sparsemax_loss"):
    register_rows(_name, _fake_loss)
register_rows("smooth_sparsemax_loss_curvature", gradient_like)


class _Loss(Rule):
    """x is (scores, gammas, classes, soft targets), and others that have no derivatives; y is one loss a row, and the
    other outputs are its gradient: p - q in the scores, and the slope in gamma. static is gamma, what the map takes
    besides, ignore_index and dim."""

    count = 4
    results = 3
    map_name: ClassVar[str]

    @staticmethod
    def vjp(x: Tensors, outputs: Tensors, grad: torch.Tensor, wanted: Places, static: tuple[Any, ...]) -> Tensors:
        return grad * outputs[1], grad * outputs[2] if 1 in wanted else None

    @staticmethod
    def jvp(x: Tensors, outputs: Tensors, dx: Tensors, static: tuple[Any, ...]) -> torch.Tensor:
        (loss, residual, slope), (d_scores, d_gammas, _, d_soft, *_) = outputs, dx
        if d_soft is not None:
            raise ValueError("fenchel.torch: target must have no tangent: no derivative in it is computed")
        d_loss = torch.zeros_like(loss)
        if d_scores is not None:
            d_loss = d_loss + (residual * d_scores).sum(static[-1], keepdim=True)
        return d_loss if d_gammas is None else d_loss + (slope * d_gammas).to(loss.dtype)

    @classmethod
    def hessian(
        cls, x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        (scores, gammas, classes, _, *others), (*numbers, ignore_index, dim) = x, static
        p = getattr(ops, cls.map_name)(scores, gammas, *others, *numbers, dim)
        products = cls.curvature(p, (gammas, *others), or_zeros(dx[0], p), dx[1], (*numbers, dim))
        if classes is not None:
            products = tuple(t if t.shape == (0,) else torch.where(classes == ignore_index, 0, t) for t in products)
        return grad * products[0], grad * products[1] if 1 in wanted else None

    @classmethod
    def curvature(
        cls, p: torch.Tensor, rest: Tensors, d_scores: torch.Tensor, d_gammas: Any, numbers: tuple[Any, ...]
    ) -> Tensors:
        """The Hessian of a row's loss in scores and gamma, times the direction. As the Jacobian of a piecewise linear
        map is a projection, it is how p moves, and the product of that with dp/dgamma."""
        moved = getattr(ops, f"{cls.map_name}_jvp")(p, *rest, d_scores, d_gammas, *numbers)
        return moved, getattr(ops, f"{cls.map_name}_vjp")(p, *rest, moved, *numbers)[1]


class _FusedmaxLoss(_Loss):
    name = "fusedmax_loss"
    map_name = "fusedmax"
    count = 6


class _FusedmaxGridLoss(_Loss):
    name = "fusedmax_grid_loss"
    map_name = "fusedmax_grid"


class _SmoothSparsemaxLoss(_Loss):
    name = "smooth_sparsemax_loss"
    map_name = "smooth_sparsemax"
    count = 6

    @classmethod
    def curvature(
        cls, p: torch.Tensor, rest: Tensors, d_scores: torch.Tensor, d_gammas: Any, numbers: tuple[Any, ...]
    ) -> Tensors:
        products: Tensors = ops.smooth_sparsemax_loss_curvature(p, *rest, d_scores, d_gammas, *numbers)
        return products


_fusedmax_loss = differentiable(_FusedmaxLoss)
_fusedmax_grid_loss = differentiable(_FusedmaxGridLoss)
_smooth_sparsemax_loss = differentiable(_SmoothSparsemaxLoss)


def _chain_loss(
    loss: Callable[..., torch.Tensor],
    scores: torch.Tensor,
    target: torch.Tensor,
    gamma: Parameter,
    ignore_index: int,
    reduction: str,
    dim: int,
    lengths: torch.Tensor | None,
    weights: torch.Tensor | None,
) -> torch.Tensor:
    if scores.is_cuda:
        rest = (gamma, ignore_index, reduction, dim, lengths, weights)
        return through_cpu(functools.partial(_chain_loss, loss), scores, target, *rest)
    dim = dim_from_end(scores, dim)
    classes, soft = targets_of(scores, target, dim)
    gammas, number = parameter_of_rows(gamma, scores, dim, "gamma")
    others = chain(scores, dim, lengths, weights)
    rows = loss(scores, gammas, classes, soft, *others, number, ignore_index, dim).squeeze(dim)
    return reduced(rows, scores, target, ignore_index, reduction)


def fusedmax_loss(
    scores: torch.Tensor,
    target: torch.Tensor,
    gamma: Parameter = 1.0,
    ignore_index: int = -100,
    reduction: str = "mean",
    dim: int = -1,
    *,
    lengths: torch.Tensor | None = None,
    weights: torch.Tensor | None = None,
) -> torch.Tensor:
    """The Fenchel-Young loss of `fusedmax`: never negative, and 0 where fusedmax(scores, gamma) is the target.

    Its gradient in the scores is fusedmax(scores, gamma) less the target. target, ignore_index, reduction and dim are
    those of `entmax_loss`; gamma, lengths and weights those of `fusedmax`. Tensors on a GPU are computed on the CPU, as
    in `fusedmax_grid`.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import fusedmax, fusedmax_loss
    >>> scores = torch.tensor([1.0, 0.9, 0.2, 0.3])
    >>> fusedmax_loss(scores, fusedmax(scores, 0.1), 0.1), fusedmax_loss(scores, torch.tensor(0), 0.1)
    (tensor(0.), tensor(0.2500))
    """
    return _chain_loss(_fusedmax_loss, scores, target, gamma, ignore_index, reduction, dim, lengths, weights)


def smooth_sparsemax_loss(
    scores: torch.Tensor,
    target: torch.Tensor,
    gamma: Parameter = 1.0,
    ignore_index: int = -100,
    reduction: str = "mean",
    dim: int = -1,
    *,
    lengths: torch.Tensor | None = None,
    weights: torch.Tensor | None = None,
) -> torch.Tensor:
    """The Fenchel-Young loss of `smooth_sparsemax`, as `fusedmax_loss` is that of `fusedmax`.

    scores, target, gamma, ignore_index, reduction, dim, lengths and weights are those of `fusedmax_loss`.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import smooth_sparsemax_loss
    >>> smooth_sparsemax_loss(torch.tensor([1.0, 0.9, -2.0]), torch.tensor(0))
    tensor(0.6007)
    """
    return _chain_loss(_smooth_sparsemax_loss, scores, target, gamma, ignore_index, reduction, dim, lengths, weights)


def fusedmax_grid_loss(
    scores: torch.Tensor,
    target: torch.Tensor,
    gamma: Parameter = 1.0,
    ignore_index: int = -100,
    reduction: str = "mean",
    dim: tuple[int, int] = (-2, -1),
) -> torch.Tensor:
    """The Fenchel-Young loss of `fusedmax_grid`, as `fusedmax_loss` is that of `fusedmax`.

    scores, gamma and dim are those of `fusedmax_grid`, ignore_index and reduction those of `entmax_loss`. A class in the
    target is a pixel, counted row by row: it has the shape of the scores without the dimensions of the images. A
    distribution has the shape of the scores. Images on a GPU are computed on the CPU, as in `fusedmax_grid`.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import fusedmax_grid_loss
    >>> fusedmax_grid_loss(torch.tensor([[1.0, 0.9], [0.5, 0.0]]), torch.tensor(0), gamma=0.1)
    tensor(0.3075)
    """
    if scores.is_cuda:
        return through_cpu(fusedmax_grid_loss, scores, target, gamma, ignore_index, reduction, dim)
    rows, dims = image_rows(scores, dim)
    if target.is_floating_point() and target.shape == scores.shape:
        target = image_rows(target, dim)[0]
    classes, soft = targets_of(rows, target, -1)
    gammas, number = parameter_of_rows(gamma_of_images(gamma, dims), rows, -1, "gamma")
    loss = _fusedmax_grid_loss(rows, gammas, classes, soft, number, scores.shape[dims[0]], ignore_index, -1)
    return reduced(loss.squeeze(-1), scores, target, ignore_index, reduction)
