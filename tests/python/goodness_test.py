"""How good fits are: by SciPy, by brute force, and by what they say of themselves."""

import math
import pickle

import numpy as np
import pytest

import fenchel
from fenchel import BetaGaussian, BetaLaplace, LineMoments, MultivariateBetaGaussian, SparsePoisson, TruncatedGaussian

integrate, stats = (pytest.importorskip(f"scipy.{name}") for name in ("integrate", "stats"))


def scipy_of(p):
    """The same distribution in SciPy, which has these alphas."""
    if isinstance(p, BetaLaplace):
        return stats.laplace(p.mu, p.b)
    if p.alpha == 1:
        return stats.norm(p.mu, math.sqrt(p.sigma2))
    lower, upper = p.support()
    shape = 1 + 1 / (p.alpha - 1)
    return stats.beta(shape, shape, lower, upper - lower)


def numeric_crps(d, y):
    lower = integrate.quad(lambda t: d.cdf(t) ** 2, d.ppf(1e-12), y, epsabs=1e-11)[0]
    return lower + integrate.quad(lambda t: d.sf(t) ** 2, y, max(d.isf(1e-12), y + 1e-9), epsabs=1e-11)[0]


SCIPYS = [(BetaGaussian, 1), (BetaGaussian, 1.5), (BetaGaussian, 4 / 3), (BetaLaplace, 1)]


@pytest.mark.parametrize("family, shape", SCIPYS)
def test_numbers_are_scipys(family, shape):
    x = BetaGaussian(1.5, 5, 2).rvs(300, random_state=3)
    x = x[np.abs(x - 5) < 1.9]
    found = fenchel.fit(family, x, alpha=shape)
    d = scipy_of(found.distribution)
    likelihood = d.logpdf(x).sum()
    np.testing.assert_allclose(found.log_likelihood, likelihood, rtol=1e-10)
    np.testing.assert_allclose(found.aic, 4 - 2 * likelihood, rtol=1e-10)
    np.testing.assert_allclose(found.bic, 2 * math.log(len(x)) - 2 * likelihood, rtol=1e-10)
    good = found.goodness()
    np.testing.assert_allclose(good.kolmogorov_smirnov, stats.kstest(x, d.cdf).statistic, rtol=1e-9)
    y, n = np.sort(x), len(x)
    darling = -n - np.sum((2 * np.arange(1, n + 1) - 1) / n * (d.logcdf(y) + d.logsf(y[::-1])))
    np.testing.assert_allclose(good.anderson_darling, darling, rtol=1e-8)
    np.testing.assert_allclose(found.goodness(x[:25]).crps, np.mean([numeric_crps(d, t) for t in x[:25]]), rtol=1e-7)
    assert found.outside == 0 and found.warnings == ()


def test_crps_is_that_of_an_ensemble():
    """As properscoring's crps_ensemble: mean |X - y| - mean |X - X'| / 2."""
    x = np.array([1.0, 4.0, 2.5, 9.0])
    found = fenchel.fit(TruncatedGaussian, [0.0, 1, 2, 3, 4, 5, 6], kappa=2)
    draws = found.distribution.rvs(4000, random_state=1)
    brute = np.abs(draws[:, None] - x).mean() - np.abs(draws[:, None] - draws).mean() / 2
    np.testing.assert_allclose(found.goodness(x).crps, brute, rtol=0.03)


def test_rows_outside_are_counted_and_said():
    x = BetaGaussian(1.5, 5, 2).rvs(398, random_state=3)
    found = fenchel.fit(BetaGaussian, x)
    lower, upper = found.distribution.support()
    assert found.outside == np.sum((x < lower) | (x > upper)) > 0
    assert found.log_likelihood == -math.inf and found.aic == math.inf
    inside = found.distribution.logpdf(x)
    np.testing.assert_allclose(found.goodness().log_likelihood_inside, inside[inside > -math.inf].sum(), rtol=1e-12)
    assert found.warnings[0].startswith(f"{found.outside:.0f} of 398 rows (0.25%) lies outside of the support [2.96")


def test_two_groups_pooled_are_flagged():
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(0, 1, 110), rng.normal(3.3, 1, 90)])
    found = fenchel.fit(BetaGaussian, x, alpha="auto")
    assert any("alpha" in text or "sigma2" in text for text in found.warnings), found
    apart = np.concatenate([rng.normal(0, 1, 100), rng.normal(30, 1, 100)])
    assert "does not look like draws of the fit" in fenchel.fit(BetaGaussian, apart, alpha=1).warnings[-1]


