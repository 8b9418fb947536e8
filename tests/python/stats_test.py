"""fenchel.stats in the classic style of SciPy: the numbers of the fenchel distributions, and SciPy's uses of them."""

import pickle

import numpy as np
import pytest
import support
from support import close

import fenchel

pytest.importorskip("scipy")

import scipy.optimize  # noqa: E402
import scipy.stats as st  # noqa: E402

from fenchel import stats  # noqa: E402

pytestmark = pytest.mark.filterwarnings("error")

ALPHAS = [0.8, *support.ALPHAS]
GAMMA = [fenchel.CappedParabola, fenchel.CappedTriangular, fenchel.SmoothParabola, fenchel.SmoothTriangular]
LINE = [
    *(fenchel.BetaGaussian(alpha, 0.4, 3) for alpha in [0.2, *ALPHAS, np.inf]),
    fenchel.Uniform(-1, 3),
    *(fenchel.BetaLaplace(alpha, -0.3, 2.5) for alpha in [0.6, *ALPHAS]),
    fenchel.Triangular(1, 4),
    *(fenchel.TruncatedGaussian(kappa, 0.2, 5) for kappa in (1.01, 2, 1e3)),
    *(family(gamma, -0.7, 2.5) for family in GAMMA for gamma in (0, 0.3, 4)),
]
INTEGERS = [
    *(fenchel.SparsePoisson(alpha, 3.3) for alpha in (1, 1 + 1e-8, 1.5, 2, 5)),
    *(fenchel.SparseIntegerGaussian(alpha, -2.2, 20) for alpha in (1, 1.5, 2)),
]
NAMES = [
    "beta_gaussian",
    "beta_laplace",
    "capped_parabola",
    "capped_triangular",
    "smooth_parabola",
    "smooth_triangular",
    "sparse_integer_gaussian",
    "sparse_poisson",
    "triangular",
    "truncated_gaussian",
]
SHAPES = {"alpha": 1.5, "kappa": 2.0, "gamma": 0.5, "mu": 4.0, "sigma2": 3.0}


def shapes_of(distribution):
    return [SHAPES[name] for name in (distribution.shapes or "").split(", ") if name]


@pytest.mark.parametrize("p", LINE, ids=repr)
def test_a_frozen_one_has_the_numbers_of_the_distribution(p):
    frozen = stats.frozen(p)
    x = p.ppf(np.linspace(0.003, 0.997, 40)).reshape(8, 5)
    for name in ("pdf", "cdf", "sf"):
        close(getattr(frozen, name)(x), getattr(p, name)(x))
    for name in ("logpdf", "logcdf", "logsf"):
        np.testing.assert_allclose(getattr(frozen, name)(x), getattr(p, name)(x), rtol=1e-11, atol=1e-12)
    for name in ("ppf", "isf"):
        close(getattr(frozen, name)(p.cdf(x)), getattr(p, name)(p.cdf(x)), 1e-11)
    for name in ("mean", "var", "std", "median", "entropy", "support"):
        close(getattr(frozen, name)(), getattr(p, name)())
    close(frozen.interval(0.9), p.interval(0.9))
    if p.kurtosis() < np.inf:
        close(frozen.stats("sk"), (p.skewness(), p.kurtosis() - 3))
    assert frozen.rvs(5, random_state=1).shape == (5,)


@pytest.mark.parametrize("p", INTEGERS, ids=repr)
def test_frozen_integers_have_the_numbers_of_the_distribution(p):
    frozen = stats.frozen(p)
    k = np.arange(-9, 12)
    for name in ("pmf", "cdf", "sf"):
        close(getattr(frozen, name)(k), getattr(p, name)(k))
    with np.errstate(divide="ignore"):
        close(frozen.logpmf(k), np.log(p.pmf(k)), 1e-10)
    q = np.array([0.01, 0.2, 0.5, 0.93])
    close(frozen.ppf(q), p.ppf(q))
    close(frozen.isf(q), p.isf(q))
    for name in ("mean", "var", "std", "median", "entropy", "support"):
        close(getattr(frozen, name)(), getattr(p, name)())
    close(frozen.stats("sk"), (p.skewness(), p.kurtosis() - 3), 1e-10)
    close(frozen.moment(3), sum(p.pmf(k) * k**3.0) if p.alpha > 1.1 else p.moment(3))
    close(frozen.expect(lambda k: k**2), p.moment(2), 1e-8)
    assert frozen.rvs(5, random_state=1).dtype.kind == "i"
    assert frozen.pmf(0.5) == 0


X = np.linspace(-3.01, 3, 61)


