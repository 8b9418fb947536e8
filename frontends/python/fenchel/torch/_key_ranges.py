"""Which keys a query may see, where they are an interval: windows, documents and sequences in a row.

A range is (origin, first, last), int32, as KeyRange of include/fenchel/backend/dot_product_views.hpp: a query sees the
keys first <= j < last, and those of the `sinks` keys from origin on that are before last.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch.nn import functional

FAR = 2**31 - 1
"""No key is further away: ranges are int32."""

Window = int | tuple[int | None, int | None] | None


class Sides(NamedTuple):
    """How far a query sees to each side; None has no bound."""

    left: int | None
    right: int | None

    @property
    def is_causal(self) -> bool:
        """Whether a query sees the keys up to its own, and nothing else is said."""
        return self == (None, 0)


def sides_of(window: Window, is_causal: bool, sinks: int) -> Sides:
    """Checked, with the sinks."""
    sides = window if isinstance(window, tuple | list) else (window, window)
    if len(sides) != 2 or any(isinstance(x, bool) or not isinstance(x, int | None) for x in sides):
        raise TypeError(f"fenchel.torch: window must be an integer or a pair of integers or None, got {window!r}")
    if any(x is not None and x < 0 for x in sides):
        raise ValueError(f"fenchel.torch: window must not be negative (None has no bound), got {window!r}")
    if isinstance(sinks, bool) or not isinstance(sinks, int):
        raise TypeError(f"fenchel.torch: sinks must be an integer, got {sinks!r}")
    if sinks < 0:
        raise ValueError(f"fenchel.torch: sinks must not be negative, got {sinks}")
    left, right = (None if x is None or x >= FAR else x for x in sides)
    return Sides(left, 0 if is_causal else right)


def ranges_of(
    sides: Sides, queries: int, keys: int, members: tuple[int, ...], documents: torch.Tensor | None, device: torch.device
) -> torch.Tensor | None:
    """(members, queries, 3), contiguous; None where every query sees all keys."""
    if documents is None:
        if sides == (None, None):
            return None
        origin, end = torch.zeros((), dtype=torch.int64, device=device), torch.full((), keys, device=device)
    else:
        documents = _checked_documents(documents, queries, keys, members)
        origin = torch.searchsorted(documents, documents)
        end = torch.searchsorted(documents, documents, right=True)
    place = torch.arange(queries, device=device)
    ranges = windows_of(sides, origin, end, place)
    return ranges.expand(*members, queries, 3).reshape(math.prod(members), queries, 3).contiguous()


def ranges_of_sequences(
    sides: Sides, queries: int, keys: int, query_starts: torch.Tensor, key_starts: torch.Tensor
) -> torch.Tensor:
    """(1, queries, 3) of sequences in a row; their starts end with a last one, where they end."""
    place = torch.arange(queries, device=query_starts.device)
    sequence = torch.searchsorted(query_starts[1:].contiguous(), place.to(query_starts.dtype), right=True)
    last = key_starts.shape[0] - 1
    origin, end = (key_starts.long()[(sequence + k).clamp(max=last)].clamp(0, keys) for k in (0, 1))
    own = place - query_starts.long()[sequence]
    return windows_of(sides, origin, end, origin + own)[None]


def windows_of(sides: Sides, origin: torch.Tensor, end: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
    """(..., 3) about each place, within [origin, end); one before the origin sees nothing to its left."""
    first = origin if sides.left is None else (place - sides.left).clamp(min=origin, max=end)
    last = end if sides.right is None else (place + sides.right + 1).clamp(min=first, max=end)
    return torch.stack(torch.broadcast_tensors(origin, first, last), -1).to(torch.int32)


def in_sight(ranges: torch.Tensor, sinks: int, keys: torch.Tensor) -> torch.Tensor:
    """Whether a query sees each of these keys: (..., n, 3) gives (..., n, m)."""
    origin, first, last = ranges.unsqueeze(-1).unbind(-2)
    return (keys < last) & ((keys >= first) | ((keys >= origin) & (keys - origin < sinks)))


def counts_of(ranges: torch.Tensor, sinks: int, seen: torch.Tensor | None) -> torch.Tensor:
    """How many keys each query sees, (n), of ranges (n, 3); those that are seen, where seen, (..., 1 or n, m), says so:
    (..., n)."""
    origin, first, last = ranges.long().unbind(-1)
    end = torch.minimum(origin + sinks, first)
    if seen is None:
        return last - first + (end - origin)
    before = functional.pad(seen.cumsum(-1), (1, 0))
    row = torch.arange(ranges.shape[0], device=ranges.device) if seen.shape[-2] > 1 else torch.zeros_like(first)
    up_to = lambda key: before[..., row, key]  # noqa: E731
    return up_to(last) - up_to(first) + up_to(end) - up_to(origin)


def knows(x: torch.Tensor) -> bool:
    """Whether x has numbers that can be looked at, without a GPU to wait for and without a graph to break."""
    return type(x) is torch.Tensor and x.is_cpu and not torch.compiler.is_compiling() and not torch._C._are_functorch_transforms_active()


def _checked_documents(documents: torch.Tensor, queries: int, keys: int, members: tuple[int, ...]) -> torch.Tensor:
    shape = tuple(documents.shape)
    if documents.is_floating_point() or documents.is_complex() or documents.dtype == torch.bool:
        raise TypeError(f"fenchel.torch: documents must be integers, got {documents.dtype}")
    if queries != keys:
        raise ValueError(f"fenchel.torch: documents need as many queries as keys, got {queries} and {keys}")
    if shape[-1:] != (queries,) or len(shape) > 1 and shape[:-1] != members:
        told = f"({queries},)" + (f" or {(*members, queries)}" if members else "")
        raise ValueError(f"fenchel.torch: documents must have shape {told}, got {shape}")
    documents = documents.to(torch.int64).contiguous()
    if knows(documents) and bool((documents.diff() < 0).any()):
        at = tuple((documents.diff() < 0).nonzero()[0].tolist())
        at = (*at[:-1], at[-1] + 1)
        raise ValueError(
            f"fenchel.torch: documents{list(at)} must not be less than the one before, {int(documents.roll(1, -1)[at])}, "
            f"got {int(documents[at])}"
        )
    return documents


def checked_starts(name: str, starts: torch.Tensor, total: int, sequences: int | None = None) -> torch.Tensor:
    """Where sequences start among `total` tokens, and where the last one ends."""
    if starts.dtype != torch.int32:
        raise TypeError(f"fenchel.torch: {name} must be int32, got {starts.dtype}")
    shape, told = tuple(starts.shape), "" if sequences is None else f" of {sequences + 1} numbers"
    if len(shape) != 1 or shape[0] == 0 or sequences not in (None, shape[0] - 1):
        raise ValueError(f"fenchel.torch: {name} must be a vector{told}, got shape {shape}")
    if not knows(starts):
        return starts
    if int(starts[0]) != 0:
        raise ValueError(f"fenchel.torch: {name} must begin with 0, got {int(starts[0])}")
    if int(starts[-1]) != total:
        raise ValueError(f"fenchel.torch: {name} must end with the number of tokens, {total}, got {int(starts[-1])}")
    if bool((starts.diff() < 0).any()):
        at = int((starts.diff() < 0).nonzero()[0]) + 1
        before, own = starts[at - 1 : at + 1].tolist()
        raise ValueError(f"fenchel.torch: {name}[{at}] must not be less than the one before, {before}, got {own}")
    return starts
