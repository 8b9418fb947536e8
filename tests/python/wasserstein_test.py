"""Wasserstein distances, optimal maps, and the two kinds of geodesics."""

import math
import pickle

import numpy as np
import pytest
import support

import fenchel
from fenchel import (
    BetaGaussian,
    MultivariateBetaGaussian,
    geodesic,
    geodesic_distance,
    optimal_map,
    wasserstein2,
    wasserstein_geodesic,
)

ALPHAS = [0.8, *support.ALPHAS]
FIRST, SECOND = [[2, 0.6], [0.6, 0.9]], [[0.7, -0.2], [-0.2, 1.5]]


@pytest.fixture(params=ALPHAS, ids=str)
def line(request):
    return BetaGaussian(request.param, 0.3, 2), BetaGaussian(request.param, -1, 0.4)


@pytest.fixture(params=ALPHAS, ids=str)
def plane(request):
    alpha = request.param
    return MultivariateBetaGaussian(alpha, [0, 1], FIRST), MultivariateBetaGaussian(alpha, [0.5, -1], SECOND)


def symmetric_root(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(values)) @ vectors.T


def test_line_distance_is_that_of_the_quantiles(line):
    p, q = line
    n = 20000
    u = (np.arange(n) + 0.5) / n
    by_quantiles = math.sqrt(np.mean((p.ppf(u) - q.ppf(u)) ** 2))
    assert wasserstein2(p, q) == pytest.approx(by_quantiles, rel=2e-3)
    assert wasserstein2(p, q) == pytest.approx(wasserstein2(q, p), rel=1e-14) and wasserstein2(p, p) == 0


def test_plane_distance_is_the_formula_of_the_covariances(plane):
    p, q = plane
    root = symmetric_root(p.cov())
    cross = symmetric_root(root @ q.cov() @ root)
    squared = np.sum((p.mean() - q.mean()) ** 2) + np.trace(p.cov() + q.cov() - 2 * cross)
    assert wasserstein2(p, q) ** 2 == pytest.approx(squared, rel=1e-9)
    assert wasserstein2(p, q) == pytest.approx(wasserstein2(q, p), rel=1e-9)
    assert wasserstein2(p, p) == pytest.approx(0, abs=1e-14)


def test_distance_of_gaussians_is_known():
    assert wasserstein2(BetaGaussian(1, 0, 1), BetaGaussian(1, 3, 25)) == 5
    p, q = MultivariateBetaGaussian(1, [0, 0], [1, 4]), MultivariateBetaGaussian(1, [1, 2], [9, 1])
    assert wasserstein2(p, q) == pytest.approx(math.sqrt(5 + 4 + 1), rel=1e-14)
    assert wasserstein2(fenchel.Uniform(0, 1), fenchel.Uniform(2, 5)) == pytest.approx(math.sqrt(9 + 4 / 12), rel=1e-14)


def test_one_dimension_is_the_line(line):
    p, q = (MultivariateBetaGaussian(x.alpha, [x.mu], [[x.sigma2]]) for x in line)
    assert wasserstein2(p, q) == pytest.approx(wasserstein2(*line), rel=1e-12)
    matrix, shift = optimal_map(p, q)
    assert (matrix[0, 0], shift[0]) == pytest.approx(optimal_map(*line), rel=1e-12)


def test_the_map_of_the_line_carries_one_to_the_other(line):
    p, q = line
    carry, u = optimal_map(p, q), np.linspace(0.01, 0.99, 21)
    np.testing.assert_allclose(carry(p.ppf(u)), q.ppf(u), rtol=1e-9, atol=1e-9)


def test_the_map_of_the_plane_carries_one_to_the_other(plane):
    p, q = plane
    carry = optimal_map(p, q)
    x = p.rvs((4, 5), random_state=1)
    assert carry(x).shape == x.shape
    np.testing.assert_allclose(carry(x)[1, 2], carry.matrix @ x[1, 2] + carry.shift, rtol=1e-14)
    np.testing.assert_allclose(carry.matrix, carry.matrix.T, rtol=1e-12)
    np.testing.assert_allclose(q.pdf(carry(x)) * np.linalg.det(carry.matrix), p.pdf(x), rtol=1e-6)


@pytest.mark.parametrize("alpha", ALPHAS[:-1])
def test_displacement_is_a_straight_line(alpha):
    line = BetaGaussian(alpha, 0.3, 2), BetaGaussian(alpha, -1, 0.4)
    plane = MultivariateBetaGaussian(alpha, [0, 1], FIRST), MultivariateBetaGaussian(alpha, [0.5, -1], SECOND)
    for p, q in (line, plane):
        whole = wasserstein2(p, q)
        assert wasserstein_geodesic(p, q, 0) == p and wasserstein_geodesic(p, q, 1) == q
        for t in (0.25, 0.5, 0.9):
            between = wasserstein_geodesic(p, q, t)
            assert type(between) is type(p) and between.alpha == p.alpha
            assert wasserstein2(p, between) == pytest.approx(t * whole, rel=1e-8)
            assert wasserstein2(between, q) == pytest.approx((1 - t) * whole, rel=1e-8)
            assert wasserstein_geodesic(q, p, 1 - t).mean() == pytest.approx(between.mean())


def test_displacement_of_uniform_distributions():
    uniform = wasserstein_geodesic(fenchel.Uniform(0, 1), fenchel.Uniform(2, 5), 0.5)
    assert uniform.support() == pytest.approx((1, 3))


