"""Keys and values of the tokens so far, for decoding: in pages, which sequences may share."""

from __future__ import annotations

import math
from typing import Any

import torch

from ._attention_arguments import attention_of, broadcasts, per_head
from ._attention_blocks import REAL, Attention, without_autocast
from ._differentiable import is_differentiated
from ._dot_product_attention import attend, dense_weights, sparse_weights
from ._key_ranges import FAR, Window, counts_of, knows, sides_of, windows_of
from ._library import ops, register_rows
from ._rows import HALF, Parameter


def _fake(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *rest: Any) -> torch.Tensor:
    return query.new_empty(*query.shape[:3], value.shape[3])


register_rows("cached_attention", _fake, shared=tuple(range(9)), on_cpu=(3, 4))
ON_GPU = torch._C._dispatch_has_kernel_for_dispatch_key("fenchel::cached_attention", "CUDA")
MOST_COLUMNS, MOST_SHARING, BOUNDED_KEYS = 256, 64, 16
"""Of kernels on a GPU: how many columns a key or value may have, how many queries a head of keys should have at the most
before rows of keys are faster, and of what number the size of a page with bounds is a multiple."""


class KeyValueCache:
    """Keys and values of the sequences of a batch, and attention of their last tokens to them.

    A sequence has pages for its tokens, which it gets when they come. Without page_size a page has room for all tokens
    of a sequence. Smaller pages let sequences of different lengths share one memory, and copies of a sequence share the
    pages that are full.

    Parameters
    ----------
    batch : int
        How many sequences there are.
    heads : int
        Of keys and values.
    capacity : int
        How many tokens a sequence may have.
    columns, value_columns : int
        Of a key, and of a value; a value has as many as a key unless said.
    page_size : int, optional
        Tokens of a page; capacity unless said.
    pages : int, optional
        How many pages there are; enough for the capacity of all sequences unless said.
    bounds : bool
        Whether the least and the largest number of each column is kept for the keys of a page, 2 / page_size of the
        memory of the keys. On a GPU pages whose keys cannot have weight by these are not read, where there is no bias.
        page_size must be a multiple of 16.
    dtype, device
        Of keys and values; torch's defaults unless said. On a CPU float32 and float64 are read where they are. Of other
        types the whole cache is converted at each call.

    Attributes
    ----------
    key, value : Tensor, shapes (pages, heads, page_size, columns) and (pages, heads, page_size, value_columns)
    table : Tensor of int32, shape (batch, ceil(capacity / page_size))
        The pages of each sequence in their order, on the CPU. What it has beyond them means nothing.
    lengths : Tensor of int64, shape (batch,)
        How many tokens each sequence has, on the CPU.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import KeyValueCache, scaled_dot_product_attention
    >>> _ = torch.manual_seed(0)
    >>> query, key, value = torch.randn(3, 2, 4, 10, 8).unbind(0)  # batch 2, heads 4, 10 tokens, 8 columns
    >>> cache = KeyValueCache(2, 4, capacity=16, columns=8, page_size=4)
    >>> cache.append(key[:, :, :9], value[:, :, :9])  # the prompt
    >>> cache.append(key[:, :, 9:], value[:, :, 9:])  # a token
    >>> out = cache.attend(query[:, :, 9:])
    >>> whole = scaled_dot_product_attention(query, key, value, is_causal=True)
    >>> torch.allclose(out, whole[:, :, 9:], atol=1e-6)
    True
    """

    def __init__(
        self,
        batch: int,
        heads: int,
        capacity: int,
        columns: int,
        value_columns: int | None = None,
        *,
        page_size: int | None = None,
        pages: int | None = None,
        bounds: bool = False,
        dtype: torch.dtype | None = None,
        device: Any = None,
    ) -> None:
        value_columns = columns if value_columns is None else value_columns
        page_size = capacity if page_size is None else page_size
        sizes = {"batch": batch, "heads": heads, "capacity": capacity, "columns": columns}
        for name, size in (sizes | {"value_columns": value_columns, "page_size": page_size}).items():
            _check_size(name, size)
        per_sequence = -(-capacity // page_size)
        pages = batch * per_sequence if pages is None else pages
        _check_size("pages", pages)
        # Zeros, since a weight of 0 times what happens to lie in memory may be NaN.
        self.key = torch.zeros(pages, heads, page_size, columns, dtype=dtype, device=device)
        self.value = torch.zeros(pages, heads, page_size, value_columns, dtype=dtype, device=device)
        if self.key.dtype not in REAL:
            raise TypeError(f"KeyValueCache: dtype must be float64, float32, bfloat16 or float16, got {dtype}")
        if bounds and page_size % BOUNDED_KEYS != 0:
            raise ValueError(f"KeyValueCache: page_size must be a multiple of {BOUNDED_KEYS} with bounds, got {page_size}")
        self._bounds: torch.Tensor | None = self.key.new_zeros(pages, heads, 2, columns) if bounds else None
        self.table = torch.zeros(batch, per_sequence, dtype=torch.int32)
        self.lengths = torch.zeros(batch, dtype=torch.int64)
        self._capacity = capacity

    @property
    def free_pages(self) -> int:
        """How many pages no sequence has."""
        return len(self._free(self.table, self.lengths))

    def append(self, key: torch.Tensor, value: torch.Tensor, counts: torch.Tensor | None = None) -> None:
        """The next tokens of each sequence.

        Parameters
        ----------
        key, value : Tensor, shapes (batch, heads, L, columns) and (batch, heads, L, value_columns)
            In the type of the cache. They are copied. A cache has no gradients, so that they must not need one:
            torch.no_grad() is around a generation.
        counts : Tensor of integers, shape (batch,), optional
            How many of the L tokens each sequence gets: the last ones, so that what is before them is padding on the
            left. All unless said.
        """
        batch, heads, _, columns = len(self.lengths), *self.key.shape[1:]
        length = key.shape[2] if key.dim() == 4 else 0
        for name, x, last in (("key", key, columns), ("value", value, self.value.shape[3])):
            if tuple(x.shape) != (batch, heads, length, last):
                raise ValueError(
                    f"KeyValueCache: {name} must have shape ({batch}, {heads}, L, {last}), with one L for both, got "
                    f"{tuple(x.shape)}"
                )
            if x.dtype != self.key.dtype:
                raise TypeError(f"KeyValueCache: {name} must be {self.key.dtype}, as the cache is, got {x.dtype}")
            if torch.is_grad_enabled() and x.requires_grad:
                raise ValueError(f"KeyValueCache: {name} must not need a gradient (torch.no_grad), got one that does")
        new = self._counts(counts, length)
        self.table, before = self._with_room(new), self.lengths
        behind = torch.arange(length) - (length - new)[:, None]
        member, column = (behind >= 0).nonzero(as_tuple=True)
        token, page_size = (before[:, None] + behind)[member, column], self.key.shape[2]
        at = self.table[member, token // page_size].long(), token % page_size, member, column
        page, row, own, taken = (x.to(self.key.device) for x in at)
        self.key[page, :, row] = key.detach()[own, :, taken]
        self.value[page, :, row] = value.detach()[own, :, taken]
        if self._bounds is not None:
            self._bound(self._bounds, at[0], (before + new)[member] - token + token % page_size)
        self.lengths = before + new

    def attend(
        self,
        query: torch.Tensor,
        *,
        bias: torch.Tensor | None = None,
        scale: Parameter | None = None,
        alpha: Parameter = 1.5,
        window: Window = None,
        sinks: int = 0,
    ) -> torch.Tensor:
        """Attention of the last tokens of each sequence to those that are not after them.

        It is what `scaled_dot_product_attention` computes for these queries with is_causal, from all tokens of the
        sequence. Values of tokens without weight are not read. Where a gradient is asked for it is that function, after
        the pages were copied into rows; on a GPU also for float32 and float64, for keys or values with more than 256
        columns or a number that is not a multiple of 8, for an infinite alpha, and for more than 64 queries of a head of
        keys. With other pages and lengths at each call, calls on a GPU are not for a CUDA graph.

        Parameters
        ----------
        query : Tensor, shape (batch, H, L, columns)
            Of the last L tokens of each sequence, in the type of the cache, also under autocast; heads divides H. One that
            is before the first token of its sequence, which is padding on the left, has the output 0.
        bias : Tensor, optional
            Broadcasts to (batch, H, L, S), where no sequence is longer than S, and is added to the scores.
        scale, alpha, window, sinks
            Those of `scaled_dot_product_attention`.

        Returns
        -------
        Tensor
            (batch, H, L, value_columns).
        """
        sides = sides_of(window, True, sinks)
        tensors = tuple(x for x in (query, bias, scale, alpha) if isinstance(x, torch.Tensor))
        if is_differentiated(tensors) or not self._has_kernel(query, alpha):
            return attend(self._attention(query, bias, scale, alpha, window, sinks)[0])
        self._check_query(query, bias)
        alphas, alpha = per_head(alpha, query.shape[1], query.device, "alpha")
        scale = 1 / math.sqrt(query.shape[3]) if scale is None else scale
        scales, scale = per_head(scale, query.shape[1], query.device, "scale")
        left = 2**63 - 1 if sides.left is None else sides.left
        if bias is not None:
            bias = bias[(None,) * (4 - bias.dim())]
        return ops.cached_attention(
            query,
            self.key,
            self.value,
            self.table,
            self.lengths,
            bias,
            self._bounds,
            alphas,
            scales,
            alpha,
            scale,
            left,
            sinks,
        )

    def seen(self, count: int, window: Window = None, sinks: int = 0) -> torch.Tensor:
        """How many tokens each of the last `count` queries of a sequence sees, (batch, count), on the CPU."""
        if count < 0:
            raise ValueError(f"KeyValueCache: count must not be negative, got {count}")
        return counts_of(self._ranges(count, window, sinks).flatten(0, 1), sinks, None).unflatten(0, (-1, count))

    def attention_weights(
        self,
        query: torch.Tensor,
        *,
        bias: torch.Tensor | None = None,
        scale: Parameter | None = None,
        alpha: Parameter = 1.5,
        window: Window = None,
        sinks: int = 0,
    ) -> torch.Tensor:
        """The weights of `attend` that are not 0: (batch, H, L, S), where S is the length of the longest sequence, a
        sparse tensor as that of `fenchel.torch.attention_weights`."""
        return sparse_weights(*self._attention(query, bias, scale, alpha, window, sinks))

    def attend_with_weights(self, query: torch.Tensor, **options: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """`attend` with its options, and all weights, (batch, H, L, S)."""
        given = {"bias": None, "scale": None, "alpha": 1.5, "window": None, "sinks": 0} | options
        return dense_weights(self._attention(query, **given)[0])

    @torch.no_grad()
    def select(self, index: torch.Tensor) -> None:
        """Sequence b goes on as sequence index[b], as the beams of a search do. Copies share the pages that are full; of
        the last one each has its own.

        Parameters
        ----------
        index : Tensor of integers, shape (batch,)
        """
        batch = len(self.lengths)
        index = _checked_integers("index", index, batch, batch - 1, f"[0, {batch})")
        table, lengths = self.table[index], self.lengths[index]
        last, open_pages, copies = lengths // self.key.shape[2], set(), []
        for b in (lengths % self.key.shape[2] > 0).nonzero().flatten().tolist():
            page = int(table[b, last[b]])
            if page in open_pages:
                copies.append((b, page))
            open_pages.add(page)
        free = self._free(table, lengths)
        self._check_free(len(copies), free)
        for (b, page), own in zip(copies, free):
            self.key[own], self.value[own], table[b, last[b]] = self.key[page], self.value[page], own
            if self._bounds is not None:
                self._bounds[own] = self._bounds[page]
        self.table, self.lengths = table, lengths

    def clear(self, members: torch.Tensor | None = None) -> None:
        """Sequences begin anew, without a token: those where members, (batch,) of bool, is True; all unless said."""
        gone = torch.ones(len(self.lengths), dtype=torch.bool) if members is None else members.cpu()
        if gone.dtype != torch.bool or gone.shape != self.lengths.shape:
            raise ValueError(
                f"KeyValueCache: members must be of bool and shape {tuple(self.lengths.shape)}, got {gone.dtype} and "
                f"{tuple(gone.shape)}"
            )
        self.table = self.table.masked_fill(gone[:, None], 0)
        self.lengths = self.lengths.masked_fill(gone, 0)

    def _bound(self, bounds: torch.Tensor, pages: torch.Tensor, tokens: torch.Tensor) -> None:
        """Those of some pages anew, each of which has so many tokens, or is full."""
        touched, place = pages.unique(return_inverse=True)
        count = touched.new_zeros(len(touched))
        count[place] = tokens
        absent = (torch.arange(self.key.shape[2]) >= count[:, None])[:, None, :, None].to(self.key.device)
        touched = touched.to(self.key.device)
        key = self.key[touched]
        sides = key.masked_fill(absent, math.inf).amin(2), key.masked_fill(absent, -math.inf).amax(2)
        bounds[touched] = torch.stack(sides, 2)

    def _counts(self, counts: torch.Tensor | None, length: int) -> torch.Tensor:
        if counts is None:
            return torch.full_like(self.lengths, length)
        return _checked_integers("counts", counts, len(self.lengths), length, f"[0, {length}]")

    def _with_room(self, new: torch.Tensor) -> torch.Tensor:
        """The table, with pages for so many more tokens of each sequence."""
        total = self.lengths + new
        if bool((total > self._capacity).any()):
            b = int(total.argmax())
            raise ValueError(
                f"KeyValueCache: a sequence must have at most {self._capacity} tokens, got {int(total[b])} for sequence {b}"
            )
        missing = self._has(total) & ~self._has(self.lengths)
        count, table = int(missing.sum()), self.table.clone()
        if count > 0:
            free = self._free(self.table, self.lengths)
            self._check_free(count, free)
            table[missing] = free[:count].int()
        return table

    def _has(self, lengths: torch.Tensor) -> torch.Tensor:
        """Which entries of the table such sequences have."""
        return torch.arange(self.table.shape[1]) < (-(-lengths // self.key.shape[2]))[:, None]

    def _free(self, table: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """The pages that no sequence has."""
        users = torch.bincount(table[self._has(lengths)], minlength=len(self.key))
        return (users == 0).nonzero().flatten()

    def _check_free(self, count: int, free: torch.Tensor) -> None:
        if count > len(free):
            raise ValueError(f"KeyValueCache: {count} more of the {len(self.key)} pages are needed, got {len(free)} free")

    def _has_kernel(self, query: torch.Tensor, alpha: Parameter) -> bool:
        if not query.is_cuda:
            return True
        sharing = query.shape[1] // self.key.shape[1] * query.shape[2] if query.dim() == 4 else 0
        return (
            ON_GPU
            and query.dtype in HALF
            and sharing <= MOST_SHARING
            and (isinstance(alpha, torch.Tensor) or alpha < math.inf)
            and all(x.shape[3] % 8 == 0 and x.shape[3] <= MOST_COLUMNS for x in (self.key, self.value))
        )

    def _check_query(self, query: torch.Tensor, bias: torch.Tensor | None) -> None:
        batch, columns = len(self.lengths), self.key.shape[3]
        heads = self.key.shape[1]
        if query.dim() != 4 or query.shape[0] != batch or query.shape[1] % heads != 0 or query.shape[3] != columns:
            raise ValueError(
                f"KeyValueCache: query must have shape ({batch}, H, L, {columns}), where {heads} divides H, got "
                f"{tuple(query.shape)}"
            )
        if query.dtype != self.key.dtype:
            raise TypeError(f"KeyValueCache: query must be {self.key.dtype}, as the cache is, got {query.dtype}")
        if bias is None:
            return
        if bias.dtype not in REAL:
            raise TypeError(f"KeyValueCache: bias must be float64, float32, bfloat16 or float16, got {bias.dtype}")
        longest, shape = int(self.lengths.max()) if knows(self.lengths) else 0, tuple(bias.shape)
        if not broadcasts(bias.shape[:-1], query.shape[:3]) or shape[-1:] not in ((), (1,)) and shape[-1] < longest:
            raise ValueError(
                f"KeyValueCache: bias must broadcast to ({', '.join(map(str, query.shape[:3]))}, S), where S is at least "
                f"{longest}, got shape {shape}"
            )

    def _attention(
        self,
        query: torch.Tensor,
        bias: torch.Tensor | None,
        scale: Parameter | None,
        alpha: Parameter,
        window: Window,
        sinks: int,
    ) -> tuple[Attention, Any]:
        """The same as attention over rows of keys."""
        self._check_query(query, bias)
        longest, page_size = int(self.lengths.max()), self.key.shape[2]
        table = self.table[:, : -(-longest // page_size)].long().to(self.key.device)
        key, value = (x[table].transpose(1, 2).flatten(2, 3)[:, :, :longest] for x in (self.key, self.value))
        if bool((self.lengths < longest).any()):
            # What other tokens left behind a sequence may be NaN, and would be multiplied by a weight of 0.
            behind = (torch.arange(longest) >= self.lengths[:, None])[:, None, :, None].to(key.device)
            key, value = (x.masked_fill(behind, 0) for x in (key, value))
        if bias is not None and bias.dim() > 0 and bias.shape[-1] > 1:
            bias = bias[..., :longest]
        with without_autocast(query):
            x, batch = attention_of(query, key, value, bias, 0.0, False, scale, True, alpha)
        ranges = self._ranges(query.shape[2], window, sinks).to(query.device)
        return x._replace(ranges=ranges, sinks=min(sinks, FAR)), batch

    def _ranges(self, count: int, window: Window, sinks: int) -> torch.Tensor:
        """(batch, count, 3), of the last `count` tokens."""
        place = self.lengths[:, None] - count + torch.arange(count)
        end = self.lengths[:, None].expand_as(place)
        return windows_of(sides_of(window, True, sinks), torch.zeros_like(place), end, place).contiguous()


def _check_size(name: str, size: int) -> None:
    if isinstance(size, bool) or not isinstance(size, int):
        raise TypeError(f"KeyValueCache: {name} must be an integer, got {size!r}")
    if size < 1:
        raise ValueError(f"KeyValueCache: {name} must be at least 1, got {size}")


def _checked_integers(name: str, x: torch.Tensor, count: int, last: int, interval: str) -> torch.Tensor:
    """On the CPU: so many of them from 0 to the last, which is the interval."""
    if x.is_floating_point() or x.is_complex() or x.dtype == torch.bool:
        raise TypeError(f"KeyValueCache: {name} must be integers, got {x.dtype}")
    numbers = x.to("cpu", torch.int64)
    if tuple(numbers.shape) != (count,) or bool(((numbers < 0) | (numbers > last)).any()):
        raise ValueError(f"KeyValueCache: {name} must be {count} numbers in {interval}, got {numbers.tolist()}")
    return numbers
