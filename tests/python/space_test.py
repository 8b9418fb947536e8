"""Beta-Gaussians in space: golden numbers, laws, SciPy at alpha <= 1, losses and bad arguments."""

import copy
import math
import pickle
from concurrent.futures import ThreadPoolExecutor

import golden
import numpy as np
import pytest
import support
from hypothesis import given, settings
from hypothesis import strategies as st

import fenchel
from fenchel import Ellipsoid, MultivariateBetaGaussian

ALPHAS = [0.8, *support.ALPHAS, math.inf]
MU = [0.3, -1.0]
SIGMA = [[2.0, 0.6], [0.6, 0.9]]


@pytest.fixture(params=ALPHAS, ids=str)
def p(request):
    return MultivariateBetaGaussian(request.param, MU, SIGMA)


@pytest.fixture(params=ALPHAS[:-2], ids=str)
def moderate(request):
    """Where the powers of a density do not overflow."""
    return MultivariateBetaGaussian(request.param, MU, SIGMA)


def grid_of(p, half_width=None, n=401):
    """A square about the centre that has the mass, its midpoints and their area."""
    ends = half_width or 1.001 * np.sqrt(p.support().radius2 * np.diag(p.Sigma))
    axes = [m + h * (2 * np.arange(n) + 1 - n) / n for m, h in zip(p.mu, np.broadcast_to(ends, 2))]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    return points, math.prod(float(axis[1] - axis[0]) for axis in axes)


