"""Writes tests/golden/attention_rows.txt: E_p[psi] for beta-Gaussians p and Gaussian functions psi on the line, by mpmath.

With b = sigma p(mu)^(am1/2) and x = (t - mu) / b, x has the density e^D / sqrt(2 pi) (1 - am1 x^2 / 2)_+^(1/am1) for every
alpha. Integrals are tanh-sinh sums over pieces; the sum over every other node must agree to 20 digits. The scale of a
derivative is the smaller of two integrals of absolute values: that with psi' and that with the derivative of p.
"""
import math
import multiprocessing
import pathlib
import random
import struct

from mpmath import cosh, exp, inf, log, mp, mpf, pi, sinh, sqrt, tanh

from beta_gaussian import log_gamma_ratio, log_gamma_ratio_slope

ALPHAS = [0.4, 0.8, 0.99, 0.999999, 1.0, 1 + 2.0**-52, 1 + 1e-8, 1 + 1e-6, 1.1, 4 / 3, 1.5, 1.7, 2.0, 3.0, 5.0,
          10.0, 1e6, math.inf]
PLACES = ["inside", "edge", "outside", "inside", "outside"]
STEPS, REACH = 24, 4.25  # tanh-sinh: nodes a unit, units


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def nodes():
    rule = []
    for k in range(-int(REACH * STEPS), int(REACH * STEPS) + 1):
        s = pi / 2 * sinh(mpf(k) / STEPS)
        rule.append(((1 + tanh(s)) / 2, pi / 4 / STEPS * cosh(mpf(k) / STEPS) / cosh(s)**2, k % 2 == 0))
    return rule


class Line:
    """The density in x, and how b depends on the parameters; for infinite alpha x is uniform on [-1, 1] and b = 1/2."""

    def __init__(self, alpha, sigma2):
        self.e, self.uniform = mpf(alpha) - 1, math.isinf(alpha)
        self.edge = mpf(1) if self.uniform else sqrt(2 / self.e) if self.e > 0 else inf
        if self.uniform:
            self.b, self.slope_sigma2, self.slope_alpha = mpf(1) / 2, mpf(0), mpf(0)
            return
        e = self.e
        self.log_ratio, self.ratio_slope = log_gamma_ratio(1, e), log_gamma_ratio_slope(1, e)
        ell = log(2 * pi * sigma2) / 2 - self.log_ratio
        self.b = sqrt(sigma2) * exp(-e * ell / (2 + e))
        self.slope_sigma2 = 1 / ((2 + e) * sigma2)  # of log b
        self.slope_alpha = -2 * ell / (2 + e)**2 + e / (2 + e) * self.ratio_slope

    def at(self, x):
        """The density of x, its derivative, and the derivative of its log in alpha at fixed x."""
        if self.uniform:
            return mpf(1) / 2, mpf(0), mpf(0)
        e, h = self.e, x * x / 2
        if e == 0:
            f = exp(-h) / sqrt(2 * pi)
            return f, -x * f, mpf(3) / 8 - h * h / 2
        rest = 1 - e * h
        if rest <= 0:
            return mpf(0), mpf(0), mpf(0)
        f = exp(self.log_ratio + log(rest) / e) / sqrt(2 * pi)
        return f, -x / rest * f, self.ratio_slope - log(rest) / e**2 - h / (e * rest)


def cuts(line, m, w):
    """Where the integrand changes its character: the ends, the function, the density, and their product's bump."""
    lo, hi = max(-line.edge, m - 25 * w), min(line.edge, m + 25 * w)
    if line.e <= mpf("0.001") and line.e >= 0:
        lo, hi = max(lo, mpf(-40)), min(hi, mpf(40))
    if lo >= hi:  # farther than 25 widths: the near end has it all
        depth = min(2 * w, 2 * line.edge)
        lo, hi = (line.edge - depth, line.edge) if m > 0 else (-line.edge, depth - line.edge)
    centre, width = m / (1 + w * w), w / sqrt(1 + w * w)
    points = {lo, hi}
    for k in [0, 2, 5, 11]:
        for sign in [1, -1]:
            points.update([m + sign * k * w, centre + sign * k * width, mpf(sign * k), lo + k * w / 30, hi - k * w / 30])
    for k in range(5, 40):
        points.update([mpf(2)**k, -mpf(2)**k])
    ordered = sorted(p for p in points if lo <= p <= hi)
    kept = [ordered[0]]
    for p in ordered[1:]:
        if p - kept[-1] > (hi - lo) * mpf("1e-9"):
            kept.append(p)
    kept[-1] = hi
    return list(zip(kept, kept[1:]))


