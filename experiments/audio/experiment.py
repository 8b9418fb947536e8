"""One row of the table: a model for each test fold and seed, all trained side by side, each tried on its own fold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from fenchel.torch import BetaGaussian
from fenchel.torch.nn import Attended

from .. import ensemble, training
from . import data
from .model import AudioModel, Pooling, Size

Runs = list[dict[str, object]]


@dataclass(frozen=True)
class Settings:
    """The paper's numbers, but for what `Size` has."""

    batch: int = 16
    epochs: int = 20
    rate: float = 1e-3
    weight_decay: float = 2e-6


class Protocol:
    """Cross-validation: which clips each model learns from, in which order, and which it is tried on.

    A model is of a test fold and a seed. Nothing is chosen by a test fold: the model of the last epoch is tried.
    """

    def __init__(self, clips: data.Clips, folds: list[int], seeds: list[int], settings: Settings) -> None:
        self.clips, self.settings = clips, settings
        self.pairs = [(fold, seed) for fold in folds for seed in seeds]
        device = clips.frames.device
        known = {fold: (clips.folds != fold).nonzero()[:, 0] for fold in folds}
        self.held_out = {fold: (clips.folds == fold).nonzero()[:, 0] for fold in folds}
        counts = [len(known[fold]) for fold, _ in self.pairs]
        orders = training.orders(counts, [seed for _, seed in self.pairs], settings.epochs, settings.batch)
        self.examples = torch.empty_like(orders, device=device)
        for i, (fold, _) in enumerate(self.pairs):
            self.examples[:, :, i] = known[fold][orders[:, :, i].to(device)]
        self.examples = self.examples.flatten(0, 1)
        sums, every, inside = data.statistics(clips), set(clips.folds.tolist()), clips.inside()[..., None]
        scalings = [data.scaling(clips, every - {fold}, sums) for fold in folds]
        self.scaled = torch.cat([(clips.frames - shift) * scale * inside for shift, scale in scalings])
        """The frames of all clips, for one test fold after the other: each has its own training set."""
        self.first = torch.tensor([folds.index(fold) for fold, _ in self.pairs], device=device)[:, None] * len(inside)
        self.classes = int(clips.classes.max()) + 1

    def frames(self, chosen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Scaled frames of the chosen clips, (models, batch), and their lengths."""
        return self.scaled[self.first + chosen], self.clips.lengths[chosen]


def train(
    protocol: Protocol,
    pooling: Pooling,
    size: Size = Size(),
    progress: Callable[[float], None] = lambda share: None,
) -> AudioModel:
    """Trained models, one for each pair of fold and seed."""
    settings, device = protocol.settings, protocol.examples.device
    torch.manual_seed(protocol.pairs[0][1])
    model = AudioModel(len(protocol.pairs), protocol.clips.frames.shape[-1], protocol.classes, pooling, size)
    ensemble.initialise(model, [seed for _, seed in protocol.pairs])
    model = model.to(device)

    def losses(chosen: torch.Tensor) -> torch.Tensor:
        scores, _ = model(*protocol.frames(chosen))
        target = protocol.clips.classes[chosen]
        return nn.functional.cross_entropy(scores.flatten(0, 1), target.flatten(), reduction="none").view_as(target).mean(-1)

    steps = len(protocol.examples)
    trainer = training.Trainer(
        model, losses, protocol.examples, torch.full((steps,), settings.rate), settings.weight_decay
    )
    for done in trainer.steps():
        if done % 50 == 0:
            progress(done / steps)
    return model.eval()


@torch.no_grad()
def measure(model: AudioModel, protocol: Protocol, batch: int = 64) -> Runs:
    """Of each model on its test fold: its accuracy, which part of a clip its attention sees, and its alpha if learned."""
    right = torch.zeros(len(protocol.pairs), device=protocol.examples.device)
    seen, count = right.clone(), right.clone()
    largest = max(map(len, protocol.held_out.values()))
    looks = False
    for begin in range(0, largest, batch):
        parts = [protocol.held_out[fold][begin : begin + batch] for fold, _ in protocol.pairs]
        there = torch.stack([torch.arange(batch, device=right.device) < len(part) for part in parts])
        chosen = torch.stack([nn.functional.pad(part, (0, batch - len(part))) for part in parts])
        scores, attended = model(*protocol.frames(chosen))
        right += ((scores.argmax(-1) == protocol.clips.classes[chosen]) & there).sum(-1)
        count += there.sum(-1)
        if attended is not None:
            looks = True
            lengths = protocol.clips.lengths[chosen] // model.size.pool
            seen += (support(attended, lengths.clamp(min=1)) * there).sum(-1)
    values = {"accuracy": right / count}
    if looks:
        values["support"] = seen / count
    if model.pooling.learned:
        attention = model.attention
        alpha = attention.weights.alpha if attention.kind == "discrete" else attention.alpha
        values["alpha"] = alpha.flatten()
    return [
        {"unit": fold, "seed": seed, "values": {name: float(value[i]) for name, value in values.items()}}
        for i, (fold, seed) in enumerate(protocol.pairs)
    ]


def support(attended: Attended, lengths: torch.Tensor) -> torch.Tensor:
    """Which part of a clip is looked at, by one density, by two, or by weights: 1 where a Gaussian looks at all of it."""
    if attended.mu is None:
        return (attended.weights > 0).sum(-1) / lengths
    density = attended.density()
    assert isinstance(density, BetaGaussian)
    lower, upper = (end.clamp(0, 1) for end in density.active_support())
    part = (upper - lower).clamp(min=0)
    if attended.modes is None:
        return part
    return part.sum(-1) - (upper.amin(-1) - lower.amax(-1)).clamp(min=0)
