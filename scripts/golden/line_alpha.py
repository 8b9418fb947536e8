"""Writes tests/golden/line_alpha.txt: second derivatives in alpha of cdf and quantile of beta-Gaussians, by mpmath.

F(x; alpha) at sigma2 = 1 is an incomplete beta function (docs/math.md 5.6), and its derivatives are differences with as
many digits as they need. A quantile x(alpha) has F(x, alpha) = u: x' = -F_a / F_x, x'' = -(F_aa + 2 F_xa x' + F_xx x'^2) / F_x.
"""
import pathlib

from mpmath import betainc, diff, gamma, mp, mpf, pi

mp.dps = 60
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"


def radius2(a):
    """Of docs/math.md 5.1, negative for alpha < 1; m1 = alpha - 1."""
    m1 = a - 1
    if m1 > 0:
        ratio = gamma(mpf(1) / 2 + a / m1) / (gamma(a / m1) * pi ** (mpf(1) / 2)) * (2 / m1) ** (1 / m1)
        return ratio ** (2 * m1 / (2 + m1))
    # Student: (1 + q / c)^{-r}, r = -1/m1, with p(0)^m1 = -m1 c / 2 and mass one
    r = -1 / m1
    mass = (pi ** (mpf(1) / 2)) * gamma(r - mpf(1) / 2) / gamma(r)  # over sqrt c
    # p(0) = 1 / (mass sqrt c), p(0)^m1 = c / (2 r): c^{1 + m1/2} = 2 r mass^{-m1}
    return -((2 * r * mass ** (-m1)) ** (1 / (1 + m1 / 2)))


def cdf(x, a):
    m1 = a - 1
    c = radius2(a)
    if m1 > 0:
        half = betainc(mpf(1) / 2, 1 + 1 / m1, 0, x * x / c, regularized=True) / 2
    else:
        share = x * x / (x * x - c)
        half = betainc(mpf(1) / 2, -1 / m1 - mpf(1) / 2, 0, share, regularized=True) / 2
    return mpf(1) / 2 + (half if x > 0 else -half)


lines = ["# Made by scripts/golden/line_alpha.py. alpha, x, F_aa, then of the quantile of F(x): u, x_a, x_aa."]
for alpha in ("0.45", "0.8", "0.99", "1.01", "1.2", "1.4999", "1.5001", "2", "3.5", "40"):
    a = mpf(float(alpha))
    edge = min(mp.sqrt(radius2(a)), mpf(5)) if a > 1 else mpf(5)
    for share in ("-0.97", "-0.6", "0.05", "0.5", "0.8", "0.999"):
        x = mpf(float(edge * mpf(share)))
        d = {order: diff(cdf, (x, a), order) for order in ((1, 0), (0, 1), (2, 0), (1, 1), (0, 2))}
        slope = -d[0, 1] / d[1, 0]
        bend = -(d[0, 2] + 2 * d[1, 1] * slope + d[2, 0] * slope**2) / d[1, 0]
        lines.append(" ".join(mp.nstr(v, 20) for v in (a, x, d[0, 2], cdf(x, a), slope, bend)))
(GOLDEN / "line_alpha.txt").write_text("\n".join(lines) + "\n", encoding="ascii")
