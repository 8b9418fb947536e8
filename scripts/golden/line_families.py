"""Writes tests/golden/{beta_laplace,truncated_gaussian,location_scale}.txt, by mpmath from the definitions.

The density is exp_{2-alpha}(f - A) with the mass one. What the closed forms below say of masses and tails is checked
against quadrature here wherever alpha is far enough from 1 for the support to be of moderate length.
"""
import pathlib

from mpmath import cosh, diff, erf, exp, findroot, gammainc, inf, log, mp, mpf, pi, quad, sinh, sqrt

mp.dps = 30
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"
ORDERS = ["0.5", "1", "1.00000001", "1.5", "2", "7"]
PLACES = ["0", "0.3", "0.9", "0.999999"]


def text(values):
    return " ".join(mp.nstr(mpf(v), 20) for v in values)


def write(name, note, blocks):
    lines = [f"# Made by scripts/golden/line_families.py. {note}"]
    for block in blocks:
        lines.append("")
        lines += [f"{key} {text(values)}" for key, values in block]
    (GOLDEN / name).write_text("\n".join(lines) + "\n", encoding="ascii")


def omega(power_mass, log_mean, order):
    order = mpf(float(order))
    return log_mean if order == 1 else (power_mass(order) - 1) / (order * (order - 1))


def beta_laplace(alpha, b):
    alpha, b = mpf(alpha), mpf(b)
    e = alpha - 1
    peak = (alpha / (2 * b)) ** (1 / alpha)
    s = alpha / (2 * peak)

    def shape(x):
        return exp(-x / s) if e == 0 else max(mpf(0), 1 - e * x / s) ** (1 / e)

    def tail(x):
        return shape(x) ** alpha / 2

    edge = s / e if e > 0 else inf
    unit = min(s, edge)
    if abs(e) > 0.01 and 0.65 < alpha < 100:
        assert abs(2 * quad(lambda x: peak * shape(x), [0, unit / 2, edge]) - 1) < mpf(10) ** -8
        assert abs(quad(lambda x: peak * shape(x), [unit / 16, unit / 2, edge]) - tail(unit / 16)) < mpf(10) ** -8

    def power_mass(order):
        return peak ** (order - 1) * alpha / (order + e) if order + e > 0 else inf

    def conjugate(a):
        # at fixed b: E_p[f] - Omega_a(p)
        top = (a / (2 * b)) ** (1 / a)
        scale = a / (2 * top)
        mean = -scale / (2 * a - 1) / b
        negentropy = log(top) - 1 if a == 1 else (top ** (a - 1) * a / (2 * a - 1) - 1) / (a * (a - 1))
        return mean - negentropy

    distances = [unit * mpf(x) for x in ("0.1", "0.5", "0.9")] + ([] if e > 0 else [30 * s])
    distances = [mpf(float(x)) for x in distances]
    yield "case", [alpha, b]
    yield "shape", [log(peak), s, edge]
    yield "distance", distances
    yield "log_pdf", [log(peak) + log(shape(x)) for x in distances]
    yield "tail", [tail(x) for x in distances]
    yield "variance", [2 * s**2 / ((1 + 2 * e) * (1 + 3 * e)) if 1 + 3 * e > 0 else inf]
    yield "negentropy", [omega(power_mass, log(peak) - 1 / alpha, o) for o in ORDERS]
    yield "conjugate", [conjugate(alpha), diff(conjugate, alpha, h=mpf(10) ** -13)]


def normal(y):
    return exp(-y * y / 2) / sqrt(2 * pi)


