"""The losses of fenchel.torch on a GPU, with their gradients: in one call of the operation, and through autograd."""

from __future__ import annotations

from collections.abc import Callable

import torch
from gpu_maps import ALPHAS, headings
from gpu_timing import DEVICE, SIZE, Limit, Measured, measure, normal, ops
from measuring import ROWS_CHECKED, add_row, difference, few, kind
from tables import Table, error_cell, largest, milliseconds_cell, share_cell

import fenchel.torch as ft

Call = Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, ...]]


def cross_entropy(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The gradient, by torch."""
    return torch.autograd.grad(torch.nn.functional.cross_entropy(x, target), x)[0]


def one_call(name: str, call: Call, x: torch.Tensor, q: torch.Tensor) -> Measured:
    """A loss with its gradient, the errors of both, and the bytes of the gradient. q are classes or distributions."""
    exact = call(few(x), q[:ROWS_CHECKED].cpu() if q.dtype == torch.int64 else few(q))
    return measure(
        name,
        lambda: call(x, q),
        lambda found: difference(found[0], exact[0]),
        lambda found: difference(found[1], exact[1]),
        lambda found: found[1].nbytes,
    )


def losses(limit: Limit) -> Table:
    alphas = ("1", "2", "3/2", "4/3")
    about = (
        f"Losses of classes with their gradient, in one call, over {SIZE} scores of N(0, 2^2), or the nearest number of "
        "whole rows, as a share of the limit: the scores are read, and the gradient is written in its type. The last of "
        "the shares is of torch's cross entropy, forward and backward. Errors are the largest differences of all alphas "
        "from the CPU's float64, in a loss and in a gradient."
    )
    table = Table(about, ["type", "columns", *headings(alphas), "torch", "loss error", "gradient error"])

    def row(dtype: torch.dtype, cols: int) -> list[str]:
        x = normal(round(SIZE / cols), cols, dtype)
        classes = torch.randint(cols, (len(x), 1), device=DEVICE)
        ours = [
            one_call(
                f"{kind(dtype)}, {cols} columns, alpha {name}",
                lambda z, q, a=ALPHAS[name]: ops.entmax_loss(z, None, q, None, a, -1, -100, False, True),
                x,
                classes,
            )
            for name in (alphas if dtype == torch.float32 else alphas[:3])
        ]
        leaf = x.detach().requires_grad_()
        torchs = measure(f"{kind(dtype)}, {cols} columns, torch", lambda: cross_entropy(leaf, classes[:, 0]))
        shares = [share_cell(limit.of_bytes(x.nbytes + (m.errors[2] or 0)), m.ms) for m in ours]
        shares += [""] * (len(alphas) - len(ours))
        errors = (error_cell(largest(m.errors[k] for m in ours)) for k in range(2))
        return [*shares, share_cell(limit.milliseconds(x, x), torchs.ms), *errors]

    for dtype in (torch.float32, torch.bfloat16):
        for cols in (128, 512, 4096, 32000):
            add_row(table, [kind(dtype), cols], lambda dtype=dtype, cols=cols: row(dtype, cols))
    return table


def soft(limit: Limit) -> Table:
    alphas = ("1", "2", "3/2")
    about = (
        f"Losses of distributions with their gradient, in one call, over {SIZE} scores of N(0, 2^2) in float32, or the "
        "nearest number of whole rows, as a share of the limit: two reads and one write. The targets are the softmax of "
        "other such scores. Errors are the largest differences of all alphas from the CPU's float64."
    )
    table = Table(about, ["columns", *headings(alphas), "loss error", "gradient error"])

    def row(cols: int) -> list[str]:
        x = normal(round(SIZE / cols), cols)
        target = torch.softmax(normal(len(x), cols), -1)
        ours = [
            one_call(
                f"{cols} columns, alpha {name}",
                lambda z, q, a=ALPHAS[name]: ops.entmax_loss(z, None, None, q, a, -1, -100, False, True),
                x,
                target,
            )
            for name in alphas
        ]
        best = limit.milliseconds(x, x, x)
        errors = (error_cell(largest(m.errors[k] for m in ours)) for k in range(2))
        return [*(share_cell(best, m.ms) for m in ours), *errors]

    for cols in (4096, 32000):
        add_row(table, [cols], lambda cols=cols: row(cols))
    return table


def autograd(limit: Limit) -> Table:
    alphas = ("1", "2", "3/2")
    about = (
        f"Mean of the losses of classes and its backward pass through autograd, over {SIZE} scores of N(0, 2^2), or the "
        "nearest number of whole rows: milliseconds, and how many times as long as a copy of the scores. torch is its "
        "cross entropy. The error is the largest difference of a row's gradient from the CPU's float64."
    )
    table = Table(about, ["type", "columns", "copy", *headings(alphas), "torch", "error"])

    def gradient(z: torch.Tensor, target: torch.Tensor, alpha: float) -> torch.Tensor:
        return torch.autograd.grad(ft.entmax_loss(z, target, alpha, reduction="mean"), z)[0]

    def row(dtype: torch.dtype, cols: int) -> list[str]:
        x = normal(round(SIZE / cols), cols, dtype).requires_grad_()
        target = torch.randint(cols, (len(x),), device=DEVICE)
        exact, q = few(x).requires_grad_(), target[:ROWS_CHECKED].cpu()
        copy = limit.milliseconds(x, x)
        ours = [
            measure(
                f"{kind(dtype)}, {cols} columns, alpha {name}",
                lambda a=ALPHAS[name]: gradient(x, target, a),
                lambda g, a=ALPHAS[name]: difference(few(g) * len(x), gradient(exact, q, a) * len(exact)),
            )
            for name in alphas
        ]
        torchs = measure(f"{kind(dtype)}, {cols} columns, torch", lambda: cross_entropy(x, target))
        cells = [milliseconds_cell(m.ms) + (f", {m.ms / copy:.1f} x" if m.ms else "") for m in [*ours, torchs]]
        return [milliseconds_cell(copy), *cells, error_cell(largest(m.errors[0] for m in ours))]

    for dtype in (torch.float32, torch.bfloat16):
        for cols in (4096, 32000):
            add_row(table, [kind(dtype), cols], lambda dtype=dtype, cols=cols: row(dtype, cols))
    return table
