"""Runs lines in processes of their own, so that a crash and a call without end are failures too."""

from __future__ import annotations

import collections
import concurrent.futures
import dataclasses
import itertools
import multiprocessing
import os
import pathlib
import random
import re
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator
from multiprocessing.connection import Connection
from typing import Any

from draw import Draw
from row import Row

SECONDS = 30
"""Of processor time that a call may take; it may wait ten times as long, for others have work too."""
KNOWN = {
    line
    for line in (pathlib.Path(__file__).resolve().parent / "known.txt").read_text().splitlines()
    if line and not line.startswith("#")
}
"""Lines that break a law, as docs/reliability.md says: they are left out until they are mended."""
LARGE = 0.25
"""The share of lines with large arrays."""
SEVERITY = ("crash", "no end", "wrong error", "refused", "broken")
"""Kinds of failures, the worst first."""


@dataclasses.dataclass
class Case:
    """A line to run."""

    front_end: str
    names: str
    line: str
    wild: bool


@dataclasses.dataclass
class Outcome:
    """What came of it: held, declined (an error that is documented, for wild arguments) or a kind of failure."""

    kind: str
    why: str = ""
    numbers: int = 0

    @property
    def failed(self) -> bool:
        return self.kind in SEVERITY


def cases(table: dict[str, list[Row]], seed: int, round_: int) -> Iterator[Case]:
    """Every row once: the same for the same seed and round."""
    for front_end, rows in table.items():
        for row in rows:
            key = f"{seed} {round_} {row.line}"  # other rows do not change what this one draws
            generator, large = random.Random(key), random.Random(f"large {key}").random() < LARGE
            wild = generator.random() < 0.5
            name = generator.choice(row.names.split())
            line = row.line.replace("{name}", name).replace("{method}", name.rpartition(".")[2])
            yield Case(front_end, row.names, Draw(generator, wild, large).line(line), wild)


def attempt(case: Case) -> Outcome:
    """Runs a line here. What is ordinary must not be refused; what is refused must name a parameter in one sentence."""
    from names import DOCUMENTED, NAMESPACE, PARAMETERS
    from laws import Broken, Count

    before, error = Count.numbers, None
    try:
        eval(case.line, NAMESPACE)
    except Exception as raised:  # noqa: BLE001
        error = raised
    numbers = Count.numbers - before
    if error is None:
        return Outcome("held", numbers=numbers)
    why = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    if isinstance(error, Broken):
        return Outcome("broken", str(error), numbers)
    if not isinstance(error, DOCUMENTED):
        return Outcome("wrong error", why, numbers)
    if isinstance(error, ValueError) and not PARAMETERS & set(re.findall(r"\w+", str(error))):
        return Outcome("wrong error", f"names no parameter: {why}", numbers)
    return Outcome("declined" if case.wild else "refused", why, numbers)


def work(connection: Connection) -> None:
    """Runs what comes, with one thread, until nothing more does."""
    os.environ["OMP_NUM_THREADS"] = "1"
    import names  # noqa: F401  # takes seconds, which are not those of a call

    while (case := connection.recv()) is not None:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # SIGPROF ends the process
        connection.send(attempt(case))
        signal.setitimer(signal.ITIMER_PROF, 0)


class Worker:
    """A process that runs lines, and another one after it where it dies."""

    def __init__(self) -> None:
        self.process: Any = None

    def run(self, case: Case) -> Outcome:
        if self.process is None:
            context = multiprocessing.get_context("spawn")
            self.connection, theirs = context.Pipe()
            self.process = context.Process(target=work, args=(theirs,), daemon=True)
            self.process.start()
            theirs.close()
        self.connection.send(case)
        try:
            if self.connection.poll(10 * SECONDS):
                outcome: Outcome = self.connection.recv()
                return outcome
            why = Outcome("no end", f"no end after {10 * SECONDS} s")
        except (EOFError, ConnectionResetError):
            self.process.join()
            if self.process.exitcode == -signal.SIGPROF:
                why = Outcome("no end", f"no end after {SECONDS} s of processor time")
            else:
                why = Outcome("crash", f"the process ended with {self.process.exitcode}")
        self.close()
        return why

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


class Tally:
    """What a campaign has seen."""

    def __init__(self) -> None:
        self.calls: collections.Counter[str] = collections.Counter()
        self.numbers: collections.Counter[str] = collections.Counter()
        self.declined: collections.Counter[str] = collections.Counter()
        self.failures: dict[tuple[str, str, str], list[tuple[Case, Outcome]]] = {}
        self.left_out = 0

    def add(self, case: Case, outcome: Outcome) -> None:
        self.calls[case.front_end] += 1
        self.numbers[case.front_end] += outcome.numbers
        self.declined[case.front_end] += outcome.kind == "declined"
        if outcome.failed:
            self.failures.setdefault((outcome.kind, case.front_end, case.names), []).append((case, outcome))

    def worst(self) -> list[list[tuple[Case, Outcome]]]:
        """Failures by row and kind, the worst kind and the shortest line first, in whichever order they came."""

        def shortness(pair: tuple[Case, Outcome]) -> tuple[int, str]:
            return len(pair[0].line), pair[0].line

        groups = [sorted(found, key=shortness) for found in self.failures.values()]
        return sorted(groups, key=lambda group: (SEVERITY.index(group[0][1].kind), shortness(group[0])))

    @property
    def failed(self) -> int:
        return sum(map(len, self.failures.values()))


def unknown(
    table: dict[str, list[Row]], seed: int, rounds: int | None, seconds: float, tally: Tally
) -> Generator[Case, None, None]:
    """The cases of so many rounds, or those that begin within so many seconds; what is known to fail is left out."""
    end = time.monotonic() + seconds
    for round_ in itertools.count() if rounds is None else range(rounds):
        for case in cases(table, seed, round_):
            if rounds is None and time.monotonic() >= end:
                return
            if case.line in KNOWN:
                tally.left_out += 1
            else:
                yield case


def campaign(
    table: dict[str, list[Row]],
    seed: int,
    rounds: int | None,
    seconds: float,
    jobs: int,
    report: Callable[[Case, Outcome], None],
) -> Tally:
    """So many rounds, or what so many processes can do in so many seconds; report hears of every failure."""
    tally, lock = Tally(), threading.Lock()
    waiting = unknown(table, seed, rounds, seconds, tally)

    def serve() -> None:
        worker = Worker()
        while True:
            with lock:
                case = next(waiting, None)
            if case is None:
                break
            outcome = worker.run(case)
            with lock:
                tally.add(case, outcome)
                if outcome.failed:
                    report(case, outcome)
        worker.close()

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        try:
            for served in [pool.submit(serve) for _ in range(jobs)]:
                served.result()
        finally:
            with lock:
                waiting.close()  # who interrupts a campaign does not wait for the rest
    return tally
