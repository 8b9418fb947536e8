"""Heads of attention: equal parts of the features."""

from __future__ import annotations

import torch


def check_heads(name: str, embed_dim: int, num_heads: int) -> None:
    if num_heads < 1 or embed_dim < 1 or embed_dim % num_heads != 0:
        raise ValueError(f"{name}: embed_dim must be a multiple of num_heads, got {embed_dim} and {num_heads}")


def split_heads(x: torch.Tensor, heads: int) -> torch.Tensor:
    """(batch, ..., heads * head_dim) -> (batch, heads, ..., head_dim)."""
    return x.unflatten(-1, (heads, x.shape[-1] // heads)).movedim(-2, 1)


def join_heads(x: torch.Tensor) -> torch.Tensor:
    """(batch, heads, L, head_dim) -> (batch, L, heads * head_dim)."""
    return x.transpose(1, 2).flatten(-2)
