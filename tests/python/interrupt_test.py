"""Ctrl-C ends every long call."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from support import is_interrupted

import fenchel
from fenchel import BetaGaussian, MultivariateBetaGaussian, SparseIntegerGaussian, TruncatedGaussian

P = BetaGaussian(1.7)
PLANE = MultivariateBetaGaussian(1.7, np.zeros(2), np.eye(2))
INTEGERS = SparseIntegerGaussian(1.7, 0, 100)
BASIS = fenchel.GaussianBasis(np.linspace(0, 1, 64), 0.1)


def normal(*shape):
    return np.random.default_rng(1).normal(size=shape)


def uniform(*shape):
    return np.random.default_rng(1).uniform(size=shape)


def sample(p, size):
    return lambda: p.rvs(size, random_state=1)


def over(f, *args, **options):
    return lambda: f(*args, **options)


# What takes a second or more on one thread.
CALLS = {
    "draws": lambda: sample(P, 20_000_000),
    "draws of a mixture": lambda: sample(fenchel.Mixture([0.5, 0.5], [P, BetaGaussian(1.7, 1)]), 20_000_000),
    "draws of vectors": lambda: sample(PLANE, 20_000_000),
    "draws of integers": lambda: sample(INTEGERS, 20_000_000),
    "cdf": lambda: over(P.cdf, normal(5_000_000)),
    "ppf": lambda: over(P.ppf, uniform(4_000_000)),
    "density of vectors": lambda: over(fenchel.MultivariateMixture([1], [PLANE]).pdf, normal(12_000_000, 2)),
    "ppf of integers": lambda: over(INTEGERS.ppf, uniform(20_000_000)),
    "large table": lambda: over(SparseIntegerGaussian, 1.02, 0, 1e12),
    "loss of a sample": lambda: over(TruncatedGaussian(2).fenchel_young, normal(20_000_000)),
    "entmax": lambda: over(fenchel.entmax, normal(1_000_000, 10), 3.0),
    "entmax of one column": lambda: over(fenchel.entmax, normal(10_000_000, 1), 3.0),
    "entmax along the first axis": lambda: over(fenchel.entmax, normal(10, 1_000_000), 3.0, axis=0),
    "fusedmax": lambda: over(fenchel.fusedmax, normal(2_000_000, 10)),
    "fusedmax of images": lambda: over(fenchel.fusedmax_grid, normal(50, 128, 128)),
    "loss": lambda: over(fenchel.entmax_loss, normal(1_000_000, 10), np.zeros(1_000_000, int), 3.0),
    "conjugate": lambda: over(fenchel.entmax_conjugate, normal(2000, 10_000), 1.3),
    "attention": lambda: over(fenchel.attend, fenchel.Densities(0.8, uniform(500_000), np.ones(500_000)), BASIS),
    "key-value attention": lambda: over(fenchel.key_value_attention, *[normal(5000, 64)] * 3),
    "fit": lambda: over(fenchel.fit, fenchel.BetaLaplace, normal(30_000_000)),
    "fit of integers": lambda: over(
        fenchel.fit, SparseIntegerGaussian, np.round(1e4 * normal(2000)).astype(int), alpha="auto"
    ),
    "fit of a mixture": lambda: over(
        fenchel.fit_mixture, 1.7, np.full(100_000, 1e-5), normal(100_000), 5, tolerance=0, max_iterations=10_000
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_long_call_ends(name):
    call = CALLS[name]()
    fenchel.set_num_threads(1)
    try:
        assert is_interrupted(call)
    finally:
        fenchel.set_num_threads(0)


def test_several_threads_end():
    fenchel.set_num_threads(3)
    try:
        assert is_interrupted(CALLS["draws"]())
    finally:
        fenchel.set_num_threads(0)


def test_a_handler_that_does_not_raise_changes_nothing():
    size = 1_000_000
    expected, handled = P.rvs(size, random_state=1), []
    before = signal.signal(signal.SIGALRM, lambda number, frame: handled.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try:
        draws = P.rvs(size, random_state=1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert handled and np.array_equal(draws, expected)


PROGRAM = """
import math, signal, fenchel

count = 0

def handle(number, frame):
    global count
    count += 1
    print(count, flush=True)
    if count == 5:
        signal.default_int_handler(number, frame)

signal.signal(signal.SIGINT, handle)
print("ready", flush=True)
{call}
print("finished", flush=True)
"""


# The second holds the GIL, and calls nothing that is written in Python.
@pytest.mark.parametrize(
    "call",
    [
        "fenchel.BetaGaussian(1.7).rvs(400_000_000)",
        "fenchel.predict(fenchel.Tsallis(2), math.cos, fenchel.Interval(-2000, 2000))",
    ],
)
def test_a_program_ends_by_the_interrupt_that_raises(call):
    """The next signal is sent when the program has handled the one before."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", PROGRAM.format(call=call)], **pipes) as program:
        lines = [program.stdout.readline()]
        while lines[-1] in ("ready\n", "1\n", "2\n", "3\n", "4\n"):
            program.send_signal(signal.SIGINT)
            lines.append(program.stdout.readline())
        errors = program.communicate()[1]
    assert "".join(lines) == "ready\n1\n2\n3\n4\n5\n"
    assert "KeyboardInterrupt" in errors
