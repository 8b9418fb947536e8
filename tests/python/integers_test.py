"""Distributions on the integers: laws, golden numbers, and what is not an integer."""

import copy
import math
import pickle

import golden
import numpy as np
import pytest
import support
from hypothesis import given, settings
from hypothesis import strategies as st

import fenchel

ALPHAS = [*support.ALPHAS, math.inf]
MEMBERS = [("SparsePoisson", alpha, 3.3) for alpha in ALPHAS]
MEMBERS += [("SparseIntegerGaussian", alpha, -1.2, 2.5) for alpha in ALPHAS]
CASES = [c for c in golden.cases("integers.txt") if c["case"][0] == 1 or c["case"][3] == 1]


def made(name, *parameters):
    return getattr(fenchel, name)(*parameters)


@pytest.fixture(params=MEMBERS, ids=str)
def p(request):
    return made(*request.param)


def member(case):
    family, alpha, mu, scale = case["case"]
    return fenchel.SparseIntegerGaussian(alpha, mu, scale) if family else fenchel.SparsePoisson(alpha, mu)


def window(p):
    """Integers that have all the mass."""
    lower, upper = p.support()
    return np.arange(max(lower, -45), min(upper, 45) + 1)


@pytest.mark.parametrize("case", CASES, ids=lambda c: str(c["case"]))
def test_golden(case):
    p, points = member(case), np.array(case["points"])
    # Sums of many probabilities, and scores near 1e9, round.
    far = 1e-7 if max(abs(case["case"][2]), case["case"][3]) > 1e4 else 1e-11
    np.testing.assert_allclose(p.logpmf(points), case["log_pmf"], rtol=far, atol=far)
    np.testing.assert_allclose(p.logcdf(points), case["log_cdf"], rtol=far, atol=far)
    above = case.get("log_survival", [])  # those that are not -inf
    np.testing.assert_allclose(p.logsf(points[: len(above)]), above, rtol=far, atol=far)
    moments = [p.mean(), p.var(), p.skewness(), p.kurtosis()][: len(case["moments"])]  # two of a certain outcome
    assert moments == pytest.approx(case["moments"], rel=far, abs=far)
    orders = [p.entropy(), p.tsallis_entropy(1.5), p.tsallis_entropy(0.5)]
    assert orders == pytest.approx(case["entropy"], rel=far)
    assert p.escort(0.5).mean() == pytest.approx(case["escort"][0], rel=far)
    if "support" in case:
        assert list(p.support()) == case["support"]
    y, value, mean_less_y, d_alpha, _ = case["loss"]
    loss, gradient = p.fenchel_young(y, return_gradient=True)
    assert loss == pytest.approx(value, rel=far)
    assert gradient["alpha"] == pytest.approx(d_alpha, rel=max(far, 1e-8), abs=far)
    if isinstance(p, fenchel.SparsePoisson):
        assert gradient["log_mu"] == pytest.approx(mean_less_y, rel=far, abs=far)
    else:
        assert gradient["mu"] * p.sigma2 == pytest.approx(mean_less_y, rel=far, abs=far)