@pytest.mark.parametrize("alpha", [0.5, 1, np.nextafter(1, 2), 1.5, 2, 5])
def test_geodesics_have_lengths_that_add_up(alpha):
    p, q = BetaGaussian(alpha, 0.3, 2), BetaGaussian(alpha, 1.1, 0.7)
    whole = geodesic_distance(p, q)
    assert geodesic(p, q, 0) == p and geodesic(p, q, 1) == q and geodesic_distance(q, p) == pytest.approx(whole)
    for t in (0.2, 0.5, 0.8):
        between = geodesic(p, q, t)
        assert geodesic_distance(p, between) == pytest.approx(t * whole, rel=1e-7)
        assert geodesic_distance(between, q) == pytest.approx((1 - t) * whole, rel=1e-7)
    beside = BetaGaussian(alpha, 0.7, 1.2)
    assert geodesic_distance(p, beside) + geodesic_distance(beside, q) > whole


@pytest.mark.parametrize("alpha", [0.5, 1, 1.5, 2, 5])
def test_loss_is_half_the_squared_distance_nearby(alpha):
    p = BetaGaussian(alpha, 0.3, 2)
    for q in (BetaGaussian(alpha, 0.301, 2), BetaGaussian(alpha, 0.3, 2.001), BetaGaussian(alpha, 0.3005, 1.999)):
        assert p.fenchel_young(q) == pytest.approx(geodesic_distance(p, q) ** 2 / 2, rel=2e-3)


def test_geodesic_of_gaussians_is_that_of_fisher_and_rao():
    """sqrt(2) times the hyperbolic distance of (mu / sqrt 2, sigma)."""
    p, q = BetaGaussian(1, 0, 1), BetaGaussian(1, 2, 9)
    hyperbolic = math.acosh(1 + (2 + (3 - 1) ** 2) / (2 * 1 * 3))
    assert geodesic_distance(p, q) == pytest.approx(math.sqrt(2) * hyperbolic, rel=1e-12)
    p, q = BetaGaussian(1, 0, 1), BetaGaussian(1, 0, 4)
    assert geodesic_distance(p, q) == pytest.approx(math.sqrt(2) * math.log(2), rel=1e-12)


P2, P1 = BetaGaussian(2), MultivariateBetaGaussian(2, [0], [1])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: wasserstein2(P2, BetaGaussian(1.5)), ValueError, "alpha must be the same for both, here 2, got 1.5"),
        (lambda: wasserstein2(P2, P1), TypeError, "both be of BetaGaussian or of Multi.*, got BetaG.* and M"),
        (lambda: wasserstein2(P2, fenchel.Triangular()), TypeError, "got BetaGaussian and Triangular"),
        (lambda: wasserstein2(BetaGaussian(0.3), BetaGaussian(0.3)), ValueError, "alpha must be above 1/3"),
        (lambda: wasserstein2(P1, MultivariateBetaGaussian(2, [0, 0], [1, 1])), ValueError, "dimension"),
        (lambda: optimal_map(P1, 3), TypeError, "got MultivariateBetaGaussian and int"),
        (lambda: wasserstein_geodesic(P2, P2, 1.5), ValueError, r"t must be in \[0, 1\], got 1.5"),
        (lambda: wasserstein_geodesic(P2, P2, math.nan), ValueError, r"t must be in \[0, 1\], got nan"),
        (lambda: wasserstein_geodesic(P2, P2, "a"), TypeError, "t must be a real number, got 'a'"),
        (lambda: geodesic(P1, P1, 0.5), TypeError, "p and q must both be of BetaGaussian, got Multi"),
        (lambda: geodesic(P2, BetaGaussian(1), 0.5), ValueError, "alpha must be the same for both, got 2.0 and 1.0"),
        (lambda: geodesic(P2, P2, -1), ValueError, r"t must be in \[0, 1\], got -1"),
        (lambda: geodesic_distance(BetaGaussian(0.3), BetaGaussian(0.3)), ValueError, "alpha must be above 1/3"),
        (lambda: geodesic_distance(BetaGaussian(math.inf), BetaGaussian(math.inf)), ValueError, "finite, got inf"),
        (lambda: optimal_map(P2, P2)("a"), TypeError, "x must be real numbers"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("alpha", [0.8, 1, 1 + 1e-8, 1.5, 2, 5])
def test_metric(alpha):
    metric, sigma, h = fenchel.FenchelYoungMetric(alpha), 1.7, 1e-3
    p = BetaGaussian(alpha, 0.4, sigma**2)
    by_mu, by_sigma = metric.tensor(sigma)
    for slope, q in ((by_mu, BetaGaussian(alpha, 0.4 + h, sigma**2)), (by_sigma, BetaGaussian(alpha, 0.4, (sigma + h) ** 2))):
        assert 2 * p.fenchel_young(q) / h**2 == pytest.approx(slope, rel=5e-3)  # half the squared distance
    above = BetaGaussian(alpha, 0.4, 9)
    assert metric.vertical_distance(sigma, 3) == pytest.approx(fenchel.geodesic_distance(p, above), rel=1e-9)
    assert metric.curvature(sigma) < 0 and metric == pickle.loads(pickle.dumps(metric))
    top = metric.geodesic_of_diracs(-1, 3, 0.5)
    assert top.mu == pytest.approx(1) and top.sigma2 > metric.geodesic_of_diracs(-1, 3, 0.2).sigma2
    with pytest.raises(ValueError, match="alpha must be above 1/3|alpha must be"):
        fenchel.FenchelYoungMetric(0.2)
