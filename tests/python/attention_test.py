"""Continuous attention: every family with every basis against quadrature, golden numbers, derivatives."""

import copy
import gc
import math
import pickle
import weakref

import golden
import numpy as np
import pytest
import support

import fenchel

ALPHAS = [0.8, *support.ALPHAS]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)

FAMILIES = [fenchel.BetaGaussian(alpha, 0.3, 0.6) for alpha in ALPHAS]
FAMILIES += [fenchel.BetaLaplace(alpha, 0.3, 0.4) for alpha in (0.8, 1, 1.5, 2, 5)]
FAMILIES += [
    fenchel.Triangular(0.2, 2),
    fenchel.Uniform(-1, 2),
    fenchel.TruncatedGaussian(1.5, 0.3, 2),
    fenchel.CappedTriangular(0.5, 0.1, 1.2),
    fenchel.CappedParabola(0.5, 0.1, 1.2**2),
    fenchel.SmoothTriangular(0.5, 0.1, 1.2),
    fenchel.SmoothParabola(0.5, 0.1, 1.2**2),
    fenchel.CappedParabola(0.5, 0.1, 1.2**2).escort(0.5),
    fenchel.predict(fenchel.Tsallis(2), math.sin, fenchel.Interval(-2, 4)),
]
INTEGERS = [fenchel.SparsePoisson(2, 3.2), fenchel.SparsePoisson(1.5, 3.2), fenchel.SparseIntegerGaussian(2, 0.4, 6.0)]
BASES = [
    fenchel.GaussianBasis([-1, 0.2, 0.9], [0.4, 0.1, 3]),
    fenchel.PolynomialBasis(3, 0.1, 2),
    fenchel.FourierBasis(2, 1.7),
    fenchel.FunctionBasis([math.cos, abs], [0]),
]
BASES.append(fenchel.ConcatenatedBasis(*BASES))
DIFFERENTIABLE = [
    fenchel.BetaGaussian(0.8, 0.3, 0.6),
    fenchel.BetaGaussian(1, 0.3, 0.6),
    fenchel.BetaGaussian(1.5, 0.3, 0.6),
    fenchel.BetaGaussian(5, 0.3, 0.6),
    fenchel.BetaLaplace(1.5, 0.3, 0.4),
    fenchel.CappedTriangular(0.5, 0.1, 1.2),
    fenchel.CappedParabola(0.5, 0.1, 1.2**2),
    fenchel.SmoothTriangular(0.5, 0.1, 1.2),
    fenchel.SmoothParabola(0.5, 0.1, 1.2**2),
]


def quadrature(p, basis):
    """Gauss-Legendre on panels that double from the centre and both ends of the support on."""
    lower, upper = p.support()
    centre = p.median()
    reach = [math.inf if math.isinf(end) else abs(end - centre) for end in (lower, upper)]
    ends = {0.0}
    for sign, length in zip((-1, 1), reach):
        if math.isinf(length):
            ends.update(sign * 2.0**k for k in range(-8, 44))
        else:
            ends.update(sign * length * min(2.0**k, 1) for k in range(-40, 1))
            ends.update(sign * length * (1 - 2.0**k) for k in range(-40, 0))
            ends.update(sign * length * x for x in np.linspace(0, 1, 65))
    cuts = [x for b in (-1, 0, 0.2, 0.9) for x in (b + 0.9, b, b - 0.9)]
    ends.update(x - centre for x in cuts if lower < x < upper)
    grid = np.array(sorted(ends)) + centre
    half = np.diff(grid)[:, None] / 2
    t = grid[:-1, None] + half * (1 + NODES)
    return np.einsum("ij,ij,ijk->k", half * WEIGHTS, p.pdf(t), basis(t))


@pytest.mark.parametrize("basis", BASES, ids=lambda b: type(b).__name__)
@pytest.mark.parametrize("p", FAMILIES, ids=repr)
def test_densities_against_quadrature(p, basis):
    if getattr(p, "alpha", 1) < 1 and basis not in BASES[:2]:
        basis = BASES[0]  # these panels do not follow waves into heavy tails
    kinks = isinstance(p, (fenchel.CappedTriangular, fenchel.CappedParabola, fenchel.EscortDensity))
    error = 1e-5 if kinks else 1e-9
    np.testing.assert_allclose(fenchel.attend(p, basis), quadrature(p, basis), rtol=error, atol=error)


@pytest.mark.parametrize("basis", BASES, ids=lambda b: type(b).__name__)
@pytest.mark.parametrize("p", INTEGERS, ids=repr)
def test_integers_are_sums(p, basis):
    k = np.arange(-60, 80)
    np.testing.assert_allclose(fenchel.attend(p, basis), p.pmf(k) @ basis(k), rtol=1e-12, atol=1e-14)


