"""Trains and asks the models of each row of the table, and keeps how they did in a file of results.

Rows that the file has with the same settings are skipped, so that the same command goes on where it was stopped.
"""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Callable, Iterator

import torch

from .. import command, kept
from ..results import Results
from ..training import use_one_arithmetic
from . import easy_vqa, experiment, sort_of_clevr
from .questions import DataSet
from .settings import Settings, configuration, read_rows, read_settings

SETS = ("easy-vqa", "sort-of-clevr")
PICTURED = {
    "discrete_1": "discrete softmax",
    "continuous_1": "continuous softmax",
    "continuous_2": "continuous sparsemax",
}
"""Rows that `pictures.py` draws, as it calls them."""
PAIRS = [
    *((name, "discrete_1") for name in ("continuous_1", "continuous_4_3", "continuous_3_2", "continuous_2")),
    *((name, "discrete_1") for name in ("discrete_2", "tv", "discrete_1_heads", "mean")),
    *((name, "discrete_1") for name in ("continuous_2_heads", "continuous_2_mixture")),
    ("continuous_2", "continuous_1"),
    ("continuous_2", "discrete_2"),
    ("continuous_2_heads", "continuous_2"),
    ("continuous_2_heads", "discrete_1_heads"),
    ("continuous_2_mixture", "continuous_2"),
    ("continuous_2_mixture", "continuous_2_heads"),
]
"""Rows to compare: continuous attention with discrete, sparse with dense, several modes with one."""
KINDS = [*easy_vqa.SORTS, *easy_vqa.KINDS, *sort_of_clevr.SORTS, *sort_of_clevr.KINDS]
VALUES = ["accuracy", *(f"accuracy: {kind}" for kind in dict.fromkeys(KINDS)), "inside", "iou", "area"]
"""What to compare them by, where a data set has it."""


def load(name: str, settings: Settings, folder: pathlib.Path | None) -> DataSet:
    """The data set of this name, read from the folder or generated."""
    if name == "sort-of-clevr":
        return sort_of_clevr.generate(settings.train or 9800, settings.test or 1000)
    if folder is None:
        raise ValueError("--data must name the folder that easy-vqa is in")
    return easy_vqa.load(folder)


def file_of(folder: pathlib.Path, data: str, row: str) -> pathlib.Path:
    """Where the parameters of the first seed of a row are kept."""
    return folder / f"{data}-{row}.pt"


def tasks(
    folder: pathlib.Path | None,
    sets: list[str],
    rows: list[str] | None,
    seeds: list[int],
    epochs: int | None,
    device: torch.device,
    keep: pathlib.Path | None,
) -> Iterator[command.Task]:
    """All rows on all sets; data is read when the first row needs it."""

    @functools.lru_cache(1)
    def data(name: str) -> DataSet:
        return load(name, read_settings(name), folder).to(device)

    def train(
        name: str, row: command.Row, settings: Settings, progress: Callable[[float], None]
    ) -> command.Outcome:
        model = experiment.train(data(name), row.pooling, settings, seeds, device, progress)
        if keep is not None and row.name in PICTURED:
            kept.save(file_of(keep, name, row.name), model)
        values = experiment.measure(model, data(name), len(seeds))
        runs = [{"unit": 0, "seed": seed, "values": one} for seed, one in zip(seeds, values)]
        return command.Outcome(runs, sum(p.numel() for p in model.parameters()) // len(seeds))

    for name in sets:
        settings = read_settings(name).with_epochs(epochs)
        for row in read_rows(rows):
            run = functools.partial(train, name, row, settings)
            yield command.Task(name, row, configuration(row, settings), run)


def main(words: list[str] | None = None) -> None:
    options = command.parser("vqa", __doc__, SETS).parse_args(words)
    use_one_arithmetic()
    results = Results(options.out, "vqa")
    seeds = list(range(options.seeds))
    planned = tasks(options.data, options.sets, options.rows, seeds, options.epochs, options.device, options.keep)
    command.run_tasks(planned, results, len(seeds), options.device)
    results.compare(PAIRS, VALUES)


if __name__ == "__main__":
    command.run_as_program("vqa", main)
