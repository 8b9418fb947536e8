"""fenchel.torch against torch's softmax and cross entropy, the entmax package (PyPI `entmax`) and continuous attention
written with torch.erf, in float32, in one process; scores are N(0, 2^2).

A ratio is how many times as long as fenchel a contender takes; the error is the largest difference from float64, in
what is printed: the result, or the gradient where there is a backward pass.

usage: python bench/pytorch.py [threads]
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import entmax
import torch
from contest import Contest, difference
from plain_attention import plain_attention

import fenchel.torch as ft

Map = Callable[[torch.Tensor], torch.Tensor]
SHAPES = [(64, 32000), (1024, 4096), (16384, 256)]
ROWS_CHECKED = 8


def gradient(f: Map, x: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
    leaf = x.detach().requires_grad_()
    f(leaf).backward(grad)
    assert leaf.grad is not None
    return leaf.grad


def contests(
    title: str, x: torch.Tensor, grad: torch.Tensor, contenders: list[tuple[str, Map, Map]], unit: str
) -> None:
    """Forward, without and with a gradient to come, and forward + backward; a contender has a function that is right in
    float64."""
    leaf = x.detach().requires_grad_()
    few, few_grad = x[:ROWS_CHECKED].double(), grad[:ROWS_CHECKED].double()
    forward = Contest(f"{title}, forward", unit)
    recorded = Contest(f"{title}, forward with a gradient to come", unit)
    both = Contest(f"{title}, forward + backward", unit)
    for name, f, exact in contenders:
        value, slope = exact(few), gradient(exact, few, few_grad)
        forward.add(name, lambda f=f: f(x), lambda y, value=value: difference(y, value))
        recorded.add(name, lambda f=f: f(leaf), lambda y, value=value: difference(y, value))
        both.add(name, lambda f=f: gradient(f, x, grad), lambda y, slope=slope: difference(y, slope))
    forward.print()
    if unit == "us":  # what recording costs is seen in a small call alone
        recorded.print()
    both.print()


def maps(rows: int, cols: int, unit: str = "ms", with_package: bool = True) -> None:
    x, grad = 2 * torch.randn(rows, cols), torch.randn(rows, cols)

    def softmax(z: torch.Tensor) -> torch.Tensor:
        return torch.softmax(z, -1)

    package: dict[str, Map] = {
        "sparsemax": lambda z: entmax.sparsemax(z, dim=-1),
        "entmax15": lambda z: entmax.entmax15(z, dim=-1),
        "entmax 5/4": lambda z: entmax.entmax_bisect(z, alpha=1.25, dim=-1),
    }
    ours: dict[str, Map] = {
        "sparsemax": ft.sparsemax,
        "entmax15": ft.entmax15,
        "entmax 5/4": lambda z: ft.entmax(z, 1.25),
    }
    for name, f in ours.items():
        contenders = [(f"fenchel {name}", f, f), ("torch softmax", softmax, softmax)]
        if with_package:
            contenders.append((f"entmax package {name}", package[name], f))
        contests(f"{rows} x {cols}, {name}", x, grad, contenders, unit)


def losses(rows: int, cols: int) -> None:
    x, target, grad = 2 * torch.randn(rows, cols), torch.randint(cols, (rows,)), torch.ones(rows)

    def of_rows(f: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Map:
        return lambda z: f(z, target[: len(z)])

    cross_entropy = of_rows(lambda z, q: torch.nn.functional.cross_entropy(z, q, reduction="none"))
    for name, ours, package in (
        ("sparsemax loss", lambda z, q: ft.sparsemax_loss(z, q, reduction="none"), entmax.sparsemax_loss),
        ("entmax15 loss", lambda z, q: ft.entmax15_loss(z, q, reduction="none"), entmax.entmax15_loss),
    ):
        f = of_rows(ours)
        contests(
            f"{rows} x {cols}, {name}",
            x,
            grad,
            [
                (f"fenchel {name}", f, f),
                ("torch cross entropy", cross_entropy, cross_entropy),
                (f"entmax package {name}", of_rows(package), f),
            ],
            "ms",
        )


def attention(densities: int, count: int) -> None:
    basis = ft.GaussianBasis.linearly_spaced(count)
    x = torch.stack([torch.rand(densities), 10 ** (-4 * torch.rand(densities))], 1)  # mu, sigma2
    grad = torch.randn(densities, count)
    for alpha in (1.0, 2.0):

        def ours(z: torch.Tensor, alpha: float = alpha) -> torch.Tensor:
            return ft.continuous_attention(alpha, z[:, 0], z[:, 1], basis)

        def plain(z: torch.Tensor, alpha: float = alpha) -> torch.Tensor:
            return plain_attention(alpha, z[:, 0], z[:, 1], basis)

        title = f"attention, {densities} densities x {count} functions, alpha = {alpha:g}"
        contests(title, x, grad, [("fenchel", ours, ours), ("plain torch, erf", plain, ours)], "ms")


def main() -> None:
    if len(sys.argv) > 1:
        torch.set_num_threads(int(sys.argv[1]))
    torch.manual_seed(1)
    print(f"torch {torch.__version__}, threads: {torch.get_num_threads()}")
    attention(4096, 128)
    maps(8, 8, "us", with_package=False)
    for rows, cols in SHAPES:
        maps(rows, cols)
        losses(rows, cols)


if __name__ == "__main__":
    main()
