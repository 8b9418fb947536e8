"""Attention within sequences of different lengths in a row."""

from __future__ import annotations

import torch

from ._dot_product_attention import attend_sequences
from ._key_ranges import Window
from ._rows import Parameter
from ._sequences import sequences_of


def varlen_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    cu_seqlens_q: torch.Tensor,
    cu_seqlens_k: torch.Tensor | None = None,
    *,
    is_causal: bool = False,
    window: Window = None,
    sinks: int = 0,
    scale: Parameter | None = None,
    enable_gqa: bool = False,
    dropout_p: float = 0.0,
    alpha: Parameter = 1.5,
) -> torch.Tensor:
    """`scaled_dot_product_attention` of each sequence of a packed batch, without padding.

    The tokens of all sequences stand one after the other, as those of torch.nn.attention.varlen and of flash attention.
    A query attends to the keys of its own sequence, and kernels skip the others.

    Parameters
    ----------
    query, key, value : Tensor
        (queries, H, E), (keys, H, E) and (keys, H, Ev), of all sequences together.
    cu_seqlens_q : Tensor of int32, shape (sequences + 1,)
        Where the queries of each sequence start: it begins with 0 and ends with the number of all queries. On a GPU and
        in compiled code the numbers are not looked at.
    cu_seqlens_k : Tensor of int32, shape (sequences + 1,), optional
        The same of keys and values; cu_seqlens_q unless said.
    is_causal, window, sinks
        Those of `scaled_dot_product_attention`, for each sequence: queries and keys are counted from its first ones,
        where flash attention counts from the last ones.
    scale, enable_gqa, dropout_p, alpha
        Those of `scaled_dot_product_attention`.

    Returns
    -------
    Tensor
        (queries, H, Ev). A query of a sequence without keys has the output 0.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import scaled_dot_product_attention, varlen_attention
    >>> _ = torch.manual_seed(0)
    >>> x = torch.randn(7, 2, 4)  # a sequence of 3 tokens and one of 4, with 2 heads
    >>> out = varlen_attention(x, x, x, torch.tensor([0, 3, 7], dtype=torch.int32), is_causal=True)
    >>> second = x[3:].transpose(0, 1)
    >>> alone = scaled_dot_product_attention(second, second, second, is_causal=True)
    >>> torch.allclose(out[3:].transpose(0, 1), alone)
    True
    """
    packed = sequences_of(query, key, value, cu_seqlens_q, cu_seqlens_k)
    return attend_sequences(packed, dropout_p, is_causal, scale, enable_gqa, alpha, window, sinks)