def test_weights_are_rows_and_the_data_may_be_others():
    x, w = np.array([1.0, 2, 4, 7, 8]), np.array([3, 1, 4, 0, 2])
    weighted, repeated = fenchel.fit(BetaGaussian, x, alpha=1, weights=w), np.repeat(x, w)
    plain = fenchel.fit(BetaGaussian, repeated, alpha=1)
    np.testing.assert_allclose(weighted.bic, plain.bic, rtol=1e-13)
    np.testing.assert_allclose(weighted.goodness().anderson_darling, plain.goodness().anderson_darling, rtol=1e-11)
    np.testing.assert_allclose(plain.goodness(x, weights=w).aic, weighted.aic, rtol=1e-13)
    with pytest.raises(TypeError, match="goodness: weights are those of data, which is not given"):
        plain.goodness(weights=w)


def test_a_fit_without_its_data_asks_for_it():
    x = BetaGaussian(1, 0, 1).rvs(100, random_state=1)
    whole = fenchel.fit(BetaGaussian, x, alpha=1)
    for found in [
        fenchel.fit(BetaGaussian, LineMoments().update(x), alpha=1),
        fenchel.fit(BetaGaussian, iter([x]), alpha=1),
        pickle.loads(pickle.dumps(whole)),
    ]:
        with pytest.raises(ValueError, match="goodness: data must be given: the fit was made without it, or was"):
            found.aic
        np.testing.assert_allclose(found.goodness(x).aic, whole.aic, rtol=1e-12)
    assert pickle.loads(pickle.dumps(whole)).aic == whole.aic  # which was asked for before


def test_bootstrap():
    x = BetaGaussian(1, 2, 3).rvs(150, random_state=2)
    found = fenchel.fit(BetaGaussian, x, alpha=1)
    good = found.goodness(bootstrap=99, seed=5)
    assert good.p_values["anderson_darling"] > 0.01 and good.failed == 0
    assert good == found.goodness(bootstrap=99, seed=5) != found.goodness(bootstrap=99, seed=6)
    bent = fenchel.fit(BetaGaussian, np.exp(x), alpha=1).goodness(bootstrap=99)
    assert bent.p_values == {"kolmogorov_smirnov": 0.01, "anderson_darling": 0.01}
    assert found.goodness().p_values is None


@pytest.mark.parametrize("family, fixed", [(BetaGaussian, {}), (BetaGaussian, {"alpha": "auto"}), (BetaLaplace, {}),
                                           (SparsePoisson, {"alpha": 1.2}), (TruncatedGaussian, {"kappa": 3})])
def test_intervals(family, fixed):
    shape = {**({"kappa": 3} if family is TruncatedGaussian else {"alpha": 2}), **fixed}
    true = family(**{**shape, "mu": 5}) if shape.get("alpha") != "auto" else family(1.3, mu=5)
    found = fenchel.fit(family, true.rvs(2000, random_state=7), **fixed)
    wald = found.confidence_interval(0.9)
    z = stats.norm.ppf(0.95)
    np.testing.assert_allclose(wald.low, found.parameters - z * found.standard_errors, rtol=1e-12)
    np.testing.assert_allclose(wald.high, found.parameters + z * found.standard_errors, rtol=1e-12)
    drawn = found.confidence_interval(0.9, "bootstrap", bootstrap=200, seed=1)
    np.testing.assert_array_less(abs(drawn.low - wald.low), 0.35 * (wald.high - wald.low))
    np.testing.assert_array_less(abs(drawn.high - wald.high), 0.35 * (wald.high - wald.low))


def test_space_and_functions_have_what_they_can():
    x = np.random.default_rng(0).normal(size=(60, 2))
    found = fenchel.fit(MultivariateBetaGaussian, x, alpha=1)
    d = stats.multivariate_normal(x.mean(0), np.cov(x.T, bias=True))
    np.testing.assert_allclose(found.log_likelihood, d.logpdf(x).sum(), rtol=1e-12)
    assert math.isnan(found.crps)
    with pytest.raises(TypeError, match="bootstrap: MultivariateBetaGaussian cannot be drawn from and fitted again"):
        found.goodness(bootstrap=9)
    linear = fenchel.fit_linear_score(1, [lambda t: t, lambda t: t * t], x[:, 0])
    gaussian = fenchel.fit(BetaGaussian, x[:, 0], alpha=1)
    np.testing.assert_allclose(linear.log_likelihood, gaussian.log_likelihood, rtol=1e-7)
    np.testing.assert_allclose(linear.crps, gaussian.crps, rtol=1e-5)


