"""Attention over keys in blocks of queries, by functions of torch and the operations of entmax.

This is the plain path: it serves every device and type, and the gradient in a bias. Its memory is that of a few blocks
of scores. A block of all queries is the whole matrix, which torch can differentiate again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import torch

from ._differentiable import Tensors
from ._dropout import dropout_factors
from ._key_ranges import in_sight
from ._library import ops, register_rows
from ._rows import HALF

BLOCK = 2**24
"""How many scores a block has at most, unless those of one query in each head are more."""
SCHEMA = (
    "(Tensor query, Tensor key, Tensor value, Tensor? mask, Tensor? bias, Tensor? alphas, Tensor? scales, "
    "Tensor? seed, Tensor? ranges, {}float alpha, float scale, bool causal, float dropout, int sinks{}) -> "
    "(Tensor, Tensor, Tensor{})"
)
"""That of dot_product_attention in frontends/torch/ops/schemas.cpp."""
REAL = (torch.float64, torch.float32, *HALF)
TENSORS, NUMBERS = 9, 5
"""How many arguments of a SCHEMA are tensors of `Attention`, and how many are its numbers."""

Place = tuple[slice, slice, slice]
"""Of a block: members of the batch, queries and keys."""


class Attention(NamedTuple):
    """What the operations take: query (B, H, n, d), key (B, G, m, d) and value (B, G, m, e), where G divides H; mask
    and bias broadcast to (B, H, n, m); alphas and scales (H), float64, in place of the numbers; a seed (1), int64;
    ranges (B, n, 3), int32, of `_key_ranges`."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None
    bias: torch.Tensor | None
    alphas: torch.Tensor | None
    scales: torch.Tensor | None
    seed: torch.Tensor | None
    ranges: torch.Tensor | None
    alpha: float
    scale: float
    causal: bool
    dropout: float
    sinks: int = 0

    @property
    def may_see_nothing(self) -> bool:
        """Whether there may be a query without a key."""
        return self.mask is not None or self.bias is not None or self.ranges is not None

    def check_types(self) -> None:
        for name in ("query", "key", "value", "bias"):
            check_type(name, getattr(self, name), REAL, "float64, float32, bfloat16 or float16")
        check_type("mask", self.mask, (torch.bool,), "bool")
        check_type("alphas", self.alphas, (torch.float64,), "float64")
        check_type("scales", self.scales, (torch.float64,), "float64")
        check_type("seed", self.seed, (torch.int64,), "int64")
        check_type("ranges", self.ranges, (torch.int32,), "int32")

    def widened(self) -> Attention:
        """In the type that is computed in."""
        dtype = computed(self.query)
        bias = None if self.bias is None else self.bias.to(dtype)
        query, key, value = (x.to(dtype).contiguous() for x in self[:3])
        return self._replace(query=query, key=key, value=value, bias=bias)

    def part(self, place: Place) -> Attention:
        """The queries of a block, and the keys that they may see."""
        members, rows, cols = place
        return self._replace(
            query=self.query[members, :, rows],
            key=self.key[members, :, cols],
            value=self.value[members, :, cols],
            mask=None if self.mask is None else cut(self.mask, place),
            bias=None if self.bias is None else cut(self.bias, place),
            ranges=None if self.ranges is None else self.ranges[members, rows],
        )


def check_type(name: str, x: torch.Tensor | None, types: tuple[torch.dtype, ...], word: str) -> None:
    if x is not None and x.dtype not in types:
        raise ValueError(f"fenchel: {name} must be {word}, got {x.dtype}")


def computed(x: torch.Tensor) -> torch.dtype:
    return torch.float32 if x.dtype in HALF else x.dtype


def without_autocast(x: torch.Tensor) -> AbstractContextManager[Any]:
    """On the device of x; the meta device has no autocast."""
    return nullcontext() if x.is_meta else torch.autocast(x.device.type, enabled=False)


def cut(x: torch.Tensor, place: Place) -> torch.Tensor:
    """What a block sees of a tensor that broadcasts to the scores."""
    members, rows, cols = place
    x = x if x.shape[0] == 1 else x[members]
    x = x if x.shape[2] == 1 else x[:, :, rows]
    return x if x.shape[3] == 1 else x[..., cols]


def whole(x: Attention) -> Place:
    """All queries, as one block."""
    return slice(0, x.query.shape[0]), slice(0, x.query.shape[2]), slice(0, x.key.shape[2])


