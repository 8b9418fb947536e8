"""Trains and tries the models of each row of the table, and keeps their accuracies in a file of results.

Rows that the file has with the same settings are skipped, so that the same command goes on where it was stopped.
"""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace

import torch

from .. import command, kept
from ..results import Results
from ..training import use_one_arithmetic
from . import data, experiment, floors
from .model import Pooling, Size

SETS = ("mfcc, per clip", "mfcc, per coefficient", "mel, per clip", "mel, per coefficient")
PICTURED_SET, PICTURED_FOLD = "mel, per clip", 10
PICTURED = ("discrete_1", "both_1", "both_4_3", "both_3_2", "both_2")
CONTROLS = ("discrete_1_mean", "discrete_1_twice", "mean", "logistic_regression")
LARGEST = ("mean", "discrete_1_mean", "continuous_2", "both_2_mixture", "both_2_variance")
"""Rows to compare with logistic regression besides: of large accuracies."""
PAIRS = [
    *((f"{kind}_{alpha}", "discrete_1") for kind in ("continuous", "both") for alpha in ("1", "4_3", "3_2", "2", "learned")),
    *((f"discrete_{alpha}", "discrete_1") for alpha in ("4_3", "3_2", "2", "learned")),
    *((f"both_{alpha}", f"discrete_{alpha}") for alpha in ("4_3", "3_2", "2", "learned")),
    *((f"both_{alpha}", control) for alpha in ("1", "4_3", "3_2", "2", "learned") for control in CONTROLS),
    *((control, "discrete_1") for control in CONTROLS),
    *((name, "logistic_regression") for name in LARGEST),
    *((f"both_{alpha}", f"both_{alpha}_variance") for alpha in ("4_3", "3_2", "2")),
    *((f"{kind}_2_mixture", f"{kind}_2") for kind in ("continuous", "both")),
    *((f"both_{alpha}_{change}", f"both_{alpha}") for alpha in ("1", "2") for change in ("no_floor", "authors")),
]
"""Rows to compare: continuous attention with discrete and with its controls, and each change with what it changes."""


def floor_rows() -> dict[str, tuple[command.Row, Callable[[data.Clips], dict[int, float]]]]:
    """What no network is needed for."""
    names = {
        "majority": ("most frequent class", floors.majority),
        "logistic_regression": ("logistic regression on means, deviations and mean steps", floors.logistic_regression),
    }
    return {name: (command.Row(name, label, "floor", None), run) for name, (label, run) in names.items()}


def tasks(
    folder: pathlib.Path, sets: list[str], rows: list[str] | None, seeds: list[int], settings: experiment.Settings,
    device: torch.device, keep: pathlib.Path | None,
) -> Iterator[command.Task]:
    """All rows on all sets; data is read when the first row needs it."""

    @functools.cache
    def clips(features: str) -> data.Clips:
        return (data.read_mfcc(folder) if features == "mfcc" else data.read_mel(folder, device)).to(device)

    @functools.lru_cache(1)
    def protocol(name: str) -> experiment.Protocol:
        features, how = name.split(", per ")
        read = data.prepared(clips(features), how)
        return experiment.Protocol(read, sorted(set(read.folds.tolist())), seeds, settings)

    def train(name: str, row: command.Row, progress: Callable[[float], None]) -> command.Outcome:
        model = experiment.train(protocol(name), row.pooling, progress=progress)
        if keep is not None and row.name in PICTURED and name == PICTURED_SET:
            kept.save(keep / f"audio-{row.name}.pt", model, protocol(name).pairs.index((PICTURED_FOLD, 0)))
        count = sum(p.numel() for p in model.parameters()) // len(protocol(name).pairs)
        return command.Outcome(experiment.measure(model, protocol(name)), count)

    def try_floor(name: str, run: Callable[[data.Clips], dict[int, float]], _: object) -> command.Outcome:
        found = run(clips(name.split(",")[0]))
        runs = [{"unit": fold, "seed": s, "values": {"accuracy": a}} for fold, a in found.items() for s in seeds]
        return command.Outcome(runs, 0)

    known = floor_rows()
    trained = command.read_rows(
        pathlib.Path(__file__).parent / "rows", Pooling, rows and [name for name in rows if name not in known]
    )
    for name in sets:
        for row in trained:
            if row.group == "ablation" and not name.endswith("per clip"):
                continue  # They are about the authors' program, which normalises so.
            config = {"pooling": asdict(row.pooling), **asdict(Size()), **asdict(settings)}
            yield command.Task(name, row, config, functools.partial(train, name, row))
        for row, run in known.values():
            if rows is None or row.name in rows:
                yield command.Task(name, row, {}, functools.partial(try_floor, name, run))


def main(words: list[str] | None = None) -> None:
    parser = command.parser("audio", __doc__, SETS)
    options = parser.parse_args(words)
    if options.data is None:
        parser.error("--data must name the folder with us8k-mfcc.tar.xz and us8k/")
    use_one_arithmetic()
    settings = experiment.Settings()
    if options.epochs is not None:
        settings = replace(settings, epochs=options.epochs)
    results = Results(options.out, "audio")
    seeds = list(range(options.seeds))
    planned = tasks(options.data, options.sets, options.rows, seeds, settings, options.device, options.keep)
    command.run_tasks(planned, results, len(seeds), options.device)
    results.compare(PAIRS, ["accuracy"])


if __name__ == "__main__":
    command.run_as_program("audio", main)
