"""Attention of queries to keys with the weights of entmax: torch's scaled dot products, and zeros that are exact."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.func import vjp as pull_back
from torch.nn import functional

from ._attention_arguments import Batch, attention_of, with_ranges
from ._attention_blocks import TENSORS, Attention, blocks, computed, kept, output, weights, whole, without_autocast
from ._differentiable import Places, Rule, Tensors, differentiable
from ._entmax import entmax_of_rows
from ._key_ranges import FAR, Window, ranges_of_sequences, sides_of
from ._library import ops, register_rows
from ._rows import HALF, Parameter
from ._sequences import Sequences, nested_like, nested_of

QUERY, KEY, VALUE, _, BIAS, ALPHAS, SCALES, _, _ = range(TENSORS)
REAL = (QUERY, KEY, VALUE, BIAS, ALPHAS, SCALES)
"""The tensors that have derivatives."""


SUPPORT_COLUMNS, KERNEL_COLUMNS = 130, 128
"""Of kernels on a GPU: how long the list of a query's keys is, and how many columns query, key and value may have."""


def _fake(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *rest: Any) -> Tensors:
    out = query.new_empty(*query.shape[:3], value.shape[3])
    records = query.new_empty(*query.shape[:3], 2, dtype=computed(query))
    support = (*query.shape[:3], SUPPORT_COLUMNS) if query.is_cuda else (0,)
    return out, records, query.new_empty(support, dtype=torch.int32)


def _fake_vjp(*args: Any) -> Tensors:
    x, wanted = args[:TENSORS], args[-5:]
    query = x[QUERY]
    there = (query, x[KEY], x[VALUE], x[ALPHAS], x[SCALES])
    shapes = (query.shape, x[KEY].shape, x[VALUE].shape, query.shape[:3], query.shape[:3])
    types = (query.dtype, x[KEY].dtype, x[VALUE].dtype, computed(query), computed(query))
    return tuple(
        query.new_empty(shape if is_wanted and tensor is not None else (0,), dtype=dtype)
        for tensor, shape, dtype, is_wanted in zip(there, shapes, types, wanted)
    )


ON_GPU = torch._C._dispatch_has_kernel_for_dispatch_key("fenchel::dot_product_attention", "CUDA")
register_rows("dot_product_attention", _fake, shared=tuple(range(TENSORS)))
register_rows("dot_product_attention_vjp", _fake_vjp, shared=tuple(range(TENSORS + 3)))


