"""Fits: moments are matched, parameters found again, errors as large as they say."""

import math
import pickle
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest

import fenchel
from fenchel import (
    BetaGaussian,
    BetaLaplace,
    CappedParabola,
    CappedTriangular,
    MultivariateBetaGaussian,
    SmoothParabola,
    SmoothTriangular,
    SparseIntegerGaussian,
    SparsePoisson,
    Triangular,
    TruncatedGaussian,
)

# A member of each family, and what is given to fit it.
MEMBERS = [
    (BetaGaussian(0.9, 1, 2), {"alpha": 0.9}),
    (BetaGaussian(1, 1, 2), {"alpha": 1}),
    (BetaGaussian(np.nextafter(1, 2), 1, 2), {"alpha": np.nextafter(1, 2)}),
    (BetaGaussian(4 / 3, 1, 2), {"alpha": 4 / 3}),
    (BetaGaussian(2, 1, 2), {"alpha": 2}),
    (BetaGaussian(5, 1, 2), {"alpha": 5}),
    (BetaGaussian(1.5, -3, 0.1), {"alpha": None}),
    (BetaGaussian(1.5, -3, 0.1), {"alpha": "auto"}),
    (BetaGaussian(2, -3, 0.1), {}),
    (BetaLaplace(1, 2, 3), {"alpha": 1}),
    (BetaLaplace(1.5, 2, 3), {"alpha": 1.5}),
    (Triangular(1, 4), {}),
    (TruncatedGaussian(3, 1, 2), {"kappa": 3}),
    (TruncatedGaussian(3, 1, 2), {"kappa": "auto"}),
    (TruncatedGaussian(2, 1, 2), {}),
    (CappedTriangular(0.5, 2), {"gamma": 0.5}),
    (CappedParabola(0.5, 2), {"gamma": 0.5}),
    (SmoothTriangular(0.5, 2), {"gamma": 0.5}),
    (SmoothParabola(0.5, 2), {"gamma": 0.5}),
    (SparsePoisson(mu=3.3), {}),
    (SparsePoisson(1, 3.3), {"alpha": 1}),
    (SparseIntegerGaussian(mu=0.3, sigma2=9), {}),
    (SparseIntegerGaussian(1.5, 0.3, 9), {"alpha": 1.5}),
]
LINE = [(p, fixed) for p, fixed in MEMBERS if isinstance(p, fenchel.LineDistribution)]
MATCH_VARIANCE = (BetaGaussian, CappedParabola, SmoothParabola, SparseIntegerGaussian)
MATCH_MEDIAN = (BetaLaplace, Triangular, CappedTriangular, SmoothTriangular)


@pytest.mark.parametrize("p, fixed", MEMBERS, ids=str)
def test_parameters_are_found_again(p, fixed):
    fit = fenchel.fit(type(p), p.rvs(20000, random_state=5), **fixed)
    assert fit.weight == 20000 and np.isfinite(fit.loss)
    for name, estimate, error in zip(fit.names, fit.parameters, fit.standard_errors):
        assert 0 < error < np.inf
        assert abs(estimate - getattr(p, name)) < 4 * error, name
        assert estimate == getattr(fit.distribution, name)
    for name, value in fixed.items():
        assert value in (None, "auto") or getattr(fit.distribution, name) == value
    np.testing.assert_allclose(fit.standard_errors**2, np.diag(fit.covariance), rtol=1e-14)
    np.testing.assert_allclose(fit.covariance, fit.covariance.T, rtol=1e-12, atol=1e-18)


@pytest.mark.parametrize("p, fixed", MEMBERS, ids=str)
def test_moments_are_matched(p, fixed):
    x = np.round(p.rvs(999, random_state=6), 3)
    q = type(p).fit(x, **fixed)
    if isinstance(p, MATCH_VARIANCE):
        np.testing.assert_allclose([q.mean(), q.var()], [x.mean(), x.var()], rtol=1e-9)
    elif isinstance(p, MATCH_MEDIAN):
        np.testing.assert_allclose(q.median(), np.median(x), rtol=1e-9)
        deviation = q.expect(lambda t: abs(t - q.median()))
        np.testing.assert_allclose(deviation, np.mean(np.abs(x - np.median(x))), rtol=1e-9)
    elif isinstance(p, SparsePoisson):
        np.testing.assert_allclose(q.mean(), x.mean(), rtol=1e-9)
    if isinstance(p, BetaGaussian) and fixed.get("alpha", 2) in (None, "auto"):
        np.testing.assert_allclose(q.kurtosis(), np.mean((x - x.mean()) ** 4) / x.var() ** 2, rtol=1e-9)


