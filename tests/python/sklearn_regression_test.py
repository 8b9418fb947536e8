"""BetaGaussianRegressor and SparsePoissonRegressor: the numbers of C++ and of scikit-learn, and laws."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, PoissonRegressor, Ridge
from sklearn.metrics import d2_tweedie_score, r2_score
from sklearn.model_selection import KFold, cross_val_score

import fenchel
from fenchel.sklearn import BetaGaussianRegressor, SparsePoissonRegressor

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"


def cancer():
    """Rows in order of the population; the 30 largest are those to test with."""
    table = np.loadtxt(DATA / "cancer.csv", delimiter=",", skiprows=1)
    table = table[np.argsort(table[:, 1], kind="stable")]
    X, y = table[:, 1:], table[:, 0]
    return X[:-30], y[:-30], X[-30:], y[-30:]


def noisy(count=400, seed=5):
    """A mean and a width that depend on the first feature."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(0, 10, count), rng.normal(size=count)])
    return X, 1 + 2 * X[:, 0] - X[:, 1] + (1 + 0.3 * X[:, 0]) * (rng.beta(2, 2, count) - 0.5)


# docs/math.md 9, with more digits from `fenchel regress data/cancer.csv --x population --y cancer --test-top 30`.
@pytest.mark.parametrize(
    ("alpha", "r2", "loss", "slope", "intercept", "scale_slope", "scale_intercept", "slope_error", "scale_error"),
    [
        (1, 0.803, 3.2399709270516728, 0.003432155177001505, 0.8674814968150564, 0.0008037930394719019,
         1.468818034252843, 9.811200456352679e-05, 6.937566374267523e-05),
        (4 / 3, 0.808, 1.454107697314384, 0.0034744008653374166, 0.6840657822708174, 0.001929164622042941,
         1.3658232192997932, 9.863270040094913e-05, 0.00014283830531265846),
        (3 / 2, 0.811, 1.045746472359605, 0.003503574402024047, 0.5665631699120226, 0.002855240382821691,
         1.0855074186783078, 0.00010066470775618777, 0.00020914232061925483),
        (2, 0.815, 0.4735530765448442, 0.0036239175316793723, 0.12458359546241482, 0.008051309308185744,
         -0.9725584952147344, 0.00011709614344292708, 0.0006596273539491312),
    ],
)
def test_the_table_of_the_paper(
    alpha, r2, loss, slope, intercept, scale_slope, scale_intercept, slope_error, scale_error
):
    X, y, X_test, y_test = cancer()
    model = BetaGaussianRegressor(alpha, link="linear", penalty=0.0, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.loss_, loss, rtol=1e-12)
    np.testing.assert_allclose([model.coef_[0], model.intercept_], [slope, intercept], rtol=1e-6)
    scale = [model.scale_coef_[0], model.scale_intercept_]
    np.testing.assert_allclose(scale, [scale_slope, scale_intercept], rtol=1e-6)
    np.testing.assert_allclose(model.standard_errors_[0], slope_error, rtol=1e-6)
    np.testing.assert_allclose(model.scale_standard_errors_[0], scale_error, rtol=1e-6)
    assert round(model.score(X_test, y_test), 3) == r2
    assert [status for _, _, status in model.starts_].count("converged") >= 1 and len(model.starts_) == 4
    # A small penalty is far below the errors.
    penalized = BetaGaussianRegressor(alpha, link="linear", penalty=1e-6, random_state=0).fit(X, y)
    assert abs(penalized.coef_[0] - slope) < 1e-3 * slope_error
    assert abs(penalized.scale_coef_[0] - scale_slope) < 1e-3 * scale_error


