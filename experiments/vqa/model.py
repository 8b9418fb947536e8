"""A co-attention transformer as in the paper, at a size that fits, of many models at once.

Words go through layers of self-attention. The cells of the image go through layers of self-attention followed by
attention guided by the words. Each side is then reduced to one vector, and the sum of the two gives the answer. Words
are reduced under softmax attention, and cells under the attention that an experiment is about.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import nn

from fenchel.torch import MultivariateGaussianBasis
from fenchel.torch.nn import Attended, ContinuousAttention, FusedmaxGrid, Sparsemax

from ..ensemble import Embedding, LayerNorm, Linear

KINDS = ("discrete", "continuous", "mean", "none")
MAPS = ("softmax", "sparsemax", "tv")


@dataclass(frozen=True)
class Pooling:
    """How the cells of an image become one vector."""

    kind: str = "discrete"
    """Attention; or "mean", of all cells; or "none", without the image."""
    map: str = "softmax"
    """From scores to weights; for continuous attention those that it takes the moments of."""
    alpha: float = 1.0
    """Of the densities of continuous attention."""
    gamma: float = 0.01
    """Of the total variation of "tv"."""
    heads: int = 1
    """How many maps of scores there are, each with its own context."""
    components: int = 1
    """Of each density, by five steps of EM where there are several."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"Pooling: kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        if self.map not in MAPS:
            raise ValueError(f"Pooling: map must be one of {', '.join(MAPS)}, got {self.map!r}")

    @property
    def sparse(self) -> bool:
        """Whether it leaves out a part of the image altogether."""
        if self.kind == "continuous":
            return self.alpha > 1
        return self.kind == "mean" or self.map != "softmax"


@dataclass(frozen=True)
class Size:
    """Of the network; the paper has 512, 6 layers and 8 heads on 14 x 14 cells."""

    hidden: int = 64
    layers: int = 1
    heads: int = 4
    cells: int = 15
    """On a side of the image, a divisor of its pixels."""
    window: int = 3
    """How many pixels a cell sees beyond each of its edges, before its neighbours tell what they see."""
    dropout: float = 0.1
    basis: int = 10
    """How many functions the values have along a side of the image: 100 in all, as in the paper."""
    Sigma: float = 0.001
    """Of each of them, times the identity."""
    ridge: float = 0.1
    start: float = 1.0
    """How many times torch's the first weights of linear layers are; at sqrt(3) a layer keeps the size of its input."""


class Network(nn.Module):
    """Answers to questions about images, of `models` models.

    Parameters
    ----------
    models, symbols, longest, answers : int
        How many models, words of the vocabulary, words of a question, and answers there are.
    side : int
        Of the images, in pixels.
    """

    def __init__(
        self, models: int, symbols: int, longest: int, answers: int, side: int, pooling: Pooling, size: Size
    ) -> None:
        super().__init__()
        hidden = size.hidden
        self.word = Embedding(models, symbols, hidden)
        self.place = Embedding(models, longest, hidden)
        self.reading = nn.ModuleList(ReadingLayer(models, size) for _ in range(size.layers))
        self.word_score = Scores(models, hidden, 1, size.dropout)
        self.word_merge = Linear(models, hidden, 2 * hidden)
        self.pooling = pooling
        if pooling.kind != "none":
            self.cells = Cells(models, side, size)
            self.looking = nn.ModuleList(LookingLayer(models, size) for _ in range(size.layers))
            self.image_merge = Linear(models, hidden * pooling.heads, 2 * hidden)
        if pooling.kind in ("discrete", "continuous"):
            self.cell_score = Scores(models, hidden, pooling.heads, size.dropout)
            self.attention = attention(pooling, size)
        self.norm = LayerNorm(models, 2 * hidden)
        self.answer = Linear(models, 2 * hidden, answers)

    def forward(self, images: torch.Tensor, words: torch.Tensor) -> tuple[torch.Tensor, Attended | None]:
        """Scores of answers, (models, batch, answers), and what was attended to, (models, batch, heads, ...).

        Images are (models, images, 3, H, W), of uint8, and words (models, batch, T), where 0 is no word. There are as
        many questions about each image, those about the first image first.
        """
        nothing = torch.zeros(words.shape, device=words.device).masked_fill(words == 0, -math.inf)
        order = torch.arange(words.shape[-1], device=words.device).expand_as(words)
        y = self.word(words) + self.place(order)
        for layer in self.reading:
            y = layer(y, nothing)
        weights = torch.softmax(self.word_score(y)[..., 0] + nothing, -1)
        seen = self.word_merge((weights.unsqueeze(-2) @ y).squeeze(-2))
        if self.pooling.kind == "none":
            return self.answer(self.norm(seen)), None
        x = self.cells(images)
        for layer in self.looking:
            x = layer(x, y, nothing)
        context, attended = self._reduced(x)
        seen = seen + self.image_merge(context.flatten(-2))
        return self.answer(self.norm(seen)), attended

    def _reduced(self, x: torch.Tensor) -> tuple[torch.Tensor, Attended]:
        """The contexts of the heads, (models, batch, heads, hidden)."""
        side = math.isqrt(x.shape[-2])
        if self.pooling.kind == "mean":
            weights = x.new_full((*x.shape[:2], 1, side, side), side**-2)
            return x.mean(-2, keepdim=True), Attended(1.0, weights=weights)
        scores = self.cell_score(x).mT.unflatten(-1, (side, side))
        return self.attention(x.unflatten(-2, (side, side)), scores)