def test_golden_fits():
    x = [0.0, 1.0, 2.0, 3.0, 9.0]  # mean 3, variance 10, median 2, mean deviation 11/5
    np.testing.assert_allclose(fenchel.fit(BetaGaussian, x, alpha=1).parameters, [3, 10], rtol=1e-14)
    np.testing.assert_allclose(fenchel.fit(BetaGaussian, x, alpha=2).parameters, [3, 2 / 3 * 50**1.5], rtol=1e-13)
    np.testing.assert_allclose(fenchel.fit(BetaLaplace, x, alpha=1).parameters, [2, 2.2], rtol=1e-14)
    np.testing.assert_allclose(fenchel.fit(Triangular, x).parameters, [2, (3 * 2.2) ** 2], rtol=1e-13)
    np.testing.assert_allclose(fenchel.fit(SparsePoisson, x, alpha=1).parameters, [3], rtol=1e-14)
    # Without a penalty the families of gamma are those of Tsallis(2).
    for family in (CappedParabola, SmoothParabola):
        fit = fenchel.fit(family, x, gamma=0)
        plain = fenchel.fit(BetaGaussian, x)
        assert fit.names == plain.names == ("mu", "sigma2")
        np.testing.assert_allclose(fit.parameters, plain.parameters, rtol=1e-9)
        np.testing.assert_allclose(fit.standard_errors[1], plain.standard_errors[1], rtol=1e-6)
        np.testing.assert_allclose(fit.standard_errors[0], plain.standard_errors[0], rtol=1e-9)
    for family in (CappedTriangular, SmoothTriangular):
        np.testing.assert_allclose(fenchel.fit(family, x, gamma=0).parameters, [2, (3 * 2.2) ** 2], rtol=1e-9)
    # The kurtosis of two points is 1: the uniform distribution is nearest.
    uniform = BetaGaussian.fit([-1, 1], alpha=None)
    np.testing.assert_allclose(uniform.support(), [-np.sqrt(3), np.sqrt(3)], rtol=1e-14)
    assert uniform.alpha == np.inf


def test_standard_error_of_the_mean():
    x = BetaGaussian(1.5).rvs(1000, random_state=1)
    for alpha in (1, 1.5, 2):
        fit = fenchel.fit(BetaGaussian, x, alpha=alpha)
        np.testing.assert_allclose(fit.standard_errors[0], np.sqrt(x.var() / 1000), rtol=1e-10)


@pytest.mark.parametrize(
    "p, fixed",
    [
        (BetaGaussian(2, 1, 2), {"alpha": 2}),
        (CappedParabola(0.5), {"gamma": 0.5}),
        (Triangular(1, 4), {}),
        (SparsePoisson(mu=3.3), {}),
        (SmoothTriangular(0.5), {"gamma": 0.5}),
    ],
    ids=str,
)
def test_standard_errors_are_the_spread_of_estimates(p, fixed):
    samples = p.rvs((300, 400), random_state=2)
    fits = [fenchel.fit(type(p), x, **fixed) for x in samples]
    spread = np.std([fit.parameters for fit in fits], axis=0)
    np.testing.assert_allclose(np.mean([fit.standard_errors for fit in fits], axis=0), spread, rtol=0.15)


