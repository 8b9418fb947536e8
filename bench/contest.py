"""Contenders that are timed in turns, with the error of each."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

Run = Callable[[], torch.Tensor]
Error = Callable[[torch.Tensor], float]


@dataclass(frozen=True)
class Result:
    """Seconds of a call, how many times as long as the first contender's that is, and the error."""

    seconds: float
    ratio: float
    error: float


class Contest:
    """Contenders on the same data, timed in turns, so that a noisy machine disturbs all of them alike: a time is the
    median over the rounds, a ratio the median of the ratios within a round. The first contender is the baseline."""

    def __init__(self, title: str = "", rounds: int = 5, enough: float = 3e-3) -> None:
        """`enough` are the seconds of calls that make a time."""
        self.title, self.rounds, self.enough = title, rounds, enough
        self.contenders: list[tuple[str, Run, Error]] = []

    def add(self, name: str, run: Run, error: Error = lambda found: 0.0) -> None:
        self.contenders.append((name, run, error))

    def results(self) -> list[Result]:
        """Of each, in the order in which they were added."""
        errors = [error(run()) for _, run, error in self.contenders]
        turns = [[self._time(run) for _, run, _ in self.contenders] for _ in range(self.rounds)]
        return [
            Result(statistics.median(t[k] for t in turns), statistics.median(t[k] / t[0] for t in turns), error)
            for k, error in enumerate(errors)
        ]

    def print(self) -> None:
        print(f"{self.title}\n  {'':29} {'ms':>10} {'ratio':>10} {'error':>10}")
        for (name, _, _), found in zip(self.contenders, self.results()):
            print(f"  {name:29} {1e3 * found.seconds:10.3f} {found.ratio:9.2f}x {found.error:10.1e}", flush=True)

    def _time(self, run: Run) -> float:
        """Seconds of one call. The call before those that count pays for memory that the contender before it gave back to
        the system."""
        run()
        start, calls, elapsed = time.perf_counter(), 0, 0.0
        while elapsed < self.enough:
            run()
            calls += 1
            elapsed = time.perf_counter() - start
        return elapsed / calls
