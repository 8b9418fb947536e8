"""Distributions on the line: laws, arguments and results."""

import copy
import math
import pickle
import resource

import numpy as np
import pytest
from support import ALPHAS, at_once, hills

import fenchel

GAMMA_FAMILIES = [fenchel.CappedTriangular, fenchel.CappedParabola, fenchel.SmoothTriangular, fenchel.SmoothParabola]


DISTRIBUTIONS = [
    *(fenchel.BetaGaussian(alpha, mu=0.3, sigma2=2) for alpha in [0.8, *ALPHAS, math.inf]),
    *(fenchel.BetaLaplace(alpha, mu=-0.2, b=1.5) for alpha in [0.9, *ALPHAS, math.inf]),
    fenchel.Uniform(-0.7, 0.4),
    fenchel.Triangular(mu=1, b=0.6),
    *(fenchel.TruncatedGaussian(kappa, mu=0.5, sigma2=0.3) for kappa in (1 + 1e-6, 2, 1e5)),
    *(family(gamma, 0.25, 0.8) for family in GAMMA_FAMILIES for gamma in (0, 0.4, 30)),
    *(fenchel.predict(fenchel.Tsallis(alpha), hills) for alpha in (1, 1.5, 2)),
    fenchel.SmoothParabola(0.5).escort(0.5),
]
every_distribution = pytest.mark.parametrize("p", DISTRIBUTIONS, ids=repr)


def integrate(p, f, size=20000):
    """int f over the support of p, by the midpoint rule in s for t = median + sinh(s)."""
    centre = p.median()
    lower, upper = np.arcsinh(np.clip(np.array(p.support()) - centre, -1e15, 1e15))
    step = (upper - lower) / size
    s = lower + (np.arange(size) + 0.5) * step
    return float(np.sum(f(centre + np.sinh(s)) * np.cosh(s)) * step)


@every_distribution
def test_mass_is_one(p):
    assert integrate(p, p.pdf) == pytest.approx(1, rel=1e-5)


@every_distribution
def test_moments_are_integrals(p):
    mean = integrate(p, lambda t: t * p.pdf(t))
    assert p.mean() == pytest.approx(mean, rel=1e-5, abs=1e-5)
    assert p.var() == pytest.approx(integrate(p, lambda t: (t - p.mean()) ** 2 * p.pdf(t)), rel=2e-5)
    assert p.std() == math.sqrt(p.var())
    assert p.moment(3) == pytest.approx(integrate(p, lambda t: t**3 * p.pdf(t)), rel=1e-4, abs=1e-5)
    assert p.moment(0) == 1
    third = integrate(p, lambda t: (t - p.mean()) ** 3 * p.pdf(t))
    assert p.skewness() == pytest.approx(third / p.std() ** 3, abs=1e-4)
    if math.isfinite(p.kurtosis()) and p.kurtosis() < 20:
        fourth = integrate(p, lambda t: (t - p.mean()) ** 4 * p.pdf(t))
        assert p.kurtosis() == pytest.approx(fourth / p.var() ** 2, rel=1e-4)


@every_distribution
def test_entropies_are_integrals(p):
    def shannon(t):
        density = p.pdf(t)
        return -density * np.log(np.where(density > 0, density, 1))

    assert p.entropy() == pytest.approx(integrate(p, shannon), rel=1e-4, abs=1e-4)
    assert p.tsallis_entropy(1) == pytest.approx(p.entropy(), rel=1e-9, abs=1e-9)
    for order in (1.5, 2.0, 3.0):
        brute = (1 - integrate(p, lambda t: p.pdf(t) ** order)) / (order * (order - 1))
        assert p.tsallis_entropy(order) == pytest.approx(brute, rel=1e-4, abs=1e-5)


@every_distribution
def test_quantile_of_cdf(p):
    u = np.linspace(0.01, 0.99, 25).reshape(5, 5)
    np.testing.assert_allclose(p.cdf(p.ppf(u)), u, rtol=1e-8)
    np.testing.assert_allclose(p.sf(p.isf(u)), u, rtol=1e-8)
    assert np.isnan(p.ppf([-0.1, 1.1, np.nan])).all() and np.isnan(p.isf([-0.1, 1.1, np.nan])).all()
    assert p.median() == pytest.approx(p.ppf(0.5), abs=1e-12)
    lower, upper = p.interval(0.9)
    assert p.cdf(upper) - p.cdf(lower) == pytest.approx(0.9, rel=1e-8)
    for end, q in zip(p.support(), (0.0, 1.0)):
        assert p.ppf(q) == pytest.approx(end) and p.isf(1 - q) == pytest.approx(end)