@pytest.mark.parametrize("alpha", [None, 1, 1.5, 2])
def test_multivariate(alpha):
    p = MultivariateBetaGaussian(1.5, [1, -2], [[2, 0.5], [0.5, 1]])
    x = p.rvs(20000, random_state=3)
    fit = fenchel.fit(MultivariateBetaGaussian, x, alpha=alpha)
    assert fit.names == ("alpha",) * (alpha is None) + ("mu[0]", "mu[1]", "Sigma[0,0]", "Sigma[1,0]", "Sigma[1,1]")
    q = fit.distribution
    np.testing.assert_allclose(q.mean(), x.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(q.cov(), np.cov(x.T, bias=True), rtol=1e-9)
    assert MultivariateBetaGaussian.fit(list(x[:50]), alpha=alpha) == MultivariateBetaGaussian.fit(x[:50], alpha=alpha)
    if alpha in (None, 1.5):
        true = [1.5] * (alpha is None) + [1, -2, 2, 0.5, 1]
        assert np.all(np.abs(fit.parameters - true) < 4 * fit.standard_errors)
    moments = fenchel.Moments(2).update(x)
    assert MultivariateBetaGaussian.fit(moments, alpha=2) == MultivariateBetaGaussian.fit(x, alpha=2)


@pytest.mark.parametrize("p, fixed", MEMBERS, ids=str)
def test_weights_are_repeats_and_order_does_not_matter(p, fixed):
    rng = np.random.default_rng(8)
    x = p.rvs(500, random_state=8)
    w = rng.integers(1, 4, size=500)
    weighted = fenchel.fit(type(p), x, weights=w, **fixed)
    repeated = fenchel.fit(type(p), rng.permutation(np.repeat(x, w)), **fixed)
    tolerance = 1e-5 if isinstance(p, TruncatedGaussian) else 1e-10
    np.testing.assert_allclose(weighted.parameters, repeated.parameters, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(weighted.standard_errors, repeated.standard_errors, rtol=100 * tolerance)
    assert weighted.weight == repeated.weight == w.sum()


@pytest.mark.parametrize("p, fixed", MEMBERS, ids=str)
def test_statistics_and_batches_give_the_fit_of_the_array(p, fixed):
    x = p.rvs(5000, random_state=9)
    of_array = fenchel.fit(type(p), x, **fixed)
    batches = [x[:10], x[10:10], x[10:4000], x[4000:]]
    np.testing.assert_allclose(fenchel.fit(type(p), batches, **fixed).parameters, of_array.parameters, rtol=1e-12)
    if isinstance(p, MATCH_MEDIAN):
        statistics = fenchel.AbsoluteMoments(np.sort(x)[2499])
    elif isinstance(p, TruncatedGaussian):
        with pytest.raises(TypeError, match="TruncatedGaussian needs the data itself, got LineMoments"):
            fenchel.fit(type(p), fenchel.LineMoments().update(x), **fixed)
        return
    else:
        statistics = fenchel.CountHistogram() if isinstance(p, fenchel.IntegerDistribution) else fenchel.LineMoments()
        one_shot = fenchel.fit(type(p), iter(batches), **fixed)
        np.testing.assert_allclose(one_shot.parameters, of_array.parameters, rtol=1e-12)
    of_statistics = fenchel.fit(type(p), statistics.update(x), **fixed)
    np.testing.assert_allclose(of_statistics.parameters, of_array.parameters, rtol=1e-12)
    np.testing.assert_allclose(of_statistics.covariance, of_array.covariance, rtol=1e-12, atol=1e-18)
    assert of_statistics.weight == 5000


@pytest.mark.parametrize("family", [BetaLaplace, CappedTriangular, SmoothTriangular, Triangular, TruncatedGaussian])
def test_several_passes_need_data_that_can_be_read_again(family):
    fixed = {BetaLaplace: {"alpha": 2}, CappedTriangular: {"gamma": 1}, SmoothTriangular: {"gamma": 1}}.get(family, {})
    with pytest.raises(TypeError, match="several passes .* read once: pass a table, an array"):
        family.fit(iter([np.arange(3.0)]), **fixed)
    with pytest.raises(TypeError, match="several passes"):
        MultivariateBetaGaussian.fit(iter([np.eye(3)]), alpha=None)


def test_several_passes_over_a_file(tmp_path):
    x = Triangular(1, 4).rvs(270_000, random_state=0)
    file = np.memmap(tmp_path / "x.f8", dtype=np.float64, mode="w+", shape=x.shape)
    file[:] = x
    assert Triangular.fit(file) == Triangular.fit(x)
    assert fenchel.fit(BetaGaussian, file, alpha=2).parameters == pytest.approx(
        fenchel.fit(BetaGaussian, x, alpha=2).parameters, rel=1e-13)
    assert [len(batch) for batch in fenchel.batches(file)] == [2**18, 270_000 - 2**18]


@pytest.mark.parametrize(
    "call, error, match",
    [
        (lambda: fenchel.fit(BetaGaussian, [1.0, np.nan], alpha=2), ValueError, "row 1, column 0: .*nan"),
        (lambda: fenchel.fit(Triangular, [1.0, 2, np.nan]), ValueError, "row 2, column 0: .*nan"),
        (lambda: fenchel.fit(BetaGaussian, ["a", "b"], alpha=2), TypeError, "real numbers"),
        (lambda: fenchel.fit(BetaGaussian, [], alpha=2), ValueError, ""),
        (lambda: fenchel.fit(TruncatedGaussian, []), ValueError, ""),
        (lambda: fenchel.fit(Triangular, []), ValueError, ""),
        (lambda: fenchel.fit(SparsePoisson, []), ValueError, ""),
        (lambda: fenchel.fit(MultivariateBetaGaussian, np.empty((0, 2))), ValueError, ""),
        (lambda: fenchel.fit(BetaGaussian, [1.0], alpha=2), ValueError, "variance must be positive"),
        (lambda: fenchel.fit(BetaGaussian, [1.0, 1.0]), ValueError, "variance must be positive"),
        (lambda: fenchel.fit(Triangular, [1.0, 1.0]), ValueError, ""),
        (lambda: fenchel.fit(TruncatedGaussian, [1.0, 1.0]), ValueError, ""),
        (lambda: fenchel.fit(MultivariateBetaGaussian, [[1.0, 2], [3, 4]], alpha=2), ValueError, ""),
        (lambda: fenchel.fit(BetaGaussian, [1.0, 2], weights=[1, -1], alpha=2), ValueError, "row 1: weight .*-1"),
        (lambda: fenchel.fit(Triangular, [1.0, 2], weights=[1, -1]), ValueError, "row 1: weight .*-1"),
        (lambda: fenchel.fit(Triangular, [1.0, 2], weights=[1]), ValueError, "each of 2 rows, got 1"),
        (lambda: fenchel.fit(BetaGaussian, [1.0, 2], weights=[1], alpha=2), ValueError, "each of 2 rows, got 1"),
        (lambda: fenchel.fit(BetaGaussian, [1.0, 2], weights=[0, 0], alpha=2), ValueError, ""),
        (lambda: fenchel.fit(BetaGaussian, [[1.0, 2]], alpha=2), ValueError, "1 column, got 2"),
        (lambda: fenchel.fit(MultivariateBetaGaussian, [1.0, 2], alpha=2), ValueError, "rows by columns"),
        (lambda: fenchel.fit(MultivariateBetaGaussian, [1.0, 2]), ValueError, "rows by columns"),
        (lambda: fenchel.fit(MultivariateBetaGaussian, iter(np.eye(3)), alpha=2), ValueError, "rows by columns"),
        (lambda: fenchel.fit(Triangular, [[1.0, 2]]), ValueError, "1 column, got 2"),
        (lambda: fenchel.fit(BetaGaussian, [1.0, 2], alpha=0.2), ValueError, "alpha must be .*0.2"),
        (lambda: fenchel.fit(BetaGaussian, [1.0, 2], alpha="x"), TypeError, "alpha"),
        (lambda: fenchel.fit(BetaGaussian, [1.0, 2], beta=2), TypeError, "BetaGaussian can fix alpha only, got beta"),
        (lambda: fenchel.fit(BetaGaussian, "x.npy"), TypeError, "data must be an array, .*got a str$"),
        (lambda: fenchel.fit(BetaGaussian, object()), TypeError, "data must be an array, .*, got a object$"),
        (lambda: fenchel.fit(Triangular, [1.0, 2], alpha=2), TypeError, "Triangular has no parameter"),
        (lambda: fenchel.fit(BetaLaplace, [1.0, 2], alpha="auto"), TypeError, "BetaLaplace needs alpha, .*got 'auto'"),
        (lambda: fenchel.fit(CappedParabola, [1.0, 2], gamma=None), TypeError, "CappedParabola needs gamma, .*None"),
        (lambda: fenchel.fit(CappedParabola, [1.0, 2], gamma=-1), ValueError, "gamma must .*-1"),
        (lambda: fenchel.fit(SparsePoisson, [1.0, -2]), ValueError, ""),
        (lambda: fenchel.fit(SparsePoisson, [1, 0.5]), ValueError, "row 1, column 0: .*0.5"),
        (lambda: fenchel.fit(fenchel.Uniform, [1.0, 2], alpha=2), TypeError, "Uniform has no parameter"),
        (lambda: fenchel.fit("gaussian", [1.0, 2]), TypeError, "got 'gaussian'"),
        (lambda: fenchel.NumericDensity.fit([1.0, 2]), TypeError, "got NumericDensity"),
        (lambda: fenchel.fit(BetaGaussian, fenchel.LineMoments(), weights=[1]), TypeError, "with statistics"),
        (lambda: fenchel.fit(BetaGaussian, fenchel.Moments(1)), TypeError, "needs LineMoments, got Moments"),
        (lambda: fenchel.fit(MultivariateBetaGaussian, fenchel.Moments(1), alpha=None), TypeError, "Moments and alpha"),
        (lambda: fenchel.fit(TruncatedGaussian, fenchel.LineMoments()), TypeError, "needs the data itself"),
        (lambda: fenchel.fit(Triangular, fenchel.AbsoluteMoments(5.0).update([1, 2])), ValueError, "median"),
        (lambda: fenchel.fit(TruncatedGaussian, np.arange(20.0) ** 9, kappa="auto"), fenchel.ConvergenceError, ""),
    ],
)
def test_bad_arguments(call, error, match):
    with pytest.raises(error, match=match or None):
        call()


def test_repr_and_pickle():
    fit = fenchel.fit(BetaGaussian, [-1.0, -1, 1, 1], alpha=1)
    first, header, *rows, last = repr(fit).splitlines()
    assert first == "Fit of BetaGaussian(alpha=1.0, mu=0.0, sigma2=1.0)"
    assert header.split() == ["parameter", "estimate", "standard", "error"]
    assert [row.split() for row in rows] == [["mu", "0", "0.5"], ["sigma2", "1", "0.707"]]
    assert last.endswith("weight 4")
    again = pickle.loads(pickle.dumps(fit))
    assert again.distribution == fit.distribution and again.names == fit.names
    np.testing.assert_array_equal(again.covariance, fit.covariance)
    with pytest.raises(AttributeError):
        fit.loss = 0


def test_a_fit_in_many_dimensions_takes_little_memory():
    """The covariance of 20300 estimators has 3 GB: it is computed when it is asked for, and pickled then."""
    n = 200
    rows = np.concatenate([np.eye(n), -np.eye(n)])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fit = fenchel.fit(MultivariateBetaGaussian, rows, alpha=1.5)
    assert fit.standard_errors.shape == (n + n * (n + 1) // 2,)
    np.testing.assert_allclose(fit.standard_errors[:n], 1 / (n * np.sqrt(2)), rtol=1e-12)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024
    small = fenchel.fit(MultivariateBetaGaussian, [[0.0, 1], [1, 0], [2, 5]])
    again = pickle.loads(pickle.dumps(small))
    np.testing.assert_array_equal(again.covariance, small.covariance)
    np.testing.assert_allclose(np.diag(again.covariance), again.standard_errors**2, rtol=1e-14)


SLOW = """
import numpy as np, fenchel
fenchel.set_num_threads(1)
x = np.tile(fenchel.TruncatedGaussian(3).rvs(100_000, random_state=1), 200)
print("ready", flush=True)
fenchel.fit(fenchel.TruncatedGaussian, x, kappa="auto")
"""


def test_a_slow_fit_can_be_interrupted():
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", SLOW], **pipes) as child:
        try:
            assert child.stdout.readline() == "ready\n"
            with pytest.raises(subprocess.TimeoutExpired):
                child.wait(timeout=0.3)
            child.send_signal(signal.SIGINT)
            _, errors = child.communicate(timeout=8)
        finally:
            child.kill()
    assert "KeyboardInterrupt" in errors


def test_the_uniform_distribution_has_mean_and_variance():
    data = [0.0, 1.0, 5.0, 6.0]
    found = fenchel.fit(fenchel.Uniform, data)
    half = math.sqrt(3 * np.var(data))
    np.testing.assert_allclose([found.distribution.lower, found.distribution.upper], [3 - half, 3 + half], rtol=1e-14)
    np.testing.assert_allclose(found.standard_errors, half * math.sqrt((1 / 3 + 1 / 5) / 4), rtol=1e-13)
    assert found.names == ("lower", "upper") and found.loss == 0
    assert fenchel.fit(BetaGaussian, data, alpha=math.inf).distribution == found.distribution
    weighted = fenchel.fit(fenchel.Uniform, [0.0, 6.0], weights=[2, 2]).distribution
    assert weighted == fenchel.Uniform.fit([0.0, 0.0, 6.0, 6.0])


@pytest.mark.parametrize("alpha", [0.8, 1.3])
def test_alpha_of_counts_is_estimated(alpha):
    p = fenchel.SparsePoisson(alpha, 4.0)
    fit = fenchel.fit(fenchel.SparsePoisson, p.rvs(4000, random_state=1), alpha="auto")
    assert fit.names == ("alpha", "mu")
    assert fit.distribution == fenchel.SparsePoisson(*fit.parameters)
    np.testing.assert_allclose(fit.parameters, [alpha, 4.0], atol=4 * fit.standard_errors.max())
    assert 0 < fit.standard_errors.max() < 0.2
