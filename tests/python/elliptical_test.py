"""Elliptical laws with a generator in Python."""
import gc
import math

import numpy as np
import pytest

from fenchel import Elliptical, MultivariateBetaGaussian

SIGMA = [[0.6, 0.4], [0.4, 0.48]]


def paraboloid():
    p = MultivariateBetaGaussian(2, [0.1, -0.2], SIGMA)
    end = p.support().radius2
    return p, Elliptical(lambda q: math.log1p(-q / end) if q < end else -math.inf, [0.1, -0.2], SIGMA)


def test_is_the_beta_gaussian_of_its_generator():
    p, q = paraboloid()
    x = p.rvs(20, random_state=1)
    np.testing.assert_allclose(q.pdf(x), p.pdf(x), rtol=1e-9)
    np.testing.assert_allclose(q.cov(), p.cov(), rtol=1e-9)
    np.testing.assert_allclose(q.radial_cdf([0.1, 0.5]), p.radial_cdf([0.1, 0.5]), rtol=1e-9)
    np.testing.assert_allclose(q.contour(0.5).radius2, p.contour(0.5).radius2, rtol=1e-8)
    assert q.entropy() == pytest.approx(p.entropy(), rel=1e-9)
    assert q.tsallis_entropy(2) == pytest.approx(p.tsallis_entropy(2), rel=1e-9)
    np.testing.assert_allclose(q.escort(0.5).pdf(x), p.escort(0.5).pdf(x), rtol=1e-9)
    np.testing.assert_allclose(q.marginal([1]).pdf([[0.1]]), p.marginal([1]).pdf([[0.1]]), rtol=1e-9)
    assert q.support().contains(q.rvs(100, random_state=2)).all()
    assert q.logpdf([9, 9]) == -math.inf


def test_what_is_derived_keeps_the_generator():
    p = Elliptical(lambda q: -q / 2, [0, 0], np.eye(2))
    first = p.marginal([0])
    del p
    gc.collect()
    assert first.pdf([0.0]) == pytest.approx(1 / math.sqrt(2 * math.pi), rel=1e-9)


def test_errors():
    with pytest.raises(TypeError, match="log_generator must be callable, got 3"):
        Elliptical(3, [0], [[1]])
    with pytest.raises(ValueError, match=r"log_generator\(0\) must be finite, got inf"):
        Elliptical(lambda q: math.inf if q == 0 else -q, [0], [[1]])
    with pytest.raises(ValueError, match="must not exceed"):
        Elliptical(lambda q: q, [0], [[1]])
    with pytest.raises(TypeError, match="log_generator must return a real number, got 'x'"):
        Elliptical(lambda q: "x", [0], [[1]])
    with pytest.raises(ZeroDivisionError):
        Elliptical(lambda q: 1 / 0, [0], [[1]])
    with pytest.raises(TypeError, match="alpha is needed"):
        paraboloid()[1].tsallis_entropy()


def test_maximum_entropy():
    """The prediction has more Tsallis entropy of its order than another law with its covariance."""
    p = MultivariateBetaGaussian(1.5, [0, 0], SIGMA)
    other = Elliptical(lambda q: -math.sqrt(q), [0, 0], np.eye(2))
    scaled = Elliptical(lambda q: -math.sqrt(q), [0, 0], p.cov() / other.cov()[0, 0])
    np.testing.assert_allclose(scaled.cov(), p.cov(), rtol=1e-8)
    assert p.tsallis_entropy(1.5) > scaled.tsallis_entropy(1.5) + 1e-3
