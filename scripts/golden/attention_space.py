#!/usr/bin/env python3
"""E_p[psi] on R^D in 25 digits: tests/golden/attention_space.txt.

In coordinates in which p is (1 - |u|^2)_+^s (or Student's (1 + |u|^2)^-m) psi is a Gaussian with two different
variances at most, of dimensions a and b: then |u|^2 = x + y with two independent noncentral chi-squares, and E_p[psi]
is an integral over x and y.
"""
import sys
from pathlib import Path

from mpmath import mp, mpf

mp.dps = 25


def constants(dim, alpha, det):
    """Peak and radius2 of p [MATH.md 5.2]; alpha may be infinite."""
    if mp.isinf(alpha):
        return mpf(1), 2 * mp.exp(mpf(2) / dim * (mp.loggamma(mpf(dim) / 2 + 1) - mp.log((2 * mp.pi) ** dim * det) / 2))
    am1 = alpha - 1
    if am1 > 0:
        ratio = mp.loggamma(mpf(dim) / 2 + 1 + 1 / am1) - mp.loggamma(1 + 1 / am1) + mpf(dim) / 2 * mp.log(am1)
    else:
        ratio = mp.loggamma(-1 / am1) - mp.loggamma(-1 / am1 - mpf(dim) / 2) + mpf(dim) / 2 * mp.log(-am1)
    ell = mp.log((2 * mp.pi) ** dim * det) / 2 - ratio
    z = -2 * am1 * ell / (2 + dim * am1)
    return mp.exp(-2 * ell / (2 + dim * am1)), 2 * mp.exp(z) / am1


def chi2_density(dim, centre2, width2, x):
    """Of |u|^2 for a Gaussian u on R^dim with this variance and squared distance from 0."""
    if centre2 == 0:
        return (x / (2 * width2)) ** (mpf(dim) / 2) / (x * mp.gamma(mpf(dim) / 2)) * mp.exp(-x / (2 * width2))
    if dim == 1:
        r, c, w = mp.sqrt(x), mp.sqrt(centre2), mp.sqrt(width2)
        return (mp.npdf(r, c, w) + mp.npdf(-r, c, w)) / (2 * r)
    order, product = mpf(dim) / 2 - 1, mp.sqrt(x * centre2) / width2
    return (x / centre2) ** (order / 2) / (2 * width2) * mp.exp(-(x + centre2) / (2 * width2)) * mp.besseli(order, product)


def integral(function, low, high, centre, width):
    """Split where a bump of this centre and width is."""
    cuts = {low, high}
    nearest = min(max(centre, low), high)
    for k in (-30, -14, -7, -3, -1, 0, 1, 3, 7, 14, 30):
        cut = nearest + k * width
        if low < cut < high:
            cuts.add(cut)
    return mp.quad(function, sorted(cuts))


def mean(blocks, s, student):
    """int (1 -+ |u|^2)^s N(u); blocks are (dimension, squared distance of the centre, variance)."""
    edge = mpf(1)

    def inner(left):
        dim, c2, w2 = blocks[-1]
        c, w = mp.sqrt(c2), mp.sqrt(w2)
        top = c + 60 * w if student else mp.sqrt(max(left, mpf(0)))
        # in r = sqrt(x)
        power = (lambda x: (edge + (1 - left) + x) ** s) if student else (lambda x: max(left - x, mpf(0)) ** s)
        return integral(lambda r: power(r * r) * chi2_density(dim, c2, w2, r * r) * 2 * r, mpf(0), top, c, w)

    if len(blocks) == 1:
        return inner(mpf(1))
    dim, c2, w2 = blocks[0]
    c, w = mp.sqrt(c2), mp.sqrt(w2)
    top = c + 60 * w if student else mpf(1)
    return integral(lambda r: inner(1 - r * r) * chi2_density(dim, c2, w2, r * r) * 2 * r, mpf(0), top, c, w)


