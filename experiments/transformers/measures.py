"""Where the weights of trained models are 0, and how much memory a step keeps."""

from __future__ import annotations

from collections.abc import Callable

import torch

from .model import Weights


def visible(length: int, window: int | None, device: torch.device) -> torch.Tensor:
    """(length, length): whether a letter sees another in causal attention, with at most so many before it."""
    place = torch.arange(length, device=device)
    before = place[:, None] - place
    return (before >= 0) if window is None else (before >= 0) & (before <= window)


def share_of_zeros(weights: torch.Tensor, seen: torch.Tensor) -> list[float]:
    """Of each head: the part of the weights (batch, heads, queries, keys) of keys that are seen that are exactly 0."""
    zeros = ((weights == 0) & seen).sum((0, 2, 3))
    return (zeros / (seen.expand(weights[:, 0].shape).sum())).tolist()


def support(weights: torch.Tensor) -> float:
    """How many keys have weight, in the mean of all queries and heads."""
    return (weights > 0).sum(-1).double().mean().item()


def bulk(weights: torch.Tensor) -> float:
    """How few keys hold 95 % of the weight, in the mean of all queries and heads."""
    held = weights.sort(-1, descending=True).values.double().cumsum(-1)
    return ((held < 0.95).sum(-1) + 1).double().mean().item()


def kept_bytes(work: Callable[[], torch.Tensor]) -> int:
    """Of all tensors that autograd keeps for the backward pass of `work`, each counted once."""
    kept: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        result = work()
    del result
    return sum(kept.values())


def by_layer_and_head(weights: Weights, seen: list[torch.Tensor]) -> dict[str, float]:
    """The shares of zeros, numbered from 1."""
    return {
        f"zeros: layer {layer}, head {head}": share
        for layer, (one, where) in enumerate(zip(weights, seen), 1)
        for head, share in enumerate(share_of_zeros(one, where), 1)
    }