def pieces(line, m, w):
    """Those between cuts that count: f and psi have one peak each, which bounds their product on both sides."""
    def bounds(lo, hi):
        def psi(x):
            return exp(-((x - m) / w)**2 / 2)
        def f(x):
            return line.at(x)[0]
        top = psi(min(max(m, lo), hi)) * f(min(max(mpf(0), lo), hi))
        return (hi - lo) * min(psi(lo), psi(hi)) * min(f(lo), f(hi)), (hi - lo) * top
    all_pieces = [(piece, bounds(*piece)) for piece in cuts(line, m, w)]
    least = max(low for _, (low, _) in all_pieces)
    return [piece for piece, (_, top) in all_pieces if top > least * mpf("1e-30")]


def halved(intervals):
    return [half for lo, hi in intervals for half in [(lo, (lo + hi) / 2), ((lo + hi) / 2, hi)]]


def expectations(line, m, w, rule, intervals):
    """psi = exp(-(x - m)^2 / (2 w^2)): E[psi], E[psi'], E[x psi'], d/dalpha and the scales, by all nodes and half."""
    fixed_fraction = line.e > mpf("0.5") and not line.uniform
    full, coarse = [mpf(0)] * 10, [mpf(0)] * 10
    edge_slope = -1 / (2 * line.e) if fixed_fraction else mpf(0)  # d log edge / d alpha
    for lo, hi in intervals:
        for y, weight, even in rule:
            x = lo + (hi - lo) * y if y < 0.5 else hi - (hi - lo) * (1 - y)
            s = (x - m) / w
            psi = exp(-s * s / 2)
            f, f_slope, log_f_alpha = line.at(x)
            if f == 0 and f_slope == 0:
                continue
            slope = -s / w * psi
            stretch = line.slope_alpha
            if fixed_fraction:  # x = edge * fraction: nothing is singular at the ends
                log_f_alpha = line.ratio_slope - log(1 - line.e * (x * x / 2)) / line.e**2 + edge_slope
                stretch = stretch + edge_slope
            pushed = f + x * f_slope
            alpha_form = f * log_f_alpha * psi + f * stretch * x * slope
            values = [f * psi, f * slope, f * x * slope, alpha_form,
                      f * abs(slope), abs(x) * f * abs(slope), abs(f * log_f_alpha * psi) + abs(f * stretch * x * slope),
                      abs(f_slope) * psi, abs(pushed) * psi, abs(f * log_f_alpha - stretch * pushed) * psi]
            scale = weight * (hi - lo)
            for k, v in enumerate(values):
                full[k] += scale * v
                if even:
                    coarse[k] += 2 * scale * v
    return full, coarse


def row(alpha, mu, sigma2, mean, covariance, rule):
    line = Line(alpha, mpf(sigma2))
    deviation = sqrt(mpf(covariance))
    m, w = (mpf(mean) - mpf(mu)) / line.b, deviation / line.b
    intervals = pieces(line, m, w)
    for _ in range(4):
        full, coarse = expectations(line, m, w, rule, intervals)
        if all(abs(full[k] - coarse[k]) <= mpf("1e-20") * full[k + 3 if k else 0] for k in range(4)):
            break
        intervals = halved(intervals)
    else:
        raise ArithmeticError(f"{alpha} {float(m)} {float(w)}: {full} {coarse}")
    peak = 1 / (deviation * sqrt(2 * pi))
    b = line.b
    units = [peak / b, peak * line.slope_sigma2, peak]
    # Where the derivative of p is integrable.
    narrow = line.e <= 2 or line.uniform or abs(m) + 12 * w < line.edge
    if line.uniform:
        ends = [exp(-((1 - m) / w)**2 / 2), exp(-((1 + m) / w)**2 / 2)]
        full[1], full[7] = (ends[0] - ends[1]) / 2, (ends[0] + ends[1]) / 2
    scales = [min(full[4 + k], full[7 + k]) if narrow and full[7 + k] > 0 else full[4 + k] for k in range(3)]
    kappa = (abs(m) * full[4] + full[5]) / full[0]
    slopes = [unit * slope for unit, slope in zip(units, full[1:4])]
    return [peak * full[0], *slopes, *(unit * scale for unit, scale in zip(units, scales)), kappa], peak


