"""Writes tests/golden/capped.txt, by mpmath: CappedTriangular (degree 1) and CappedParabola (degree 2).

The edges a and b are those of docs/math.md 6.1; that the mass is one is checked by quadrature.
"""
import pathlib

from mpmath import findroot, mp, mpf, quad

mp.dps = 50
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"
ORDERS = ["0.5", "1", "1.00000001", "1.5", "2", "7", "1000"]
TAILS = ["1e-300", "1e-100", "1e-30", "1e-12", "1e-6", "0.01", "0.1", "0.3", "0.49"]


def text(values):
    return " ".join(mp.nstr(v, 20) for v in values)


def block(k, gamma, s):
    total = gamma + mpf(1) / 2
    a = ((k + 1) * s * gamma) ** (mpf(1) / (k + 1))
    b = ((k + 1) * s * total) ** (mpf(1) / (k + 1))
    slope = b - a

    def at(d):
        """The density at distance d from an edge."""
        return d / s if k == 1 else d * (2 * b - d) / (2 * s)

    def tail(d):
        """The mass beyond that distance, d <= slope."""
        return quad(at, [0, d]) if d > 0 else mpf(0)

    def depth(u):
        """The distance at which the mass is u."""
        if u >= tail(slope):
            return slope + (u - tail(slope)) / at(slope)
        first = mp.sqrt(2 * u * s / b ** (k - 1))
        # int_0^d at = d^2 / (2 s), or d^2 (3 b - d) / (6 s)
        mass = (lambda d: d * d / (2 * s)) if k == 1 else (lambda d: d * d * (3 * b - d) / (6 * s))
        return findroot(lambda d: mass(d) / u - 1, (first, first * mpf("1.01")), tol=mpf(10) ** -60)

    peak = at(slope)

    def negentropy(order):
        if order == 1:
            return 2 * (a * peak * mp.log(peak) + quad(lambda d: at(d) * mp.log(at(d)), [0, slope]))
        power = 2 * (a * peak**order + quad(lambda d: at(d) ** order, [0, slope / 8, slope / 2, slope]))
        return (power - 1) / (order * (order - 1))

    def moment(n):
        return 2 * (peak * a ** (n + 1) / (n + 1) + quad(lambda d: (b - d) ** n * at(d), [0, slope]))

    assert abs(moment(0) - 1) < mpf(10) ** -40
    return [
        ("case", [k, gamma, s]),
        ("shape", [a, b, -(b**k) / (k * s), peak]),
        ("moments", [moment(n) for n in range(7)]),
        ("mean_density", [2 * (a * peak**2 + quad(lambda d: at(d) ** 2, [0, slope]))]),
        ("negentropy", [negentropy(mpf(float(order))) for order in ORDERS]),
        ("tail", [mpf(float(u)) for u in TAILS]),
        ("depth", [depth(mpf(float(u))) for u in TAILS]),
    ]


lines = ["# Made by scripts/golden/capped.py. case: degree, gamma, scale; negentropy of orders " + " ".join(ORDERS)]
for degree in (1, 2):
    for case_gamma in (0, 1e-8, 0.3, 1, 5, 1e8):
        for case_scale in (1.2, 3e-5):
            lines.append("")
            lines += [f"{key} {text(values)}" for key, values in block(degree, mpf(case_gamma), mpf(case_scale))]
(GOLDEN / "capped.txt").write_text("\n".join(lines) + "\n", encoding="ascii")
