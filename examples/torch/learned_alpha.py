"""What shape has a window? Two sensors take a mean of a curve around a place: one through a broad bell, one through an
almost even window that ends. Attention with a learned alpha for each head finds the two shapes from their readings,
wherever it begins, and reads better than with any alpha that is fixed for both.

    python learned_alpha.py [--picture FILE]
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import torch
from torch import nn

from fenchel.torch import GaussianBasis
from fenchel.torch.nn import ContinuousAttention

SENSORS = torch.tensor([1.2, 4.0])
WIDTHS = torch.tensor([0.06, 0.1])
LENGTH = 64


class Model(nn.Module):
    """A head for each sensor: the weights of frames fall with the distance from a place, so that the density has the
    standard deviation `width` whatever its alpha, which is free to change the shape alone."""

    def __init__(self, alpha: torch.Tensor, learned: bool, width: torch.Tensor) -> None:
        super().__init__()
        basis = GaussianBasis.linearly_spaced(32, sigma=0.03)
        self.attention = ContinuousAttention(basis, "continuous", alpha, learned, ridge=1e-3)
        self.log_width = nn.Parameter(width.log())

    def forward(self, curves: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        t = (torch.arange(LENGTH) + 0.5) / LENGTH
        scores = -((t - place[:, None, None]) / self.log_width.exp()[:, None]).square() / 2
        return self.attention(curves, scores)[0].squeeze(-1)


def make_readings(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Curves (count, LENGTH, 1), places (count,) and what the two sensors read there, (count, 2)."""
    random = torch.Generator().manual_seed(seed)
    curves = torch.randn(count, LENGTH, 1, generator=random)
    place = 0.3 + 0.4 * torch.rand(count, generator=random)
    with torch.no_grad():
        return curves, place, Model(SENSORS, False, WIDTHS)(curves, place)


class Result(NamedTuple):
    alphas: list[float]
    error: float
    """The root of the mean squared error on new readings, as a part of their standard deviation."""
    path: list[list[float]]
    """The alphas after each step."""


def train(alpha: float, learned: bool, steps: int = 150) -> Result:
    torch.manual_seed(0)
    known, new = make_readings(100, 1), make_readings(100, 2)
    model, path = Model(torch.full((2,), alpha), learned, torch.tensor([0.08, 0.08])), []
    optimizer = torch.optim.Adam(model.parameters(), 0.2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        optimizer.zero_grad()
        (model(*known[:2]) - known[2]).square().mean().backward()
        optimizer.step()
        scheduler.step()
        path.append(model.attention.alpha.tolist())
    with torch.no_grad():
        error = (model(*new[:2]) - new[2]).square().mean().sqrt() / new[2].std()
    return Result(path[-1], error.item(), path)


def draw(results: list[Result], file: str) -> None:
    """The alphas of both heads on their way."""
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(5, 2.6), layout="constrained")
    for result in results:
        for head, alphas in enumerate(zip(*result.path)):
            panel.plot(alphas, color=f"C{head}")
    for head, alpha in enumerate(SENSORS.tolist()):
        panel.axhline(alpha, color=f"C{head}", linestyle=":", label=f"sensor {head + 1}: alpha = {alpha:.3g}")
    panel.set_xlabel("step")
    panel.set_ylabel("alpha")
    panel.legend(fontsize=8)
    figure.savefig(file, dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description="A learned alpha finds the shape of a window.")
    parser.add_argument("--picture", metavar="FILE", help="draw the way of the alphas")
    arguments = parser.parse_args()
    print("alpha          learned     error")
    learned = []
    for alpha in (1.05, 6.0):
        learned.append(train(alpha, True))
        first, second = learned[-1].alphas
        print(f"from {alpha:4.2f}   {first:5.2f} {second:5.2f} {learned[-1].error:9.4f}")
    for alpha in (1.0, 1.5, 2.0, 4.0):
        print(f"fixed {alpha:4.2f}              {train(alpha, False).error:8.4f}")
    if arguments.picture:
        draw(learned, arguments.picture)


if __name__ == "__main__":
    main()
