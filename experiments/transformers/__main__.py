"""Trains the models of both tasks with each kind of attention, and keeps how they did in a file of results.

Trainings that the file has with the same settings are skipped, so that the same command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import importlib.util
import pathlib
import sys

import torch

from .. import command
from ..results import Results
from . import presets
from .presets import SIZES, Set, file_of
from .trainings import Job, run
from .variants import VARIANTS

PAIRS = [(name, "softmax") for name in ("entmax", "learned", "scaled")] + [("scaled", "learned")]


def jobs(sets: dict[str, Set], seeds: list[int], device: torch.device, keep: pathlib.Path | None) -> list[Job]:
    """Each kind of attention on each task with each seed: the tasks that take longest are first."""
    return [
        Job(data, name, seed, of, device, file_of(keep, data, name) if keep and seed == seeds[0] else None)
        for data, of in sets.items()
        for seed in seeds
        for name in VARIANTS
    ]


def summarize(results: Results) -> None:
    """In the order of the tasks, whichever ended first. Intervals need scipy."""
    order = [(data, name) for data in SIZES["small"] for name in VARIANTS]
    results.rows.sort(key=lambda row: order.index((row["data"], row["name"])))
    results.save()
    if importlib.util.find_spec("scipy") is None:
        print("no summary, which needs scipy: the same command writes it where that is", file=sys.stderr)
        return
    values = dict.fromkeys(value for row in results.rows for run in row["runs"] for value in run["values"])
    results.compare(PAIRS, [value for value in values if value.startswith(("accuracy", "bits", "copied"))])


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="python -m experiments.transformers", description=__doc__)
    options.add_argument("--device", default="cpu", type=torch.device)
    options.add_argument("--out", type=pathlib.Path, metavar="FILE", required=True, help="the file of results, JSON")
    presets.add_size(options)
    options.add_argument("--jobs", type=int, default=1, metavar="N", help="processes that train (default: 1)")
    options.add_argument("--sets", nargs="+", choices=SIZES["small"], metavar="SET", help="text or recall")
    options.add_argument("--seeds", type=int, default=5, metavar="N", help="models of each row (default: 5)")
    options.add_argument("--first-seed", type=int, default=0, metavar="N", help="of the models (default: 0)")
    options.add_argument("--features", type=int, metavar="N", help="of a model, in place of those of the size")
    options.add_argument("--steps", type=int, metavar="N", help="in place of those of the size")
    options.add_argument("--rate", type=float, metavar="R", help="of learning, in place of those of the size")
    options.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="save parameters for the pictures here")
    return options


def main(words: list[str] | None = None) -> None:
    options = parser().parse_args(words)
    if options.jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {options.jobs}")
    sets = presets.chosen(options.size, options.features, options.steps, options.rate)
    wanted = {data: of for data, of in sets.items() if options.sets is None or data in options.sets}
    seeds = list(range(options.first_seed, options.first_seed + options.seeds))
    results = Results(options.out, "transformers")
    run(jobs(wanted, seeds, options.device, options.keep), results, options.jobs)
    summarize(results)


if __name__ == "__main__":
    command.run_as_program("transformers", main)
