"""Predictions for scores that are Python functions."""

import copy
import gc
import math
import pickle
import weakref

import numpy as np
import pytest
from support import at_once

import fenchel
from fenchel import Interval, Sobolev, TotalVariation, Tsallis

ALPHAS = [0.8, 1, np.nextafter(1, 2), 1 + 1e-8, 4 / 3, 1.5, 2, 5, 30]


def parabola(t):
    return -((t - 0.4) ** 2) / 3


def two_hills(t):
    return 3 * t**2 - t**4


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_quadratic_score_gives_the_beta_gaussian(alpha):
    p, exact = fenchel.predict(Tsallis(alpha), parabola), fenchel.BetaGaussian(alpha, 0.4, 1.5)
    t = exact.ppf(np.linspace(0.01, 0.99, 33))
    for name in ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf"):
        np.testing.assert_allclose(getattr(p, name)(t), getattr(exact, name)(t), rtol=1e-8, atol=1e-9)
    u = np.linspace(0.05, 0.95, 7)
    np.testing.assert_allclose(p.ppf(u), exact.ppf(u), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(p.support(), exact.support(), rtol=1e-8)
    assert (p.mean(), p.var(), p.mode()) == pytest.approx((exact.mean(), exact.var(), 0.4), abs=1e-7)
    assert p.entropy() == pytest.approx(exact.entropy(), abs=1e-8)
    assert p.tsallis_entropy(2) == pytest.approx(exact.tsallis_entropy(2), abs=1e-8)


@pytest.mark.parametrize("alpha", [1, 1.5, 2, 5])
def test_the_density_is_the_deformed_exponential_of_the_score(alpha):
    p = fenchel.predict(Tsallis(alpha), two_hills)
    t = p.ppf(np.linspace(0.1, 0.9, 6))
    # log_{2-alpha}(p) = f - A with one A everywhere on the support.
    logarithm = np.log(p.pdf(t)) if alpha == 1 else (p.pdf(t) ** (alpha - 1) - 1) / (alpha - 1)
    np.testing.assert_allclose(np.ptp(logarithm - two_hills(t)), 0, atol=1e-8)


def test_a_prediction_that_jumps_at_the_ends_of_its_domain_has_no_loss_against_itself():
    for gamma in (2, 5.78, 26.4):
        p = fenchel.predict(Sobolev(gamma), lambda t: -t * t / 2, Interval(-2, 3))
        assert p.pdf(-2) > 0.1 and p.roughness() == math.inf
        assert p.fenchel_young(p) == pytest.approx(0, abs=1e-9)


def test_intervals_end_after_they_begin():
    p = fenchel.predict(Tsallis(3.2379471853705697), lambda t: t * t * (1 - t * t), Interval(-2, 3))
    (_, left), (right, _) = p.pieces()  # the median is any number between
    for confidence in (0, 1e-300, 1e-16):
        assert p.interval(confidence) == pytest.approx((left, right))


LARGE = {TotalVariation: fenchel.CappedParabola, Sobolev: fenchel.SmoothParabola}


@pytest.mark.parametrize("regularizer", [TotalVariation, Sobolev])
@pytest.mark.parametrize("gamma", [0, 0.1, 1, 3])
def test_a_quadratic_score_gives_the_capped_or_smooth_parabola(regularizer, gamma):
    exact, target = LARGE[regularizer](gamma, 0.4, 1.5), fenchel.BetaGaussian(2, 0.2)
    for domain in (fenchel.Line(), Interval(-6, 7)):
        p = fenchel.predict(regularizer(gamma), parabola, domain)
        t = np.linspace(*exact.support(), 41)
        np.testing.assert_allclose(p.pdf(t), exact.pdf(t), atol=1e-7)
        np.testing.assert_allclose(p.support(), exact.support(), atol=1e-5)
        assert p.cdf(math.inf) == 1 and p.tsallis_entropy() == pytest.approx(exact.tsallis_entropy(), abs=1e-8)
        for loss in ("fenchel_young", "cross_omega"):
            value, gradient = getattr(p, loss)(target, return_gradient=True)
            expected, slopes = getattr(exact, loss)(target, return_gradient=True)
            assert value == pytest.approx(expected, abs=1e-7) and gradient.keys() == {"gamma"}
            assert gradient["gamma"] == pytest.approx(slopes["gamma"], abs=1e-6)


def test_the_error_is_certified():
    p = fenchel.predict(Tsallis(2), lambda t: -1e6 * max(abs(t) - 1, 0) ** 2)
    assert abs(p.mean()) < 1e-10 and 0 <= p.error <= 1e-10
    assert fenchel.predict(Tsallis(0.34), lambda t: -t * t).var() == pytest.approx(120.349641698525, rel=1e-9)
    with pytest.raises(fenchel.ConvergenceError, match="the number of turning points of f must be at most 8192"):
        fenchel.predict(Tsallis(2), math.cos, Interval(-1e6, 1e6))


@pytest.mark.parametrize("p", [fenchel.BetaGaussian(2), fenchel.predict(Tsallis(2), lambda t: -t * t / 2)])
def test_expectations_of_narrow_bumps(p):
    def bump(t):
        return math.exp(-(((t - 0.3) / 1e-4) ** 2))

    mass = 1e-4 * math.sqrt(math.pi) * p.pdf(0.3)
    assert p.expect(bump) == pytest.approx(mass, rel=1e-7)
    assert p.expect(lambda t: 1 + bump(t), points=[0.3]) - 1 == pytest.approx(mass, rel=1e-5)
    assert p.expect(lambda t: t > 0.2) == pytest.approx(p.sf(0.2), rel=1e-9)
    with pytest.raises(ValueError, match="points must be finite"):
        p.expect(bump, points=[math.nan])
    with pytest.raises(ValueError, match="points must be a vector"):
        p.expect(bump, points=0.3)


def test_a_temperature_divides_the_score():
    for regularizer in (Tsallis(1.5, 3), TotalVariation(0.4, 3), Sobolev(0.4, 3)):
        p = fenchel.predict(regularizer, two_hills)
        cold = fenchel.predict(type(regularizer)(*regularizer._values()[:1]), lambda t: two_hills(t) / 3)
        np.testing.assert_allclose(p.pdf([-1, 0, 0.5, 1.2]), cold.pdf([-1, 0, 0.5, 1.2]), atol=1e-7)


def test_regularizers_and_domains_are_values():
    for value in (Tsallis(), TotalVariation(0.3, 2), Sobolev(gamma=2), fenchel.Line(), Interval(-1, math.inf)):
        assert pickle.loads(pickle.dumps(value)) == value == copy.deepcopy(value) != Interval(7, 8)
        assert eval(repr(value), {**vars(fenchel), "inf": math.inf}) == value
    assert Tsallis() == Tsallis(2) and TotalVariation() == TotalVariation(1) and Sobolev() == Sobolev(1)


def test_a_support_with_a_gap():
    p = fenchel.predict(Tsallis(2), two_hills)
    (a, b), (c, d) = p.pieces()
    assert p.support() == (a, d) and a < b < 0 < c < d
    assert p.pdf(0) == 0 and p.logpdf(0) == -math.inf and p.cdf(0) == pytest.approx(0.5)
    step = (b - a) / 100_000
    t = a + (np.arange(100_000) + 0.5) * step
    assert np.sum(p.pdf(t)) * step == pytest.approx(0.5, rel=1e-8)


def test_domains_and_masks():
    uniform = fenchel.predict(Tsallis(2), lambda t: 0.0, Interval(0, 4))
    np.testing.assert_allclose(uniform.pdf([-1, 1, 3, 5]), [0, 0.25, 0.25, 0])
    half = fenchel.predict(Tsallis(1), lambda t: -t if t >= 0 else -math.inf)
    np.testing.assert_allclose(half.pdf([-1, 0.5, 2]), [0, math.exp(-0.5), math.exp(-2)], rtol=1e-7)
    ray = fenchel.predict(Tsallis(1), lambda t: -t, Interval(0, math.inf))
    assert ray.cdf(1) == pytest.approx(1 - math.exp(-1))


def test_numpy_scalars_and_functions_are_fine():
    expected = fenchel.predict(Tsallis(2), lambda t: -abs(t)).pdf([0, 0.5])
    for f in (lambda t: -np.abs(t), lambda t: np.float32(-1) * np.abs(np.float64(t)), lambda t: -np.array(abs(t))):
        np.testing.assert_allclose(fenchel.predict(Tsallis(2), f).pdf([0, 0.5]), expected, rtol=1e-6)
    assert fenchel.predict(Tsallis(2), lambda t: -int(abs(t) * 2), Interval(-1, 1)).pdf(0.1) == pytest.approx(1)


class Stop(Exception):
    pass


def raising_after(count, error):
    calls = 0

    def f(t):
        nonlocal calls
        calls += 1
        if calls > count:
            raise error
        return -t * t

    return f


@pytest.mark.parametrize("error", [Stop("enough"), KeyError(1), fenchel.ConvergenceError("mine"), KeyboardInterrupt()])
def test_what_f_raises_comes_back(error):
    needed = 0

    def counting(t):
        nonlocal needed
        needed += 1
        return -t * t

    fenchel.predict(Tsallis(2), counting)
    for count in (0, 1, 20, needed // 2, needed - 1):
        with pytest.raises(type(error)) as caught:
            fenchel.predict(Tsallis(2), raising_after(count, error))
        assert caught.value is error
    p = fenchel.predict(Tsallis(2), raising_after(needed, error))
    other = fenchel.BetaGaussian(2)
    calls = [
        lambda: p.pdf(0.1),
        lambda: p.logpdf([0.1]),
        lambda: p.cdf(0.1),
        lambda: p.ppf(0.3),
        lambda: p.rvs(3, 1),
        p.mean,
        p.var,
        p.entropy,
        p.total_variation,
        p.roughness,
        lambda: p.tsallis_entropy(2),
        lambda: p.escort(2),
        lambda: p.expect(lambda t: t),
        lambda: p.fenchel_young(other),
        lambda: p.cross_omega(0.3),
        lambda: other.fenchel_young(p),
        lambda: fenchel.CappedParabola(1).fenchel_young(p),
        lambda: fenchel.SmoothTriangular(1).fenchel_young(p),
        lambda: fenchel.TruncatedGaussian(2).cross_omega(p),
    ]
    for call in calls:
        with pytest.raises(type(error)) as caught:
            call()
        assert caught.value is error


@pytest.mark.parametrize("score", [None, parabola])
def test_what_the_function_of_an_expectation_raises_comes_back(score):
    p = fenchel.predict(Tsallis(2), score) if score else fenchel.CappedParabola(1)
    error = Stop()
    with pytest.raises(Stop) as caught:
        p.expect(raising_after(5, error))
    assert caught.value is error
    with pytest.raises(TypeError, match="func must return a real number, got None"):
        p.expect(lambda t: None)
    with pytest.raises(ValueError, match="must be a number"):
        p.expect(lambda t: math.nan)


def test_bad_arguments():
    with pytest.raises(TypeError, match="f must be callable, got 3"):
        fenchel.predict(Tsallis(2), 3)
    for answer in (None, "1", 1j, [1.0]):
        with pytest.raises(TypeError, match="f must return a real number"):
            fenchel.predict(Tsallis(2), lambda t: answer)
    for answer in (math.nan, math.inf):
        with pytest.raises(ValueError, match=r"f\(.*must be a number below infinity"):
            fenchel.predict(Tsallis(2), lambda t: answer)
    for alpha in (0, -1, math.nan):
        with pytest.raises(ValueError, match="alpha"):
            fenchel.predict(Tsallis(alpha), parabola)
    for a, b in ((1, 1), (2, 1), (math.nan, 1), (0, math.nan)):
        with pytest.raises(ValueError, match="lower|upper"):
            fenchel.predict(Tsallis(2), parabola, Interval(a, b))
    with pytest.raises(ValueError, match="no distribution exists"):
        fenchel.predict(Tsallis(2), lambda t: 0.0)
    with pytest.raises(TypeError, match="alpha must be a real number"):
        fenchel.predict(Tsallis("2"), parabola)
    with pytest.raises(TypeError, match="regularizer must be Tsallis, TotalVariation or Sobolev, got 2"):
        fenchel.predict(2, parabola)
    with pytest.raises(TypeError, match=r"domain must be Line\(\) or an Interval, got 0"):
        fenchel.predict(Tsallis(2), parabola, 0)
    for gamma in (-1, math.nan, math.inf):
        for regularizer in (TotalVariation, Sobolev):
            with pytest.raises(ValueError, match="gamma must be"):
                regularizer(gamma)


def test_pickles_where_f_does():
    p = fenchel.predict(Tsallis(1.5), parabola, Interval(-2, 3))
    for other in (pickle.loads(pickle.dumps(p)), copy.deepcopy(p), copy.copy(p)):
        assert other == p and hash(other) == hash(p)
        assert (other.regularizer, other.f, other.domain) == (Tsallis(1.5), parabola, Interval(-2, 3))
        np.testing.assert_array_equal(other.pdf([0, 0.5]), p.pdf([0, 0.5]))
    assert repr(p).startswith("NumericDensity(regularizer=Tsallis(alpha=1.5, temperature=1.0), f=<function parabola")
    assert p != fenchel.predict(Tsallis(1.5), parabola) and p != fenchel.predict(Tsallis(2), parabola, Interval(-2, 3))
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(fenchel.predict(Tsallis(2), lambda t: -t * t))


class Score:
    def __call__(self, t):
        return -t * t


def test_f_is_freed():
    f = Score()
    reference = weakref.ref(f)
    p = fenchel.predict(Tsallis(2), f)
    escort = p.escort(0.5)
    core = escort._core
    del f, p, escort
    assert core.pdf(np.zeros(1))[0] > 0 and reference() is not None
    del core
    assert reference() is None


def test_a_cycle_is_freed():
    f = Score()
    reference = weakref.ref(f)
    f.density = fenchel.predict(Tsallis(2), f)
    del f
    gc.collect()
    assert reference() is None


def test_many_predictions_do_not_leak():
    scores = (Score() for _ in range(100))
    created = [weakref.ref(f) for f in scores if fenchel.predict(Tsallis(2), f, Interval(-1, 1)).pdf(0) > 0]
    assert not any(reference() for reference in created)


def test_threads_at_once():
    p, t = fenchel.predict(Tsallis(2), parabola), np.linspace(-1, 1, 200)
    for density, distribution in at_once(4, lambda: (fenchel.predict(Tsallis(2), parabola).pdf(t), p.cdf(t))):
        np.testing.assert_array_equal(density, p.pdf(t))
        np.testing.assert_array_equal(distribution, p.cdf(t))


def three_hills(x):
    centres = np.array([[0, 0], [2.2, 0.5], [0.6, 2]])
    return np.logaddexp.reduce([-2 * ((x - c) ** 2).sum(-1) for c in centres]) * 1.5


@pytest.mark.parametrize("alpha", [1, 1.5, 2, math.inf])
def test_a_quadratic_score_in_the_plane_gives_the_beta_gaussian(alpha):
    mu, Sigma = np.array([0.3, -1]), np.array([[1, 0.4], [0.4, 0.7]])
    p = fenchel.predict(
        Tsallis(alpha),
        lambda x: -np.einsum("ni,ij,nj->n", x - mu, np.linalg.inv(Sigma), x - mu) / 2,
        fenchel.Euclidean(2),
    )
    exact = fenchel.MultivariateBetaGaussian(alpha, mu, Sigma)
    x = exact.rvs(20, random_state=1)
    np.testing.assert_allclose(p.pdf(x), exact.pdf(x), rtol=0, atol=1e-7)
    np.testing.assert_allclose(p.mean(), mu, atol=1e-7)
    np.testing.assert_allclose(p.cov(), exact.cov(), rtol=1e-6)
    np.testing.assert_allclose(p.tsallis_entropy(2), exact.tsallis_entropy(2), rtol=0, atol=1e-7)
    assert p.fenchel_young(p) == pytest.approx(0, abs=1e-7)
    assert p.cross_omega([0, 0]) == pytest.approx(exact.cross_omega([0, 0]), abs=1e-7)


def test_three_hills_in_the_plane():
    p = fenchel.predict(Tsallis(2), three_hills, fenchel.Euclidean(2))
    assert p.modes().shape == (3, 2)
    edges = p.support().contours()
    grid = np.stack(np.meshgrid(np.linspace(-2, 4, 601), np.linspace(-2, 4, 601)), -1)
    assert p.pdf(grid).sum() * 1e-4 == pytest.approx(1, abs=1e-4)
    assert p.expect(lambda x: x[:, 0]) == pytest.approx(p.mean()[0], abs=1e-7)
    assert all(line.shape[1] == 2 for line in edges)
    draws = p.rvs(500, random_state=3)
    assert p.support().contains(draws).all()
    np.testing.assert_array_equal(draws[:5], p.rvs(5, random_state=3))
    np.testing.assert_allclose(draws.mean(0), p.mean(), atol=0.2)


def test_infinite_alpha_on_the_line():
    p = fenchel.predict(Tsallis(math.inf), two_hills)
    assert len(p.pieces()) == 2
    assert sum(b - a for a, b in p.pieces()) == pytest.approx(1)
    np.testing.assert_allclose(p.pdf([0, 1.2]), [0, 1])


def test_scores_of_points_are_checked():
    plane = fenchel.Euclidean(2)
    with pytest.raises(ValueError, match="must be 2 or 3"):
        fenchel.predict(Tsallis(2), three_hills, fenchel.Euclidean(4))
    with pytest.raises(TypeError, match="must be Tsallis"):
        fenchel.predict(Sobolev(1), three_hills, plane)
    with pytest.raises(ValueError, match="one number for each point"):
        fenchel.predict(Tsallis(2), lambda x: x, plane)
    with pytest.raises(ZeroDivisionError):
        fenchel.predict(Tsallis(2), lambda x: 1 / 0, plane)
    with pytest.raises(ValueError, match="must be above lower"):
        fenchel.Box([0, 1], [1, 0])
