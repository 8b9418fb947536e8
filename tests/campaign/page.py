"""The table of a campaign: what `make campaign` prints, and what docs/reliability.md shows of the last long one.

usage: python tests/campaign/page.py    writes the page anew from record.json
"""

from __future__ import annotations

import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
from typing import Any

from row import Row
from run import Tally

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RECORD = HERE / "record.json"
PAGE = ROOT / "docs" / "reliability.md"


def processor() -> str:
    """Its name, and how many cores there are."""
    try:
        named = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        named = None
    return f"{named[1] if named else platform.machine()}, {os.cpu_count()} cores"


def recorded(tally: Tally, table: dict[str, list[Row]], seed: int, seconds: float) -> dict[str, Any]:
    """What is kept of a campaign."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
    return {
        "seed": seed,
        "minutes": round(seconds / 60, 1),
        "day": datetime.date.today().isoformat(),
        "machine": processor(),
        "commit": commit.strip(),
        "left_out": tally.left_out,
        "front_ends": {
            front_end: {
                "names": len({name for row in rows for name in row.names.split()}),
                "calls": tally.calls[front_end],
                "numbers": tally.numbers[front_end],
                "declined": tally.declined[front_end],
                "failed": sum(len(found) for (_, where, _), found in tally.failures.items() if where == front_end),
            }
            for front_end, rows in table.items()
        },
        "failures": [
            {"kind": group[0][1].kind, "why": group[0][1].why, "times": len(group), "line": group[0][0].line}
            for group in tally.worst()
        ],
    }


def summary(record: dict[str, Any]) -> str:
    """A line for each front end, and their sum."""
    columns = ("names", "calls", "numbers", "declined", "failed")
    rows = {f"`{name}`": values for name, values in record["front_ends"].items()}
    rows["all"] = {column: sum(values[column] for values in rows.values()) for column in columns}
    lines = [
        "| front end | public names | calls | evaluations | declined | failed |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        *(f"| {name} | {' | '.join(f'{values[column]:,}' for column in columns)} |" for name, values in rows.items()),
        "",
        f"Seed {record['seed']}, {record['minutes']:g} minutes on {record['day']}: {record['machine']}; "
        f"commit {record['commit']}; {record['left_out']} lines of `tests/campaign/known.txt` left out.",
    ]
    return "\n".join(lines) + "\n"


def failures(record: dict[str, Any]) -> str:
    """The lines that failed, one for each row of the table and kind of failure."""
    if not record["failures"]:
        return "None.\n"
    return "\n".join(
        f"- {found['kind']}, {found['times']} of these: {found['why']}\n\n      {found['line']}\n"
        for found in record["failures"]
    )


def written(page: str, record: dict[str, Any]) -> str:
    """The page with the figures of this record."""
    for name, text in (("summary", summary(record)), ("failures", failures(record))):
        block = f"<!-- campaign: {name} -->\n\n{text}\n<!-- end -->"
        page = re.sub(rf"<!-- campaign: {name} -->.*?<!-- end -->", lambda _: block, page, flags=re.DOTALL)  # noqa: B023
    return page


def write(record: dict[str, Any]) -> None:
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
    PAGE.write_text(written(PAGE.read_text(), record))


if __name__ == "__main__":
    write(json.loads(RECORD.read_text()))
