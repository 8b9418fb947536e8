"""The two tasks in two sizes: `small` is for a CPU, `large` for a GPU that several trainings share."""

from __future__ import annotations

import argparse
import pathlib
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from torch import nn

from .experiment import Training, measure_finder, measure_writer, train_finder, train_writer
from .model import Finder, Size, Writer


class Set(NamedTuple):
    """A task: its models, how they are trained and what is asked of them."""

    training: Training
    lengths: tuple[int, ...]
    """To try: the first is the longest of the training."""
    timed: tuple[int, ...]
    """Lengths at which the time and memory of a step are measured."""
    model: type[nn.Module]
    train: Callable[..., nn.Module]
    measure: Callable[..., dict[str, float]]


TEXT = Writer, train_writer, measure_writer
RECALL = Finder, train_finder, measure_finder
LARGE_TEXT = Training(2000, 1.5e-3, 16, 512, Size(256), autocast="bfloat16")
LARGE_RECALL = Training(2000, 1e-3, 32, 256, Size(256), autocast="bfloat16")
"""40 trainings are to end in minutes where a dozen share one GPU: a step of one takes some milliseconds of it."""


def powers(first: int, last: int) -> tuple[int, ...]:
    """first, twice as many, and so on to the last."""
    return tuple(first << i for i in range((last // first).bit_length()))


SIZES = {
    "small": {
        "text": Set(Training(800, 6e-3, 16, 128), powers(128, 2048), powers(128, 2048), *TEXT),
        "recall": Set(Training(1000, 3e-3, 32, 64), powers(64, 8192), powers(64, 8192), *RECALL),
    },
    "large": {
        "text": Set(LARGE_TEXT, powers(512, 4096), powers(4096, 65536), *TEXT),
        "recall": Set(LARGE_RECALL, powers(256, 16384), powers(1024, 16384), *RECALL),
    },
}
FILES = {"small": "transformers", "large": "transformers_gpu"}
"""Of each size: the name of its results and pictures in experiments/results/."""


def add_size(options: argparse.ArgumentParser) -> None:
    options.add_argument("--size", choices=SIZES, default="small", help="of the models and contexts (default: small)")


def chosen(size: str, features: int | None, steps: int | None, rate: float | None) -> dict[str, Set]:
    """The sets of a size, with these settings in place of theirs where they are given."""
    given = {name: value for name, value in (("steps", steps), ("rate", rate)) if value is not None}

    def changed(training: Training) -> Training:
        wide = training.size if features is None else replace(training.size, features=features)
        return replace(training, size=wide, **given)

    return {data: of._replace(training=changed(of.training)) for data, of in SIZES[size].items()}


def file_of(folder: pathlib.Path, data: str, variant: str) -> pathlib.Path:
    """Where the parameters of the first seed are kept."""
    return folder / f"{data}-{variant}.pt"


def config_of(of: Set, variant: Any) -> dict[str, Any]:
    """What a row of the results says of its trainings. What is not set is left out."""
    settings = {name: value for name, value in asdict(of.training).items() if value is not None}
    return {"variant": asdict(variant), **settings, "lengths": of.lengths}
