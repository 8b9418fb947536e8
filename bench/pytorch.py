"""fenchel.torch on the CPU: the tables of docs/benchmarks.md beside torch's softmax and cross entropy, the entmax package
(PyPI `entmax`) and continuous attention written with torch.erf, in float32.

The contenders take turns in one process. A time is the median over the rounds, and a ratio the median of the ratios
within a round, so that other work on the machine disturbs all of them alike. Errors are against float64 over the first
rows.

usage: python bench/pytorch.py [PART ...] [--threads N ...] [--markdown PAGE ...] [--commit TEXT]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import parts
import torch
from contest import Contest, Result
from measuring import ROWS_CHECKED, add_row, difference, difference_in_units, few, package, version
from plain_attention import plain_attention
from tables import Table, error_cell, largest, milliseconds_cell, ratio_cell, units_cell

import fenchel.torch as ft

Map = Callable[[torch.Tensor], torch.Tensor]

SHAPES = ((16384, 64), (16384, 256), (4096, 1000), (64, 32000))
SMALL = (8, 8)
SMALL_ROUNDS: dict[str, Any] = {"rounds": 200, "enough": 3e-4}  # short, so that other work meets few of them
DEVIATIONS = (1, 2)
ALPHAS = {name: float(Fraction(name)) for name in ("2", "3/2", "5/4", "1.3", "1.75", "1.1", "0.8", "3")}


def softmax(z: torch.Tensor) -> torch.Tensor:
    return torch.softmax(z, -1)


def gradient(f: Map, x: torch.Tensor, grad: torch.Tensor | None = None) -> torch.Tensor:
    leaf = x.detach().requires_grad_()
    f(leaf).backward(grad)
    assert leaf.grad is not None
    return leaf.grad


class Maps:
    """A forward pass, and one with a backward pass, of a map over scores with a cotangent of N(0, 1)."""

    baseline = staticmethod(softmax)

    def __init__(self, rows: int, cols: int, deviation: float) -> None:
        self.x, self.grad = deviation * torch.randn(rows, cols), torch.randn(rows, cols)

    def of(self, alpha: float) -> Map:
        return lambda z: ft.entmax(z, alpha)

    def forward(self, f: Map) -> torch.Tensor:
        return f(self.x)

    def both(self, f: Map) -> torch.Tensor:
        return gradient(f, self.x, self.grad)

    def forward_error(self, alpha: float) -> Callable[[torch.Tensor], float]:
        exact = self.of(alpha)(few(self.x))
        return lambda found: difference_in_units(found, exact)

    def both_error(self, alpha: float) -> Callable[[torch.Tensor], float]:
        exact = gradient(self.of(alpha), few(self.x), few(self.grad))
        return lambda found: difference(found, exact)


class Losses:
    """The mean of the losses of rows and classes, and its gradient; errors are of a row's gradient."""

    def __init__(self, rows: int, cols: int, deviation: float) -> None:
        self.x, self.target = deviation * torch.randn(rows, cols), torch.randint(cols, (rows,))

    def baseline(self, z: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(z, self.target)

    def of(self, alpha: float) -> Map:
        return lambda z: ft.entmax_loss(z, self.target[: len(z)], alpha)

    def forward(self, f: Map) -> torch.Tensor:
        return f(self.x)

    def both(self, f: Map) -> torch.Tensor:
        return gradient(f, self.x)

    def both_error(self, alpha: float) -> Callable[[torch.Tensor], float]:
        exact = gradient(self.of(alpha), few(self.x)) * ROWS_CHECKED
        return lambda found: difference(found[:ROWS_CHECKED] * len(self.x), exact)


def ratios(
    about: str, threads: Sequence[int], baseline: str, data: type[Any], what: str, error_of: Callable[[float], str]
) -> Table:
    """A row for each shape, deviation and number of threads: the baseline's time, and ours as multiples of it."""
    table = Table(about, ["scores", "deviation", "threads", f"{baseline}, ms", *headings(ALPHAS), "error"])

    def row(count: int, deviation: float, shape: tuple[int, int]) -> list[str]:
        torch.set_num_threads(count)
        contenders = data(*shape, deviation)
        run = getattr(contenders, what)
        contest = Contest()
        contest.add(baseline, lambda: run(contenders.baseline))
        for alpha in ALPHAS.values():
            f, error = contenders.of(alpha), getattr(contenders, f"{what}_error")(alpha)
            contest.add("fenchel", lambda f=f: run(f), error)
        first, *ours = contest.results()
        times = [milliseconds_cell(1e3 * first.seconds), *(ratio_cell(found.ratio) for found in ours)]
        return [*times, error_of(largest(found.error for found in ours))]

    for count in threads:
        for deviation in DEVIATIONS:
            for shape in SHAPES:
                keys = (f"{shape[0]} x {shape[1]}", deviation, count)
                add_row(table, keys, lambda count=count, deviation=deviation, shape=shape: row(count, deviation, shape))
    return table


def headings(alphas: Sequence[str] | dict[str, float]) -> list[str]:
    first, *rest = alphas
    return [f"alpha = {first}", *rest]


def forward(threads: Sequence[int]) -> Table:
    about = (
        "Forward pass in float32 over scores of N(0, 1) and N(0, 2^2): milliseconds of torch's softmax, and how many times "
        "as long fenchel takes. The error is the largest of all alphas, in units of 2^-24 of the row's largest probability."
    )
    return ratios(about, threads, "softmax", Maps, "forward", units_cell)


def both(threads: Sequence[int]) -> Table:
    about = (
        "Forward and backward pass in float32 over scores of N(0, 1) and N(0, 2^2), with a cotangent of N(0, 1): "
        "milliseconds of torch's softmax, and how many times as long fenchel takes. The error is the largest difference of "
        "all alphas in the gradient."
    )
    return ratios(about, threads, "softmax", Maps, "both", error_cell)


def losses(threads: Sequence[int]) -> Table:
    about = (
        "Mean of the losses of classes, forward and backward pass, in float32 over scores of N(0, 1) and N(0, 2^2): "
        "milliseconds of torch's cross entropy, and how many times as long fenchel takes. The error is the largest "
        "difference of all alphas in the gradient of a row's loss."
    )
    return ratios(about, threads, "cross entropy", Losses, "both", error_cell)


def small(threads: Sequence[int]) -> Table:
    about = (
        f"Calls on {SMALL[0]} x {SMALL[1]} scores of N(0, 2^2) in float32, one thread: microseconds, and how many times as "
        "long as torch's softmax, or its cross entropy for the mean of the losses of classes. A forward pass has a gradient "
        "to come where the scores require one. Errors are the largest differences in the two gradients."
    )
    columns = ["forward", "with a gradient to come", "forward + backward"]
    names = [f"{kind}, {column}" for kind in ("map", "loss") for column in columns]
    table = Table(about, ["", *names, "map error", "loss error"])
    torch.set_num_threads(1)
    columns_of_results: list[list[Result]] = []
    for data in (Maps(*SMALL, 2), Losses(*SMALL, 2)):
        leaf = data.x.detach().requires_grad_()
        modes: list[tuple[Callable[[Map], torch.Tensor], bool]] = [
            (data.forward, False), (lambda f, leaf=leaf: f(leaf), False), (data.both, True)
        ]  # fmt: skip
        for run, has_error in modes:
            contest = Contest(**SMALL_ROUNDS)
            contest.add("torch", lambda run=run, data=data: run(data.baseline))
            for alpha in ALPHAS.values():
                f = data.of(alpha)
                error = data.both_error(alpha) if has_error else lambda found: 0.0
                contest.add("fenchel", lambda run=run, f=f: run(f), error)
            columns_of_results.append(contest.results())
    table.add("torch", *(milliseconds_cell(1e6 * found[0].seconds) for found in columns_of_results), "", "")
    for k, name in enumerate(ALPHAS, 1):
        found = [column[k] for column in columns_of_results]
        cells = (f"{milliseconds_cell(1e6 * r.seconds)}, {ratio_cell(r.ratio)} x" for r in found)
        table.add(f"alpha = {name}", *cells, error_cell(found[2].error), error_cell(found[5].error))
    return table


def packages(threads: Sequence[int]) -> Table:
    entmax = package("entmax")
    names = ("2", "3/2", "1.3")
    count = max(threads)
    about = (
        f"How many times as long as fenchel the entmax package {version('entmax')} takes, in float32 over scores of N(0, "
        f"2^2), threads: {count}. Losses are means over rows of classes. The package sorts for the first two, and bisects for "
        "the third. Errors are the largest differences, in probabilities and gradients."
    )
    table = Table(about, ["scores", "", *headings(names), "fenchel's error", "the package's"])
    torch.set_num_threads(count)
    maps: dict[str, Map] = {
        "2": lambda z: entmax.sparsemax(z, dim=-1),
        "3/2": lambda z: entmax.entmax15(z, dim=-1),
        "1.3": lambda z: entmax.entmax_bisect(z, alpha=1.3, dim=-1),
    }

    def of_losses(target: torch.Tensor) -> dict[str, Map]:
        return {
            "2": lambda z: entmax.sparsemax_loss(z, target).mean(),
            "3/2": lambda z: entmax.entmax15_loss(z, target).mean(),
            "1.3": lambda z: entmax.entmax_bisect_loss(z, target, 1.3).mean(),
        }

    def row(data: Maps | Losses, theirs: dict[str, Map], run: Callable[[Map], torch.Tensor], is_both: bool) -> list[str]:
        ours, others = [], []
        for name in names:
            alpha = ALPHAS[name]
            f, error = data.of(alpha), data.both_error(alpha)
            if not is_both:
                exact = data.of(alpha)(few(data.x))
                error = lambda found, exact=exact: difference(found, exact)
            contest = Contest(**SMALL_ROUNDS) if data.x.shape == SMALL else Contest(rounds=3)
            contest.add("fenchel", lambda f=f: run(f), error)
            contest.add("package", lambda f=theirs[name]: run(f), error)
            for list_, found in zip((ours, others), contest.results()):
                list_.append(found)
        errors = (error_cell(largest(found.error for found in column)) for column in (ours, others))
        return [*(ratio_cell(found.ratio) for found in others), *errors]

    for shape in (*SHAPES, SMALL):
        data, loss = Maps(*shape, 2), Losses(*shape, 2)
        key = f"{shape[0]} x {shape[1]}"
        add_row(table, [key, "forward"], lambda data=data: row(data, maps, data.forward, False))
        add_row(table, [key, "forward + backward"], lambda data=data: row(data, maps, data.both, True))
        add_row(table, [key, "loss and gradient"], lambda loss=loss: row(loss, of_losses(loss.target), loss.both, True))
    return table


def attention(threads: Sequence[int]) -> Table:
    densities, functions, count = 4096, 128, max(threads)
    torch.set_num_threads(count)
    about = (
        f"Attention of {densities} densities on the line over {functions} functions in float32, with mu in [0, 1] and sigma2 "
        f"from 1e-4 to 1, threads: {count}. Milliseconds, and how many times as long the closed form takes "
        "that is written with torch.erf. Errors are the largest differences, with the backward pass in the gradient for a "
        "cotangent of N(0, 1)."
    )
    table = Table(about, ["alpha", "", "fenchel", "torch.erf", "fenchel's error", "error with torch.erf"])
    basis = ft.GaussianBasis.linearly_spaced(functions)
    x = torch.stack([torch.rand(densities), 10 ** (-4 * torch.rand(densities))], 1)  # mu, sigma2
    grad = torch.randn(densities, functions)

    def row(ours: Map, plain: Map, is_both: bool) -> list[str]:
        run: Callable[[Map], torch.Tensor] = (lambda f: gradient(f, x, grad)) if is_both else (lambda f: f(x))
        exact = gradient(ours, few(x), few(grad)) if is_both else ours(few(x))
        contest = Contest()
        for f in (ours, plain):
            contest.add("", lambda f=f: run(f), lambda found: difference(found, exact))
        mine, theirs = contest.results()
        errors = (error_cell(found.error) for found in (mine, theirs))
        return [milliseconds_cell(1e3 * mine.seconds), f"{ratio_cell(theirs.ratio)} x", *errors]

    for alpha in (1.0, 2.0):
        ours = lambda z, alpha=alpha: ft.continuous_attention(alpha, z[:, 0], z[:, 1], basis)
        plain = lambda z, alpha=alpha: plain_attention(alpha, z[:, 0], z[:, 1], basis)
        for what, is_both in (("forward", False), ("forward + backward", True)):
            keys = (f"{alpha:g}", what)
            add_row(table, keys, lambda a=ours, b=plain, is_both=is_both: row(a, b, is_both))
    return table


def main() -> None:
    parser = parts.parser("pytorch.py", __doc__ or "")
    parser.add_argument(
        "--threads", nargs="+", type=int, default=[1, 2], metavar="N", help="numbers of threads, 1 and 2 by default"
    )
    arguments = parser.parse_args()
    functions = {f.__name__: f for f in (forward, both, losses, small, packages, attention)}

    def measure(part: str) -> tuple[Table, str, str]:
        table = functions[part](arguments.threads)
        machine = f"{os.cpu_count()} processors with {torch.backends.cpu.get_cpu_capability()}"
        return table, f"{machine}, torch {torch.__version__.split('+')[0]}", ""

    parts.run(parser, arguments, measure)


if __name__ == "__main__":
    main()
