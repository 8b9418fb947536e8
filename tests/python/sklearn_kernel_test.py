"""Kernel densities and regressions as estimators of scikit-learn, beside its own."""

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KernelDensity
from sklearn.utils.estimator_checks import parametrize_with_checks

from fenchel.sklearn import KernelDensityEstimator, KernelRegressor

RNG = np.random.default_rng(1)
X = RNG.normal(size=(300, 2))


@pytest.mark.filterwarnings("ignore:.*array_api.*", "ignore:.*end of its search.*")
@parametrize_with_checks([KernelDensityEstimator(bandwidth=1.0), KernelRegressor(bandwidth=1.0), KernelRegressor(1.0, bandwidth=1.0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_kernels_that_scikit_learn_has():
    new = RNG.normal(size=(50, 2))
    with np.errstate(divide="ignore"):
        gaussian = KernelDensity(bandwidth=0.4, kernel="gaussian", rtol=1e-12).fit(X).score_samples(new)
        ours = KernelDensityEstimator(1.0, bandwidth=0.4).fit(X)
        np.testing.assert_allclose(ours.score_samples(new), gaussian, rtol=0, atol=1e-9)
        parabola = KernelDensityEstimator(2.0, bandwidth=0.4).fit(X)
        reach = parabola.density_.radius * 0.4
        theirs = KernelDensity(bandwidth=reach, kernel="epanechnikov", rtol=1e-12).fit(X).score_samples(new)
    np.testing.assert_allclose(np.exp(parabola.score_samples(new)), np.exp(theirs), rtol=0, atol=1e-9)


def test_weights_and_a_search():
    weights = np.arange(300) % 3
    once = KernelDensityEstimator(bandwidth=0.5).fit(X, sample_weight=weights)
    many = KernelDensityEstimator(bandwidth=0.5).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(once.score_samples(X), many.score_samples(X), rtol=1e-9)
    search = GridSearchCV(KernelDensityEstimator(1.0), {"bandwidth": [0.05, 0.4, 5.0]}).fit(X)
    assert search.best_params_ == {"bandwidth": 0.4}
    assert KernelDensityEstimator().fit(X).bandwidth_.shape == (2,)


def test_regression():
    x = RNG.uniform(-2, 2, size=(400, 1))
    y = np.sin(2 * x[:, 0]) + 0.1 * RNG.normal(size=400)
    assert cross_val_score(KernelRegressor(), x, y).min() > 0.95
    model = KernelRegressor(bandwidth=0.2).fit(x, y)
    assert model.predict([[99.0]])[0] == model.mean_
