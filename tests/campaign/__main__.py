"""Random calls of every public function of the Python package, of fenchel.torch and of the command, and laws that they keep.

usage: python tests/campaign [--minutes M | --rounds N] [--seed S] [--jobs N] [--only TEXT] [--record]
       python tests/campaign 'LINE'      runs one line again, such as a campaign prints

The command is that of the environment variable FENCHEL, or fenchel. The exit status is 1 where a law is broken.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time

import page
import run
from table import TABLE


def reported(case: run.Case, outcome: run.Outcome) -> None:
    """A failure, and the line that shows it."""
    print(f"{outcome.kind}: {outcome.why}\n  python tests/campaign {shlex.quote(case.line)}", flush=True)


def again(line: str) -> int:
    """One line, whose errors are shown as they come."""
    from names import NAMESPACE

    eval(line, NAMESPACE)
    print("the law holds")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("line", nargs="?", help="a line to run again")
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (1 unless given)")
    parser.add_argument("--rounds", type=int, help="how often every row is run, instead of minutes: the same calls again")
    parser.add_argument("--seed", type=int, default=0, help="of all that is drawn (0 unless given)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="calls at a time (as many as processors)")
    parser.add_argument("--only", default="", help="only rows whose front end and names contain this text")
    parser.add_argument("--record", action="store_true", help="write the table of docs/reliability.md from this run")
    given = parser.parse_args()
    if given.line:
        return again(given.line)
    table = {
        front_end: chosen
        for front_end, rows in TABLE.items()
        if (chosen := [row for row in rows if given.only in f"{front_end} {row.names}"])
    }
    begin = time.monotonic()
    tally = run.campaign(table, given.seed, given.rounds, 60 * given.minutes, given.jobs, reported)
    record = page.recorded(tally, table, given.seed, time.monotonic() - begin)
    if given.record:
        page.write(record)
    print(page.summary(record), end="")
    if tally.failed:
        print("the worst:")
        reported(*tally.worst()[0][0])
    return tally.failed > 0


if __name__ == "__main__":
    sys.exit(main())
