"""Writes tests/golden/reparametrization.txt: how the radius of a draw goes with alpha, by mpmath.

With Sigma of log determinant 0, q = r^2 has the distribution function I_{q/radius2}(n/2, 1 + s), s = 1/(alpha - 1), and
for alpha < 1 I_{y/(1+y)}(n/2, -s - n/2), y = q/|radius2|. Each row is n, alpha, q and d log r / dalpha = -(dF/dalpha) /
(r dF/dr), with derivatives by differences at 60 digits.
"""
import pathlib

from mpmath import betainc, exp, log, mp, mpf, pi

from beta_gaussian import log_gamma_ratio

mp.dps = 60


def radius2(n, alpha):
    e = alpha - 1
    ell = n * log(2 * pi) / 2 - log_gamma_ratio(n, e)
    return 2 * exp(-2 * e * ell / (2 + n * e)) / e


def probability(n, alpha, q):
    """Below the half of the support the mass within, above it that beyond, with its sign."""
    y, s, h = q / radius2(n, alpha), 1 / (alpha - 1), mpf(n) / 2
    a, b, x = (h, 1 + s, y) if alpha > 1 else (h, -s - h, -y / (1 - y))
    if x < mpf(1) / 2:
        return betainc(a, b, 0, x, regularized=True)
    return -betainc(b, a, 0, 1 - x, regularized=True)


def slope(g, x, size):
    step = size * mpf(10) ** -12
    return (g(x - 2 * step) - 8 * g(x - step) + 8 * g(x + step) - g(x + 2 * step)) / (12 * step)


def main():
    lines = ["# Made by scripts/golden/reparametrization.py: n, alpha, q, d log r / dalpha."]
    for n in [1, 2, 3, 5]:
        for alpha in [0.7, 0.9, 0.99, 1.01, 1.1, 1.3, 1.5, 1.6, 2.0, 5.0, 1e2, 1e6]:
            for part in ["0.001", "0.1", "0.3", "0.45", "0.55", "0.8", "0.99"]:
                a, x = mpf(alpha), mpf(part)
                q = mpf(float(radius2(n, a) * (x if alpha > 1 else -x / (1 - x))))
                by_alpha = slope(lambda t: probability(n, t, q), a, abs(a - 1))
                by_q = slope(lambda t: probability(n, a, t), q, q * (1 - x))
                lines.append(" ".join(mp.nstr(v, 20) for v in [mpf(n), a, q, -by_alpha / (2 * q * by_q)]))
    path = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "reparametrization.txt"
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