@pytest.mark.parametrize(
    "ours, theirs",
    [
        (stats.beta_gaussian(1, loc=0.5, scale=2), st.norm(0.5, 2)),
        (stats.frozen(fenchel.BetaGaussian.student(5)), st.t(5)),
        (stats.frozen(fenchel.BetaGaussian.from_half_width(3, 0.5, 2)), st.semicircular(0.5, 2)),
        (stats.beta_gaussian(np.inf, loc=0.1), st.uniform(-0.4, 1)),
        (stats.beta_laplace(1, loc=0.5, scale=2), st.laplace(0.5, 2)),
        (stats.beta_laplace(2, loc=0.5, scale=2), st.triang(0.5, loc=-1.5, scale=4)),
        (stats.triangular(loc=0.5, scale=2), st.triang(0.5, loc=-1.5, scale=4)),
    ],
)
def test_special_cases_are_scipys(ours, theirs):
    for name in ("pdf", "cdf", "sf"):
        close(getattr(ours, name)(X), getattr(theirs, name)(X), 1e-9)
    close(ours.ppf([0.1, 0.5, 0.8]), theirs.ppf([0.1, 0.5, 0.8]), 1e-10)
    close(ours.stats("mv"), theirs.stats("mv"), 1e-10)
    close(ours.entropy(), theirs.entropy(), 1e-10)
    close(ours.support(), theirs.support(), 1e-12)


def test_sparse_poisson_of_order_one_is_poisson():
    k = np.arange(20)
    close(stats.sparse_poisson.pmf(k, 1, 3.5), st.poisson.pmf(k, 3.5))
    close(stats.sparse_poisson.sf(k, 1, [[3.5], [7]]), st.poisson.sf(k, [[3.5], [7]]))
    assert stats.sparse_poisson.support(1, 3.5) == (0, np.inf)


@pytest.mark.parametrize("name", NAMES)
def test_mass_is_one_and_moments_are_integrals(name):
    distribution = getattr(stats, name)
    p = distribution(*shapes_of(distribution), loc=1)
    lower, upper = p.support()
    integers = hasattr(distribution, "pmf")
    x = np.arange(lower, upper + 1) if integers else np.linspace(lower, upper, 100_001)
    weights = p.pmf(x) if integers else p.pdf(x) * (x[1] - x[0])
    for n in range(6):
        close(weights @ x**n, p.moment(n) if n else 1, 1e-7)


def test_expectations():
    p = stats.beta_gaussian(1.5, loc=1, scale=2)
    close(p.expect(np.cos), stats.beta_gaussian.expect(np.cos, args=(1.5,), loc=1, scale=2))
    close(p.expect(np.cos), fenchel.BetaGaussian.from_half_width(1.5, 1, p.support()[1] - 1).expect(np.cos), 1e-8)
    p = stats.sparse_poisson(2, 4)
    close(p.expect(np.cos), fenchel.SparsePoisson(mu=4).expect(np.cos))


def test_arrays_of_shapes_are_broadcast():
    alpha, x = np.array([[0.7], [1], [2], [5]]), np.linspace(-1, 1, 7)
    values = stats.beta_gaussian.pdf(x, alpha, loc=0.1, scale=[1, 2, 1, 2, 1, 2, 3])
    for i, a in enumerate(alpha[:, 0]):
        for j, scale in enumerate([1, 2, 1, 2, 1, 2, 3]):
            assert values[i, j] == stats.beta_gaussian.pdf(x[j], a, loc=0.1, scale=scale)
    lower, upper = stats.beta_gaussian.support(alpha)
    for i, a in enumerate(alpha[:, 0]):
        assert (lower[i, 0], upper[i, 0]) == fenchel.BetaGaussian(a).support()
    close(stats.beta_gaussian.std(alpha[:, 0]), [fenchel.BetaGaussian(a).std() for a in alpha[:, 0]])
    close(stats.beta_gaussian.entropy(alpha[:, 0]), [fenchel.BetaGaussian(a).entropy() for a in alpha[:, 0]])
    k = np.arange(8)
    values = stats.sparse_integer_gaussian.pmf(k, [[[1.5]], [[2.0]]], 2.3, [[1.0], [9.0]])
    assert values.shape == (2, 2, 8)
    close(values[1, 0], fenchel.SparseIntegerGaussian(2, 2.3, 1).pmf(k))
    assert stats.beta_gaussian.pdf([], 2).shape == (0,)


def test_equal_shapes_are_one_call(monkeypatch):
    sizes = []
    pdf = fenchel.BetaGaussian.pdf
    monkeypatch.setattr(fenchel.BetaGaussian, "pdf", lambda p, x: sizes.append(np.size(x)) or pdf(p, x))
    alpha = np.repeat([2.0, 3.0, 2.0], 100)
    np.random.default_rng(1).shuffle(alpha)
    x = np.linspace(-0.5, 0.5, 300)
    values = stats.beta_gaussian.pdf(x, alpha)
    assert sorted(sizes) == [100, 200]
    close(values[alpha == 3], pdf(fenchel.BetaGaussian(3), x[alpha == 3]))
    sizes.clear()
    stats.beta_gaussian.pdf(x, 2)
    assert sizes == [300]


