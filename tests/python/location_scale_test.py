"""Densities made of a convex function: the parabola again, laws, losses, fits, and functions that misbehave."""

import gc
import math
import pickle
import weakref

import numpy as np
import pytest
from support import close

import fenchel
from fenchel import BetaGaussian, LocationScale, Triangular


def cube(t):
    return t**3 / 6


def cube_slope(t):
    return t * t / 2


P = LocationScale(math.cosh, math.sinh, mu=0.4, sigma=1.7)
CUBE = LocationScale(cube, cube_slope, mu=1.0, sigma=2.0)
PARABOLA = BetaGaussian(2, mu=1.0, sigma2=8.0)
"""That of g = t^3 / 6, where sigma2 = sigma^3."""
AT = np.linspace(-1.5, 3.5, 21)
SAMPLE = np.random.default_rng(3).normal(0.5, 0.7, 30)


@pytest.mark.parametrize("name", ["pdf", "logpdf", "cdf", "sf", "logcdf"])
def test_cube_is_the_parabola(name):
    close(getattr(CUBE, name)(AT), getattr(PARABOLA, name)(AT), 1e-10)


def test_cube_has_the_parabolas_numbers():
    for name in ("mean", "median", "mode", "var", "kurtosis", "entropy", "tsallis_entropy", "conjugate", "roughness",
                 "total_variation"):
        close(getattr(CUBE, name)(), getattr(PARABOLA, name)(), 1e-8)
    close(CUBE.support(), PARABOLA.support())
    close(CUBE.ppf([0.0, 0.1, 0.6, 1.0]), PARABOLA.ppf([0.0, 0.1, 0.6, 1.0]))
    close(CUBE.escort(0.5).var(), PARABOLA.escort(0.5).var(), 1e-8)
    square = LocationScale(lambda t: t * t / 2, lambda t: t, sigma=2.0)
    close(square.pdf(AT), Triangular(b=4.0).pdf(AT))


def test_laws():
    lower, upper = P.support()
    assert P.cdf(lower) == 0 and P.cdf(upper) == 1 and P.pdf(upper + 1e-9) == 0
    close(P.ppf(P.cdf(AT[4:10])), AT[4:10], 1e-10)
    close(P.expect(lambda t: (t - 0.4) ** 2), P.var(), 1e-9)
    draws = P.rvs(500, random_state=2)
    assert lower < draws.min() and draws.max() < upper and abs(draws.mean() - 0.4) < 5 * P.std() / math.sqrt(500)
    close(P.pdf(AT), np.maximum(-np.sinh(np.abs(AT - 0.4) / 1.7) / 1.7 - P.threshold(), 0), 1e-12)
    close(P.conjugate(), P.expect(lambda t: -math.sinh(abs(t - 0.4) / 1.7) / 1.7) + P.tsallis_entropy(), 1e-9)


def test_losses():
    assert P.fenchel_young(P) == 0
    assert CUBE.fenchel_young(PARABOLA) < 1e-15 and 0 <= PARABOLA.fenchel_young(CUBE) < 1e-15
    close(CUBE.cross_omega(SAMPLE), PARABOLA.cross_omega(SAMPLE), 1e-10)
    gradient, quadratic = (p.cross_omega(SAMPLE, return_gradient=True)[1] for p in (CUBE, PARABOLA))
    close(gradient["mu"], quadratic["mu"], 1e-8)
    close(gradient["sigma"], quadratic["sigma2"] * 3 * 2.0**2, 1e-8)
    assert P.fenchel_young(SAMPLE) == math.inf
    assert P.fenchel_young(Triangular(0.2, 1.1)) > 0 and Triangular(0.2, 1.1).fenchel_young(P) > 0


@pytest.mark.parametrize("loss", ["fenchel_young", "cross_omega"])
@pytest.mark.parametrize("target", [Triangular(0.2, 1.1), P.escort(0.5)], ids=["triangular", "escort"])
def test_gradients_by_differences(loss, target):
    _, gradient = getattr(P, loss)(target, return_gradient=True)
    h = 1e-4
    for name, at in {"mu": 0.4, "sigma": 1.7}.items():
        above, below = (
            getattr(LocationScale(math.cosh, math.sinh, **({"mu": 0.4, "sigma": 1.7} | {name: at + step})), loss)(target)
            for step in (h, -h)
        )
        assert abs(gradient[name] - (above - below) / (2 * h)) < 1e-7


