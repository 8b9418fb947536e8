"""Which family predicts best: the tables of docs/statistics.md, over real data.

    python bench/families.py FOLDER    # of boston, engel, geyser, rutherford, saxony and weldondice.csv, and cancer.csv

Every column is cut into ten folds, and each fold is predicted by fits to the others (`fenchel.compare`).
"""

from __future__ import annotations

import argparse
import csv
import pathlib
from typing import Any

import fenchel
import numpy as np

NUMBERS = {
    "engel.csv": "income",
    "boston.csv": "medv",
    "diabetes.csv": "y",
    "geyser.csv": "waiting",
    "gagurine.csv": "GAG",
}
"""A column of each file."""

COUNTS = ("rutherford.csv", "saxony.csv", "weldondice.csv", "womenqueue.csv")
"""Files of values and how often each was seen."""

COUNT_FAMILIES: list[Any] = [(fenchel.SparsePoisson, {"alpha": alpha}) for alpha in (1, 1.5, 2, "auto")]
COUNT_FAMILIES += [(fenchel.SparseIntegerGaussian, {"alpha": alpha}) for alpha in (1, 1.5, 2, "auto")]


def column(path: pathlib.Path, name: str) -> np.ndarray:
    with open(path, newline="") as file:
        return np.array([float(row[name]) for row in csv.DictReader(file)])


def line(title: str, found: fenchel.Comparison) -> str:
    """The winner, those that are as good, Gaussian or Poisson for comparison, and the most rows outside."""
    best = found.scores[0]
    plain = next(score for score in found.scores if score.name.endswith("(alpha=1)"))
    behind = "the winner" if plain is best else f"+{plain.crps_difference:.2g} +- {plain.crps_error:.1g}"
    close = ", ".join(found.close) or "none"
    return f"| {title} | {best.name} | {best.crps:.4g} | {best.log_score:.4g} | {best.outside:g} | {close} | {behind} |"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=pathlib.Path)
    folder = options.parse_args().folder
    heads = ["data", "best CRPS", "CRPS", "log score", "outside", "within two errors", "alpha = 1"]
    print(f"| {' | '.join(heads)} |\n| {' | '.join('---' for _ in heads)} |")
    for name, of in NUMBERS.items():
        print(line(f"{name}, {of}", fenchel.compare(column(folder / name, of))))
    for name in COUNTS:
        values, weights = column(folder / name, "value"), column(folder / name, "freq")
        print(line(name, fenchel.compare(np.repeat(values, weights.astype(int)), COUNT_FAMILIES)))


if __name__ == "__main__":
    main()
