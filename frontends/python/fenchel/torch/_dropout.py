"""Which weights of attention dropout keeps: the choice of the kernels, by functions of torch."""

from __future__ import annotations

import torch

WORD = 0xFFFFFFFF
ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)


def philox(counter: tuple[torch.Tensor, ...], key: tuple[torch.Tensor, ...]) -> torch.Tensor:
    """The first word of philox4x32, of include/fenchel/core/philox.hpp. Words are int64, whose products wrap around."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(ROUNDS):
        first, second = c0 * MULTIPLIERS[0], c2 * MULTIPLIERS[1]
        c0, c1, c2, c3 = (
            ((second >> 32) & WORD) ^ c1 ^ k0,
            second & WORD,
            ((first >> 32) & WORD) ^ c3 ^ k1,
            first & WORD,
        )
        k0, k1 = (k0 + WEYL[0]) & WORD, (k1 + WEYL[1]) & WORD
    return c0


def dropout_factors(seed: torch.Tensor, rows: torch.Tensor, keys: torch.Tensor, dropout: float) -> torch.Tensor:
    """0 for a weight that is dropped, else 1 / (1 - dropout), float64: rows, the numbers of queries, broadcast against
    keys. The same as dropout_factor of src/backend/dot_product/dropout.hpp."""
    words = philox(
        (keys & WORD, (keys >> 32) & WORD, rows & WORD, (rows >> 32) & WORD), (seed & WORD, (seed >> 32) & WORD)
    )
    return (words.double() * 2.0**-32 >= dropout).double() / (1 - dropout)
