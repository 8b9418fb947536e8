"""Two small transformers, of the same blocks: one goes on with a text, one answers questions about pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from .recall import SYMBOLS, VALUES, Recall
from .text import LETTERS
from .variants import Variant

Weights = list[torch.Tensor]
"""Of each layer, (batch, heads, queries, keys)."""


@dataclass(frozen=True)
class Size:
    features: int = 64
    heads: int = 4
    window: int = 31
    """How many letters before it a letter sees in the first layer of `Writer`."""


class Block(nn.Module):
    """Attention and two linear layers, each behind a normalisation and beside a way around it."""

    def __init__(self, variant: Variant, size: Size, **rest: Any) -> None:
        super().__init__()
        self.norm, self.norm_between = nn.LayerNorm(size.features), nn.LayerNorm(size.features)
        self.attention = variant.attention(size.features, size.heads, **rest)
        wide = 4 * size.features
        self.rest = nn.Sequential(nn.Linear(size.features, wide), nn.GELU(), nn.Linear(wide, size.features))

    def forward(
        self, x: torch.Tensor, seen: torch.Tensor | None = None, need_weights: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """x attends to what is seen, or each to those of x up to itself."""
        query = self.norm(x)
        keys = query if seen is None else self.norm(seen)
        attended, weights = self.attention(
            query, keys, keys, need_weights=need_weights, average_attn_weights=False, is_causal=seen is None
        )
        x = x + attended
        return x + self.rest(self.norm_between(x)), weights


def rotary(query: torch.Tensor, key: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores depend on how far a key is from the query."""
    columns = query.shape[-1]
    speed = 100 ** -(torch.arange(0, columns, 2, device=query.device) / columns)
    angle = torch.arange(query.shape[-2], device=query.device)[:, None] * speed
    cos, sin = angle.cos(), angle.sin()

    def turned(x: torch.Tensor) -> torch.Tensor:
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)

    return turned(query), turned(key)


class Writer(nn.Module):
    """A language model of letters. The first layer sees a window, with rotary positions: a text of any length has the
    distances that the training had. The second sees everything before, without positions: what a longer text changes is
    the number of keys."""

    def __init__(self, variant: Variant, size: Size) -> None:
        super().__init__()
        self.letter = nn.Embedding(len(LETTERS), size.features)
        near = Block(variant, size, positions=rotary, window=size.window)
        self.blocks = nn.ModuleList([near, Block(variant, size)])
        self.norm = nn.LayerNorm(size.features)
        self.next = nn.Linear(size.features, len(LETTERS))

    def forward(self, letters: torch.Tensor, need_weights: bool = False) -> tuple[torch.Tensor, Weights]:
        """Scores of the next letter at each, (texts, length, LETTERS), and all weights if they are needed."""
        x, found = self.letter(letters), []
        for block in self.blocks:
            x, weights = block(x, need_weights=need_weights)
            found.append(weights)
        return self.next(self.norm(x)), found if need_weights else []


class Finder(nn.Module):
    """Questions attend to pairs once. A pair is the sum of three vectors, and pairs do not attend to each other: a question
    costs as much as there are pairs. There are no positions, since pairs have no order."""

    def __init__(self, variant: Variant, size: Size) -> None:
        super().__init__()
        self.symbols = nn.ModuleList(nn.Embedding(SYMBOLS, size.features) for _ in range(2))
        self.value = nn.Embedding(VALUES, size.features)
        self.block = Block(variant, size)
        self.norm = nn.LayerNorm(size.features)
        self.answer = nn.Linear(size.features, VALUES)

    def key(self, symbols: torch.Tensor) -> torch.Tensor:
        return self.symbols[0](symbols[..., 0]) + self.symbols[1](symbols[..., 1])

    def forward(self, task: Recall, need_weights: bool = False) -> tuple[torch.Tensor, Weights]:
        """Scores of the values for each question, (contexts, questions, VALUES), and all weights if they are needed."""
        pairs = self.key(task.keys) + self.value(task.values)
        x, weights = self.block(self.key(task.asked), pairs, need_weights)
        return self.answer(self.norm(x)), [] if weights is None else [weights]
