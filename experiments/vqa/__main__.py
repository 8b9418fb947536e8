"""Trains and asks the models of each row of the table, and keeps what they answered in a file of results.

Rows that the file has with the same settings are skipped, so that the same command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import time

import torch

from ..results import Results, made
from ..training import Progress, use_one_arithmetic
from . import easy_vqa, experiment, kept, sort_of_clevr
from .questions import DataSet
from .rows import Settings, configuration, read_rows, read_settings

SETS = ("easy-vqa", "sort-of-clevr")
PAIRS = [
    *((name, "discrete_1") for name in ("continuous_1", "continuous_4_3", "continuous_3_2", "continuous_2")),
    *((name, "discrete_1") for name in ("discrete_2", "tv", "discrete_1_heads", "continuous_2_mixture", "mean")),
    ("continuous_2", "continuous_1"),
    ("continuous_2", "discrete_2"),
    ("continuous_2_heads", "continuous_2"),
    ("continuous_2_heads", "discrete_1_heads"),
    ("continuous_2_mixture", "continuous_2"),
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
        raise FileNotFoundError("easy-VQA: --data must name the folder that easy-vqa is in")
    return easy_vqa.load(folder)


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.vqa", description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, metavar="DIR", help="the folder that easy-vqa is in")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", type=torch.device)
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", required=True, help="the file of results, JSON")
    parser.add_argument("--rows", nargs="+", metavar="NAME", help="files in experiments/vqa/rows; all unless said")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="models of each row (default: 5)")
    parser.add_argument("--epochs", type=int, metavar="N", help="in place of those of settings.toml")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="save the parameters of seed 0 here")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> None:
    options = arguments(words)
    use_one_arithmetic()
    results = Results(options.out, "vqa")
    rows = read_rows(options.rows)
    seeds = list(range(options.seeds))
    progress = Progress(len(rows) * len(options.sets))
    for name in options.sets:
        settings = read_settings(name).with_epochs(options.epochs)
        data = None
        for row in rows:
            title, config = f"{name}, {row.name}", configuration(row, settings)
            if results.has(name, row.name, config, len(seeds)):
                progress.skip(title)
                continue
            data = data or load(name, settings, options.data).to(options.device)
            started = time.monotonic()
            model = experiment.train(
                data, row.pooling, settings, seeds, options.device, lambda share: progress.show(title, share)
            )
            values = experiment.measure(model, data, len(seeds))
            seconds = time.monotonic() - started
            results.put(
                {
                    "data": name,
                    "name": row.name,
                    "label": row.label,
                    "group": row.group,
                    "config": config,
                    "parameters": sum(p.numel() for p in model.parameters()) // len(seeds),
                    "runs": [{"unit": 0, "seed": seed, "values": one} for seed, one in zip(seeds, values)],
                    "seconds": seconds,
                    "made": made(options.device),
                }
            )
            if options.keep is not None:
                kept.save(options.keep, name, row.name, model)
            accuracy = sum(one["accuracy"] for one in values) / len(values)
            progress.finish(title, f"accuracy {accuracy:.4f}, {seconds:.0f} s")
    results.compare(PAIRS, VALUES)


if __name__ == "__main__":
    try:
        main()
    except (FileNotFoundError, ValueError) as error:
        sys.exit(f"experiments.vqa: {error}")
