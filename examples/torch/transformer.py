"""From softmax to entmax in a model that is trained already. A small transformer of torch learns to sort the letters of a
word. One line makes its attention sparse. A few more answers are wrong then, and a short training mends them. From there on each
letter looks at a few others alone, and the program says at which.

    python transformer.py [--picture FILE]
"""

from __future__ import annotations

import argparse
import random
from typing import NamedTuple

import torch
from torch import nn

from fenchel.torch.nn import sparsify

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
LETTERS = ALPHABET + ":."
WORD = 12
HALF = WORD + 1
"""Letters up to the colon."""


def make_line(draw: random.Random) -> str:
    """A word, a colon, and the same letters in the order of the alphabet."""
    letters = draw.sample(ALPHABET, WORD)
    return "".join(letters) + ":" + "".join(sorted(letters)) + "."


def encode(lines: list[str]) -> torch.Tensor:
    return torch.tensor([[LETTERS.index(letter) for letter in line] for line in lines])


class Model(nn.Module):
    """A language model of letters: the encoder of torch, with a mask that hides what comes later."""

    def __init__(self, size: int = 64, heads: int = 4) -> None:
        super().__init__()
        self.letter, self.place = nn.Embedding(len(LETTERS), size), nn.Embedding(2 * HALF, size)
        layer = nn.TransformerEncoderLayer(
            size, heads, 2 * size, dropout=0.0, batch_first=True, norm_first=True, activation="gelu"
        )
        self.encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(size), enable_nested_tensor=False)
        self.next = nn.Linear(size, len(LETTERS))

    def start(self, letters: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The vectors of letters, and which of them are hidden from each other."""
        count = letters.shape[-1]
        later = torch.ones(count, count, dtype=torch.bool).triu(1)
        return self.letter(letters) + self.place(torch.arange(count)), later

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        """Scores of the next letter at each."""
        x, later = self.start(letters)
        return self.next(self.encoder(x, later, is_causal=True))

    def weights(self, letters: torch.Tensor) -> torch.Tensor:
        """(layers, lines, heads, letters, letters): how much each letter looks at others."""
        x, later = self.start(letters)
        found = []
        for layer in self.encoder.layers:
            y = layer.norm1(x)
            found.append(layer.self_attn(y, y, y, attn_mask=later, average_attn_weights=False)[1])
            x = layer(x, later, is_causal=True)
        return torch.stack(found)


class Result(NamedTuple):
    """On lines that the model has not seen."""

    right: float
    """The part of the letters behind the colon that have the highest score."""
    seen: float
    """How many letters those from the colon on give weight to, in the mean of all heads."""


def train(model: Model, steps: int, rate: float, seed: int) -> None:
    """On the letters behind the colon: those before it are drawn by chance."""
    draw = random.Random(seed)
    optimizer = torch.optim.Adam(model.parameters(), rate)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps, cycle_momentum=False)
    for _ in range(steps):
        letters = encode([make_line(draw) for _ in range(32)])
        optimizer.zero_grad()
        scores = model(letters[:, :-1])[:, HALF - 1 :]
        nn.functional.cross_entropy(scores.mT, letters[:, HALF:]).backward()
        optimizer.step()
        scheduler.step()


@torch.no_grad()
def measure(model: Model) -> Result:
    draw = random.Random(1)
    letters = encode([make_line(draw) for _ in range(200)])
    right = model(letters[:, :-1])[:, HALF - 1 :].argmax(-1) == letters[:, HALF:]
    seen = (model.weights(letters[:, :-1])[:, :, :, HALF - 1 :] > 0).sum(-1)
    return Result(right.double().mean().item(), seen.double().mean().item())


@torch.no_grad()
def go_on(model: Model, line: str, count: int) -> str:
    """The line and the letters that come next, each the most likely one."""
    for _ in range(count):
        line += LETTERS[model(encode([line]))[0, -1].argmax()]
    return line


@torch.no_grad()
def looked_at(model: Model, line: str) -> list[str]:
    """In each head of the last layer, what the last letter sees: the letters that have weight, and dots for the others."""
    weights = model.weights(encode([line]))[-1, 0, :, -1]
    return ["".join(letter if p > 0 else "." for letter, p in zip(line, head)) for head in weights.tolist()]


def draw(model: Model, file: str) -> None:
    """The weights of the last layer for a line; white is exactly 0."""
    import matplotlib.pyplot as plt

    line = make_line(random.Random(3))[:-1]
    with torch.no_grad():
        weights = model.weights(encode([line]))[-1, 0]
    figure, panels = plt.subplots(1, 4, figsize=(11, 3.3), layout="constrained")
    for head, panel in enumerate(panels):
        panel.imshow(weights[head].masked_fill(weights[head] == 0, torch.nan).numpy(), cmap="viridis_r", vmin=0, vmax=1)
        panel.axhline(HALF - 1.5, color="0.8", linewidth=0.5)
        panel.set_xticks(range(len(line)), line, fontsize=6)
        panel.set_yticks(range(len(line)), line, fontsize=6)
        panel.tick_params(length=0)
        panel.set_title(f"head {head + 1}", fontsize=9)
    figure.savefig(file, dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description="A trained transformer gets sparse attention.")
    parser.add_argument("--picture", metavar="FILE", help="draw what the letters look at")
    arguments = parser.parse_args()
    print("                             right   letters seen")

    def show(what: str, model: Model) -> None:
        result = measure(model)
        print(f"{what:26} {result.right:7.3f} {result.seen:14.1f}", flush=True)

    def new_model() -> Model:
        torch.manual_seed(0)
        return Model()

    from_start = sparsify(new_model(), alpha=1.5)
    train(from_start, 400, 6e-3, seed=2)
    show("entmax from the start", from_start)
    model = new_model()
    train(model, 400, 6e-3, seed=2)
    show("softmax", model)
    sparsify(model, alpha=1.5)
    show("entmax, not trained yet", model)
    train(model, 100, 2e-3, seed=4)
    show("entmax, trained further", model)
    line = make_line(random.Random(3))
    print(f"\n{go_on(model, line[:HALF], HALF)}")
    for count in (0, 4, 8):
        start = line[: HALF + count]
        print(f"\nbefore it writes the {line[HALF + count]}:")
        for head, seen in enumerate(looked_at(model, start), 1):
            print(f"head {head} sees {seen}")
    if arguments.picture:
        draw(model, arguments.picture)


if __name__ == "__main__":
    main()
