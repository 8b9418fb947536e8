"""Losses on the line: 0 at the prediction, integrals, difference quotients, and the golden numbers of C++."""

import functools
import math

import golden
import numpy as np
import pytest
from support import ALPHAS, hills

import fenchel

CASES = [
    *((fenchel.BetaGaussian, {"alpha": alpha, "mu": 0.3, "sigma2": 2}) for alpha in [0.8, *ALPHAS]),
    *((fenchel.BetaLaplace, {"alpha": alpha, "mu": -0.2, "b": 1.5}) for alpha in [0.9, *ALPHAS]),
    (fenchel.Triangular, {"mu": 0.1, "b": 0.7}),
    *((fenchel.TruncatedGaussian, {"kappa": kappa, "mu": 0.5, "sigma2": 0.3}) for kappa in (1.5, 20)),
    *(
        (family, {scale: 0.8, "gamma": gamma, "mu": 0.25})
        for family, scale in (
            (fenchel.CappedTriangular, "b"),
            (fenchel.CappedParabola, "sigma2"),
            (fenchel.SmoothTriangular, "b"),
            (fenchel.SmoothParabola, "sigma2"),
        )
        for gamma in (0, 0.4)
    ),
]


def cases(chosen):
    return pytest.mark.parametrize(("family", "parameters"), chosen, ids=lambda x: getattr(x, "__name__", str(x)))


every_case = cases(CASES)
OTHERS = [
    fenchel.BetaGaussian(1.5, 0.6, 0.4),
    fenchel.Triangular(0.1, 2),
    fenchel.TruncatedGaussian(3, 0, 0.2),
    fenchel.CappedParabola(0.3, 0.4, 0.7**2),
    fenchel.SmoothTriangular(0.2, -0.1, 1.1),
    fenchel.predict(fenchel.Tsallis(1.5), hills),
    fenchel.SmoothParabola(0.5).escort(0.7),
]
SAMPLE = np.random.default_rng(5).normal(0.3, 0.8, 40)


def order_of(p):
    """The order of the Tsallis part of the regularizer."""
    return getattr(p, "alpha", 2)


def score(p, t):
    if isinstance(p, fenchel.TruncatedGaussian):
        return p.kappa * np.exp(-((t - p.mu) ** 2) / (2 * p.sigma2)) / math.sqrt(2 * math.pi * p.sigma2)
    return -np.abs(t - p.mu) / p.b if hasattr(p, "b") else -((t - p.mu) ** 2) / (2 * p.sigma2)


@functools.cache
def grid(q, size=20000):
    """Points on the support of q, and the density there times their distance."""
    lower, upper = q.support()
    step = (upper - lower) / size
    t = lower + (np.arange(size) + 0.5) * step
    return t, q.pdf(t) * step


@functools.cache
def penalties(q):
    return q.total_variation(), q.roughness() / 2


def regularizer(p, q):
    """Omega(q) of the family of p."""
    gamma = getattr(p, "gamma", 0)
    penalty = penalties(q)["Smooth" in type(p).__name__]
    return -q.tsallis_entropy(order_of(p)) + (gamma * penalty if gamma else 0)


@every_case
def test_zero_exactly_at_the_prediction(family, parameters):
    p = family(**parameters)
    value, gradient = p.fenchel_young(family(**parameters), return_gradient=True)
    assert value == 0 and isinstance(value, float)
    assert set(gradient) == set(parameters)
    for name, derivative in gradient.items():
        assert derivative == pytest.approx(0, abs=1e-7), name


@cases([case for case in CASES if case[1].get("alpha") != 1e6])  # q^alpha overflows
@pytest.mark.parametrize("q", OTHERS, ids=repr)
def test_losses_are_their_integrals(family, parameters, q):
    p = family(**parameters)
    t, weights = grid(q)
    expected_score = np.sum(weights * score(p, t))
    conjugate = p.expect(lambda t: score(p, t)) - regularizer(p, p)
    cross = p.cross_omega(q)
    assert cross == pytest.approx(conjugate - expected_score, rel=1e-5, abs=1e-5)
    loss = p.fenchel_young(q)
    assert loss > 0
    omega = regularizer(p, q)
    assert loss == pytest.approx(cross + omega, rel=1e-6, abs=1e-6) if math.isfinite(omega) else loss == math.inf