@pytest.mark.parametrize("link", ["linear", "log"])
@pytest.mark.parametrize("alpha", [1, 1.5, 2])
def test_predictions_agree_with_each_other(alpha, link):
    X, y = noisy()
    model = BetaGaussianRegressor(alpha, link=link, random_state=0).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_array_equal(mean, model.predict(X))
    interval, dists = model.predict_interval(X, confidence=0.8), model.predict_dist(X)
    assert interval.shape == (len(X), 2) and all(type(p) is fenchel.BetaGaussian for p in dists)
    np.testing.assert_allclose([p.mean() for p in dists], mean, rtol=1e-12)
    np.testing.assert_allclose([p.std() for p in dists], std, rtol=1e-14)
    np.testing.assert_allclose([p.interval(0.8) for p in dists], interval, rtol=1e-12)
    s = X @ model.scale_coef_ + model.scale_intercept_
    np.testing.assert_allclose([p.sigma2 for p in dists], np.exp(2 * s) if link == "log" else s**2, rtol=1e-10)
    assert {p.alpha for p in dists} == {alpha}
    # The share of rows in their intervals; its standard deviation is 0.02.
    assert abs(np.mean((interval[:, 0] < y) & (y < interval[:, 1])) - 0.8) < 0.08
    np.testing.assert_allclose(model.predict_interval(X, 0), np.column_stack([mean, mean]), atol=1e-9)
    np.testing.assert_allclose(model.predict_interval(X[:9], 1), [p.support() for p in dists[:9]], rtol=1e-12)
    assert model.score(X, y) == r2_score(y, mean) > 0.97
    assert np.all(abs(model.coef_ - [2, -1]) < 5 * model.standard_errors_[:2])


def test_the_loss_of_the_gaussian_is_its_negative_log_likelihood():
    X, y = noisy(100)
    model = BetaGaussianRegressor(1.0, penalty=0.0).fit(X, y)
    logs = [p.logpdf(t) for p, t in zip(model.predict_dist(X), y)]
    np.testing.assert_allclose(model.loss_, -np.mean(logs), rtol=1e-12)


def test_starts_are_drawn_by_the_random_state():
    X, y, _, _ = cancer()

    def starts(random_state):
        return BetaGaussianRegressor(1.0, starts=3, random_state=random_state).fit(X, y).starts_

    assert starts(3) == starts(3) != starts(4)
    assert starts(3)[0] == starts(4)[0]
    assert starts(np.random.RandomState(3)) == starts(np.random.RandomState(3))
    np.random.seed(0)
    first = starts(None)
    np.random.seed(0)
    assert starts(None) == first


def test_fewer_rows_than_parameters_give_least_squares_with_one_sigma():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9, 6)), rng.normal(size=9)
    kept = r"\): least squares with one sigma is kept; 14 parameters need as many rows"
    with pytest.warns(ConvergenceWarning, match=kept):
        model = BetaGaussianRegressor(2.0, penalty=1e-3).fit(X, y)
    ridge = Ridge(alpha=9e-3).fit((X - X.mean(0)) / X.std(0), y)
    np.testing.assert_allclose(model.coef_ * X.std(0), ridge.coef_, rtol=1e-9)
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(std, np.sqrt(np.mean((y - mean) ** 2)), rtol=1e-9)
    assert np.isnan(model.standard_errors_).all() and np.all(model.scale_coef_ == 0)
    with pytest.raises(ValueError, match="number of parameters, 14, got 9"):
        BetaGaussianRegressor(2.0, penalty=0.0).fit(X, y)


def test_a_search_that_is_lost_says_which_scale_penalty_has_a_minimum():
    X, y = noisy(30)
    y = np.round(y)
    told = r"did not converge for scale_penalty=0: the fit is the minimum for scale_penalty=3. Give this or more"
    with pytest.warns(ConvergenceWarning, match=told):
        model = BetaGaussianRegressor(5.0, link="linear", random_state=0).fit(X, y)
    assert {status for _, _, status in model.starts_} == {"stalled"} and model.scale_penalty_ == 3
    given = BetaGaussianRegressor(5.0, link="linear", scale_penalty=model.scale_penalty_, random_state=0).fit(X, y)
    np.testing.assert_allclose(given.coef_, model.coef_, rtol=1e-6)
    np.testing.assert_allclose(given.scale_standard_errors_, model.scale_standard_errors_, rtol=1e-5)


def test_the_linear_link_converges_on_the_diabetes_data():
    X, y = load_diabetes(return_X_y=True)
    for alpha, scale_penalty, slack in [(2, 3.0, 0.002), (2, 1.0, 0.007), (1, 1.0, 0.01), (0.7, 3.0, 0.015)]:
        for train, test in KFold(5).split(X):
            model = BetaGaussianRegressor(alpha, link="linear", scale_penalty=scale_penalty, random_state=0)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                model.fit(X[train], y[train])
            squares = LinearRegression().fit(X[train], y[train])
            assert model.score(X[test], y[test]) > squares.score(X[test], y[test]) - slack
            assert model.scale_penalty_ == scale_penalty and np.all(X @ model.scale_coef_ + model.scale_intercept_ > 0)
    # Without the penalty there is no minimum, which a warning says; the fit is still as good.
    train, test = next(iter(KFold(5).split(X)))
    with pytest.warns(ConvergenceWarning, match="the minimum for scale_penalty=1. Give"):
        model = BetaGaussianRegressor(2, link="linear", random_state=0).fit(X[train], y[train])
    assert model.score(X[test], y[test]) > 0.43