def test_what_means_nothing_is_refused():
    found = fenchel.fit(BetaGaussian, [1.0, 2, 3, 4])
    with pytest.raises(ValueError, match="level must be above 0 and below 1, got 95"):
        found.confidence_interval(95)
    with pytest.raises(ValueError, match="method must be 'wald' or 'bootstrap', got 'profile'"):
        found.confidence_interval(method="profile")
    with pytest.raises(ValueError, match="replicates must be positive, got -3"):
        found.goodness(bootstrap=-3)
    with pytest.raises(ValueError, match="row 1"):
        found.goodness([1.0, math.nan])


def test_compare_is_cross_validation():
    x = BetaGaussian(1, 2, 3).rvs(600, random_state=4)
    families = [(BetaGaussian, {"alpha": 1}), (BetaLaplace, {"alpha": 1}), fenchel.Uniform]
    found = fenchel.compare(x, families, folds=5)
    assert [score.name for score in found.scores] == ["BetaGaussian(alpha=1)", "BetaLaplace(alpha=1)", "Uniform"]
    assert found.winner == "BetaGaussian(alpha=1)" and found.close == ()
    assert repr(found) == repr(fenchel.compare(x, families, folds=5))
    assert repr(found) != repr(fenchel.compare(x, families, folds=5, seed=1))
    best = found.scores[0]
    assert best.crps_difference == best.crps_error == 0 and best.outside == 0
    d = stats.norm(x.mean(), x.std())  # the folds move the fit by little
    np.testing.assert_allclose(best.log_score, d.logpdf(x).mean(), atol=0.02)
    assert found.scores[2].log_score == -math.inf and math.isnan(found.scores[2].log_difference)
    assert len(repr(found).splitlines()) == 4


def test_compare_takes_what_fit_takes():
    x = BetaGaussian(1.5, 2, 3).rvs(500, random_state=4)
    assert len(fenchel.compare(x).scores) == 8
    kinds = [fenchel.CappedParabola, fenchel.CappedTriangular, fenchel.SmoothParabola, fenchel.SmoothTriangular,
             (TruncatedGaussian, {"kappa": 3})]
    found = fenchel.compare(x, kinds, folds=3, weights=np.full(500, 2.0))
    assert all(score.crps > 0 and not score.failure for score in found.scores), found
    counts = SparsePoisson(1, 4).rvs(300, random_state=1)
    found = fenchel.compare(counts, [(SparsePoisson, {"alpha": 1}), SparsePoisson, fenchel.SparseIntegerGaussian])
    assert found.winner != "SparsePoisson(alpha=2)" and isinstance(found.close, tuple)
    with pytest.raises(ValueError, match="candidates must all be of counts, or all of numbers"):
        fenchel.compare(counts, [SparsePoisson, BetaGaussian])
    with pytest.raises(ValueError, match="folds must be at least 2"):
        fenchel.compare(x, folds=1)
    with pytest.raises(TypeError, match="compare: families must be of one column and known to fit, got <class 'int'>"):
        fenchel.compare(x, [int])
    with pytest.raises(TypeError, match="BetaLaplace needs alpha, which is not estimated, got 'auto'"):
        fenchel.compare(x, [(BetaLaplace, {"alpha": "auto"})])
    with pytest.raises(TypeError, match="read once"):
        fenchel.compare(iter([x]))


def test_folds_of_several_batches_have_their_rows_alone():
    """Families of the median read the rows of each fold again; rows without weights have weight 1 in every batch."""
    x = BetaGaussian(2, mu=5).rvs(10000, random_state=1)
    plain = fenchel.compare(x, [BetaGaussian, fenchel.Triangular])
    weighted = fenchel.compare(x, [BetaGaussian, fenchel.Triangular], weights=np.ones(10000))
    assert repr(plain.scores) == repr(weighted.scores)  # some numbers are NaN
    assert not any(score.failure for score in plain.scores)
