"""Attention with the weights of entmax for models of Hugging Face transformers.

`register` makes it an attention implementation, which a model is asked for by its name, and `set_alpha` sets alpha of a
model, also during a training. The guide is docs/transformers.md in the repository. Needs transformers 5.0.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from .._dot_product_attention import attention_and_weights, scaled_dot_product_attention
from .._rows import Parameter

NEEDS = 'fenchel.torch.integrations.transformers needs transformers 5.0 or later: pip install "transformers>=5.0"'

try:
    from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel, __version__
    from transformers.masking_utils import sdpa_mask
except ImportError as error:
    raise ImportError(NEEDS) from error
if int(__version__.partition(".")[0]) < 5:
    raise ImportError(f"{NEEDS}, got {__version__}")

__all__ = ["register", "set_alpha"]

WITHOUT_EFFECT = {
    "cache_position",
    "deterministic",
    "num_items_in_batch",
    "output_hidden_states",
    "output_router_logits",
    "position_ids",
    "return_dict",
    "seq_idx",
    "sliding_window",
    "token_type_ids",
    "use_cache",
}
"""Keywords that reach an attention function and that weights do not depend on: windows are in the mask."""


class _EntmaxAttention:
    """What transformers calls; alpha is that of modules that have none of their own."""

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha

    def __call__(
        self,
        module: nn.Module,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attention_mask: torch.Tensor | None,
        dropout: float = 0.0,
        scaling: Parameter | None = None,
        is_causal: bool | None = None,
        position_bias: torch.Tensor | None = None,
        output_attentions: bool | None = None,
        **others: Any,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """(batch, L, heads, Ev), and the weights of all heads where output_attentions asks for them."""
        unknown = sorted(name for name, x in others.items() if x is not None and name not in WITHOUT_EFFECT)
        if unknown:
            raise ValueError(
                f"fenchel.torch.integrations.transformers: {type(module).__name__} must not ask its attention for what "
                f"entmax does not have, got {', '.join(unknown)}"
            )
        causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
        # A query alone is the last one of its sequence, and a mask says itself what comes later.
        causal = causal and attention_mask is None and query.shape[2] > 1
        mask = attention_mask if position_bias is None else _added(position_bias, attention_mask)
        is_grouped = key.shape[1] != query.shape[1]
        given, alpha = (query, key, value, mask, dropout, causal, scaling, is_grouped), self._alpha_of(module)
        if output_attentions:
            out, weights = attention_and_weights(*given, alpha)
        else:
            out, weights = scaled_dot_product_attention(*given, alpha=alpha), None
        return out.transpose(1, 2).contiguous(), weights

    def _alpha_of(self, module: nn.Module) -> Parameter:
        alpha = getattr(module, "entmax_alpha", None)
        if alpha is None:
            alpha = getattr(getattr(module, "config", None), "entmax_alpha", None)
        return self.alpha if alpha is None else alpha


def _added(bias: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """What is added to the scores for a bias and a mask, of bool or of numbers."""
    if mask is None:
        return bias
    return torch.where(mask, bias, -torch.inf) if mask.dtype == torch.bool else bias + mask


def _checked(function: str, alpha: float) -> float:
    alpha = float(alpha)
    if not alpha >= 1:
        raise ValueError(f"fenchel.torch.integrations.transformers.{function}: alpha must be at least 1, got {alpha}")
    return alpha


def _is_ours(name: str | None) -> bool:
    return isinstance(AttentionInterface().get(name), _EntmaxAttention)


def register(alpha: float = 1.5, name: str = "entmax") -> None:
    """Adds attention with the weights of `entmax` to the implementations that models of transformers can have.

    A model has it by `attn_implementation="entmax"`, an argument of from_pretrained and from_config, or by
    model.set_attn_implementation("entmax"). Its weights, masks, caches and generation stay what they are. For alpha = 1
    its outputs are those of attn_implementation="eager", up to rounding, but for queries that see no key: their
    attention is 0.

    alpha of a module is its attribute entmax_alpha, a number or a tensor of shape (heads,), which may be learned; else
    entmax_alpha of its configuration, which `set_alpha` writes; else that of `register`.

    A keyword by which a model asks for weights that are not those of its scores and masks, as softcap, s_aux and
    indices, is a ValueError when the model is called.

    Parameters
    ----------
    alpha : float
        At least 1. Registering a name again changes the alpha of all models that have it and none of their own.
    name : str
        An identifier that is not the name of another implementation.

    Examples
    --------
    >>> from transformers import AutoModelForCausalLM, LlamaConfig
    >>> from fenchel.torch.integrations.transformers import register
    >>> register(alpha=1.5)
    >>> config = LlamaConfig(
    ...     vocab_size=16, hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=4
    ... )
    >>> model = AutoModelForCausalLM.from_config(config, attn_implementation="entmax")
    >>> model.config._attn_implementation
    'entmax'
    """
    alpha = _checked("register", alpha)
    if not name.isidentifier() or name == "eager" or name in AttentionInterface() and not _is_ours(name):
        raise ValueError(
            "fenchel.torch.integrations.transformers.register: name must be an identifier that is not the name of another "
            f"attention implementation, got {name!r}"
        )
    if any(part in name for part in ("flash", "sdpa", "flex_attention")):
        raise ValueError(
            "fenchel.torch.integrations.transformers.register: name must be without flash, sdpa and flex_attention, by "
            f"which transformers knows its own, got {name!r}"
        )
    AttentionInterface.register(name, _EntmaxAttention(alpha))
    AttentionMaskInterface.register(name, sdpa_mask)


def set_alpha(model: PreTrainedModel, alpha: float) -> None:
    """Sets alpha of a model that has an implementation of `register`, from its next call on.

    alpha is written into the configurations of the model and its parts, as entmax_alpha: save_pretrained stores it, and
    from_pretrained reads it. Modules that have an attribute entmax_alpha keep that.

    Parameters
    ----------
    model : PreTrainedModel
        An error if no part of it has an attention implementation of `register`, or if a part has one that transformers
        does not use there, since the attention of that class cannot be exchanged.
    alpha : float
        At least 1.

    Examples
    --------
    >>> from transformers import AutoModelForCausalLM, LlamaConfig
    >>> from fenchel.torch.integrations.transformers import register, set_alpha
    >>> register()
    >>> config = LlamaConfig(
    ...     vocab_size=16, hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=4
    ... )
    >>> model = AutoModelForCausalLM.from_config(config, attn_implementation="entmax")
    >>> set_alpha(model, 1.25)
    >>> model.config.entmax_alpha
    1.25
    """
    alpha = _checked("set_alpha", alpha)
    parts = [x for x in model.modules() if _is_ours(getattr(getattr(x, "config", None), "_attn_implementation", None))]
    if not parts:
        raise ValueError(
            "fenchel.torch.integrations.transformers.set_alpha: model must have an attention implementation of register, "
            f"got {model.config._attn_implementation!r}"
        )
    for part in parts:
        if isinstance(part, PreTrainedModel) and not part._can_set_attn_implementation():
            raise ValueError(
                "fenchel.torch.integrations.transformers.set_alpha: model must have attention that transformers can "
                f"exchange, but that of {type(part).__name__} is always its own"
            )
    for part in parts:
        config: Any = part.config
        config.entmax_alpha = alpha
