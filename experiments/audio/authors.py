"""How the program of the paper's authors makes a function of values, for an ablation.

It fits the function on [-1/2, 3/2], to the values on [0, 1] and to 0 beyond, so that a density that leaves [0, 1] sees
zeros there. For even lengths a missing pair of brackets, 1 / 2 * length for 1 / (2 * length), puts the positions from
length / 2 - 1/2 down to 3/2 - length / 2: time runs backwards, and of six frames or more only the two in the middle
are in [0, 1].
"""

from __future__ import annotations

from typing import Any

import torch

from fenchel.torch import RidgeValues
from fenchel.torch.nn import ContinuousAttention


class AuthorsValues(RidgeValues):
    """`RidgeValues` of sequences, with the matrix of that program."""

    def _matrix_of_grid(self, grid: tuple[int, ...], device: torch.device) -> torch.Tensor:
        (length,) = grid
        if length == 1:
            return super()._matrix_of_grid(grid, device)
        odd = length % 2
        shift = 1 / length if odd else 1 / 2 * length
        count = 2 * length - odd
        t = torch.linspace(shift - 0.5, 1.5 - shift, count, dtype=torch.float64, device=device)
        first = (count - length) // 2
        return self._matrix(t)[first : first + length]

    def _of_each(self, lengths: torch.Tensor, length: int) -> torch.Tensor:
        matrices = torch.zeros(len(lengths), length, self.basis.count, dtype=torch.float64, device=lengths.device)
        for i, count in enumerate(lengths.tolist()):
            if count > 0:
                matrices[i, :count] = self._matrix_of_grid((count,), lengths.device)
        return matrices


class AuthorsAttention(ContinuousAttention):
    """`ContinuousAttention` over `AuthorsValues`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        values = self.value_function
        self.value_function = AuthorsValues(values.basis, values.ridge)
