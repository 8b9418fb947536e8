"""Trains the models of both tasks with each kind of attention, and keeps how they did in a file of results.

Rows that the file has with the same settings are skipped, so that the same command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import functools
import pathlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import torch
from torch import nn

from .. import command
from ..results import Results
from .experiment import Training, measure_finder, measure_writer, train_finder, train_writer
from .model import Size
from .variants import VARIANTS, Variant


class Set(NamedTuple):
    """A task: how its models are trained and what is asked of them."""

    training: Training
    lengths: tuple[int, ...]
    """To try: the first is the longest of the training."""
    train: Callable[..., Any]
    measure: Callable[..., dict[str, float]]


SETS = {
    "text": Set(Training(800, 6e-3, 16, 128), (128, 256, 512, 1024, 2048), train_writer, measure_writer),
    "recall": Set(
        Training(1000, 3e-3, 32, 64), (64, 128, 256, 512, 1024, 2048, 4096, 8192), train_finder, measure_finder
    ),
}
PAIRS = [(name, "softmax") for name in ("entmax", "learned", "scaled")] + [("scaled", "learned")]


def file_of(folder: pathlib.Path, data: str, variant: str) -> pathlib.Path:
    """Where the parameters of the first seed are kept."""
    return folder / f"{data}-{variant}.pt"


def tasks(
    sets: dict[str, Set], seeds: list[int], device: torch.device, keep: pathlib.Path | None
) -> Iterator[command.Task]:
    """Each kind of attention on each task."""

    def run(data: str, name: str, variant: Variant, progress: Callable[[float], None]) -> command.Outcome:
        of, runs = sets[data], []
        for i, seed in enumerate(seeds):
            model: nn.Module = of.train(
                variant, of.training, seed, device, lambda share: progress((i + share) / len(seeds))
            )
            if keep is not None and i == 0:
                keep.mkdir(parents=True, exist_ok=True)
                torch.save(model.state_dict(), file_of(keep, data, name))
            runs.append({"unit": 0, "seed": seed, "values": of.measure(model, of.training, of.lengths, device)})
        return command.Outcome(runs, sum(p.numel() for p in model.parameters()))

    for data, of in sets.items():
        for name, (label, variant) in VARIANTS.items():
            config = {"variant": asdict(variant), **asdict(of.training), "lengths": of.lengths}
            row = command.Row(name, label, "attention", variant)
            yield command.Task(data, row, config, functools.partial(run, data, name, variant))


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="python -m experiments.transformers", description=__doc__)
    options.add_argument("--device", default="cpu", type=torch.device)
    options.add_argument("--out", type=pathlib.Path, metavar="FILE", required=True, help="the file of results, JSON")
    options.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="SET", help="text or recall")
    options.add_argument("--seeds", type=int, default=5, metavar="N", help="models of each row (default: 5)")
    options.add_argument("--first-seed", type=int, default=0, metavar="N", help="of the models (default: 0)")
    options.add_argument("--features", type=int, default=64, metavar="N", help="of a model (default: 64)")
    options.add_argument("--steps", type=int, metavar="N", help="in place of those of the settings")
    options.add_argument("--rate", type=float, metavar="R", help="of learning, in place of those of the settings")
    options.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="save parameters for the pictures here")
    return options


def changed(of: Set, options: argparse.Namespace) -> Set:
    """With the settings that the options say."""
    given = {name: value for name in ("steps", "rate") if (value := getattr(options, name)) is not None}
    return of._replace(training=replace(of.training, size=Size(features=options.features), **given))


def main(words: list[str] | None = None) -> None:
    options = parser().parse_args(words)
    sets = {name: changed(SETS[name], options) for name in options.sets}
    seeds = list(range(options.first_seed, options.first_seed + options.seeds))
    results = Results(options.out, "transformers")
    command.run_tasks(tasks(sets, seeds, options.device, options.keep), results, len(seeds), options.device)
    values = dict.fromkeys(value for row in results.rows for run in row["runs"] for value in run["values"])
    compared = [value for value in values if value.startswith(("accuracy", "bits", "copied"))]
    results.compare(PAIRS, compared)


if __name__ == "__main__":
    command.run_as_program("transformers", main)
