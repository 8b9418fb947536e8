"""Attention of queries to keys on a GPU, beside torch's own with softmax and, where it is installed, adasplash."""

from __future__ import annotations

from collections.abc import Callable

import torch
from gpu_timing import DEVICE, Limit, milliseconds
from measuring import Run, add_row, attempt, package, version
from tables import Table, error_cell, milliseconds_cell
from torch.nn import functional

import fenchel.torch as ft

SHAPES = ((4, 16, 4096, 64), (1, 16, 32768, 64), (1, 16, 32768, 128))
# Names of rows: the spread of the queries makes scores flat or peaked.
ROWS = (("softmax, torch", 1.0, 1.0), ("2", 2.0, 1.0), ("3/2, queries x 4", 1.5, 4.0), ("3/2", 1.5, 1.0))
ROWS += (("3/2, queries / 2", 1.5, 0.5), ("5/4", 1.25, 1.0))
QUERIES_CHECKED = 32
LONGEST_OF_PEER = 4096  # with longer ones the table had not ended after 170 s
Attention = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, float], torch.Tensor]


def attended(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, alpha: float) -> torch.Tensor:
    if alpha == 1:
        return functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    return ft.scaled_dot_product_attention(query, key, value, is_causal=True, alpha=alpha)


def rows_of(length: int) -> list[tuple[str, float, float, Attention]]:
    rows = [(*row, attended) for row in ROWS]
    peer = package("adasplash") if length <= LONGEST_OF_PEER else None
    if peer is None:
        return rows
    by_peer: Attention = lambda query, key, value, alpha: peer.adasplash(query, key, value, alpha=alpha, is_causal=True)
    name = f"adasplash {version('adasplash')}"
    return [*rows, *((f"{row[0]}, {name}", row[1], row[2], by_peer) for row in ROWS if row[1] == 1.5)]


def last_queries(query: torch.Tensor, key: torch.Tensor, alpha: float) -> torch.Tensor:
    """The weights of the last queries of the first head, by the CPU in float64."""
    query, key = (x[0, 0].detach().double().cpu() for x in (query[:, :, -QUERIES_CHECKED:], key))
    scores = query @ key.mT / query.shape[-1] ** 0.5
    first = key.shape[0] - QUERIES_CHECKED + 1
    later = torch.ones_like(scores, dtype=torch.bool).triu(first)
    return ft.entmax(scores.masked_fill(later, float("-inf")), alpha)


def keys(limit: Limit) -> Table:
    """Forward passes, forward and backward passes, support and error of causal attention."""
    table = Table(
        "Causal attention of bfloat16 queries, keys and values of N(0, 1), of shape (batch, heads, length, columns): "
        "milliseconds. The keys with weight are those of the last queries of the first head, on average, and the error of "
        "their outputs is relative, against float64 on the CPU; a rounding to bfloat16 alone is 2e-3.",
        ["shape", "alpha", "forward", "forward + backward", "keys with weight", "error"],
    )
    for shape in SHAPES:
        generator = torch.Generator(DEVICE).manual_seed(0)
        query, key, value, upstream = (
            torch.randn(*shape, device=DEVICE, dtype=torch.bfloat16, generator=generator) for _ in range(4)
        )
        for name, alpha, spread, by in rows_of(shape[2]):
            x = (query * spread, key, value)

            def row(x: tuple[torch.Tensor, ...] = x, alpha: float = alpha, by: Attention = by) -> list[str]:
                found = by(*x, alpha)[0, 0, -QUERIES_CHECKED:].double().cpu()
                p = last_queries(x[0], x[1], alpha)
                exact = p @ x[2][0, 0].double().cpu()
                learned = [t.clone().requires_grad_() for t in x]
                both: Run = lambda: torch.autograd.grad(by(*learned, alpha), learned, upstream)
                return [
                    milliseconds_cell(milliseconds(lambda: by(*x, alpha))),
                    milliseconds_cell(attempt("backward", lambda: milliseconds(both))),
                    f"{(p > 0).sum(-1).double().mean().item():.1f}",
                    error_cell(((found - exact).norm() / exact.norm()).item()),
                ]

            add_row(table, [" x ".join(map(str, shape)), name], row)
    return table