@pytest.mark.parametrize("case", golden.cases("multivariate.txt"), ids=lambda c: str(c["case"]))
def test_golden(case):
    n, alpha = int(case["case"][0]), case["case"][1]
    mu, scale = np.array(case["mu"]), np.array(case["scale"]).reshape(n, n)
    p = MultivariateBetaGaussian(alpha, mu, scale)
    points = mu + np.outer([0, 1, 2], case["offset"])
    np.testing.assert_allclose(p.logpdf(points), case["log_pdf"], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(p.pdf(points), np.exp(case["log_pdf"]), rtol=1e-11)
    np.testing.assert_allclose(p.radial_cdf(case["radii"]), case["radial_cdf"], rtol=1e-10)
    if case.get("matching"):
        member = MultivariateBetaGaussian.from_covariance(alpha, mu, scale)
        np.testing.assert_allclose(member.Sigma, case["matching"][0] * scale, rtol=1e-9)


@pytest.mark.parametrize("alpha", ALPHAS[1:-2])
def test_mass_mean_and_covariance_by_quadrature(alpha):
    p = MultivariateBetaGaussian(alpha, MU, SIGMA)
    points, area = grid_of(p, 12.0 if p.alpha < 1.1 else None)
    weights = p.pdf(points) * area
    assert weights.sum() == pytest.approx(1, abs=2e-4)
    offsets = points - p.mean()
    np.testing.assert_allclose(np.einsum("ij,ijk,ijl->kl", weights, offsets, offsets), p.cov(), rtol=1e-3)
    np.testing.assert_array_equal(p.var(), [p.cov()[0, 0], p.cov()[1, 1]])
    positive = weights > 0
    assert -(weights[positive] * p.logpdf(points[positive])).sum() == pytest.approx(p.entropy(), abs=2e-3)
    assert (1 - (weights * p.pdf(points)).sum()) / 2 == pytest.approx(p.tsallis_entropy(2), abs=1e-3)
    assert p.expect(lambda x: (x[0] - 0.3) * (x[1] + 1)) == pytest.approx(p.cov()[0, 1], rel=1e-9)


def test_draws(p):
    draws = p.rvs((100, 200), random_state=5)
    assert draws.shape == (100, 200, 2) and draws.flags.c_contiguous
    np.testing.assert_array_equal(draws, p.rvs((100, 200), random_state=5))
    assert p.support().contains(draws).all() and (p.pdf(draws) > 0).all()
    points = draws.reshape(-1, 2)
    half = p.contour(0.5).contains(points).mean()
    assert abs(half - 0.5) < 5 * 0.5 / math.sqrt(len(points))
    if p.alpha >= 1:
        np.testing.assert_allclose(np.cov(points.T), p.cov(), atol=0.05 * p.cov().max())
        np.testing.assert_allclose(points.mean(axis=0), p.mean(), atol=0.05)
    generator = np.random.default_rng(3)
    first = p.rvs(4, generator)
    np.testing.assert_array_equal(first, p.rvs(4, np.random.default_rng(3)))
    assert (p.rvs(4, generator) != first).any()
    assert p.rvs().shape == (2,) and p.rvs((2, 0)).shape == (2, 0, 2)
    np.testing.assert_array_equal(p.rvs(3, 9)[0], p.rvs(random_state=9))


def test_scipy_has_the_same_at_alpha_one_and_below():
    stats = pytest.importorskip("scipy.stats")
    x = np.random.default_rng(0).normal(size=(5, 7, 2)) * 3
    p, q = MultivariateBetaGaussian(1, MU, SIGMA), stats.multivariate_normal(MU, SIGMA)
    np.testing.assert_allclose(p.logpdf(x), q.logpdf(x), rtol=1e-12)
    assert p.entropy() == pytest.approx(float(q.entropy()), rel=1e-13)
    np.testing.assert_allclose(p.cov(), SIGMA, rtol=1e-14)
    assert p.kurtosis() == pytest.approx(8)
    alpha = 0.7  # Student with nu = 2 / (1 - alpha) - N degrees of freedom and the same covariance
    nu = 2 / (1 - alpha) - 2
    p = MultivariateBetaGaussian(alpha, MU, SIGMA)
    q = stats.multivariate_t(MU, p.cov() * (nu - 2) / nu, df=nu)
    np.testing.assert_allclose(p.logpdf(x), q.logpdf(x), rtol=1e-12)
    assert p.entropy() == pytest.approx(float(q.entropy()), rel=1e-10)


def test_one_dimension_is_the_line():
    for alpha in [0.8, 1, 1.5, 2, 5, math.inf]:
        p, q = MultivariateBetaGaussian(alpha, [0.4], [[1.7]]), fenchel.BetaGaussian(alpha, 0.4, 1.7)
        x = np.linspace(-2, 2, 41)
        np.testing.assert_allclose(p.pdf(x[:, None]), q.pdf(x), rtol=1e-12)
        assert p.entropy() == pytest.approx(q.entropy(), abs=1e-13) and p.cov()[0, 0] == pytest.approx(q.var())
        assert p.kurtosis() == pytest.approx(q.kurtosis())
        assert p.tsallis_entropy(1.5) == pytest.approx(q.tsallis_entropy(1.5), abs=1e-13)


def test_marginals_are_integrals():
    p = MultivariateBetaGaussian(1.5, MU, SIGMA)
    points, area = grid_of(p)
    step = points[1, 0, 0] - points[0, 0, 0]
    by_sum = p.pdf(points).sum(axis=1) * area / step
    np.testing.assert_allclose(p.marginal([0]).pdf(points[:, 0, :1]), by_sum, atol=1e-4)
    swapped = p.marginal([1, 0])
    np.testing.assert_allclose(swapped.pdf(points[..., ::-1]), p.pdf(points), rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(p.marginal([1]).cov(), p.cov()[1:, 1:], rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.8, 1, 1.5, 2, 5])
def test_conditionals_are_ratios(alpha):
    sigma = np.array([[2, 0.3, -0.2], [0.3, 1, 0.1], [-0.2, 0.1, 0.7]])
    p = MultivariateBetaGaussian(alpha, [0, 0.1, -0.1], sigma)
    x = np.array([0.1, 0.2, -0.15])
    assert p.pdf(x) > 0
    for given_, other in (([0], [1, 2]), ([2, 0], [1]), ([1], [0, 2])):
        conditional, marginal = p.conditional(given_, x[given_]), p.marginal(given_)
        assert conditional.pdf(x[other]) == pytest.approx(p.pdf(x) / marginal.pdf(x[given_]), rel=1e-10)
        assert conditional.alpha == alpha and conditional.dimension == len(other)


def test_affine_maps(moderate):
    p = moderate
    B, b = np.array([[1.2, -0.4], [0.3, 0.8]]), np.array([1.0, -2.0])
    q, x = p.affine(B, b), p.rvs(20, random_state=1)
    np.testing.assert_allclose(q.pdf(x @ B.T + b) * abs(np.linalg.det(B)), p.pdf(x), rtol=1e-9)
    np.testing.assert_allclose(q.cov(), B @ p.cov() @ B.T, rtol=1e-11)
    np.testing.assert_allclose(q.mean(), B @ p.mean() + b)
    row = p.affine([[1, 0]], [0])
    np.testing.assert_allclose(row.pdf(x[:, :1]), p.marginal([0]).pdf(x[:, :1]), rtol=1e-10)


def test_contours_have_their_mass(p):
    for mass in (0.1, 0.5, 0.99):
        contour = p.contour(mass)
        assert p.radial_cdf(contour.radius2) == pytest.approx(mass, rel=1e-9)
        edge = contour.centre + np.linalg.cholesky(contour.shape)[:, 0] * math.sqrt(contour.radius2)
        assert not contour.contains(contour.centre + 1.0001 * (edge - contour.centre))
        assert contour.contains(contour.centre + 0.9999 * (edge - contour.centre))
    assert p.contour(1) == p.support() and (p.support().radius2 == math.inf) == (p.alpha <= 1)


def test_escort(moderate):
    p = moderate
    q, x = p.escort(1.5), p.rvs(8, random_state=2)
    ratio = q.logpdf(x) - 1.5 * p.logpdf(x)
    np.testing.assert_allclose(ratio, ratio[0], atol=1e-9)


def test_singular_scales():
    p = MultivariateBetaGaussian(2, [1, 0], [[1, 1], [1, 1]])
    assert (p.rank, p.dimension) == (1, 2)
    np.testing.assert_array_equal(p.pdf([[1.1, 0.2], [1, 0.1]]) > 0, [False, False])
    np.testing.assert_array_equal(p.pdf([[1.1, 0.1], [1, 0]]) > 0, [True, True])
    assert p.logpdf([1, 0.1]) == -math.inf
    draws = p.rvs(50, 3)
    np.testing.assert_allclose(draws[:, 0] - 1, draws[:, 1], atol=1e-14)
    assert p.support().contains(draws).all()
    # On the line through the centre, t -> centre + t (1, 1) / sqrt 2, it is the beta-Gaussian of variance 2.
    line = fenchel.BetaGaussian(2, 0, 2)
    t = np.linspace(-1, 1, 9)
    np.testing.assert_allclose(p.pdf([1, 0] + t[:, None] * [1, 1] / np.sqrt(2)), line.pdf(t), rtol=1e-9)
    assert pickle.loads(pickle.dumps(p)) == p
    with pytest.raises(ValueError, match="rank"):
        fenchel.wasserstein2(p, p)


def test_values_are_pickled_and_compared(p):
    environment = {**vars(fenchel), "inf": math.inf}
    uniform = MultivariateBetaGaussian.uniform(Ellipsoid(MU, SIGMA, 3))
    for value in (p, p.support(), uniform, p.marginal([1]), p.contour(0.5)):
        for other in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value), eval(repr(value), environment)):
            assert other == value and hash(other) == hash(value) and other is not value
            assert type(other) is type(value)
    other = pickle.loads(pickle.dumps(uniform))
    x = np.random.default_rng(0).normal(size=(50, 2))
    np.testing.assert_array_equal(other.pdf(x), uniform.pdf(x))
    assert uniform.pdf(MU) == pytest.approx(1 / (math.pi * 3 * math.sqrt(np.linalg.det(SIGMA))))
    assert uniform != MultivariateBetaGaussian(math.inf, MU, SIGMA) and "uniform" in repr(uniform)
    assert p != MultivariateBetaGaussian(p.alpha, [0, 0], SIGMA) and p != MU and p.support() != 3


