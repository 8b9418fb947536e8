"""Tables of measured numbers, as they are printed and as a page holds them between markers. It needs no torch.

A number that could not be measured is None, and a dash in the table. The table of a part of a command stands on its page
between the lines `<!-- COMMAND: PART -->` and `<!-- end -->`.
"""

from __future__ import annotations

import math
import pathlib
import re
import textwrap
from collections.abc import Iterable, Sequence

Number = float | None

# The parts of each command, in the order of docs/benchmarks.md: one table each.
PARTS = {
    "gpu.py": (
        "maps",
        "bfloat16",
        "float64",
        "packages",
        "backward",
        "fusedmax",
        "losses",
        "autograd",
        "soft",
        "line",
        "plane",
        "keys",
        "decoding",
        "small",
    ),
    "pytorch.py": ("forward", "both", "losses", "small", "packages", "attention"),
}
ANY_MARKER, END = re.compile(r"<!-- \w+\.py: "), "<!-- end -->\n"


def milliseconds_cell(x: Number) -> str:
    """A time, in milliseconds or another unit, to three digits or so."""
    return "-" if x is None else f"{x:.3f}" if x < 1 else f"{x:.2f}" if x < 10 else f"{x:.1f}"


def share_cell(limit: float, took: Number) -> str:
    """The limit over the time, in percent."""
    if took is None:
        return "-"
    percent = 100 * limit / took
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.1f} %"


def error_cell(x: Number) -> str:
    """An error by its size: 3e-7."""
    return "-" if x is None else re.sub(r"e([+-])0*(?=\d)", r"e\1", f"{x:.0e}") if x else "0"


def ratio_cell(x: Number) -> str:
    """How many times as long as something else: .85, 1.26, 4.3, 24."""
    return "-" if x is None else f"{x:.2f}".lstrip("0") if x < 2 else f"{x:.1f}" if x < 10 else f"{x:.0f}"


def units_cell(x: Number) -> str:
    """An error in units of the rounding."""
    return "-" if x is None else f"{x:.1f}"


def largest(values: Iterable[Number]) -> Number:
    """Of those that were measured; NaN if one of them is NaN."""
    measured = [x for x in values if x is not None]
    if any(math.isnan(x) for x in measured):
        return math.nan
    return max(measured, default=None)


class Table:
    """Printed row by row as it is measured. `about` says in sentences what the numbers are and of what data."""

    def __init__(self, about: str, columns: Sequence[str]) -> None:
        self.about, self.columns = about, list(columns)
        self.rows: list[list[str]] = []
        print(textwrap.fill(about, 124))
        self._print(self.columns)

    def add(self, *cells: object) -> None:
        row = [str(cell) for cell in cells]
        if len(row) != len(self.columns):
            raise ValueError(f"a row of {len(row)} cells in a table of {len(self.columns)} columns")
        self.rows.append(row)
        self._print(row)

    def _print(self, row: list[str]) -> None:
        rest = (f"{cell:>{max(len(column), 9)}}" for cell, column in zip(row[1:], self.columns[1:]))
        print(f"  {row[0]:26}  {'  '.join(rest)}", flush=True)

    def markdown(self, origin: str) -> str:
        """What stands between the markers; `origin` says when, where and by what the numbers were made."""
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
        return f"\n{textwrap.fill(self.about, 124)}\n\n{table}\n{textwrap.fill(origin, 124)}\n\n"


class Pages:
    """Pages with tables of a command between markers, written anew whenever one of their tables is replaced."""

    def __init__(self, command: str, paths: Iterable[pathlib.Path], parts: Iterable[str]) -> None:
        """Refuses, before anything is measured, a page with none of these parts, and a part that no page has."""
        self.command, self.paths, self.parts = command, list(paths), list(parts)
        found = {path: [part for part in self.parts if self._place(path, part)] for path in self.paths}
        for path, there in found.items():
            if not there:
                raise ValueError(f"{path}: needs a line <!-- {command}: PART -->, where PART is one of {self.parts}")
        for part in self.parts if self.paths else ():
            if not any(part in there for there in found.values()):
                raise ValueError(f"{', '.join(map(str, self.paths))}: no line <!-- {command}: {part} -->")

    def replace(self, part: str, text: str) -> None:
        for path in self.paths:
            if place := self._place(path, part):
                page = path.read_text(encoding="utf-8")
                path.write_text(page[: place[0]] + text + page[place[1] :], encoding="utf-8")

    def _place(self, path: pathlib.Path, part: str) -> tuple[int, int] | None:
        """Where the text between the markers begins and ends; None on a page without them."""
        page, marker = path.read_text(encoding="utf-8"), f"<!-- {self.command}: {part} -->\n"
        if marker not in page:
            return None
        begin = page.index(marker) + len(marker)
        end, after = page.find(END, begin), ANY_MARKER.search(page, begin)
        if page.count(marker) != 1 or end < 0 or (after and after.start() < end):
            raise ValueError(f"{path}: needs one line {marker.strip()} and after it, before the next, {END.strip()}")
        return begin, end
