"""A model of torch with sparse attention in place of its own."""

from __future__ import annotations

import copy

from torch import nn

from .._rows import Parameter
from ._multihead_attention import MultiheadAttention


def sparsify(model: nn.Module, alpha: Parameter | str = 1.5, *, scale: float | nn.Module | None = None) -> nn.Module:
    """Replaces every torch.nn.MultiheadAttention in a model by `MultiheadAttention`, in place, and returns the model.

    The weights are kept: the new modules have the parameters of the old ones, not copies, so that an optimizer that
    knows them goes on. Attention that stands in several places still does. What is learned besides, of alpha and scale,
    is new. For alpha = 1 without a scale the outputs are those of before, in training up to which weights dropout drops.

    Layers such as TransformerEncoderLayer have a fast path in evaluation that computes softmax without their attention
    module. It is not taken with the new modules. Nor does a TransformerEncoder make nested tensors, so that its outputs
    for padding are numbers as in training, and not 0. Hooks of the old modules are not kept, and classes that derive
    from torch.nn.MultiheadAttention are left alone.

    Parameters
    ----------
    model : Module
        A model that is itself a torch.nn.MultiheadAttention cannot change in place: the new module is returned.
    alpha : float, Tensor or "learned"
        As in `MultiheadAttention`.
    scale : float or Module, optional
        As in `MultiheadAttention`. Each attention has a copy of a module.

    Returns
    -------
    Module
        The model. An error if there was nothing to replace.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch.nn import sparsify
    >>> layer = torch.nn.TransformerEncoderLayer(32, 4, batch_first=True)
    >>> sparsify(layer, alpha=1.5).self_attn
    MultiheadAttention(
      embed_dim=32, num_heads=4, alpha=1.5
      (out_proj): NonDynamicallyQuantizableLinear(in_features=32, out_features=32, bias=True)
    )
    """
    made: dict[nn.Module, MultiheadAttention] = {}

    def sparse(old: nn.Module | None) -> nn.Module | None:
        if type(old) is not nn.MultiheadAttention:
            return old
        if old not in made:
            made[old] = _replacement(old, alpha, copy.deepcopy(scale))
        return made[old]

    for parent in list(model.modules()):
        for name, child in parent._modules.items():
            parent._modules[name] = sparse(child)
    result = sparse(model)
    if not made or result is None:
        raise ValueError("fenchel.torch.nn.sparsify: model must contain a torch.nn.MultiheadAttention, got none")
    for encoder in model.modules():
        if isinstance(encoder, nn.TransformerEncoder):
            encoder.use_nested_tensor = False
    return result


def _replacement(
    old: nn.MultiheadAttention, alpha: Parameter | str, scale: float | nn.Module | None
) -> MultiheadAttention:
    weight = old.out_proj.weight
    new = MultiheadAttention(
        old.embed_dim,
        old.num_heads,
        old.dropout,
        old.in_proj_bias is not None,
        old.bias_k is not None,
        old.add_zero_attn,
        old.kdim,
        old.vdim,
        old.batch_first,
        weight.device,
        weight.dtype,
        alpha=alpha,
        scale=scale,
    )
    for name, parameter in old.named_parameters(recurse=False):
        setattr(new, name, parameter)
    new.out_proj = old.out_proj
    return new.train(old.training)
