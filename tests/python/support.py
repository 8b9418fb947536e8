"""What several tests use."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np

ALPHAS = [1, np.nextafter(1, 2), 1 + 1e-8, 4 / 3, 1.5, 2, 5, 1e6]
"""Those from one on."""


def close(actual, desired, tolerance=1e-12):
    np.testing.assert_allclose(actual, desired, rtol=tolerance, atol=1e-14)


def difference(f, x, direction, h=1e-5):
    """The central difference quotient of f at x."""
    return (f(x + h * direction) - f(x - h * direction)) / (2 * h)


def at_once(count, f):
    """What f() gives in each of so many threads that run at once."""
    with ThreadPoolExecutor(count) as pool:
        return [future.result() for future in [pool.submit(f) for _ in range(count)]]


def hills(t):
    """A score with several hills."""
    return math.cos(3 * t) - t * t / 2
