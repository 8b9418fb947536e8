"""How bench/gpu.py measures: times between events, and the limit of the memory."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from measuring import Run, attempt
from tables import Number

DEVICE = "cuda"
SIZE = 1 << 27  # scores: more than the cache holds

ops: Any = torch.ops.fenchel
Check = Callable[[Any], float]


def between_events(run: Run) -> float:
    """The GPU is kept busy until the call has been queued, so that what is timed is the GPU's work alone."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(4_000_000)  # cycles: some 2 ms
    begin.record()
    run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def milliseconds(run: Run) -> float:
    """The median over single calls, after some that are not counted."""
    for _ in range(2):
        run()
    once = between_events(run)
    repeats = 25 if once < 5 else 5 if once < 50 else 3
    return statistics.median(between_events(run) for _ in range(repeats))


@dataclass(frozen=True)
class Measured:
    """A time in milliseconds, and what the checks say; None where the call failed."""

    ms: Number
    errors: tuple[Number, ...]


def measure(name: str, run: Run, *checks: Check) -> Measured:
    """Times a call, and checks its result."""

    def measured() -> Measured:
        result = run()
        errors = tuple(check(result) for check in checks)
        del result
        return Measured(milliseconds(run), errors)

    found: Measured | None = attempt(name, measured)
    return found or Measured(None, (None,) * len(checks))


class Limit:
    """What the memory allows: bytes a millisecond of a copy, counting those read and those written."""

    def __init__(self) -> None:
        x = torch.randn(SIZE, device=DEVICE)
        y = torch.empty_like(x)
        self.rate = 2 * x.nbytes / milliseconds(lambda: y.copy_(x))

    def of_bytes(self, count: float) -> float:
        return count / self.rate

    def milliseconds(self, *tensors: torch.Tensor) -> float:
        return self.of_bytes(sum(x.nbytes for x in tensors))


def normal(rows: int, cols: int, dtype: torch.dtype = torch.float32, deviation: float = 2) -> torch.Tensor:
    """Scores of N(0, deviation^2)."""
    return torch.randn(rows, cols, device=DEVICE, dtype=dtype).mul_(deviation)
