"""Kernel densities and regressions: what Python adds to the C++ that the unit tests compare with sums over pairs."""

import copy
import math
import pickle

import numpy as np
import pytest

import fenchel
from fenchel import Interval, KernelDensity, KernelRegression

RNG = np.random.default_rng(0)
X = RNG.normal(size=400)
PLANE = RNG.normal(size=(300, 2)) * [1, 10]


def test_pdf_is_a_mean_of_kernels():
    for alpha in (1, 4 / 3, 1.5, 1.8, 2, math.inf):
        p = KernelDensity(X, alpha, 0.3)
        t = np.linspace(-4, 4, 21).reshape(3, 7)
        one = KernelDensity([0.0], alpha, 0.3)
        want = one.pdf(t[..., None] - X).mean(-1)
        np.testing.assert_allclose(p.pdf(t), want, rtol=0, atol=1e-13)
        np.testing.assert_allclose(p.cdf(t), one.cdf(t[..., None] - X).mean(-1), rtol=0, atol=1e-13)
        assert p.pdf(0.5).shape == ()
        assert one.bandwidth == 0.3


def test_the_kernel_is_a_beta_gaussian_of_the_bandwidth():
    for alpha in (1, 1.2, 2, 7):
        p = KernelDensity([0.0], alpha, 0.7)
        q = fenchel.BetaGaussian.from_variance(alpha, 0.0, 0.49)
        t = np.linspace(-2, 2, 9)
        np.testing.assert_allclose(p.pdf(t), q.pdf(t), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(p.cdf(t), q.cdf(t), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(p.support(), q.support(), rtol=1e-14)


def test_the_plane():
    p = KernelDensity(PLANE, 2, [0.5, 5.0])
    assert p.pdf([0.0, 0.0]) > 0 and p.pdf(np.zeros((4, 3, 2))).shape == (4, 3)
    assert p.logpdf([99.0, 0.0]) == -math.inf
    assert p.rvs((2, 3), 1).shape == (2, 3, 2)
    assert p.support().shape == (2, 2) and p.dimension == 2
    np.testing.assert_array_equal(p.bandwidth, [0.5, 5.0])
    ratio = KernelDensity(PLANE).bandwidth
    assert 8 < ratio[1] / ratio[0] < 12
    with pytest.raises(ValueError, match="dimension must be 1"):
        p.cdf([0.0])


def test_draws():
    p = KernelDensity(np.abs(X), bandwidth=0.2, domain=Interval(0, math.inf))
    draws = p.rvs(20000, 3)
    assert draws.min() >= 0 and np.all(p.pdf(draws) > 0)
    levels = np.sort(p.cdf(draws))
    assert np.abs(levels - (np.arange(20000) + 0.5) / 20000).max() < 0.015
    np.testing.assert_array_equal(draws[:5], p.rvs(5, 3))
    assert isinstance(p.rvs(random_state=1), float)


def test_rules():
    found = {rule: KernelDensity(X, bandwidth=rule) for rule in ("silverman", "sheather-jones", "likelihood", "least-squares")}
    assert all(0.05 < p.bandwidth < 1 for p in found.values())
    assert max(found, key=lambda rule: found[rule].likelihood_score()) == "likelihood"
    assert min(found, key=lambda rule: found[rule].least_squares_score()) == "least-squares"
    with pytest.warns(UserWarning, match="least-squares is best at the end of its search"):
        KernelDensity(np.repeat([1.0, 2.0, 3.0], 10), bandwidth="least-squares")


def test_copies():
    for p in (KernelDensity(X, weights=np.arange(400.0)), KernelDensity(PLANE, 1, domain=fenchel.Line())):
        for again in (pickle.loads(pickle.dumps(p)), copy.deepcopy(p)):
            t = X[:5] if p.dimension == 1 else PLANE[:5]
            np.testing.assert_array_equal(p.pdf(t), again.pdf(t))
            assert repr(p) == repr(again)
    m = KernelRegression(X, np.sin(X), bandwidth=0.3)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(m)).predict(X), m.predict(X))


def test_data_are_copied():
    data = X.copy()
    p = KernelDensity(data, bandwidth=0.3)
    before = pickle.dumps(p)
    data[:] = 0
    assert pickle.dumps(p) == before


def test_regression():
    y = np.sin(2 * X) + 5
    for fit in ("mean", "line"):
        m = KernelRegression(X, y, fit=fit)
        inside = np.linspace(-1, 1, 21)
        assert np.abs(m.predict(inside) - np.sin(2 * inside) - 5).max() < 0.1
        assert np.isnan(m.predict(50.0))
        assert m.least_squares_score() < 0.05
        assert KernelRegression(X, y, bandwidth="silverman", fit=fit).bandwidth == KernelDensity(X).bandwidth
    one = KernelDensity([0.0], 2, 0.3)
    kernel = one.pdf(0.25 - X)
    mean = KernelRegression(X, y, bandwidth=0.3, fit="mean").predict(0.25)
    np.testing.assert_allclose(mean, kernel @ y / kernel.sum(), rtol=1e-12)
    assert KernelRegression(PLANE, PLANE[:, 0], bandwidth=[0.5, 5.0]).predict(np.zeros((2, 3, 2))).shape == (2, 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KernelDensity([], bandwidth=1.0), "points must not be empty"),
        (lambda: KernelDensity(X, 0.5), "alpha must be at least 1, got 0.5"),
        (lambda: KernelDensity(X, bandwidth="best"), "bandwidth must be a number or one of"),
        (lambda: KernelDensity(X, bandwidth=0.0), "bandwidth must be positive and finite, got 0"),
        (lambda: KernelDensity(X, bandwidth=[1.0, 2.0]), "bandwidth must be one for each column, got 2"),
        (lambda: KernelDensity([1.0, math.nan]), r"points\[1\] must be finite, got nan"),
        (lambda: KernelDensity([[[1.0]]]), r"data must have shape \(n,\) or \(n, N\), got \(1, 1, 1\)"),
        (lambda: KernelDensity([1.0, 2.0], weights=[1.0]), "weights must be one for each point, got 1"),
        (lambda: KernelDensity([1.0, 2.0], domain=Interval(0, 3)), "domain must have an infinite end"),
        (lambda: KernelDensity(PLANE, domain=Interval(-99, math.inf)), "points must have one column on a half-line"),
        (lambda: KernelDensity(PLANE, bandwidth="sheather-jones"), "points must have one column for Sheather and Jones"),
        (lambda: KernelDensity([2.0], bandwidth=1.0).likelihood_score(), "the number of rows must be at least 2, got 1"),
        (lambda: KernelRegression(X, X[:3], bandwidth=1.0), "targets must be one for each row, got 3"),
        (lambda: KernelRegression(X, X, fit="cubic"), "fit must be 'line' or 'mean', got 'cubic'"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()
