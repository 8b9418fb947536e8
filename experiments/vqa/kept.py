"""Parameters of trained models, in small files: those of the first seed, in half precision."""

from __future__ import annotations

import pathlib

import torch

from . import experiment
from .model import Network, Pooling
from .questions import DataSet
from .rows import Settings


def file_of(folder: pathlib.Path, data: str, row: str) -> pathlib.Path:
    return folder / f"{data}-{row}.pt"


def save(folder: pathlib.Path, data: str, row: str, model: Network) -> None:
    """The first model of the ensemble."""
    folder.mkdir(parents=True, exist_ok=True)
    state = {name: p.detach()[0].half().cpu() for name, p in model.named_parameters()}
    torch.save(state, file_of(folder, data, row))


def load(folder: pathlib.Path, data: DataSet, row: str, pooling: Pooling, settings: Settings) -> Network:
    """The model that was saved, alone, on the CPU and ready to be asked."""
    model = experiment.network(data, pooling, settings, [0], torch.device("cpu"))
    state = torch.load(file_of(folder, data.name, row), weights_only=True)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p[0] = state[name].float()
    return model.eval()
