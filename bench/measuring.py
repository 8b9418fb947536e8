"""What the commands share that measure fenchel.torch: calls that may fail, and errors against the CPU's float64."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable, Sequence
from typing import Any

import torch
from tables import Table

ROWS_CHECKED = 8

Run = Callable[[], Any]


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


def add_row(table: Table, keys: Sequence[object], row: Callable[[], list[str]]) -> None:
    """A row of a table by what it is of and what was measured: dashes if that fails."""
    cells = attempt(" ".join(map(str, keys)), row) or ["-"] * (len(table.columns) - len(keys))
    table.add(*keys, *cells)


def kind(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


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
