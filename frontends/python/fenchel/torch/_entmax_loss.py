"""The losses whose predictions are entmax."""

from __future__ import annotations

from typing import Any

import torch

from ._differentiable import (
    Places,
    Rule,
    Tensors,
    differentiable,
    is_differentiated,
    is_traced,
    or_zeros,
)
from ._library import ops, per_row_like, register_rows, rows_like, without_autograd
from ._rows import HALF, Parameter, computed_dtype, dim_from_end, parameter_of_rows
from ._weighted_entmax import weighted_entmax_loss


def _fake_loss(
    scores: torch.Tensor,
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
    residual = rows_like(computed, dim) if gradient else computed.new_empty(0)
    return rows_like(computed.narrow(dim, 0, 1), dim), residual, per_row_like(alphas if gradient else None, scores, dim)


def _fake_mean_loss(
    scores: torch.Tensor,
    alphas: torch.Tensor | None,
    classes: torch.Tensor,
    alpha: float,
    dim: int,
    ignore_index: int,
    gradient: bool,
) -> Tensors:
    loss, *slopes = _fake_loss(scores, alphas, None, None, alpha, dim, ignore_index, False, gradient)
    return loss.new_empty(()), *slopes, loss.new_empty(())


register_rows("entmax_loss", _fake_loss)
torch.library.register_fake("fenchel::entmax_mean_loss", _fake_mean_loss)
without_autograd("entmax_mean_loss")
register_rows("entmax_loss_vjp", lambda scores, *rest: rows_like(scores, rest[5]))
register_rows(
    "entmax_loss_curvature",
    lambda residual, alphas, *rest: (rows_like(residual, rest[5]), per_row_like(alphas, residual, rest[5])),
)


class _EntmaxLoss(Rule):
    """x is (scores, alphas, classes, soft targets), y one loss a row. static ends with `gradient`: whether the other
    outputs are the gradient, p - q in the scores and the slope in alpha. Without it the scores are kept, and read again.
    """

    name = "entmax_loss"
    count = 4
    results = 3

    @staticmethod
    def is_unread(static: tuple[Any, ...]) -> bool:
        return bool(static[-1])

    @staticmethod
    def vjp(x: Tensors, outputs: Tensors, grad: torch.Tensor, wanted: Places, static: tuple[Any, ...]) -> Tensors:
        in_scores = grad * outputs[1] if static[-1] else ops.entmax_loss_vjp(*x, grad, *static[:3])
        return in_scores, grad * _with_gradient(x, outputs, static)[2] if 1 in wanted else None

    @staticmethod
    def jvp(x: Tensors, outputs: Tensors, dx: Tensors, static: tuple[Any, ...]) -> torch.Tensor:
        (loss, residual, slope), (d_scores, d_alphas, _, d_soft) = _with_gradient(x, outputs, static), dx
        if d_soft is not None:
            raise ValueError("fenchel.torch: target must have no tangent: no derivative in it is computed")
        dim = static[1]
        d_loss = torch.zeros_like(loss)
        if d_scores is not None:
            d_loss = d_loss + (residual * d_scores).sum(dim, keepdim=True)
        return d_loss if d_alphas is None else d_loss + (slope * d_alphas).to(loss.dtype)

    @staticmethod
    def hessian(
        x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        (_, residual, _), (d_scores, d_alphas, _, _) = _with_gradient(x, outputs, static), dx
        product, product_alphas = ops.entmax_loss_curvature(
            residual, *x[1:], or_zeros(d_scores, residual), d_alphas, *static[:-1]
        )
        in_scores = grad * product if static[-1] else (grad * product).to(x[0].dtype)  # the type of the gradient
        return in_scores, grad * product_alphas if 1 in wanted else None


def _with_gradient(x: Tensors, outputs: Tensors, static: tuple[Any, ...]) -> Tensors:
    """The outputs, where they lack the gradient computed again."""
    return outputs if static[-1] else ops.entmax_loss(*x, *static[:-1], True)


class _EntmaxMeanLoss(Rule):
    """x is (scores, alphas, classes), these without `dim`, y the mean of that of `_EntmaxLoss` over the rows that are not
    ignored, and the last of the outputs is their number. It is of the CPU: five of torch's operations, and the derivatives of
    three of them, would cost a small call more than its loss."""

    name = "entmax_mean_loss"
    count = 3
    results = 4
    is_compiled = False

    is_unread = _EntmaxLoss.is_unread

    @staticmethod
    def of_rows(x: Tensors, outputs: Tensors, static: tuple[Any, ...]) -> tuple[Tensors, Tensors, tuple[Any, ...]]:
        """The same of the losses of rows, without these."""
        alpha, dim, ignore_index, gradient = static
        rows = (*x[:2], x[2].unsqueeze(dim), None)
        return rows, outputs[:3], (alpha, dim, ignore_index, False, gradient)

    @classmethod
    def vjp(cls, x: Tensors, outputs: Tensors, grad: torch.Tensor, wanted: Places, static: tuple[Any, ...]) -> Tensors:
        share = grad / outputs[3]
        if static[-1]:
            return share * outputs[1], share * outputs[2] if 1 in wanted else None
        rows, residuals, numbers = cls.of_rows(x, outputs, static)
        return _EntmaxLoss.vjp(rows, residuals, share.expand(rows[2].shape), wanted, numbers)

    @classmethod
    def jvp(cls, x: Tensors, outputs: Tensors, dx: Tensors, static: tuple[Any, ...]) -> torch.Tensor:
        _, *slopes = _with_gradient(*cls.of_rows(x, outputs, static))
        moved = sum((slope * d).sum() for slope, d in zip(slopes, dx) if d is not None)
        return (outputs[0].new_zeros(()) + moved / outputs[3]).to(outputs[0].dtype)

    @classmethod
    def hessian(
        cls, x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        rows, residuals, numbers = cls.of_rows(x, outputs, static)
        return _EntmaxLoss.hessian(rows, residuals, grad / outputs[3], (*dx, None), wanted, numbers)


_entmax_loss, _entmax_mean_loss = differentiable(_EntmaxLoss), differentiable(_EntmaxMeanLoss)


def targets_of(scores: torch.Tensor, target: torch.Tensor, dim: int) -> Tensors:
    """(classes, None) or (None, distributions), as the operations take them."""
    classes, soft = checked_targets(scores, target, dim)
    return classes if classes is None else classes.unsqueeze(dim), soft


def checked_targets(scores: torch.Tensor, target: torch.Tensor, dim: int) -> Tensors:
    """The same, with classes as they were given."""
    shape = scores.shape
    if shape[dim] == 0:
        raise ValueError(f"fenchel.torch: scores must have at least one class along dim, got shape {tuple(shape)}")
    if target.is_floating_point():
        if target.requires_grad:
            raise ValueError("fenchel.torch: target must not require a gradient: it gets none; detach it")
        if target.shape != shape:
            raise ValueError(
                f"fenchel.torch: target, a distribution, must have the shape of scores, {tuple(shape)}, got "
                f"{tuple(target.shape)}"
            )
        if target.dtype in HALF:
            # Rounding moves the sum by a part in the type's precision: that much is undone, and no more. torch adds in
            # an order of the strides, so these are always the same.
            eps, target = torch.finfo(target.dtype).eps, target.float()
            total = target.movedim(dim, -1).contiguous().sum(-1).unsqueeze(dim)
            target = torch.where((total - 1).abs() <= eps, target / total, target)
        return None, target
    if target.dtype != torch.int64:
        if target.dtype == torch.bool or target.is_complex():
            raise TypeError(f"fenchel.torch: target must be classes (integers) or distributions, got {target.dtype}")
        target = target.long()
    rows = shape[:-1] if dim == -1 else (*shape[:dim], *shape[len(shape) + dim + 1 :])
    if target.shape != rows:
        raise ValueError(
            f"fenchel.torch: target, a class a row, must have the shape of scores without dim, {tuple(rows)}, got "
            f"{tuple(target.shape)}"
        )
    return target, None


def reduced(
    loss: torch.Tensor, scores: torch.Tensor, target: torch.Tensor, ignore_index: int, reduction: str
) -> torch.Tensor:
    """The losses of rows as they are returned."""
    if reduction not in ("none", "mean", "elementwise_mean", "sum"):
        raise ValueError(f"fenchel.torch: reduction must be 'none', 'mean' or 'sum', got {reduction!r}")
    if reduction != "none":
        rows, loss = max(loss.numel(), 1), loss.sum()
        if reduction != "sum":
            loss = loss / (rows if target.is_floating_point() else (target != ignore_index).sum().clamp(min=1))
    return loss.to(computed_dtype(scores.dtype, scores.device))


def _keeps_gradient(scores: torch.Tensor, alphas: torch.Tensor | None) -> bool:
    """Whether the gradient is computed with the loss. On a GPU the scores are read again instead, which moves fewer
    bytes than to write p - q and to read it; but the slope in alpha comes with the loss alone."""
    if scores.is_cuda and alphas is None:
        return False
    if torch.compiler.is_compiling():
        # Perhaps inside of a vmap, where tensors do not say whether they require a gradient.
        return torch.is_grad_enabled()
    return is_differentiated((alphas,) if scores.is_cuda else (scores, alphas))


def _loss(
    scores: torch.Tensor,
    target: torch.Tensor,
    alpha: Parameter,
    ignore_index: int,
    reduction: str,
    dim: int,
    measure: torch.Tensor | None,
    cross: bool,
) -> torch.Tensor:
    dim = dim_from_end(scores, dim)
    classes, soft = checked_targets(scores, target, dim)
    alphas, number = parameter_of_rows(alpha, scores, dim)
    if classes is not None:
        # The mean is one operation of the CPU, which vmap and compiled code take apart.
        if reduction == "mean" and measure is None and scores.is_cpu and not is_traced():
            gradient = _keeps_gradient(scores, alphas)
            mean = _entmax_mean_loss(scores, alphas, classes, number, dim, ignore_index, gradient)
            return mean.to(computed_dtype(scores.dtype, scores.device)) if scores.dtype in HALF else mean
        classes = classes.unsqueeze(dim)
    if measure is not None:
        loss = weighted_entmax_loss(scores, measure, alphas, (classes, soft), number, dim, ignore_index, cross)
    else:
        gradient = _keeps_gradient(scores, alphas)
        loss = _entmax_loss(scores, alphas, classes, soft, number, dim, ignore_index, cross, gradient)
    return reduced(loss.squeeze(dim), scores, target, ignore_index, reduction)


def entmax_loss(
    scores: torch.Tensor,
    target: torch.Tensor,
    alpha: Parameter = 1.5,
    ignore_index: int = -100,
    reduction: str = "mean",
    dim: int = -1,
    *,
    measure: torch.Tensor | None = None,
) -> torch.Tensor:
    """The Fenchel-Young loss Omega*(scores) + Omega(q) - <scores, q> of entmax: cross-entropy for alpha = 1.

    It is never negative, and 0 where entmax(scores) is the target q. Its gradient is entmax(scores) - q.

    Parameters
    ----------
    scores : Tensor
        With classes along `dim`. A row with a mask (-inf) under its target has loss inf; one with a NaN, a +inf
        or no finite score has loss NaN.
    target : Tensor
        Classes, integers of the shape of the scores without `dim`; or distributions, floating point and of the shape of
        the scores. It gets no gradient.
    alpha : float or Tensor
        As in `entmax`. A tensor gets a gradient.
    ignore_index : int
        Rows of this class have loss 0 and do not count in the mean.
    reduction : str
        "none" for one loss a row, "mean" over the rows that are not ignored (0 if all are), or "sum".
    dim : int
        Where the classes are. For images, (N, C, H, W), dim = 1.
    measure : Tensor, optional
        The base measure, `weight` of `entmax`: a weight for each class or node, that gets a gradient. It is not a weight
        of the loss. Omega(q) is then that of the density q / measure, and inf where q charges a weight of 0; with the
        class frequencies and alpha = 1 the loss is the cross-entropy with adjusted logits.

    Returns
    -------
    Tensor
        A number, or of the shape of the scores without `dim`. As with torch.nn.functional.cross_entropy it has the
        dtype of the scores, or float32 under autocast.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import entmax_loss
    >>> scores = torch.tensor([[3.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    >>> entmax_loss(scores, torch.tensor([0, 2]), reduction="none")
    tensor([0.0000, 0.3959])
    """
    return _loss(scores, target, alpha, ignore_index, reduction, dim, measure, cross=False)


def cross_omega(
    scores: torch.Tensor,
    target: torch.Tensor,
    alpha: Parameter = 1.5,
    ignore_index: int = -100,
    reduction: str = "mean",
    dim: int = -1,
    *,
    measure: torch.Tensor | None = None,
) -> torch.Tensor:
    """Omega*(scores) - <scores, q>: `entmax_loss` without Omega(q), which does not depend on the scores.

    For alpha = 1 it is the cross-entropy of distributions q. For classes it is `entmax_loss`, but with a measure: over
    nodes of a quadrature rule this loss has a limit as they are refined, and `entmax_loss` has none. The gradient in the
    scores is the same, and so are the arguments: scores, target, alpha, ignore_index, reduction, dim and measure.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import cross_omega
    >>> scores, q = torch.tensor([[3.0, 0.0, 1.0]]), torch.tensor([[0.5, 0.25, 0.25]])
    >>> torch.allclose(cross_omega(scores, q, alpha=1.0), torch.nn.functional.cross_entropy(scores, q))
    True
    """
    return _loss(scores, target, alpha, ignore_index, reduction, dim, measure, cross=True)


def sparsemax_loss(
    scores: torch.Tensor,
    target: torch.Tensor,
    k: int | None = None,
    ignore_index: int = -100,
    reduction: str = "none",
    dim: int = -1,
) -> torch.Tensor:
    """`entmax_loss` at alpha = 2. As in the entmax package, it is one loss a row unless `reduction` says otherwise.

    scores, target, ignore_index and dim are those of `entmax_loss`. k, an argument of the package, changes nothing.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import sparsemax_loss
    >>> sparsemax_loss(torch.tensor([[3.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), torch.tensor([0, 2]))
    tensor([0.0000, 0.2500])
    """
    return entmax_loss(scores, target, 2.0, ignore_index, reduction, dim)


def entmax15_loss(
    scores: torch.Tensor,
    target: torch.Tensor,
    k: int | None = None,
    ignore_index: int = -100,
    reduction: str = "none",
    dim: int = -1,
) -> torch.Tensor:
    """`entmax_loss` at alpha = 3/2. As in the entmax package, it is one loss a row unless `reduction` says otherwise.

    scores, target, ignore_index and dim are those of `entmax_loss`. k, an argument of the package, changes nothing.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import entmax15_loss
    >>> entmax15_loss(torch.tensor([[3.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), torch.tensor([0, 2]))
    tensor([0.0000, 0.3959])
    """
    return entmax_loss(scores, target, 1.5, ignore_index, reduction, dim)


def entmax_bisect_loss(
    scores: torch.Tensor, target: torch.Tensor, alpha: Parameter = 1.5, n_iter: int = 50
) -> torch.Tensor:
    """`entmax_loss`, one a row, by its name in the entmax package.

    scores, target and alpha are those of `entmax_loss`, with classes along the last dimension. n_iter changes nothing:
    there is no bisection.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import entmax_bisect_loss
    >>> entmax_bisect_loss(torch.tensor([[3.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), torch.tensor([0, 2]), alpha=1.5)
    tensor([0.0000, 0.3959])
    """
    return entmax_loss(scores, target, alpha, reduction="none")


def sparsemax_bisect_loss(scores: torch.Tensor, target: torch.Tensor, n_iter: int = 50) -> torch.Tensor:
    """`sparsemax_loss`, by another name of the entmax package.

    scores and target are those of `entmax_loss`, with classes along the last dimension. n_iter changes nothing.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import sparsemax_bisect_loss
    >>> sparsemax_bisect_loss(torch.tensor([[3.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), torch.tensor([0, 2]))
    tensor([0.0000, 0.2500])
    """
    return entmax_loss(scores, target, 2.0, reduction="none")
