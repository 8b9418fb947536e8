"""Writes tests/golden/beta_gaussian.txt: constants of beta-Gaussians from their definition, by mpmath.

Each block is one (dimension, alpha, log det Sigma). The mass fixes the peak in closed form with gamma functions at
60 digits, where nothing cancels; entropies are integrals of the density in the radius.
"""
import pathlib

from mpmath import digamma, exp, expm1, inf, log, loggamma, mp, mpf, pi

mp.dps = 60
ORDERS = ["0.5", "1", "1.00000001", "1.5", "2", "3"]


def log_gamma_ratio(n, e):
    if e > 0:
        return loggamma(mpf(n) / 2 + 1 + 1 / e) + mpf(n) / 2 * log(e) - loggamma(1 + 1 / e)
    if e < 0:
        k = -e
        return loggamma(1 / k) + mpf(n) / 2 * log(k) - loggamma(1 / k - mpf(n) / 2)
    return mpf(0)


def log_gamma_ratio_slope(n, e):
    h = mpf(n) / 2
    if e > 0:
        return h / e - (digamma(h + 1 + 1 / e) - digamma(1 + 1 / e)) / e**2
    if e < 0:
        k = -e
        return -(h / k - (digamma(1 / k) - digamma(1 / k - h)) / k**2)
    return h * (h + 1) / 2


def log_power_mass(n, e, log_peak, order):
    """log of the integral of p^order, from the beta integral of (1 - y)^(order/e) against the one of (1 - y)^(1/e)."""
    h = mpf(n) / 2
    if e == 0:
        return (order - 1) * log_peak - h * log(order)
    if e > 0:
        def log_integral(s):
            return loggamma(1 + s) - loggamma(h + 1 + s)
        return (order - 1) * log_peak + log_integral(order / e) - log_integral(1 / e)
    k = -e
    def log_integral(s):
        return loggamma(s - h) - loggamma(s)
    if order / k <= h:
        return inf
    return (order - 1) * log_peak + log_integral(order / k) - log_integral(1 / k)


def block(n, alpha, log_det):
    e, n_ = alpha - 1, mpf(n)
    ratio = log_gamma_ratio(n, e)
    ell = (n_ * log(2 * pi) + log_det) / 2 - ratio
    log_peak = -2 * ell / (2 + n_ * e)
    z = e * log_peak
    yield "case", [n, alpha, log_det]
    yield "log_gamma_ratio", [ratio, log_gamma_ratio_slope(n, e)]
    yield "normalizer", [-expm1(z) / e if e else ell]
    yield "variance_factor", [2 * exp(z) / (2 + (n_ + 2) * e)]
    yield "log_peak", [log_peak]
    if e:
        yield "radius2", [2 * exp(z) / e]
    entropies = []
    for order in ORDERS:
        b = mpf(float(order))
        if b == 1:
            step = mpf(10) ** -25
            value = (log_power_mass(n, e, log_peak, 1 + step) - log_power_mass(n, e, log_peak, 1 - step)) / (2 * step)
        else:
            mass = log_power_mass(n, e, log_peak, b)
            value = inf if mass == inf else expm1(mass) / (b * (b - 1))
        entropies.append(value)
    yield "negentropy", entropies


def main():
    lines = ["# Made by scripts/golden/beta_gaussian.py. case: dimension, alpha, log det Sigma. negentropy of orders",
             "# " + " ".join(ORDERS)]
    for n in range(1, 11):
        least = mpf(n) / (n + 2)
        for alpha in [float(least) * (1 + 1e-6), float(least) + 0.05, 0.95, 1 - 1e-8, 1.0, 1 + 2.0**-52, 1 + 1e-8, 1.01,
                      4 / 3, 1.5, 2.0, 3.0, 5.0, 1e3, 1e6, 1e8]:
            for log_det in [-8.0, 0.7] if n < 5 else [0.7]:
                lines.append("")
                for key, values in block(n, mpf(alpha), mpf(log_det)):
                    lines.append(key + " " + " ".join(mp.nstr(mpf(v), 20) for v in values))
    path = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "beta_gaussian.txt"
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
