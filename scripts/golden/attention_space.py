#!/usr/bin/env python3
"""E_p[psi] on R^D in 20 digits: tests/golden/attention_space.txt.

In coordinates in which p is peak (1 - |u|^2)_+^s, or Student's peak (1 + |u|^2)^s, psi has one or two different
variances here. Then |u|^2 is a noncentral chi-square, or the sum of two, and E_p[psi] an integral over one radius or
two: by tanh-sinh for one, by panels of Gauss-Legendre in angles for two.
"""
from pathlib import Path

from mpmath import mp, mpf

mp.dps = 32
ORDER = 18


def constants(dim, alpha):
    """Peak and radius2 of p for Sigma = 1 [docs/math.md 5.2]; alpha may be infinite."""
    half = mpf(dim) / 2
    if mp.isinf(alpha):
        return mpf(1), 2 * mp.exp((mp.loggamma(half + 1) - half * mp.log(2 * mp.pi)) / half)
    am1 = alpha - 1
    if am1 > 0:
        ratio = mp.loggamma(half + 1 + 1 / am1) - mp.loggamma(1 + 1 / am1) + half * mp.log(am1)
    else:
        ratio = mp.loggamma(-1 / am1) - mp.loggamma(-1 / am1 - half) + half * mp.log(-am1)
    ell = half * mp.log(2 * mp.pi) - ratio
    log_peak = -2 * ell / (2 + dim * am1)
    return mp.exp(log_peak), 2 * mp.exp(am1 * log_peak) / am1


def radius_density(dim, c, w, r):
    """Of |u| for a Gaussian u on R^dim, c from 0, with this width."""
    if dim == 1:
        return mp.npdf(r, c, w) + mp.npdf(-r, c, w)
    if c == 0:
        return 2 * (r * r / (2 * w * w)) ** (mpf(dim) / 2) / (r * mp.gamma(mpf(dim) / 2)) * mp.exp(-r * r / (2 * w * w))
    if dim == 3:
        return r / c * (mp.npdf(r, c, w) - mp.npdf(-r, c, w))
    bessel = mp.besseli(mpf(dim) / 2 - 1, r * c / w**2)
    return r / w**2 * (r / c) ** (mpf(dim) / 2 - 1) * mp.exp(-(r * r + c * c) / (2 * w * w)) * bessel


def cuts(high, c, w, multiples):
    nearest = min(c, high)
    inside = [nearest + k * w for k in multiples if 0 < nearest + k * w < high]
    return sorted({mpf(0), high, *inside})


def one_width(dim, c, w, s, student):
    high = c + 60 * w if student else mpf(1)
    power = (lambda r: (1 + r * r) ** s) if student else (lambda r: ((1 - r) * (1 + r)) ** s)
    places = cuts(high, c, w, (-30, -14, -7, -3, -1, 0, 1, 3, 7, 14, 30))
    small = mp.exp(-(max(c - high, mpf(0)) / w) ** 2 / 2)  # mp.quad has an absolute tolerance
    return small * mp.quad(lambda r: power(r) * radius_density(dim, c, w, r) / small, places)


def legendre():
    """Nodes and weights on (0, 1), by Newton's iteration."""
    rule = []
    for i in range(ORDER):
        x = mp.cos(mp.pi * (i + mpf(3) / 4) / (ORDER + mpf(1) / 2))
        for _ in range(8):
            slope = ORDER * (x * mp.legendre(ORDER, x) - mp.legendre(ORDER - 1, x)) / (x * x - 1)
            x -= mp.legendre(ORDER, x) / slope
        rule.append(((1 + x) / 2, 1 / ((1 - x * x) * slope**2)))
    return rule


RULE = legendre()


def angles(edge, c, w):
    """Radii r = edge sin(angle) that resolve a Gaussian: (r, its complement edge cos(angle), weight)."""
    places = [mp.asin(x / edge) for x in cuts(edge, c, w, (-13, -9, -6, -4, -2, 0, 2, 4, 6, 9, 13))]
    for low, high in zip(places, places[1:]):
        for x, weight in RULE:
            angle = low + (high - low) * x
            yield edge * mp.sin(angle), edge * mp.cos(angle), weight * (high - low) * edge * mp.cos(angle)


def two_widths(first, second, s):
    """The narrow one outside: what is inside then varies slowly."""
    first, second = sorted((first, second), key=lambda block: block[2])
    total = mpf(0)
    for r, left, weight in angles(mpf(1), first[1], first[2]):
        inner = mpf(0)
        for q, rest, inner_weight in angles(left, second[1], second[2]):
            inner += inner_weight * rest ** (2 * s) * radius_density(*second, q)
        total += weight * inner * radius_density(*first, r)
    return total


def cases():
    """alpha, then (dimension, distance from mu, width) in units of the support's radius, for one or two widths."""
    places = ((1e-4, 0.3), (1e-4, 0.9997), (1e-4, 1.0005), (1e-2, 0.98), (1e-2, 1.2), (0.05, 0.8), (0.05, 1.0), (0.3, 0.5),
              (0.3, 3.0), (3, 1.0), (3, 40.0), (1e3, 0.2))
    for dim in (2, 3, 5):
        for alpha in (1.5, 2, mp.inf):
            for width, at in places:
                yield alpha, [(dim, at, width)]
    for alpha in (1.01, 4 / 3, 5, 1e6, 0.8, 0.7):
        for width, at in ((0.05, 0.1), (0.2, 0.9), (2, 3.0)):
            yield alpha, [(3, at, width)]
    for dims in ((1, 1), (1, 3), (3, 3)):
        for alpha in (1.5, 2, 3, mp.inf):
            yield alpha, [(dims[0], 0.9, 0.02), (dims[1], 0.2, 0.4)]
            yield alpha, [(dims[0], 0.3, 2.0), (dims[1], 0.97, 0.05)]


def main():
    lines = ["# made by scripts/golden/attention_space.py: Sigma = 1, mu = 0, psi_j along the axes"]
    for alpha, blocks in cases():
        alpha = mpf(alpha)
        peak, radius2 = constants(sum(block[0] for block in blocks), alpha)
        radius = mp.sqrt(abs(radius2))
        s = mpf(0) if mp.isinf(alpha) else 1 / (alpha - 1)
        mean, variances, exact = [], [], []
        for dim, at, width in blocks:
            mean += [float(at * radius)] + [0.0] * (dim - 1)
            variances += [float((width * radius) ** 2)] * dim
            exact.append((dim, mpf(mean[-dim]) / radius, mp.sqrt(mpf(variances[-1])) / radius))
        value = peak * (one_width(*exact[0], s, alpha < 1) if len(exact) == 1 else two_widths(*exact, s))
        text = [" ".join(repr(x) for x in numbers) for numbers in (mean, variances)]
        lines += ["", f"alpha {float(alpha)!r}", "mean " + text[0], "variances " + text[1], "value " + mp.nstr(value, 20)]
    path = Path(__file__).resolve().parents[2] / "tests" / "golden" / "attention_space.txt"
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