def test_attention():
    basis = fenchel.GaussianBasis([0.0, 0.5, 1.5], 0.3)
    close(fenchel.attend(CUBE, basis), fenchel.attend(PARABOLA, basis), 1e-9)
    close(fenchel.attend(P, fenchel.PolynomialBasis(2))[1:], [0.4, P.var() + 0.16], 1e-9)


def test_is_a_value():
    again = pickle.loads(pickle.dumps(P))
    assert again == P and hash(again) == hash(P) and again != CUBE
    assert (P.g, P.slope, P.mu, P.sigma) == (math.cosh, math.sinh, 0.4, 1.7)


def test_functions_live_as_long_as_the_density():
    def g(t):
        return cube(t)

    p = LocationScale(g, cube_slope)
    escort, alive = p.escort(2), weakref.ref(g)
    del g, p
    gc.collect()
    assert alive() is not None and escort.cdf(0.0) == 0.5
    del escort
    gc.collect()
    assert alive() is None


def test_fit_is_that_of_the_parabola():
    data = PARABOLA.rvs(9000, random_state=1)  # several batches
    found, expected = fenchel.fit(LocationScale, data, g=cube, slope=cube_slope), fenchel.fit(BetaGaussian, data)
    assert found.names == ("mu", "sigma")
    close(found.distribution.mu, expected.distribution.mu, 1e-7)
    close(found.distribution.sigma**3, expected.distribution.sigma2, 1e-6)
    close(found.loss, expected.loss, 1e-9)
    sigma = found.distribution.sigma
    close(found.standard_errors, expected.standard_errors / [1, 3 * sigma**2], 1e-5)
    assert found.distribution.g is cube
    weights = np.arange(len(data)) % 3
    weighted = LocationScale.fit(data, weights=weights, g=cube, slope=cube_slope)
    repeated = LocationScale.fit(np.repeat(data, weights), g=cube, slope=cube_slope)
    close([weighted.mu, weighted.sigma], [repeated.mu, repeated.sigma], 1e-7)


def test_fit_minimises_the_loss():
    p = fenchel.fit(LocationScale, SAMPLE, g=lambda t: t**4, slope=lambda t: 4 * t**3).distribution
    _, gradient = p.cross_omega(SAMPLE, return_gradient=True)
    assert max(map(abs, gradient.values())) < 1e-6


def test_what_functions_raise_comes_back():
    calls = iter(range(10**9))

    def late(t):
        if next(calls) > 2000:
            raise KeyError("late")
        return cube_slope(t)

    with pytest.raises(KeyError, match="late"):
        fenchel.fit(LocationScale, PARABOLA.rvs(9000, random_state=1), g=cube, slope=late)
    with pytest.raises(ZeroDivisionError):
        LocationScale(lambda t: 1 / 0, cube_slope)
    with pytest.raises(TypeError, match="slope must return a real number, got 'x'"):
        LocationScale(cube, lambda t: "x")


def test_errors():
    with pytest.raises(TypeError, match="g must be callable, got 3"):
        LocationScale(3, cube_slope)
    with pytest.raises(ValueError, match="sigma must be positive"):
        LocationScale(cube, cube_slope, sigma=-1)
    with pytest.raises(ValueError, match="location_scale"):
        LocationScale(lambda t: -t * t, lambda t: -2 * t)  # not convex
    with pytest.raises(TypeError, match="fit: LocationScale needs g and slope, and nothing else, got g"):
        fenchel.fit(LocationScale, SAMPLE, g=cube)
    with pytest.raises(TypeError, match="slope must be callable, got 3"):
        fenchel.fit(LocationScale, SAMPLE, g=cube, slope=3)
    with pytest.raises(ValueError, match="row 1, column 0"):
        fenchel.fit(LocationScale, [1.0, math.nan], g=cube, slope=cube_slope)
