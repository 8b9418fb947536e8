"""Which alpha predicts best: the table of docs/estimation.md, over data with and without outliers.

    python bench/regression.py --data FOLDER        # all rows; FOLDER has boston.csv, engel.csv and uci/concrete.csv
    python bench/regression.py outliers diabetes    # some rows

Every data set is cut into folds, and each fold is predicted by BetaGaussianRegressor(alpha, scale_penalty=1) from the
others. The scores are means over all rows that were predicted; of `outliers` over the rows that are none.
"""

from __future__ import annotations

import argparse
import csv
import pathlib
import warnings
from collections.abc import Callable

import numpy as np
from fenchel.sklearn import BetaGaussianRegressor
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Features, targets, and whether a row is scored."""

MODELS = {
    "1/2, cross-Omega": {"alpha": 1 / 2, "noise_loss": "cross_omega"},
    "1/2": {"alpha": 1 / 2},
    "0.7": {"alpha": 0.7},
    "1": {"alpha": 1},
    "4/3": {"alpha": 4 / 3},
    "3/2": {"alpha": 3 / 2},
    "2": {"alpha": 2},
}
BOSTON = "crim zn indus chas nox rm age dis rad tax ptratio black lstat".split()
CANCER = pathlib.Path(__file__).resolve().parents[1] / "data" / "cancer.csv"


def table(path: pathlib.Path, y: str, x: list[str]) -> Rows:
    with open(path, newline="") as file:
        rows = [[float(row[name]) for name in (y, *x)] for row in csv.DictReader(file)]
    values = np.array(rows)
    return values[:, 1:], values[:, 0], np.full(len(values), True)


def simulated(noise: str, share: float = 0, count: int = 400) -> Rows:
    """A line with noise of variance 1 at x1 = 0, which grows with x1; this share of rows lies 5 or 20 above it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(count, 3))
    unit = rng.normal(size=count) if noise == "gaussian" else rng.uniform(-(3**0.5), 3**0.5, count)
    bad = rng.random(count) < share
    return X, 1 + X @ [2, -1, 0.5] + np.exp(0.3 * X[:, 0]) * unit + bad * rng.choice([5.0, 20.0], count), ~bad


def concrete(path: pathlib.Path) -> Rows:
    with open(path, newline="") as file:
        names = next(csv.reader(file))
    return table(path, names[-1], names[:-1])


def diabetes(_: pathlib.Path) -> Rows:
    X, y = load_diabetes(return_X_y=True)
    return X, y, np.full(len(y), True)


SETS: dict[str, Callable[[pathlib.Path], Rows]] = {
    "gaussian": lambda _: simulated("gaussian"),
    "outliers": lambda _: simulated("gaussian", 0.1),
    "uniform": lambda _: simulated("uniform"),
    "boston": lambda data: table(data / "boston.csv", "medv", BOSTON),
    "engel": lambda data: table(data / "engel.csv", "foodexp", ["income"]),
    "concrete": lambda data: concrete(data / "uci" / "concrete.csv"),
    "cancer": lambda _: table(CANCER, "cancer", ["population"]),
    "diabetes": diabetes,
}
NEED_DATA = ("boston", "engel", "concrete")


def scores(rows: Rows, model: dict[str, object], folds: int) -> dict[str, float]:
    """Of predictions for rows that were held out. The CRPS is the mean over 18 quantiles of twice their loss."""
    X, y, scored = rows
    errors, logs, crps = [], [], []
    for train, test in KFold(folds, shuffle=True, random_state=0).split(X):
        fit = BetaGaussianRegressor(**model, scale_penalty=1, random_state=0).fit(X[train], y[train])
        held = test[scored[test]]
        errors.append(y[held] - fit.predict(X[held]))
        logs += [p.logpdf(t) for p, t in zip(fit.predict_dist(X[held]), y[held])]
        for confidence in np.arange(1, 10) / 10:
            lower, upper = (y[held, None] - fit.predict_interval(X[held], confidence)).T
            tail = (1 - confidence) / 2
            crps.append(np.maximum(tail * lower, (tail - 1) * lower) + np.maximum((1 - tail) * upper, -tail * upper))
    error = np.concatenate(errors)
    return {
        "MAE": np.mean(abs(error)),
        "r2": 1 - np.mean(error**2) / np.var(y[scored]),
        "CRPS": np.mean(np.concatenate(crps)),
        "log p": np.mean(logs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)} (all that can be read)")
    parser.add_argument("--data", type=pathlib.Path, metavar="FOLDER", help=f"of {', '.join(NEED_DATA)}")
    parser.add_argument("--folds", type=int, default=10)
    options = parser.parse_args()
    for name in options.sets:
        if name not in SETS:
            parser.error(f"SET: expected one of {', '.join(SETS)}, got {name!r}")
        if name in NEED_DATA and options.data is None:
            parser.error(f"{name} needs --data")
    names = options.sets or [name for name in SETS if options.data is not None or name not in NEED_DATA]
    print("| data | score |", " | ".join(MODELS), "|")
    print("|", " | ".join(["---"] * (len(MODELS) + 2)), "|")
    for name in names:
        rows = SETS[name](options.data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # said by the page
            found = [scores(rows, model, options.folds) for model in MODELS.values()]
        for score in found[0]:
            print(f"| {name} | {score} |", " | ".join(f"{each[score]:.4g}" for each in found), "|", flush=True)


if __name__ == "__main__":
    main()