def test_what_is_no_member_is_nan():
    assert np.isnan(stats.beta_gaussian.pdf(0.1, [-1, 0, np.nan, -np.inf])).all()
    assert np.isnan(stats.beta_gaussian.pdf(0.1, 2, scale=[-1, np.nan])).all()
    assert np.isnan(stats.beta_gaussian.cdf(np.nan, 2))
    assert np.isnan(stats.beta_gaussian.ppf([-0.1, 1.1], 2)).all()
    assert np.isnan(stats.beta_gaussian.mean(-1)) and np.isnan(stats.beta_gaussian.entropy(-1))
    assert np.isnan(stats.beta_gaussian.support(-1)).all()
    assert np.isnan(stats.beta_laplace.pdf(0, 0.5)) and np.isnan(stats.truncated_gaussian.pdf(0, 1))
    assert np.isnan(stats.capped_parabola.pdf(0, -1)) and np.isnan(stats.smooth_parabola.pdf(0, np.inf))
    assert np.isnan(stats.sparse_poisson.pmf(1, [0, 2, np.nan], [3, 0, 3])).all()
    np.testing.assert_array_equal(np.isnan(stats.sparse_poisson.cdf(1, 2, [3, 0, 3])), [False, True, False])
    with pytest.raises(ValueError, match="Domain error"):
        stats.beta_gaussian.rvs(-1)
    assert stats.beta_gaussian.var(0.3) == np.inf


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState, int])
def test_draws_are_reproducible(make):
    for distribution in (stats.beta_gaussian(1.5, loc=2), stats.sparse_poisson(2, 4)):
        a, b = (distribution.rvs((3, 4), random_state=make(7)) for _ in range(2))
        assert a.shape == (3, 4)
        np.testing.assert_array_equal(a, b)
        assert (a != distribution.rvs((3, 4), random_state=make(8))).any()
    rng = np.random.default_rng(3)
    assert stats.beta_gaussian.rvs(2, random_state=rng) != stats.beta_gaussian.rvs(2, random_state=rng)
    assert np.ndim(stats.beta_gaussian.rvs(2, random_state=rng)) == 0


def test_draws_with_arrays_of_shapes():
    alpha = np.array([0.8, 1, 2, 1e6])
    x = stats.beta_gaussian.rvs(alpha, loc=[0, 1, 2, 3], scale=2, size=(4000, 4), random_state=5)
    for i, a in enumerate(alpha):
        assert st.kstest(x[:, i], stats.beta_gaussian(a, i, 2).cdf).pvalue > 1e-3
    assert len(np.unique(x)) == x.size
    assert stats.beta_gaussian.rvs([[1], [2]], loc=[1, 2, 3], random_state=1).shape == (2, 3)


@pytest.mark.parametrize("name", NAMES)
def test_pickles(name):
    distribution = getattr(stats, name)
    shapes = shapes_of(distribution)
    frozen = distribution(*shapes, loc=1)
    again = pickle.loads(pickle.dumps(frozen))
    assert again.cdf(1.2) == frozen.cdf(1.2) and again.support() == frozen.support()
    assert pickle.loads(pickle.dumps(distribution)).cdf(0.2, *shapes) == distribution.cdf(0.2, *shapes)


def test_tests_of_a_distribution():
    p, other = stats.beta_gaussian(1.5, loc=1, scale=2), stats.beta_gaussian(1.5, loc=1.3, scale=2)
    x = p.rvs(2000, random_state=11)
    for test in (st.kstest, st.ks_1samp, st.cramervonmises):
        assert test(x, p.cdf).pvalue > 0.01 and test(x, other.cdf).pvalue < 1e-3
    (osm, osr), (slope, intercept, r) = st.probplot(x, sparams=(1.5,), dist=stats.beta_gaussian)
    close([slope, intercept], [2, 1], 0.1)
    assert r > 0.999
    assert 1.3 < st.ppcc_max(x, brack=(1.1, 1.6, 3), dist=stats.beta_gaussian) < 1.7
    counts = stats.sparse_poisson(2, 4).rvs(500, random_state=2)
    values, observed = np.unique(counts, return_counts=True)
    expected = 500 * stats.sparse_poisson.pmf(values, 2, 4)
    assert st.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue > 0.01


def sample(distribution, *shapes, size=3000):
    return distribution.rvs(*shapes, loc=1, scale=2, size=size, random_state=21)


