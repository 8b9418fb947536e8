"""Attention of one token to a cache of keys on a GPU, beside torch's own with softmax and a plain path with the whole row of
scores."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from gpu_timing import DEVICE, Limit, milliseconds
from measuring import Run, add_row, attempt
from tables import Table, error_cell, milliseconds_cell, ratio_cell
from torch.nn import functional

import fenchel.torch as ft

HEADS, COLUMNS, ALPHA, SHARE, PAGE = 32, 128, 1.5, 0.05, 64
DTYPE = torch.bfloat16


@dataclass(frozen=True)
class Case:
    keys: int
    name: str
    key_heads: int = HEADS
    share: float | None = SHARE  # of the keys that have weight; queries are N(0, 1) where none is said
    page: int | None = None
    spread: float | None = None  # deviation of the keys of a page about a centre of N(0, 1)
    bounds: bool = False


LENGTHS = (2**12, 2**14, 2**16, 2**17, 2**18, 2**20)
CASES = [Case(n, "5 % with weight") for n in LENGTHS]
CASES += [Case(n, "queries of N(0, 1)", share=None) for n in LENGTHS]
CASES += [
    Case(2**17, f"5 % with weight, pages of {PAGE}", page=PAGE),
    Case(2**17, "5 % with weight, 8 heads of keys", key_heads=8),
    Case(2**17, f"queries of N(0, 1), pages of {PAGE}", share=None, page=PAGE),
    Case(2**17, "the same, bounds", share=None, page=PAGE, bounds=True),
]
for spread in (0.2, 0.05):
    CASES += [
        Case(2**17, f"pages of {PAGE} keys about a centre, deviation {spread}", share=None, page=PAGE, spread=spread),
        Case(2**17, "the same, bounds", share=None, page=PAGE, spread=spread, bounds=True),
    ]


def first_scores(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    """Of the first head, in float64."""
    return query[0, :1].double() @ key[0, :1].double().mT / COLUMNS**0.5


def spread_of(query: torch.Tensor, key: torch.Tensor, share: float) -> float:
    """What the queries are multiplied by so that this share of the keys has weight in the first head."""
    scores, least, most = first_scores(query, key), 0.0, 4.0
    for _ in range(20):
        middle = (least + most) / 2
        seen = (ft.entmax(middle * scores, ALPHA) > 0).double().mean().item()
        least, most = (middle, most) if seen > share else (least, middle)
    return most


def drawn(case: Case) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(1, *shape, COLUMNS, device=DEVICE, dtype=DTYPE)

    query, key, value = normal(HEADS, 1), normal(case.key_heads, case.keys), normal(case.key_heads, case.keys)
    if case.spread is not None:
        key = case.spread * key + normal(case.key_heads, case.keys // PAGE).repeat_interleave(PAGE, 2)
    return query if case.share is None else query * spread_of(query, key, case.share), key, value


def cells(case: Case) -> list[str]:
    query, key, value = drawn(case)
    cache = ft.KeyValueCache(1, case.key_heads, case.keys, COLUMNS, page_size=case.page, bounds=case.bounds, dtype=DTYPE,
                             device=DEVICE)  # fmt: skip
    step = 2**16  # tokens that are copied at a time
    for k, v in zip(key.split(step, 2), value.split(step, 2)):
        cache.append(k, v)
    p = ft.entmax(first_scores(query, key), ALPHA)
    exact = p @ value[0, :1].double()
    error = (cache.attend(query, alpha=ALPHA)[0, :1].double() - exact).norm() / exact.norm()
    softmax: Run = lambda: functional.scaled_dot_product_attention(query, key, value, enable_gqa=case.key_heads < HEADS)
    ours = milliseconds(lambda: cache.attend(query, alpha=ALPHA))
    theirs = milliseconds(softmax)

    def plain() -> torch.Tensor:
        scores = query.view(1, case.key_heads, -1, COLUMNS) @ key.mT / COLUMNS**0.5
        return ft.entmax(scores, ALPHA) @ value

    return [
        f"{100 * (p > 0).double().mean().item():.2f} %",
        milliseconds_cell(theirs),
        milliseconds_cell(ours),
        ratio_cell(ours / theirs),
        milliseconds_cell(attempt("plain", lambda: milliseconds(plain))),
        error_cell(error.item()),
    ]


@torch.no_grad()
def decoding(limit: Limit) -> Table:
    """Times and errors of a token's attention to its cache."""
    table = Table(
        f"A query in each of {HEADS} heads to a cache of bfloat16 keys and values of {COLUMNS} columns, N(0, 1), alpha = 3/2: "
        "milliseconds. The ratio is fenchel's time over that of torch's softmax, which reads contiguous keys. The plain "
        "path has the row of scores in bfloat16. The share of keys with weight and the error, relative to float64, are "
        "those of the first head; a rounding to bfloat16 alone is 2e-3.",
        ["keys", "", "keys with weight", "softmax, torch", "fenchel", "ratio", "plain path", "error"],
    )
    for case in CASES:
        add_row(table, [case.keys, case.name], lambda case=case: cells(case))
    return table
