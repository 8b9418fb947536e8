"""Writes tests/golden/losses.txt: losses of quadratic scores from their definition, by mpmath.

Each block is one score (alpha, mu_f, Sigma_f) and one target, a beta-Gaussian (alpha_q, mu, Sigma). The loss is
Omega*(f) + Omega(q) - E_q[f] with gamma functions at 60 digits, where nothing cancels; derivatives in alpha are
differences at that precision.
"""
import pathlib

from mpmath import exp, expm1, log, matrix, det, inverse, mp, mpf, pi

from beta_gaussian import log_gamma_ratio, log_power_mass

mp.dps = 60


def constants(n, alpha, log_det):
    e = alpha - 1
    ell = (n * log(2 * pi) + log_det) / 2 - log_gamma_ratio(n, e)
    log_peak = -2 * ell / (2 + n * e)
    z = e * log_peak
    normalizer = -expm1(z) / e if e else ell
    return log_peak, normalizer, 2 * exp(z) / (2 + (n + 2) * e)


def conjugate(n, alpha, log_det):
    _, normalizer, v = constants(n, alpha, log_det)
    return (normalizer - (alpha - 1) * n * v / 2) / alpha


def negentropy(n, alpha_q, log_det, order):
    e = alpha_q - 1
    log_peak, _, _ = constants(n, alpha_q, log_det)
    if order == 1:
        step = mpf(10) ** -25
        return (log_power_mass(n, e, log_peak, 1 + step) - log_power_mass(n, e, log_peak, 1 - step)) / (2 * step)
    return expm1(log_power_mass(n, e, log_peak, order)) / (order * (order - 1))


def slope(g, x):
    step = mpf(10) ** -15
    return (g(x - 2 * step) - 8 * g(x - step) + 8 * g(x + step) - g(x + 2 * step)) / (12 * step)


def spread(n, seed):
    """A regular matrix in doubles, with a condition number of some tens."""
    a = matrix(n, n)
    for i in range(n):
        for j in range(n):
            a[i, j] = mpf(((7 * i + 11 * j + 5 * seed + i * j) % 13 - 6) / 16) + (1 if i == j else 0)
    return a * a.T


def block(n, alpha, alpha_q, mu_f, scale_f, mu, scale):
    log_f, log_q = log(det(scale_f)), log(det(scale))
    d = matrix([a - b for a, b in zip(mu, mu_f)])
    inverse_f = inverse(scale_f)
    v = constants(n, alpha_q, log_q)[2]
    ratio = inverse_f * scale
    minus_mean = (v * sum(ratio[i, i] for i in range(n)) + (d.T * inverse_f * d)[0]) / 2
    cross = conjugate(n, alpha, log_f) + minus_mean
    cross_slope = slope(lambda a: conjugate(n, a, log_f), alpha)
    # Differences of Omega around order 1 lose as much as its own: both orders are far from it at 60 digits.
    omega_slope = slope(lambda a: negentropy(n, alpha_q, log_q, a), alpha)
    yield "case", [n, alpha, alpha_q]
    yield "mu_f", mu_f
    yield "scale_f", list(scale_f)
    yield "mu", mu
    yield "scale", list(scale)
    yield "cross", [cross, cross_slope]
    yield "fenchel_young", [cross + negentropy(n, alpha_q, log_q, alpha), cross_slope + omega_slope]


def main():
    lines = ["# Made by scripts/golden/losses.py. case: dimension, alpha, alpha of the target; matrices by rows;",
             "# cross and fenchel_young: value and derivative in alpha."]
    pairs = [(a, a) for a in [0.8, 0.95, 1 - 1e-8, 1.0, 1 + 2.0**-52, 1 + 1e-8, 4 / 3, 1.5, 2.0, 5.0, 1e6]]
    pairs += [(1.5, 2.0), (2.0, 1.0), (1.0, 1.5), (1.0, 0.9), (0.9, 1.3), (5.0, 0.95), (1.25, 1e6)]
    for n in range(1, 6):
        for alpha, alpha_q in pairs + ([(0.6, 0.6), (0.4, 0.4), (0.6, 0.7)] if n == 1 else []):
            mu_f = [mpf((3 * i + 1) / 8) for i in range(n)]
            mu = [mpf((5 - 2 * i) / 16) for i in range(n)]
            lines.append("")
            for key, values in block(n, mpf(alpha), mpf(alpha_q), mu_f, spread(n, 1), mu, spread(n, 2) / 2):
                lines.append(key + " " + " ".join(mp.nstr(mpf(v), 20) for v in values))
    path = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "losses.txt"
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