def truncated_gaussian(kappa, sigma2):
    kappa, sigma2 = mpf(kappa), mpf(sigma2)
    dps, mp.dps = mp.dps, 50 + int(log(kappa) / log(10))
    guess = sqrt(2 * (3 * sqrt(pi) / 4 / kappa) ** (mpf(2) / 3)) if kappa > 1.5 else sqrt(-2 * log((kappa - 1) / kappa / 4))
    z = findroot(lambda y: gammainc(mpf(3) / 2, 0, y * y / 2, regularized=True) * kappa - 1, guess)
    sigma = sqrt(sigma2)

    def density(y):
        return kappa * (normal(y) - normal(z)) / sigma

    def tail(y):
        return kappa * ((erf(z / sqrt(2)) - erf(y / sqrt(2))) / 2 - (z - y) * normal(z))

    def integral(h):
        return 2 * sigma * quad(h, [0, z / 4, z / 2, z])

    assert abs(integral(density) - 1) < mpf(10) ** -18
    yield "case", [kappa, sigma2]
    yield "edge", [z, kappa * normal(z) / sigma]
    yield "peak", [density(0)]
    yield "density", [density(z * mpf(x)) for x in PLACES]
    yield "tail", [tail(z * mpf(x)) for x in PLACES]
    yield "moments", [integral(lambda y: y**n * density(y)) * sigma**n for n in (2, 4, 6)]
    yield "mean_density", [integral(lambda y: density(y) ** 2)]
    yield "negentropy", [omega(lambda o: integral(lambda y: max(mpf(0), density(y)) ** o),
                               integral(lambda y: density(y) * log(density(y)) if density(y) > 0 else mpf(0)), o)
                         for o in ORDERS]
    mp.dps = dps


FAMILIES = [  # g, g', guess of a
    (lambda x: x**3 / 6, lambda x: x * x / 2, 1.1),
    (lambda x: x * x / 2, lambda x: x, 1),
    (cosh, sinh, 0.9),
    (lambda x: -2 * erf(x / sqrt(2)) / 2, lambda x: -2 * normal(x), 1.5),
    (lambda x: x**4 / 24 + x, lambda x: x**3 / 6 + 1, 1.4),
    (lambda x: sqrt(1 + x * x), lambda x: x / sqrt(1 + x * x), 1.7),
]


def location_scale(index, sigma):
    g, slope, guess = FAMILIES[index]
    sigma = mpf(sigma)
    a = findroot(lambda x: x * slope(x) - g(x) + g(mpf(0)) - mpf(1) / 2, mpf(guess))

    def density(y):
        return (slope(a) - slope(y)) / sigma

    def integral(h):
        return 2 * sigma * quad(h, [0, a / 2, a])

    assert abs(integral(density) - 1) < mpf(10) ** -18
    yield "case", [index, sigma]
    yield "edge", [a, -slope(a) / sigma]
    yield "density", [density(a * mpf(x)) for x in PLACES]
    yield "tail", [(a - y) * slope(a) - g(a) + g(y) for y in [a * mpf(x) for x in PLACES]]
    yield "moments", [integral(lambda y: y**n * density(y)) * sigma**n for n in (2, 4, 6)]
    yield "mean_density", [integral(lambda y: density(y) ** 2)]
    yield "negentropy", [omega(lambda o: integral(lambda y: max(mpf(0), density(y)) ** o),
                               integral(lambda y: density(y) * log(density(y)) if density(y) > 0 else mpf(0)), o)
                         for o in ORDERS]


def main():
    alphas = [0.5001, 0.6, 0.7, 0.9, 1 - 1e-8, 1.0, 1 + 2.0**-52, 1 + 1e-8, 1.01, 4 / 3, 1.5, 2.0, 5.0, 1e3, 1e6]
    orders = "negentropy of orders " + " ".join(ORDERS)
    write("beta_laplace.txt", "case: alpha, b; " + orders,
          [beta_laplace(a, b) for a in alphas for b in (0.25, 0.5, 7.0)])
    places = "; at these fractions of the half width: " + " ".join(PLACES)
    write("truncated_gaussian.txt", "case: kappa, sigma2; " + orders + places,
          [truncated_gaussian(k, s) for k in (1 + 2.0**-52, 1.0001, 1.5, 2.0, 5.0, 1e3, 1e8) for s in (0.64,)])
    write("location_scale.txt", "case: index of g, sigma; " + orders + places,
          [location_scale(i, s) for i in range(len(FAMILIES)) for s in (2.0,)])


if __name__ == "__main__":
    main()