def test_attributes_are_read_only_copies():
    mu, sigma = np.array(MU), np.array(SIGMA)
    p = MultivariateBetaGaussian(2, mu, sigma)
    mu[0], sigma[0, 0] = 7, 8
    np.testing.assert_array_equal(p.mu, MU)
    np.testing.assert_array_equal(p.Sigma, SIGMA)
    for array in (p.mu, p.Sigma, p.support().shape, p.support().centre):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    p.mean()[0] = 3
    np.testing.assert_array_equal(p.mu, MU)


def test_a_vector_is_a_diagonal_scale():
    p = MultivariateBetaGaussian(2, MU, [2, 3])
    assert p == MultivariateBetaGaussian(2, MU, [[2, 0], [0, 3]])


def test_shapes_and_kinds_of_arrays(p):
    x = np.random.default_rng(1).normal(size=(3, 4, 2))
    assert p.pdf(x).shape == (3, 4) and isinstance(p.pdf(x[0, 0]), float) and p.pdf(np.zeros((0, 2))).shape == (0,)
    assert p.pdf(np.zeros((3, 0, 2))).shape == (3, 0) and p.pdf([0, 0]) == p.pdf([0.0, 0.0])
    one = np.array([[p.pdf(point) for point in row] for row in x])
    np.testing.assert_array_equal(p.pdf(x), one)
    np.testing.assert_array_equal(p.pdf(np.asfortranarray(x)), one)
    np.testing.assert_array_equal(p.pdf(x[::-1, ::2]), one[::-1, ::2])
    np.testing.assert_array_equal(p.pdf(x.astype(np.float32)), p.pdf(x.astype(np.float32).astype(float)))
    packed = np.frombuffer(b"x" + x.tobytes(), np.float64, offset=1).reshape(x.shape)
    np.testing.assert_array_equal(p.pdf(packed), one)


