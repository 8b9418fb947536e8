"""Writes tests/golden/free_scores.txt: TotalVariation and Sobolev for scores without closed form, by mpmath.

The scores are polynomials that are not even, with one maximum. TotalVariation cuts the top off where int (f - c) = 2 gamma
above c, and p = [min(f, c) - tau]_+; Sobolev has p = P - tau + A cosh + B sinh, P the polynomial that solves
P - gamma P'' = f. Ends of plateau and support, tau, A and B are solved for; the mass is checked by quadrature.
"""
import pathlib

from mpmath import cosh, findroot, matrix, mp, mpf, polyval, quad, sinh, sqrt

mp.dps = 40
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"
SCORES = [["-0.25", "0.3", "-0.5", "0.4", "0.1"], ["-1", "-0.5", "-0.1", "1", "0"]]  # t^4, ..., 1


def derivative(c):
    n = len(c) - 1
    return [x * (n - i) for i, x in enumerate(c[:-1])]


def antiderivative(c):
    n = len(c)
    return [x / (n - i) for i, x in enumerate(c)] + [mpf(0)]


def level_set(f, height, top):
    """Where f = height on both sides of its maximum."""
    ends = []
    for side in (-1, 1):
        near, far = top, top + side
        while polyval(f, far) > height:
            far += side
        for _ in range(150):
            middle = (near + far) / 2
            near, far = (middle, far) if polyval(f, middle) > height else (near, middle)
        ends.append(near)
    return ends


def cut(f, top, amount):
    """The c with int (f - c)_+ = amount, and where f = c."""
    high = polyval(f, top)
    low = high - 1
    area = antiderivative(f)

    def excess(c):
        a, b = level_set(f, c, top)
        return polyval(area, b) - polyval(area, a) - c * (b - a)

    while excess(low) < amount:
        low -= 1
    for _ in range(140):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > amount else (low, middle)
    return low, level_set(f, low, top)


def total_variation(f, gamma):
    top = findroot(lambda t: polyval(derivative(f), t), mpf("0.3"))
    c, (a, b) = cut(f, top, 2 * gamma)
    tau, (lower, upper) = cut(f, top, 1 + 2 * gamma)

    def p(t):
        return min(polyval(f, t), c) - tau

    cuts = [lower, a, b, upper]
    assert abs(quad(p, cuts) - 1) < mpf(10) ** -25
    return lower, upper, tau, mpf(1) / 2 + tau + quad(lambda t: p(t) ** 2, cuts) / 2, -2 * (c - tau)


def sobolev(f, gamma):
    first, second = derivative(f), derivative(derivative(f))
    fourth = derivative(derivative(second))
    particular = [mpf(x) for x in f]
    for i, x in enumerate(reversed(second)):
        particular[-1 - i] += gamma * x
    particular[-1] += gamma**2 * fourth[0]
    slope, area, beta = derivative(particular), antiderivative(particular), 1 / sqrt(gamma)

    def p(t, tau, a, b):
        return polyval(particular, t) - tau + a * cosh(beta * t) + b * sinh(beta * t)

    def dp(t, a, b):
        return polyval(slope, t) + beta * (a * sinh(beta * t) + b * cosh(beta * t))

    def equations(lower, upper, tau, a, b):
        mass = polyval(area, upper) - polyval(area, lower) - tau * (upper - lower)
        mass += (a * (sinh(beta * upper) - sinh(beta * lower)) + b * (cosh(beta * upper) - cosh(beta * lower))) / beta
        return [p(lower, tau, a, b), dp(lower, a, b), p(upper, tau, a, b), dp(upper, a, b), mass - 1]

    # for fixed ends the equations are linear in tau, a, b: start where the sum of the other two is least
    top = findroot(lambda t: polyval(first, t), mpf("0.3"))
    tau, (lower, upper) = cut(f, top, mpf(1))
    best = None
    for i in range(1, 25):
        for j in range(1, 25):
            ends = lower - (upper - lower) * mpf(i) / 16, upper + (upper - lower) * mpf(j) / 16
            zero, units = equations(*ends, 0, 0, 0), [equations(*ends, *(int(k == n) for k in range(3))) for n in range(3)]
            m = matrix([[units[n][row] - zero[row] for n in range(3)] for row in (0, 2, 4)])
            x = mp.lu_solve(m, -matrix([zero[row] for row in (0, 2, 4)]))
            rest = equations(*ends, *x)
            size = abs(rest[1]) + abs(rest[3])
            if best is None or size < best[0]:
                best = size, (*ends, *x)
    lower, upper, tau, a, b = findroot(equations, best[1], tol=mpf(10) ** -60, maxsteps=100)
    cuts = [lower, (3 * lower + upper) / 4, (lower + upper) / 2, (lower + 3 * upper) / 4, upper]
    assert abs(quad(lambda t: p(t, tau, a, b), cuts) - 1) < mpf(10) ** -20
    assert all(p(lower + (upper - lower) * mpf(k) / 64, tau, a, b) > 0 for k in range(1, 64))
    mean = quad(lambda t: p(t, tau, a, b) * polyval(f, t), cuts)
    return lower, upper, tau, (1 + tau + mean) / 2, -quad(lambda t: dp(t, a, b) ** 2, cuts) / 2


lines = ["# Made by scripts/golden/free_scores.py. kind: 0 TotalVariation, 1 Sobolev; conjugate: Omega* and its derivative in",
         "# gamma; score: coefficients, highest power first."]
for coefficients in SCORES:
    f = [mpf(float(c)) for c in coefficients]
    for kind, solve in enumerate((total_variation, sobolev)):
        for gamma in ("0.01", "0.1", "1", "10"):
            lower, upper, tau, conjugate, slope = solve(f, mpf(float(gamma)))
            lines += ["", f"kind {kind}", f"gamma {mp.nstr(mpf(float(gamma)), 20)}",
                      f"score {' '.join(mp.nstr(c, 20) for c in f)}",
                      f"support {mp.nstr(lower, 20)} {mp.nstr(upper, 20)}", f"threshold {mp.nstr(tau, 20)}",
                      f"conjugate {mp.nstr(conjugate, 20)} {mp.nstr(slope, 20)}"]
(GOLDEN / "free_scores.txt").write_text("\n".join(lines) + "\n", encoding="ascii")
