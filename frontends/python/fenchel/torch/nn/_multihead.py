"""Continuous attention with several heads."""

from __future__ import annotations

import math

import torch
from torch import nn

from ._continuous_attention import Attended, ContinuousAttention
from ._heads import check_heads, join_heads, split_heads


class MultiheadContinuousAttention(nn.Module):
    """`torch.nn.MultiheadAttention` with a `ContinuousAttention`: each query has in each head a density of its own.

    Parameters
    ----------
    embed_dim : int
        Of queries and of the result.
    num_heads : int
        Divides embed_dim.
    attention : ContinuousAttention
        Of each head; an alpha of shape (num_heads, 1) is one for each.
    bias : bool
        Whether the projections have one.
    kdim, vdim : int, optional
        Of keys and values; embed_dim unless said.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import GaussianBasis
    >>> from fenchel.torch.nn import ContinuousAttention, MultiheadContinuousAttention
    >>> attention = ContinuousAttention(GaussianBasis.linearly_spaced(16), alpha=torch.full((4, 1), 1.5))
    >>> multihead = MultiheadContinuousAttention(32, 4, attention)
    >>> x = torch.randn(2, 10, 32)
    >>> output, attended = multihead(x, x, x)
    >>> output.shape, attended.mu.shape
    (torch.Size([2, 10, 32]), torch.Size([2, 4, 10]))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        attention: ContinuousAttention,
        bias: bool = True,
        kdim: int | None = None,
        vdim: int | None = None,
    ) -> None:
        super().__init__()
        check_heads("MultiheadContinuousAttention", embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.attention = attention
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias)
        self.k_proj = nn.Linear(embed_dim if kdim is None else kdim, embed_dim, bias)
        self.v_proj = nn.Linear(embed_dim if vdim is None else vdim, embed_dim, bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias)

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        key_padding_mask: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, Attended]:
        """The contexts of queries, and what they attended to.

        Parameters
        ----------
        query : Tensor, shape (batch, T, embed_dim)
        key, value : Tensor, shape (batch, S, kdim) and (batch, S, vdim), for grids (batch, H, W, ...)
        key_padding_mask : Tensor of bool, shape (batch, S), optional
            True where a key is padding.

        Returns
        -------
        output : Tensor, shape (batch, T, embed_dim)
        attended : Attended
            Weights of shape (batch, heads, T, S), mu of (batch, heads, T).
        """
        if key_padding_mask is not None:
            key, value = (x.masked_fill(key_padding_mask.unsqueeze(-1), 0) for x in (key, value))
        projected = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        q, k, v = (split_heads(x, self.num_heads) for x in projected)
        scores = q @ k.flatten(2, -2).mT / math.sqrt(self.head_dim)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(1).expand(k.shape[:-1])
        contexts, attended = self.attention(
            v, scores.unflatten(-1, k.shape[2:-1]), key_padding_mask=key_padding_mask
        )
        return self.out_proj(join_heads(contexts)), attended
