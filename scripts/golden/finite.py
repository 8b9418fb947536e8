#!/usr/bin/env python3
"""Golden values of the finite domain, computed with mpmath at 60 digits and printed with 25.

usage: scripts/golden/finite.py tests/golden     (writes deformed.txt and entmax.txt there; needs mpmath)

Inputs are doubles, taken as the exact numbers they are. The prediction is found by bisection on the largest probability
(alpha <= 2) or the smallest one of the support (alpha > 2); derivatives are central differences at 60 digits.
"""
import math
import pathlib
import random
import sys

import mpmath as mp
from mpmath import mpf

mp.mp.dps = 60
ALPHAS = [0.1, 0.5, 0.9, 1 - 1e-9, 1.0, math.nextafter(1, 2), 1 + 1e-8, 1.01, 1.1, 1.25, 4 / 3, 1.5, 1.7, 1.9, 2.0,
          2.5, 3.0, 5.0, 10.0, 100.0, 1e6]


def text(values):
    return " ".join(mp.nstr(mpf(v), 25, min_fixed=-5, max_fixed=25) for v in values)


def bisect(increasing, low, high):
    """The root of an increasing function."""
    for _ in range(240):
        middle = (low + high) / 2
        low, high = (middle, high) if increasing(middle) < 0 else (low, middle)
    return (low + high) / 2


def entmax(eps, f):
    """(A, tau, p) of p = exp_{2-alpha}(f - A)."""
    top = max(f)
    if eps == 0:
        total = sum(mp.exp(x - top) for x in f)
        return top + mp.log(total), mp.mpf("-inf"), [mp.exp(x - top) / total for x in f]

    def power(x):
        return x ** (1 / eps) if x > 0 else mpf(0)

    if eps <= 1:
        peak = bisect(lambda q: sum(power(q**eps + eps * (x - top)) for x in f) - 1, mpf(1) / len(f) / 2, mpf(1))
        pivot, level = top, peak**eps
    else:
        pivot = min(t for t in f if sum(power(eps * (x - t)) for x in f) < 1)
        inside = [x for x in f if x >= pivot]
        level = bisect(lambda q: sum(power(q**eps + eps * (x - pivot)) for x in inside) - 1, mpf(0), mpf(1))**eps
    tau = pivot - level / eps
    return tau + 1 / eps, tau, [power(level + eps * (x - pivot)) for x in f]


def negentropy(eps, p):
    if eps == 0:
        return sum(x * mp.log(x) for x in p if x > 0)
    return (sum(x ** (1 + eps) for x in p) - 1) / (eps * (1 + eps))


def score_vectors():
    generator = random.Random(1)
    normal = lambda n, scale: [generator.gauss(0, scale) for _ in range(n)]
    yield [1, 0.8, 0.1, -2]
    yield [0.25]
    yield [3, 3, 3, 3, 3]
    yield [0, 0, -0.25, -0.25, -4]
    yield normal(6, 1)
    yield normal(12, 2)
    yield normal(9, 1e-7)
    yield normal(7, 30)
    yield [1e6 + x for x in normal(8, 1)]


def write_entmax(path):
    with path.open("w") as out:
        out.write("# made by scripts/golden/finite.py\n")
        for scores in score_vectors():
            f = [mpf(x) for x in scores]
            for alpha in ALPHAS:
                eps = mpf(alpha) - 1
                normalizer, tau, p = entmax(eps, f)
                mean = sum(x * y for x, y in zip(p, f))
                conjugate = mean - negentropy(eps, p)
                step = mpf(10) ** -20
                above, below = entmax(eps + step, f)[2], entmax(eps - step, f)[2]
                slope = [(x - y) / (2 * step) for x, y in zip(above, below)]
                out.write(f"alpha {alpha!r}\nscores {' '.join(repr(float(x)) for x in scores)}\n")
                out.write(f"normalizer {text([normalizer])}\nthreshold {text([tau])}\np {text(p)}\n")
                out.write(f"p_alpha {text(slope)}\nnegentropy {text([negentropy(eps, p)])}\n")
                out.write(f"conjugate {text([conjugate])}\n\n")


def write_deformed(path):
    def log(eps, u):
        return mp.log(u) if eps == 0 else (u**eps - 1) / eps

    with path.open("w") as out, mp.workdps(120):  # second differences lose 36 digits, the quotient up to 18
        out.write("# made by scripts/golden/finite.py\n# am1, u, log exp_{2-alpha}(u), exp_{2-alpha}(u), "
                  "then v, log_{2-alpha}(v), its first and second derivative in alpha\n")
        generator = random.Random(2)
        for am1 in [-0.9, -0.5, -1e-3, -1e-9, -1e-15, 0.0, 2.0**-52, 1e-12, 1e-8, 1e-3, 0.25, 1 / 3, 0.5, 0.9, 1.0, 4.0, 1e3,
                    1e6]:
            for _ in range(12):
                eps = mpf(am1)
                edge = 1 / abs(am1) if am1 else 50
                u = generator.choice([-1, 1]) * min(edge, 50) * 10 ** generator.uniform(-8, -0.01)
                v = 10 ** generator.uniform(-12, min(3, 200 / max(am1, 1)))  # v^am1 must not overflow
                exponent = mpf(u) if am1 == 0 else mp.log1p(eps * mpf(u)) / eps
                steps = [log(eps + k * mpf(10) ** -18, mpf(v)) for k in (-1, 0, 1)]
                first = (steps[2] - steps[0]) / (2 * mpf(10) ** -18)
                second = (steps[2] - 2 * steps[1] + steps[0]) / mpf(10) ** -36
                out.write(f"{am1!r} {u!r} {text([exponent, mp.exp(exponent)])} {v!r} {text([steps[1], first, second])}\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    write_deformed(folder / "deformed.txt")
    write_entmax(folder / "entmax.txt")