def contaminated(count=500, seed=4):
    """A line with Gaussian noise; every tenth row lies far above it. And which rows do not."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 2))
    bad = np.arange(count) % 10 == 0
    return X, 1 + X @ [2, -1] + rng.normal(size=count) + bad * (20 + 10 * X[:, 0]), ~bad


def test_students_noise_is_robust():
    X, y, clean = contaminated()
    scores = {}
    for alpha in (0.5, 0.7, 1, 2):
        scores[alpha] = BetaGaussianRegressor(alpha, random_state=0).fit(X, y).score(X[clean], y[clean])
    assert scores[0.5] > 0.8 and scores[0.7] > 0.8 and scores[1] < 0.5 and scores[2] < 0.5
    # With cross-Omega a row counts by the square of its residual, whatever alpha is.
    cross_omega = BetaGaussianRegressor(0.5, noise_loss="cross_omega", random_state=0).fit(X, y)
    assert cross_omega.noise_loss_ == "cross_omega" and cross_omega.score(X[clean], y[clean]) < 0.5


def test_the_table_of_alphas_is_printed():
    script = pathlib.Path(__file__).resolve().parents[2] / "bench" / "regression.py"
    arguments = [sys.executable, script, "outliers", "--folds", "3"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines()]
    assert lines[0] == ["data", "score", "1/2, cross-Omega", "1/2", "0.7", "1", "4/3", "3/2", "2"]
    assert [line[:2] for line in lines[2:]] == [["outliers", score] for score in ("MAE", "r2", "CRPS", "log p")]
    cross_omega, half, *_, one, _, _, two = map(float, lines[2][2:])
    assert half < 0.7 * min(cross_omega, one, two)


@pytest.mark.parametrize("link", ["linear", "log"])
@pytest.mark.parametrize("alpha", [0.4, 0.6, 0.9])
def test_students_noise_is_recovered(alpha, link):
    X, _ = noisy(2000)
    rng = np.random.default_rng(3)
    sigma = 1 + 0.2 * X[:, 0] if link == "linear" else np.exp(0.1 * X[:, 0])
    # BetaGaussian(alpha, 0, sigma2) = sigma2**(1 / (alpha + 1)) BetaGaussian(alpha, 0, 1).
    noise = fenchel.BetaGaussian(alpha, 0, 1).rvs(len(X), random_state=rng) * sigma ** (2 / (alpha + 1))
    model = BetaGaussianRegressor(alpha, link=link, random_state=0).fit(X, 3 + X @ [2, -1] + noise)
    assert model.noise_loss_ == "likelihood"
    assert np.all(abs(model.coef_ - [2, -1]) < 4 * model.standard_errors_[:2])
    assert abs(model.scale_coef_[0] - (0.2 if link == "linear" else 0.1)) < 4 * model.scale_standard_errors_[0]
    logs = [p.logpdf(t) for p, t in zip(model.predict_dist(X), 3 + X @ [2, -1] + noise)]
    np.testing.assert_allclose(model.loss_, -np.mean(logs), rtol=1e-12)


def test_data_and_arguments_that_are_refused():
    X, y = noisy(30)
    for data, targets, message in [
        (X, np.ones(30), "residual of least squares must be more than rounding"),
        (X[:1], y[:1], "1 sample"),
        (np.where(X == X[3, 1], np.nan, X), y, "NaN"),
        (X, np.where(y == y[2], np.inf, y), "infinity"),
    ]:
        with pytest.raises(ValueError, match=message):
            BetaGaussianRegressor().fit(data, targets)
    with pytest.raises(ValueError, match="sample_weight"):
        BetaGaussianRegressor().fit(X, y, sample_weight=-np.ones(30))
    with pytest.raises(ValueError, match="weight"):
        BetaGaussianRegressor().fit(X, y, sample_weight=np.zeros(30))
    with pytest.raises(ValueError, match="link must be one of"):
        BetaGaussianRegressor(link="flat").fit(X, y)
    with pytest.raises(ValueError, match="noise_loss must be one of"):
        BetaGaussianRegressor(noise_loss="huber").fit(X, y)
    with pytest.raises(ValueError, match="alpha must be at most 1 for the likelihood"):
        BetaGaussianRegressor(1.5, noise_loss="likelihood").fit(X, y)
    with pytest.raises(ValueError, match="alpha must be finite and above 1/3, where the noise has a variance"):
        BetaGaussianRegressor(1 / 3).fit(X, y)
    with pytest.raises(ValueError, match="residual of least squares must be more than rounding"):
        BetaGaussianRegressor(penalty=0.1).fit(X, X @ [2, -1] + 1)
    model = BetaGaussianRegressor(1.0, link="linear").fit(X, y)
    for confidence in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match="confidence must be in"):
            model.predict_interval(X, confidence)
    model.scale_coef_, model.scale_intercept_ = np.zeros(2), 0.0
    assert model.predict(X).shape == (30,)
    with pytest.raises(ValueError, match="sigma2 must be positive"):
        model.predict(X, return_std=True)


def test_an_interrupt_ends_a_fit():
    X, y, _, _ = cancer()
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        BetaGaussianRegressor(starts=50_000).fit(X, y)
    timer.join()


def counts(count=300, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3))
    return X, rng.poisson(np.exp(X @ [0.3, -0.2, 0.0] + 1.0))


def test_alpha_one_is_poisson_regression():
    X, y = counts()
    weights = np.random.default_rng(2).integers(0, 4, len(y))
    for sample_weight in (None, weights):
        ours = SparsePoissonRegressor(1.0, penalty=0.0).fit(X, y, sample_weight)
        theirs = PoissonRegressor(alpha=0, tol=1e-12, max_iter=1000, solver="newton-cholesky").fit(X, y, sample_weight)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-7)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-7)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-7)
    # Rates with exposures as weights, as in insurance.
    exposure = np.random.default_rng(3).uniform(0.1, 2, len(y))
    ours.fit(X, y / exposure, exposure)
    theirs.fit(X, y / exposure, exposure)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-7)


@pytest.mark.parametrize("alpha", [1, np.nextafter(1, 2), 1.5, 2, 5])
def test_counts(alpha):
    X, y = counts()
    model = SparsePoissonRegressor(alpha, penalty=0.0).fit(X, y)
    mean, dists = model.predict(X), model.predict_dist(X)
    assert all(type(p) is fenchel.SparsePoisson for p in dists)
    np.testing.assert_allclose([p.mean() for p in dists], mean, rtol=1e-13)
    np.testing.assert_allclose([p.mu for p in dists], np.exp(X @ model.coef_ + model.intercept_), rtol=1e-12)
    # The gradient of the loss is 0: means of the predictions, and of their products with features, are those of y.
    np.testing.assert_allclose(mean.mean(), y.mean(), rtol=1e-8)
    np.testing.assert_allclose(X.T @ mean, X.T @ y, atol=1e-5)
    assert 0.2 < model.score(X, y) < 0.4 and model.loss_ > 0
    assert np.all(model.standard_errors_ > 0) and model.standard_errors_.shape == (4,)


def test_the_score_of_counts_is_that_of_poisson_regression():
    X, y = counts()
    rng = np.random.default_rng(2)
    theirs = PoissonRegressor(alpha=0, tol=1e-12, max_iter=1000, solver="newton-cholesky")
    for targets, weights in [(y, None), (y, rng.integers(0, 4, len(y))), (y / 3, rng.uniform(0.1, 2, len(y)))]:
        ours = SparsePoissonRegressor(1.0, penalty=0.0).fit(X, targets, weights)
        score = ours.score(X, targets, weights)
        np.testing.assert_allclose(score, theirs.fit(X, targets, weights).score(X, targets, weights), rtol=1e-10)
        expected = d2_tweedie_score(targets, ours.predict(X), power=1, sample_weight=weights)
        np.testing.assert_allclose(score, expected, rtol=1e-12)
    # Next to one it is nearly the same, and for other alphas it is 0 for one mean and less for a wrong sign.
    near = SparsePoissonRegressor(1 + 1e-6, penalty=0.0).fit(X, y)
    np.testing.assert_allclose(near.score(X, y), SparsePoissonRegressor(1.0, penalty=0.0).fit(X, y).score(X, y), rtol=1e-4)
    for alpha in (0.8, 1.5, 2, 5):
        model = SparsePoissonRegressor(alpha).fit(X, y)
        assert model.score(X, y) > 0.2
        model.coef_ = -model.coef_
        assert model.score(X, y) < 0
        constant = SparsePoissonRegressor(alpha, penalty=1e9).fit(X, y)
        np.testing.assert_allclose(constant.score(X, y), 0, atol=1e-6)
    with pytest.raises(ValueError, match="count must be in"):
        model.score(X, y - 100)


@pytest.mark.parametrize("alpha", [0.8, 1, 1.5, 2])
def test_intervals_and_log_densities(alpha):
    X, y = counts()
    model = SparsePoissonRegressor(alpha).fit(X, y)
    dists = model.predict_dist(X)
    np.testing.assert_array_equal(model.predict_interval(X, 0.8), [[p.ppf(0.1), p.isf(0.1)] for p in dists])
    np.testing.assert_array_equal(model.predict_interval(X, 1), [p.support() for p in dists])
    lower, upper = model.predict_interval(X, 0.8).T
    assert all(p.cdf(b) - p.cdf(a - 1) >= 0.8 - 1e-12 for p, a, b in zip(dists, lower, upper))
    np.testing.assert_allclose(model.score_samples(X, y), [p.logpmf(t) for p, t in zip(dists, y)], rtol=1e-13)
    np.testing.assert_allclose(model.score_samples(X), [-p.entropy() for p in dists], rtol=1e-13)
    assert np.all(np.isneginf(model.score_samples(X, y + 0.5))) and np.all(np.isneginf(model.score_samples(X, -1 - y)))

    X, y = noisy(300)
    model = BetaGaussianRegressor(alpha, random_state=0).fit(X, y)
    dists = model.predict_dist(X)
    np.testing.assert_allclose(model.predict_interval(X, 1), [p.support() for p in dists], rtol=1e-13)
    logs = model.score_samples(X, y)
    np.testing.assert_allclose(logs, [p.logpdf(t) for p, t in zip(dists, y)], rtol=1e-13)
    np.testing.assert_allclose(model.score_samples(X), [-p.entropy() for p in dists], rtol=1e-12)
    draws = np.array([p.rvs(20, random_state=i) for i, p in enumerate(dists)])
    means = [model.score_samples(X, column).mean() for column in draws.T]
    assert abs(np.mean(means) - model.score_samples(X).mean()) < 0.05
    for wrong in (y[:-1], np.column_stack([y, y]), np.where(y == y[0], np.nan, y)):
        with pytest.raises(ValueError, match="inconsistent|1d|NaN"):
            model.score_samples(X, wrong)


def test_defaults_converge_on_diabetes():
    X, y = load_diabetes(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (BetaGaussianRegressor(random_state=0), SparsePoissonRegressor()):
            assert model.fit(X, y).score(X, y) > 0.4
        scores = cross_val_score(BetaGaussianRegressor(random_state=0), X, y)
    assert scores.mean() > 0.46 and scores.min() > 0.34
    # 10 for each feature over the rows, which those that are constant do not change.
    assert BetaGaussianRegressor(random_state=0).fit(X, y).scale_penalty_ == pytest.approx(100 / len(y))
    padded = np.column_stack([X, np.ones(len(X))])
    assert BetaGaussianRegressor(random_state=0, penalty=1e-6).fit(padded, y).scale_penalty_ == pytest.approx(100 / len(y))
    assert BetaGaussianRegressor(random_state=0).fit(X[:, :1], y).scale_penalty_ == 0
    assert BetaGaussianRegressor(1, link="linear", random_state=0).fit(X[:, 2:4], y).scale_penalty_ == 0


def test_a_fractional_count_is_a_mean_of_counts():
    X, y = counts(80)
    pairs = np.column_stack([y, y + 1])
    split = SparsePoissonRegressor(2.0).fit(np.repeat(X, 2, axis=0), pairs.ravel())
    for weights, order in [(None, slice(None)), (np.full(80, 0.5), slice(None, None, -1))]:
        model = SparsePoissonRegressor(2.0).fit(X[order], pairs.mean(axis=1)[order], weights)
        np.testing.assert_allclose(model.coef_, split.coef_, atol=1e-8)
        np.testing.assert_allclose(model.loss_, split.loss_, rtol=1e-8)


def test_counts_that_are_refused():
    X, y = counts(50)
    for targets, message in [(y - 100, "count must be a natural number"), (0 * y, "mean count must be positive")]:
        with pytest.raises(ValueError, match=message):
            SparsePoissonRegressor().fit(X, targets)
    model = SparsePoissonRegressor().fit(X, y)
    with pytest.raises(ValueError, match="mu must be"):
        model.predict(1e4 * np.sign(model.coef_)[None, :])
