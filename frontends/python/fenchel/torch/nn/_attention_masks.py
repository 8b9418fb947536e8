"""The masks of torch's attention with heads, as `scaled_dot_product_attention` takes them."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch.nn import functional

from .._key_ranges import Window, counts_of, in_sight, ranges_of, sides_of


class Masks(NamedTuple):
    """Which of S keys L queries see; seen and bias, which is added to the scores, broadcast to (batch, heads, L, S)."""

    queries: int
    keys: int
    seen: torch.Tensor | None
    bias: torch.Tensor | None
    is_causal: bool
    window: Window
    sinks: int

    def hide(self, mask: torch.Tensor | None) -> Masks:
        """And a mask of torch's attention: of bool, True hides a key; of numbers, it is added."""
        if mask is None:
            return self
        if mask.dtype != torch.bool:
            return self._replace(bias=mask if self.bias is None else self.bias + mask)
        return self._replace(seen=~mask if self.seen is None else self.seen & ~mask)

    def append(self, count: int, device: torch.device) -> Masks:
        """And so many keys behind the others, which every query sees."""
        if count == 0:
            return self
        seen, bias, keys, ranges = self.seen, self.bias, self.keys, self._ranges(device)
        if ranges is not None:
            near = in_sight(ranges, self.sinks, torch.arange(keys, device=device))
            seen = near if seen is None else seen & near
        if seen is not None:
            seen = functional.pad(seen.expand(*seen.shape[:-1], keys), (0, count), value=True)
        if bias is not None:
            bias = functional.pad(bias.expand(*bias.shape[:-1], keys), (0, count))
        return Masks(self.queries, keys + count, seen, bias, False, None, 0)

    def _ranges(self, device: torch.device) -> torch.Tensor | None:
        """(L, 3), of the keys that are seen by their places."""
        sides = sides_of(self.window, self.is_causal, self.sinks)
        ranges = ranges_of(sides, self.queries, self.keys, (), None, device)
        return None if ranges is None else ranges[0]

    @property
    def attn_mask(self) -> torch.Tensor | None:
        """Of `scaled_dot_product_attention`, beside `is_causal`, `window` and `sinks`."""
        if self.bias is None or self.seen is None:
            return self.seen if self.bias is None else self.bias
        return torch.where(self.seen, self.bias, -torch.inf)

    def lengths(self, device: torch.device) -> torch.Tensor:
        """How many keys each query sees; broadcasts to (batch, heads, L)."""
        mask, ranges = self.attn_mask, self._ranges(device)
        if mask is None:
            return torch.full((1,), self.keys, device=device) if ranges is None else counts_of(ranges, self.sinks, None)
        seen = mask if mask.dtype == torch.bool else mask > -torch.inf
        seen = torch.atleast_2d(seen.expand(*seen.shape[:-1], self.keys))
        return seen.sum(-1) if ranges is None else counts_of(ranges, self.sinks, seen)


def masks_of(
    batch: int,
    heads: int,
    queries: int,
    keys: int,
    key_padding_mask: torch.Tensor | None,
    attn_mask: torch.Tensor | None,
    is_causal: bool,
    window: Window,
    sinks: int,
) -> Masks:
    """Checked. is_causal says that attn_mask is causal, as in torch: attn_mask is not read then."""
    if key_padding_mask is not None:
        _check("key_padding_mask", key_padding_mask, [(batch, keys)])
        key_padding_mask = key_padding_mask[:, None, None]
    if attn_mask is not None:
        _check("attn_mask", attn_mask, [(queries, keys), (batch * heads, queries, keys)])
        attn_mask = None if is_causal else attn_mask.unflatten(0, (batch, heads)) if attn_mask.dim() == 3 else attn_mask
    return Masks(queries, keys, None, None, is_causal, window, sinks).hide(attn_mask).hide(key_padding_mask)


def counts_of_padding(mask: torch.Tensor | None) -> torch.Tensor | None:
    """How many tokens are not padding, (batch,), where a mask (batch, L) says that some on the left are."""
    if mask is None:
        return None
    on_the_left = torch.arange(mask.shape[1], device=mask.device) < mask.sum(-1, keepdim=True)
    if mask.dtype != torch.bool or not torch.equal(mask, on_the_left):
        raise ValueError("MultiheadAttention: with a cache key_padding_mask must be of bool, and True on the left alone")
    return (~mask).sum(-1)


def _check(name: str, mask: torch.Tensor, shapes: list[tuple[int, ...]]) -> None:
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise ValueError(f"MultiheadAttention: {name} must be of bool or floating point, got {mask.dtype}")
    if tuple(mask.shape) not in shapes:
        said = " or ".join(map(str, shapes))
        raise ValueError(f"MultiheadAttention: {name} must have shape {said}, got {tuple(mask.shape)}")
