#!/usr/bin/env python3
"""Golden values of entmax over weighted nodes, computed with mpmath at 110 digits and printed with 20.

usage: scripts/golden/weighted.py tests/golden     (writes weighted_entmax.txt there; needs mpmath)

Inputs are doubles, taken as the exact numbers they are. The normaliser is found by bisection on the mass, derivatives are
central differences, and losses are sums of the definition.
"""
import math
import pathlib
import random
import sys

import mpmath as mp
from mpmath import mpf

mp.mp.dps = 110  # second differences lose 36 digits, and 18 more near alpha = 1
ALPHAS = [0.1, 0.7, 1 - 1e-9, 1.0, math.nextafter(1, 2), 1 + 1e-8, 4 / 3, 1.5, 1.7, 2.0, 2.5, 5.0, 100.0, 1e6]


def text(values):
    return " ".join(mp.nstr(mpf(v), 20, min_fixed=-5, max_fixed=20) for v in values)


def prediction(eps, f, w):
    """(A, P) of P_i = w_i exp_{2-alpha}(f_i - A), by bisection on the largest density or past alpha = 2 the smallest."""
    nodes = [(x, v) for x, v in zip(f, w) if v > 0]
    top = max(x for x, _ in nodes)
    if eps == 0:
        total = sum(v * mp.exp(x - top) for x, v in nodes)
        return top + mp.log(total), [v * mp.exp(x - top) / total for x, v in zip(f, w)]

    def masses(pivot, level):
        bases = ((level + eps * (x - pivot), v) for x, v in zip(f, w))
        return [v * mp.exp(mp.log(base) / eps) if base > 0 and v > 0 else mpf(0) for base, v in bases]

    pivot = top if eps <= 1 else min(x for x, _ in nodes if sum(masses(x, mpf(0))) < 1)
    low, high = -mp.log(sum(v for _, v in nodes)) - 5000, -mp.log(sum(v for x, v in nodes if x == pivot)) + mpf(1) / 10
    for _ in range(420):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(masses(pivot, mp.exp(eps * middle))) < 1 else (low, middle)
    level = mp.exp(eps * low)
    return pivot - (level - 1) / eps, masses(pivot, level)


def negentropy(eps, q, w):
    terms = [(x, v) for x, v in zip(q, w) if x > 0]
    if eps == 0:
        return sum(x * mp.log(x / v) for x, v in terms)
    return (sum(v * (x / v) ** (1 + eps) for x, v in terms) - 1) / (eps * (1 + eps))


def losses(eps, f, w, q):
    """Fenchel-Young and cross-Omega."""
    _, p = prediction(eps, f, w)
    cross = sum((x - y) * z for x, y, z in zip(p, q, f)) - negentropy(eps, p, w)
    return cross + negentropy(eps, q, w), cross


def cases():
    generator = random.Random(7)
    normal = lambda n, scale: [generator.gauss(0, scale) for _ in range(n)]
    uniform = lambda n, low, high: [generator.uniform(low, high) for _ in range(n)]
    yield [1, 0.8, 0.1, -2], [0.25, 1, 2, 1]
    yield [3, 3, 3], [0.5, 1.5, 2]
    yield normal(6, 1), uniform(6, 0.5, 2)
    yield normal(7, 3), [0.0, 3.0, 1e-3, 40.0, 1.0, 0.2, 7.0]
    yield [-(t - 0.1) ** 2 / 2 for t in (-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2)], [0.5] * 9
    yield [1e6 + x for x in normal(5, 1)], uniform(5, 1, 2)


def block(alpha, scores, weights, generator):
    eps, f, w, n = mpf(alpha) - 1, [mpf(x) for x in scores], [mpf(x) for x in weights], len(scores)
    normalizer, p = prediction(eps, f, w)
    densities = [x / v for x, v in zip(p, w) if x > 0]
    if alpha > 10 and (max(densities) > 2 or min(densities) ** (1 - eps) > 1e6):
        return None  # powers of the density are past the largest double, or differences cross the edge of the support
    d_f, g = ([generator.gauss(0, 1) for _ in range(n)] for _ in range(2))
    d_w = [generator.gauss(0, 1) if v > 0 else 0.0 for v in weights]
    d_alpha = generator.gauss(0, 1) if alpha < 10 else 0.0

    def moved(step):
        return (eps + step * mpf(d_alpha), [x + step * mpf(d) for x, d in zip(f, d_f)],
                [x + step * mpf(d) for x, d in zip(w, d_w)])

    step = mpf(10) ** -18
    above, below = (prediction(*moved(s))[1] for s in (step, -step))
    tangent = [(x - y) / (2 * step) for x, y in zip(above, below)]
    second = sum(mpf(c) * (x - 2 * y + z) for c, x, y, z in zip(g, above, p, below)) / step**2
    raw = [generator.random() if v > 0 else 0.0 for v in weights]
    q = [round(x / sum(raw), 6) for x in raw]
    last = max(range(n), key=lambda i: q[i])
    q[last] = 1 - sum(x for i, x in enumerate(q) if i != last)
    exact_q = [mpf(x) for x in q]
    exact_q = [x / sum(exact_q) for x in exact_q]
    label = last
    one = [mpf(1 if i == label else 0) for i in range(n)]
    here = losses(eps, f, w, exact_q)
    up, down = (losses(*moved(s), exact_q) for s in (step, -step))
    of_class = losses(eps, f, w, one)
    lines = {"scores": scores, "weights": weights, "d_scores": d_f, "d_weights": d_w, "d_alpha": [d_alpha], "cotangent": g,
             "target": q, "label": [label]}
    text_lines = [f"alpha {alpha!r}"] + [f"{k} {' '.join(repr(float(x)) for x in v)}" for k, v in lines.items()]
    numbers = {"normalizer": [normalizer], "p": p, "tangent": tangent, "second": [second], "losses": here,
               "loss_slopes": [(x - y) / (2 * step) for x, y in zip(up, down)],
               "loss_curvatures": [(x - 2 * y + z) / step**2 for x, y, z in zip(up, here, down)],
               "class_losses": of_class}
    return "\n".join(text_lines + [f"{k} {text(v)}" for k, v in numbers.items()]) + "\n\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    generator = random.Random(8)
    with (pathlib.Path(sys.argv[1]) / "weighted_entmax.txt").open("w") as out:
        out.write("# made by scripts/golden/weighted.py: slopes and curvatures are along the direction (d_scores, d_weights, "
                  "d_alpha);\n# of the pairs the Fenchel-Young loss comes first, then the cross-Omega loss\n")
        for scores, weights in cases():
            for alpha in ALPHAS:
                out.write(block(alpha, scores, weights, generator) or "")


if __name__ == "__main__":
    main()
