"""Writes tests/golden/smooth.txt: the predictions of Sobolev(gamma) for quadratic and absolute scores, by mpmath.

The density is C cosh(beta t) plus a particular solution of p - gamma p'' = f - tau; C, tau and the half width come from
p(b) = p'(b) = 0 and the mass. The equation, the edge conditions and the mass are checked here, by differences and
quadrature; all integrals are quadrature.
"""
import pathlib

from mpmath import cosh, cbrt, diff, exp, findroot, mp, mpf, quad, sinh, sqrt, tanh

mp.dps = 40
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"
DEPTHS = ["1", "0.7", "0.3", "0.05", "0.001", "1e-6"]  # distances from the edge in units of the half width


def bisect(f, lower, upper):
    """The root of an increasing f, to all digits."""
    while upper - lower > mpf(10) ** -6 * upper:
        middle = (lower + upper) / 2
        lower, upper = (middle, upper) if f(middle) < 0 else (lower, middle)
    return findroot(f, (lower, upper), solver="anderson", tol=mpf(10) ** -60)


def parabola(gamma, sigma2):
    beta, target = 1 / sqrt(gamma), sigma2 / (2 * gamma ** mpf("1.5"))
    x = bisect(lambda x: x * (1 - x * cosh(x) / sinh(x) + x * x / 3) / target - 1,
               min(cbrt(target), target ** mpf("0.2")), 3 + 3 * max(cbrt(target), target ** mpf("0.2")))
    b = x / beta
    c = b / (beta * sigma2 * sinh(x))
    tau = c * cosh(x) - b**2 / (2 * sigma2) - gamma / sigma2
    return b, tau, lambda t: -t * t / (2 * sigma2), lambda t: (
        c * cosh(beta * t) - t * t / (2 * sigma2) - gamma / sigma2 - tau,
        c * beta * sinh(beta * t) - t / sigma2)


def triangular(gamma, scale):
    beta, target = 1 / sqrt(gamma), scale / gamma
    x = bisect(lambda x: x * (x - 2 * tanh(x / 2)) / target - 1,
               min(sqrt(target), target ** mpf("0.25")), 3 + 3 * max(sqrt(target), target ** mpf("0.25")))
    b = x / beta
    c = 2 / (beta * scale * (exp(x) + 1))
    tau = c * cosh(x) - b / scale - exp(-x) / (beta * scale)
    return b, tau, lambda t: -t / scale, lambda t: (
        c * cosh(beta * t) - t / scale - exp(-beta * t) / (beta * scale) - tau,
        c * beta * sinh(beta * t) - 1 / scale + exp(-beta * t) / scale)


def case(name, gamma, scale):
    gamma, scale = mpf(gamma), mpf(scale)
    mp.dps = 60
    b, tau, f, p = (parabola if name == "parabola" else triangular)(gamma, scale)
    layer = sqrt(gamma)
    cuts = [mpf(0)] + [k * layer for k in (2, 10, 60) if k * layer < b / 2] + [b / 2]
    cuts += [b - k * layer for k in (60, 10, 2) if k * layer < b / 2] + [b]

    def integral(h):
        return 2 * quad(h, cuts)

    def tail(d):
        return quad(lambda s: p(b - s)[0], [0] + [k * layer for k in (2, 10, 60) if k * layer < d] + [d])

    assert abs(integral(lambda t: p(t)[0]) - 1) < mpf(10) ** -25
    t = b / 3
    assert abs(p(t)[0] - gamma * diff(lambda u: p(u)[1], t, h=layer * mpf(10) ** -20) - f(t) + tau) < mpf(10) ** -15
    assert abs(p(b)[0]) < mpf(10) ** -25 and abs(p(b)[1]) < mpf(10) ** -25
    depths = [mpf(d) for d in DEPTHS]
    yield "gamma", [gamma]
    yield "scale", [scale]
    yield "half_width", [b]
    yield "threshold", [tau]
    yield "depth", depths
    yield "pdf", [p(b * (1 - d))[0] for d in depths]
    yield "tail", [tail(b * d) for d in depths]
    yield "variance", [integral(lambda t: t * t * p(t)[0])]
    yield "fourth", [integral(lambda t: t**4 * p(t)[0])]
    yield "mean_density", [integral(lambda t: p(t)[0] ** 2)]
    yield "roughness", [integral(lambda t: p(t)[1] ** 2)]


lines = ["# Made by scripts/golden/smooth.py. depth: distance from the edge over the half width; tail: the mass beyond it."]
for kind, bend in (("parabola", 1), ("triangular", 0)):
    for g in ("1e-8", "1e-4", "0.1", "1", "100", "1e8"):
        for s in ("0.25", "1", "9"):
            lines += ["", f"bend {bend}"]
            lines += [f"{key} {' '.join(mp.nstr(v, 20) for v in values)}" for key, values in case(kind, g, s)]
(GOLDEN / "smooth.txt").write_text("\n".join(lines) + "\n", encoding="ascii")
