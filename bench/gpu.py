"""fenchel.torch on a GPU against the limit of its memory, torch's softmax and cross entropy, and the packages entmax
and adasplash where they are installed.

The limit of an operation is the time in which a copy, timed in the same run, would move the bytes that it must read and
write; a share is that limit over the time. Times are medians of events around single calls, on buffers that are larger
than the cache. The error is the largest difference from the CPU's float64 over the first rows; for maps also that of
any row's sum from one.

usage: python bench/gpu.py [maps] [attention] [small]
"""

from __future__ import annotations

import argparse
import importlib
import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from plain_attention import plain_attention

import fenchel.torch as ft

ops: Any = torch.ops.fenchel
Run = Callable[[], Any]
SIZE = 1 << 27
ROWS_CHECKED = 8


def package(name: str) -> Any:
    """A package that need not be installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def milliseconds(run: Run, repeats: int = 20) -> float:
    """The median over single calls, after some that are not counted. The GPU is kept busy until the call has been queued,
    so that what is timed is the GPU's work alone."""
    for _ in range(3):
        run()
    times = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(400_000)  # cycles: some 0.2 ms
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


class Limit:
    """What the memory allows: bytes a millisecond of a copy, counting those read and those written."""

    def __init__(self) -> None:
        x = torch.randn(SIZE, device="cuda")
        y = torch.empty_like(x)
        self.rate = 2 * x.nbytes / milliseconds(lambda: y.copy_(x))

    def milliseconds(self, *tensors: torch.Tensor) -> float:
        return sum(x.nbytes for x in tensors) / self.rate


class Table:
    def __init__(self, title: str, limit: float) -> None:
        self.limit = limit
        print(f"\n{title}: the limit is {limit:.3f} ms\n  {'':34} {'ms':>8} {'share':>7} {'error':>9} {'sum - 1':>9}")

    def add(self, name: str, run: Run, error: float = math.nan, sum_error: float = math.nan) -> None:
        try:
            took = milliseconds(run)
        except (RuntimeError, ValueError) as failure:
            print(f"  {name:34} {type(failure).__name__}: {str(failure).splitlines()[0][:60]}")
            return
        numbers = (f"{x:9.1e}" if x == x else f"{'':9}" for x in (error, sum_error))
        print(f"  {name:34} {took:8.3f} {self.limit / took:7.1%} {' '.join(numbers)}", flush=True)


def difference(found: torch.Tensor, expected: torch.Tensor) -> float:
    return (found[: len(expected)].double().cpu() - expected.double()).abs().max().item()


def sum_error(p: torch.Tensor) -> float:
    return (p.sum(-1, dtype=torch.float64) - 1).abs().max().item()


