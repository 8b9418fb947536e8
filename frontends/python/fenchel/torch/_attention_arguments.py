"""The arguments of attention over keys, which are those of torch: checked, and as the operations take them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch

from ._attention_blocks import REAL, Attention
from ._key_ranges import FAR, Window, ranges_of, sides_of
from ._rows import HALF, Parameter


class Batch(NamedTuple):
    """What the leading dimensions of queries, keys and values broadcast to."""

    members: tuple[int, ...]
    heads: int
    has_heads: bool

    @property
    def leading(self) -> tuple[int, ...]:
        return (*self.members, self.heads) if self.has_heads else ()

    def matrices(self, x: torch.Tensor, heads: int) -> torch.Tensor:
        """(..., n, k) as (B, heads, n, k)."""
        if x.shape[:-2] != (*self.members, heads):
            x = x.expand(*self.members, heads, *x.shape[-2:])
        return x if x.dim() == 4 else x.reshape(math.prod(self.members), heads, *x.shape[-2:])

    def of_scores(self, x: torch.Tensor) -> torch.Tensor:
        """What broadcasts to the scores, as (1 or B, 1 or H, 1 or n, 1 or m)."""
        x = x[(None,) * max(4 - x.dim(), 0)]
        if x.dim() == 4 and len(self.members) <= 1:
            return x
        if all(size == 1 for size in x.shape[:-3]):
            return x.reshape(1, *x.shape[-3:])
        return x.expand(*self.members, *x.shape[-3:]).reshape(math.prod(self.members), *x.shape[-3:])


def attention_of(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: Parameter | None,
    enable_gqa: bool,
    alpha: Parameter,
) -> tuple[Attention, Batch]:
    """What the operations take, without a seed."""
    query, key, value, attn_mask = _in_autocast(query, key, value, attn_mask)
    _check(query, key, value, attn_mask, dropout_p)
    batch, groups = _batch_of(query, key, value, enable_gqa)
    key, value = (
        x if x.dim() == 2 or x.shape[-3] == groups else x.repeat_interleave(groups // x.shape[-3], -3)
        for x in (key, value)
    )
    scores = (*batch.leading, query.shape[-2], key.shape[-2])
    mask = bias = None
    if attn_mask is not None:
        if not broadcasts(attn_mask.shape, scores):
            raise ValueError(f"fenchel.torch: attn_mask must broadcast to {scores}, got shape {tuple(attn_mask.shape)}")
        if attn_mask.dtype == torch.bool:
            mask = batch.of_scores(attn_mask)
        else:
            bias = batch.of_scores(attn_mask)
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1]) if query.shape[-1] > 0 else 1.0
    alphas, alpha = per_head(alpha, batch.heads, query.device, "alpha")
    scales, scale = per_head(scale, batch.heads, query.device, "scale")
    if alphas is None and not alpha >= 1:
        raise ValueError(f"fenchel.torch: alpha must be at least 1, got {alpha}")
    if scales is None and not abs(scale) < math.inf:
        raise ValueError(f"fenchel.torch: scale must be finite, got {scale}")
    matrices = batch.matrices(query, batch.heads), batch.matrices(key, groups), batch.matrices(value, groups)
    return Attention(*matrices, mask, bias, alphas, scales, None, None, alpha, scale, is_causal, dropout_p), batch


def with_ranges(
    x: Attention, batch: Batch, window: Window, sinks: int, documents: torch.Tensor | None
) -> Attention:
    """And which keys a query may see by its place: what is more than causal becomes ranges."""
    sides = sides_of(window, x.causal, sinks)
    if documents is None and (sides.is_causal or sides == (None, None)):
        return x._replace(causal=sides.is_causal)
    ranges = ranges_of(sides, x.query.shape[2], x.key.shape[2], batch.members, documents, x.query.device)
    return x._replace(ranges=ranges, causal=False, sinks=min(sinks, FAR))


def _in_autocast(*tensors: torch.Tensor | None) -> tuple[Any, ...]:
    """Under autocast in its type, as those of torch's own attention."""
    kind = next(x for x in tensors if x is not None).device.type
    if kind == "meta" or not torch.is_autocast_enabled(kind):
        return tensors
    dtype = torch.get_autocast_dtype(kind)
    narrow = (torch.float32, *HALF)
    return tuple(x.to(dtype) if x is not None and x.dtype in narrow else x for x in tensors)


