"""fenchel.stats in the new style of SciPy, make_distribution."""

import pickle

import numpy as np
import pytest
import support
from support import close

import fenchel

scipy = pytest.importorskip("scipy", minversion="1.16")

import scipy.stats as st  # noqa: E402

from fenchel import stats  # noqa: E402

pytestmark = pytest.mark.filterwarnings("error")

ALPHAS = [0.8, *support.ALPHAS, np.inf]
LINE = [
    *(fenchel.BetaGaussian(alpha, 0.4, 3) for alpha in ALPHAS),
    *(fenchel.BetaLaplace(alpha, -0.3, 2.5) for alpha in (0.9, 1, 2)),
    fenchel.Triangular(1, 4),
    fenchel.TruncatedGaussian(2, 0.2, 5),
    fenchel.CappedParabola(0.3, -0.7, 2.5**2),
    fenchel.CappedTriangular(0.3, -0.7, 2.5),
    fenchel.SmoothParabola(0.3, -0.7, 2.5**2),
    fenchel.SmoothTriangular(0.3, -0.7, 2.5),
]
INTEGERS = [fenchel.SparsePoisson(1.5, 3.3), fenchel.SparsePoisson(1, 3.3), fenchel.SparseIntegerGaussian(2, -2.2, 20)]
OLD = {"ccdf": "sf", "logccdf": "logsf", "icdf": "ppf", "iccdf": "isf", "variance": "var"}


def new(p):
    return getattr(stats, type(p).__name__)(**{name: getattr(p, name) for name in p._parameters})


@pytest.mark.parametrize("p", LINE, ids=repr)
def test_it_has_the_numbers_of_the_distribution(p):
    variable = new(p)
    q = np.linspace(0.003, 0.997, 40).reshape(8, 5)
    x = p.ppf(q)
    for name in ("pdf", "logpdf", "cdf", "ccdf", "logcdf", "logccdf"):
        np.testing.assert_array_equal(getattr(variable, name)(x), getattr(p, OLD.get(name, name))(x))
    for name in ("icdf", "iccdf"):
        np.testing.assert_array_equal(getattr(variable, name)(q), getattr(p, OLD[name])(q))
    for name in ("mean", "median", "mode", "variance", "skewness", "kurtosis", "entropy", "support"):
        close(getattr(variable, name)(), getattr(p, OLD.get(name, name))())
    close(variable.moment(4), p.moment(4))
    close(variable.moment(4, kind="central"), p.kurtosis() * p.var() ** 2)
    close(variable.cdf(x[0], x[1]), p.cdf(x[1]) - p.cdf(x[0]), 1e-10)


@pytest.mark.parametrize("p", INTEGERS, ids=repr)
def test_integers_have_the_numbers_of_the_distribution(p):
    variable = new(p)
    k = np.arange(-9.0, 12)
    for name in ("pmf", "cdf", "ccdf"):
        close(getattr(variable, name)(k), getattr(p, OLD.get(name, name))(k))
    close(variable.icdf([0.1, 0.5, 0.9]), p.ppf([0.1, 0.5, 0.9]))
    for name in ("mean", "variance", "skewness", "kurtosis", "entropy", "support"):
        close(getattr(variable, name)(), getattr(p, OLD.get(name, name))(), 1e-10)
    assert variable.pmf(0.5) == 0
    x = variable.sample(3000, rng=np.random.default_rng(3))
    assert abs(x.mean() - p.mean()) < 5 * p.std() / 3000**0.5


def test_shapes_alone_give_the_standard_member():
    variable = stats.BetaGaussian(alpha=2.0)
    assert variable.mu == 0 and variable.sigma2 == 1
    assert variable.support() == fenchel.BetaGaussian(2).support()
    assert repr(variable) == "BetaGaussian(alpha=np.float64(2.0))" and str(variable) == "BetaGaussian(alpha=2.0)"
    close(stats.CappedParabola(gamma=[0.1, 3.0]).pdf(0.2), [fenchel.CappedParabola(g).pdf(0.2) for g in (0.1, 3)])
    with pytest.raises(ValueError, match="do not match"):
        stats.BetaGaussian(alpha=2.0, sigma2=1.0)