def blocks(x: Attention) -> Iterator[Place]:
    """Places that cover all queries."""
    batch, heads, rows, _ = x.query.shape
    cols = x.key.shape[2]
    per_query = max(heads * cols, 1)
    members = min(max(BLOCK // (per_query * max(rows, 1)), 1), max(batch, 1))
    height = min(max(BLOCK // (members * per_query), 1), max(rows, 1))
    for b in range(0, batch, members):
        for i in range(0, rows, height):
            block = slice(b, min(b + members, batch)), slice(i, min(i + height, rows))
            yield *block, _keys_of(x, *block)


def _keys_of(x: Attention, members: slice, rows: slice) -> slice:
    """Consecutive keys with all that a block sees. Ranges on a GPU are not looked at: the CPU would wait for it."""
    cols = x.key.shape[2]
    if x.causal:
        return slice(0, min(rows.stop, cols))
    if x.ranges is None or not x.ranges.is_cpu:
        return slice(0, cols)
    ranges = x.ranges[members, rows]
    first, last = int(ranges[..., 0 if x.sinks > 0 else 1].min()), int(ranges[..., 2].max())
    return slice(first, last) if first < last else slice(0, cols)


def by_key_head(x: torch.Tensor, groups: int) -> torch.Tensor:
    """(B, H, n, k) as (B, G, H / G * n, k): the rows that look at one head of keys."""
    batch, heads, rows, cols = x.shape
    return x.reshape(batch, groups, heads // max(groups, 1) * rows, cols)


def scale_of_heads(x: Attention) -> torch.Tensor | float:
    """To multiply (B, H, n, k) with."""
    return x.scale if x.scales is None else x.scales.to(x.query.dtype)[:, None, None]


def alphas_of_rows(x: Attention, p: torch.Tensor) -> torch.Tensor | None:
    """As the operations of entmax take them."""
    return None if x.alphas is None else x.alphas[:, None, None].expand(*p.shape[:3], 1)


def weights(x: Attention, place: Place, entmax: Callable[..., torch.Tensor] = ops.entmax) -> torch.Tensor:
    """p of a part, (B, H, n, m): all 0 for a query without a key."""
    _, rows, cols = place
    groups = x.key.shape[1]
    scores = by_key_head(x.query * scale_of_heads(x), groups) @ x.key.mT
    scores = scores.reshape(*x.query.shape[:3], x.key.shape[2])
    if x.bias is not None:
        scores = torch.where(x.bias == -torch.inf, -torch.inf, scores + x.bias)
    if x.mask is not None:
        scores = scores.masked_fill(~x.mask, -torch.inf)
    if x.causal:
        query, key = (torch.arange(s.start, s.stop, device=scores.device) for s in (rows, cols))
        scores = scores.masked_fill(key > query[:, None], -torch.inf)
    if x.ranges is not None:
        key = torch.arange(cols.start, cols.stop, device=scores.device)
        scores = scores.masked_fill(~in_sight(x.ranges[:, None], x.sinks, key), -torch.inf)
    alphas = alphas_of_rows(x, scores)
    if not x.may_see_nothing:
        return entmax(scores, alphas, x.alpha, -1)
    is_empty = (scores == -torch.inf).all(-1, keepdim=True)
    return entmax(scores.masked_fill(is_empty, 0), alphas, x.alpha, -1).masked_fill(is_empty, 0)


def kept(x: Attention, place: Place) -> torch.Tensor | None:
    """What dropout multiplies the weights of a block of x with; None where there is no dropout."""
    if x.dropout == 0 or x.seed is None:
        return None
    _, heads, count, _ = x.query.shape
    members, rows, keys = (torch.arange(s.start, s.stop, device=x.seed.device) for s in place)
    of_heads = members[:, None] * heads + torch.arange(heads, device=x.seed.device)
    of_queries = of_heads[..., None, None] * count + rows[:, None]
    return dropout_factors(x.seed, of_queries, keys, x.dropout).to(x.query.dtype)


def output(x: Attention, p: torch.Tensor, factors: torch.Tensor | None) -> torch.Tensor:
    """sum_j p_j value_j of a part."""
    seen = p if factors is None else p * factors
    return (by_key_head(seen, x.value.shape[1]) @ x.value).reshape(*p.shape[:3], x.value.shape[3])


def _attention(*args: Any) -> Tensors:
    """The output, and nothing for the backward pass, which computes the weights again."""
    given = Attention(*args)
    given.check_types()
    x = given.widened()
    out = given.query.new_empty(*x.query.shape[:3], x.value.shape[3])
    with without_autocast(out):
        for place in blocks(x):
            part = x.part(place)
            out[place[0], :, place[1]] = output(part, weights(part, place), kept(x, place)).to(out.dtype)
    return out, out.new_empty(0, dtype=computed(out)), out.new_empty(0, dtype=torch.int32)


class _Gradient(NamedTuple):
    """Of <grad_out, out>, where it is wanted: in alpha and scale for each query, (B, H, n)."""

    query: torch.Tensor | None
    key: torch.Tensor | None
    value: torch.Tensor | None
    alphas: torch.Tensor | None
    scales: torch.Tensor | None
    bias: torch.Tensor | None

    def add(self, x: Attention, place: Place, factors: torch.Tensor | None, cotangent: torch.Tensor) -> None:
        """What a part contributes."""
        members, rows, cols = place
        groups, p = x.key.shape[1], weights(x, place)
        grad_out = by_key_head(cotangent, groups)
        if self.value is not None:
            self.value[members, :, cols] += by_key_head(p if factors is None else p * factors, groups).mT @ grad_out
        if all(slope is None for slope in (*self[:2], *self[3:])):
            return
        grad_p = (grad_out @ x.value.mT).reshape(p.shape)
        if factors is not None:
            grad_p = grad_p * factors
        grad_scores, grad_alphas = ops.entmax_vjp(p, alphas_of_rows(x, p), grad_p, x.alpha, -1)
        if x.may_see_nothing:
            is_empty = (p == 0).all(-1, keepdim=True)
            grad_scores = grad_scores.masked_fill(is_empty, 0)
            grad_alphas = grad_alphas if x.alphas is None else grad_alphas.masked_fill(is_empty, 0)
        by_key, scale = by_key_head(grad_scores, groups), scale_of_heads(x)
        if self.key is not None:
            self.key[members, :, cols] += by_key.mT @ by_key_head(x.query * scale, groups)
        if self.query is not None or self.scales is not None:
            along = (by_key @ x.key).reshape(x.query.shape)
            if self.query is not None:
                self.query[members, :, rows] = along * scale
            if self.scales is not None:
                self.scales[members, :, rows] = (along.double() * x.query).sum(-1)
        if self.alphas is not None:
            self.alphas[members, :, rows] = grad_alphas.squeeze(-1)
        if self.bias is not None:
            seen = cut(self.bias, place)
            seen += grad_scores.sum_to_size(seen.shape)


def _shapes(x: Attention, wanted: tuple[bool, ...]) -> tuple[Any, ...]:
    """Of the parts of a gradient; None for what is not there, or not asked for."""
    per_query = x.query.shape[:3]
    there = (x.query, x.key, x.value, x.alphas, x.scales, x.bias)
    shapes = tuple(per_query if i in (3, 4) else t.shape if t is not None else None for i, t in enumerate(there))
    return tuple(s if t is not None and w else None for s, t, w in zip(shapes, there, wanted))


def _vjp(*args: Any) -> Tensors:
    """The gradients, in the types of what they are in; those for each query in float64."""
    grad_out, *static = args[TENSORS : TENSORS + 1 + NUMBERS]
    given = Attention(*args[:TENSORS], *static)
    given.check_types()
    check_type("grad_out", grad_out, REAL, "float64, float32, bfloat16 or float16")
    x = given.widened()
    cotangent = grad_out.to(x.query.dtype).contiguous()
    shapes = _shapes(x, args[TENSORS + 1 + NUMBERS :])
    types = (x.query.dtype,) * 3 + (torch.float64,) * 2 + (x.query.dtype,)
    gradient = _Gradient(*(None if s is None else x.query.new_zeros(s, dtype=t) for s, t in zip(shapes, types)))
    with without_autocast(cotangent):
        for place in blocks(x):
            gradient.add(x.part(place), place, kept(x, place), cotangent[place[0], :, place[1]])
    return tuple(like if g is None else g.to(like.dtype) for g, like in zip(gradient, _fake_vjp(*args)))


def _fake_vjp(*args: Any) -> Tensors:
    x = Attention(*args[:TENSORS], *args[TENSORS + 1 : TENSORS + 1 + NUMBERS])
    wide, bias = torch.float64, x.query if x.bias is None else x.bias
    types = (x.query.dtype, x.key.dtype, x.value.dtype, wide, wide, bias.dtype)
    shapes = _shapes(x, args[TENSORS + 1 + NUMBERS :])
    return tuple(x.query.new_empty((0,) if s is None else s, dtype=t) for s, t in zip(shapes, types))


def _fake(*args: Any) -> Tensors:
    query, value = args[0], args[2]
    out = query.new_empty(*query.shape[:3], value.shape[3])
    return out, out.new_empty(0, dtype=computed(out)), out.new_empty(0, dtype=torch.int32)


_operations = torch.library.Library("fenchel", "FRAGMENT")
_operations.define("dot_product_attention_blocks" + SCHEMA.format("", "", ""))
_operations.define(
    "dot_product_attention_blocks_vjp"
    + SCHEMA.format(
        "Tensor grad_out, ",
        ", bool in_query, bool in_key, bool in_value, bool in_alphas, bool in_scales, bool in_bias",
        ", Tensor, Tensor, Tensor",
    )
)
for _device in ("CPU", "CUDA"):
    _operations.impl("dot_product_attention_blocks", _attention, _device)
    _operations.impl("dot_product_attention_blocks_vjp", _vjp, _device)
register_rows("dot_product_attention_blocks", _fake, shared=tuple(range(TENSORS)))
register_rows("dot_product_attention_blocks_vjp", _fake_vjp, shared=tuple(range(TENSORS + 1)))
