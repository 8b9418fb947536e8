"""The recall task: find the value of a key among n pairs of a key and a value.

A key is two symbols, and all keys of a context differ. Keys that share one symbol with the one that is asked for are
likely to be confused with it. With n there are more of them: one among 64 pairs, 127 among 8192.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from .devices import sent

SYMBOLS, VALUES = 128, 32


class Recall(NamedTuple):
    """Contexts with questions."""

    keys: torch.Tensor
    """(contexts, n, 2): the symbols of each key."""
    values: torch.Tensor
    """(contexts, n)."""
    at: torch.Tensor
    """(contexts, questions): the pair that is asked for."""

    @property
    def asked(self) -> torch.Tensor:
        """(contexts, questions, 2): the keys that are asked for."""
        return self.keys.gather(1, self.at.unsqueeze(-1).expand(-1, -1, 2))

    @property
    def answers(self) -> torch.Tensor:
        """(contexts, questions)."""
        return self.values.gather(1, self.at)

    def to(self, device: torch.device) -> Recall:
        return Recall(*(sent(x, device) for x in self))


def make(contexts: int, pairs: int, questions: int, random: torch.Generator) -> Recall:
    """Contexts of so many pairs each, at most SYMBOLS^2."""
    keys = torch.stack([torch.randperm(SYMBOLS**2, generator=random)[:pairs] for _ in range(contexts)])
    values = torch.randint(VALUES, (contexts, pairs), generator=random)
    at = torch.randint(pairs, (contexts, questions), generator=random)
    return Recall(torch.stack([keys // SYMBOLS, keys % SYMBOLS], -1), values, at)
