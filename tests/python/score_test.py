"""What is known of a score without a target, and scores with parameters."""

import math
import pickle

import numpy as np
import pytest
from support import ALPHAS, close, difference

import fenchel
from fenchel import (
    BetaGaussian,
    BetaLaplace,
    Interval,
    LinearScore,
    MultivariateBetaGaussian,
    ParametricScore,
    SparseIntegerGaussian,
    SparsePoisson,
    Tsallis,
    beta_covariance,
    predict,
)

FINITE = [alpha for alpha in ALPHAS if alpha < 100]
every_alpha = pytest.mark.parametrize("alpha", [0.8, *FINITE])


def square(t):
    return t * t


def quartic(t):
    return -(t**4)


def bump(t):
    return math.cos(3 * t)


def from_theta(alpha, theta):
    """The beta-Gaussian of canonical parameters."""
    return BetaGaussian(alpha, -theta[0] / (2 * theta[1]), -1 / (2 * theta[1]))


@every_alpha
def test_conjugate_is_attained(alpha):
    p = BetaGaussian(alpha, 0.3, 2)
    close(p.conjugate(), p.expect(lambda t: -((t - 0.3) ** 2) / 4) + p.tsallis_entropy(), 1e-9)
    q = BetaLaplace(alpha, 0.3, 2)
    close(q.conjugate(), q.expect(lambda t: -abs(t - 0.3) / 2) + q.tsallis_entropy(), 1e-9)
    close(MultivariateBetaGaussian(alpha, [0.3], [2.0]).conjugate(), p.conjugate(), 1e-12)


def test_conjugate_of_other_regularizers():
    for family, gamma in ((fenchel.CappedParabola, 0.4), (fenchel.SmoothParabola, 0.4)):
        p = family(gamma, 0.3, 2)
        extra = p.total_variation() if family is fenchel.CappedParabola else p.roughness() / 2
        omega = gamma * extra - p.tsallis_entropy(2)
        close(p.conjugate(), p.expect(lambda t: -((t - 0.3) ** 2) / 4) - omega, 1e-8)
    for omega in (Tsallis(1.5, 0.7), fenchel.TotalVariation(0.3), fenchel.Sobolev(0.3)):
        p = predict(omega, quartic, Interval(-2, 2))
        close(p.conjugate() - p.expect(quartic), p.cross_omega([0.0]) - p.expect(quartic), 1e-7)  # f(0) = 0


@every_alpha
def test_normalizer(alpha):
    p = BetaGaussian(alpha, 0.3, 2)
    at = 0.5
    excess = -((at - 0.3) ** 2) / 4 - p.normalizer()
    log_density = excess if alpha == 1 else math.log1p((alpha - 1) * excess) / (alpha - 1)
    close(p.logpdf(at), log_density, 1e-7 if alpha - 1 < 1e-7 else 1e-11)
    numeric = predict(Tsallis(alpha), lambda t: -((t - 0.3) ** 2) / 4)
    close(numeric.normalizer(), p.normalizer(), 1e-9)
    close(MultivariateBetaGaussian(alpha, [0.3], [2.0]).normalizer(), p.normalizer())


@every_alpha
def test_gradient_of_the_normalizer(alpha):
    p, theta = BetaGaussian(alpha, 0.3, 2), np.array([0.15, -0.25])

    def normalizer(theta):  # of theta . (t, t^2), without the constant of the square
        q = from_theta(alpha, theta)
        return q.normalizer() + q.mu**2 / (2 * q.sigma2)

    if alpha <= 2:
        escort = p.escort(2 - alpha)
        close(p.normalizer_gradient(), [escort.mean(), escort.var() + escort.mean() ** 2], 1e-10)
    by_difference = [difference(normalizer, theta, e) for e in np.eye(2)]
    close(p.normalizer_gradient(), by_difference, 1e-7)
    linear, quadratic = MultivariateBetaGaussian(alpha, [0.3], [2.0]).normalizer_gradient()
    close([linear[0], quadratic[0, 0]], p.normalizer_gradient())
    score = LinearScore(theta, [lambda t: t, square])
    close(predict(Tsallis(alpha), score).normalizer_gradient(), p.normalizer_gradient(), 1e-8)


