"""Writes tests/golden/characteristic_function.txt: E cos(w (t - mu)) of beta-Gaussians with its derivatives.

A row is alpha, sigma2, frequency w; the value, its derivative in sigma2, its derivative in alpha. For alpha > 1
the value is 0F1(1/(alpha-1) + 3/2; -(w half_width)^2 / 4), for alpha < 1 Student's, with Bessel's K.
"""
import pathlib
import struct

from mpmath import besselk, diff, exp, gamma, hyp0f1, log, mp, mpf, nstr, pi, sqrt

from beta_gaussian import log_gamma_ratio

mp.dps = 60


def neighbour(x, step):
    """The double next to x."""
    bits = struct.unpack("<q", struct.pack("<d", x))[0] + step
    return struct.unpack("<d", struct.pack("<q", bits))[0]


def value(alpha, sigma2, w):
    """E cos(w (t - mu))."""
    eps = alpha - 1
    if eps == 0:
        return exp(-w * w * sigma2 / 2)
    ell = log(2 * pi * sigma2) / 2 - log_gamma_ratio(1, eps)
    radius2 = 2 * exp(-2 * eps * ell / (2 + eps)) / eps
    if eps > 0:
        return hyp0f1(1 / eps + mpf(3) / 2, -w * w * sigma2 * radius2 / 4)
    eta, x = -1 / eps - mpf(1) / 2, w * sqrt(-sigma2 * radius2)
    if eta < 1000:
        return 2 * (x / 2) ** eta * besselk(eta, x) / gamma(eta)
    b = x * x / (4 * eta)  # the mean of exp(-b / u), u = Gamma(eta) / eta, by its moments about 1
    return mean_of_gamma(lambda u: exp(-b / u), eta)


def mean_of_gamma(f, eta):
    """E f(u) for a large eta, by Taylor's series about 1 to order 12."""
    moments, derivative = central_moments(eta, 12), mp.taylor(f, 1, 12)
    return sum(c * m for c, m in zip(derivative, moments))


def central_moments(eta, n):
    """E (u - 1)^k of u = Gamma(eta) / eta, by the recurrence m_{k+1} = k (m_k + m_{k-1}) / eta."""
    m = [mpf(1), mpf(0)]
    for k in range(1, n):
        m.append(k * (m[k] + m[k - 1]) / eta)
    return m


def alpha_derivative(alpha, sigma2, w):
    """By differences on alpha's own side of 1, from that side at 1 itself."""
    if alpha == 1:
        alpha += mpf(10) ** -14
    h = abs(alpha - 1) / 10**4 if abs(alpha - 1) < mpf(10) ** -6 else mpf(10) ** -12
    return (value(alpha + h, sigma2, w) - value(alpha - h, sigma2, w)) / (2 * h)


def main():
    """Writes the table."""
    out = ["# Made by scripts/golden/characteristic_function.py: alpha, sigma2, w, E cos(w (t - mu)), d / dsigma2, d / dalpha."]
    alphas = [0.3, 0.55, 0.8, 0.97, 0.999, neighbour(1.0, -1), 1.0, neighbour(1.0, 1), 1 + 1e-8, 1.001, 1.02, 1.1,
              4 / 3, 1.5, 2.0, 3.0, 10.0, 1e6]
    for alpha in alphas:
        for sigma2, w in [(0.64, 0.01), (0.64, 1.3), (0.04, 20.0), (2.5, 6.0), (1.0, 40.0)]:
            a, s, f = mpf(alpha), mpf(sigma2), mpf(w)
            row = [value(a, s, f), diff(lambda x, a=a, f=f: value(a, x, f), s), alpha_derivative(a, s, f)]
            out.append(" ".join([repr(alpha), repr(sigma2), repr(w)] + [nstr(x, 20) for x in row]))
    path = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "characteristic_function.txt"
    path.write_text("\n".join(out) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
