"""How long does a geyser erupt after a wait of that long? Sometimes briefly, sometimes for long: not one number, and
not one bell. A network gives a score to every pair of x and y, and the density of y given x is the prediction for that
score. For alpha > 1 it says what cannot happen.

    python conditional_density.py [--data FOLDER] [--picture FILE]

FOLDER holds geyser.csv (waiting, duration) and mcycle.csv (times, accel), the data sets of R's package MASS. Without it
the data are two branches that are made up.
"""

from __future__ import annotations

import argparse
import pathlib
from typing import NamedTuple

import torch
from torch import nn

from fenchel import Interval
from fenchel.torch import NumericDensity, predict

RANGE = Interval(-0.1, 1.1)
"""Of y, after its data have been brought to [0, 1]."""


class Data(NamedTuple):
    """Columns x and y, both brought to [0, 1], and their names."""

    x: torch.Tensor
    y: torch.Tensor
    names: tuple[str, str]


def make_data(names: tuple[str, str], columns: torch.Tensor) -> Data:
    low, high = columns.amin(0), columns.amax(0)
    x, y = ((columns - low) / (high - low)).unbind(1)
    return Data(x, y, names)


def read(file: pathlib.Path, names: tuple[str, str]) -> Data:
    head, *lines = file.read_text().split()
    assert tuple(head.replace('"', "").split(",")) == names, f"{file} must have the columns {names}, has {head}"
    return make_data(names, torch.tensor([[float(x) for x in line.split(",")] for line in lines]))


def fork(count: int = 200) -> Data:
    """Two branches that part."""
    random = torch.Generator().manual_seed(1)
    x, side = torch.rand(count, generator=random), 2 * torch.randint(2, (count,), generator=random) - 1
    return make_data(("x", "y"), torch.stack([x, side * x + 0.1 * torch.randn(count, generator=random)], 1))


class Model(nn.Module):
    """f(x, y), a network: the densities of y for a batch of x."""

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self.alpha = alpha
        self.score = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x: torch.Tensor, nodes: int = 128) -> NumericDensity:
        def f(y: torch.Tensor) -> torch.Tensor:
            y = y.expand(len(x), -1)
            pairs = torch.stack([x[:, None].expand_as(y), y], -1)
            return 10 * self.score(4 * pairs - 2).squeeze(-1)

        return predict(f, self.alpha, RANGE, nodes)


class Result(NamedTuple):
    """On pairs that the model has not seen."""

    crps: float
    """The continuous ranked probability score, the integral of (cdf - step at y)^2."""
    covered: float
    """How many of them lie in the support."""
    length: float
    """How much of the range the support takes, in the mean."""


def evaluate(p: NumericDensity, y: torch.Tensor) -> Result:
    step = (p.points >= y[:, None]).to(p.probs)
    crps = (p.cdf(p.points[:, None]).T - step).square() @ p.weights
    length = (p.active_support() * p.weights).sum(-1) / p.weights.sum()
    return Result(crps.mean().item(), (p.log_prob(y) > -torch.inf).double().mean().item(), length.mean().item())


def train(data: Data, alpha: float, steps: int = 300) -> tuple[Model, Result]:
    """One pair in four is kept for the result."""
    torch.manual_seed(0)
    model = Model(alpha)
    held = torch.arange(len(data.x)) % 4 == 3
    optimizer = torch.optim.AdamW(model.parameters(), 5e-3, weight_decay=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        optimizer.zero_grad()
        model(data.x[~held]).cross_omega(data.y[~held]).mean().backward()
        optimizer.step()
        scheduler.step()
    with torch.no_grad():
        return model, evaluate(model(data.x[held], 512), data.y[held])


def draw(learned: list[tuple[Data, Model]], file: str) -> None:
    """The densities along x, the edges of their supports, and the data."""
    import matplotlib.pyplot as plt

    rows = len(learned) // 2
    figure, panels = plt.subplots(rows, 2, figsize=(7, 2.7 * rows), layout="constrained", squeeze=False)
    x = torch.linspace(0, 1, 120)
    for panel, (data, model) in zip(panels.flat, learned):
        with torch.no_grad():
            p = model(x, 256)
            density = p.probs / p.weights
        panel.contourf(x, p.points, density.T.sqrt(), 9, cmap="Blues")
        if model.alpha > 1:
            panel.contour(x, p.points, p.active_support().T, [0.5], colors="C1", linewidths=1)
        panel.plot(data.x, data.y, ".k", markersize=2)
        panel.set_title(f"alpha = {model.alpha:g}", fontsize=9)
        panel.set_xlabel(data.names[0])
        panel.set_ylabel(data.names[1])
        panel.set_xticks([])
        panel.set_yticks([])
    figure.savefig(file, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description="The density of y given x, by a network.")
    parser.add_argument("--data", metavar="FOLDER", type=pathlib.Path, help="where geyser.csv and mcycle.csv are")
    parser.add_argument("--picture", metavar="FILE", help="draw the densities")
    arguments = parser.parse_args()
    sets = {"fork": fork()}
    if arguments.data:
        sets = {
            "geyser": read(arguments.data / "geyser.csv", ("waiting", "duration")),
            "mcycle": read(arguments.data / "mcycle.csv", ("times", "accel")),
        }
    print("data    alpha    crps  covered  length of the support")
    learned = []
    for name, data in sets.items():
        for alpha in (1.0, 1.5, 2.0):
            model, result = train(data, alpha)
            print(f"{name:7} {alpha:5.1f} {result.crps:7.4f} {result.covered:8.2f} {result.length:22.2f}")
            if alpha < 2:
                learned.append((data, model))
    if arguments.picture:
        draw(learned, arguments.picture)


if __name__ == "__main__":
    main()