@pytest.mark.parametrize("alpha", [0.8, 1, 1 + 1e-8, 4 / 3, 1.5, 2])
def test_hessian_of_the_normalizer(alpha):
    theta = np.array([0.2, -0.5])

    def density(theta):
        return predict(Tsallis(alpha), LinearScore(theta, [lambda t: t, square]))

    expected = np.array([difference(lambda x: density(x).normalizer_gradient(), theta, e) for e in np.eye(2)])
    close(density(theta).normalizer_hessian(), expected, 1e-5)


@every_alpha
def test_hessian_of_the_losses(alpha):
    p, theta, target = BetaGaussian(alpha, 0.3, 2), np.array([0.15, -0.25]), [0.1, 0.9]

    def gradient(theta):  # moments of the prediction less those of the target
        q = from_theta(alpha, theta)
        return np.array([q.mean() - 0.5, q.var() + q.mean() ** 2 - 0.41])

    by_difference = np.array([difference(gradient, theta, e) for e in np.eye(2)])
    close(p.fenchel_young_hessian(), by_difference, 1e-7)
    close(p.fenchel_young_hessian(), beta_covariance(p, 2 - alpha, [lambda t: t, square]), 1e-8)
    close(MultivariateBetaGaussian(alpha, [0.3], [2.0]).fenchel_young_hessian(), p.fenchel_young_hessian(), 1e-10)
    numeric = predict(Tsallis(alpha), LinearScore(theta, [lambda t: t, square]))
    close(numeric.fenchel_young_hessian(), p.fenchel_young_hessian(), 1e-7)
    close(numeric.cross_omega(target, return_gradient=True)[1]["theta"], gradient(theta), 1e-8)
    q = BetaLaplace(alpha, 0.3, 2)
    close(q.fenchel_young_hessian(), beta_covariance(q, 2 - alpha, lambda t: abs(t - 0.3)), 1e-8)


@pytest.mark.parametrize("alpha", [alpha for alpha in FINITE])
def test_integers(alpha):
    p = SparsePoisson(alpha, 2.7)
    mean = [SparsePoisson(alpha, 2.7 * math.exp(h)).mean() for h in (1e-5, -1e-5)]
    close(p.fenchel_young_hessian(), (mean[0] - mean[1]) / 2e-5, 1e-6)
    close(p.fenchel_young_hessian(), beta_covariance(p, 2 - alpha, lambda t: t), 1e-10)
    q = SparseIntegerGaussian(alpha, 0.3, 2)
    close(q.fenchel_young_hessian(), beta_covariance(q, 2 - alpha, [lambda t: t, square]), 1e-9)
    for r, f in ((p, lambda t: t * math.log(2.7) - math.lgamma(t + 1)), (q, lambda t: -((t - 0.3) ** 2) / 4)):
        k = int(r.mode())
        excess = f(k) - r.normalizer()
        log_probability = excess if alpha == 1 else math.log1p((alpha - 1) * excess) / (alpha - 1)
        close(r.logpmf(k), log_probability, 1e-6 if alpha - 1 < 1e-7 else 1e-10)
        if alpha > 1.1:
            assert f(r.support()[1]) > r.threshold() >= f(r.support()[1] + 1)


def test_beta_covariance():
    p = BetaGaussian(1.5, 0.3, 2)
    close(beta_covariance(p, 1, lambda t: t), p.var(), 1e-9)
    close(beta_covariance(p, 1, lambda t: t, square), p.moment(3) - p.moment(1) * p.moment(2), 1e-9)
    several = beta_covariance(p, 0.5, [lambda t: t, square], [square, bump, quartic])
    assert several.shape == (2, 3)
    close(beta_covariance(p, 0.5, square, [square, bump, quartic]), several[1])
    close(beta_covariance(p, 0.5, [lambda t: t, square], bump), several[:, 1])
    for q in (fenchel.TruncatedGaussian(), fenchel.Mixture([0.5, 0.5], [p, BetaGaussian(2, 4)]), p.escort(2)):
        close(beta_covariance(q, 1, lambda t: t), q.var(), 1e-8)


