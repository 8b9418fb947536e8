"""Sequences of different lengths in a row, without padding: packed tensors, and torch's nested ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from ._key_ranges import checked_starts, knows


class Sequences(NamedTuple):
    """query (queries, H, E), key and value (keys, G, ...) of all sequences; where each starts, and the last one ends,
    int32."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    query_starts: torch.Tensor
    key_starts: torch.Tensor


def sequences_of(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    cu_seqlens_q: torch.Tensor,
    cu_seqlens_k: torch.Tensor | None,
) -> Sequences:
    """Checked."""
    shapes = tuple(tuple(x.shape) for x in (query, key, value))
    if any(len(shape) != 3 for shape in shapes):
        raise ValueError(f"fenchel.torch: query, key and value must have 3 dimensions, got shapes {shapes}")
    starts = checked_starts("cu_seqlens_q", cu_seqlens_q, query.shape[0])
    if cu_seqlens_k is None:
        if key.shape[0] != query.shape[0]:
            raise ValueError(f"fenchel.torch: without cu_seqlens_k key must have {query.shape[0]} rows, got {shapes[1]}")
        return Sequences(query, key, value, starts, starts)
    key_starts = checked_starts("cu_seqlens_k", cu_seqlens_k, key.shape[0], starts.shape[0] - 1)
    return Sequences(query, key, value, starts, key_starts)


def nested_of(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: torch.Tensor | None,
    documents: torch.Tensor | None,
) -> Sequences:
    """Of nested tensors (B, H, L, E), where L is ragged."""
    for name, x in (("query", query), ("key", key), ("value", value)):
        if not x.is_nested or x.layout != torch.jagged or x.dim() != 4 or x._ragged_idx != 2:
            raise ValueError(
                "fenchel.torch: query, key and value must be nested tensors of layout torch.jagged and shape (B, H, L, E) "
                f"with L ragged, or none of them nested, got another {name}"
            )
        if x.lengths() is not None:
            raise ValueError(f"fenchel.torch: the sequences of {name} must be without gaps between them, got some")
    for name, mask in (("attn_mask", attn_mask), ("documents", documents)):
        if mask is not None:
            raise ValueError(f"fenchel.torch: {name} must be None beside nested tensors, got a tensor")
    query_starts, key_starts, value_starts = (x.offsets() for x in (query, key, value))
    is_alike = key.shape[2] == value.shape[2] or _are_equal(key_starts, value_starts)
    if not is_alike or query.shape[0] != key.shape[0]:
        raise ValueError(
            "fenchel.torch: key and value must have the same lengths, one for each member of query, got shapes "
            f"{tuple(query.shape)}, {tuple(key.shape)} and {tuple(value.shape)}"
        )
    query, key, value = (x.transpose(1, 2).values() for x in (query, key, value))
    return Sequences(query, key, value, query_starts.to(torch.int32), key_starts.to(torch.int32))


def _are_equal(starts: torch.Tensor, others: torch.Tensor) -> bool:
    """As far as one may look: what was made apart has lengths of its own for torch, which may be the same numbers."""
    return knows(starts) and knows(others) and torch.equal(starts, others)


def nested_like(x: Any, packed: torch.Tensor) -> torch.Tensor:
    """(queries, H, Ev) as (B, H, L, Ev), ragged as x."""
    return torch.nested.nested_tensor_from_jagged(packed, x.offsets()).transpose(1, 2)