def test_arrays_of_parameters_with_their_own_supports():
    alpha, mu = np.array([[0.8], [1.0], [2.0], [5.0]]), np.array([0.0, 0.5, -1.0])
    variable = stats.BetaGaussian(alpha=alpha, mu=mu, sigma2=2.0)
    lower, upper = variable.support()
    x = np.linspace(-3, 3, 7).reshape(7, 1, 1)
    q, draws = variable.icdf(0.3), variable.sample(2000, rng=np.random.default_rng(4))
    pdf, logcdf, entropy = variable.pdf(x), variable.logcdf(x), variable.entropy()
    assert pdf.shape == (7, 4, 3) and draws.shape == (2000, 4, 3)
    for i in range(4):
        for j in range(3):
            p = fenchel.BetaGaussian(alpha[i, 0], mu[j], 2)
            assert (lower[i, j], upper[i, j], q[i, j], entropy[i, j]) == (*p.support(), p.ppf(0.3), p.entropy())
            np.testing.assert_array_equal(pdf[:, i, j], p.pdf(x[:, 0, 0]))
            np.testing.assert_array_equal(logcdf[:, i, j], p.logcdf(x[:, 0, 0]))
            assert st.kstest(draws[:, i, j], p.cdf).pvalue > 1e-4


def test_transforms():
    variable, p = stats.BetaGaussian(alpha=2.0, mu=0.3, sigma2=2.0), fenchel.BetaGaussian(2, 0.3, 2)
    x = np.linspace(-2, 4, 13)
    double = variable * 2 + 1
    close(double.pdf(x), p.pdf((x - 1) / 2) / 2)
    close(double.icdf(0.2), 2 * p.ppf(0.2) + 1)
    close(double.support(), [2 * end + 1 for end in p.support()])
    close((-variable).cdf(x), p.sf(-x))
    close(st.truncate(variable, lb=0.5).ccdf(0.9), p.sf(0.9) / p.sf(0.5), 1e-9)
    close(st.exp(variable).cdf(2.0), p.cdf(np.log(2)))
    close(st.Mixture([variable, st.Normal()], weights=[0.5, 0.5]).pdf(0.1), (p.pdf(0.1) + st.norm.pdf(0.1)) / 2)
    close(st.order_statistic(variable, n=1, r=1).mean(), 0.3, 1e-6)


def test_draws():
    variable = stats.BetaLaplace(alpha=1.5)
    a, b = (variable.sample((3, 4), rng=np.random.default_rng(7)) for _ in range(2))
    assert a.shape == (3, 4)
    np.testing.assert_array_equal(a, b)
    assert np.ndim(variable.sample(rng=1)) == 0
    assert st.kstest(variable.sample(2000, rng=1), variable.cdf).pvalue > 0.01
    quasi = variable.sample(64, rng=st.qmc.Sobol(1, seed=1))
    assert abs(quasi.mean()) < 0.05


@pytest.mark.parametrize("policy", [None, "skip_all"])
def test_validation_policies(policy):
    alpha = np.asarray(1.5)
    variable = stats.BetaGaussian(alpha=alpha, mu=np.asarray(0.0), sigma2=np.asarray(1.0), validation_policy=policy)
    p = fenchel.BetaGaussian(1.5)
    assert variable.pdf(np.asarray(0.2)) == p.pdf(0.2) and variable.icdf(np.asarray(0.2)) == p.ppf(0.2)


def test_what_is_no_member_is_nan():
    variable = stats.BetaGaussian(alpha=[-1.0, 0.0, np.nan, 2.0], mu=0.0, sigma2=[1.0, 1.0, 1.0, -1.0])
    for name in ("pdf", "cdf", "icdf"):
        assert np.isnan(getattr(variable, name)(0.2)).all()
    assert np.isnan(variable.mean()).all() and np.isnan(variable.support()).all()
    assert np.isnan(stats.BetaGaussian(alpha=2.0).icdf([-0.1, 1.1])).all()
    assert np.isnan(stats.SparsePoisson(alpha=[1.0, -0.5], mu=[-1.0, 2.0]).pmf(1)).all()


def test_pickles_and_names():
    for p in (*LINE, *INTEGERS):
        variable = new(p)
        cdf = variable.cdf(1.0)  # SciPy keeps the method, which is pickled with it
        again = pickle.loads(pickle.dumps(variable))
        assert repr(again) == repr(variable) and again.cdf(1.0) == cdf
    assert stats.BetaGaussian is stats.BetaGaussian
    assert {"BetaGaussian", "SparsePoisson", "beta_gaussian", "frozen"} <= set(dir(stats))
    with pytest.raises(AttributeError, match="no attribute 'Gaussian'"):
        stats.Gaussian


def test_an_older_scipy_is_named(monkeypatch):
    monkeypatch.setattr(scipy, "__version__", "1.15.3")
    monkeypatch.delattr(stats, "BetaGaussian", raising=False)
    with pytest.raises(ImportError, match="BetaGaussian needs SciPy >= 1.16, got 1.15.3; .*beta_gaussian does not"):
        stats.BetaGaussian