def test_beta_covariance_of_probabilities():
    p, phi, psi = np.array([0.2, 0.5, 0.0, 0.3]), np.array([1.0, 4.0, 100.0, 2.0]), np.array([[1.0, 0], [0, 2], [9, 9], [3, 1]])
    power = np.where(p > 0, p, 1) ** 0.7 * (p > 0)
    centre = lambda x: x - np.average(x, axis=0, weights=power)  # noqa: E731
    close(beta_covariance(p, 0.7, phi, psi), (power * centre(phi)) @ centre(psi))
    close(beta_covariance(p, 0.7, phi), power @ centre(phi) ** 2)
    with pytest.raises(ValueError, match=r"phi must have shape \(4,\) or \(4, K\), as p has, got \(3,\)"):
        beta_covariance(p, 1, [1, 2, 3])
    with pytest.raises(ValueError, match="beta must be finite"):
        beta_covariance(p, math.inf, phi)
    with pytest.raises(TypeError, match="p must be on the line or the integers"):
        beta_covariance(MultivariateBetaGaussian(2, [0], [1]), 1, square)
    with pytest.raises(TypeError, match="phi must be callable, got 3"):
        beta_covariance(BetaGaussian(), 1, [3])
    with pytest.raises(ZeroDivisionError):
        beta_covariance(BetaGaussian(), 1, lambda t: 1 / 0)
    with pytest.raises(ValueError, match="the integral with p\\^beta must be finite, got inf"):
        beta_covariance(BetaGaussian(0.5), 1, lambda t: t**4)


@pytest.mark.parametrize("p", [BetaGaussian(1.5, 0.3, 2), BetaLaplace(1.5, 0.3, 2), fenchel.CappedParabola(0.3),
                               fenchel.SmoothTriangular(0.3), fenchel.Triangular(0.3)], ids=lambda p: type(p).__name__)
def test_gradient_of_an_expectation(p):
    gradient = p.expectation_gradient(bump)
    assert set(gradient) == set(p._parameters)
    parameters = dict(zip(p._parameters, p._values()))
    for name, slope in gradient.items():
        above, below = (type(p)(**(parameters | {name: parameters[name] + h})).expect(bump) for h in (1e-4, -1e-4))
        assert abs(slope - (above - below) / 2e-4) < 1e-6, name


def test_draws_move():
    p, level = BetaGaussian(1.5, 0.3, 2), 0.8
    derivatives = p.sample_derivatives(p.ppf(level))
    for name, at in {"alpha": 1.5, "mu": 0.3, "sigma2": 2.0}.items():
        above, below = (BetaGaussian(**({"alpha": 1.5, "mu": 0.3, "sigma2": 2} | {name: at + h})).ppf(level)
                        for h in (1e-5, -1e-5))
        close(derivatives[name], (above - below) / 2e-5, 1e-7)
    space = MultivariateBetaGaussian(1.5, [0.3], [2.0]).sample_gradient([p.ppf(level)], [1.0])
    close([space["mu"][0], space["Sigma"][0, 0], space["alpha"]], [derivatives[n] for n in ("mu", "sigma2", "alpha")])
    assert math.isnan(p.sample_derivatives(100.0)["mu"])


def test_what_has_no_score():
    for p in (fenchel.TruncatedGaussian().escort(2), fenchel.Uniform(0, 3), fenchel.Mixture([1.0], [BetaGaussian()])):
        for name in ("conjugate", "normalizer", "fenchel_young_hessian"):
            with pytest.raises(TypeError, match=f"{name}: "):
                getattr(p, name)()
    with pytest.raises(TypeError, match="f must be a LinearScore"):
        predict(Tsallis(2), quartic).normalizer_gradient()
    with pytest.raises(TypeError, match=r"normalizer: there is none for the prediction of Sobolev"):
        predict(fenchel.Sobolev(1), quartic, Interval(-2, 2)).normalizer()
    with pytest.raises(TypeError, match="expectation_gradient: there is none for NumericDensity"):
        predict(Tsallis(2), quartic).expectation_gradient(bump)


