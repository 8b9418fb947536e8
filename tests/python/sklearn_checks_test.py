"""scikit-learn's own checks of estimators, and its tools: pipelines, searches, copies, pickles."""

import functools
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from fenchel.sklearn import BetaGaussianRegressor, DensityEstimator, EntmaxClassifier, SparsePoissonRegressor

# Some checks have features that are constant: without a penalty these are refused.
PENALIZED = functools.partial(BetaGaussianRegressor, penalty=1e-6)
# Others have targets without noise, which BetaGaussianRegressor refuses.
NOISELESS = dict.fromkeys(
    ("check_sample_weights_shape", "check_sample_weights_not_overwritten", "check_regressors_no_decision_function"),
    "without noise there is no sigma",
)
ESTIMATORS = [PENALIZED, DensityEstimator, EntmaxClassifier, SparsePoissonRegressor]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*array_api.*")
@parametrize_with_checks(
    [*(make() for make in ESTIMATORS), PENALIZED(1.0, link="linear"), PENALIZED(0.6, link="linear"), EntmaxClassifier(2.0, tol=1e-12)],
    expected_failed_checks=lambda estimator: NOISELESS if isinstance(estimator, BetaGaussianRegressor) else {},
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_only_fenchel_sklearn_needs_scikit_learn():
    code = "import sys, fenchel; assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("make", ESTIMATORS)
def test_fitted_estimators_are_pickled_and_cloned(make):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    model = make().set_params(alpha=1.25)
    if "random_state" in model.get_params():
        model.set_params(random_state=3)
    model.fit(X, y)
    again, fresh = pickle.loads(pickle.dumps(model)), clone(model)
    assert fresh.get_params() == model.get_params() == again.get_params()
    for method in ("predict", "predict_proba", "score_samples"):
        if hasattr(model, method):
            expected = getattr(model, method)(X)
            np.testing.assert_array_equal(getattr(again, method)(X), expected)
            np.testing.assert_array_equal(getattr(clone(model).fit(X, y), method)(X), expected)
    for method in ("predict", "predict_dist", "predict_interval", "predict_proba", "score_samples"):
        if hasattr(model, method):
            with pytest.raises(NotFittedError):
                getattr(fresh, method)(X)


def test_predictions_belong_to_the_fit_not_to_later_parameters():
    X, y = load_iris(return_X_y=True)
    model = EntmaxClassifier(2.0).fit(X, y)
    before = model.predict_proba(X)
    np.testing.assert_array_equal(model.set_params(alpha=1.0).predict_proba(X), before)
    model = BetaGaussianRegressor(1.5, random_state=0).fit(X[:, :3], X[:, 3])
    before = model.predict_dist(X[:3, :3])
    assert model.set_params(alpha=1.0, link="linear").predict_dist(X[:3, :3]) == before


def test_pipeline_and_search_over_alpha():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), EntmaxClassifier())
    search = GridSearchCV(model, {"entmaxclassifier__alpha": [1.0, 1.5, 2.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.93 and search.best_params_["entmaxclassifier__alpha"] in (1.0, 1.5, 2.0)
    assert search.predict_proba(X).shape == (150, 3)

    # Fits do not depend on the units of the features, as the penalty is of standardised ones.
    X, y = load_diabetes(return_X_y=True)
    model = BetaGaussianRegressor(1.5, starts=1)
    scores = cross_val_score(model, X, y, cv=3)
    np.testing.assert_allclose(cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=3), scores, rtol=1e-6)
    assert scores.min() > 0.35

    counts = np.random.default_rng(2).poisson(np.exp(3 * X[:, 2] + 1))
    search = GridSearchCV(SparsePoissonRegressor(), {"alpha": [1, 2], "penalty": [1e-6, 1e-2]}, cv=2)
    assert search.fit(X[:, :4], counts).best_score_ == max(search.cv_results_["mean_test_score"])
    assert cross_val_predict(search.best_estimator_, X[:, :4], counts, cv=2).min() > 0

    # 2 is the truncated parabola: the held-out likelihood of points outside of a support is 0.
    draws = np.random.default_rng(3).normal(size=(200, 1))
    search = GridSearchCV(DensityEstimator(), {"alpha": [1.0, 2.0]}, cv=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # means of -inf
        assert search.fit(draws).best_params_ == {"alpha": 1.0}


@pytest.mark.parametrize("make", [BetaGaussianRegressor, EntmaxClassifier, SparsePoissonRegressor])
def test_alpha_is_the_entropys_and_the_penalty_is_called_so(make):
    parameters = make().get_params()
    assert parameters["alpha"] in (1.5, 2.0) and parameters["penalty"] in (0, 1e-6, 0.01)
    assert not {"C", "l2", "ridge", "reg", "regularization"} & set(parameters)


@pytest.mark.parametrize("make", [BetaGaussianRegressor, EntmaxClassifier, SparsePoissonRegressor])
@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("alpha", -1, ValueError),
        ("alpha", np.inf, ValueError),
        ("alpha", np.nan, ValueError),
        ("alpha", "two", TypeError),
        ("alpha", None, TypeError),
        ("penalty", -1e-3, ValueError),
        ("penalty", np.nan, ValueError),
        ("penalty", np.inf, ValueError),
        ("tol", -1, ValueError),
        ("tol", [1], TypeError),
        ("max_iter", 0, ValueError),
        ("max_iter", 2**31, ValueError),
        ("max_iter", 1.5, TypeError),
    ],
)
def test_parameters_that_mean_nothing(make, name, value, error):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    with pytest.raises(error, match=name) as caught:
        make().set_params(**{name: value}).fit(X, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("make", [BetaGaussianRegressor, EntmaxClassifier, SparsePoissonRegressor])
def test_a_search_that_is_cut_short_warns(make):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2))
    y = rng.binomial(2, 1 / (1 + np.exp(X[:, 0])))
    with pytest.warns(ConvergenceWarning, match="iteration limit after 1 iterations.*: a larger max_iter, "):
        assert make(max_iter=1).fit(X, y).n_iter_ == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(1.5).fit(X, y)


@pytest.mark.parametrize("make", [PENALIZED, EntmaxClassifier, SparsePoissonRegressor])
def test_a_constant_feature_has_no_effect_or_is_named(make):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    X, y = pandas.DataFrame({"a": rng.normal(size=40), "flat": 7.0}), rng.integers(0, 3, 40)
    model = make(1.0).fit(X, y)
    np.testing.assert_array_equal(np.atleast_2d(model.coef_)[:, 1], 0)
    np.testing.assert_allclose(model.predict(X), make(1.0).fit(X[["a"]], y).predict(X[["a"]]), rtol=1e-6)
    with pytest.raises(ValueError, match="'flat' must vary"):
        make(penalty=0.0).fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.rename(columns={"flat": "sharp"}))


def test_numbers_that_no_double_holds():
    with pytest.raises(ValueError, match="BetaGaussianRegressor: alpha must be a number that fits a double"):
        BetaGaussianRegressor(alpha=10**400).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0])