def test_threads_at_once():
    p, count = MultivariateBetaGaussian(1.5, MU, SIGMA), fenchel.SparsePoisson(mu=5)

    def work(seed):
        draws = p.rvs(2000, seed)
        return p.pdf(draws).sum(), count.rvs(2000, seed).sum(), count.fenchel_young([3, 4]), p.cross_omega(draws)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(8))) == [work(seed) for seed in range(8)]


@settings(deadline=None, max_examples=50, derandomize=True)
@given(st.lists(st.tuples(st.floats(), st.floats()), max_size=5), st.sampled_from(ALPHAS))
def test_any_floats(points, alpha):
    p, x = MultivariateBetaGaussian(alpha, MU, SIGMA), np.array(points, float).reshape(-1, 2)
    density, inside = p.pdf(x), p.support().contains(x)
    bad = np.isnan(x).any(axis=1)
    np.testing.assert_array_equal(np.isnan(density), bad)
    assert not inside[bad].any() and (density[~inside & ~bad] == 0).all()
    np.testing.assert_array_equal(np.isnan(p.logpdf(x)), bad)


def test_losses_vanish_at_the_prediction_only(moderate):
    p = moderate
    value, gradient = p.fenchel_young(p, return_gradient=True)
    assert value == 0 and (gradient["mu"] == 0).all() and (gradient["Sigma"] == 0).all() and gradient["alpha"] == 0
    assert p.fenchel_young(pickle.loads(pickle.dumps(p))) == 0
    for q in (MultivariateBetaGaussian(p.alpha, [0.3, -0.9], SIGMA), MultivariateBetaGaussian(p.alpha, MU, [1, 1])):
        assert p.fenchel_young(q) > 0
    # The negentropy is all that the two losses differ by.
    q = MultivariateBetaGaussian(1.7, [0, 0], [1, 2])
    difference = p.fenchel_young(q) - p.cross_omega(q)
    assert difference == pytest.approx(-q.tsallis_entropy(p.alpha), rel=1e-9)


