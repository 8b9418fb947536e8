"""Python gives the numbers of C++, bit for bit: those that the program $FENCHEL_PARITY prints."""

import os
import subprocess

import numpy as np
import pytest

import fenchel

PROGRAM = os.environ.get("FENCHEL_PARITY")
if PROGRAM is None:
    pytest.skip("FENCHEL_PARITY names no program", allow_module_level=True)


def printed():
    for line in subprocess.run([PROGRAM], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines():
        name, *numbers = line.split()
        parameter, *values = map(float.fromhex, numbers)
        yield name, parameter, np.array(values)


LINES = list(printed())
SCORES = LINES[0][2].reshape(5, 33)
POINTS = SCORES[0]
CLASSES = [0, 32, 7, 7, 15]


def on_the_line(p):
    at_points = np.stack([p.pdf(POINTS), p.logpdf(POINTS), p.cdf(POINTS), p.sf(POINTS)], axis=1)
    moments = [p.mean(), p.var(), p.entropy(), p.tsallis_entropy(2), p.kurtosis()]
    return np.concatenate([at_points.ravel(), p.ppf([0, 1e-10, 0.3, 0.5, 1]), moments, p.rvs(20, random_state=7)])


def on_the_integers(p):
    t = np.arange(-3, 12)
    at_points = np.stack([p.pmf(t), p.cdf(t), p.sf(t)], axis=1)
    return np.concatenate([at_points.ravel(), [p.mean(), p.var(), p.entropy()], p.rvs(20, random_state=7)])


def in_the_plane(alpha):
    p = fenchel.MultivariateBetaGaussian(alpha, [0.5, -1], [[2, 0.5], [0.5, 1]])
    q = fenchel.MultivariateBetaGaussian(alpha, [0, 0], [[1, 0], [0, 3]])
    numbers = [p.entropy(), fenchel.wasserstein2(p, q)]
    return np.concatenate([numbers, p.rvs(10, random_state=7).ravel(), p.cov().ravel()])


def fitted(alpha):
    result = fenchel.fit(fenchel.BetaGaussian, SCORES.ravel(), alpha=alpha)
    return [result.distribution.mu, result.distribution.sigma2, result.loss, *result.standard_errors]


def fenchel_young(alpha):
    target = fenchel.BetaGaussian(alpha, 0.5, 2)
    value, gradient = fenchel.BetaGaussian(alpha, 0, 1).fenchel_young(target, return_gradient=True)
    return [value, gradient["mu"], gradient["sigma2"], gradient["alpha"]]


COMPUTED = {
    "BetaGaussian": lambda alpha: on_the_line(fenchel.BetaGaussian(alpha, 0.25, 1.5)),
    "BetaLaplace": lambda alpha: on_the_line(fenchel.BetaLaplace(alpha, 0.25, 1.5)),
    "TruncatedGaussian": lambda kappa: on_the_line(fenchel.TruncatedGaussian(kappa, 0.25, 1.5)),
    "CappedParabola": lambda gamma: on_the_line(fenchel.CappedParabola(gamma, 0.25, 1.5**2)),
    "SmoothTriangular": lambda gamma: on_the_line(fenchel.SmoothTriangular(gamma, 0.25, 1.5)),
    "SparsePoisson": lambda alpha: on_the_integers(fenchel.SparsePoisson(alpha, 3.7)),
    "SparseIntegerGaussian": lambda alpha: on_the_integers(fenchel.SparseIntegerGaussian(alpha, 0.3, 4)),
    "MultivariateBetaGaussian": in_the_plane,
    "attend": lambda alpha: fenchel.attend(
        fenchel.BetaGaussian(alpha, 0.3, 0.002), fenchel.GaussianBasis.linearly_spaced(5, 0, 1, [0.15])),
    "fit": fitted,
    "fenchel_young": fenchel_young,
}
for suffix, real in (("", np.float64), ("_float", np.float32)):
    z = SCORES.astype(real)
    COMPUTED |= {
        f"entmax{suffix}": lambda alpha, z=z: fenchel.entmax(z, alpha),
        f"entmax_vjp{suffix}": lambda alpha, z=z: fenchel.entmax_vjp(fenchel.entmax(z, alpha), z, alpha),
        f"entmax_loss{suffix}": lambda alpha, z=z: fenchel.entmax_loss(z, CLASSES, alpha, reduction="none"),
        f"fusedmax{suffix}": lambda gamma, z=z: fenchel.fusedmax(z, gamma),
    }


@pytest.mark.parametrize(
    "name, parameter, values", LINES[1:], ids=lambda x: f"{x:.9g}" if isinstance(x, float) else str(x)[:30]
)
def test_same_bits(name, parameter, values):
    computed = np.asarray(COMPUTED[name](parameter), float).ravel()
    np.testing.assert_array_equal(computed.view(np.int64), values.view(np.int64))


def test_everything_is_printed():
    assert {name for name, _, _ in LINES[1:]} == set(COMPUTED)
