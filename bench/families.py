"""Which family predicts best: the tables of docs/statistics.md, over real data.

    python bench/families.py FOLDER    # has boston.csv, diabetes.csv, engel.csv and the others below

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
    "diabetes.csv": "target",
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


def line(title: str, found: fenchel.Comparison, plain: str) -> str:
    """The winner, how many are as good, and how far the plain family is behind."""
    best = found.scores[0]
    other = next(score for score in found.scores if score.name == plain)
    behind = f"{other.crps_difference:.2g} +- {other.crps_error:.1g}"
    cells = [title, best.name, f"{best.crps:.4g}", f"{best.log_score:.4g}", f"{best.outside:g}", str(len(found.close)), behind]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=pathlib.Path)
    folder = options.parse_args().folder
    heads = ["data", "best", "CRPS", "log score", "rows outside", "others within two errors", "plain is behind by"]
    print(f"| {' | '.join(heads)} |\n| {' | '.join('---' for _ in heads)} |")
    for name, of in NUMBERS.items():
        print(line(f"{name}, {of}", fenchel.compare(column(folder / name, of)), "BetaGaussian(alpha=1)"))
    for name in COUNTS:
        values, weights = column(folder / name, "value"), column(folder / name, "freq")
        rows = np.repeat(values, weights.astype(int))
        print(line(name, fenchel.compare(rows, COUNT_FAMILIES), "SparsePoisson(alpha=1)"))


if __name__ == "__main__":
    main()