def attention(pooling: Pooling, size: Size) -> ContinuousAttention:
    """The library's layer for a row of the table."""
    basis = MultivariateGaussianBasis.unit_square(size.basis, size.basis, size.Sigma * torch.eye(2))
    maps = {"softmax": nn.Softmax(-1), "sparsemax": Sparsemax(-1), "tv": FusedmaxGrid(pooling.gamma)}
    return ContinuousAttention(
        basis,
        kind=pooling.kind,
        alpha=pooling.alpha,
        weights=maps[pooling.map],
        ridge=size.ridge,
        components=pooling.components,
        iterations=5,
    )


class Cells(nn.Module):
    """The cells of images, (models, batch, cells^2, hidden), row by row.

    A cell sees the pixels of a window around it, then what its eight neighbours found, and where it lies.
    """

    frequencies = 4

    def __init__(self, models: int, side: int, size: Size) -> None:
        super().__init__()
        if side % size.cells != 0:
            raise ValueError(f"Cells: cells must divide the side of the images, {side}, got {size.cells}")
        self.stride, self.window = side // size.cells, size.window
        self.pixels = Linear(models, 3 * (self.stride + 2 * size.window) ** 2, size.hidden)
        self.neighbours = Linear(models, 9 * size.hidden, size.hidden)
        self.place = Linear(models, 4 * self.frequencies, size.hidden)
        self.norm = LayerNorm(models, size.hidden)
        self.register_buffer("waves", waves(size.cells, self.frequencies), persistent=False)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        # White is 0, as what lies outside of the image.
        x = nn.functional.pad(1 - images.to(torch.float32) / 255, (self.window,) * 4)
        seen = self.stride + 2 * self.window
        x = x.unfold(3, seen, self.stride).unfold(4, seen, self.stride)
        x = torch.relu(self.pixels(x.movedim(2, 4).flatten(4)))
        height, width = x.shape[2:4]
        padded = nn.functional.pad(x, (0, 0, 1, 1, 1, 1))
        around = [padded[:, :, i : i + height, j : j + width] for i in range(3) for j in range(3)]
        x = torch.relu(self.neighbours(torch.cat(around, -1))).flatten(2, 3)
        # Where a cell lies is added to what it sees at one scale: it would otherwise outweigh it at the start.
        return self.norm(x) + self.place(self.waves.expand(x.shape[0], *self.waves.shape)).unsqueeze(1)


def waves(cells: int, frequencies: int) -> torch.Tensor:
    """(cells^2, 4 frequencies): sines and cosines of the places of cells, of a half to several waves an image."""
    along = (torch.arange(cells) + 0.5) / cells
    place = torch.stack(torch.meshgrid(along, along, indexing="ij"), -1).flatten(0, 1)
    phase = torch.pi * place.unsqueeze(-1) * 2.0 ** torch.arange(frequencies)
    return torch.cat([phase.sin(), phase.cos()], -1).flatten(1)


class ReadingLayer(nn.Module):
    """Self-attention of words and a network for each of them."""

    def __init__(self, models: int, size: Size) -> None:
        super().__init__()
        self.read = MultiheadAttention(models, size)
        self.think = FeedForward(models, size)

    def forward(self, y: torch.Tensor, nothing: torch.Tensor) -> torch.Tensor:
        return self.think(self.read(y, y, nothing))


class LookingLayer(nn.Module):
    """Self-attention of cells, attention of cells to words, and a network for each cell.

    The first layer sees each image once, and is then guided by each of the questions about it.
    """

    def __init__(self, models: int, size: Size) -> None:
        super().__init__()
        self.look = MultiheadAttention(models, size)
        self.guide = MultiheadAttention(models, size)
        self.think = FeedForward(models, size)

    def forward(self, x: torch.Tensor, y: torch.Tensor, nothing: torch.Tensor) -> torch.Tensor:
        x, questions = self.look(x, x), y.shape[1] // x.shape[1]
        x = x.unsqueeze(2).expand(-1, -1, questions, -1, -1).flatten(1, 2)
        return self.think(self.guide(x, y, nothing))


class MultiheadAttention(nn.Module):
    """norm(x + attention(x, memory)), with several heads and scaled products."""

    def __init__(self, models: int, size: Size) -> None:
        super().__init__()
        self.heads = size.heads
        self.query = Linear(models, size.hidden, size.hidden)
        self.memory = Linear(models, size.hidden, 2 * size.hidden)
        self.merge = Linear(models, size.hidden, size.hidden)
        self.dropout = nn.Dropout(size.dropout)
        self.norm = LayerNorm(models, size.hidden)

    def forward(self, x: torch.Tensor, memory: torch.Tensor, nothing: torch.Tensor | None = None) -> torch.Tensor:
        query = self._split(self.query(x))
        key, value = map(self._split, self.memory(memory).chunk(2, -1))
        # Not torch's fused attention: its gradient is a sum in no fixed order.
        scores = (query * query.shape[-1] ** -0.5) @ key.mT
        if nothing is not None:
            scores = scores + nothing[:, :, None, None]
        seen = torch.softmax(scores, -1) @ value
        return self.norm(x + self.dropout(self.merge(seen.transpose(-3, -2).flatten(-2))))

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(-3, -2)


class FeedForward(nn.Module):
    """norm(x + network(x))."""

    def __init__(self, models: int, size: Size) -> None:
        super().__init__()
        self.widen = Linear(models, size.hidden, 2 * size.hidden)
        self.narrow = Linear(models, 2 * size.hidden, size.hidden)
        self.dropout = nn.Dropout(size.dropout)
        self.norm = LayerNorm(models, size.hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x + self.dropout(self.narrow(torch.relu(self.widen(x)))))


class Scores(nn.Module):
    """A network with one hidden layer: (..., hidden) to scores (..., heads)."""

    def __init__(self, models: int, hidden: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.widen = Linear(models, hidden, hidden)
        self.dropout = nn.Dropout(dropout)
        self.narrow = Linear(models, hidden, heads)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.narrow(self.dropout(torch.relu(self.widen(x))))
