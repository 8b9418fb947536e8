"""Layers of many models at once: every parameter has a leading dimension, with an entry for each model.

The models share nothing. They are trained side by side because one of them leaves a GPU idle: fifty take little longer.
A model starts from its own seed, so that it starts alike in any company.
"""

from __future__ import annotations

import math

import torch
from torch import nn


class Layer(nn.Module):
    """A layer whose parameters `initialise` draws."""

    def draw(self, model: int, random: torch.Generator) -> None:
        """The first parameters of one model."""
        raise NotImplementedError


def initialise(module: nn.Module, seeds: list[int]) -> None:
    """The first parameters of all layers, in their order, from one generator for each model."""
    for model, seed in enumerate(seeds):
        random = torch.Generator().manual_seed(seed)
        for layer in module.modules():
            if isinstance(layer, Layer):
                layer.draw(model, random)


def _draw_uniform(parameter: torch.Tensor, model: int, bound: float, random: torch.Generator) -> None:
    with torch.no_grad():
        parameter[model] = torch.empty(parameter.shape[1:]).uniform_(-bound, bound, generator=random)


def _repeated(parameter: torch.Tensor, parts: int) -> torch.Tensor:
    """Of each model as often as it has parts."""
    return parameter if parts == 1 else parameter.unsqueeze(1).expand(-1, parts, -1, -1).flatten(0, 1)


class Linear(Layer):
    """x W + b, for x of shape (models, ..., inputs), from the numbers that torch.nn.Linear starts with."""

    def __init__(self, models: int, inputs: int, outputs: int, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(models, inputs, outputs))
        self.bias = nn.Parameter(torch.empty(models, 1, outputs)) if bias else None

    def draw(self, model: int, random: torch.Generator) -> None:
        bound = 1 / math.sqrt(self.weight.shape[1])
        _draw_uniform(self.weight, model, bound, random)
        if self.bias is not None:
            _draw_uniform(self.bias, model, bound, random)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # Few models are cut into several parts of their examples: a gradient of one product keeps few processors busy.
        models, examples, parts = x.shape[0], x.shape[1] if x.dim() > 3 else 1, 1
        while models * parts < 50 and examples % (2 * parts) == 0:
            parts *= 2
        flat = x.reshape(models * parts, -1, x.shape[-1])
        weight = _repeated(self.weight, parts)
        if self.bias is None:
            y = flat @ weight
        else:
            y = torch.baddbmm(_repeated(self.bias, parts), flat, weight)
        return y.reshape(*x.shape[:-1], y.shape[-1])


class LayerNorm(Layer):
    """Layer normalisation along the last dimension of (models, ..., size)."""

    def __init__(self, models: int, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(models, size))
        self.bias = nn.Parameter(torch.empty(models, size))

    def draw(self, model: int, random: torch.Generator) -> None:
        with torch.no_grad():
            self.weight[model] = 1
            self.bias[model] = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shape = (x.shape[0], *(1,) * (x.dim() - 2), x.shape[-1])
        y = nn.functional.layer_norm(x, x.shape[-1:])
        return torch.addcmul(self.bias.view(shape), y, self.weight.view(shape))


class Embedding(Layer):
    """A vector for each symbol: (models, ...) of int to (models, ..., size)."""

    def __init__(self, models: int, symbols: int, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(models, symbols, size))

    def draw(self, model: int, random: torch.Generator) -> None:
        with torch.no_grad():
            self.weight[model] = torch.empty(self.weight.shape[1:]).normal_(generator=random)

    def forward(self, symbols: torch.Tensor) -> torch.Tensor:
        # A product, since the gradient of a look-up is a sum in no fixed order on a GPU.
        hot = nn.functional.one_hot(symbols, self.weight.shape[1]).to(self.weight.dtype)
        return (hot.flatten(1, -2) @ self.weight).unflatten(1, symbols.shape[1:])
