"""The frame of a command whose parts each measure a table of docs/benchmarks.md: its arguments, and one part after the
other."""

from __future__ import annotations

import argparse
import datetime
import pathlib
import subprocess
import time
from collections.abc import Callable

import torch
from measuring import attempt
from tables import PARTS, Pages, Table

ROOT = pathlib.Path(__file__).resolve().parents[1]

Measure = Callable[[str], tuple[Table, str, str]]
"""The table of a part, what it was measured on and with, and what else to say of that."""


def parser(command: str, about: str) -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog=command, description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ", ".join(PARTS[command])
    result.add_argument("parts", nargs="*", metavar="PART", help=f"of {names}; all of them by default")
    result.add_argument("--markdown", action="append", default=[], type=pathlib.Path, metavar="PAGE",
                        help="write the tables into this page, between its markers; may be given more than once")  # fmt: skip
    result.add_argument("--commit", metavar="TEXT", help="what the tables say was measured; asked of git by default")
    return result


def commit(pages: list[pathlib.Path]) -> str:
    """What is checked out, and whether anything but the pages differs from it."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()

    name = git("rev-parse", "--short", "HEAD")
    ignored = [
        f":(exclude,top){path.resolve().relative_to(ROOT)}" for path in pages if path.resolve().is_relative_to(ROOT)
    ]
    return name + (" with changes" if git("status", "--porcelain", "--", ".", *ignored) else "")


def run(parser: argparse.ArgumentParser, arguments: argparse.Namespace, measure: Measure) -> None:
    """Measures the parts that were asked for, prints their tables, and writes them into the pages."""
    command = parser.prog
    chosen = arguments.parts or PARTS[command]
    if not set(chosen) <= set(PARTS[command]):
        parser.error(f"parts are {', '.join(PARTS[command])}, got {' '.join(chosen)}")
    try:
        pages = Pages(command, arguments.markdown, chosen)
    except (OSError, ValueError) as fault:
        parser.exit(1, f"{command}: {fault}\n")
    made_by = arguments.commit or attempt("git", lambda: commit(arguments.markdown)) or "unknown"
    today = datetime.date.today()
    start = time.perf_counter()
    failed = []
    for part in chosen:
        torch.manual_seed(1)
        print(f"\n{part}, after {time.perf_counter() - start:.0f} s", flush=True)
        if measured := attempt(part, lambda part=part: measure(part)):
            table, machine, remark = measured
            origin = f"{today.day} {today:%B %Y}, {machine}, commit {made_by}{remark}."
            print(origin, flush=True)
            pages.replace(part, table.markdown(origin))
        else:
            failed.append(part)
    print(f"\nall of it took {time.perf_counter() - start:.0f} s")
    if failed:
        parser.exit(1, f"{command}: not measured: {', '.join(failed)}\n")