def _whole_matrix(*args: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """The output, and the weights after dropout, by functions that torch differentiates, as often as entmax."""
    given = Attention(*args)
    x = given.widened()
    place = whole(x)
    with without_autocast(given.query):
        p, factors = weights(x, place, entmax_of_rows), kept(x, place)
        seen = p if factors is None else p * factors
        return output(x, seen, None).to(given.query.dtype), seen.to(given.query.dtype)


def _of_tensors(x: Tensors, moving: tuple[int, ...], static: tuple[Any, ...]) -> Any:
    """The output as a function of the moving ones."""

    def of(*tensors: torch.Tensor) -> torch.Tensor:
        args = list(x)
        for place, tensor in zip(moving, tensors):
            args[place] = tensor
        return _whole_matrix(*args, *static)[0]

    return of


class _Attention(Rule):
    """x are the tensors of `Attention`, static its numbers. The outputs beside y are records of its forward pass.
    Forward mode and second derivatives compute the whole matrix of scores."""

    name = "dot_product_attention"
    count = TENSORS
    results = 3

    @staticmethod
    def vjp(x: Tensors, outputs: Tensors, grad: torch.Tensor, wanted: Places, static: tuple[Any, ...]) -> Tensors:
        asked = tuple(i in wanted for i in (QUERY, KEY, VALUE, ALPHAS, SCALES))
        if BIAS in wanted:
            return _in_order(*ops.dot_product_attention_blocks_vjp(*x, grad, *static, *asked, True))
        return _in_order(*ops.dot_product_attention_vjp(*x, *outputs[1:], grad, *static, *asked))

    @staticmethod
    def jvp(x: Tensors, outputs: Tensors, dx: Tensors, static: tuple[Any, ...]) -> torch.Tensor:
        moving = tuple(i for i in REAL if dx[i] is not None)
        f, at = _of_tensors(x, moving, static), tuple(x[i] for i in moving)

        def pulled(cotangent: torch.Tensor) -> Tensors:
            return pull_back(f, *at)[1](cotangent)

        # J^T is linear: its own transpose is J.
        return pull_back(pulled, torch.zeros_like(outputs[0]))[1](tuple(dx[i] for i in moving))[0]

    @staticmethod
    def hessian(
        x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        moving = tuple(i for i in REAL if i in wanted or dx[i] is not None)
        f, at = _of_tensors(x, moving, static), tuple(x[i] for i in moving)
        direction = tuple(torch.zeros_like(x[i]) if dx[i] is None else dx[i] for i in moving)
        products = dict(zip(moving, pull_back(lambda *t: pull_back(f, *t)[1](grad), *at)[1](direction)))
        return tuple(products.get(i) for i in range(TENSORS))


def _in_order(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    alphas: torch.Tensor,
    scales: torch.Tensor,
    bias: torch.Tensor | None = None,
) -> Tensors:
    """A gradient by the places of x: those for each query are summed over the queries of a head."""
    of_alphas, of_scales = (x.sum((0, 2), dtype=torch.float64) if x.dim() == 3 else x for x in (alphas, scales))
    return query, key, value, None, bias, of_alphas, of_scales, None, None


class _BlockAttention(_Attention):
    name = "dot_product_attention_blocks"

    @staticmethod
    def vjp(x: Tensors, outputs: Tensors, grad: torch.Tensor, wanted: Places, static: tuple[Any, ...]) -> Tensors:
        asked = tuple(i in wanted for i in (QUERY, KEY, VALUE, ALPHAS, SCALES, BIAS))
        return _in_order(*ops.dot_product_attention_blocks_vjp(*x, grad, *static, *asked))


_by_kernel, _by_blocks = differentiable(_Attention), differentiable(_BlockAttention)


def _has_kernel(x: Attention) -> bool:
    """Kernels have products of at least one number. Those on a GPU are for half types, and read 16 bytes at a time."""
    columns = (x.query.shape[-1], x.value.shape[-1])
    if not x.query.is_cuda:
        return columns[0] > 0
    return (
        ON_GPU
        and x.query.dtype in HALF
        and x.dropout == 0
        and x.alpha < math.inf
        and all(0 < c <= KERNEL_COLUMNS and c % 8 == 0 for c in columns)
    )


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: Parameter | None = None,
    enable_gqa: bool = False,
    *,
    alpha: Parameter = 1.5,
    window: Window = None,
    sinks: int = 0,
    documents: torch.Tensor | None = None,
) -> torch.Tensor:
    """Attention of each query to the keys: sum_j p_j value_j, for p = entmax_alpha of the scores.

    The scores are z_j = scale * <query, key_j> + attn_mask_j. It is torch's function of the same name with `entmax` in
    place of softmax: for alpha > 1 many weights are exactly 0, and nothing is approximated. The matrix of scores is
    never stored, neither in the forward nor in the backward pass. But forward mode and second derivatives make the
    whole matrix.

    Parameters
    ----------
    query, key, value : Tensor
        (..., L, E), (..., S, E) and (..., S, Ev). Leading dimensions broadcast, and the last of them are the heads. Or
        nested tensors of layout torch.jagged, (B, H, L, E) with L ragged, as torch's function takes them; then there is
        neither attn_mask nor documents.
    attn_mask : Tensor, optional
        Broadcasts to the scores, (..., L, S). Of bool: True where a key may be attended to. Of numbers: added to the
        scores, -inf is a mask, and it may need a gradient. A query without any key has the output 0, as in torch.
    dropout_p : float
        Below 1. Each weight is dropped with this probability, and the others grow by 1 / (1 - dropout_p). Unlike in a
        module this is so in evaluation too. Which ones are dropped follows from torch's default generator of the
        device.
    is_causal : bool
        Query i attends to keys j <= i alone, counted from the first ones. Beside an attn_mask, which torch refuses,
        both hold: a mask of keys that are padding, (B, 1, 1, S), needs no matrix.
    scale : float or Tensor, optional
        1 / sqrt(E) unless said. A tensor is of shape (), (H,) or (H, 1, 1) for H heads, and gets a gradient.
    enable_gqa : bool
        Heads of key and value may be fewer than those of query: each of them serves as many heads of query in a row.
    alpha : float or Tensor
        At least 1. The number 1 is torch's own function, where torch allows the arguments. A tensor is of shape (), (H,)
        or (H, 1, 1), and gets a gradient: heads can learn how sparse they are.
    window : int or pair (left, right), optional
        Query i attends to keys i - left <= j <= i + right alone, counted from the first ones as for is_causal, which
        makes right 0. None in the pair is a side without a bound, and a number stands for both sides. Kernels skip
        keys outside of the windows.
    sinks : int
        So many first keys, of the query's document, are seen in spite of the left side of a window.
    documents : Tensor of integers, shape (L,) or (B, L), optional
        Of which document each token is, for L = S. The numbers do not decrease along L; on a GPU and in
        compiled code they are not looked at. A query attends to its own document alone; padding, on the left or on the
        right, is a document of its own.

    Returns
    -------
    Tensor
        (..., L, Ev), of the type of the inputs. float16 and bfloat16 are computed in float32. Under autocast the inputs
        are in its type, as those of torch's function.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import scaled_dot_product_attention
    >>> query = torch.tensor([[1.0, 0.0]])
    >>> key = torch.tensor([[4.0, 0.0], [3.0, 1.0], [-2.0, 1.0]])
    >>> value = torch.tensor([[1.0], [2.0], [300.0]])
    >>> scaled_dot_product_attention(query, key, value)
    tensor([[1.2579]])
    >>> scaled_dot_product_attention(query, key, value, alpha=2.0)
    tensor([[1.1464]])
    """
    if query.is_nested or key.is_nested or value.is_nested:
        packed = nested_of(query, key, value, attn_mask, documents)
        ours = attend_sequences(packed, dropout_p, is_causal, scale, enable_gqa, alpha, window, sinks)
        return nested_like(query, ours)
    x, batch = attention_of(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, alpha)
    x = with_ranges(x, batch, window, sinks, documents)
    is_softmax = x.alphas is None and x.alpha == 1 and x.scales is None
    if is_softmax and x.ranges is None and not (x.causal and attn_mask is not None):
        if attn_mask is not None:
            attn_mask = torch.atleast_2d(attn_mask if x.bias is None else attn_mask.to(query.dtype))
        return functional.scaled_dot_product_attention(
            query, key, value, attn_mask, dropout_p, x.causal, scale=x.scale, enable_gqa=enable_gqa
        )
    out = attend(x)
    return out.reshape(*batch.leading, *out.shape[2:])


def attend(x: Attention) -> torch.Tensor:
    """(B, H, n, e)."""
    x = _with_seed(x)
    return (_by_kernel if _has_kernel(x) else _by_blocks)(*x)


def attend_sequences(
    of: Sequences,
    dropout_p: float,
    is_causal: bool,
    scale: Parameter | None,
    enable_gqa: bool,
    alpha: Parameter,
    window: Window,
    sinks: int,
) -> torch.Tensor:
    """(total, heads, Ev): sequences in a row are ranges of keys."""
    sides = sides_of(window, is_causal, sinks)
    query, key, value = (x.transpose(0, 1).unsqueeze(0) for x in (of.query, of.key, of.value))
    x, _ = attention_of(query, key, value, None, dropout_p, False, scale, enable_gqa, alpha)
    ranges = ranges_of_sequences(sides, query.shape[2], key.shape[2], of.query_starts, of.key_starts)
    return attend(x._replace(ranges=ranges, sinks=min(sinks, FAR))).squeeze(0).transpose(0, 1)


def _with_seed(x: Attention) -> Attention:
    """Which weights are dropped follows from torch's generator of the device."""
    return x if x.dropout == 0 else x._replace(seed=torch.randint(2**63 - 1, (1,), device=x.query.device))


def dense_weights(x: Attention) -> tuple[torch.Tensor, torch.Tensor]:
    """(B, H, n, e), and all weights after dropout, (B, H, n, m): both have gradients."""
    return _whole_matrix(*_with_seed(x))


def attention_and_weights(
    *given: Any, window: Window = None, sinks: int = 0, documents: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """`scaled_dot_product_attention` of what `attention_of` takes, and all of its weights, (..., L, S)."""
    x, batch = attention_of(*given)
    out, p = dense_weights(with_ranges(x, batch, window, sinks, documents))
    return out.reshape(*batch.leading, *out.shape[2:]), p.reshape(*batch.leading, *p.shape[2:])


@torch.no_grad()
def attention_weights(
    query: torch.Tensor,
    key: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    is_causal: bool = False,
    scale: Parameter | None = None,
    enable_gqa: bool = False,
    *,
    alpha: Parameter = 1.5,
    window: Window = None,
    sinks: int = 0,
    documents: torch.Tensor | None = None,
) -> torch.Tensor:
    """The weights of `scaled_dot_product_attention` that are not 0, for pictures and people.

    They are computed in blocks of queries, so that the memory is that of the weights and of some blocks. They have no
    gradient.

    Parameters
    ----------
    query, key, attn_mask, is_causal, scale, enable_gqa, alpha, window, sinks, documents
        Those of `scaled_dot_product_attention`.

    Returns
    -------
    Tensor
        (..., L, S), a sparse tensor in coordinate format, coalesced: batch, head, query and key of each weight. Exact
        zeros are absent. `to_dense()` has them.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import attention_weights
    >>> query = torch.tensor([[1.0, 0.0]])
    >>> key = torch.tensor([[4.0, 0.0], [3.0, 1.0], [-2.0, 1.0]])
    >>> p = attention_weights(query, key)
    >>> p.indices()[1]
    tensor([0, 1])
    >>> p.values()
    tensor([0.7421, 0.2579])
    """
    x, batch = attention_of(query, key, key, attn_mask, 0.0, is_causal, scale, enable_gqa, alpha)
    return sparse_weights(with_ranges(x, batch, window, sinks, documents), batch)


@torch.no_grad()
def sparse_weights(given: Attention, batch: Batch) -> torch.Tensor:
    """(..., L, S), in coordinate format, coalesced."""
    x, shape = given.widened(), (*batch.leading, given.query.shape[2], given.key.shape[2])
    indices, values = [], []
    with without_autocast(given.query):
        for place in blocks(x):
            p = weights(x.part(place), place).to(given.query.dtype)
            at = p.nonzero().unbind(-1)
            values.append(p[at])
            b, h, i, j = at[0] + place[0].start, at[1], at[2] + place[1].start, at[3] + place[2].start
            members = torch.unravel_index(b, batch.members)
            indices.append(torch.stack([*(members + (h,))[: len(batch.leading)], i, j]))
    if not values:
        indices, values = [torch.zeros(len(shape), 0, dtype=torch.int64)], [given.query.new_zeros(0)]
    found = torch.cat(indices, 1).to(given.query.device), torch.cat(values)
    return torch.sparse_coo_tensor(*found, shape, check_invariants=False).coalesce()
