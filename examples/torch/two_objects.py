"""What is the mean colour of two discs that lie in the noise of an image? Attention with one bell must look at what
lies between them as well. Here a network gives a score at every point of the map, and the density of that score has as
many pieces as there are objects.

    python two_objects.py [--device cuda] [--picture FILE]
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import torch
from torch import nn

from fenchel.torch import Box, MultivariateGaussianBasis, NumericDensity, predict
from fenchel.torch.nn import ContinuousAttention

SIDE, COLOURS, CHANNELS, RADIUS = 16, 2, 4, 0.13
MAP = Box([0, 0], [1, 1])


class Images(NamedTuple):
    pixels: torch.Tensor
    """(count, COLOURS + CHANNELS, SIDE, SIDE): smooth colours, and noise that is three times as loud in the discs."""
    colour: torch.Tensor
    """(count, COLOURS): the mean over both discs, what is asked for."""
    inside: torch.Tensor
    """(count, SIDE, SIDE): whether a pixel lies in a disc."""

    def to(self, device: str) -> Images:
        return Images(*(x.to(device) for x in self))


def centres(side: int = SIDE) -> torch.Tensor:
    """(side, side, 2): where the pixels lie in the unit square, x and y."""
    t = (torch.arange(side) + 0.5) / side
    y, x = torch.meshgrid(t, t, indexing="ij")
    return torch.stack([x, y], -1)


def make_images(count: int, seed: int) -> Images:
    """The discs lie on opposite sides of a place near the middle, and do not touch."""
    random = torch.Generator().manual_seed(seed)
    middle = 0.45 + 0.1 * torch.rand(count, 2, generator=random)
    angle = torch.pi * torch.rand(count, generator=random)
    half = (0.22 + 0.08 * torch.rand(count, 1, generator=random)) * torch.stack([angle.cos(), angle.sin()], -1)
    discs = torch.stack([middle - half, middle + half], 1)[:, :, None, None]
    inside = ((centres() - discs).square().sum(-1) <= RADIUS**2).any(1)
    wave = 4 * torch.randn(count, COLOURS, 1, 1, 2, generator=random)
    colours = torch.sin((centres() * wave).sum(-1) + 6 * torch.rand(count, COLOURS, 1, 1, generator=random))
    noise = torch.randn(count, CHANNELS, SIDE, SIDE, generator=random) * (1 + 2 * inside[:, None])
    mean = (colours * inside[:, None]).sum((2, 3)) / inside.sum((1, 2))[:, None]
    return Images(torch.cat([colours, noise], 1), mean, inside)


def between_pixels(image: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
    """(count, n, channels): an image (count, channels, SIDE, SIDE) at points (n, 2) or (count, n, 2), linear between
    the centres of pixels."""
    grid = (2 * points - 1).expand(len(image), -1, 2).unsqueeze(1)
    values = nn.functional.grid_sample(image, grid, padding_mode="border", align_corners=False)
    return values.squeeze(2).mT


class Model(nn.Module):
    """The loudness around a pixel is its score, the colours are its value."""

    def __init__(self, kind: str, alpha: float = 2.0) -> None:
        super().__init__()
        self.kind, self.alpha = kind, alpha
        self.score = nn.Sequential(nn.Conv2d(CHANNELS, 8, 5, padding=2), nn.Tanh(), nn.Conv2d(8, 1, 1))
        basis = MultivariateGaussianBasis.unit_square(6, 6, 0.02 * torch.eye(2))
        self.one_bell = ContinuousAttention(basis, "continuous", alpha, ridge=0.01)

    def forward(self, pixels: torch.Tensor) -> tuple[torch.Tensor, NumericDensity]:
        """The colours, and the densities of the maps."""
        colours, noise = pixels.split([COLOURS, CHANNELS], 1)
        scores = self.score(noise.square().log1p())
        if self.kind == "one bell":
            context, attended = self.one_bell(colours.movedim(1, -1), scores.squeeze(1))
            return context, attended.density()
        # A density that lives on a tenth of the map is 10 in the mean: scores must rise as much.
        p = predict(
            lambda t: 10 * between_pixels(scores, t).squeeze(-1), self.alpha, MAP, 2 * SIDE, device=pixels.device
        )
        return p.expectation(between_pixels(colours, p.points)), p


class Result(NamedTuple):
    """On images that the model has not seen."""

    unexplained: float
    """The mean squared error of the colour, as a part of its variance."""
    overlap: float
    """Of the support and the discs, as a part of their union: 1 where they are the same."""


def supports(density: torch.distributions.Distribution, side: int = SIDE) -> torch.Tensor:
    """(count, side, side): whether the density is above 0 at a pixel."""
    points = centres(side).flatten(0, 1)[:, None].to(density.mean.device)
    return (density.log_prob(points) > -torch.inf).T.unflatten(-1, (side, side))


def train(kind: str, epochs: int = 8, count: int = 400, device: str = "cpu") -> tuple[Model, Result]:
    torch.manual_seed(0)
    known, new = make_images(count, 1).to(device), make_images(200, 2).to(device)
    model = Model(kind).to(device)
    optimizer = torch.optim.Adam(model.parameters(), 2e-2)
    for _ in range(epochs):
        for batch in torch.randperm(count, device=device).split(40):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(known.pixels[batch])[0], known.colour[batch]).backward()
            optimizer.step()
    with torch.no_grad():
        colour, density = model(new.pixels)
        support = supports(density)
    return model, Result(
        (nn.functional.mse_loss(colour, new.colour) / new.colour.var()).item(),
        ((support & new.inside).sum((1, 2)) / (support | new.inside).sum((1, 2))).mean().item(),
    )


def draw(models: dict[str, Model], file: str) -> None:
    """Images, the edges of the discs, and those of the supports."""
    import matplotlib.pyplot as plt

    images = make_images(4, 5)
    figure, panels = plt.subplots(1, 4, figsize=(8, 2.4), layout="constrained")
    where = dict(extent=(0, 1, 0, 1), origin="lower")
    colours = {"one bell": "C0", "any score": "C1"}
    with torch.no_grad():
        seen = {kind: supports(model.cpu()(images.pixels)[1], 100) for kind, model in models.items()}
    for i, panel in enumerate(panels):
        panel.imshow(images.pixels[i, COLOURS:].square().mean(0).sqrt(), cmap="Greys", **where)
        panel.contour(images.inside[i], [0.5], colors="C2", **where)
        for kind, support in seen.items():
            panel.contour(support[i], [0.5], colors=colours[kind], **where)
        panel.set_xticks([])
        panel.set_yticks([])
    lines = [plt.Line2D([], [], color=c) for c in ("C2", *colours.values())]
    figure.legend(lines, ["discs", *colours], loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    figure.savefig(file, dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description="Attention finds two objects in an image.")
    parser.add_argument("--device", default="cpu", help="where to train: cpu or cuda")
    parser.add_argument("--picture", metavar="FILE", help="draw what both kinds of attention look at")
    arguments = parser.parse_args()
    print("density      error  overlap of support and discs")
    models = {}
    for kind in ("one bell", "any score"):
        models[kind], result = train(kind, device=arguments.device)
        print(f"{kind:10} {result.unexplained:7.3f} {result.overlap:29.2f}")
    if arguments.picture:
        draw(models, arguments.picture)


if __name__ == "__main__":
    main()