def _check(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None,
    dropout_p: float,
) -> None:
    if query.is_nested or key.is_nested or value.is_nested:
        raise ValueError(
            "fenchel.torch: query, key and value must not be nested here: scaled_dot_product_attention takes nested ones"
        )
    shapes = tuple(tuple(x.shape) for x in (query, key, value))
    if min(map(len, shapes)) < 2:
        raise ValueError(f"fenchel.torch: query, key and value must have at least two dimensions, got shapes {shapes}")
    if key.shape[-1] != query.shape[-1]:
        raise ValueError(f"fenchel.torch: key must have the last dimension of query, {shapes[0][-1]}, got {shapes[1]}")
    if value.shape[-2] != key.shape[-2]:
        raise ValueError(f"fenchel.torch: value must have a row for each of {key.shape[-2]} keys, got {shapes[2]}")
    if not query.dtype == key.dtype == value.dtype:
        types = query.dtype, key.dtype, value.dtype
        raise TypeError(f"fenchel.torch: query, key and value must be of one type, got {types}")
    if query.dtype not in REAL:
        raise TypeError(f"fenchel.torch: query must be float64, float32, bfloat16 or float16, got {query.dtype}")
    if attn_mask is not None and attn_mask.dtype not in (torch.bool, *REAL):
        raise TypeError(f"fenchel.torch: attn_mask must be bool or floating point, got {attn_mask.dtype}")
    if not 0 <= dropout_p < 1:
        raise ValueError(f"fenchel.torch: dropout_p must be in [0, 1), got {dropout_p}")


def _batch_of(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, enable_gqa: bool) -> tuple[Batch, int]:
    """And the number of heads that keys and values get."""
    tensors = query, key, value
    shapes = tuple(tuple(x.shape) for x in tensors)
    counts = [x.shape[-3] if x.dim() > 2 else 1 for x in tensors]
    if enable_gqa:
        heads = counts[0]
        if min(map(len, shapes)) < 3 or any(c == 0 or heads % c != 0 for c in counts[1:]):
            raise ValueError(f"fenchel.torch: heads of key and value must divide those of query, got shapes {shapes}")
    try:
        members = torch.broadcast_shapes(*(x.shape[:-3] for x in tensors))
        if not enable_gqa:
            (heads,) = torch.broadcast_shapes(*((c,) for c in counts))
    except RuntimeError:
        raise ValueError(
            f"fenchel.torch: leading dimensions of query, key and value must broadcast, got shapes {shapes}"
        ) from None
    groups = counts[1] if counts[1] == counts[2] else heads
    return Batch(tuple(members), heads, max(map(len, shapes)) > 2), groups


def broadcasts(shape: torch.Size, target: tuple[int, ...]) -> bool:
    return len(shape) <= len(target) and all(s in (1, t) for s, t in zip(reversed(shape), reversed(target)))


def per_head(
    value: Parameter, heads: int, device: torch.device, name: str
) -> tuple[torch.Tensor | None, float]:
    """As the operations take it: (None, the number), or (float64 of shape (H), a number that is not used)."""
    if not isinstance(value, torch.Tensor):
        return None, float(value)
    shape = tuple(value.shape)
    if len(shape) not in (0, 1, 3) or shape[1:] not in ((), (1, 1)) or shape[:1] not in ((), (1,), (heads,)):
        raise ValueError(
            f"fenchel.torch: {name} must be a number or of shape (), ({heads},) or ({heads}, 1, 1), got shape {shape}"
        )
    if value.dim() == 0 and value.is_cpu:
        value = value.to(device, non_blocking=True)
    return value.reshape(value.shape[:1]).to(torch.float64).expand(heads), 0.0
