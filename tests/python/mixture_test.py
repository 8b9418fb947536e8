"""Mixtures, their fit by EM, and compositions of discrete and continuous attention: laws."""

import copy
import math
import pickle

import numpy as np
import pytest
from support import difference

import fenchel
from fenchel import BetaGaussian, Mixture, MultivariateBetaGaussian, MultivariateMixture, attend

RNG = np.random.default_rng(11)
PARTS = [BetaGaussian(2, -2, 0.5), BetaGaussian(1.5, 1, 2), BetaGaussian(1, 1.5, 0.3)]
WEIGHTS = [0.2, 0.5, 0.3]
P = Mixture(WEIGHTS, PARTS)
SPACE = [MultivariateBetaGaussian(2, [0.2, 0.3], [[0.5, 0.1], [0.1, 0.2]]), MultivariateBetaGaussian(1, [1, 0], [1, 2])]
Q = MultivariateMixture([0.25, 0.75], SPACE)
T = np.linspace(-4, 5, 101)
LINE = fenchel.GaussianBasis([0.0, 0.25, 1.0], 0.3)
PLANE = fenchel.MultivariateGaussianBasis([[0.2, 0.2], [0.8, 0.5]], [[0.1, 0.02], [0.02, 0.2]])


def test_a_mixture_is_the_weighted_sum():
    for name in ("pdf", "cdf", "sf"):
        expected = sum(w * getattr(p, name)(T) for w, p in zip(WEIGHTS, PARTS))
        np.testing.assert_allclose(getattr(P, name)(T), expected, rtol=1e-13, atol=1e-300)
    assert P.mean() == pytest.approx(sum(w * p.mean() for w, p in zip(WEIGHTS, PARTS)), rel=1e-14)
    assert P.expect(math.cos) == pytest.approx(sum(w * p.expect(math.cos) for w, p in zip(WEIGHTS, PARTS)), rel=1e-9)
    x = RNG.normal(size=(4, 5, 2))
    expected = 0.25 * SPACE[0].pdf(x) + 0.75 * SPACE[1].pdf(x)
    np.testing.assert_allclose(Q.pdf(x), expected, rtol=1e-13)
    np.testing.assert_allclose(Q.logpdf(x), np.log(expected), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(Q.mean(), 0.25 * SPACE[0].mean() + 0.75 * SPACE[1].mean(), rtol=1e-14)


def test_mass_quantiles_and_draws():
    assert P.expect(lambda t: 1.0) == pytest.approx(1, abs=1e-10)
    u = np.linspace(0.01, 0.99, 33)
    np.testing.assert_allclose(P.cdf(P.ppf(u)), u, rtol=1e-10)
    np.testing.assert_allclose(P.sf(P.isf(u)), u, rtol=1e-10)
    assert P.var() == pytest.approx(P.expect(lambda t: (t - P.mean()) ** 2), rel=1e-9)
    x = P.rvs(20_000, random_state=3)
    assert abs(x.mean() - P.mean()) < 5 * P.std() / math.sqrt(x.size)
    np.testing.assert_array_equal(x, P.rvs(20_000, random_state=3))
    y = Q.rvs((100, 200), random_state=3)
    assert y.shape == (100, 200, 2) and Q.rvs(random_state=1).shape == (2,)
    np.testing.assert_allclose(np.cov(y.reshape(-1, 2).T), Q.cov(), atol=0.1)


@pytest.mark.parametrize("p, basis", [(P, LINE), (P, fenchel.PolynomialBasis(2)), (Q, PLANE)])
def test_derivatives_of_attention(p, basis):
    names = ("mu", "sigma2", "alpha") if p is P else ("mu", "Sigma", "alpha")
    cotangent = RNG.normal(size=len(basis))
    gradient = fenchel.attend_vjp(p, basis, cotangent)
    assert set(gradient) == {"weights", *names}
    family = type(p.components[0])
    parameters = {name: np.array([getattr(c, name) for c in p.components]) for name in names}
    direction = {name: RNG.normal(size=x.shape) for name, x in parameters.items()}
    if p is Q:
        direction["Sigma"] = direction["Sigma"] + direction["Sigma"].swapaxes(1, 2)
    direction["weights"] = np.arange(len(p.weights)) - (len(p.weights) - 1) / 2

    def moved(h):
        at = {name: x + h * direction[name] for name, x in parameters.items()}
        parts = [family(*(at[name][k] for name in ("alpha", "mu", names[1]))) for k in range(len(p.weights))]
        return attend(type(p)(np.array(p.weights) + h * direction["weights"], parts), basis)

    along = fenchel.attend_jvp(p, basis, direction)
    np.testing.assert_allclose(along, difference(moved, 0.0, 1.0), atol=1e-7)
    assert along @ cotangent == pytest.approx(sum((gradient[name] * direction[name]).sum() for name in gradient))
    np.testing.assert_allclose(fenchel.attend_jvp(p, basis, {}), 0, atol=0)


def test_errors_of_derivatives():
    with pytest.raises(ValueError, match=r"the direction of mu must have 3 rows, got shape \(2,\)"):
        fenchel.attend_jvp(P, LINE, {"mu": [1.0, 2.0]})
    with pytest.raises(ValueError, match="direction must be in weights, mu, sigma2, alpha, got 'Sigma'"):
        fenchel.attend_jvp(P, LINE, {"Sigma": [1.0, 2.0, 3.0]})
    with pytest.raises(TypeError, match="attend_jacobian: Mixture has no canonical parameters"):
        fenchel.attend_jacobian(P, LINE)


def test_one_component_is_the_component():
    p, alone = PARTS[1], Mixture([1.0], PARTS[1:2])
    np.testing.assert_allclose(alone.pdf(T), p.pdf(T), rtol=1e-13)
    np.testing.assert_allclose(alone.ppf([0.1, 0.5, 0.8]), p.ppf([0.1, 0.5, 0.8]), rtol=1e-12)
    assert alone.support() == p.support() and alone.entropy() == pytest.approx(p.entropy(), rel=1e-9)
    assert alone.tsallis_entropy(2) == pytest.approx(p.tsallis_entropy(2), rel=1e-9)
    np.testing.assert_allclose(attend(alone, LINE), attend(p, LINE), rtol=1e-14)
    np.testing.assert_allclose(alone.total_variation(), p.total_variation(), rtol=1e-9)
    other = BetaGaussian(2, 0.3, 4)
    assert other.fenchel_young(alone) == pytest.approx(other.fenchel_young(p), rel=1e-7)
    np.testing.assert_allclose(MultivariateMixture([1], SPACE[:1]).cov(), SPACE[0].cov(), rtol=1e-13)


def test_slopes_that_are_infinite_at_the_ends():
    parts = [BetaGaussian(2.497673382798894, 2.4409602594997866, 2.4878934601471), BetaGaussian(2.6, 2.7, 3)]
    for p in parts:
        for alone in (Mixture([1.0], [p]), Mixture([0.25, 0.75], [p, p])):
            assert alone.roughness() == pytest.approx(p.roughness(), rel=1e-14)
    p, mixed = fenchel.SmoothTriangular(0.18, -2.1, 0.44), Mixture([0.25, 0.75], parts)
    loss, gradient = p.fenchel_young(mixed, return_gradient=True)
    conjugate = p.cross_omega(mixed) - mixed.tsallis_entropy(2)
    assert loss == pytest.approx(conjugate + 0.18 / 2 * mixed.roughness(), rel=1e-9)
    assert gradient["gamma"] == pytest.approx((mixed.roughness() - p.roughness()) / 2, rel=1e-9)
    assert Mixture([0.5, 0.5], [parts[0], BetaGaussian(3)]).roughness() == math.inf


@pytest.mark.parametrize("basis", [LINE, fenchel.PolynomialBasis(2), fenchel.FourierBasis(2, 3)], ids=repr)
def test_attention_is_the_weighted_sum(basis):
    expected = sum(w * attend(p, basis) for w, p in zip(WEIGHTS, PARTS))
    np.testing.assert_allclose(attend(P, basis), expected, rtol=1e-13)


def test_attention_on_the_plane_is_the_weighted_sum():
    expected = 0.25 * attend(SPACE[0], PLANE) + 0.75 * attend(SPACE[1], PLANE)
    np.testing.assert_allclose(attend(Q, PLANE), expected, rtol=1e-13)
    with pytest.raises(ValueError, match=r"basis must be on R\^2"):
        attend(Q, LINE)


@pytest.mark.parametrize("use", [Mixture.total_variation, Mixture.roughness, BetaGaussian(2).cross_omega, lambda p: p.expect(abs)])
def test_components_that_doubles_do_not_resolve_are_named(use):
    narrow = Mixture([0.25, 0.75], [BetaGaussian(3.65, -6871.2, 5e-324), BetaGaussian(2)])
    with pytest.raises(ValueError, match=r"the interquartile range of components\[0\] must be resolved by doubles"):
        use(narrow)


def test_mixtures_are_values():
    for p in (P, Q):
        for other in (pickle.loads(pickle.dumps(p)), copy.deepcopy(p)):
            assert other == p and hash(other) == hash(p)
        assert p.components == tuple(PARTS if p is P else SPACE) and repr(p).startswith(type(p).__name__)
    gap = Mixture([0.5, 0.5], [BetaGaussian(2, -5), BetaGaussian(2, 5)])
    assert len(gap.pieces()) == 2 and gap.pdf(0) == 0 and gap.escort(2).pdf(0) == 0


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: Mixture([0.5, 0.6], PARTS[:2]), ValueError, "sum of weights must be 1"),
        (lambda: Mixture([1.0], PARTS), ValueError, "weights"),
        (lambda: Mixture([], []), ValueError, "components"),
        (lambda: Mixture([1.0], [fenchel.Triangular()]), TypeError, "components must be of BetaGaussian"),
        (lambda: MultivariateMixture([1.0], PARTS[:1]), TypeError, "components must be of MultivariateBetaGaussian"),
        (lambda: P.fenchel_young(P), TypeError, "Mixture is no prediction of a score"),
        (lambda: P.tsallis_entropy(), TypeError, "alpha is needed"),
        (lambda: fenchel.fit_mixture(2, [0.5, 0.5], components=0), ValueError, "components"),
        (lambda: fenchel.fit_mixture(2, [0.5, 0.5], responsibilities=0.5), ValueError, "responsibilities must be finite"),
        (lambda: fenchel.fit_mixture(2, [0.5, 0.5], criterion="x"), ValueError, "criterion must be 'bic' or 'aic'"),
        (lambda: fenchel.fit_mixture(2, [0.5, 0.5], [0.1]), ValueError, "weights"),
        (lambda: fenchel.fit_mixture(0.2, [0.5, 0.5], components=1), ValueError, "alpha"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("alpha", [1, 1.5, 2])
def test_em_finds_two_clusters(alpha):
    t = np.concatenate([RNG.normal(-3, 0.2, 300), RNG.normal(2, 0.4, 700)])
    for found in (fenchel.fit_mixture(alpha, np.full(1000, 1e-3), t),
                  fenchel.fit_mixture(alpha, np.full(1000, 1e-3), t, 5, choose=True)):
        assert found.converged and len(found.mixture.components) == 2
        (left, right) = sorted(zip(found.mixture.components, found.mixture.weights), key=lambda part: part[0].mu)
        assert left[1] == pytest.approx(0.3, abs=1e-6) and left[0].mu == pytest.approx(t[:300].mean(), abs=1e-6)
        assert right[0].std() == pytest.approx(t[300:].std(), abs=1e-5) and right[0].alpha == alpha
        assert found.mixture.mean() == pytest.approx(t.mean(), rel=1e-9)
        assert found.mixture.var() == pytest.approx(t.var(), rel=1e-9)


def test_em_in_the_plane():
    t = np.concatenate([RNG.normal([0, 0], 0.3, (200, 2)), RNG.normal([4, 1], 0.5, (200, 2))])
    found = fenchel.fit_mixture(2, np.full(400, 1 / 400), t).mixture
    assert sorted(round(float(p.mu[0])) for p in found.components) == [0, 4]
    np.testing.assert_allclose(found.cov(), np.cov(t.T, bias=True), rtol=1e-9)


@pytest.mark.parametrize("positions, basis", [(7, LINE), (fenchel.grid_positions(2, 4), PLANE)], ids=["line", "plane"])
@pytest.mark.parametrize("kind", ["discrete", "continuous", "both"])
def test_compositions(positions, basis, kind):
    regression = fenchel.RidgeRegression(basis, positions)
    size = len(regression.positions)
    scores, values, cotangent = RNG.normal(size=size), RNG.normal(size=(3, size)), RNG.normal(size=3)
    weights = fenchel.entmax(scores, 1.3)
    density = fenchel.match_weights(1.5, weights, regression.positions)
    parts = {"discrete": values @ weights, "continuous": regression.fit(values).context(density)}
    expected = sum(parts.values()) if kind == "both" else parts[kind]
    options = {"alpha": 1.5, "weights_alpha": 1.3}
    np.testing.assert_allclose(fenchel.compose(scores, values, regression, kind, **options), expected, rtol=1e-10)

    gradient = fenchel.compose_vjp(scores, values, regression, cotangent, kind, **options)
    d_scores, d_values = RNG.normal(size=size), RNG.normal(size=values.shape)
    slope = difference(lambda s: fenchel.compose(s, values, regression, kind, **options) @ cotangent, scores, d_scores)
    assert gradient["scores"] @ d_scores == pytest.approx(slope, rel=1e-4, abs=1e-7)
    moved = fenchel.compose(scores, d_values, regression, kind, **options) @ cotangent
    assert np.sum(gradient["values"] * d_values) == pytest.approx(moved, rel=1e-9)
    steps = [fenchel.compose(scores, values, fenchel.RidgeRegression(basis, positions, 0.1 + h), kind, **options)
             for h in (1e-6, -1e-6)]
    assert gradient["ridge"] == pytest.approx((steps[0] - steps[1]) @ cotangent / 2e-6, rel=1e-5, abs=1e-8)


def test_bad_compositions():
    regression = fenchel.RidgeRegression(LINE, 4)
    with pytest.raises(ValueError, match="kind must be"):
        fenchel.compose(np.zeros(4), np.ones((1, 4)), regression, "some")
    with pytest.raises(TypeError, match="must be of Gaussians"):
        fenchel.compose(np.zeros(4), np.ones((1, 4)), fenchel.RidgeRegression(fenchel.PolynomialBasis(1), 4))
    with pytest.raises(TypeError, match="regression must be a RidgeRegression"):
        fenchel.compose(np.zeros(4), np.ones((1, 4)), LINE)
    with pytest.raises(ValueError, match="scores"):
        fenchel.compose(np.zeros(3), np.ones((1, 4)), regression)


def test_sparse_responsibilities_leave_clear_points_alone():
    random = np.random.default_rng(1)
    t = np.concatenate([random.normal(0, 1, 300), random.normal(9, 0.5, 100)])
    for order in (1.5, 2, 5):
        found = fenchel.fit_mixture(2, np.full(400, 1 / 400), t, responsibilities=order)
        left, right = sorted(found.mixture.components, key=lambda p: p.mu)
        assert [left.mean(), right.mean()] == pytest.approx([t[t < 5].mean(), t[t > 5].mean()], rel=1e-12)
        assert [left.var(), right.var()] == pytest.approx([t[t < 5].var(), t[t > 5].var()], rel=1e-12)
        assert found.objective <= found.log_likelihood
