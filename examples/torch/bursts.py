"""At what level was a slow curve while there was a burst in the noise beside it? A model that is told nothing but the
level learns to look at the burst, and the support of its density says from where to where it looked. Signals have
different lengths.

    python bursts.py [--device cuda] [--picture FILE]
"""

from __future__ import annotations

import argparse
import math
from typing import NamedTuple

import torch
from torch import nn

from fenchel.torch import GaussianBasis
from fenchel.torch.nn import Attended, ContinuousAttention

LONGEST, CHANNELS = 64, 6


class Signals(NamedTuple):
    frames: torch.Tensor
    """(count, LONGEST, 1 + CHANNELS): the curve, and noise that is three times as loud in the burst. NaN is padding."""
    lengths: torch.Tensor
    level: torch.Tensor
    """The mean of the curve over the burst: what is asked for."""
    burst: torch.Tensor
    """(count, 2): where it begins and ends, as parts of the length."""

    def positions(self) -> torch.Tensor:
        """Of the frames, as parts of the length."""
        return (torch.arange(LONGEST, device=self.lengths.device) + 0.5) / self.lengths[:, None]

    def to(self, device: str) -> Signals:
        return Signals(*(x.to(device) for x in self))

    def inside(self) -> torch.Tensor:
        """Whether a frame lies in the burst."""
        return (self.positions() >= self.burst[:, :1]) & (self.positions() <= self.burst[:, 1:])


def make_signals(count: int, seed: int) -> Signals:
    random = torch.Generator().manual_seed(seed)
    lengths = torch.randint(40, LONGEST + 1, (count,), generator=random)
    width = 0.15 + 0.25 * torch.rand(count, generator=random)
    begin = (1 - width) * torch.rand(count, generator=random)
    signals = Signals(torch.empty(0), lengths, torch.empty(0), torch.stack([begin, begin + width], -1))
    inside, t = signals.inside(), signals.positions()
    frequency = 8 * torch.randn(count, 1, 3, generator=random)
    phase = 2 * math.pi * torch.rand(count, 1, 3, generator=random)
    curve = torch.sin(frequency * t[..., None] + phase).sum(-1)
    noise = torch.randn(count, LONGEST, CHANNELS, generator=random) * (1 + 2 * inside[..., None])
    observed = curve + 0.3 * torch.randn(count, LONGEST, generator=random)
    frames = torch.cat([observed[..., None], noise], -1)
    frames[t > 1] = torch.nan
    return signals._replace(frames=frames, level=(curve * inside).sum(-1) / inside.sum(-1))