def test_losses_of_points_and_samples():
    x = np.random.default_rng(2).normal(size=(30, 2))
    p = MultivariateBetaGaussian(1, MU, SIGMA)
    assert p.cross_omega(x) == pytest.approx(-p.logpdf(x).mean())
    assert p.cross_omega(x[0]) == pytest.approx(-p.logpdf(x[0])) and p.cross_omega(x[:1]) == p.cross_omega(x[0])
    for alpha in ALPHAS[:-2]:
        q = MultivariateBetaGaussian(alpha, MU, SIGMA)
        assert q.cross_omega(x) == pytest.approx(np.mean([q.cross_omega(point) for point in x]))
        assert (q.fenchel_young(x[0]) == math.inf) == (alpha >= 1)
        matched = MultivariateBetaGaussian.from_covariance(alpha, x.mean(axis=0), np.cov(x.T, bias=True))
        _, gradient = matched.cross_omega(x, return_gradient=True)
        np.testing.assert_allclose(gradient["mu"], 0, atol=1e-10)
        np.testing.assert_allclose(gradient["Sigma"], 0, atol=1e-10)
    assert math.isnan(p.cross_omega([0, math.nan])) and p.cross_omega([0, math.inf]) == math.inf


@pytest.mark.parametrize("alpha", [0.8, 1.2, 2, 5])
@pytest.mark.parametrize("loss", ["fenchel_young", "cross_omega"])
def test_gradients_are_difference_quotients(alpha, loss):
    mu, sigma, h = np.array(MU), np.array(SIGMA), 1e-5
    target = MultivariateBetaGaussian(1.5, [0.5, -0.7], [[1, 0.2], [0.2, 2]])

    def slope(of):
        return (getattr(of(h), loss)(target) - getattr(of(-h), loss)(target)) / (2 * h)

    _, gradient = getattr(MultivariateBetaGaussian(alpha, mu, sigma), loss)(target, return_gradient=True)
    assert set(gradient) == {"mu", "Sigma", "alpha"}
    for i in range(2):
        step = np.eye(2)[i]
        quotient = slope(lambda d: MultivariateBetaGaussian(alpha, mu + d * step, sigma))
        assert gradient["mu"][i] == pytest.approx(quotient, abs=1e-7)
    for step in (np.diag([1, 0]), np.diag([0, 1]), np.array([[0, 1], [1, 0]])):
        quotient = slope(lambda d: MultivariateBetaGaussian(alpha, mu, sigma + d * step))
        assert (gradient["Sigma"] * step).sum() == pytest.approx(quotient, abs=1e-7)
    quotient = slope(lambda d: MultivariateBetaGaussian(alpha + d, mu, sigma))
    assert gradient["alpha"] == pytest.approx(quotient, abs=1e-6)


