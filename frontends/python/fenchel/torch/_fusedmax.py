"""fusedmax: probabilities with plateaus."""

from __future__ import annotations

from typing import Any

import torch

from ._differentiable import Places, Tensors, differentiable
from ._row_map import RowMap, register_row_map
from ._rows import Parameter, parameter_of_rows, scores_and_dim

register_row_map("fusedmax")


class _Fusedmax(RowMap):
    name = "fusedmax"

    @staticmethod
    def hessian(
        x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        """0: p is piecewise linear in the scores and in gamma."""
        return tuple(None if t is None else torch.zeros_like(t) for t in x)


_fusedmax = differentiable(_Fusedmax)


def fusedmax(scores: torch.Tensor, gamma: Parameter = 1.0, dim: int = -1) -> torch.Tensor:
    """The distribution p that maximises <p, scores> - |p|^2 / 2 - gamma sum_k |p_{k+1} - p_k|, along a dimension.

    Neighbours tend to get the same probability, and many probabilities are exactly 0. gamma = 0 is sparsemax.

    Parameters
    ----------
    scores : Tensor
        -inf is a mask: its probability is 0, and its neighbours pay for differing from 0. A row with a NaN, a
        +inf or no finite score becomes NaN.
    gamma : float or Tensor
        Finite and not negative. A tensor broadcasts to the shape of the scores with `dim` of size 1, and gets a
        gradient.
    dim : int
        Along which probabilities add up to one.

    Returns
    -------
    Tensor
        Of the shape and dtype of the scores, as with `entmax`.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import fusedmax
    >>> fusedmax(torch.tensor([0.0, 1.2, 1.0, 1.1, -1.0]), 0.1)
    tensor([0.0000, 0.3333, 0.3333, 0.3333, 0.0000])
    """
    scores, dim = scores_and_dim(scores, dim)
    return _fusedmax(scores, *parameter_of_rows(gamma, scores, dim, "gamma"), dim)
