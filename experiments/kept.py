"""Parameters of a trained model out of an ensemble, in a small file of half precision."""

from __future__ import annotations

import pathlib

import torch
from torch import nn


def save(file: pathlib.Path, model: nn.Module, which: int = 0) -> None:
    """Model number `which` of the ensemble."""
    file.parent.mkdir(parents=True, exist_ok=True)
    torch.save({name: p.detach()[which].half().cpu() for name, p in model.named_parameters()}, file)


def load(file: pathlib.Path, model: nn.Module) -> None:
    """Into an ensemble of one."""
    state = torch.load(file, weights_only=True)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if name not in state or state[name].shape != p.shape[1:]:
                found = tuple(state[name].shape) if name in state else "none"
                raise ValueError(f"{file}: {name} must have shape {tuple(p.shape[1:])}, got {found}")
            p[0] = state[name].float()