class Model(nn.Module):
    """The loudness around a frame is its score, the curve its value."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.score = nn.Sequential(nn.Conv1d(CHANNELS, 8, 9, padding=4), nn.Tanh(), nn.Conv1d(8, 1, 1))
        self.attention = ContinuousAttention(GaussianBasis.linearly_spaced(24, sigma=0.05), kind)
        self.level = nn.Linear(1, 1)
        nn.init.ones_(self.level.weight)

    def forward(self, frames: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, Attended]:
        curve, noise = frames[..., :1], frames[..., 1:].nan_to_num()
        scores = self.score(noise.square().log1p().mT).squeeze(-2)
        context, attended = self.attention(curve, scores, lengths=lengths)
        return self.level(context).squeeze(-1), attended


class Result(NamedTuple):
    """On signals that the model has not seen."""

    unexplained: float
    """The mean squared error of the level, as a part of its variance."""
    mass: float
    """The part of the weights that lies in the burst."""
    overlap: float
    """Of the support and the burst, as a part of their union: 1 where they are the same."""
    overlap95: float
    """Of the fewest frames that hold 95 % of the weights, and the frames of the burst."""


def supports(signals: Signals, attended: Attended) -> torch.Tensor:
    """Where attention is above 0, (count, 2)."""
    if attended.mu is None:
        seen = torch.where(attended.weights > 0, signals.positions(), torch.nan)
        half = 0.5 / signals.lengths
        return torch.stack([seen.nan_to_num(2).amin(-1) - half, seen.nan_to_num(-1).amax(-1) + half], -1)
    return torch.stack(attended.density().active_support(), -1)


def fewest_frames(weights: torch.Tensor, share: float = 0.95) -> torch.Tensor:
    """Whether a frame is one of the fewest that hold this share of the weights."""
    sorted_weights, frames = weights.sort(-1, descending=True)
    return torch.empty_like(weights, dtype=torch.bool).scatter(
        -1, frames, sorted_weights.cumsum(-1) - sorted_weights < share
    )


def train(kind: str, epochs: int = 10, count: int = 900, device: str = "cpu") -> tuple[Model, Result]:
    torch.manual_seed(0)
    known, new = make_signals(count, 1).to(device), make_signals(300, 2).to(device)
    model = Model(kind).to(device)
    optimizer = torch.optim.Adam(model.parameters(), 2e-2)
    for _ in range(epochs):
        for batch in torch.randperm(count, device=device).split(50):
            optimizer.zero_grad()
            level, _ = model(known.frames[batch], known.lengths[batch])
            nn.functional.mse_loss(level, known.level[batch]).backward()
            optimizer.step()
    with torch.no_grad():
        level, attended = model(new.frames, new.lengths)
    support = supports(new, attended)
    common = (torch.minimum(support, new.burst)[:, 1] - torch.maximum(support, new.burst)[:, 0]).clamp(min=0)
    both = support.diff(dim=-1)[:, 0] + new.burst.diff(dim=-1)[:, 0] - common
    fewest, inside = fewest_frames(attended.weights), new.inside()
    return model, Result(
        (nn.functional.mse_loss(level, new.level) / new.level.var()).item(),
        (attended.weights * inside).sum(-1).mean().item(),
        (common / both).mean().item(),
        ((fewest & inside).sum(-1) / (fewest | inside).sum(-1)).mean().item(),
    )


def draw(model: Model, file: str) -> None:
    """Two signals, the burst, and what continuous attention makes of the weights."""
    import matplotlib.pyplot as plt

    signals = make_signals(2, 12)
    with torch.no_grad():
        _, attended = model.cpu()(signals.frames, signals.lengths)
    at = torch.linspace(0, 1, 400)
    density = attended.density().log_prob(at[:, None]).exp()
    figure, panels = plt.subplots(2, 2, figsize=(8, 3.4), sharex=True, layout="constrained")
    for i, (above, below) in enumerate(panels.T):
        length = int(signals.lengths[i])
        t, frames = signals.positions()[i, :length], signals.frames[i, :length]
        above.plot(t, frames[:, 1:], color="0.7", linewidth=0.6, label=["noise", *["_"] * (CHANNELS - 1)])
        above.plot(t, frames[:, 0], color="C0", label="curve")
        below.bar(t, attended.weights[i, :length] * length, 1 / length, color="0.75", label="weights")
        below.fill_between(at, density[:, i], color="C1", alpha=0.4, label="density")
        for panel in (above, below):
            panel.axvspan(*signals.burst[i].tolist(), color="C2", alpha=0.15, label="burst")
            panel.set_yticks([])
        below.set_xlabel("position in the signal")
    panels[0, 0].legend(loc="upper right", fontsize=7)
    panels[1, 0].legend(loc="upper right", fontsize=7)
    figure.savefig(file, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description="Attention finds bursts in noise.")
    parser.add_argument("--device", default="cpu", help="where to train: cpu or cuda")
    parser.add_argument("--picture", metavar="FILE", help="draw what continuous attention looks at")
    arguments = parser.parse_args()
    print("                                                overlap of the burst with")
    print("attention    error  weight in the burst  support  frames of 95 % of the weight")
    for kind in ("discrete", "continuous", "both"):
        model, result = train(kind, device=arguments.device)
        print(f"{kind:10} {result.unexplained:7.3f} {result.mass:20.2f} {result.overlap:8.2f} {result.overlap95:29.2f}")
        if arguments.picture and kind == "continuous":
            draw(model, arguments.picture)


if __name__ == "__main__":
    main()
