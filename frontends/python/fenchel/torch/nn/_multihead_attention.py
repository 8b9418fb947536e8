"""Attention over keys with several heads: torch's module with the weights of entmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from .._cache import KeyValueCache
from .._dot_product_attention import attention_and_weights, scaled_dot_product_attention
from .._key_ranges import Window, sides_of
from .._rows import Parameter
from ._attention_masks import Masks, counts_of_padding, masks_of
from ._entmax import keep_parameter, show_parameter
from ._heads import check_heads, join_heads, split_heads
from ._learned_alpha import alpha_of_raw, raw_alpha_of

Positions = Callable[..., tuple[torch.Tensor, ...]]

OF_TORCH = {"in_proj_weight", "in_proj_bias", "q_proj_weight", "k_proj_weight", "v_proj_weight", "bias_k", "bias_v"}
OF_TORCH |= {"out_proj.weight", "out_proj.bias"}
"""The names in a state dict of torch's module."""


class MultiheadAttention(nn.MultiheadAttention):
    """`torch.nn.MultiheadAttention` with the weights of `entmax`, by `scaled_dot_product_attention`.

    The constructor, the call, the parameters and their names are torch's, and state dicts of torch's module load: what
    they lack, such as a learned alpha, stays as it is. For alpha = 1 the outputs are torch's, with two differences. A
    query that sees no key has the weights 0 and the output of out_proj at 0, where torch's has NaN if it needs weights.
    And is_causal means the same with and without weights, and needs no attn_mask.

    Parameters
    ----------
    embed_dim, num_heads, dropout, bias, add_bias_kv, add_zero_attn, kdim, vdim, batch_first, device, dtype
        Those of torch. dropout is below 1.
    alpha : float, Tensor or "learned"
        At least 1. A tensor is of shape () or (num_heads,); an nn.Parameter is trained with the module, without bounds.
        "learned" is one alpha of each head, 1 + softplus(raw_alpha), that begins at 1.5.
    num_kv_heads : int, optional
        Heads of keys and values, a divisor of num_heads: each serves as many heads of queries in a row; num_heads unless
        said.
    scale : float or Module, optional
        Of the scores: 1 / sqrt(head_dim) unless said. A module such as `EntmaxAttentionScale` gets the number of keys
        that each query sees, which broadcasts to (batch, num_heads, L), and returns the scales.
    positions : callable, optional
        Is called with query, (batch, num_heads, L, head_dim), and key, (batch, num_kv_heads, S, head_dim), and returns
        the two that are multiplied instead. It may return a third tensor, which broadcasts to (batch, num_heads, L, S)
        and is added to the scores. Keys of add_bias_kv and add_zero_attn have no position. With a cache it gets the new
        tokens, and as a third argument the place of the first of them in its sequence, (batch,); its third tensor
        broadcasts to (batch, num_heads, L, S), where no sequence is longer than S.
    window, sinks
        Those of `scaled_dot_product_attention`. Keys of add_bias_kv and add_zero_attn are in every window, and make a
        mask of it.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch.nn import MultiheadAttention
    >>> _ = torch.manual_seed(0)
    >>> attention = MultiheadAttention(32, 4, batch_first=True, alpha="learned")
    >>> x = 4 * torch.randn(2, 10, 32)
    >>> output, weights = attention(x, x, x, average_attn_weights=False)
    >>> output.shape, weights.shape
    (torch.Size([2, 10, 32]), torch.Size([2, 4, 10, 10]))
    >>> bool((weights == 0).float().mean() > 0.5)
    True
    """

    _alpha: Parameter

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: torch.dtype | None = None,
        *,
        alpha: Parameter | str = 1.5,
        num_kv_heads: int | None = None,
        scale: float | nn.Module | None = None,
        positions: Positions | None = None,
        window: Window = None,
        sinks: int = 0,
    ) -> None:
        check_heads("MultiheadAttention", embed_dim, num_heads)
        groups = num_heads if num_kv_heads is None else num_kv_heads
        if groups < 1 or num_heads % groups != 0:
            raise ValueError(f"MultiheadAttention: num_kv_heads must divide num_heads, {num_heads}, got {groups}")
        super().__init__(
            embed_dim, num_heads, dropout, bias, add_bias_kv, add_zero_attn, kdim, vdim, batch_first, device, dtype
        )
        self.num_kv_heads = groups
        if groups != num_heads:
            self._group(groups * self.head_dim)
        # Layers of torch that see True here compute their attention without this module.
        self._qkv_same_embed_dim = False
        self.scale, self.positions = scale, positions
        sides_of(window, False, sinks)
        self.window, self.sinks = window, sinks
        if not isinstance(alpha, str):
            keep_parameter(self, "_alpha", alpha)
        elif alpha == "learned":
            raw = raw_alpha_of("MultiheadAttention", torch.full((num_heads,), 1.5))
            self.raw_alpha = nn.Parameter(raw.to(dtype or torch.get_default_dtype()))
        else:
            raise ValueError(f'MultiheadAttention: alpha must be a number, a tensor or "learned", got {alpha!r}')
        self.to(self.out_proj.weight.device)

    def _group(self, size: int) -> None:
        """Keys and values of so many features."""
        rows = {"in_proj_weight": self.embed_dim + 2 * size, "k_proj_weight": size, "v_proj_weight": size}
        for name, count in rows.items():
            weight = getattr(self, name)
            if weight is not None:
                setattr(self, name, nn.Parameter(weight.new_empty(count, weight.shape[1])))
        if self.in_proj_bias is not None:
            self.in_proj_bias = nn.Parameter(self.in_proj_bias.new_empty(self.embed_dim + 2 * size))
        if self.bias_k is not None and self.bias_v is not None:
            self.bias_k, self.bias_v = (nn.Parameter(x.new_empty(1, 1, size)) for x in (self.bias_k, self.bias_v))
        self._reset_parameters()

    @property
    def alpha(self) -> Parameter:
        """The alpha in use. A learned one is a float64 tensor."""
        return alpha_of_raw(self.raw_alpha) if hasattr(self, "raw_alpha") else self._alpha

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        key_padding_mask: torch.Tensor | None = None,
        need_weights: bool = True,
        attn_mask: torch.Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
        *,
        cache: KeyValueCache | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """The outputs of queries, and their weights.

        Parameters
        ----------
        query, key, value : Tensor
            (L, batch, embed_dim), (S, batch, kdim) and (S, batch, vdim); with batch_first the batch is first; or
            without a batch.
        key_padding_mask : Tensor, shape (batch, S), or (S,) without a batch, optional
            Of bool: True where a key is padding. Of numbers: added to the scores.
        need_weights : bool
            Whether weights are returned. They are a matrix for each head, which is not made otherwise.
        attn_mask : Tensor, shape (L, S) or (batch * num_heads, L, S), optional
            Of bool: True where a query does not see a key. Of numbers: added to the scores.
        average_attn_weights : bool
            Whether weights are averaged over heads.
        is_causal : bool
            Query i sees keys j <= i alone, and those of add_bias_kv and add_zero_attn, which torch hides where it
            needs no weights. attn_mask, which torch asks for, is taken to say the same, and is not read.
        cache : KeyValueCache, optional
            Of num_kv_heads heads and head_dim columns. query, key and value are the next tokens of its sequences. Their
            keys and values are appended to it, and each token sees itself and those before it. key_padding_mask, of
            bool, says which of them are padding, on the left. There is no dropout, and there are no gradients.

        Returns
        -------
        output : Tensor
            Of the shape of query.
        weights : Tensor or None
            (batch, L, S), or (batch, num_heads, L, S) if they are not averaged; without a batch if there is none. With
            a cache S is the length of the longest sequence.
            Those of a training have passed the dropout, as in torch.
        """
        is_batched = query.dim() == 3
        shapes = tuple(tuple(x.shape) for x in (query, key, value))
        if query.dim() not in (2, 3) or not query.dim() == key.dim() == value.dim():
            raise ValueError(f"MultiheadAttention: query, key and value must have 2 or 3 dimensions each, got {shapes}")
        if query.is_nested or key.is_nested or value.is_nested:
            raise ValueError("MultiheadAttention: query, key and value must not be nested, got a nested tensor")
        q, k, v = self._projected(query, key, value)
        if not is_batched:
            q, k, v = (x.unsqueeze(0) for x in (q, k, v))
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif not self.batch_first:
            q, k, v = (x.transpose(0, 1) for x in (q, k, v))
        sizes = len(q), self.num_heads, q.shape[1], k.shape[1]
        masks = masks_of(*sizes, key_padding_mask, attn_mask, is_causal, self.window, self.sinks)
        q, k, v = split_heads(q, self.num_heads), split_heads(k, self.num_kv_heads), split_heads(v, self.num_kv_heads)
        if cache is None:
            out, weights = self._attend(q, k, v, masks, need_weights)
        else:
            self._check_cached(sizes, attn_mask is not None and not is_causal)
            out, weights = self._attend_cached(q, k, v, counts_of_padding(key_padding_mask), cache, need_weights)
        if weights is not None and average_attn_weights:
            weights = weights.mean(1)
        output = self.out_proj(join_heads(out))
        if not is_batched:
            return output.squeeze(0), None if weights is None else weights.squeeze(0)
        return output if self.batch_first else output.transpose(0, 1), weights

    def _attend(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, masks: Masks, need_weights: bool
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """(batch, num_heads, L, head_dim), and the weights of all heads."""
        if self.positions is not None:
            q, k, *bias = self.positions(q, k)
            masks = masks.hide(*bias) if bias else masks
        k, v = self._appended(k, self.bias_k), self._appended(v, self.bias_v)
        masks = masks.append(k.shape[2] - masks.keys, k.device)
        q, scale = self._scaled(q, lambda: masks.lengths(q.device))
        is_grouped, dropout = self.num_kv_heads != self.num_heads, self.dropout if self.training else 0.0
        given = q, k, v, masks.attn_mask, dropout, masks.is_causal, scale, is_grouped
        if need_weights:
            return attention_and_weights(*given, self.alpha, window=masks.window, sinks=masks.sinks)
        return scaled_dot_product_attention(*given, alpha=self.alpha, window=masks.window, sinks=masks.sinks), None

    def _attend_cached(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        counts: torch.Tensor | None,
        cache: KeyValueCache,
        need_weights: bool,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Of new tokens, which the cache gets."""
        length, bias = q.shape[2], None
        start = cache.lengths - (0 if counts is None else length - counts.cpu())
        if self.positions is not None:
            q, k, *rest = self.positions(q, k, start.to(q.device))
            bias = rest[0] if rest else None
        cache.append(k, v, counts)
        q, scale = self._scaled(q, lambda: cache.seen(length, self.window, self.sinks).unsqueeze(1).to(q.device))
        options: Any = {"bias": bias, "scale": scale, "alpha": self.alpha, "window": self.window, "sinks": self.sinks}
        return cache.attend_with_weights(q, **options) if need_weights else (cache.attend(q, **options), None)

    def _check_cached(self, sizes: tuple[int, ...], has_mask: bool) -> None:
        wrong = {
            "attn_mask must be None": has_mask,
            "query and key must have the same tokens": sizes[2] != sizes[3],
            "dropout must be 0 or the module in evaluation": self.training and self.dropout > 0,
            "there must be no add_bias_kv and no add_zero_attn": self.bias_k is not None or self.add_zero_attn,
        }
        for said, is_so in wrong.items():
            if is_so:
                raise ValueError(f"MultiheadAttention: with a cache {said}")

    def _scaled(
        self, q: torch.Tensor, lengths: Callable[[], torch.Tensor]
    ) -> tuple[torch.Tensor, float | None]:
        """The queries, with a scale of their own in them, and the scale that is left."""
        if not isinstance(self.scale, nn.Module):
            return q, self.scale
        return q * self.scale(lengths()).unsqueeze(-1).to(q.dtype), 1.0

    def _projected(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Queries, keys and values of all heads; by one product where they are of one tensor."""
        linear, size = nn.functional.linear, self.num_kv_heads * self.head_dim
        sizes = [self.embed_dim, size, size]
        if self.in_proj_weight is None:
            weights: Any = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        elif query is key and key is value:
            return linear(query, self.in_proj_weight, self.in_proj_bias).split(sizes, -1)
        else:
            weights = self.in_proj_weight.split(sizes)
        biases: Any = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.split(sizes)
        return tuple(linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))

    def _appended(self, x: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        """Keys or values, and those of add_bias_kv and add_zero_attn behind them."""
        parts = [x]
        if bias is not None:
            parts.append(split_heads(bias.to(x.dtype), self.num_kv_heads).expand(len(x), -1, -1, -1))
        if self.add_zero_attn:
            parts.append(x.new_zeros(*x.shape[:2], 1, x.shape[3]))
        return torch.cat(parts, 2) if len(parts) > 1 else x

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        own = {prefix + name: x for name, x in self.state_dict().items() if name not in OF_TORCH}
        if not own.keys() & state_dict.keys():
            state_dict.update(own)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def extra_repr(self) -> str:
        groups = "" if self.num_kv_heads == self.num_heads else f", num_kv_heads={self.num_kv_heads}"
        learned = ", learned=True" if hasattr(self, "raw_alpha") else ""
        heads = f"embed_dim={self.embed_dim}, num_heads={self.num_heads}{groups}"
        window = "" if self.window is None else f", window={self.window}"
        sinks = f", sinks={self.sinks}" if self.sinks > 0 else ""
        return f"{heads}, alpha={show_parameter(self.alpha)}{learned}{window}{sinks}"