def test_linear_score():
    f = LinearScore([1.0, 2.0], [square, quartic])
    assert f(3.0) == 9 - 2 * 81 and f.phi == (square, quartic)
    assert pickle.loads(pickle.dumps(f)) == f and f != LinearScore([1.0, 3.0], [square, quartic])
    p = predict(Tsallis(1.5), f)
    close(p.pdf([0.0, 0.5]), predict(Tsallis(1.5), lambda t: f(t)).pdf([0.0, 0.5]))
    assert p.f is f
    with pytest.raises(ValueError, match="theta must have one entry for each phi, got 1"):
        LinearScore([1.0], [square, quartic])
    with pytest.raises(ValueError, match=r"theta\[1\] must be finite"):
        LinearScore([1.0, math.inf], [square, quartic])
    with pytest.raises(TypeError, match="phi must be callable, got 2"):
        LinearScore([1.0], [2])


@pytest.mark.parametrize("omega", [Tsallis(1.5, 0.7), fenchel.TotalVariation(0.2), fenchel.Sobolev(0.2)],
                         ids=lambda o: type(o).__name__)
def test_loss_of_a_linear_score(omega):
    theta, target = np.array([1.0, 0.8]), fenchel.Triangular(0.2, 1.1)

    def loss(theta):
        return predict(omega, LinearScore(theta, [bump, quartic]), Interval(-2, 2))

    gradient = loss(theta).cross_omega(target, return_gradient=True)[1]["theta"]
    assert isinstance(gradient, np.ndarray)
    expected = [difference(lambda x: loss(x).cross_omega(target), theta, e, 1e-3) for e in np.eye(2)]
    np.testing.assert_allclose(gradient, expected, atol=2e-5)


def shifted(t, theta):
    return -math.cosh(theta[1] * (t - theta[0]))


def by_shift(t, theta):
    return theta[1] * math.sinh(theta[1] * (t - theta[0]))


def by_factor(t, theta):
    return -(t - theta[0]) * math.sinh(theta[1] * (t - theta[0]))


def parametric(theta):
    return ParametricScore(theta, shifted, [by_shift, by_factor])


@pytest.mark.parametrize("omega", [Tsallis(1.5, 0.7), fenchel.TotalVariation(0.2), fenchel.Sobolev(0.2)],
                         ids=lambda o: type(o).__name__)
def test_loss_of_a_parametric_score(omega):
    theta, target = np.array([0.3, 0.8]), fenchel.Triangular(0.2, 1.1)

    def loss(theta):
        return predict(omega, parametric(theta), Interval(-4, 4)).cross_omega(target)

    gradient = predict(omega, parametric(theta), Interval(-4, 4)).cross_omega(target, return_gradient=True)[1]["theta"]
    np.testing.assert_allclose(gradient, [difference(loss, theta, e, 1e-3) for e in np.eye(2)], atol=2e-5)


def test_parametric_score():
    f = parametric([0.3, 0.8])
    assert f(1.0) == shifted(1.0, [0.3, 0.8]) and pickle.loads(pickle.dumps(f)) == f
    p = predict(Tsallis(1.5), f)
    close(p.pdf([0.0, 0.5]), predict(Tsallis(1.5), lambda t: f(t)).pdf([0.0, 0.5]))
    escort = p.escort(0.5)
    slopes = [lambda t: by_shift(t, f.theta), lambda t: by_factor(t, f.theta)]
    np.testing.assert_allclose(p.normalizer_gradient(), [escort.expect(slope) for slope in slopes], atol=1e-8)
    with pytest.raises(TypeError, match="fenchel_young_hessian: f must be a LinearScore"):
        p.fenchel_young_hessian()
    with pytest.raises(ValueError, match="theta must have one entry for each entry of gradient, got 1"):
        ParametricScore([1.0], shifted, [by_shift, by_factor])
    with pytest.raises(TypeError, match="gradient must be callable, got 2"):
        ParametricScore([1.0], shifted, [2])


