"""Means of runs, and paired differences between two rows of a table, with 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

Runs = Sequence[dict[str, Any]]
"""Each with a unit (a test fold), a seed and values by name."""


def interval(numbers: Sequence[float]) -> list[float] | None:
    """Of the mean, by Student's t: right for independent normal numbers. None for fewer than two."""
    from scipy.stats import t

    if len(numbers) < 2:
        return None
    mean = sum(numbers) / len(numbers)
    half = float(t.ppf(0.975, len(numbers) - 1)) * deviation(numbers) / math.sqrt(len(numbers))
    return [mean - half, mean + half]


def deviation(numbers: Sequence[float]) -> float:
    """The standard deviation, with n - 1 below."""
    if len(numbers) < 2:
        return 0.0
    mean = sum(numbers) / len(numbers)
    return math.sqrt(sum((x - mean) ** 2 for x in numbers) / (len(numbers) - 1))


def by_unit(runs: Runs, value: str) -> dict[int, float]:
    """The mean over the seeds of each unit."""
    found: dict[int, list[float]] = {}
    for run in runs:
        found.setdefault(run["unit"], []).append(run["values"][value])
    return {unit: sum(numbers) / len(numbers) for unit, numbers in sorted(found.items())}


def summary(runs: Runs) -> dict[str, dict[str, Any]]:
    """Mean, deviation and interval of each value: over the units, or over the seeds where there is one unit."""
    found = {}
    for value in runs[0]["values"]:
        numbers = list(by_unit(runs, value).values())
        if len(numbers) == 1:
            numbers = [run["values"][value] for run in runs]
        mean = sum(numbers) / len(numbers)
        found[value] = {"mean": mean, "deviation": deviation(numbers), "interval": interval(numbers)}
    return found


def difference(runs: Runs, against: Runs, value: str) -> dict[str, Any]:
    """The mean of paired differences, for the units and seeds that both have. Its interval over all pairs takes the units
    as given; that over units, wider, says what to expect of others. None where a unit or a seed is alone."""
    other = {(run["unit"], run["seed"]): run["values"][value] for run in against}
    pairs = [
        run | {"values": {value: run["values"][value] - other[run["unit"], run["seed"]]}}
        for run in runs
        if (run["unit"], run["seed"]) in other
    ]
    differences = [pair["values"][value] for pair in pairs]
    return {
        "value": value,
        "difference": sum(differences) / len(differences),
        "interval": interval(differences),
        "interval_over_units": interval(list(by_unit(pairs, value).values())),
    }
