"""Attention and small calls on a GPU: by fenchel.torch, and by the program bench_cuda, which calls C++."""

from __future__ import annotations

import json
import math
import pathlib
import statistics
import subprocess
import time

import torch
from gpu_maps import ALPHAS
from gpu_timing import DEVICE, Limit, Measured, measure, milliseconds, ops
from measuring import Run, add_row, attempt, difference_in_units, few, kind
from tables import Number, Table, error_cell, largest, milliseconds_cell, units_cell

import fenchel.torch as ft

Densities = tuple[torch.Tensor, torch.Tensor]


class Program:
    """What bench_cuda measured; it runs when it is first asked. Without a program there are no columns of C++."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path, self.there = path.resolve(), path.exists()
        self.cases: dict[str, Measured] | None = None
        if not self.there:
            print(f"there is no program {path}, so the columns of C++ are left out")

    def __bool__(self) -> bool:
        return self.there

    def __call__(self, case: str) -> Measured:
        if self.cases is None:
            self.cases = attempt("bench_cuda", self._run) or {}
        return self.cases.get(case, Measured(None, (None,)))

    def _run(self) -> dict[str, Measured]:
        print(f"running {self.path}", flush=True)
        done = subprocess.run([self.path, "--json"], check=False, stdout=subprocess.PIPE, text=True, timeout=120)
        if done.returncode != 0:
            print(f"  bench_cuda ended with status {done.returncode}: what it had not measured is missing")
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return {line["case"]: Measured(line["ms"], (float(line["error"]),)) for line in lines}

    def columns(self, *names: str) -> list[str]:
        """Each name twice, for C++ and for torch, or once."""
        return [f"{name}, {by}" for name in names for by in (("C++", "torch") if self else ("torch",))]

    def cells(self, case: str, by_torch: Measured) -> list[str]:
        return [milliseconds_cell(m.ms) for m in ((self(case), by_torch) if self else (by_torch,))]

    def error(self, case: str, by_torch: Measured) -> Number:
        """The larger one of both."""
        return largest([by_torch.errors[0], self(case).errors[0] if self else None])


def value_error(found: torch.Tensor, p: Densities, functions: Densities, alpha: float) -> float:
    """Relative to the value, or to 1e-6 of the function's peak where it is smaller."""
    means, covariances = (x.cpu() for x in functions)
    exact = ops.attend(few(p[0]), few(p[1]), None, means, covariances, alpha)
    peaks = 1 / torch.sqrt(torch.linalg.det(2 * math.pi * covariances))
    return ((few(found) - exact).abs() / torch.maximum(exact, 1e-6 * peaks)).max().item()


def gradient_error(
    found: torch.Tensor, p: Densities, functions: Densities, cotangent: torch.Tensor, alpha: float
) -> float:
    """Of the gradient in mu, relative to the sum of its terms' sizes."""
    mu, scale, (means, covariances) = few(p[0]), few(p[1]), (x.cpu() for x in functions)
    along = (torch.ones_like(mu), torch.zeros_like(scale), None, None, None)
    terms = few(cotangent) * ops.attend_jvp(mu, scale, None, means, covariances, *along, alpha)
    return ((few(found).sum(-1) - terms.sum(-1)).abs() / terms.abs().sum(-1)).max().item()


class Problem:
    """Densities, functions and a cotangent, whose attention is measured for one alpha after the other."""

    def __init__(self, name: str, p: Densities, functions: Densities) -> None:
        self.name, self.p, self.functions = name, p, functions
        shape = (len(p[0]), len(functions[0]))
        self.cotangent = 2 * torch.rand(shape, device=DEVICE, dtype=p[0].dtype) - 1

    def forward(self, alpha: float, alphas: torch.Tensor | None = None) -> Measured:
        return measure(
            f"{self.name}, alpha {alpha:.9g}, forward",
            lambda: ops.attend(*self.p, alphas, *self.functions, alpha),
            lambda r: value_error(r, self.p, self.functions, alpha),
        )

    def vjp(self, alpha: float, both: bool, alphas: torch.Tensor | None = None, learned: bool = False) -> Measured:
        """The VJP, after the forward pass if `both`."""

        def run() -> torch.Tensor:
            if both:
                ops.attend(*self.p, alphas, *self.functions, alpha)
            gradient: torch.Tensor = ops.attend_vjp(*self.p, alphas, *self.functions, self.cotangent, alpha, learned)[0]
            return gradient

        return measure(
            f"{self.name}, alpha {alpha:.9g}, VJP",
            run,
            lambda g: gradient_error(g, self.p, self.functions, self.cotangent, alpha),
        )


def line(limit: Limit, program: Program) -> Table:
    rows = 524288
    basis = ft.GaussianBasis.linearly_spaced(128).to(DEVICE)
    mu = torch.rand(rows, 1, device=DEVICE)
    sigma2 = 10 ** (-3 * torch.rand(rows, 1, 1, device=DEVICE))
    problem = Problem("line", (mu, sigma2), basis.functions())
    written = milliseconds_cell(limit.milliseconds(problem.cotangent))
    about = (
        f"Attention of {rows} densities on the line over {basis.count} functions in float32, with mu in [0, 1] and "
        f"sigma2 from 1e-3 to 1: milliseconds. Writing the result alone takes {written} ms. The error of a value is "
        "relative to it, or to 1e-6 of the function's peak where it is smaller; that of a gradient is of the one in "
        "mu, relative to the sum of its terms' sizes."
    )
    columns = program.columns("forward", "forward + VJP")
    table = Table(about, ["alpha", *columns, "value error", "gradient error"])

    def add(name: str, case: str, forward: Measured, both: Measured) -> None:
        ahead, back = f"line, float32, {case}, forward", f"line, float32, {case}, forward + VJP"
        cells = [*program.cells(ahead, forward), *program.cells(back, both)]
        table.add(name, *cells, error_cell(program.error(ahead, forward)), error_cell(program.error(back, both)))

    named = {name: ALPHAS[name] for name in ("1", "2", "3/2", "4/3", "1.7", "3", "0.8")} | {"1 + 1e-8": 1 + 1e-8}
    for name, alpha in named.items():
        add(name, f"alpha {name}", problem.forward(alpha), problem.vjp(alpha, True))
    each = torch.full((rows,), 1.5, dtype=torch.float64, device=DEVICE)
    add("3/2, one for each row", "", problem.forward(1.5, each), problem.vjp(1.5, True, each))
    add("3/2, gradient of functions", "", Measured(None, (None,)), problem.vjp(1.5, True, learned=True))
    return table