@pytest.mark.parametrize("score", [lambda x: LinearScore(x, [bump, quartic]), parametric], ids=["linear", "parametric"])
def test_attention_of_a_score_with_parameters(score):
    def density(theta):
        return predict(Tsallis(1.5, 0.7), score(theta))

    theta = np.array([1.0, 0.8])
    for basis in (fenchel.PolynomialBasis(2), fenchel.GaussianBasis([0.0, 0.5], 0.3)):
        expected = [difference(lambda x: fenchel.attend(density(x), basis), theta, e) for e in np.eye(2)]
        jacobian = fenchel.attend_jacobian(density(theta), basis)
        np.testing.assert_allclose(jacobian.T, expected, atol=1e-7)
        cotangent = np.arange(len(basis)) + 1.0
        close(fenchel.attend_vjp(density(theta), basis, cotangent)["theta"], cotangent @ jacobian)
        close(fenchel.attend_jvp(density(theta), basis, {"theta": [2.0, -1.0]}), jacobian @ [2.0, -1.0])
    with pytest.raises(ValueError, match=r"the direction of theta must have shape \(2,\), got \(1,\)"):
        fenchel.attend_jvp(density(theta), basis, {"theta": [2.0]})


def test_fit_of_a_linear_score():
    data = np.random.default_rng(0).beta(2, 3, 300)
    phi = [math.sin, square, quartic]
    found = fenchel.fit_linear_score(1.5, phi, data, Interval(0, 1))
    p = found.distribution
    for f in phi:
        values = [f(t) for t in data]
        assert abs(p.expect(f) - np.mean(values)) < 2e-8 * np.std(values)
    close(found.parameters, p.f.theta)
    assert found.names == ("theta[0]", "theta[1]", "theta[2]") and p.domain == Interval(0, 1)
    close(found.loss, p.cross_omega(data), 1e-8)
    again = predict(Tsallis(1.5), p.f, Interval(0, 1))
    close(p.pdf([0.2, 0.7]), again.pdf([0.2, 0.7]), 1e-7)


@every_alpha
def test_fit_of_t_and_its_square_is_the_beta_gaussian(alpha):
    data = BetaGaussian(1.5, 0.3, 2).rvs(200, random_state=5)
    weights = np.arange(200) % 4
    found = fenchel.fit_linear_score(alpha, [lambda t: t, square], data, weights=weights, start=[0.0, -0.5])
    expected = fenchel.fit(BetaGaussian, data, alpha=alpha, weights=weights).distribution
    close(found.parameters, expected.canonical_parameters(), 1e-6)
    assert found.weight == weights.sum()


def test_errors_of_the_fit():
    with pytest.raises(ValueError, match=r"row 1, column 0.* must be in \[0, 1\]"):
        fenchel.fit_linear_score(2, [square], [0.5, 1.5], Interval(0, 1))
    with pytest.raises(ValueError, match="phi must not be empty"):
        fenchel.fit_linear_score(2, [], [0.5], Interval(0, 1))
    with pytest.raises(ValueError, match="alpha must be finite, got inf"):
        fenchel.fit_linear_score(math.inf, [square], [0.5, 0.6], Interval(0, 1))
    with pytest.raises(ValueError, match="collinear"):
        fenchel.fit_linear_score(2, [square, lambda t: 2 * t * t], [0.4, 0.5, 0.6], Interval(0, 1))
    with pytest.raises(TypeError, match="domain must be"):
        fenchel.fit_linear_score(2, [square], [0.5], 3)
    with pytest.raises(ZeroDivisionError):
        fenchel.fit_linear_score(2, [lambda t: 1 / 0], [0.5, 0.6], Interval(0, 1))
    with pytest.raises(TypeError, match="phi must return a real number, got None"):
        fenchel.fit_linear_score(2, [lambda t: None], [0.5, 0.6], Interval(0, 1))


