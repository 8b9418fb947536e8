"""Decoding on a CPU: a query in each of 8 heads to a cache of keys, beside torch's attention with softmax and the same
formula in plain torch with the whole row of scores. float32, 64 columns, keys and values N(0, 1); queries N(0, 1), and
four times as large.

A ratio is how many times as long as fenchel at alpha = 3/2 a contender takes. The error is the largest difference from
float64, over the largest number of the output.

usage: python bench/decoding.py [threads] [most keys]
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch
from contest import Contest
from torch.nn import functional

import fenchel.torch as ft

HEADS, COLUMNS, PAGE = 8, 64, 16


def plain(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, alpha: float) -> torch.Tensor:
    return ft.entmax(query @ key.mT / query.shape[-1] ** 0.5, alpha) @ value


def contest(keys: int, spread: float) -> None:
    key, value = torch.randn(2, 1, HEADS, keys, COLUMNS).unbind(0)
    query = spread * torch.randn(1, HEADS, 1, COLUMNS)
    whole = ft.KeyValueCache(1, HEADS, keys, COLUMNS)
    paged = ft.KeyValueCache(1, HEADS, keys, COLUMNS, page_size=PAGE)
    for cache in (whole, paged):
        cache.append(key, value)
    exact = [x.double() for x in (query, key, value)]

    def error(alpha: float) -> Callable[[torch.Tensor], float]:
        expected = plain(*exact, alpha)
        return lambda found: ((found.double() - expected).abs().max() / expected.abs().max()).item()

    seen = whole.attention_weights(query)._nnz() / HEADS
    table = Contest(f"{keys} keys, queries x {spread:g}: {seen:.1f} of them have weight at alpha = 3/2")
    for name, cache, alpha in (
        ("fenchel 3/2", whole, 1.5),
        (f"fenchel 3/2, pages of {PAGE}", paged, 1.5),
        ("fenchel 2", whole, 2.0),
        ("fenchel 5/4", whole, 1.25),
        ("fenchel 1", whole, 1.0),
    ):
        table.add(name, lambda cache=cache, alpha=alpha: cache.attend(query, alpha=alpha), error(alpha))
    table.add("plain torch, entmax 3/2", lambda: plain(query, key, value, 1.5), error(1.5))
    softmax = functional.scaled_dot_product_attention
    table.add("torch softmax", lambda: softmax(query, key, value), error(1.0))
    table.print()


def main() -> None:
    if len(sys.argv) > 1:
        torch.set_num_threads(int(sys.argv[1]))
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 2**20
    torch.manual_seed(1)
    print(f"torch {torch.__version__}, threads: {torch.get_num_threads()}")
    keys = 2**12
    while keys <= most:
        for spread in (1.0, 4.0):
            contest(keys, spread)
        keys *= 4


if __name__ == "__main__":
    main()