def test_numbers_of_the_paper():
    """docs/math.md 8, rows 74 to 76: values, derivatives, and covariances of order 2 - alpha."""
    rows = {
        2: [0.4189347210775351, 0.62468844430897872, 0.0051072740822574979, 0.39980060435774638, 0.24406424154283317],
        1.5: [0.4071106503120917, 0.45803132938819676, -0.045644854098784505, 0.29314005080844593, 0.13849176600734329],
        4 / 3: [0.395867747780386, 0.39378411677488869, -0.070826578922574465, 0.25202183473592876, 0.0931919673881843],
    }
    basis = fenchel.GaussianBasis([0.9], 0.4)
    for alpha, row in rows.items():
        p = fenchel.BetaGaussian(alpha, 0.3, 0.8**2)
        gradient = fenchel.attend_vjp(p, basis, [1])
        found = [*fenchel.attend(p, basis), gradient["mu"], gradient["sigma2"], *fenchel.attend_jacobian(p, basis)[0]]
        np.testing.assert_allclose(found, row, rtol=1e-12)


def test_numbers_of_the_plane():
    """docs/math.md 8, row 84: sparsemax in 2-D, its value and covariances of order 0 with t - mu."""
    mu, sigma = np.array([0.1, -0.2]), np.array([[0.6, 0.2], [0.2, 0.3]])
    p = fenchel.MultivariateBetaGaussian(2, mu, sigma)
    basis = fenchel.MultivariateGaussianBasis([[0.5, 0.3]], [[0.2, -0.05], [-0.05, 0.1]])
    np.testing.assert_allclose(fenchel.attend(p, basis), [0.27976966910860664], rtol=1e-10)
    jacobian = fenchel.attend_jacobian(p, basis)
    assert jacobian.shape == (1, 6)
    np.testing.assert_allclose(jacobian[0, :2], [0.25791386590724169, 0.23447693419926623], rtol=1e-9)
    c1, c2 = jacobian[0, :2], jacobian[0, 2:].reshape(2, 2)
    about_mu = c2 - np.outer(mu, c1) - np.outer(c1, mu)
    np.testing.assert_allclose(
        about_mu[[0, 0, 1], [0, 1, 1]], [-0.0025372614203001867, 0.036142142395745433, 0.029220903934120327], rtol=1e-8
    )


def test_numbers_of_space():
    count = 0
    for block in golden.cases("attention_space.txt"):
        (alpha,), mean, (value,) = block["alpha"], block["mean"], block["value"]
        p = fenchel.MultivariateBetaGaussian(alpha, np.zeros(len(mean)), np.eye(len(mean)))
        basis = fenchel.MultivariateGaussianBasis([mean], np.diag(block["variances"]))
        peak = basis(mean)[0]
        if value > 1e-30 * peak:
            count += 1
            np.testing.assert_allclose(fenchel.attend(p, basis), [value], rtol=1e-10)
    assert count > 20


def change(p, name, h):
    """p with a parameter moved by h."""
    values = {key: getattr(p, key) for key in p._parameters}
    if name == "b" and name not in values:
        name = "sigma"
    if name == "sigma2" and name not in values:
        values["sigma"] = math.sqrt(p.sigma2 + h)
    else:
        values[name] = values[name] + h
    return type(p)(**values)


def difference(p, basis, name, h=1e-5):
    return (fenchel.attend(change(p, name, h), basis) - fenchel.attend(change(p, name, -h), basis)) / (2 * h)