SAMPLE = np.random.default_rng(5).normal(0.3, 0.8, 40)
MEMBERS = [
    fenchel.TruncatedGaussian(3, 0.2, 0.7),
    fenchel.LocationScale(lambda t: t**4 / 4, lambda t: t**3, 0.2, 1.3),
    fenchel.CappedParabola(0.4, 0.2, 1.3),
    fenchel.CappedTriangular(0.4, 0.2, 1.3),
    fenchel.SmoothParabola(0.4, 0.2, 1.3),
    fenchel.SmoothTriangular(0.4, 0.2, 1.3),
]
every_member = pytest.mark.parametrize("p", MEMBERS, ids=lambda p: type(p).__name__)


def moved(p, name, h):
    parameters = dict(zip(p._parameters, p._values()))
    return type(p)(**(parameters | {name: parameters[name] + h}))


@every_member
def test_derivatives_of_the_normalizer_in_parameters(p):
    gradient, h = p.normalizer_gradient(), 1e-5
    assert list(gradient) == [name for name in ("kappa", "mu", "sigma2", "b", "sigma", "gamma") if hasattr(p, name)]
    hessian = p.normalizer_hessian()
    for k, name in enumerate(gradient):
        above, below = moved(p, name, h), moved(p, name, -h)
        assert abs(gradient[name] - (above.normalizer() - below.normalizer()) / (2 * h)) < 1e-7
        slopes = [(above.normalizer_gradient()[other] - below.normalizer_gradient()[other]) / (2 * h) for other in gradient]
        np.testing.assert_allclose(hessian[k], slopes, atol=2e-6)


@every_member
@pytest.mark.parametrize("target", [fenchel.BetaGaussian(1.5, 0.6, 0.4), SAMPLE], ids=["density", "sample"])
def test_hessian_of_the_losses_for_a_target(p, target):
    hessian, h = p.fenchel_young_hessian(target), 1e-5
    _, gradient = p.cross_omega(target, return_gradient=True)
    for k, name in enumerate(gradient):
        if name == "mu" and hasattr(p, "b") and target is SAMPLE:
            continue  # a kink at every value
        above, below = (moved(p, name, step).cross_omega(target, return_gradient=True)[1] for step in (h, -h))
        np.testing.assert_allclose(hessian[k], [(above[n] - below[n]) / (2 * h) for n in gradient], atol=2e-6)


def test_hessians_without_a_target():
    for p in MEMBERS[2:]:
        assert np.shape(p.fenchel_young_hessian()) == ((2, 2) if hasattr(p, "sigma2") else ())
    with pytest.raises(TypeError, match="fenchel_young_hessian: there is none for TruncatedGaussian"):
        MEMBERS[0].fenchel_young_hessian()
    with pytest.raises(TypeError, match="that of BetaGaussian is without a target"):
        BetaGaussian().fenchel_young_hessian(SAMPLE)


@every_member
def test_derivatives_of_attention(p):
    basis, h = fenchel.GaussianBasis([0.0, 0.5], 0.3), 1e-5
    cotangent = np.array([1.0, -0.7])
    gradient = fenchel.attend_vjp(p, basis, cotangent)
    assert set(gradient) == {name for name in p._parameters if name not in ("g", "slope")}
    for name, slope in gradient.items():
        by_difference = (fenchel.attend(moved(p, name, h), basis) - fenchel.attend(moved(p, name, -h), basis)) / (2 * h)
        np.testing.assert_allclose(fenchel.attend_jvp(p, basis, {name: 1.0}), by_difference, atol=1e-7)
        assert abs(slope - cotangent @ by_difference) < 1e-7
    if isinstance(p, (fenchel.TruncatedGaussian, fenchel.LocationScale)):
        with pytest.raises(TypeError, match="attend_jacobian: .* has no canonical parameters"):
            fenchel.attend_jacobian(p, basis)
