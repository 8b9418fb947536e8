"""The paper's audio model, many at once: a convolution, attention over time, an output layer."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from fenchel.torch import GaussianBasis, match_weights
from fenchel.torch.nn import Attended, ContinuousAttention, Entmax

from .. import ensemble
from .authors import AuthorsAttention

KINDS = ("discrete", "continuous", "both", "mean", "discrete + mean", "discrete twice")
SCALES = ("matched", "variance")


@dataclass(frozen=True)
class Pooling:
    """How the frames of a clip become one vector: what a row of the table says.

    Every row has the same parameters, but for a learned alpha.
    """

    kind: str
    """Which contexts are added: of the weights, of the density that they become, the mean of all frames."""
    alpha: float = 1.0
    """Of the density, or of the weights where there is no density. Weights that become a density are softmax's."""
    learned: bool = False
    """Whether alpha is learned, one for each model, from the value given."""
    components: int = 1
    """Of the density, by five steps of EM where there are several."""
    scale: str = "matched"
    """sigma2: so that the density has the variance of the weights, or that variance itself."""
    positions: str = "centres"
    floor: float | None = None
    authors: bool = False
    """Whether values become a function as in the program of the paper's authors."""

    def __post_init__(self) -> None:
        for name, value, known in (("kind", self.kind, KINDS), ("scale", self.scale, SCALES)):
            if value not in known:
                raise ValueError(f"Pooling: {name} must be one of {', '.join(known)}, got {value!r}")


@dataclass(frozen=True)
class Size:
    """The paper's numbers."""

    filters: int = 128
    window: int = 5
    dropout: float = 0.15
    pool: int = 3
    functions: int = 128
    ridge: float = 0.1


class AudioModel(nn.Module):
    """A convolution over `window` frames, the largest of each `pool` frames, ReLU, dropout; additive attention; an output
    layer.

    frames are (models, clips, longest, channels), 0 beyond lengths (models, clips); the result is (models, clips,
    classes).
    """

    def __init__(self, models: int, channels: int, classes: int, pooling: Pooling, size: Size = Size()) -> None:
        super().__init__()
        self.pooling, self.size = pooling, size
        self.convolution = ensemble.Linear(models, channels * size.window, size.filters)
        self.keys = ensemble.Linear(models, size.filters, size.filters)
        self.query = ensemble.Linear(models, size.filters, 1, bias=False)
        self.output = ensemble.Linear(models, size.filters, classes)
        apart = pooling.scale == "variance"
        self.attention = _attention(models, "discrete" if apart else pooling.kind, pooling, size)
        self.unmatched = _attention(models, "continuous", pooling, size) if apart else None

    def encode(self, frames: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """What attention reads, (models, clips, longest / pool, filters), and how much of it there is."""
        half = self.size.window // 2
        windows = nn.functional.pad(frames, (0, 0, half, half)).unfold(2, self.size.window, 1).flatten(-2)
        filtered = self.convolution(windows)
        pooled = filtered.shape[2] // self.size.pool
        largest = filtered[:, :, : pooled * self.size.pool].unflatten(2, (pooled, self.size.pool)).max(3).values
        hidden = nn.functional.dropout(largest.relu(), self.size.dropout, self.training)
        return hidden, (lengths // self.size.pool).clamp(min=1)

    def attend(self, hidden: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, Attended | None]:
        """The context of each clip, and what was looked at."""
        if self.pooling.kind == "mean":
            return _mean(hidden, lengths), None
        scores = self.query(self.keys(hidden).tanh()).squeeze(-1)
        context, attended = self.attention(hidden, scores, lengths=lengths)
        if self.pooling.kind == "discrete + mean":
            context = context + _mean(hidden, lengths)
        elif self.pooling.kind == "discrete twice":
            context = 2 * context
        elif self.unmatched is not None:
            # At alpha = 1 the scale of the score is the variance.
            density = match_weights(1.0, attended.weights, lengths=lengths)
            seen, attended = self.unmatched(hidden, density=density, lengths=lengths)
            context = context + seen if self.pooling.kind == "both" else seen
        return context, attended

    def forward(self, frames: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, Attended | None]:
        context, attended = self.attend(*self.encode(frames, lengths))
        return self.output(context), attended


def _attention(models: int, kind: str, pooling: Pooling, size: Size) -> ContinuousAttention:
    if kind not in ("continuous", "both"):
        kind = "discrete"
    alpha = torch.full((models, 1), pooling.alpha) if pooling.learned else pooling.alpha
    weights: nn.Module | None = None
    if kind == "discrete" and pooling.learned:
        weights = Entmax(torch.full((models, 1, 1), pooling.alpha), learned=True)
    elif kind == "discrete" and pooling.alpha != 1 and pooling.scale == "matched":
        weights = Entmax(pooling.alpha)
    make = AuthorsAttention if pooling.authors else ContinuousAttention
    return make(
        GaussianBasis.linearly_spaced(size.functions),
        kind,
        1.0 if kind == "discrete" else alpha,
        learned_alpha=kind != "discrete" and pooling.learned,
        weights=weights,
        ridge=size.ridge,
        positions=pooling.positions,
        floor=pooling.floor,
        components=pooling.components,
        iterations=5,
    )


def _mean(hidden: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Over the frames that a clip has."""
    inside = torch.arange(hidden.shape[2], device=hidden.device) < lengths[..., None]
    return (hidden * inside[..., None]).sum(2) / lengths[..., None]