@every_distribution
def test_functions_agree(p):
    t = np.concatenate([p.ppf(np.linspace(0.001, 0.999, 41)), [p.mode()]])
    np.testing.assert_allclose(p.cdf(t) + p.sf(t), 1, rtol=1e-12)
    np.testing.assert_allclose(p.logpdf(t), np.log(p.pdf(t)), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(p.logcdf(t), np.log(p.cdf(t)), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(p.logsf(t), np.log(p.sf(t)), rtol=1e-8, atol=1e-12)
    step = 1e-6
    inner = p.ppf(np.linspace(0.1, 0.9, 15))
    slope = (p.cdf(inner + step) - p.cdf(inner - step)) / (2 * step)
    np.testing.assert_allclose(slope, p.pdf(inner), rtol=1e-4)
    assert (p.pdf(t) <= p.pdf(p.mode()) * (1 + 1e-12)).all()


@every_distribution
def test_off_the_support_and_nan(p):
    lower, upper = p.support()
    t = np.array([v for v in (lower - 1, upper + 1, -np.inf, np.inf) if v < lower or v > upper or math.isinf(v)])
    assert (p.pdf(t) == 0).all() and (p.logpdf(t) == -np.inf).all()
    assert set(p.cdf(t)) <= {0.0, 1.0} and (p.cdf(t) + p.sf(t) == 1).all()
    for f in (p.pdf, p.logpdf, p.cdf, p.sf, p.logcdf, p.logsf, p.ppf, p.isf):
        out = f([0.5, np.nan])
        assert not np.isnan(out[0]) and np.isnan(out[1])


@every_distribution
def test_draws(p):
    draws = p.rvs(4000, random_state=3)
    np.testing.assert_array_equal(draws, p.rvs((40, 100), random_state=np.int64(3)).ravel())
    assert p.rvs(random_state=3) == draws[0]
    for make in (np.random.default_rng, np.random.RandomState):
        generator = make(7)
        first, second = p.rvs(5, generator), p.rvs(5, generator)
        np.testing.assert_array_equal(first, p.rvs(5, make(7)))
        assert (first != second).all()
    assert not np.array_equal(p.rvs(5), p.rvs(5))
    # Kolmogorov-Smirnov: a distance above 1.95 / sqrt(n) has probability 1e-3.
    u = np.sort(p.cdf(draws))
    empirical = np.arange(len(u) + 1) / len(u)
    assert max(np.max(empirical[1:] - u), np.max(u - empirical[:-1])) < 1.95 / math.sqrt(len(u))


@every_distribution
def test_expectations(p):
    assert p.expect(lambda t: 2.0) == pytest.approx(2)
    assert p.expect(math.atan) == pytest.approx(integrate(p, lambda t: np.arctan(t) * p.pdf(t)), rel=1e-4, abs=1e-5)


@every_distribution
def test_variation_and_roughness(p):
    t = np.linspace(p.ppf(1e-6), p.isf(1e-6), 20001)
    values = p.pdf(t)
    assert p.total_variation() == pytest.approx(values[0] + np.sum(np.abs(np.diff(values))) + values[-1], rel=1e-3)
    if math.isfinite(p.roughness()):
        assert p.roughness() == pytest.approx(np.sum(np.diff(values) ** 2) / (t[1] - t[0]), rel=5e-2)
    else:
        assert getattr(p, "alpha", 3) >= 3


@every_distribution
def test_escort_is_a_power(p):
    escort = p.escort(1.5)
    t = p.ppf(np.linspace(0.05, 0.95, 19))
    power = p.pdf(t) ** 1.5 / integrate(p, lambda s: p.pdf(s) ** 1.5)
    np.testing.assert_allclose(escort.pdf(t), power, rtol=1e-4)


@every_distribution
def test_pickles_copies_and_repr(p):
    others = [pickle.loads(pickle.dumps(p)), copy.deepcopy(p), copy.copy(p)]
    if "function" not in repr(p):
        others.append(eval(repr(p), {**vars(fenchel), "inf": math.inf}))
    t = p.ppf(np.linspace(0, 1, 21))
    for other in others:
        assert other == p and hash(other) == hash(p) and type(other) is type(p) and repr(other) == repr(p)
        np.testing.assert_array_equal(other.pdf(t), p.pdf(t))
        assert other.support() == p.support()
    assert p != 3 and len({p, others[0]}) == 1


def test_distributions_differ_by_their_parameters():
    assert len(set(DISTRIBUTIONS)) == len(DISTRIBUTIONS)
    assert fenchel.Triangular(0, 1) != fenchel.BetaLaplace(2, 0, 1)


def test_parameters_cannot_be_set():
    p = fenchel.BetaGaussian(2)
    for name in ("alpha", "mu", "sigma2", "other"):
        with pytest.raises(AttributeError):
            setattr(p, name, 3.0)


@pytest.mark.parametrize("p", [fenchel.BetaGaussian(1.5, 0.3), fenchel.TruncatedGaussian(2)], ids=repr)
@pytest.mark.parametrize("name", ["pdf", "logpdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf"])
def test_shapes(p, name):
    f = getattr(p, name)
    x = np.linspace(0.05, 0.95, 24)
    expected = f(x)
    for scalar in (0.5, np.float64(0.5), np.float32(0.5), np.array(0.5)):
        assert isinstance(f(scalar), float) and f(scalar) == f([0.5])[0]
    assert f(1) == f(True) == f(np.int8(1)) == f([1])[0]
    assert f([]).shape == (0,) and f(np.empty((3, 0, 2))).shape == (3, 0, 2)
    np.testing.assert_array_equal(f(x.reshape(2, 3, 4)), expected.reshape(2, 3, 4))
    np.testing.assert_array_equal(f(x.reshape(4, 6).T), expected.reshape(4, 6).T)
    np.testing.assert_array_equal(f(x[::-2]), expected[::-2])
    np.testing.assert_array_equal(f(list(x)), expected)
    np.testing.assert_array_equal(f(x.astype(">f8")), expected)
    np.testing.assert_array_equal(f(np.broadcast_to(x, (3, 24))), np.broadcast_to(expected, (3, 24)))
    buffer = np.empty(24 * 8 + 1, np.uint8)
    misaligned = buffer[1:].view(np.float64)
    misaligned[:] = x
    np.testing.assert_array_equal(f(misaligned), expected)
    x.flags.writeable = False
    np.testing.assert_array_equal(f(x), expected)
    single = x.astype(np.float32)
    np.testing.assert_array_equal(f(single), f(single.astype(np.float64)))
    for bad in ("0.5", [0.5, "a"], 1j, [None]):
        with pytest.raises(TypeError, match="must be real numbers"):
            f(bad)


def test_sizes():
    p = fenchel.Triangular()
    assert isinstance(p.rvs(), float) and p.rvs(0).shape == (0,) and p.rvs((2, 0)).shape == (2, 0)
    for size in (-1, (2, -1)):
        with pytest.raises(ValueError, match="size"):
            p.rvs(size)
    for state in (-1, 2**64):
        with pytest.raises(ValueError, match="random_state"):
            p.rvs(1, state)
    for state in ("seed", 1.5, True):
        with pytest.raises(TypeError, match="random_state"):
            p.rvs(1, state)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: fenchel.BetaGaussian(-1), "alpha"),
        (lambda: fenchel.BetaGaussian(math.nan), "alpha"),
        (lambda: fenchel.BetaGaussian(2, math.inf), "mu"),
        (lambda: fenchel.BetaGaussian(2, 0, 0), "sigma2"),
        (lambda: fenchel.BetaGaussian.from_variance(0.2, 0, 1), "alpha"),
        (lambda: fenchel.BetaGaussian.from_variance(2, 0, -1), "variance"),
        (lambda: fenchel.BetaGaussian.from_half_width(1, 0, 1), "alpha"),
        (lambda: fenchel.BetaGaussian.from_half_width(2, 0, 0), "half_width"),
        (lambda: fenchel.BetaGaussian.from_canonical(2, [0, 1]), "theta"),
        (lambda: fenchel.BetaGaussian.from_canonical(2, [0, -1, 1]), "theta"),
        (lambda: fenchel.BetaGaussian.student(1), "nu"),
        (lambda: fenchel.Uniform(1, 1), "upper"),
        (lambda: fenchel.BetaLaplace(0.5), "alpha"),
        (lambda: fenchel.BetaLaplace(2, 0, -1), "b"),
        (lambda: fenchel.Triangular(b=0), "b"),
        (lambda: fenchel.TruncatedGaussian(1), "kappa"),
        (lambda: fenchel.TruncatedGaussian(2, sigma2=math.inf), "sigma2"),
        *((lambda family=family: family(1, 0, -1), family._parameters[2]) for family in GAMMA_FAMILIES),
        *((lambda family=family: family(-1), "gamma") for family in GAMMA_FAMILIES),
        *((lambda family=family: family(1, math.nan), "mu") for family in GAMMA_FAMILIES),
        (lambda: fenchel.Triangular().tsallis_entropy(0), "order"),
        (lambda: fenchel.Triangular().interval(1.5), "confidence"),
        (lambda: fenchel.Triangular().moment(-1), "n must not be negative"),
    ],
)
def test_a_bad_value_is_named(make, name):
    with pytest.raises(ValueError, match=rf"\b{name}\b.*(must|got)") as error:
        make()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("family", [fenchel.BetaGaussian, fenchel.BetaLaplace, fenchel.TruncatedGaussian])
