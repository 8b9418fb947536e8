"""The file of results: JSON that is complete after each row of a table, so that an experiment can go on where it was
stopped."""

from __future__ import annotations

import datetime
import json
import os
import pathlib
import platform
import subprocess
from typing import Any

import torch

import fenchel

from . import statistics

ROOT = pathlib.Path(__file__).resolve().parent.parent


def commit() -> str:
    """Of this checkout, with a plus where files were changed; FENCHEL_COMMIT says it where there is no git."""
    named = os.environ.get("FENCHEL_COMMIT")
    if named:
        return named
    try:
        head = subprocess.run(
            ["git", "rev-parse", "--short=7", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()
        changed = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", "."], cwd=ROOT).returncode != 0
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("+" if changed else "")


def made(device: torch.device) -> dict[str, str]:
    """When, by what and on which machine."""
    machine = torch.cuda.get_device_name(device) if device.type == "cuda" else f"CPU, {os.cpu_count()} cores"
    return {
        "day": datetime.date.today().isoformat(),
        "commit": commit(),
        "machine": machine,
        "torch": torch.__version__.split("+")[0],
        "fenchel": fenchel.__version__,
        "python": platform.python_version(),
    }


class Results:
    """The rows that are there, and new ones; every change is a whole new file under the old name."""

    def __init__(self, file: pathlib.Path, experiment: str) -> None:
        self.file = file
        lists: dict[str, Any] = {name: [] for name in ("rows", "summary", "differences", "figures")}
        self.content: dict[str, Any] = {"experiment": experiment} | lists
        if file.exists():
            try:
                self.content = json.loads(file.read_text())
            except json.JSONDecodeError as error:
                raise ValueError(f"{file}:{error.lineno}:{error.colno}: not a file of results: {error.msg}") from None
            if self.content.get("experiment") != experiment:
                found = self.content.get("experiment")
                raise ValueError(f"{file}: experiment must be {experiment!r}, got {found!r}")

    @property
    def rows(self) -> list[dict[str, Any]]:
        return self.content["rows"]

    def row(self, data: str, name: str, config: dict[str, Any]) -> dict[str, Any] | None:
        """That of this name and data, if it has this configuration."""
        row = self._find(data, name)
        known = json.loads(json.dumps(_rounded(config)))
        return row if row is not None and row["config"] == known else None

    def seeds(self, data: str, name: str, config: dict[str, Any]) -> set[int]:
        """With which a row with this configuration was run."""
        row = self.row(data, name, config)
        return set() if row is None else {run["seed"] for run in row["runs"]}

    def has(self, data: str, name: str, config: dict[str, Any], seeds: int) -> bool:
        """Whether a row with this configuration was run with so many seeds."""
        return len(self.seeds(data, name, config)) == seeds

    def put(self, row: dict[str, Any]) -> None:
        """In place of the row of the same name and data, or at the end; as the file has it, so that the same command twice
        leaves the same file."""
        row = _rounded(row)
        old = self._find(row["data"], row["name"])
        if old is None:
            self.rows.append(row)
        else:
            self.rows[self.rows.index(old)] = row
        self.save()

    def put_figure(self, file: str, caption: str) -> None:
        """In place of the caption of the same file, or at the end."""
        figures = self.content.setdefault("figures", [])
        entry = {"file": file, "caption": caption}
        at = next((i for i, figure in enumerate(figures) if figure["file"] == file), len(figures))
        figures[at : at + 1] = [entry]
        self.save()

    def compare(self, pairs: list[tuple[str, str]], values: list[str]) -> None:
        """The summary of all rows, and the differences between rows by these names, in these values, that there are."""
        self.content["summary"] = [
            {key: row[key] for key in ("data", "name", "label", "group")} | {"values": statistics.summary(row["runs"])}
            for row in self.rows
        ]
        self.content["differences"] = [
            {"data": data, "row": name, "against": other} | statistics.difference(row["runs"], base["runs"], value)
            for data in dict.fromkeys(row["data"] for row in self.rows)
            for name, other in pairs
            if (row := self._find(data, name)) and (base := self._find(data, other))
            for value in values
            if all(value in runs[0]["values"] for runs in (row["runs"], base["runs"]))
        ]
        self.save()

    def save(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.file.with_suffix(".unfinished")
        unfinished.write_text(_pretty(self.content))
        unfinished.replace(self.file)

    def _find(self, data: str, name: str) -> dict[str, Any] | None:
        return next((row for row in self.rows if row["data"] == data and row["name"] == name), None)


def _pretty(content: dict[str, Any]) -> str:
    """One line for each row, so that a change of one is a change of one line."""
    parts = []
    for key, value in content.items():
        if isinstance(value, list):
            lines = ",\n  ".join(json.dumps(_rounded(item)) for item in value)
            parts.append(f"{json.dumps(key)}: [\n  {lines}\n]" if value else f"{json.dumps(key)}: []")
        else:
            parts.append(f"{json.dumps(key)}: {json.dumps(_rounded(value))}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value
