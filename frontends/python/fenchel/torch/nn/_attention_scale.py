"""A scale of attention that grows with the number of keys."""

from __future__ import annotations

import math

import torch
from torch import nn

DELTA = 1 - math.log(2)
"""With softplus(0) = log 2 the sum is 1 where a training begins."""
GAMMA_RANGE = 2.0
"""That of the authors' program."""


class EntmaxAttentionScale(nn.Module):
    """The scale of ASEntmax: (delta + beta (log n)^gamma) / sqrt(head_dim) for a query that sees n keys.

    The more keys there are, the more of them have scores near the largest one, and a fixed scale spreads the weights
    over them. beta > 0 and gamma are learned, one of each head: beta = softplus(raw_beta), gamma = 2 tanh(raw_gamma).
    The formula is that of "Long-Context Generalization with Sparse Attention" (Vasylenko, Pitorro, Martins and Treviso,
    ICLR 2026, arXiv:2506.16640). In the authors' program, github.com/deep-spin/asentmax, beta and gamma are functions of
    the query's token, or one of each head as here, and delta is 1. Here delta is 1 - log 2 and the raw numbers begin at
    0, so that the scale begins at 1 / sqrt(head_dim) for every n, and is never below .3 / sqrt(head_dim). log(1 + n)
    takes the place of log n, as in that program: log 1 = 0 has no negative powers.

    Parameters
    ----------
    num_heads : int
        How many heads queries have.
    head_dim : int
        Features of a head.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch.nn import EntmaxAttentionScale
    >>> scale = EntmaxAttentionScale(num_heads=2, head_dim=16)
    >>> with torch.no_grad():
    ...     _ = scale.raw_gamma.copy_(torch.tensor([0.0, 0.5]))
    >>> scale(torch.tensor([10, 1000])).detach()
    tensor([[0.2500, 0.2500],
            [0.4656, 1.1108]])
    """

    def __init__(self, num_heads: int, head_dim: int) -> None:
        super().__init__()
        if num_heads < 1 or head_dim < 1:
            raise ValueError(
                f"EntmaxAttentionScale: num_heads and head_dim must be positive, got {num_heads} and {head_dim}"
            )
        self.num_heads, self.head_dim = num_heads, head_dim
        self.raw_beta = nn.Parameter(torch.zeros(num_heads))
        self.raw_gamma = nn.Parameter(torch.zeros(num_heads))

    def forward(self, lengths: torch.Tensor) -> torch.Tensor:
        """The scales, (..., num_heads, L).

        Parameters
        ----------
        lengths : Tensor of int, shape (..., 1, L) or (..., num_heads, L), or (L,)
            How many keys each query sees. 0 counts as 1: nothing depends on such a query.
        """
        dtype = torch.promote_types(self.raw_beta.dtype, torch.float32)
        beta = nn.functional.softplus(self.raw_beta.to(dtype)).unsqueeze(-1)
        gamma = GAMMA_RANGE * torch.tanh(self.raw_gamma.to(dtype)).unsqueeze(-1)
        growth = torch.log1p(lengths.clamp(min=1).to(dtype)) ** gamma
        return (DELTA + beta * growth) / math.sqrt(self.head_dim)

    def extra_repr(self) -> str:
        return f"num_heads={self.num_heads}, head_dim={self.head_dim}"
