"""Writes tests/golden/beta_gaussian_line.txt: distribution functions and quantiles on the line, by mpmath.

A row is alpha, sigma2, t, log pdf, survival, log survival for mu = 0.
"""
import pathlib

from mpmath import betainc, erfc, exp, inf, log, mp, mpf, quad, sqrt

from beta_gaussian import log_gamma_ratio

mp.dps = 40
ALPHAS = [0.4, 0.6, 0.9, 0.97, 0.98, 1 - 1e-8, 1.0, 1 + 2.0**-52, 1 + 1e-8, 1.01, 1.024, 1.026, 1.1, 4 / 3, 1.5, 2.0, 3.0, 5.0,
          1e6]
STANDARD = ["0.001", "0.3", "1", "2.5", "6", "45"]  # in standard deviations, or sigma where there is none
FRACTIONS = ["0.5", "0.99", "0.9999999"]  # of the half width


def density(alpha, sigma2):
    """log p as a function of t, and radius2 (infinite for alpha = 1, negative below)."""
    e = alpha - 1
    ell = log(2 * mp.pi * sigma2) / 2 - log_gamma_ratio(1, e)
    log_peak = -2 * ell / (2 + e)
    if e == 0:
        return lambda t: log_peak - t * t / (2 * sigma2), inf
    radius2 = 2 * exp(e * log_peak) / e

    def log_pdf(t):
        y = t * t / (sigma2 * radius2)
        return log_peak + mp.log1p(-y) / e if y < 1 else -inf
    return log_pdf, radius2


def survival(alpha, sigma2, t):
    """By the incomplete beta function; where its parameters are too large, as an integral in pieces that grow."""
    log_pdf, radius2 = density(alpha, sigma2)
    e, x2 = alpha - 1, t * t / sigma2
    if e > mpf("0.001"):
        return betainc(1 + 1 / e, 1 + 1 / e, 0, (1 - sqrt(x2 / radius2)) / 2, regularized=True)
    if e < mpf("-0.001"):
        half_nu = -1 / e - mpf("0.5")
        return betainc(half_nu, mpf("0.5"), 0, radius2 / (radius2 - x2), regularized=True) / 2
    if e == 0:
        return erfc(sqrt(x2 / 2)) / 2
    points, step = [t], min(sqrt(sigma2), sigma2 / t)
    for _ in range(40):
        points.append(points[-1] + step)
        step *= mpf("1.2")
    return quad(lambda x: exp(log_pdf(x)), points)


def rows():
    for alpha in map(mpf, ALPHAS):
        for sigma2 in map(mpf, [0.64, 1e-6]):
            log_pdf, radius2 = density(alpha, sigma2)
            sigma, width = sqrt(sigma2), sqrt(sigma2 * radius2) if alpha > 1 else inf
            scale = sigma if alpha <= 1 or alpha > 3 else min(sigma, width / 3)
            points = [mpf(float(mpf(x) * scale)) for x in STANDARD]
            if width != inf and width < 40 * sigma:
                points += [mpf(float(mpf(x) * width)) for x in FRACTIONS]
            for t in points:
                if t < width:
                    tail = survival(alpha, sigma2, t)
                    yield alpha, sigma2, t, log_pdf(t), tail, log(tail)


def main():
    lines = ["# Made by scripts/golden/beta_gaussian_line.py: alpha, sigma2, t - mu, log pdf, survival, log survival."]
    lines += [" ".join(mp.nstr(value, 20) for value in row) for row in rows()]
    path = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "beta_gaussian_line.txt"
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
