"""What colour does an image have where a shape lies in its noise? A model that is told nothing but the colour learns to
look at the shape, and the ellipse that its density lives on says where it looked.

    python shape.py [--device cuda] [--picture FILE]
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import torch
from torch import nn

from fenchel.torch import MultivariateGaussianBasis
from fenchel.torch.nn import Attended, ContinuousAttention

SIDE, COLOURS, CHANNELS = 14, 2, 4


class Images(NamedTuple):
    pixels: torch.Tensor
    """(count, SIDE, SIDE, COLOURS + CHANNELS): smooth colours, and noise that is three times as loud in the shape."""
    colour: torch.Tensor
    """(count, COLOURS): the mean over the shape, what is asked for."""
    inside: torch.Tensor
    """(count, SIDE, SIDE): whether a pixel lies in the shape."""

    def to(self, device: str) -> Images:
        return Images(*(x.to(device) for x in self))


def centres() -> torch.Tensor:
    """(SIDE, SIDE, 2): where the pixels lie in the unit square, x and y."""
    t = (torch.arange(SIDE) + 0.5) / SIDE
    y, x = torch.meshgrid(t, t, indexing="ij")
    return torch.stack([x, y], -1)


def make_images(count: int, seed: int) -> Images:
    """The shape is an ellipse: any centre, any direction, half axes of 0.12 to 0.3."""
    random = torch.Generator().manual_seed(seed)
    middle = 0.25 + 0.5 * torch.rand(count, 1, 1, 2, generator=random)
    axes = 0.12 + 0.18 * torch.rand(count, 1, 1, 2, generator=random)
    angle = torch.pi * torch.rand(count, 1, 1, generator=random)
    x, y = (centres() - middle).unbind(-1)
    turned = torch.stack([angle.cos() * x + angle.sin() * y, angle.cos() * y - angle.sin() * x], -1)
    inside = (turned / axes).square().sum(-1) <= 1
    wave = 4 * torch.randn(count, 1, 1, COLOURS, 2, generator=random)
    colours = torch.sin((centres()[:, :, None] * wave).sum(-1) + 6 * torch.rand(count, 1, 1, COLOURS, generator=random))
    noise = torch.randn(count, SIDE, SIDE, CHANNELS, generator=random) * (1 + 2 * inside[..., None])
    mean = (colours * inside[..., None]).sum((1, 2)) / inside.sum((1, 2))[:, None]
    return Images(torch.cat([colours, noise], -1), mean, inside)


class Model(nn.Module):
    """The loudness around a pixel is its score, the colours are its value."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.score = nn.Sequential(nn.Conv2d(CHANNELS, 8, 5, padding=2), nn.Tanh(), nn.Conv2d(8, 1, 1))
        basis = MultivariateGaussianBasis.unit_square(6, 6, 0.02 * torch.eye(2))
        self.attention = ContinuousAttention(basis, kind, ridge=0.01)

    def forward(self, pixels: torch.Tensor) -> tuple[torch.Tensor, Attended]:
        colours, noise = pixels.split([COLOURS, CHANNELS], -1)
        scores = self.score(noise.square().log1p().movedim(-1, 1)).squeeze(1)
        return self.attention(colours, scores)


class Result(NamedTuple):
    """On images that the model has not seen."""

    unexplained: float
    """The mean squared error of the colour, as a part of its variance."""
    mass: float
    """The part of the weights that lies in the shape."""
    overlap: float
    """Of the support and the shape, as a part of their union: 1 where they are the same."""


def supports(attended: Attended) -> torch.Tensor:
    """(count, SIDE, SIDE): whether attention is above 0 at a pixel."""
    if attended.mu is None:
        return attended.weights > 0
    pixels = centres().flatten(0, 1)[:, None].to(attended.mu.device)
    return (attended.density().log_prob(pixels) > -torch.inf).T.unflatten(-1, (SIDE, SIDE))


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
        colour, attended = model(new.pixels)
    support = supports(attended)
    return model, Result(
        (nn.functional.mse_loss(colour, new.colour) / new.colour.var()).item(),
        (attended.weights * new.inside).sum((1, 2)).mean().item(),
        ((support & new.inside).sum((1, 2)) / (support | new.inside).sum((1, 2))).mean().item(),
    )


def draw(model: Model, file: str) -> None:
    """Images, the edge of the shape, and the edge of the density's ellipse."""
    import matplotlib.pyplot as plt

    images = make_images(4, 5)
    with torch.no_grad():
        _, attended = model.cpu()(images.pixels)
    fine = torch.stack(torch.meshgrid(*2 * [torch.linspace(0, 1, 200)], indexing="xy"), -1)
    seen = attended.density().log_prob(fine[:, :, None]) > -torch.inf
    figure, panels = plt.subplots(1, 4, figsize=(8, 2.2), layout="constrained")
    where = dict(extent=(0, 1, 0, 1), origin="lower")
    for i, panel in enumerate(panels):
        panel.imshow(images.pixels[i, ..., COLOURS:].square().mean(-1).sqrt(), cmap="Greys", **where)
        panel.contour(images.inside[i], [0.5], colors="C2", **where)
        panel.contour(seen[..., i], [0.5], colors="C1", **where)
        panel.set_xticks([])
        panel.set_yticks([])
    figure.savefig(file, dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description="Attention finds a shape in an image.")
    parser.add_argument("--device", default="cpu", help="where to train: cpu or cuda")
    parser.add_argument("--picture", metavar="FILE", help="draw what continuous attention looks at")
    arguments = parser.parse_args()
    print("attention    error  weight in the shape  overlap of support and shape")
    for kind in ("discrete", "continuous"):
        model, result = train(kind, device=arguments.device)
        print(f"{kind:10} {result.unexplained:7.3f} {result.mass:20.2f} {result.overlap:29.2f}")
        if arguments.picture and kind == "continuous":
            draw(model, arguments.picture)


if __name__ == "__main__":
    main()
