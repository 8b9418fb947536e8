"""DensityEstimator: moments of the data, data in parts, weights, samples."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.exceptions import NotFittedError

import fenchel
from fenchel.sklearn import DensityEstimator

RNG = np.random.default_rng(7)
ONE = RNG.gamma(3.0, size=(500, 1))
THREE = RNG.normal(size=(500, 3)) @ [[1, 0.5, 0], [0, 2, 0.1], [0, 0, 0.3]] + [1, 2, 3]


@pytest.mark.parametrize("alpha", [0.8, 1, 4 / 3, 2, 5])
@pytest.mark.parametrize("X", [ONE, THREE], ids=["one", "three"])
def test_the_density_has_the_moments_of_the_data(X, alpha):
    model = DensityEstimator(alpha).fit(X)
    p, size = model.distribution_, X.shape[1]
    assert type(p) is (fenchel.BetaGaussian if size == 1 else fenchel.MultivariateBetaGaussian) and p.alpha == alpha
    np.testing.assert_allclose(p.mean(), X.mean(axis=0)[0] if size == 1 else X.mean(axis=0), rtol=1e-12)
    covariance = p.var() if size == 1 else p.cov()
    np.testing.assert_allclose(covariance, np.cov(X.T, bias=True), rtol=1e-11, atol=1e-13)
    logs = model.score_samples(X)
    np.testing.assert_array_equal(logs, p.logpdf(X[:, 0] if size == 1 else X))
    assert logs.shape == (500,) and model.score(X) == logs.sum()
    draws = model.sample(20_000, random_state=1)
    assert draws.shape == (20_000, size)
    np.testing.assert_allclose(draws.mean(axis=0), X.mean(axis=0), atol=0.1)
    np.testing.assert_array_equal(draws, model.sample(20_000, random_state=1))
    assert model.sample().shape == (1, size) and model.sample(0).shape == (0, size)
    if alpha > 1:
        assert np.isneginf(model.score_samples(np.full((1, size), 1e3))[0])
        assert np.all(model.score_samples(draws) > -np.inf)


def test_scores_of_the_gaussian():
    stats = pytest.importorskip("scipy.stats")
    model = DensityEstimator(1.0).fit(THREE)
    expected = stats.multivariate_normal(THREE.mean(axis=0), np.cov(THREE.T, bias=True)).logpdf(THREE)
    np.testing.assert_allclose(model.score_samples(THREE), expected, rtol=1e-10)


@pytest.mark.parametrize("X", [ONE, THREE], ids=["one", "three"])
def test_parts_give_what_the_whole_gives(X):
    whole, parts = DensityEstimator().fit(X).distribution_, DensityEstimator()
    for part in (X[:1], X[1:3], X[3:400], X[400:]):
        assert parts.partial_fit(part) is parts
    scale = whole.sigma2 if X.shape[1] == 1 else whole.Sigma
    again = parts.distribution_.sigma2 if X.shape[1] == 1 else parts.distribution_.Sigma
    np.testing.assert_allclose(parts.distribution_.mu, whole.mu, rtol=1e-12)
    np.testing.assert_allclose(again, scale, rtol=1e-12)
    assert parts.moments_.weight == 500
    # A later part changes what was asked for before, and fit forgets all of it.
    before = parts.distribution_
    assert parts.partial_fit(X[:50]).distribution_ != before
    assert parts.fit(X).distribution_ == whole
    # Two that saw different rows are merged by their moments.
    left, right = (pickle.loads(pickle.dumps(DensityEstimator().partial_fit(half))) for half in (X[:100], X[100:]))
    left.moments_.merge(right.moments_)
    np.testing.assert_allclose(left.distribution_.mu, whole.mu, rtol=1e-12)


def test_alpha_is_estimated():
    for alpha in (1.0, 2.0):
        for p in (fenchel.BetaGaussian(alpha, 1.0, 2.0), fenchel.MultivariateBetaGaussian(alpha, [0, 1], [1, 2])):
            draws = p.rvs(50_000, random_state=3).reshape(50_000, -1)
            assert abs(DensityEstimator(None).fit(draws).distribution_.alpha - alpha) < 0.1
    assert DensityEstimator(None).partial_fit(ONE[:200]).partial_fit(ONE[200:]).distribution_.alpha == pytest.approx(
        DensityEstimator(None).fit(ONE).distribution_.alpha, rel=1e-10
    )
    with pytest.raises(ValueError, match="alpha must be given for partial_fit of 3 features"):
        DensityEstimator(None).partial_fit(THREE)


@pytest.mark.parametrize("alpha", [2.0, None])
@pytest.mark.parametrize("X", [ONE, THREE], ids=["one", "three"])
def test_weights_are_repeated_rows(X, alpha):
    weights = np.arange(500) % 4
    weighted = DensityEstimator(alpha).fit(X, sample_weight=weights).distribution_
    repeated = DensityEstimator(alpha).fit(np.repeat(X, weights, axis=0)).distribution_
    np.testing.assert_allclose(weighted.mu, repeated.mu, rtol=1e-12)
    np.testing.assert_allclose(weighted.alpha, repeated.alpha, rtol=1e-9)


def test_what_is_refused():
    for alpha, X, message in [
        (1 / 3, ONE, "greater than 1/3"),
        (0.5, THREE, "greater than 3/5"),
        (np.inf, ONE, "finite"),
        (np.nan, ONE, "finite"),
    ]:
        with pytest.raises(ValueError, match=message):
            DensityEstimator(alpha).fit(X)
    with pytest.raises(TypeError, match="alpha must be a number"):
        DensityEstimator("two").fit(ONE)
    for X in (np.ones((5, 1)), ONE[:1], np.column_stack([ONE, ONE]), np.ones((3, 5))):
        model = DensityEstimator().fit(X)
        with pytest.raises(ValueError):
            model.score_samples(X)
    with pytest.raises(NotFittedError):
        DensityEstimator().distribution_
    with pytest.raises(ValueError, match="size must not be negative"):
        DensityEstimator().fit(ONE).sample(-1)
    later = DensityEstimator(1.0).fit(ONE)
    assert later.set_params(alpha=2.0).distribution_.alpha == 1