@pytest.mark.parametrize("bad", ["2", None, 1j, [2], np.array([2.0])])
def test_a_bad_type_is_named(family, bad):
    with pytest.raises(TypeError, match="mu must be a real number"):
        family(2, bad)
    p = family(2)
    for call in (p.expect, p.moment, p.escort, *([] if bad is None else [p.tsallis_entropy])):
        with pytest.raises(TypeError, match="func|alpha|order"):
            call(bad)


def test_named_members():
    bg = fenchel.BetaGaussian
    assert bg.gaussian(1, 4) == bg(1, 1, 4) and bg.biweight() == bg(1.5) and bg.triweight() == bg(4 / 3)
    assert bg.truncated_parabola() == bg(2) and bg.semicircle() == bg(3)
    assert fenchel.BetaLaplace.laplace(1, 2) == fenchel.BetaLaplace(1, 1, 2)
    assert bg.from_canonical(1.5, bg(1.5, 0.5, 4).canonical_parameters()) == bg(1.5, 0.5, 4)
    assert bg.uniform(0, 0.3) == fenchel.Uniform(0, 0.3) and bg.uniform(0, 0.3).support() == (0, 0.3)
    for made in (bg.from_variance(math.inf, 1, 3), bg.from_half_width(math.inf, 1, 3), bg(2).escort(0)):
        assert type(made) is fenchel.Uniform and pickle.loads(pickle.dumps(made)) == made and made.alpha == math.inf
    for alpha in (0.5, 1, 1.5, 5, math.inf):
        assert bg.from_variance(alpha, 1, 3).var() == pytest.approx(3)
    for alpha in (0.8, 1, 1.5, 5):
        assert fenchel.BetaLaplace.from_variance(alpha, 1, 3).var() == pytest.approx(3)
    np.testing.assert_allclose(bg.from_half_width(1.5, 1, 3).support(), (-2, 4))
    np.testing.assert_allclose(fenchel.BetaLaplace.from_half_width(1.5, 1, 3).support(), (-2, 4))
    np.testing.assert_allclose(fenchel.Triangular.from_half_width(1, 3).support(), (-2, 4))
    assert fenchel.Triangular.from_variance(1, 3).var() == pytest.approx(3)
    assert type(fenchel.Triangular().escort(2)) is fenchel.BetaLaplace
    for family in GAMMA_FAMILIES:
        p = family.from_variance(0.7, 1, 3)
        assert p.var() == pytest.approx(3) and p.gamma == 0.7 and p.mu == 1
        assert pickle.loads(pickle.dumps(p)) == p
    for family in (fenchel.CappedTriangular, fenchel.SmoothTriangular):
        p = family.from_mean_deviation(0.7, 1, 3)
        assert p.expect(lambda t: abs(t - 1)) == pytest.approx(3) and p.b > 0
    assert fenchel.CappedParabola(sigma2=1.3).sigma2 == fenchel.SmoothTriangular(b=1.3).b == 1.3


@pytest.mark.parametrize("family", GAMMA_FAMILIES)
def test_without_gamma_they_are_sparse(family):
    t = np.linspace(-1.5, 1.5, 31)
    sparse = fenchel.Triangular(b=0.64) if "Triangular" in family.__name__ else fenchel.BetaGaussian(2, sigma2=0.64)
    np.testing.assert_allclose(family(0, 0, 0.64).pdf(t), sparse.pdf(t), rtol=1e-13, atol=1e-15)


def test_threads_at_once():
    p, t = fenchel.BetaGaussian(1.7), np.linspace(-2, 2, 5000)

    def work():
        return [p.pdf(t), p.cdf(t), p.ppf(p.cdf(t)), p.rvs(5000, 3)]

    expected = work()
    for found in at_once(4, work):
        np.testing.assert_array_equal(found, expected)


def test_no_leak():
    x = np.linspace(-1, 1, 100)

    def calls(count):
        for i in range(count):
            fenchel.BetaGaussian(1.5, i * 1e-6).pdf(x)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = calls(10_000)
    assert calls(30_000) - before < 4_000  # kilobytes: a leaked result of each call would be 24,000