def test_fit_matches_moments():
    x = sample(stats.beta_gaussian, 1.5)
    alpha, loc, scale = stats.beta_gaussian.fit(x)
    p = fenchel.BetaGaussian.fit(x, alpha=None)
    fitted = stats.beta_gaussian(alpha, loc, scale)
    assert alpha == p.alpha
    close([fitted.mean(), fitted.std()], [x.mean(), x.std()], 1e-10)
    for name in ("f0", "falpha", "fix_alpha"):
        close(stats.beta_gaussian.fit(x, **{name: 2})[0], 2)
    alpha, loc, scale = stats.beta_gaussian.fit(x, falpha=1.5, loc=3, scale=5)
    close([alpha, loc, scale], [1.5, 1, 2], 0.1)
    with pytest.raises(ValueError, match="fit: alpha is fixed more than once, by f0, falpha"):
        stats.beta_gaussian.fit(x, f0=1, falpha=2)
    with pytest.raises(ValueError, match="finite"):
        stats.beta_gaussian.fit([1, np.nan, 3])
    assert stats.beta_gaussian.fit(np.linspace(0, 1, 100))[0] == np.inf


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith(("sparse", "smooth"))])
def test_fit_with_given_shapes_finds_loc_and_scale(name):
    distribution = getattr(stats, name)
    shapes = shapes_of(distribution)
    fitted = distribution.fit(sample(distribution, *shapes), **{f"f{i}": s for i, s in enumerate(shapes)})
    close(fitted, [*shapes, 1, 2], 0.1)


def test_fit_is_scipys_where_moments_do_not_tell():
    x = sample(stats.beta_gaussian, 1.5, size=200)
    alpha, loc, scale = stats.beta_gaussian.fit(x, falpha=1.5, floc=1)
    assert (alpha, loc) == (1.5, 1) and abs(scale - 2) < 0.2
    alpha, loc, scale = stats.beta_gaussian.fit(x, fscale=2, falpha=1.5)
    assert (alpha, scale) == (1.5, 2) and abs(loc - 1) < 0.2
    likelihood = stats.beta_gaussian.fit(x, method="MLE")
    moments = stats.beta_gaussian.fit(x, falpha=likelihood[0])
    assert stats.beta_gaussian.nnlf(likelihood, x) < stats.beta_gaussian.nnlf(moments, x)
    flat = np.linspace(0, 1, 100)  # moments say alpha = inf, where no minimiser can start
    assert np.isfinite(stats.beta_gaussian.fit(flat, method="MLE")).all()
    x = sample(stats.smooth_triangular, 0.5, size=200)
    gamma, loc, scale = stats.smooth_triangular.fit(x, fgamma=0.5)
    assert gamma == 0.5 and abs(loc - 1) < 0.3 and abs(scale - 2) < 0.3


def evolve(function, bounds, **others):
    return scipy.optimize.differential_evolution(function, bounds, maxiter=15, popsize=6, rng=1, **others)


def test_fit_of_scipy():
    x = sample(stats.beta_gaussian, 2, size=200)
    bounds = {"alpha": (1.1, 4), "loc": (-3, 3), "scale": (0.5, 5)}
    found = st.fit(stats.beta_gaussian, x, bounds, optimizer=evolve)
    assert found.success and found.nllf() < stats.beta_gaussian.nnlf((2, 1, 2), x) + 0.1
    k = stats.sparse_poisson(1.5, 6).rvs(300, random_state=1)
    found = st.fit(stats.sparse_poisson, k, {"mu": (1, 20), "alpha": (1, 3)}, optimizer=evolve)
    close(found.params, [1.5, 6, 0], 0.1)


def test_goodness_of_fit():
    x = sample(stats.beta_gaussian, 1.5, size=200)
    options = {"statistic": "ks", "n_mc_samples": 40}
    rng = np.random.default_rng(2)
    result = st.goodness_of_fit(stats.beta_gaussian, x, known_params={"alpha": 1.5}, rng=rng, **options)
    assert result.pvalue > 0.05 and result.fit_result.params.alpha == 1.5
    assert st.goodness_of_fit(stats.beta_gaussian, x, rng=rng, **options).pvalue > 0.05
    skewed = np.random.default_rng(1).exponential(size=200)
    assert st.goodness_of_fit(stats.beta_gaussian, skewed, rng=rng, **options).pvalue < 0.05


def test_names():
    assert repr(stats.beta_gaussian) == "fenchel.stats.beta_gaussian"
    assert stats.beta_gaussian.__doc__ == "`fenchel.BetaGaussian` in the classic style of `scipy.stats`; shapes: alpha."


def test_frozen_refuses_what_is_no_family():
    with pytest.raises(TypeError, match="frozen: distribution must be one of BetaGaussian, .*, got float"):
        stats.frozen(1.0)


def test_completion_offers_distributions_alone():
    assert set(dir(stats)) == {*stats._FAMILIES, *(family.of.__name__ for family in stats._FAMILIES.values()), "frozen"}
    assert set(stats.__all__) <= set(dir(stats))