P = MultivariateBetaGaussian


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: P(2, MU, [[1, 2], [0, 1]]), ValueError, r"Sigma\[1, 0\] must equal Sigma\[0, 1\] = 2, got 0"),
        (lambda: P(2, MU, [[1, 2], [2, 1]]), ValueError, "smallest eigenvalue of Sigma must not be negative, got -"),
        (lambda: P(2, MU, [[0, 0], [0, 0]]), ValueError, "largest eigenvalue of Sigma must be positive, got 0"),
        (lambda: P(2, MU, np.ones((2, 3))), ValueError, "Sigma must be 2 x 2, got 2 x 3"),
        (lambda: P(2, MU, [1, 2, 3]), ValueError, r"sigma2.size\(\) must be mu.size\(\) = 2, got 3"),
        (lambda: P(2, MU, 3), ValueError, r"Sigma must be a matrix, got an array of shape \(\)"),
        (lambda: P(2, 0, [1]), ValueError, r"mu must be a vector, got an array of shape \(\)"),
        (lambda: P(2, [], []), ValueError, r"mu.size\(\) must be positive, got 0"),
        (lambda: P(2, [0, math.nan], SIGMA), ValueError, r"mu\[1\] must be finite, got nan"),
        (lambda: P(-1, MU, SIGMA), ValueError, "alpha must be greater than 0 for rank 2, got -1"),
        (lambda: P(0.3, [0, 0, 0], [1, 1, 1]), ValueError, "alpha must be greater than 1 - 2/3 for rank 3, got 0.3"),
        (lambda: P("2", MU, SIGMA), TypeError, "alpha must be a real number, got '2'"),
        (lambda: P(2, ["a"], SIGMA), TypeError, "mu must be real numbers"),
        (lambda: P(2, MU, [[1j, 0], [0, 1]]), TypeError, "Sigma must be real numbers"),
        (lambda: P.from_covariance(0.4, MU, SIGMA), ValueError, "alpha must be greater than 2/4 for rank 2, got 0.4"),
        (lambda: P.uniform(SIGMA), TypeError, "support must be an Ellipsoid"),
        (lambda: P.uniform(Ellipsoid(MU, SIGMA, math.inf)), ValueError, "radius2 must be positive and finite, got inf"),
        (lambda: Ellipsoid(MU, SIGMA, -1), ValueError, "radius2 must not be negative, got -1"),
        (lambda: Ellipsoid(MU, [[1, 2], [2, 1]], 1), ValueError, "smallest eigenvalue"),
        (lambda: P(2, MU, SIGMA).pdf([1, 2, 3]), ValueError, r"x must have shape \(..., 2\), got \(3,\)"),
        (lambda: P(2, MU, SIGMA).pdf(1), ValueError, r"x must have shape \(..., 2\), got \(\)"),
        (lambda: P(2, MU, SIGMA).marginal([0, 0]), ValueError, r"indices\[1\] must differ from those before"),
        (lambda: P(2, MU, SIGMA).marginal([]), ValueError, "must be positive, got 0"),
        (lambda: P(2, MU, SIGMA).marginal([2]), ValueError, r"indices\[0\] must be in \[0, 2\), got 2"),
        (lambda: P(2, MU, SIGMA).marginal([0.5]), TypeError, "indices must be a sequence of integers"),
        (lambda: P(2, MU, SIGMA).marginal(0), TypeError, "indices must be a sequence of integers, got 0"),
        (lambda: P(2, MU, SIGMA).conditional([0], [9]), ValueError, "density of the values must be positive, got 0"),
        (lambda: P(2, MU, SIGMA).conditional([0], [1, 2]), ValueError, r"values.size\(\) must be .* = 1, got 2"),
        (lambda: P(2, MU, SIGMA).affine([[1, 2, 3]], [0]), ValueError, r"B.cols\(\) must be the dimension 2, got 3"),
        (lambda: P(2, MU, SIGMA).affine([[0, 0]], [0]), ValueError, "must be positive"),
        (lambda: P(2, MU, SIGMA).contour(1.5), ValueError, r"mass must be in \[0, 1\], got 1.5"),
        (lambda: P(2, MU, SIGMA).escort(-1), ValueError, "order must be at least 0, got -1"),
        (lambda: P(2, MU, SIGMA).tsallis_entropy(0), ValueError, "order must be positive, got 0"),
        (lambda: P(2, MU, SIGMA).expect(3), TypeError, "func must be callable, got 3"),
        (lambda: P(2, MU, SIGMA).expect(lambda x: math.nan), ValueError, "must be a number, got nan"),
        (lambda: P(2, MU, SIGMA).expect(lambda x: 1 / 0), ZeroDivisionError, "division"),
        (lambda: P(2, MU, SIGMA).rvs(-1), ValueError, "size must not be negative, got -1"),
        (lambda: P(2, MU, SIGMA).cross_omega([1, 2, 3]), ValueError, r"target must have shape \(..., 2\), got \(3,\)"),
        (lambda: P(2, MU, SIGMA).cross_omega(np.zeros((2, 2, 2))), ValueError, "target must be a vector or a matrix"),
        (lambda: P(2, MU, SIGMA).cross_omega(np.zeros((0, 2))), ValueError, "must not be empty"),
        (lambda: P(2, MU, SIGMA).cross_omega(P(2, [0], [1])), ValueError, "dimension"),
        (lambda: P(2, MU, SIGMA).cross_omega(fenchel.BetaGaussian(2)), TypeError, "target must be"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()