def maps(limit: Limit, rows: int, cols: int, dtype: torch.dtype = torch.float32) -> None:
    x, grad = (s * torch.randn(rows, cols, device="cuda", dtype=dtype) for s in (2, 1))
    few, few_grad = x[:ROWS_CHECKED].double().cpu(), grad[:ROWS_CHECKED].double().cpu()
    entmax, adasplash = package("entmax"), package("adasplash")
    of_package = entmax and {2.0: entmax.sparsemax, 1.5: entmax.entmax15}
    kind = str(dtype).removeprefix("torch.")

    table = Table(f"maps forward, {rows} x {cols}, {kind}", limit.milliseconds(x, x))
    y = torch.empty_like(x)
    table.add("copy", lambda: y.copy_(x))
    p = torch.softmax(x, -1)
    table.add("torch softmax", lambda: torch.softmax(x, -1), difference(p, torch.softmax(few, -1)), sum_error(p))
    alphas = [1.0, 2.0, 1.5, 4 / 3, 1.25, 1.4, 1.75]
    for alpha in alphas:
        p, exact = ops.entmax(x, None, alpha, -1), ft.entmax(few, alpha)
        run = lambda alpha=alpha: ops.entmax(x, None, alpha, -1)
        table.add(f"fenchel, alpha {alpha:.4g}", run, difference(p, exact), sum_error(p))
    if dtype == torch.float32:
        for alpha in (2.0, 1.5, 1.25):
            if of_package:
                f = of_package.get(alpha, lambda z, alpha=alpha, **_: entmax.entmax_bisect(z, alpha=alpha, dim=-1))
                p, exact = f(x, dim=-1), ft.entmax(few, alpha)
                run = lambda f=f: f(x, dim=-1)
                table.add(f"entmax package, alpha {alpha:.4g}", run, difference(p, exact), sum_error(p))
            if adasplash:
                try:
                    p = adasplash.triton_entmax(x, alpha=alpha)
                except Exception as failure:  # whatever Triton raises
                    print(f"  adasplash, alpha {alpha:.4g}: {type(failure).__name__}")
                    continue
                run = lambda alpha=alpha: adasplash.triton_entmax(x, alpha=alpha)
                table.add(f"adasplash, alpha {alpha:.4g}", run, difference(p, ft.entmax(few, alpha)), sum_error(p))
    del y, p

    table = Table(f"maps backward, {rows} x {cols}, {kind}", limit.milliseconds(x, x, x))
    p = torch.softmax(x, -1)
    softmax_backward = lambda: torch._softmax_backward_data(grad, p, -1, dtype)
    leaf = few.clone().requires_grad_()
    exact = torch.autograd.grad(torch.softmax(leaf, -1), leaf, few_grad)[0]
    table.add("torch softmax", softmax_backward, difference(softmax_backward(), exact))
    for alpha in alphas:
        p = ops.entmax(x, None, alpha, -1)
        exact = torch.autograd.grad(ft.entmax(leaf, alpha), leaf, few_grad)[0]
        run = lambda alpha=alpha, p=p: ops.entmax_vjp(p, None, grad, alpha, -1)[0]
        table.add(f"fenchel, alpha {alpha:.4g}", run, difference(run(), exact))

    classes = torch.randint(cols, (rows, 1), device="cuda")
    loss_type = torch.float64 if dtype == torch.float64 else torch.float32
    gradient_like = torch.empty_like(x, dtype=loss_type)
    table = Table(f"losses with their gradient, {rows} x {cols}, {kind}", limit.milliseconds(x, gradient_like))
    target = classes[:, 0]
    leaf_x = x.detach().requires_grad_()
    cross = lambda: torch.autograd.grad(torch.nn.functional.cross_entropy(leaf_x, target, reduction="sum"), leaf_x)[0]
    table.add("torch cross entropy", cross)
    for alpha in alphas[:5]:
        run = lambda alpha=alpha: ops.entmax_loss(x, None, classes, None, alpha, -1, -100, False, True)
        exact = ops.entmax_loss(few, None, classes[:ROWS_CHECKED].cpu(), None, alpha, -1, -100, False, True)
        loss, residual, _ = run()
        error = max(difference(loss, exact[0]), difference(residual, exact[1]))
        table.add(f"fenchel, alpha {alpha:.4g}", run, error)
        del loss, residual


def attention(limit: Limit, densities: int, count: int, dtype: torch.dtype = torch.float32) -> None:
    basis = ft.GaussianBasis.linearly_spaced(count).to("cuda")
    mu = torch.rand(densities, 1, device="cuda", dtype=dtype)
    sigma2 = 10 ** (-4 * torch.rand(densities, 1, 1, device="cuda", dtype=dtype))
    grad = torch.randn(densities, count, device="cuda", dtype=dtype)
    functions = basis.functions()
    few = [x[:ROWS_CHECKED].double().cpu() for x in (mu, sigma2)]
    on_cpu = [x.cpu() for x in functions]
    few_grad = grad[:ROWS_CHECKED].double().cpu()
    kind = str(dtype).removeprefix("torch.")
    table = Table(f"attention on the line, {densities} x {count}, {kind}, forward", limit.milliseconds(grad))
    for alpha in (1.0, 2.0, 1.5, 4 / 3, 1.2, 3.0):
        r = ops.attend(mu, sigma2, None, *functions, alpha)
        run = lambda alpha=alpha: ops.attend(mu, sigma2, None, *functions, alpha)
        table.add(f"fenchel, alpha {alpha:.4g}", run, difference(r, ops.attend(*few, None, *on_cpu, alpha)))
    for alpha in (1.0, 2.0):
        run = lambda alpha=alpha: plain_attention(alpha, mu[:, 0], sigma2[:, 0, 0], basis)
        exact = ops.attend(*few, None, *on_cpu, alpha)
        table.add(f"plain torch, erf, alpha {alpha:.4g}", run, difference(run(), exact))
    title = f"attention on the line, {densities} x {count}, {kind}, forward + VJP"
    table = Table(title, limit.milliseconds(grad, grad))
    for alpha in (1.0, 2.0, 1.5, 4 / 3, 1.2, 3.0):

        def both(alpha: float = alpha) -> torch.Tensor:
            ops.attend(mu, sigma2, None, *functions, alpha)
            return ops.attend_vjp(mu, sigma2, None, *functions, grad, alpha, False)[0]

        exact = ops.attend_vjp(*few, None, *on_cpu, few_grad, alpha, False)[0]
        table.add(f"fenchel, alpha {alpha:.4g}", both, difference(both(), exact))


