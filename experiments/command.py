"""What both experiments do on the command line: rows of a table, run one after the other into a file of results."""

from __future__ import annotations

import argparse
import pathlib
import sys
import time
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from .results import Results, made
from .training import Progress

GROUPS = ("paper", "control", "ablation", "floor")


@dataclass(frozen=True)
class Row:
    """A row of the table, from a file of its name."""

    name: str
    label: str
    group: str
    pooling: Any


def read_rows(folder: pathlib.Path, make: Callable[..., Any], names: list[str] | None = None) -> list[Row]:
    """The rows of these names, or all, in the order of their groups: `make` is given what a file says besides."""
    files = {file.stem: file for file in sorted(folder.glob("*.toml"))}
    unknown = [name for name in names or [] if name not in files]
    if unknown:
        raise ValueError(f"rows must be among {', '.join(files)}, got {', '.join(unknown)}")
    found = [_read_row(file, make) for name, file in files.items() if names is None or name in names]
    return sorted(found, key=lambda row: GROUPS.index(row.group))


def _read_row(file: pathlib.Path, make: Callable[..., Any]) -> Row:
    try:
        content = tomllib.loads(file.read_text())
        label, group = content.pop("label"), content.pop("group")
        if group not in GROUPS:
            raise ValueError(f"group must be one of {', '.join(GROUPS)}, got {group!r}")
        return Row(file.stem, label, group, make(**content))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file}: not a row of the table: {error}") from None


class Outcome(NamedTuple):
    """What a task found: values of each unit and seed, and how many parameters a model has."""

    runs: list[dict[str, Any]]
    parameters: int


class Task(NamedTuple):
    """A row on a data set. `run` is told where to say which part of it is done."""

    data: str
    row: Row
    config: dict[str, Any]
    run: Callable[[Callable[[float], None]], Outcome]


def run_tasks(tasks: Iterable[Task], results: Results, seeds: int, device: torch.device) -> None:
    """Each task that the results do not have yet."""
    tasks = list(tasks)
    progress = Progress(len(tasks))
    for task in tasks:
        title = f"{task.data}, {task.row.name}"
        if results.has(task.data, task.row.name, task.config, seeds):
            progress.skip(title)
            continue
        started = time.monotonic()
        runs, parameters = task.run(lambda share: progress.show(title, share))
        seconds = time.monotonic() - started
        results.put(
            {
                "data": task.data,
                "name": task.row.name,
                "label": task.row.label,
                "group": task.row.group,
                "config": task.config,
                "parameters": parameters,
                "runs": runs,
                "seconds": seconds,
                "made": made(device),
            }
        )
        accuracy = sum(run["values"]["accuracy"] for run in runs) / len(runs)
        progress.finish(title, f"accuracy {accuracy:.4f}, {seconds:.0f} s")


def parser(experiment: str, description: str, sets: tuple[str, ...]) -> argparse.ArgumentParser:
    """The options that both experiments have."""
    options = argparse.ArgumentParser(prog=f"python -m experiments.{experiment}", description=description)
    options.add_argument("--data", type=pathlib.Path, metavar="DIR", help="the folder that the data is in")
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", type=torch.device)
    options.add_argument("--out", type=pathlib.Path, metavar="FILE", required=True, help="the file of results, JSON")
    options.add_argument(
        "--rows", nargs="+", metavar="NAME", help=f"files in experiments/{experiment}/rows; all unless said"
    )
    listed = ", ".join(f'"{name}"' for name in sets)
    options.add_argument(
        "--sets", nargs="+", choices=sets, default=sets, metavar="SET", help=f"of {listed}; all unless said"
    )
    options.add_argument("--seeds", type=int, default=5, metavar="N", help="models of each row (default: 5)")
    options.add_argument("--epochs", type=int, metavar="N", help="in place of those of the settings")
    options.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="save parameters for the pictures here")
    return options


def run_as_program(experiment: str, main: Callable[[], None]) -> None:
    """An error of the data or of the options is one line; what was finished stays when the program is interrupted."""
    try:
        main()
    except (OSError, ValueError) as error:
        sys.exit(f"experiments.{experiment}: {error}")
    except KeyboardInterrupt:
        sys.exit(f"\nexperiments.{experiment}: interrupted; the same command goes on after the last row")