@pytest.mark.parametrize("basis", BASES[:3], ids=lambda b: type(b).__name__)
@pytest.mark.parametrize("p", DIFFERENTIABLE, ids=repr)
def test_derivatives_are_difference_quotients(p, basis):
    names = list(fenchel.attend_vjp(p, basis, np.zeros(len(basis))))
    assert names == ["mu", "sigma2" if hasattr(p, "sigma2") else "b", "alpha" if hasattr(p, "alpha") else "gamma"]
    for name in names:
        expected = difference(p, basis, name)
        np.testing.assert_allclose(fenchel.attend_jvp(p, basis, {name: 1}), expected, rtol=1e-5, atol=1e-6)
        for j in range(len(basis)):
            found = fenchel.attend_vjp(p, basis, np.eye(len(basis))[j])[name]
            np.testing.assert_allclose(found, expected[j], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("basis", BASES[:3], ids=lambda b: type(b).__name__)
def test_a_truncated_gaussian_has_derivatives_in_its_own_parameters(basis):
    p, weights = fenchel.TruncatedGaussian(2.5, 0.3, 0.6), np.linspace(-1, 2, len(basis))
    gradient = fenchel.attend_vjp(p, basis, weights)
    assert list(gradient) == ["kappa", "mu", "sigma2"]
    for name in gradient:
        expected = difference(p, basis, name)
        np.testing.assert_allclose(fenchel.attend_jvp(p, basis, {name: 1}), expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(gradient[name], weights @ expected, rtol=1e-5, atol=1e-5)


def test_derivatives_of_any_functions_are_those_of_the_parts():
    p, both = fenchel.BetaGaussian(1.5, 0.3, 0.6), BASES[-1]
    np.testing.assert_allclose(fenchel.attend_jvp(p, both, {"mu": 1}), difference(p, both, "mu"), rtol=1e-5, atol=1e-6)
    jacobian = np.concatenate([fenchel.attend_jacobian(p, basis) for basis in both.bases])
    np.testing.assert_array_equal(fenchel.attend_jacobian(p, both), jacobian)


def test_jacobian_is_in_the_canonical_parameters():
    p, basis, h = fenchel.BetaGaussian(2, 0.3, 0.6), BASES[0], 1e-6
    theta = np.array(p.canonical_parameters())
    for k, step in enumerate(np.eye(2) * h):
        moved = [fenchel.attend(fenchel.BetaGaussian.from_canonical(2, t), basis) for t in (theta + step, theta - step)]
        np.testing.assert_allclose(
            fenchel.attend_jacobian(p, basis)[:, k], (moved[0] - moved[1]) / (2 * h), rtol=1e-6, atol=1e-8
        )
    q = fenchel.BetaLaplace(1.5, 0.3, 0.4)
    moved = [fenchel.attend(fenchel.BetaLaplace(1.5, 0.3, -1 / (-1 / 0.4 + d)), basis) for d in (h, -h)]
    np.testing.assert_allclose(
        fenchel.attend_jacobian(q, basis)[:, 0], (moved[0] - moved[1]) / (2 * h), rtol=1e-6, atol=1e-8
    )


def test_derivatives_in_space_are_difference_quotients():
    mu, sigma, h = np.array([0.1, -0.2]), np.array([[0.6, 0.2], [0.2, 0.3]]), 1e-6
    basis = fenchel.MultivariateGaussianBasis([[0.5, 0.3], [0, 0]], [[0.2, -0.05], [-0.05, 0.1]])
    p = fenchel.MultivariateBetaGaussian(1.5, mu, sigma)
    change = {"mu": np.array([0.4, -1.0]), "Sigma": np.array([[0.3, 0.1], [0.1, -0.2]]), "alpha": 0.7}
    moved = [
        fenchel.attend(
            fenchel.MultivariateBetaGaussian(1.5 + s * 0.7, mu + s * change["mu"], sigma + s * change["Sigma"]), basis
        )
        for s in (h, -h)
    ]
    slope = (moved[0] - moved[1]) / (2 * h)
    np.testing.assert_allclose(fenchel.attend_jvp(p, basis, change), slope, rtol=1e-6)
    gradient = fenchel.attend_vjp(p, basis, [1, -2])
    np.testing.assert_allclose(sum(np.sum(gradient[k] * change[k]) for k in gradient), slope @ [1, -2], rtol=1e-6)


def test_points_samples_and_sequences():
    basis = BASES[0]
    np.testing.assert_array_equal(fenchel.attend(0.3, basis), basis(0.3))
    sample = np.array([0.1, 0.5, 0.2, -3])
    np.testing.assert_allclose(fenchel.attend(sample, basis), basis(sample).mean(axis=0), rtol=1e-14)
    ps = [fenchel.BetaGaussian(2), fenchel.BetaLaplace(1), fenchel.SparsePoisson(mu=2)]
    np.testing.assert_array_equal(fenchel.attend(ps, basis), [fenchel.attend(p, basis) for p in ps])
    plane = fenchel.MultivariateGaussianBasis.unit_square(2, 3, 0.1 * np.eye(2))
    np.testing.assert_array_equal(fenchel.attend([0.2, 0.3], plane), plane([0.2, 0.3]))
    points = np.array([[0.2, 0.3], [0.1, 0.9]])
    np.testing.assert_allclose(fenchel.attend(points, plane), plane(points).mean(axis=0), rtol=1e-14)


def test_bases_at_points():
    t = np.linspace(-1, 1, 6).reshape(2, 3)
    mu, sigma = np.array([0.1, 0.5]), np.array([0.2, 2])
    gaussian = np.exp(-(((t[..., None] - mu) / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi))
    np.testing.assert_allclose(fenchel.GaussianBasis(mu, sigma)(t), gaussian, rtol=1e-14)
    np.testing.assert_allclose(fenchel.PolynomialBasis(3, 0.5, 2)(t), ((t[..., None] - 0.5) / 2) ** np.arange(4))
    waves = fenchel.FourierBasis(2, 3)(t)
    np.testing.assert_allclose(waves[..., 3], np.cos(4 * np.pi * t / 3), atol=1e-15)
    np.testing.assert_allclose(waves[..., 4], np.sin(4 * np.pi * t / 3), atol=1e-15)
    assert fenchel.GaussianBasis(mu, sigma)(np.empty((0, 3))).shape == (0, 3, 2)
    assert np.isnan(fenchel.GaussianBasis(mu, sigma)([np.nan, 0])).tolist() == [[True, True], [False, False]]
    plane = fenchel.MultivariateGaussianBasis([[0.1, 0.2], [0.5, 0.5]], [[0.2, 0.1], [0.1, 0.3]])
    points = np.arange(12.0).reshape(2, 3, 2)[::-1] / 12
    away = points[..., None, :] - plane.mu
    inverse = np.linalg.inv(plane.Sigma[0])
    expected = np.exp(-np.einsum("...i,ij,...j->...", away, inverse, away) / 2) / (2 * np.pi * math.sqrt(0.05))
    np.testing.assert_allclose(plane(points), expected, rtol=1e-13)


def test_spaced_bases():
    basis = fenchel.GaussianBasis.linearly_spaced(6, 0, 1, [0.1, 0.5])
    np.testing.assert_allclose(basis.mu, [0, 0.5, 1] * 2)
    np.testing.assert_allclose(basis.sigma, [0.1] * 3 + [0.5] * 3)
    square = fenchel.MultivariateGaussianBasis.unit_square(2, 3, 0.001 * np.eye(2))
    np.testing.assert_allclose(square.mu[1], [0.5, 0])
    assert square.Sigma.shape == (6, 2, 2) and square.dimension == 2 and basis.dimension is None


def cube(t):
    return t**3


@pytest.mark.parametrize(
    "basis",
    [*BASES[:3], fenchel.MultivariateGaussianBasis.unit_square(2, 2, np.eye(2))]
    + [fenchel.FunctionBasis([math.sin, cube], [0.1]), fenchel.ConcatenatedBasis(BASES[0], BASES[1])],
    ids=lambda b: type(b).__name__,
)
def test_bases_are_values(basis):
    for other in (pickle.loads(pickle.dumps(basis)), copy.deepcopy(basis)):
        assert other == basis and hash(other) == hash(basis) and len(other) == len(basis)
        t = 0.3 if basis.dimension is None else [0.3, 0.4]
        np.testing.assert_array_equal(other(t), basis(t))
    assert type(basis).__name__ in repr(basis) and "\n" not in repr(basis)
    assert basis != fenchel.PolynomialBasis(7)


def test_bases_differ_where_their_parameters_do():
    assert fenchel.GaussianBasis([0.0], 1) != fenchel.GaussianBasis([0.1], 1)
    assert fenchel.FourierBasis(2) != fenchel.FourierBasis(2, 3)
    assert fenchel.FunctionBasis([math.sin]) != fenchel.FunctionBasis([math.cos])
    with pytest.raises(AttributeError):
        fenchel.PolynomialBasis(2).degree = 3


def test_functions_live_as_long_as_their_basis():
    """Functions that nobody else holds are called, and a basis that its own function holds is collected."""
    basis = fenchel.FunctionBasis([lambda t, k=k: t + k for k in range(3)])
    gc.collect()
    np.testing.assert_array_equal(basis(0.5), [0.5, 1.5, 2.5])

    class Held:
        pass

    held = Held()
    held.basis = fenchel.FunctionBasis([lambda t, held=held: t])
    seen = weakref.ref(held)
    del held
    gc.collect()
    assert seen() is None


def test_repr_is_short_and_says_what_it_is():
    assert repr(fenchel.GaussianBasis([0, 0.5], 0.25)) == "GaussianBasis(mu=[0. , 0.5], sigma=[0.25, 0.25])"
    assert len(repr(fenchel.GaussianBasis.linearly_spaced(128))) < 120
    assert repr(fenchel.PolynomialBasis(2)) == "PolynomialBasis(degree=2, centre=0.0, width=1.0)"


def test_what_functions_raise_reaches_the_caller():
    def fails(t):
        raise KeyError("mine")

    basis = fenchel.FunctionBasis([math.cos, fails])
    for call in (lambda: basis(0.5), lambda: fenchel.attend(fenchel.BetaGaussian(2), basis)):
        with pytest.raises(KeyError, match="mine"):
            call()
    with pytest.raises(TypeError, match="functions must return a real number, got 'a'"):
        fenchel.attend(fenchel.BetaGaussian(2), fenchel.FunctionBasis([lambda t: "a"]))
    with pytest.raises(ValueError, match="NaN|nan"):
        fenchel.attend(fenchel.BetaGaussian(2), fenchel.FunctionBasis([lambda t: math.nan]))


LINE, PLANE = BASES[0], fenchel.MultivariateGaussianBasis.unit_square(2, 2, np.eye(2))
P, Q = fenchel.BetaGaussian(2), fenchel.MultivariateBetaGaussian(2, [0, 0], np.eye(2))


@pytest.mark.parametrize(
    "error, message, call",
    [
        (ValueError, "mu must have shape", lambda: fenchel.GaussianBasis(0.5, 1)),
        (ValueError, "sigma must have shape", lambda: fenchel.GaussianBasis([0.5, 1], [1, 2, 3])),
        (ValueError, "Sigma must have shape", lambda: fenchel.MultivariateGaussianBasis([[0.5, 1]], 0.1)),
        (ValueError, "must be positive", lambda: fenchel.GaussianBasis([0.5, 1], [1, -2])),
        (ValueError, "must be finite", lambda: fenchel.GaussianBasis([0.5, np.nan], 1)),
        (ValueError, "empty|must be|at least", lambda: fenchel.GaussianBasis([], [])),
        (ValueError, "smallest eigenvalue", lambda: fenchel.MultivariateGaussianBasis([[0.5, 1]], [[1, 2], [2, 1]])),
        (TypeError, "mu must be real", lambda: fenchel.GaussianBasis(["a"], 1)),
        (ValueError, "multiple", lambda: fenchel.GaussianBasis.linearly_spaced(7)),
        (ValueError, r"shape \(2, 2\)", lambda: fenchel.MultivariateGaussianBasis.unit_square(2, 2, 0.1)),
        (ValueError, "degree", lambda: fenchel.PolynomialBasis(-1)),
        (TypeError, "integer", lambda: fenchel.PolynomialBasis(1.5)),
        (ValueError, "width must be positive", lambda: fenchel.PolynomialBasis(1, 0, 0)),
        (ValueError, "period must be positive", lambda: fenchel.FourierBasis(1, -1)),
        (TypeError, "callable", lambda: fenchel.FunctionBasis([1])),
        (ValueError, "must not be empty|at least|no function", lambda: fenchel.FunctionBasis([])),
        (TypeError, "bases on the line", lambda: fenchel.ConcatenatedBasis(PLANE)),
        (ValueError, "empty", lambda: fenchel.ConcatenatedBasis()),
        (ValueError, r"t must have shape \(..., 2\)", lambda: PLANE([1, 2, 3])),
        (TypeError, "basis must be a basis", lambda: fenchel.attend(P, 1)),
        (ValueError, "basis must be on the line", lambda: fenchel.attend(P, PLANE)),
        (ValueError, r"basis must be on R\^2", lambda: fenchel.attend(Q, LINE)),
        (ValueError, "not be empty", lambda: fenchel.attend([], LINE)),
        (TypeError, "all distributions", lambda: fenchel.attend([P, 1.0], LINE)),
        (ValueError, "sample must have shape", lambda: fenchel.attend([[0.1, 0.2]], LINE)),
        (ValueError, r"cotangent must have shape \(3,\)", lambda: fenchel.attend_vjp(P, LINE, [1, 2])),
        (ValueError, "direction must be in mu, sigma2, alpha", lambda: fenchel.attend_jvp(P, LINE, {"sigma": 1})),
        (ValueError, "direction of Sigma", lambda: fenchel.attend_jvp(Q, PLANE, {"Sigma": 1})),
        (TypeError, "has no canonical parameters", lambda: fenchel.attend_jacobian(fenchel.TruncatedGaussian(2), LINE)),
        (ValueError, "length", lambda: fenchel.positions(0)),
    ],
)
def test_bad_arguments(error, message, call):
    with pytest.raises(error, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_threads():
    def work():
        return [fenchel.attend(p, BASES[0]) for p in FAMILIES[:9]]

    expected = work()
    for found in support.at_once(8, work):
        np.testing.assert_array_equal(found, expected)
