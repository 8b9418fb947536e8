"""Writes tests/golden/line_hessians.txt: derivatives of A and of the cross-Omega loss of a Dirac, by mpmath.

Each family is its conjugate Omega*(f) and A = tau + 1 as functions of its parameters; what they need, the half width, is
solved for. Derivatives are differences with as many digits as they need.
"""
import pathlib

from mpmath import cosh, coth, diff, erf, exp, findroot, mp, mpf, pi, quad, sinh, sqrt, tanh

mp.dps = 30
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"


def root(f, lower, upper):
    """The root of an increasing f, to all digits."""
    while upper - lower > mpf(10) ** -4 * upper:
        middle = (lower + upper) / 2
        lower, upper = (middle, upper) if f(middle) < 0 else (lower, middle)
    return findroot(f, (lower, upper), solver="anderson", tol=mp.eps ** mpf("1.6"))


def normal(y):
    return exp(-y * y / 2) / sqrt(2 * pi)


def truncated_gaussian(kappa, mu, sigma2):
    """tau and Omega*, docs/math.md 3.1."""
    z = root(lambda z: kappa * (erf(z / sqrt(2)) - 2 * z * normal(z)) - 1, mpf("1e-3"), mpf(20))
    sigma, tail = sqrt(sigma2), erf(z / sqrt(2))
    tau = kappa * normal(z) / sigma
    square = kappa**2 / sigma * (erf(z) / (2 * sqrt(pi)) - 2 * normal(z) * tail + 2 * z * normal(z) ** 2)
    return tau, mpf(1) / 2 + tau + square / 2


EXAMPLES = {  # by their index in tests/unit/distribution/location_scale_examples.hpp: g, g'
    0: (lambda x: x**3 / 6, lambda x: x**2 / 2),
    1: (lambda x: x**2 / 2, lambda x: x),
    2: (cosh, sinh),
    5: (lambda x: sqrt(1 + x * x), lambda x: x / sqrt(1 + x * x)),
}


def location_scale(index):
    g, slope = EXAMPLES[index]
    a = root(lambda a: a * slope(a) - g(a) + g(0) - mpf(1) / 2, mpf("1e-3"), mpf(20))
    square = 2 * quad(lambda y: (slope(a) - slope(y)) ** 2, [0, a])
    return lambda mu, sigma: (-slope(a) / sigma, mpf(1) / 2 - slope(a) / sigma + square / (2 * sigma))


def capped(k):
    def of(mu, s, gamma):
        a, b = (((k + 1) * s * w) ** (mpf(1) / (k + 1)) for w in (gamma, gamma + mpf(1) / 2))
        tau = -(b**k) / (k * s)
        square = (b - a) ** 2 * (b + 2 * a) / (3 * s**2) if k == 1 else (
            2 * b**5 / 15 - a**3 * b**2 / 3 + a**5 / 5) / s**2
        return tau, mpf(1) / 2 + tau + square

    return of


def smooth_parabola(mu, s, gamma):
    target = s / (2 * gamma ** mpf("1.5"))
    x = root(lambda x: x * (1 - x * coth(x) + x * x / 3) / target - 1, min(target ** (mpf(1) / 3), target ** mpf("0.2")),
             3 + 3 * max(target ** (mpf(1) / 3), target ** mpf("0.2")))
    b = x * sqrt(gamma)
    tau = b * coth(x) * sqrt(gamma) / s - b**2 / (2 * s) - gamma / s
    variance = 2 * gamma - b**5 / (5 * s) - 2 * tau * b**3 / 3
    return tau, mpf(1) / 2 + (tau - variance / (2 * s)) / 2


def smooth_triangular(mu, s, gamma):
    target = s / gamma
    x = root(lambda x: x * (x - 2 * tanh(x / 2)) / target - 1, min(sqrt(target), target ** mpf("0.25")),
             3 + 3 * max(sqrt(target), target ** mpf("0.25")))
    beta = 1 / sqrt(gamma)
    b = x / beta
    c = 2 / (beta * s * (exp(x) + 1))
    tau = c * cosh(x) - b / s - exp(-x) / (beta * s)
    # 2 int_0^b t p
    mean = 2 * (c * (x * sinh(x) - cosh(x) + 1) / beta**2 - b**3 / (3 * s) - tau * b**2 / 2
                - (1 - (1 + x) * exp(-x)) / (beta**3 * s))
    return tau, mpf(1) / 2 + (tau - mean / s) / 2


def derivatives(f, at):
    """First, and second by rows of the upper triangle."""
    n = len(at)
    orders = [tuple(int(i == k) for i in range(n)) for k in range(n)]
    first = [diff(f, at, order) for order in orders]
    second = [diff(f, at, tuple(a + b for a, b in zip(orders[i], orders[j]))) for i in range(n) for j in range(i, n)]
    return first, second


def block(name, family, score, at, y):
    at, y = tuple(mpf(float(v)) for v in at), mpf(float(y))
    a = family(*at)[0] + 1
    first, second = derivatives(lambda *p: family(*p)[0], at)
    loss = derivatives(lambda *p: family(*p)[1] - score(y, *p), at)[1]
    rows = [("family", [name]), ("at", at), ("y", [y]), ("normalizer", [a]), ("normalizer_gradient", first),
            ("normalizer_hessian", second), ("loss_hessian", loss)]
    return [""] + [f"{key} {' '.join(mp.nstr(mp.chop(mpf(v), tol=mpf(10) ** -30), 20) for v in values)}" for key, values in rows]


def gaussian_score(t, kappa, mu, sigma2):
    return kappa * normal((t - mu) / sqrt(sigma2)) / sqrt(sigma2)


def absolute_score(t, mu, b, gamma):
    return -abs(t - mu) / b


def quadratic_score(t, mu, sigma2, gamma):
    return -((t - mu) ** 2) / (2 * sigma2)


lines = ["# Made by scripts/golden/line_hessians.py. family: 0 truncated Gaussian, 1 and 2 capped triangular and parabola,",
         "# 3 and 4 smooth ones, 10 + i location-scale example i; Hessians are upper triangles, that of the loss is of a Dirac",
         "# at y."]
for kappa in ("1.01", "1.5", "3", "1000"):
    for place in ("0.2", "1.7"):
        lines += block(0, truncated_gaussian, gaussian_score, (kappa, "0.3", "0.8"), place)
for index in EXAMPLES:
    of = location_scale(index)
    lines += block(10 + index, of, lambda t, mu, sigma, s=EXAMPLES[index][1]: -s(abs(t - mu) / sigma) / sigma,
                   ("0.3", "0.8"), "0.9")
for name, of, score in ((1, capped(1), absolute_score), (2, capped(2), quadratic_score),
                        (3, smooth_triangular, absolute_score), (4, smooth_parabola, quadratic_score)):
    for gamma in ("1e-8", "1e-3", "0.03", "0.1", "0.3", "1", "100", "1e6"):
        for scale in ("0.25", "3"):
            lines += block(name, of, score, ("0.3", scale, gamma), "0.9")
(GOLDEN / "line_hessians.txt").write_text("\n".join(lines) + "\n", encoding="ascii")