def attend(alpha, scale, mu, mean_j, cov_j):
    dim = len(mu)
    peak, radius2 = constants(dim, alpha, mp.det(scale))
    student = alpha < 1
    s = mpf(0) if mp.isinf(alpha) else 1 / (alpha - 1)
    factor = mp.cholesky(scale)
    inverse = factor**-1
    white = inverse * cov_j * inverse.T / abs(radius2)
    centre = inverse * (mean_j - mu) / mp.sqrt(abs(radius2))
    values, axes = mp.eigsy(white)
    turned = axes.T * centre
    blocks = []
    for a in range(dim):
        for block in blocks:
            if abs(block[2] / values[a] - 1) < mpf(10) ** -14:
                block[0] += 1
                block[1] += turned[a] ** 2
                break
        else:
            blocks.append([1, turned[a] ** 2, values[a]])
    assert len(blocks) <= 2
    blocks.sort(key=lambda b: -b[2])
    return peak * mean(blocks, s, student)


def real(x):
    return mpf(float(x))


def matrix(rows):
    return mp.matrix([[real(x) for x in row] for row in rows])


def cases():
    inf = mp.inf
    s2, j2 = [[0.6, 0.2], [0.2, 0.3]], [[0.2, -0.05], [-0.05, 0.1]]
    for alpha in (1 + 1e-8, 1.01, 4 / 3, 1.5, 2, 5, 1e6, inf, 0.8, 0.5, 1 - 1e-8):
        yield alpha, s2, [0.1, -0.2], [0.5, 0.3], j2
    # isotropic functions of a unit disc and ball, narrow to wide, inside, at the edge and outside
    for dim in (2, 3, 5):
        for alpha in (1.5, 2, inf):
            _, radius2 = constants(dim, mpf(alpha), mpf(1))
            radius = mp.sqrt(radius2)
            for width, reach in ((1e-4, 0.3), (1e-4, 0.9997), (1e-4, 1.0005), (1e-2, 0.98), (1e-2, 1.2), (0.05, 0.8),
                                 (0.05, 1.0), (0.3, 0.5), (0.3, 3.0), (3, 1), (3, 40), (1e3, 0.2)):
                eye = [[float(i == k) for k in range(dim)] for i in range(dim)]
                cov = [[float((width * radius) ** 2) * x for x in row] for row in eye]
                yield alpha, eye, [0.0] * dim, [float(reach * radius)] + [0.0] * (dim - 1), cov
    # two widths
    for dim, split in ((2, 1), (3, 2), (5, 3)):
        for alpha in (4 / 3, 2, 3):
            _, radius2 = constants(dim, mpf(alpha), mpf(1))
            radius = mp.sqrt(radius2)
            for first, second, at_first, at_second in ((0.02, 0.4, 0.9, 0.2), (2, 0.05, 0.3, 0.95), (0.1, 30, 1.2, 0.5)):
                eye = [[float(i == k) for k in range(dim)] for i in range(dim)]
                widths = [first if i < split else second for i in range(dim)]
                cov = [[float((widths[i] * radius) ** 2) * eye[i][k] for k in range(dim)] for i in range(dim)]
                centre = [float(at_first * radius)] + [0.0] * (dim - 2) + [float(at_second * radius)]
                yield alpha, eye, [0.0] * dim, centre, cov


def main():
    out = Path(__file__).resolve().parents[2] / "tests" / "golden" / "attention_space.txt"
    lines = ["# made by scripts/golden/attention_space.py"]
    for alpha, scale, mu, mean_j, cov_j in cases():
        a = mp.inf if mp.isinf(alpha) else real(alpha)
        value = attend(a, matrix(scale), mp.matrix([real(x) for x in mu]), mp.matrix([real(x) for x in mean_j]), matrix(cov_j))
        print(float(alpha), len(mu), mp.nstr(value, 17), file=sys.stderr, flush=True)
        text = lambda xs: " ".join(repr(float(x)) for x in xs)
        lines += ["", f"alpha {float(alpha)!r}", "mu " + text(mu), "scale " + text(x for r in scale for x in r),
                  "mean " + text(mean_j), "covariance " + text(x for r in cov_j for x in r), "value " + mp.nstr(value, 20)]
    out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
