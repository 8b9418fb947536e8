"""The tables of docs/small_transformers.md, from the file of results: no number on that page is typed by hand.

usage: python -m experiments.transformers.tables          writes the page anew
       python -m experiments.transformers.tables --check  ends with 1 where the page differs from the results

A table is empty while its file of results is absent. It needs no torch.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from .. import tables
from ..tables import ROOT, Content, table

PAGE = ROOT / "docs" / "small_transformers.md"


def rows_of(content: Content, data: str) -> list[dict[str, Any]]:
    return [row for row in content["summary"] if row["data"] == data]


def lengths_of(content: Content, data: str) -> list[int]:
    return next(row["config"]["lengths"] for row in content["rows"] if row["data"] == data)


def shown(number: float, interval: list[float], digits: int) -> str:
    return f"{number:.{digits}f} [{interval[0]:.{digits}f}, {interval[1]:.{digits}f}]"


def mean(row: dict[str, Any], value: str, digits: int) -> str:
    """With its interval; nothing where the row has no such value."""
    found = row["values"].get(value)
    return "" if found is None else shown(found["mean"], found["interval"], digits)


def difference(content: Content, data: str, name: str, against: str, value: str, digits: int) -> str:
    """Bold where the interval excludes 0."""
    for found in content["differences"]:
        if (found["data"], found["row"], found["against"], found["value"]) == (data, name, against, value):
            low, high = found["interval"]
            mark = "" if low <= 0 <= high else "**"
            return f"{mark}{found['difference']:+.{digits}f}{mark} [{low:+.{digits}f}, {high:+.{digits}f}]"
    return ""


def by_length(content: Content, data: str, value: str, head: str, digits: int) -> str:
    """A line for each kind of attention, a column for each length."""
    lengths = lengths_of(content, data)
    lines = [
        [row["label"], *(mean(row, f"{value}: {length}", digits) for length in lengths)]
        for row in rows_of(content, data)
    ]
    return table([head, *map(str, lengths)], lines)


def differences(content: Content, data: str, value: str, head: str, digits: int) -> str:
    """A line for each pair of kinds of attention, a column for each length."""
    lengths = lengths_of(content, data)
    labels = {row["name"]: row["label"] for row in rows_of(content, data)}
    pairs = dict.fromkeys((d["row"], d["against"]) for d in content["differences"] if d["data"] == data)
    lines = [
        [
            f"{labels[a]} - {labels[b]}",
            *(difference(content, data, a, b, f"{value}: {length}", digits) for length in lengths),
        ]
        for a, b in pairs
    ]
    return table([head, *map(str, lengths)], lines)


def copies(content: Content) -> str:
    """Bits of letters that can be copied, and the least that are possible."""
    lengths = lengths_of(content, "text")
    needed = rows_of(content, "text")[0]["values"]
    least = [f"{needed[f'least bits of copies: {length}']['mean']:.2f}" for length in lengths]
    line = f"| least possible | {' | '.join(least)} |\n"
    return by_length(content, "text", "bits of copies", "bits of letters that can be copied", 2) + line


def heads(content: Content, value: str, title: str, digits: int) -> str:
    """A line for each kind of attention of each task, a column for each head of each layer."""
    places = [f"layer {layer}, head {head}" for layer in (1, 2) for head in (1, 2, 3, 4)]
    lines = [
        [f"{data}, {row['label']}", *(mean(row, f"{value}: {place}", digits) for place in places)]
        for data in ("text", "recall")
        for row in rows_of(content, data)
        if f"{value}: {places[0]}" in row["values"]
    ]
    return table([title, *places], lines)


def costs(content: Content) -> str:
    """Milliseconds and megabytes of a step, a column for each task and length."""
    columns = list(dict.fromkeys((cost["data"], cost["length"]) for cost in content["costs"]))
    labels = {row["name"]: row["label"] for row in content["summary"]}
    lines = [
        [
            f"{label}, {unit}",
            *(
                f"{cost[unit]:.1f}"
                for column in columns
                for cost in content["costs"]
                if (cost["data"], cost["length"]) == column and cost["name"] == name
            ),
        ]
        for unit in ("milliseconds", "megabytes")
        for name, label in labels.items()
    ]
    return table(["a step", *(f"{data}, {length}" for data, length in columns)], lines)


TABLES_OF: dict[str, Callable[[Content], str]] = {
    "text, bits": lambda found: by_length(found, "text", "bits", "bits of a letter", 3),
    "text, differences": lambda found: differences(found, "text", "bits", "bits of a letter", 3),
    "text, copies": copies,
    "text, differences of copies": lambda found: differences(
        found, "text", "bits of copies", "bits of letters that can be copied", 2
    ),
    "text, keys": lambda found: by_length(found, "text", "keys", "keys with weight, second layer", 0),
    "recall, accuracy": lambda found: by_length(found, "recall", "accuracy", "right answers", 3),
    "recall, differences": lambda found: differences(found, "recall", "accuracy", "right answers", 3),
    "recall, keys": lambda found: by_length(found, "recall", "keys", "keys with weight", 1),
    "recall, bulk": lambda found: by_length(found, "recall", "keys of 95 %", "keys that hold 95 %", 1),
    "zeros": lambda found: heads(found, "zeros", "zeros", 2),
    "alphas": lambda found: heads(found, "alpha", "alpha", 2),
    "gammas": lambda found: heads(found, "gamma", "gamma", 2),
    "costs": costs,
    "made": tables.made_of,
}


def made_from(file: str, make: Callable[[Content], str]) -> str:
    return make(tables.read(file))


TABLES: dict[str, Callable[[], str]] = {
    prefix + name: functools.partial(made_from, file, make)
    for file, prefix in (("transformers", ""), ("transformers_gpu", "GPU, "))
    for name, make in TABLES_OF.items()
}


if __name__ == "__main__":
    sys.exit(tables.main(PAGE, TABLES))