@every_case
@pytest.mark.parametrize("target", [OTHERS[1], 0.9, SAMPLE], ids=["triangular", "point", "sample"])
@pytest.mark.parametrize("name", ["fenchel_young", "cross_omega"])
def test_gradients_are_difference_quotients(family, parameters, target, name):
    value, gradient = getattr(family(**parameters), name)(target, return_gradient=True)
    assert value == getattr(family(**parameters), name)(target)
    if math.isinf(value):
        atoms = not isinstance(target, fenchel.LineDistribution)
        assert name == "fenchel_young" and value > 0 and atoms and parameters.get("alpha", 2) >= 1
        return
    for parameter, at in parameters.items():
        if (parameter, at) in (("gamma", 0), ("alpha", 1e6)):
            continue
        step = 1e-5 * max(abs(at), 1)
        above, below = (
            getattr(family(**{**parameters, parameter: at + sign * step}), name)(target) for sign in (1, -1)
        )
        assert gradient[parameter] == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-6), parameter


@every_case
def test_points_and_samples(family, parameters):
    p = family(**parameters)
    assert p.cross_omega(0.9) == pytest.approx(p.cross_omega([0.9]))
    mean = np.mean([p.cross_omega(x) for x in SAMPLE])
    assert p.cross_omega(SAMPLE) == pytest.approx(mean)
    assert p.cross_omega(SAMPLE.reshape(5, 8)) == pytest.approx(mean)
    assert p.cross_omega(list(SAMPLE[::-1])) == pytest.approx(mean)
    assert p.cross_omega(SAMPLE.astype(np.float32)) == pytest.approx(mean, rel=1e-5)
    assert p.cross_omega(1) == p.cross_omega(np.int32(1)) == p.cross_omega(np.array(1.0))
    for bad, error in (([], ValueError), ([1, math.nan], ValueError), (math.nan, ValueError), (math.inf, ValueError),
                       ("x", TypeError), (None, TypeError), (1j, TypeError)):
        for loss in (p.fenchel_young, p.cross_omega):
            with pytest.raises(error, match="target must"):
                loss(bad)


def test_shannon_is_the_likelihood():
    for p in (fenchel.BetaGaussian(1, 0.3, 2), fenchel.BetaLaplace(1, 0.3, 2)):
        assert p.cross_omega(SAMPLE) == pytest.approx(-np.mean(p.logpdf(SAMPLE)))


def test_losses_of_python_functions():
    for alpha in (1, 1.5, 2):
        p = fenchel.predict(fenchel.Tsallis(alpha), lambda t: -((t - 0.3) ** 2) / 4)
        exact = fenchel.BetaGaussian(alpha, 0.3, 2)
        assert p.fenchel_young(p) == pytest.approx(0, abs=1e-8)
        for target in (*OTHERS, 0.9, SAMPLE):
            for name in ("fenchel_young", "cross_omega"):
                value, gradient = getattr(p, name)(target, return_gradient=True)
                value_exact, gradient_exact = getattr(exact, name)(target, return_gradient=True)
                assert value == pytest.approx(value_exact, rel=1e-7)
                if math.isfinite(value):
                    assert gradient == {"alpha": pytest.approx(gradient_exact["alpha"], rel=1e-6, abs=1e-8)}
    masked = fenchel.predict(fenchel.Tsallis(2), lambda t: -t * t, fenchel.Interval(-1, 1))
    assert masked.cross_omega(2.0) == math.inf and masked.cross_omega(0.5) < math.inf


def test_what_has_no_score_has_no_loss():
    for p in (fenchel.Uniform(0, 2), fenchel.CappedParabola(1).escort(0.5)):
        for loss in (p.fenchel_young, p.cross_omega):
            with pytest.raises(TypeError, match="prediction of a score"):
                loss(0.5)
        assert fenchel.BetaGaussian(2).fenchel_young(p) > 0
    assert fenchel.BetaGaussian(math.inf).cross_omega(0.2) < math.inf


def test_sets_of_parameters_where_the_loss_is_infinite():
    with pytest.raises(ValueError, match="alpha"):
        fenchel.BetaGaussian(0.3).cross_omega(0.5)


def test_golden():
    cases = [c for c in golden.cases("losses.txt") if c["case"][0] == 1]
    assert len(cases) > 10
    for c in cases:
        _, alpha, other = c["case"]
        p = fenchel.BetaGaussian(alpha, c["mu_f"][0], c["scale_f"][0])
        q = fenchel.BetaGaussian(other, c["mu"][0], c["scale"][0])
        for name, key in (("cross_omega", "cross"), ("fenchel_young", "fenchel_young")):
            value, gradient = getattr(p, name)(q, return_gradient=True)
            assert [value, gradient["alpha"]] == pytest.approx(c[key], rel=1e-9, abs=1e-12, nan_ok=True), (c, name)
