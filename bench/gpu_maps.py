"""The maps of fenchel.torch on a GPU, forward and backward."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import torch
from gpu_timing import SIZE, Limit, Measured, measure, normal, ops
from measuring import add_row, attempt, difference, difference_in_units, few, kind, package, sum_error, version
from tables import Table, error_cell, largest, milliseconds_cell, share_cell, units_cell

import fenchel.torch as ft

Vjp = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

ALPHAS = {name: float(Fraction(name)) for name in ("1", "2", "3/2", "4/3", "5/4", "1.7", "1.1", "0.8", "3")}
COLUMNS = (64, 128, 512, 1024, 4096, 8192, 16384, 32768, 131072)


def headings(alphas: Sequence[str]) -> list[str]:
    return [f"alpha = {alphas[0]}", *alphas[1:]]


def forward(limit: Limit, dtype: torch.dtype, columns: Sequence[int], alphas: Sequence[str], times: bool) -> Table:
    unit = f"2^{round(math.log2(torch.finfo(dtype).eps / 2))}"
    about = (
        f"Forward pass over {SIZE} scores of N(0, 2^2) in {kind(dtype)}, as a share of the speed of a copy"
        f"{', with milliseconds before it' if times else ''}. The error is the largest of all alphas, in units of "
        f"{unit} of the row's largest probability, against float64 on the CPU; sum - 1 is that of any row."
    )
    table = Table(about, ["columns", *headings(alphas), "torch softmax", "error", "sum - 1"])

    def row(cols: int) -> list[str]:
        x = normal(SIZE // cols, cols, dtype)
        exact, best = few(x), limit.milliseconds(x, x)
        ours = [
            measure(
                f"{cols} columns, alpha {name}",
                lambda a=ALPHAS[name]: ops.entmax(x, None, a, -1),
                lambda p, a=ALPHAS[name]: difference_in_units(p, ft.entmax(exact, a)),
                sum_error,
            )
            for name in alphas
        ]
        softmax = measure(f"{cols} columns, torch softmax", lambda: torch.softmax(x, -1))
        cells = [share_cell(best, m.ms) for m in [*ours, softmax]]
        if times:
            cells = [f"{milliseconds_cell(m.ms)}, {share}" for m, share in zip([*ours, softmax], cells)]
        error, off = (largest(m.errors[k] for m in ours) for k in range(2))
        return [*cells, units_cell(error), error_cell(off)]

    for cols in columns:
        add_row(table, [cols], lambda cols=cols: row(cols))
    return table


def maps(limit: Limit) -> Table:
    return forward(limit, torch.float32, COLUMNS, list(ALPHAS), False)


def bfloat16(limit: Limit) -> Table:
    return forward(limit, torch.bfloat16, (512, 1024, 4096, 8192, 16384, 32768), ("1", "2", "3/2"), False)


def float64(limit: Limit) -> Table:
    return forward(limit, torch.float64, (512, 4096, 32768), ("1", "2", "3/2"), True)


def packages(limit: Limit) -> Table:
    cols, alphas = 512, ("2", "3/2", "5/4")
    x = normal(SIZE // cols, cols)
    entmax, adasplash = package("entmax"), package("adasplash")
    about = (
        f"Milliseconds of the forward pass over {len(x)} x {cols} scores of N(0, 2^2) in float32, and how far a row's "
        "sum is from 1 at most."
    )
    table = Table(about, ["", *headings(alphas), *(f"sum - 1, {name}" for name in alphas)])
    table.add("limit: a copy", *[milliseconds_cell(limit.milliseconds(x, x))] * 3, *[""] * 3)

    def add(name: str, call: Callable[[float], torch.Tensor]) -> None:
        found = [measure(f"{name}, alpha {a}", lambda a=ALPHAS[a]: call(a), sum_error) for a in alphas]
        table.add(name, *(milliseconds_cell(m.ms) for m in found), *(error_cell(m.errors[0]) for m in found))

    def of_entmax(a: float) -> torch.Tensor:
        sorting = {2.0: "sparsemax", 1.5: "entmax15"}.get(a)
        p: torch.Tensor = getattr(entmax, sorting)(x, dim=-1) if sorting else entmax.entmax_bisect(x, alpha=a, dim=-1)
        return p

    add("fenchel", lambda a: ops.entmax(x, None, a, -1))
    if adasplash:
        add(f"adasplash {version('adasplash')}", lambda a: adasplash.triton_entmax(x, alpha=a))
    if entmax:
        add(f"entmax package {version('entmax')}", of_entmax)
    softmax = measure("torch softmax", lambda: torch.softmax(x, -1), sum_error)
    time, off = milliseconds_cell(softmax.ms), error_cell(softmax.errors[0])
    table.add("torch softmax, alpha = 1", time, "", "", off, "", "")
    return table


def vjp_of_map(name: str, vjp: Vjp, p: torch.Tensor, cotangent: torch.Tensor) -> Measured:
    """Of a function of the probabilities and the cotangent, which the CPU has too."""
    exact = lambda: vjp(few(p), few(cotangent))
    return measure(name, lambda: vjp(p, cotangent), lambda gradient: difference(gradient, exact()))


def backward(limit: Limit) -> Table:
    alphas = ("1", "2", "3/2", "1.7")
    about = (
        f"Backward pass of {SIZE} scores of N(0, 2^2) in float32, with a cotangent of N(0, 1), as a share of the "
        "limit: two reads and one write. The error is the largest difference of all alphas from the CPU's float64, for "
        "the same probabilities."
    )
    table = Table(about, ["columns", *headings(alphas), "torch softmax", "error"])

    def row(cols: int) -> list[str]:
        x, cotangent = (normal(SIZE // cols, cols, deviation=s) for s in (2, 1))
        best, ours = limit.milliseconds(x, x, x), []
        for name in alphas:
            a, what = ALPHAS[name], f"{cols} columns, alpha {name}"
            p = attempt(f"{what}, forward", lambda a=a: ops.entmax(x, None, a, -1))
            ours.append(vjp_of_map(what, lambda p, g, a=a: ops.entmax_vjp(p, None, g, a, -1)[0], p, cotangent))
        p = torch.softmax(x, -1)
        run = lambda: torch._softmax_backward_data(cotangent, p, -1, p.dtype)
        softmax = measure(f"{cols} columns, torch softmax", run)
        shares = [share_cell(best, m.ms) for m in [*ours, softmax]]
        return [*shares, error_cell(largest(m.errors[0] for m in ours))]

    for cols in (64, 512, 1024, 4096, 16384, 32768, 65536, 131072):
        add_row(table, [cols], lambda cols=cols: row(cols))
    return table


def fusedmax(limit: Limit) -> Table:
    about = (
        f"fusedmax of {SIZE} scores of N(0, 2^2) in float32 at gamma = 1, and its backward pass with a cotangent of "
        "N(0, 1): milliseconds, and the share of the limit, which is a read and a write, or two reads and a write. "
        "Errors are the largest differences from the CPU's float64, backward for the same probabilities."
    )
    table = Table(about, ["columns", "forward", "share", "error", "backward", "share", "error"])

    def row(cols: int) -> list[str]:
        x, cotangent = (normal(SIZE // cols, cols, deviation=s) for s in (2, 1))
        of = lambda z: ops.fusedmax(z, None, None, None, 1.0, -1)
        there = measure(f"{cols} columns", lambda: of(x), lambda p: difference(p, of(few(x))))
        p = attempt(f"{cols} columns, forward", lambda: of(x))
        back = vjp_of_map(
            f"{cols} columns, backward", lambda p, g: ops.fusedmax_vjp(p, None, None, None, g, 1.0, -1)[0], p, cotangent
        )
        cells = []
        for m, best in ((there, limit.milliseconds(x, x)), (back, limit.milliseconds(x, x, x))):
            cells += [milliseconds_cell(m.ms), share_cell(best, m.ms), error_cell(m.errors[0])]
        return cells

    for cols in (64, 4096):
        add_row(table, [cols], lambda cols=cols: row(cols))
    return table
