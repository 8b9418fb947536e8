"""entmax over weighted nodes, a base measure, and its losses."""

from __future__ import annotations

from typing import Any

import torch

from ._differentiable import Places, Rule, Tensors, differentiable, is_differentiated
from ._library import ops, per_row_like, register_rows, rows_like
from ._rows import HALF


def _gradient_like(x: torch.Tensor, alphas: torch.Tensor | None, dim: int, in_weight: bool) -> Tensors:
    """What kernels allocate for scores, weight and alphas."""
    return rows_like(x, dim), rows_like(x, dim) if in_weight else x.new_empty(0), per_row_like(alphas, x, dim)


def _fake_loss(
    scores: torch.Tensor,
    weight: torch.Tensor,
    alphas: torch.Tensor | None,
    classes: torch.Tensor | None,
    soft: torch.Tensor | None,
    alpha: float,
    dim: int,
    ignore_index: int,
    cross: bool,
    gradient: bool,
) -> Tensors:
    computed = scores.float() if scores.dtype in HALF else scores
    loss = rows_like(computed.narrow(dim, 0, 1), dim)
    if gradient:
        return loss, *_gradient_like(computed, alphas, dim, True)
    return loss, computed.new_empty(0), computed.new_empty(0), per_row_like(None, scores, dim)


register_rows("weighted_entmax", lambda scores, weight, alphas, alpha, dim: rows_like(scores, dim))
register_rows("weighted_entmax_jvp", lambda p, *rest: rows_like(p, rest[-1]))
register_rows(
    "weighted_entmax_vjp",
    lambda p, weight, alphas, grad_p, alpha, dim, in_weight: _gradient_like(p, alphas, dim, in_weight),
)
register_rows(
    "weighted_entmax_vjp_vjp",
    lambda p, weight, alphas, *rest: _gradient_like(p, alphas, rest[-2], rest[-1]),
)
register_rows("weighted_entmax_loss", _fake_loss)
register_rows(
    "weighted_entmax_loss_curvature",
    lambda residual, weight, alphas, *rest: _gradient_like(residual, alphas, rest[6], True),
)


class _WeightedEntmax(Rule):
    """x is (scores, weight, alphas). Derivatives are functions of the probabilities, the weight and the alphas."""

    name = "weighted_entmax"
    count = 3

    @staticmethod
    def is_unread(static: tuple[Any, ...]) -> bool:
        return True

    @staticmethod
    def vjp(x: Tensors, outputs: Tensors, grad: torch.Tensor, wanted: Places, static: tuple[Any, ...]) -> Tensors:
        return ops.weighted_entmax_vjp(outputs[0], *x[1:], grad, *static, 1 in wanted)

    @staticmethod
    def jvp(x: Tensors, outputs: Tensors, dx: Tensors, static: tuple[Any, ...]) -> torch.Tensor:
        return ops.weighted_entmax_jvp(outputs[0], *x[1:], *dx, *static)

    @staticmethod
    def hessian(
        x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        return ops.weighted_entmax_vjp_vjp(outputs[0], *x[1:], grad, *dx, *static, 1 in wanted)


class _WeightedEntmaxLoss(Rule):
    """x is (scores, weight, alphas, classes, soft targets), y one loss a row; the other outputs are its gradient in the
    first three, if static ends with `gradient`."""

    name = "weighted_entmax_loss"
    count = 5
    results = 4

    @staticmethod
    def is_unread(static: tuple[Any, ...]) -> bool:
        return True

    @staticmethod
    def vjp(x: Tensors, outputs: Tensors, grad: torch.Tensor, wanted: Places, static: tuple[Any, ...]) -> Tensors:
        return (*(grad * slope if i in wanted else None for i, slope in enumerate(outputs[1:])), None, None)

    @staticmethod
    def jvp(x: Tensors, outputs: Tensors, dx: Tensors, static: tuple[Any, ...]) -> torch.Tensor:
        loss, *slopes = outputs
        if dx[4] is not None:
            raise ValueError("fenchel.torch: target must have no tangent: no derivative in it is computed")
        d_loss = torch.zeros_like(loss)
        for slope, d in zip(slopes, dx[:3]):
            if d is not None:
                d_loss = d_loss + (slope * d).sum(static[1], keepdim=True).to(loss.dtype)
        return d_loss

    @staticmethod
    def hessian(
        x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        products = ops.weighted_entmax_loss_curvature(outputs[1], *x[1:], *dx[:3], *static[:-1])
        return (*(grad * product if i in wanted else None for i, product in enumerate(products)), None, None)


_weighted_entmax = differentiable(_WeightedEntmax)
_weighted_entmax_loss = differentiable(_WeightedEntmaxLoss)


def _of_nodes(
    scores: torch.Tensor, weight: torch.Tensor, name: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores and weight of one shape and of the wider of their types."""
    if not weight.is_floating_point():
        raise TypeError(f"fenchel.torch: {name} must be floating point, got {weight.dtype}")
    shape, own = tuple(scores.shape), tuple(weight.shape)
    if len(own) > len(shape) or any(v not in (1, s) for v, s in zip(reversed(own), reversed(shape))):
        raise ValueError(f"fenchel.torch: {name} must broadcast to {shape}, got shape {own}")
    dtype = torch.promote_types(scores.dtype, weight.dtype)
    return scores.to(dtype), weight.to(dtype).expand(shape)


def weighted_entmax(
    scores: torch.Tensor, weight: torch.Tensor, alphas: torch.Tensor | None, alpha: float, dim: int
) -> torch.Tensor:
    return _weighted_entmax(*_of_nodes(scores, weight, "weight"), alphas, alpha, dim).to(scores.dtype)


def weighted_entmax_loss(
    scores: torch.Tensor,
    measure: torch.Tensor,
    alphas: torch.Tensor | None,
    targets: Tensors,
    *static: Any,
) -> torch.Tensor:
    """One loss a row; static are alpha, dim, ignore_index and cross."""
    nodes = _of_nodes(scores, measure, "measure")
    if torch.compiler.is_compiling():
        gradient = torch.is_grad_enabled()
    else:
        gradient = is_differentiated((*nodes, alphas))
    return _weighted_entmax_loss(*nodes, alphas, *targets, *static, gradient)