def densities_in_the_plane(rows: int, dtype: torch.dtype) -> Densities:
    """mu in the unit square, deviations from .03 to .3 and correlations up to .8."""
    mu = torch.rand(rows, 2, device=DEVICE, dtype=dtype)
    deviations = 0.03 * 10 ** torch.rand(rows, 2, device=DEVICE, dtype=dtype)
    correlation = 1.6 * torch.rand(rows, device=DEVICE, dtype=dtype) - 0.8
    scale = deviations[:, :, None] * deviations[:, None, :]
    scale[:, 0, 1] *= correlation
    scale[:, 1, 0] *= correlation
    return mu, scale


def plane(limit: Limit, program: Program) -> Table:
    about = (
        "Attention of densities in the plane, with mu in the unit square, deviations from 0.03 to 0.3 and correlations "
        "up to 0.8, over functions on a grid with Sigma = 0.001 I: milliseconds, and errors as on the line. The last "
        f"column is the forward pass on the CPU, with {torch.get_num_threads()} threads."
    )
    columns = program.columns("forward", "VJP")
    table = Table(
        about, ["densities x functions", "type", "alpha", *columns, "value error", "gradient error", "CPU, forward"]
    )

    def rows_of(count: int, side: int, dtype: torch.dtype) -> None:
        axis = torch.linspace(0, 1, side, dtype=torch.float64, device=DEVICE)
        covariances = (0.001 * torch.eye(2, dtype=torch.float64, device=DEVICE)).repeat(side * side, 1, 1)
        functions = (torch.cartesian_prod(axis, axis), covariances)
        problem = Problem("plane", densities_in_the_plane(count, dtype), functions)
        shape = f"{count} x {side * side}"
        mu, scale, *on_cpu = (x.cpu() for x in (*problem.p, *functions))

        def row(name: str) -> list[str]:
            alpha, case = ALPHAS[name], f"plane, {shape}, {kind(dtype)}, alpha {name}"
            forward, vjp = problem.forward(alpha), problem.vjp(alpha, False)
            cells = [*program.cells(f"{case}, forward", forward), *program.cells(f"{case}, VJP", vjp)]
            errors = (program.error(f"{case}, forward", forward), program.error(f"{case}, VJP", vjp))
            few_of_them = count <= 4096  # the CPU would take too long for the others
            cpu = host_milliseconds(lambda: ops.attend(mu, scale, None, *on_cpu, alpha)) if few_of_them else None
            return [*cells, *map(error_cell, errors), milliseconds_cell(cpu) if few_of_them else ""]

        for name in ("1", "2", "3/2"):
            add_row(table, [shape, kind(dtype), name], lambda name=name: row(name))

    for count, side, dtype in ((65536, 16, torch.float32), (65536, 16, torch.float64), (4096, 10, torch.float32)):
        rows_of(count, side, dtype)
    return table


def host_milliseconds(run: Run, calls: int = 1, rounds: int = 5) -> float:
    """A call by the host's clock: the median over rounds of so many calls, after one that is not counted."""
    times = []
    for _ in range(rounds + 1):
        begin = time.perf_counter()
        for _ in range(calls):
            run()
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e3 / calls)
    return statistics.median(times[1:])


def graph_milliseconds(run: Run, nodes: int = 100) -> float:
    """A node of a CUDA graph of so many calls."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(nodes):
            run()
    return milliseconds(graph.replay) / nodes


def small(limit: Limit, program: Program) -> Table:
    """Where launching is all that counts: calls that a host can make, and what a graph of them takes on the GPU."""
    x = 2 * torch.randn(64, 64, device=DEVICE)
    exact = few(x)
    about = (
        "Microseconds of a call on 64 x 64 scores of N(0, 2^2) in float32, when many are made one after the other, and "
        "of a node of a CUDA graph of 100 calls. The error is in units of 2^-24 of the row's largest probability."
    )
    table = Table(about, ["", "call, Python", *(["call, C++"] if program else []), "node of a graph", "error"])

    def row(run: Run, right: Run, alpha: str) -> list[str]:
        call = attempt("calls", lambda: host_milliseconds(run, 1000))
        node = attempt("graph", lambda: graph_milliseconds(run))
        of_program = [program(f"64 x 64, float32, alpha {alpha}").ms] if program else []
        cells = [milliseconds_cell(None if t is None else 1e3 * t) for t in (call, *of_program, node)]
        return [*cells, units_cell(difference_in_units(run(), right()))]

    for alpha in ("1", "2", "3/2", "5/4"):
        of = lambda z, a=ALPHAS[alpha]: ft.entmax(z, a)
        add_row(table, [f"fenchel, alpha = {alpha}"], lambda of=of, a=alpha: row(lambda: of(x), lambda: of(exact), a))
    softmax = lambda z: torch.softmax(z, -1)
    add_row(table, ["torch softmax"], lambda: row(lambda: softmax(x), lambda: softmax(exact), "of torch"))
    return table
