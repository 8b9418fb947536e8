"""The tables of docs/experiments.md, from the files of results: no number on that page is typed by hand.

usage: python -m experiments.tables          writes the page anew
       python -m experiments.tables --check  ends with 1 where the page differs from the results

A table stands between the lines `<!-- tables: NAME -->` and `<!-- end -->`. It needs no torch.
"""

from __future__ import annotations

import json
import pathlib
import re
import sys
from collections.abc import Callable
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "experiments" / "results"
PAGE = ROOT / "docs" / "experiments.md"
PRINTED = {
    "discrete_1": 0.5967,
    "discrete_4_3": 0.5946,
    "discrete_3_2": 0.6032,
    "discrete_2": 0.5903,
    "both_1": 0.6229,
    "both_4_3": 0.6280,
    "both_3_2": 0.6171,
    "both_2": 0.6247,
}
"""Table 3 of the paper, whose continuous attention is the sum of both contexts."""
GROUPS = {
    "paper": "attention of the paper, and its relatives",
    "control": "controls",
    "ablation": "ablations",
    "floor": "without a network, or without the image",
}
Content = dict[str, Any]


def read(experiment: str) -> Content:
    return json.loads((RESULTS / f"{experiment}.json").read_text())


def table(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def value(
    content: Content, data: str, name: str, which: str = "accuracy", digits: int = 4, with_deviation: bool = True
) -> str:
    """The mean and, after +-, the deviation."""
    for row in content["summary"]:
        if row["data"] == data and row["name"] == name and which in row["values"]:
            found = row["values"][which]
            deviation = f" +- {found['deviation']:.{digits - 1}f}" if with_deviation else ""
            return f"{found['mean']:.{digits}f}{deviation}"
    return ""


def difference(content: Content, data: str, name: str, against: str, which: str = "accuracy") -> str:
    """In points of accuracy, with the wider interval that there is: over units, else over seeds."""
    for found in content["differences"]:
        if (found["data"], found["row"], found["against"], found["value"]) == (data, name, against, which):
            low, high = (100 * end for end in found["interval_over_units"] or found["interval"])
            mark = "" if low <= 0 <= high else "**"
            return f"{mark}{100 * found['difference']:+.1f}{mark} [{low:+.1f}, {high:+.1f}]"
    return ""


def rows_of(content: Content, data: list[str]) -> dict[str, dict[str, str]]:
    """Names and labels of the rows of these data sets, by group."""
    found: dict[str, dict[str, str]] = {group: {} for group in GROUPS}
    for row in content["summary"]:
        if row["data"] in data:
            found[row["group"]][row["name"]] = row["label"]
    return found


def grouped(content: Content, data: list[str], columns: list[str], cells: Callable[[str], list[str]]) -> str:
    """A line for each row, and one above each group."""
    lines = []
    for group, rows in rows_of(content, data).items():
        if rows:
            lines.append([f"*{GROUPS[group]}*"] + [""] * (len(columns) - 1))
            lines += [[label, *cells(name)] for name, label in rows.items()]
    return table(columns, lines)


def audio_accuracy(features: str) -> str:
    content = read("audio")
    sets = [f"{features}, per clip", f"{features}, per coefficient"]

    def cells(name: str) -> list[str]:
        printed = PRINTED.get(name)
        means = [value(content, data, name) for data in sets]
        return [f"{printed:.4f}" if printed else "", *means, value(content, sets[0], name, "support", 2, False)]

    columns = ["row", "the paper prints", "per clip", "per coefficient", "part of a clip that is seen"]
    return grouped(content, sets, columns, cells)


def audio_differences(features: str) -> str:
    content = read("audio")
    against = {"discrete_1": "softmax", "discrete_1_twice": "softmax twice", "discrete_1_mean": "softmax + mean"}
    against |= {"mean": "mean alone", "logistic_regression": "logistic regression"}
    lines = []
    for how in ("per clip", "per coefficient"):
        for name in ("both_1", "both_4_3", "both_3_2", "both_2", "both_learned"):
            found = [difference(content, f"{features}, {how}", name, other) for other in against]
            if any(found):
                label = name.replace("both_", "alpha ").replace("_", "/")
                lines.append([f"{how}, {label}", *found])
    return table(["both contexts", *(f"minus {label}" for label in against.values())], lines)


def audio_changes() -> str:
    content = read("audio")
    pairs = [(f"both_{a}", f"both_{a}_variance") for a in ("4_3", "3_2", "2")]
    pairs += [(f"{kind}_2_mixture", f"{kind}_2") for kind in ("continuous", "both")]
    pairs += [(f"both_{a}_{change}", f"both_{a}") for a in ("1", "2") for change in ("no_floor", "authors")]
    pairs += [(f"discrete_{a}", "discrete_1") for a in ("4_3", "3_2", "2", "learned")]
    sets = list(dict.fromkeys(row["data"] for row in content["summary"]))
    lines = [[f"`{a}` - `{b}`", *(difference(content, data, a, b) for data in sets)] for a, b in pairs]
    return table(["difference", *sets], lines)


def vqa_accuracy(data: str) -> str:
    content = read("vqa")
    kinds = [
        key.removeprefix("accuracy: ")
        for row in content["summary"]
        if row["data"] == data and row["name"] == "discrete_1"
        for key in row["values"]
        if key.startswith("accuracy: ")
    ]
    return grouped(
        content,
        [data],
        ["row", "all", "minus softmax", *kinds],
        lambda name: [
            value(content, data, name, digits=3),
            difference(content, data, name, "discrete_1"),
            *(value(content, data, name, f"accuracy: {kind}", 3) for kind in kinds),
        ],
    )


def vqa_regions(data: str) -> str:
    content = read("vqa")
    columns = ["row", "mass inside", "overlap (IoU)", "area seen"]
    return grouped(
        content, [data], columns, lambda name: [value(content, data, name, which, 3) for which in ("inside", "iou", "area")]
    )


def clevr_differences() -> str:
    """What single densities, several of them, and softmax do by kind of question."""
    content, data = read("vqa"), "sort-of-clevr"
    kinds = ["one object", "closest", "furthest", "count"]
    pairs = [(f"continuous_{a}", "discrete_1") for a in ("1", "4_3", "3_2", "2")]
    pairs += [("continuous_2_heads", other) for other in ("discrete_1", "discrete_1_heads", "continuous_2")]
    pairs += [("continuous_2_mixture", other) for other in ("discrete_1", "continuous_2", "continuous_2_heads")]
    pairs += [(name, "discrete_1") for name in ("discrete_1_heads", "discrete_2", "tv", "mean")]
    lines = [
        [f"`{a}` - `{b}`", *found]
        for a, b in pairs
        if any(found := [difference(content, data, a, b, f"accuracy: {kind}") for kind in kinds])
    ]
    return table(["difference", *kinds], lines)


def made_of(content: Content) -> str:
    """When, where and by what the rows were made."""
    rows = content["rows"]
    machines = dict.fromkeys((row["made"]["machine"], row["made"]["torch"]) for row in rows)
    commits = dict.fromkeys(row["made"]["commit"] for row in rows)
    days = sorted({row["made"]["day"] for row in rows})
    where = "; ".join(f"{machine} (torch {torch})" for machine, torch in machines)
    minutes = sum(row["seconds"] for row in rows) / 60
    jobs = max(row["made"].get("jobs", 1) for row in rows)
    beside = f", {jobs} trainings at a time" if jobs > 1 else ""
    return (
        f"Recorded on {' and '.join(days)}: {where}; commits {', '.join(commits)}; {minutes:.0f} minutes in all{beside}.\n"
    )


def made(experiment: str) -> str:
    return made_of(read(experiment))


TABLES: dict[str, Callable[[], str]] = {
    "audio, mfcc": lambda: audio_accuracy("mfcc"),
    "audio, mfcc, differences": lambda: audio_differences("mfcc"),
    "audio, mel": lambda: audio_accuracy("mel"),
    "audio, mel, differences": lambda: audio_differences("mel"),
    "audio, changes": audio_changes,
    "audio, made": lambda: made("audio"),
    "easy-vqa": lambda: vqa_accuracy("easy-vqa"),
    "easy-vqa, regions": lambda: vqa_regions("easy-vqa"),
    "sort-of-clevr": lambda: vqa_accuracy("sort-of-clevr"),
    "sort-of-clevr, differences": clevr_differences,
    "sort-of-clevr, regions": lambda: vqa_regions("sort-of-clevr"),
    "vqa, made": lambda: made("vqa"),
}


def written(page: str, tables: dict[str, Callable[[], str]] = TABLES) -> str:
    """The page with all of its tables as the results have them."""

    def replaced(match: re.Match[str]) -> str:
        name = match[1]
        if name not in tables:
            raise ValueError(f"a table must be one of {', '.join(tables)}, got {name}")
        return f"<!-- tables: {name} -->\n\n{tables[name]()}\n<!-- end -->"

    return re.sub(r"<!-- tables: (.*?) -->.*?<!-- end -->", replaced, page, flags=re.DOTALL)


def main(file: pathlib.Path = PAGE, tables: dict[str, Callable[[], str]] = TABLES) -> int:
    page = file.read_text()
    new = written(page, tables)
    if sys.argv[1:] == ["--check"]:
        if new != page:
            print(f"{file.name} differs from experiments/results: write the tables anew", file=sys.stderr)
        return new != page
    file.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