def draw(alpha, place, stratum, rng):
    """Doubles that are floats: mu, sigma2, mean, covariance."""
    mu, sigma2 = single(rng.uniform(-2, 2)), single(10**rng.uniform(-3, 2))
    line = Line(alpha, mpf(sigma2))
    half_width = float(line.b * (line.edge if line.edge < 50 else 1))
    w = 10**(-4 + 7 * (stratum + rng.random()) / 20)
    sign = rng.choice([-1, 1])
    reach = 1 if line.edge < 50 else 3
    if place == "inside":
        delta = rng.uniform(-reach, reach)
    elif place == "edge":
        delta = sign * (reach + rng.uniform(-1, 1) * min(w, 0.1))
    else:
        delta = sign * (reach + rng.uniform(0, 11) * min(w, 1e3))
    if place == "far":
        delta = sign * (reach + rng.uniform(13, 30) * w)
    return mu, sigma2, single(mu + delta * half_width), single((w * half_width)**2)


def cases(alpha, rng, rule):
    stratum = 0
    while stratum < 22:
        place = "far" if stratum >= 20 else PLACES[stratum % 5]
        inputs = draw(alpha, place, stratum if stratum < 20 else rng.uniform(0, 10), rng)
        values, peak = row(alpha, *inputs, rule)
        if stratum < 20 and values[0] < peak * mpf("1e-30"):
            continue
        stratum += 1
        yield inputs, values


def check_derivatives(alpha, inputs, values, rule):
    """Central differences in mu, sigma2 and alpha."""
    for k, name in enumerate(["mu", "sigma2", "alpha"]):
        h = mpf("1e-12") * (1 if k == 0 else mpf(inputs[1]) if k == 1 else 1)
        sides = []
        for sign in [1, -1]:
            moved = [mpf(v) for v in inputs]
            a = mpf(alpha)
            if k < 2:
                moved[k] += sign * h
            elif math.isinf(alpha):
                return
            else:
                a += sign * h
            sides.append(row(a, *moved, rule)[0][0])
        difference = (sides[0] - sides[1]) / (2 * h)
        if abs(difference - values[1 + k]) > mpf("1e-9") * max(abs(values[1 + k]), values[4 + k] * mpf("1e-3")):
            raise ArithmeticError(f"{alpha} {name} {inputs}: {values[1 + k]} {difference}")


def table(alpha):
    """The lines of one alpha, the same whichever process makes them."""
    near = abs(alpha - 1)
    mp.dps = 45 + (0 if near == 0 else max(0, int(-2.2 * math.log10(min(1, near)))))
    rule, lines = nodes(), []
    for k, (inputs, values) in enumerate(cases(alpha, random.Random(alpha), rule)):
        if k == 7:
            check_derivatives(alpha, inputs, values, rule)
        lines.append(" ".join([float(v).hex() for v in (alpha, *inputs)] + [mp.nstr(v, 20) for v in values]))
    return lines


def main():
    lines = ["# Made by scripts/golden/attention_rows.py: alpha mu sigma2 mean covariance (exact), then E_p[psi], its",
             "# derivatives in mu, sigma2, alpha, a scale for the error of each, and kappa, the relative change of",
             "# E_p[psi] for that of lengths."]
    with multiprocessing.Pool() as pool:
        for part in pool.imap(table, ALPHAS, 1):
            lines += part
    path = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "attention_rows.txt"
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