def test_mass_is_one_and_sums_agree(p):
    k = window(p)
    pmf = p.pmf(k)
    assert pmf.min() > 0 or p.alpha == 1
    assert pmf.sum() == pytest.approx(1, abs=1e-13)
    np.testing.assert_allclose(p.cdf(k), np.cumsum(pmf), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(p.cdf(k) + p.sf(k), 1, rtol=1e-14)
    np.testing.assert_allclose(np.exp(p.logpmf(k)), pmf, rtol=1e-10, atol=1e-300)
    assert p.mean() == pytest.approx((k * pmf).sum())
    assert p.var() == pytest.approx(((k - p.mean()) ** 2 * pmf).sum())
    assert p.std() == math.sqrt(p.var())
    assert p.moment(3) == pytest.approx((k**3.0 * pmf).sum())
    assert p.expect(lambda x: x**2) == pytest.approx((k**2 * pmf).sum())
    assert p.pmf(p.mode()) == pmf.max()
    positive = pmf[pmf > 0]
    assert p.entropy() == pytest.approx(-(positive * np.log(positive)).sum(), abs=1e-13)
    assert p.tsallis_entropy(2) == pytest.approx((1 - (pmf**2).sum()) / 2, abs=1e-14)
    escort = p.escort(0.5)
    np.testing.assert_allclose(escort.pmf(k), np.sqrt(pmf) / np.sqrt(pmf).sum(), rtol=1e-10, atol=1e-300)


def test_quantiles_are_the_smallest_integers(p):
    q = np.concatenate([np.linspace(0.001, 0.999, 50), p.cdf(window(p)[:3])])
    q = q[(q > 0) & (q < 1)]
    k = p.ppf(q)
    assert k.dtype == np.float64 and (k == np.floor(k)).all()
    assert (p.cdf(k) >= q).all() and (p.cdf(k - 1) < q).all()
    k = p.isf(q)
    assert (p.sf(k) <= q).all() and (p.sf(k - 1) > q).all()
    assert (p.ppf(0), p.ppf(1)) == p.support() == (p.isf(1), p.isf(0))
    assert np.isnan(p.ppf([-0.1, 1.1, np.nan])).all() and np.isnan(p.isf([-0.1, 1.1, np.nan])).all()
    lower, upper = p.interval(0.9)
    assert p.cdf(upper) - p.cdf(lower - 1) >= 0.9


def test_numbers_that_are_not_integers(p):
    x = np.array([-math.inf, -0.5, 2.7, math.inf, math.nan, 1e300])
    np.testing.assert_array_equal(p.pmf(x), [0, 0, 0, 0, math.nan, 0])
    np.testing.assert_array_equal(p.logpmf(x[:4]), -math.inf)
    np.testing.assert_array_equal(p.cdf(x), [0, p.cdf(-1), p.cdf(2), 1, math.nan, 1])
    np.testing.assert_array_equal(p.sf(x), [1, p.sf(-1), p.sf(2), 0, math.nan, 0])
    np.testing.assert_array_equal(p.logcdf(x), [-math.inf, p.logcdf(-1), p.logcdf(2), 0, math.nan, 0])
    np.testing.assert_array_equal(p.logsf(x), [0, p.logsf(-1), p.logsf(2), -math.inf, math.nan, -math.inf])
    far = 2.0**63 * np.array([-1, 1, -2, 2])
    np.testing.assert_array_equal(p.cdf(far), [0, 1, 0, 1])
    np.testing.assert_array_equal(p.pmf(far), 0)


@settings(deadline=None, max_examples=50, derandomize=True)
@given(st.lists(st.floats() | st.integers(-5, 12), max_size=6), st.sampled_from(MEMBERS))
def test_any_floats(x, which):
    x, p = np.array(x, float), made(*which)
    with np.errstate(invalid="ignore"):
        expected = np.where(x == np.floor(x), np.exp(p.logpmf(x)), 0)
    np.testing.assert_allclose(p.pmf(x), np.where(np.isnan(x), np.nan, expected), rtol=1e-9, atol=1e-300)
    np.testing.assert_array_equal(p.cdf(x), p.cdf(np.floor(x)))


def test_poisson_and_discrete_gaussian_of_alpha_one():
    stats = pytest.importorskip("scipy.stats")
    k, p = np.arange(40), fenchel.SparsePoisson(1, 4.4)
    np.testing.assert_allclose(p.pmf(k), stats.poisson(4.4).pmf(k), rtol=1e-12)
    np.testing.assert_allclose(p.logsf(k), stats.poisson(4.4).logsf(k), rtol=1e-10)
    np.testing.assert_array_equal(p.ppf([0.1, 0.5, 0.999]), stats.poisson(4.4).ppf([0.1, 0.5, 0.999]))
    assert p.mean() == pytest.approx(4.4) and p.var() == pytest.approx(4.4)
    assert p.entropy() == pytest.approx(float(stats.poisson(4.4).entropy()), rel=1e-9)
    assert p.support() == (0, math.inf)
    k = np.arange(-30, 31)
    weights = np.exp(-((k - 0.3) ** 2) / (2 * 1.7))
    np.testing.assert_allclose(fenchel.SparseIntegerGaussian(1, 0.3, 1.7).pmf(k), weights / weights.sum(), rtol=1e-12)
    assert fenchel.SparseIntegerGaussian(1, 0.3, 1.7).support() == (-math.inf, math.inf)


def test_predictions_of_sparsemax():
    """For alpha = 2 p = f - tau: a score less a threshold."""
    p = fenchel.SparseIntegerGaussian(mu=0, sigma2=4)
    np.testing.assert_allclose(p.pmf([-2, -1, 0, 1, 2]), [0, 7 / 24, 10 / 24, 7 / 24, 0], rtol=1e-14)
    assert p.support() == (-1, 1) and all(isinstance(end, int) for end in p.support())
    p = fenchel.SparsePoisson(mu=3)
    scores = np.arange(1, 5) * math.log(3) - np.log([1, 2, 6, 24])
    np.testing.assert_allclose(p.pmf([1, 2, 3, 4]), scores - (scores.sum() - 1) / 4, rtol=1e-12)


def test_draws(p):
    draws = p.rvs((50, 40), random_state=7)
    assert draws.shape == (50, 40) and draws.dtype == np.int64
    np.testing.assert_array_equal(draws, p.rvs((50, 40), random_state=7))
    assert (p.pmf(draws) > 0).all()
    assert abs(draws.mean() - p.mean()) < 5 * p.std() / math.sqrt(draws.size) + 1e-12
    generator = np.random.default_rng(3)
    first = p.rvs(4000, generator)
    same = p.rvs(4000, np.random.default_rng(3))
    np.testing.assert_array_equal(first, same)
    assert p.var() == 0 or (p.rvs(4000, generator) != first).any()
    assert isinstance(p.rvs(random_state=1), np.int64) and p.rvs(0).shape == (0,)


def test_values_are_pickled_and_compared(p):
    for other in (pickle.loads(pickle.dumps(p)), copy.deepcopy(p), eval(repr(p), {**vars(fenchel), "inf": math.inf})):
        assert other == p and hash(other) == hash(p) and other is not p
        np.testing.assert_array_equal(other.pmf(window(p)), p.pmf(window(p)))
    assert p != fenchel.SparsePoisson(p.alpha, 3.4) and p != 3


def test_tables():
    p = fenchel.IntegerTable(-1, [0, 2, 0, 6])
    assert p.first == 0 and p.probabilities == (0.25, 0, 0.75) and p.support() == (0, 2) and p.mean() == 1.5
    assert pickle.loads(pickle.dumps(p)) == p == eval(repr(p), vars(fenchel))
    escort = fenchel.SparsePoisson(1, 3.3).escort(2)
    assert pickle.loads(pickle.dumps(escort)) == escort
    assert fenchel.IntegerTable(0, [1]).kurtosis() != fenchel.IntegerTable(0, [1]).kurtosis()


def test_losses(p):
    assert p.fenchel_young(p) == 0
    others = fenchel.SparsePoisson(mu=2.2), fenchel.SparsePoisson(1, 5), p.escort(2)
    for target in (3, [1, 2, 2, 4], np.array([[0, 7]]), *others):
        assert p.fenchel_young(target) >= 0
    sample = np.array([0, 1, 1, 5])
    each = [p.fenchel_young(k) for k in sample]
    assert p.cross_omega(sample) == pytest.approx(np.mean(each), rel=1e-9)
    assert p.cross_omega([2]) == p.cross_omega(2) == p.cross_omega(np.uint8(2)) == p.cross_omega(2.0)
    value, gradient = p.cross_omega(sample, return_gradient=True)
    assert value == p.cross_omega(sample)
    if isinstance(p, fenchel.SparsePoisson):
        assert gradient["log_mu"] == pytest.approx(p.mean() - sample.mean())
    if p.alpha == 1:
        assert p.cross_omega(sample) == pytest.approx(-p.logpmf(sample).mean())


@pytest.mark.parametrize("loss", ["fenchel_young", "cross_omega"])
@pytest.mark.parametrize("alpha", [1.2, 1.5, 2, 5])
@pytest.mark.parametrize("target", [3, [1, 2, 2, 6], ("SparsePoisson", 1.5, 4.1)], ids=str)
def test_gradients_are_difference_quotients(loss, alpha, target):
    h = 1e-5
    target = made(*target) if isinstance(target, tuple) else target

    def slope(of):
        return (getattr(of(h), loss)(target) - getattr(of(-h), loss)(target)) / (2 * h)

    _, gradient = getattr(fenchel.SparsePoisson(alpha, 3.3), loss)(target, return_gradient=True)
    assert set(gradient) == {"log_mu", "alpha"}
    quotient = slope(lambda d: fenchel.SparsePoisson(alpha, 3.3 * math.exp(d)))
    assert gradient["log_mu"] == pytest.approx(quotient, abs=1e-8)
    assert gradient["alpha"] == pytest.approx(slope(lambda d: fenchel.SparsePoisson(alpha + d, 3.3)), abs=1e-8)
    gaussian = fenchel.SparseIntegerGaussian
    _, gradient = getattr(gaussian(alpha, 0.35, 1.7), loss)(target, return_gradient=True)
    assert set(gradient) == {"mu", "sigma2", "alpha"}
    assert gradient["mu"] == pytest.approx(slope(lambda d: gaussian(alpha, 0.35 + d, 1.7)), abs=1e-7)
    assert gradient["sigma2"] == pytest.approx(slope(lambda d: gaussian(alpha, 0.35, 1.7 + d)), abs=1e-7)
    assert gradient["alpha"] == pytest.approx(slope(lambda d: gaussian(alpha + d, 0.35, 1.7)), abs=1e-7)


def test_shapes_and_kinds_of_arrays():
    p = fenchel.SparsePoisson(mu=3)
    grid = np.arange(24.0).reshape(2, 3, 4)
    assert p.pmf(grid).shape == (2, 3, 4) and p.pmf([]).shape == (0,) and p.pmf(np.zeros((0, 3))).shape == (0, 3)
    assert isinstance(p.pmf(2), float) and isinstance(p.cdf(np.float32(2)), float)
    np.testing.assert_array_equal(p.pmf(grid.astype(np.int8)[:, ::-1, ::2]), p.pmf(grid)[:, ::-1, ::2])
    packed = np.frombuffer(b"x" + grid.tobytes(), np.float64, offset=1)
    packed.flags.writeable = False
    np.testing.assert_array_equal(p.cdf(packed), p.cdf(grid.ravel()))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: fenchel.SparsePoisson(mu=0), ValueError, "mu must be positive and at most 2\\^52, got 0"),
        (lambda: fenchel.SparsePoisson(0, 3), ValueError, "alpha must be positive, got 0"),
        (lambda: fenchel.SparsePoisson(mu="3"), TypeError, "mu must be a real number, got '3'"),
        (lambda: fenchel.SparseIntegerGaussian(mu=math.nan, sigma2=1), ValueError, "mu must be in .*, got nan"),
        (lambda: fenchel.SparseIntegerGaussian(sigma2=-1), ValueError, "sigma2 must be positive and finite, got -1"),
        (lambda: fenchel.SparsePoisson(mu=3).pmf("a"), TypeError, "k must be real numbers"),
        (lambda: fenchel.SparsePoisson(mu=3).fenchel_young(2.5), ValueError, "target must be integers, got 2.5"),
        (lambda: fenchel.SparsePoisson(2, 3).fenchel_young([1, math.nan]), ValueError, "must be integers, got nan"),
        (lambda: fenchel.SparsePoisson(mu=3).fenchel_young(1e300), ValueError, "target must be integers, got 1e\\+300"),
        (lambda: fenchel.SparsePoisson(mu=3).fenchel_young([]), ValueError, "sample must not be empty"),
        (lambda: fenchel.SparsePoisson(mu=3).fenchel_young([2, -1]), ValueError, "must not be negative, got -1"),
        (lambda: fenchel.SparsePoisson(mu=3).cross_omega(fenchel.BetaGaussian(2)), TypeError, "target must be"),
        (lambda: fenchel.SparsePoisson(mu=3).moment(-1), ValueError, "must not be negative, got -1"),
        (lambda: fenchel.SparsePoisson(mu=3).tsallis_entropy(0), ValueError, "order must be positive, got 0"),
        (lambda: fenchel.SparsePoisson(1, 3).escort(0), ValueError, "beta must be positive .*, got 0"),
        (lambda: fenchel.SparsePoisson(mu=3).rvs(-1), ValueError, "size must not be negative, got -1"),
        (lambda: fenchel.IntegerTable(0, [1, -1]), ValueError, "probabilities\\[1\\] must be .*, got -1"),
        (lambda: fenchel.IntegerTable(0, []), ValueError, "sum of the probabilities must be positive"),
        (lambda: fenchel.IntegerTable(2**60, [1]), ValueError, "first must be in"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


HEAVY = golden.cases("heavy_integers.txt")


@pytest.mark.parametrize("case", [c for c in HEAVY if c["case"][0] == 1 or c["case"][3] == 1], ids=lambda c: str(c["case"]))
def test_heavy_tails(case):
    p = member(case)
    np.testing.assert_allclose(p.normalizer(), case["normalizer"][0], rtol=1e-12)
    np.testing.assert_allclose(p.logpmf(case["points"]), case["log_pmf"], rtol=1e-13, atol=1e-12)
    np.testing.assert_allclose(p.logsf(case["points"]), case["log_survival"], rtol=1e-13, atol=1e-12)
    if "moments" in case:
        np.testing.assert_allclose(p.mean(), case["moments"][0], rtol=1e-12)
    else:
        assert p.mean() == math.inf
    if "loss" in case:
        y, loss, _, by_alpha, _ = case["loss"]
        found, gradient = p.fenchel_young(y, return_gradient=True)
        np.testing.assert_allclose([found, gradient["alpha"]], [loss, by_alpha], rtol=1e-11)
        assert p.fenchel_young(p) == 0
    assert p.support()[1] == math.inf
    assert np.isfinite(p.rvs(100, random_state=1)).all()
    assert pickle.loads(pickle.dumps(p)) == p
    q = p.escort(1.5)  # it has tails too
    ratio = 1.5 * p.logpmf([0, 5, 10**6]) - q.logpmf([0, 5, 10**6])
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.7, 1, 1.5, 2, math.inf])
def test_predict_on_integers_is_the_family_of_the_score(alpha):
    p = fenchel.predict(fenchel.Tsallis(alpha), lambda k: k * math.log(3.3) - math.lgamma(k + 1), fenchel.Naturals())
    q = fenchel.SparsePoisson(alpha, 3.3)
    k = np.arange(-2, 40)
    np.testing.assert_allclose(p.pmf(k), q.pmf(k), rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(p.sf(k), q.sf(k), rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose([p.mean(), p.normalizer()], [q.mean(), q.normalizer()], rtol=1e-11)
    np.testing.assert_allclose(p.tsallis_entropy(), q.tsallis_entropy(), rtol=1e-10, atol=1e-15)
    np.testing.assert_array_equal(p.rvs(50, random_state=3), q.rvs(50, random_state=3))
    for target in (4, [1, 2, 2, 7], fenchel.SparsePoisson(0.8, 5)):
        np.testing.assert_allclose(p.fenchel_young(target), q.fenchel_young(target), rtol=1e-10)
        np.testing.assert_allclose(p.cross_omega(target), q.cross_omega(target), rtol=1e-10)
    np.testing.assert_allclose(q.cross_omega(p), q.cross_omega(q), rtol=1e-9)
    assert p.fenchel_young(p) == 0
    assert p.escort(1.25).logpmf(3) <= 0
    assert p == fenchel.predict(fenchel.Tsallis(alpha), p.f, fenchel.Naturals())


def test_predict_on_integers_refuses():
    def fails(f, message, domain=None, regularizer=None, error=ValueError):
        with pytest.raises(error, match=message):
            fenchel.predict(regularizer or fenchel.Tsallis(2), f, domain or fenchel.Integers())

    fails(lambda k: 0.0, "no distribution exists where f does not fall")
    fails(lambda k: math.nan, "must be a number below infinity, got nan")
    fails(lambda k: "a", "f must return a real number, got 'a'", error=TypeError)
    fails(lambda k: 1 / 0, "division by zero", error=ZeroDivisionError)
    fails(lambda k: -abs(k), "regularizer must be Tsallis", regularizer=fenchel.Sobolev(1), error=TypeError)
    fails(3, "f must be callable", error=TypeError)
    with pytest.raises(ValueError, match="in order, got 3 and 1"):
        fenchel.IntegerRange(3, 1)
    p = fenchel.predict(fenchel.Tsallis(1), lambda k: 0.0, fenchel.IntegerRange(1, 6))
    assert p.support() == (1, 6)
    assert p.domain == fenchel.IntegerRange(1, 6) != fenchel.IntegerRange(1, 7)

    def fragile(k):
        if k > 1e6:
            raise RuntimeError("too far")
        return -float(abs(k))

    with pytest.raises(RuntimeError, match="too far"):
        fenchel.predict(fenchel.Tsallis(1), fragile, fenchel.Naturals())
