"""Ctrl-C ends every long operation of the CPU, forward and backward, and changes nothing else."""

import pathlib
import signal
import subprocess
import sys

import pytest
import torch

import fenchel.torch as ft

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from support import is_interrupted  # noqa: E402

ops, F64 = torch.ops.fenchel, torch.float64


def normal(*shape, dtype=F64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=F64).to(dtype)


def uniform(*shape):
    return torch.rand(shape, generator=torch.Generator().manual_seed(1), dtype=F64)


def over(f, *args, **options):
    return lambda: f(*args, **options)


def backward(f, *x):
    """The backward pass of f(*x), whose forward pass is done."""
    y = f(*(t.requires_grad_() for t in x))
    return over(y.backward, normal(*y.shape, dtype=y.dtype))


def row(n):
    """One row so many times, in one place."""
    return torch.softmax(normal(10), -1).expand(n, 10)


BASIS = ft.GaussianBasis(torch.linspace(0, 1, 64, dtype=F64), 0.1)
POLYNOMIALS = ft.PolynomialBasis(12)
# Calls on so many rows that they take about a second on one thread.
CALLS = {
    "entmax": (4_000_000, lambda n: over(ft.entmax, normal(n, 10), 3.0)),
    "entmax along the first dimension": (4_000_000, lambda n: over(ft.entmax, normal(10, n), 3.0, dim=0)),
    "entmax of a half type": (8_000_000, lambda n: over(ft.entmax, normal(n, 10, dtype=torch.bfloat16), 3.0)),
    "entmax backward": (3_000_000, lambda n: backward(lambda x: ft.entmax(x, 1.3), normal(n, 10))),
    "entmax backward in alpha": (3_000_000, lambda n: backward(ft.entmax, normal(n, 10), 1.3 + uniform(n, 1))),
    "entmax in forward mode": (4_000_000, lambda n: over(ops.entmax_jvp, row(n), None, row(n), None, 1.3, -1)),
    "entmax backward twice": (
        3_000_000,
        lambda n: over(ops.entmax_vjp_vjp, row(n), None, row(n), row(n), None, 1.3, -1),
    ),
    "weighted entmax": (1_000_000, lambda n: over(ft.entmax, normal(n, 10), 1.3, weight=uniform(10))),
    "loss": (4_000_000, lambda n: over(ft.entmax_loss, normal(n, 10), torch.zeros(n, dtype=torch.int64), 3.0)),
    "fusedmax": (3_000_000, lambda n: over(ft.fusedmax, normal(n, 10))),
    "smooth sparsemax": (1_000_000, lambda n: over(ft.smooth_sparsemax, normal(n, 10))),
    "fusedmax of images": (50, lambda n: over(ft.fusedmax_grid, normal(n, 128, 128))),
    "attention": (500_000, lambda n: over(ft.continuous_attention, 0.8, uniform(n), 1 + uniform(n), BASIS)),
    "attention backward": (
        500_000,
        lambda n: backward(lambda mu: ft.continuous_attention(0.8, mu, torch.ones_like(mu), BASIS), uniform(n)),
    ),
    "attention over polynomials": (
        2_000_000,
        lambda n: over(ft.continuous_attention, 1.7, uniform(n), 1 + uniform(n), POLYNOMIALS),
    ),
    "match_weights": (5_000_000, lambda n: over(ft.match_weights, 2.0, torch.softmax(normal(n, 5), -1))),
    "quantiles": (
        2_000_000,
        lambda n: over(ops.beta_gaussian, uniform(n), uniform(n), 1.7 + uniform(n), "quantile", 1),
    ),
    "a family of the line": (30_000, lambda n: over(ft.TruncatedGaussian(2.0, normal(n)).cross_omega, normal(n))),
    "counts": (200_000, lambda n: over(ft.SparsePoisson(1.3, 30 * uniform(n)).cross_omega, torch.tensor(9.0))),
}


SIGNALS = 8
"""More than Python handles before and after the operation that takes the time, if it has imported all it needs."""


def ends(call, rows):
    """Whether Ctrl-C ends a call on so many rows. A machine may have done them before it handled all signals, and then
    gets more of them; a call that does not look at signals handles too few on any number of rows."""
    return any(is_interrupted(call(rows * more), SIGNALS) for more in (1, 2, 4, 8))


@pytest.fixture
def one_thread():
    count = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(count)


@pytest.mark.parametrize("name", CALLS)
def test_a_long_operation_ends(name, one_thread):
    rows, call = CALLS[name]
    call(2)()
    assert ends(call, rows)


def test_several_threads_end():
    assert ends(lambda n: over(ft.entmax, normal(n, 10), 1.3), 4_000_000)


def test_an_operation_that_was_ended_can_be_called_again(one_thread):
    x = normal(3_000_000, 10).requires_grad_()
    expected = torch.autograd.grad(ft.entmax(x, 1.3).pow(2).sum(), x)[0]
    y = ft.entmax(x, 1.3).pow(2).sum()
    assert any(is_interrupted(over(torch.autograd.grad, y, x, retain_graph=True), SIGNALS) for _ in range(4))
    assert torch.equal(torch.autograd.grad(y, x)[0], expected)


def test_a_handler_that_does_not_raise_changes_nothing():
    x, handled = normal(500_000, 10), []
    expected = ft.entmax(x, 1.3)
    before = signal.signal(signal.SIGALRM, lambda number, frame: handled.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try:
        p = ft.entmax(x, 1.3)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert handled and torch.equal(p, expected)


PROGRAM = """
import signal, threading, torch
import fenchel.torch as ft

torch.set_num_threads(1)
x = torch.randn(128, 128).expand(10_000, 128, 128)

def long():
    ft.fusedmax_grid(x)
    print("finished", flush=True)

"""
"""A minute's work and more."""


def run(program, act):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", PROGRAM + program], **pipes) as process:
        ready = process.stdout.readline()
        act(process)
        printed, errors = process.communicate()
    assert ready == "ready\n" and printed == ""
    return process.returncode, errors


def test_a_program_ends_by_the_signal_that_raises():
    program = """
count = 0

def handle(number, frame):
    global count
    count += 1
    print(count, flush=True)
    if count == 5:
        signal.default_int_handler(number, frame)

signal.signal(signal.SIGINT, handle)
print("ready", flush=True)
long()
"""

    def send(process):
        for count in range(1, 6):
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == f"{count}\n"

    code, errors = run(program, send)
    assert code == -signal.SIGINT and errors.splitlines()[-1] == "KeyboardInterrupt"


def test_a_program_ends_while_another_thread_is_in_an_operation():
    program = """
threading.Thread(target=long, daemon=True).start()
threading.Event().wait(0.3)
print("ready", flush=True)
"""
    assert run(program, lambda process: None) == (0, "")