def plane(limit: Limit, densities: int, side: int, dtype: torch.dtype = torch.float32) -> None:
    axis = torch.linspace(0, 1, side, dtype=torch.float64)
    means = torch.cartesian_prod(axis, axis).cuda()
    covariances = (torch.eye(2, dtype=torch.float64) * 0.02).expand(side * side, 2, 2).contiguous().cuda()
    mu = torch.rand(densities, 2, device="cuda", dtype=dtype)
    factor = 0.2 * torch.randn(densities, 2, 2, device="cuda", dtype=dtype)
    scale = factor @ factor.mT + 0.01 * torch.eye(2, device="cuda", dtype=dtype)
    grad = torch.randn(densities, side * side, device="cuda", dtype=dtype)
    few = [x[:ROWS_CHECKED].double().cpu() for x in (mu, scale)]
    on_cpu = [means.cpu(), covariances.cpu()]
    kind = str(dtype).removeprefix("torch.")
    table = Table(f"attention in the plane, {densities} x {side * side}, {kind}, forward", limit.milliseconds(grad))
    for alpha in (1.0, 2.0, 1.5):
        run = lambda alpha=alpha: ops.attend(mu, scale, None, means, covariances, alpha)
        table.add(f"fenchel, alpha {alpha:.4g}", run, difference(run(), ops.attend(*few, None, *on_cpu, alpha)))
    table = Table(f"attention in the plane, {densities} x {side * side}, {kind}, VJP", limit.milliseconds(grad))
    for alpha in (1.0, 2.0, 1.5):
        run = lambda alpha=alpha: ops.attend_vjp(mu, scale, None, means, covariances, grad, alpha, False)[0]
        exact = ops.attend_vjp(*few, None, *on_cpu, grad[:ROWS_CHECKED].double().cpu(), alpha, False)[0]
        table.add(f"fenchel, alpha {alpha:.4g}", run, difference(run(), exact))


def small() -> None:
    """Where launching is all that counts: calls a host can make, and what a graph of them takes on the GPU."""
    x = torch.randn(64, 64, device="cuda")
    print(f"\n64 x 64, float32\n  {'':34} {'us/call':>8} {'us/node':>8}   of a graph of 100 calls")
    for name, run in (
        ("torch softmax", lambda: torch.softmax(x, -1)),
        ("fenchel softmax", lambda: ft.entmax(x, 1.0)),
        ("fenchel sparsemax", lambda: ft.sparsemax(x)),
        ("fenchel entmax15", lambda: ft.entmax15(x)),
        ("fenchel, alpha 1.25", lambda: ft.entmax(x, 1.25)),
    ):
        for _ in range(100):
            run()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(1000):
            run()
        torch.cuda.synchronize()
        a_call = (time.perf_counter() - begin) * 1e3
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(100):
                run()
        print(f"  {name:34} {a_call:8.2f} {milliseconds(graph.replay) * 10:8.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    everything = ("maps", "attention", "small")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(everything)}; all of them by default")
    parts = parser.parse_args().parts or everything
    if not set(parts) <= set(everything):
        parser.error(f"parts are {', '.join(everything)}, got {' '.join(parts)}")
    if not torch.cuda.is_available():
        parser.exit(1, "gpu.py: torch sees no GPU here\n")
    torch.manual_seed(1)
    limit = Limit()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, copy {limit.rate / 1e9:.2f} TB/s")
    if "maps" in parts:
        for cols in (128, 512, 4096, 32768, 131072):
            maps(limit, SIZE // cols, cols)
        maps(limit, SIZE // 4096, 4096, torch.bfloat16)
        maps(limit, SIZE // 4096, 4096, torch.float64)
    if "attention" in parts:
        attention(limit, 524288, 128)
        attention(limit, 65536, 128, torch.float64)
        plane(limit, 65536, 10)
    if "small" in parts:
        small()


if __name__ == "__main__":
    main()
