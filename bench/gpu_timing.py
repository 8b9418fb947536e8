"""How bench/gpu.py measures: times between events, the limit of the memory, and errors against the CPU's float64."""

from __future__ import annotations

import importlib
import importlib.metadata
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from gpu_tables import Number, Table

DEVICE = "cuda"
SIZE = 1 << 27  # scores: more than the cache holds
ROWS_CHECKED = 8

ops: Any = torch.ops.fenchel
Run = Callable[[], Any]
Check = Callable[[Any], float]


def attempt(name: str, run: Run) -> Any:
    """What a call gives, or None: one that fails is a line of output, and the others go on."""
    try:
        return run()
    except Exception as failure:  # whatever a package, Triton or the GPU raises
        print(f"  {name}: {type(failure).__name__}: {(str(failure).splitlines() or [''])[0][:90]}", flush=True)
        return None


def package(name: str) -> Any:
    """A package that need not be installed, and may not load."""
    return attempt(name, lambda: importlib.import_module(name))


def version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


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


def add_row(table: Table, keys: Sequence[object], row: Callable[[], list[str]]) -> None:
    """A row of a table by what it is of and what was measured: dashes if that fails."""
    cells = attempt(" ".join(map(str, keys)), row) or ["-"] * (len(table.columns) - len(keys))
    table.add(*keys, *cells)


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


def kind(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def normal(rows: int, cols: int, dtype: torch.dtype = torch.float32, deviation: float = 2) -> torch.Tensor:
    """Scores of N(0, deviation^2)."""
    return torch.randn(rows, cols, device=DEVICE, dtype=dtype).mul_(deviation)


def few(x: torch.Tensor) -> torch.Tensor:
    """The first rows, as the CPU computes them in float64."""
    return x.detach()[:ROWS_CHECKED].double().cpu()


def difference(found: torch.Tensor, expected: torch.Tensor) -> float:
    """The largest difference in the first rows."""
    return (few(found) - expected.double()).abs().max().item()


def difference_in_units(found: torch.Tensor, expected: torch.Tensor) -> float:
    """The same, in units of the rounding of the row's largest number in the type of what was found."""
    unit = expected.amax(-1, keepdim=True) * (torch.finfo(found.dtype).eps / 2)
    return ((few(found) - expected) / unit).abs().max().item()


def sum_error(p: torch.Tensor) -> float:
    """How far the sum of any row is from one."""
    return (p.sum(-1, dtype=torch.float64) - 1).abs().max().item()
