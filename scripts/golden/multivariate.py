"""Writes tests/golden/multivariate.txt: beta-Gaussians in R^N from their definition, by mpmath.

Each block is one (N, alpha) with a dense Sigma of dyadic entries. The peak is fixed by the mass in closed form with
gamma functions at 70 digits; the radial law by the series of the incomplete beta and gamma functions; the scale that
gives a covariance by a root of the variance's definition.
"""
import pathlib

from mpmath import det, exp, findroot, log, log1p, loggamma, matrix, mp, mpf, pi

mp.dps = 70
RADII = [0.05, 0.5, 1.0, 2.0]  # times the rank


def log_gamma_ratio(n, e):
    if e > 0:
        return loggamma(mpf(n) / 2 + 1 + 1 / e) + mpf(n) / 2 * log(e) - loggamma(1 + 1 / e)
    if e < 0:
        return loggamma(-1 / e) + mpf(n) / 2 * log(-e) - loggamma(-1 / e - mpf(n) / 2)
    return mpf(0)


def log_peak(n, e, log_det):
    return -2 * ((n * log(2 * pi) + log_det) / 2 - log_gamma_ratio(n, e)) / (2 + n * e)


def log_pdf(n, e, log_det, q):
    peak = log_peak(n, e, log_det)
    if e == 0:
        return peak - q / 2
    base = 1 - e * q / (2 * exp(e * peak))
    return peak + log(base) / e if base > 0 else -mp.inf


def incomplete_beta(a, b, x):
    term = total = mpf(1)
    n = 0
    while term > total * mpf(10) ** -40:
        term *= (a + b + n) / (a + 1 + n) * x
        total += term
        n += 1
    return exp(a * log(x) + b * log1p(-x) - loggamma(a) - loggamma(b) + loggamma(a + b)) / a * total


def radial_cdf(n, e, log_det, q):
    if e == 0:
        return mp.gammainc(mpf(n) / 2, 0, q / 2, regularized=True)
    r2 = 2 * exp(e * log_peak(n, e, log_det)) / e
    if e > 0:
        return mpf(1) if q >= r2 else incomplete_beta(mpf(n) / 2, 1 + 1 / e, q / r2)
    return incomplete_beta(mpf(n) / 2, -1 / e - mpf(n) / 2, q / (q - r2))


def variance_factor(n, e, log_det):
    return 2 * exp(e * log_peak(n, e, log_det)) / (2 + (n + 2) * e)


def example(n):
    """mu, Sigma and a direction, in multiples of 1/64."""
    a = matrix(n, n)
    for i in range(n):
        for j in range(n):
            a[i, j] = mpf((37 * i + 11 * j * j + 5 * i * j) % 23 - 11) / 8
    sigma = a * a.T
    for i in range(n):
        sigma[i, i] += mpf(1) / 2
    mu = matrix([mpf((13 * i) % 7 - 3) / 4 for i in range(n)])
    offset = matrix([mpf((29 * i + 3) % 17 - 8) / 64 for i in range(n)])
    return mu, sigma, offset


def block(n, alpha):
    e = mpf(alpha) - 1
    mu, sigma, offset = example(n)
    log_det = log(det(sigma))
    yield "case", [n, alpha]
    yield "mu", list(mu)
    yield "scale", list(sigma)
    yield "offset", list(offset)
    q = (offset.T * (sigma**-1) * offset)[0]
    yield "log_pdf", [log_pdf(n, e, log_det, s * s * q) for s in (0, 1, 2)]
    v = variance_factor(n, e, log_det)
    radii = [mpf(float(c * n * v)) for c in RADII]
    yield "radii", radii
    yield "radial_cdf", [radial_cdf(n, e, log_det, r) for r in radii]
    if alpha < 100:
        yield "matching", [exp(findroot(lambda x: log(variance_factor(n, e, log_det + n * x)) + x, 0))]


def main():
    lines = ["# Made by scripts/golden/multivariate.py. case: N, alpha; log_pdf at mu + {0, 1, 2} offset; radial_cdf at",
             "# radii; matching: Sigma / V for covariance V = scale."]
    for n in (1, 2, 3, 5, 10):
        for alpha in [n / (n + 2) + 0.05, 1 - 1e-8, 1.0, 1 + 2.0**-52, 1 + 1e-8, 4 / 3, 1.5, 2.0, 5.0, 1e6]:
            lines.append("")
            for key, values in block(n, alpha):
                lines.append(key + " " + " ".join(mp.nstr(mpf(x), 20) for x in values))
    path = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "multivariate.txt"
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
