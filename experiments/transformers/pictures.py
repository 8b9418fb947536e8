"""Draws where a model of text looks, with the zeros, and what longer contexts do, from the file of results.

    python -m experiments.transformers.pictures --kept DIR --out experiments/results/figures
"""

from __future__ import annotations

import argparse
import pathlib
import random
from typing import Any

import torch

from .. import command
from ..drawing import save_small
from ..tables import Content, read
from . import presets, tables, text
from .model import Weights, Writer
from .presets import FILES, Set, file_of
from .variants import VARIANTS

PICTURED = ("softmax", "learned")
"""The kinds of attention whose weights are drawn."""
LETTERS = 64


@torch.no_grad()
def weights_of(of: Set, kept: pathlib.Path, name: str, letters: torch.Tensor) -> Weights:
    """Of a trained model of text."""
    model = Writer(VARIANTS[name][1], of.training.size).eval()
    model.load_state_dict(torch.load(file_of(kept, "text", name), map_location="cpu", weights_only=True))
    return model(letters, need_weights=True)[1]


def draw_maps(of: Set, kept: pathlib.Path, file: pathlib.Path) -> None:
    """The weights of all heads, the letters from above to below and those that they see from left to right; white is 0."""
    from matplotlib import colormaps, pyplot
    from matplotlib.colors import LogNorm

    written = text.write(LETTERS, random.Random(7))
    colours = colormaps["viridis_r"].with_extremes(bad="white")
    figure, panels = pyplot.subplots(4, 4, figsize=(8.4, 8.6), layout="constrained")
    for i, name in enumerate(PICTURED):
        for layer, weights in enumerate(weights_of(of, kept, name, text.encode([written]))):
            for head, matrix in enumerate(weights[0]):
                panel = panels[2 * i + layer, head]
                masked = matrix.masked_fill(matrix == 0, torch.nan).numpy()
                shown = panel.imshow(masked, cmap=colours, norm=LogNorm(1e-4, 1), interpolation="nearest")
                panel.set_xticks([])
                panel.set_yticks([])
                panel.set_title(f"{VARIANTS[name][0]}: layer {layer + 1}, head {head + 1}", fontsize=7)
    figure.colorbar(shown, ax=panels, location="bottom", shrink=0.5, aspect=40, label="weight; white: exactly 0")
    save_small(figure, file, dpi=90, colours=24)


def draw_lengths(content: Content, file: pathlib.Path) -> None:
    """Means of the seeds with their intervals, over the length."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(2, 2, figsize=(8.4, 6), layout="constrained")
    drawn = (
        (panels[0, 0], "text", "bits of copies", "bits of letters that can be copied"),
        (panels[0, 1], "text", "keys", "keys with weight, second layer"),
        (panels[1, 0], "recall", "accuracy", "right answers"),
        (panels[1, 1], "recall", "keys", "keys with weight"),
    )
    for panel, data, value, label in drawn:
        lengths = tables.lengths_of(content, data)
        for row in tables.rows_of(content, data):
            found = [row["values"][f"{value}: {length}"] for length in lengths]
            low, high = zip(*(one["interval"] for one in found))
            panel.plot(lengths, [one["mean"] for one in found], marker="o", markersize=3, label=row["label"])
            panel.fill_between(lengths, low, high, alpha=0.2, linewidth=0)
        panel.axvline(lengths[0], color="0.7", linestyle=":")
        panel.set_xscale("log", base=2)
        panel.set_xticks(lengths, [str(length) for length in lengths])
        if value == "keys":
            panel.set_yscale("log")
        panel.set_xlabel("letters" if data == "text" else "pairs")
        panel.set_ylabel(label)
    panels[0, 0].legend(fontsize=8, frameon=False)
    save_small(figure, file, dpi=90, colours=32)


def main(words: list[str] | None = None) -> None:
    options: Any = argparse.ArgumentParser(prog="python -m experiments.transformers.pictures", description=__doc__)
    options.add_argument("--kept", type=pathlib.Path, metavar="DIR", required=True, help="what --keep saved")
    options.add_argument("--out", type=pathlib.Path, metavar="DIR", required=True, help="the folder of pictures")
    presets.add_size(options)
    chosen = options.parse_args(words)
    name = FILES[chosen.size]
    draw_maps(presets.SIZES[chosen.size]["text"], chosen.kept, chosen.out / f"{name}_maps.png")
    draw_lengths(read(name), chosen.out / f"{name}_lengths.png")


if __name__ == "__main__":
    command.run_as_program("transformers.pictures", main)
