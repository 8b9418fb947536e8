"""Contenders that are timed in turns, with the error of each."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch


class Contest:
    """Contenders on the same data, timed in turns, so that a noisy machine disturbs all of them alike: a time is the
    median over the rounds, a ratio the median of the ratios within a round. The first contender is the baseline."""

    def __init__(self, title: str, unit: str = "ms", rounds: int = 5) -> None:
        self.title, self.unit, self.rounds = title, unit, rounds
        self.contenders: list[tuple[str, Callable[[], torch.Tensor], Callable[[torch.Tensor], float]]] = []

    def add(self, name: str, run: Callable[[], torch.Tensor], error: Callable[[torch.Tensor], float]) -> None:
        self.contenders.append((name, run, error))

    def print(self) -> None:
        errors = [error(run()) for _, run, error in self.contenders]
        seconds = [[self._time(run) for _, run, _ in self.contenders] for _ in range(self.rounds)]
        print(f"{self.title}\n  {'':29} {self.unit:>10} {'/ fenchel':>10} {'error':>10}")
        for k, (name, _, _) in enumerate(self.contenders):
            median = statistics.median(turn[k] for turn in seconds) * {"ms": 1e3, "us": 1e6}[self.unit]
            ratio = statistics.median(turn[k] / turn[0] for turn in seconds)
            print(f"  {name:29} {median:10.3f} {ratio:9.2f}x {errors[k]:10.1e}", flush=True)

    @staticmethod
    def _time(run: Callable[[], torch.Tensor], enough: float = 3e-3) -> float:
        """Seconds of one call, from as many as take some milliseconds. The call before them is not counted: it pays for
        memory that the contender before it gave back to the system."""
        run()
        start, calls, elapsed = time.perf_counter(), 0, 0.0
        while elapsed < enough:
            run()
            calls += 1
            elapsed = time.perf_counter() - start
        return elapsed / calls


def difference(found: torch.Tensor, expected: torch.Tensor) -> float:
    return (found.detach()[: len(expected)].double() - expected).abs().max().item()
