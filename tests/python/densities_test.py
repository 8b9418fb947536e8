"""Attention over arrays, ridge regression and densities from weights: golden numbers, laws, shapes, bad arguments."""

import math
import pickle
import sys
import threading

import golden
import numpy as np
import pytest
from support import at_once

import fenchel
from fenchel import Densities, attend, attend_context, attend_jvp, attend_vjp

EPS = np.finfo(float).eps
LINE = fenchel.GaussianBasis([0.0, 0.25, 0.5, 1.0], [0.15, 0.02, 0.15, 3.0])
PLANE = fenchel.MultivariateGaussianBasis([[0.2, 0.2], [0.8, 0.5]], [[0.1, 0.02], [0.02, 0.2]])
RNG = np.random.default_rng(7)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_of_multiprecision(dtype):
    rows = golden.lines("attention_rows.txt")
    assert len(rows) == 396
    for words in rows:
        alpha, mu, sigma2, mean, variance = map(float.fromhex, words[:5])
        value, *slopes, s1, s2, s3, kappa = map(float, words[5:])
        basis = fenchel.GaussianBasis([mean], [math.sqrt(variance)])
        p = Densities(alpha, np.array([mu], dtype), np.array([sigma2], dtype))
        found = fenchel.attend(p, basis)
        assert found.dtype == dtype and np.all(found >= 0)
        if value <= 1e-30 * basis(mean)[0]:
            continue
        single = dtype == np.float32
        error = 2e-5 if single else 1e-12 + 12 * EPS * kappa
        assert abs(found[0, 0] - value) <= error * value + 2e-45
        gradient = fenchel.attend_vjp(p, basis, [[1.0]])
        error = 2e-5 if single else 1e-10 + 12 * EPS * kappa
        for name, slope, scale in zip(("mu", "Sigma", "alpha"), slopes, (s1, s2, s3)):
            rounding = 8 * EPS * value / alpha if name == "alpha" and math.isfinite(alpha) else 0
            assert abs(gradient[name][0] - slope) <= error * scale + rounding + 2e-45


@pytest.mark.parametrize("alpha", [0.8, 1, np.nextafter(1, 2), 1 + 1e-8, 4 / 3, 1.5, 2, 5, 1e6])
def test_rows_are_single_densities(alpha):
    mu, sigma2 = RNG.uniform(-1, 1, (2, 3)), RNG.uniform(0.01, 2, (2, 3))
    r = fenchel.attend(Densities(alpha, mu, sigma2), LINE)
    assert r.shape == (2, 3, 4)
    for i in np.ndindex(2, 3):
        p = fenchel.BetaGaussian(alpha, mu[i], sigma2[i])
        np.testing.assert_allclose(r[i], fenchel.attend(p, LINE), rtol=1e-12)
    centres = RNG.uniform(0, 1, (3, 2))
    scales = np.array([[[0.6, 0.2], [0.2, 0.3]]]) * np.array([0.1, 1, 2])[:, None, None]
    r = fenchel.attend(Densities(alpha, centres, scales), PLANE)
    for i in range(3):
        p = fenchel.MultivariateBetaGaussian(alpha, centres[i], scales[i])
        np.testing.assert_allclose(r[i], fenchel.attend(p, PLANE), rtol=1e-10)


def test_every_row_may_have_its_alpha():
    alpha, mu = np.array([[0.5], [1.0], [2.0]]), np.array([0.1, 0.4])
    r = fenchel.attend(Densities(alpha, mu, 0.3), LINE)
    assert r.shape == (3, 2, 4)
    for i, j in np.ndindex(3, 2):
        np.testing.assert_array_equal(r[i, j], fenchel.attend(Densities(alpha[i, 0], mu[j], 0.3), LINE))


def test_float32_is_the_rounded_float64():
    mu, sigma2 = RNG.uniform(-1, 1, 50).astype(np.float32), RNG.uniform(0.01, 2, 50).astype(np.float32)
    wide = fenchel.attend(Densities(1.5, mu.astype(float), sigma2.astype(float)), LINE)
    r = fenchel.attend(Densities(1.5, mu, sigma2), LINE)
    assert r.dtype == np.float32
    np.testing.assert_allclose(r, wide, rtol=2e-5, atol=1e-40)
    assert fenchel.attend(Densities(1.5, mu, 0.3), LINE).dtype == np.float32
    assert fenchel.attend(Densities(1.5, mu, sigma2.astype(float)), LINE).dtype == np.float64
    assert fenchel.attend(Densities(2, [1, 2], 1), LINE).dtype == np.float64


def test_any_strides_and_read_only():
    mu, sigma2 = RNG.uniform(-1, 1, (6, 4)), RNG.uniform(0.01, 2, (6, 4))
    expected = fenchel.attend(Densities(2, mu[::2, ::-1].copy(), sigma2[::2, ::-1].copy()), LINE)
    np.testing.assert_array_equal(fenchel.attend(Densities(2, mu[::2, ::-1], sigma2[::2, ::-1]), LINE), expected)
    still = mu[::2, ::-1].copy()
    still.flags.writeable = False
    np.testing.assert_array_equal(fenchel.attend(Densities(2, still, sigma2[::2, ::-1]), LINE), expected)
    unaligned = np.frombuffer(b"x" + still.tobytes(), np.uint8)[1:].view(float).reshape(still.shape)
    swapped = still.astype(still.dtype.newbyteorder())
    for odd in (unaligned, swapped, np.asfortranarray(still)):
        np.testing.assert_array_equal(fenchel.attend(Densities(2, odd, sigma2[::2, ::-1]), LINE), expected)


def test_out():
    mu, sigma2 = RNG.uniform(-1, 1, 5), RNG.uniform(0.01, 2, 5)
    expected = fenchel.attend(Densities(2, mu, sigma2), LINE)
    for out in (np.empty((5, 4)), np.empty((4, 5)).T, np.empty((10, 8))[::2, ::2]):
        assert fenchel.attend(Densities(2, mu, sigma2), LINE, out=out) is out
        np.testing.assert_array_equal(out, expected)
    one = fenchel.GaussianBasis([0.1], 0.3)
    memory = RNG.uniform(-1, 1, 1001)
    expected = fenchel.attend(Densities(2, memory[:-1].copy(), 1.0), one)
    fenchel.attend(Densities(2, memory[:-1], 1.0), one, out=memory[1:, None])
    np.testing.assert_array_equal(memory[1:, None], expected)
    direction = {"mu": mu, "Sigma": sigma2}
    out = np.empty((5, 4))
    np.testing.assert_array_equal(
        fenchel.attend_jvp(Densities(2, mu, sigma2), LINE, direction, out=out),
        fenchel.attend_jvp(Densities(2, mu, sigma2), LINE, direction),
    )


def test_no_rows():
    assert fenchel.attend(Densities(2, np.empty(0), np.empty(0)), LINE).shape == (0, 4)
    assert fenchel.attend(Densities(2, np.empty((3, 0, 2)), np.empty((3, 0, 2, 2))), PLANE).shape == (3, 0, 2)
    gradient = fenchel.attend_vjp(Densities(2, np.empty(0), np.empty(0)), LINE, np.empty((0, 4)))
    assert {name: value.shape for name, value in gradient.items()} == {"alpha": (0,), "mu": (0,), "Sigma": (0,)}
    assert fenchel.attend_context(Densities(2, np.empty(0), np.empty(0)), LINE, np.ones((2, 4))).shape == (0, 2)


def moved(function, arguments, direction, h=1e-6):
    """The difference quotient of function(alpha, mu, scale, ...) along a direction."""
    ends = [function(*(x + s * d for x, d in zip(arguments, direction))) for s in (h, -h)]
    return (ends[0] - ends[1]) / (2 * h)


@pytest.mark.parametrize("alpha", [0.8, 1, 1.5, 2, 5])
@pytest.mark.parametrize("space", ["line", "plane"])
def test_derivatives_are_difference_quotients(alpha, space):
    rows = 3
    if space == "line":
        basis, mu, scale = LINE, RNG.uniform(0, 1, rows), RNG.uniform(0.1, 1, rows)
        d_scale = RNG.normal(size=rows)
    else:
        basis, mu = PLANE, RNG.uniform(0, 1, (rows, 2))
        scale = np.eye(2) * RNG.uniform(0.3, 1, (rows, 1, 1)) + 0.05
        d_scale = RNG.normal(size=(rows, 2, 2))
        d_scale = d_scale + d_scale.swapaxes(1, 2)
    d_mu, d_alpha = RNG.normal(size=mu.shape), RNG.normal(size=rows)
    direction = {"alpha": d_alpha, "mu": d_mu, "Sigma": d_scale}
    arguments = np.full(rows, float(alpha)), mu, scale
    slope = moved(lambda a, m, s: fenchel.attend(Densities(a, m, s), basis), arguments, direction.values())
    tangent = fenchel.attend_jvp(Densities(alpha, mu, scale), basis, direction)
    np.testing.assert_allclose(tangent, slope, rtol=1e-5, atol=1e-7)
    without_alpha = fenchel.attend_jvp(Densities(alpha, mu, scale), basis, {"mu": d_mu, "Sigma": d_scale})
    only_alpha = fenchel.attend_jvp(Densities(alpha, mu, scale), basis, {"alpha": d_alpha})
    np.testing.assert_allclose(without_alpha + only_alpha, tangent, rtol=1e-9, atol=1e-12)

    weights = RNG.normal(size=slope.shape)
    gradient = fenchel.attend_vjp(Densities(alpha, mu, scale), basis, weights)
    total = sum(np.sum(gradient[name] * direction[name]) for name in direction)
    np.testing.assert_allclose(total, np.sum(weights * tangent), rtol=1e-9)

    values = RNG.normal(size=(2, len(basis)))
    context = fenchel.attend_context(Densities(alpha, mu, scale), basis, values)
    np.testing.assert_allclose(context, fenchel.attend(Densities(alpha, mu, scale), basis) @ values.T, rtol=1e-11)
    weights = RNG.normal(size=context.shape)
    gradient = fenchel.attend_context_vjp(Densities(alpha, mu, scale), basis, values, weights)
    same = fenchel.attend_vjp(Densities(alpha, mu, scale), basis, weights @ values)
    for name in direction:
        np.testing.assert_allclose(gradient[name], same[name], rtol=1e-8, atol=1e-10)
    by_values = weights.T @ fenchel.attend(Densities(alpha, mu, scale), basis)
    np.testing.assert_allclose(gradient["values"], by_values, rtol=1e-11)


def test_contexts_with_a_matrix_for_each_group():
    mu, values = RNG.uniform(0, 1, (2, 3)), RNG.normal(size=(2, 5, 4))
    r = fenchel.attend(Densities(2, mu, 0.1), LINE)
    context = fenchel.attend_context(Densities(2, mu, 0.1), LINE, values)
    np.testing.assert_allclose(context, np.einsum("kqn,kmn->kqm", r, values), rtol=1e-11)
    small = Densities(2, np.float32(mu), np.float32(0.1))
    assert fenchel.attend_context(small, LINE, np.float32(values)).dtype == np.float32
    gradient = fenchel.attend_context_vjp(Densities(2, mu, 0.1), LINE, values, np.ones((2, 3, 5)))
    np.testing.assert_allclose(gradient["values"], np.broadcast_to(r.sum(axis=1)[:, None], (2, 5, 4)), rtol=1e-11)
    assert gradient["Sigma"].shape == (2, 3)


def design(basis, t):
    return basis(t).T


def test_ridge_is_that_of_linear_algebra():
    h = RNG.normal(size=(3, 20))
    for count, sigma in ((8, 0.12), (40, 0.05)):
        basis = fenchel.GaussianBasis.linearly_spaced(count, sigma=sigma)
        f = design(basis, (np.arange(20) + 0.5) / 20)
        expected = np.linalg.solve(f @ f.T + 0.1 * np.eye(len(basis)), f @ h.T).T
        b = fenchel.ridge_values(h, basis)
        np.testing.assert_allclose(b, expected, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(fenchel.ridge_values(h[1], basis), b[1], rtol=1e-12)
        assert fenchel.ridge_values(h.reshape(1, 3, 20), basis).shape == (1, 3, len(basis))
        np.testing.assert_allclose(fenchel.ridge_values(h.astype(np.float32), basis), b, rtol=1e-4, atol=1e-5)
        regression = fenchel.RidgeRegression(basis, 20)
        np.testing.assert_allclose(h @ regression.matrix, b, rtol=1e-11, atol=1e-13)
        again = pickle.loads(pickle.dumps(regression))
        np.testing.assert_array_equal(again.fit(h).coefficients, regression.fit(h).coefficients)


def test_ridge_on_points_and_other_bases():
    t = np.sort(RNG.uniform(-1, 1, 9))
    line = fenchel.ConcatenatedBasis(fenchel.PolynomialBasis(1), fenchel.FourierBasis(1, 2))
    truth = np.array([[0.5, -1, 2, 0.25, 0]])
    both = np.delete(truth, 2, axis=1)  # the constants of both parts are one function: a penalty tells them apart
    b = fenchel.ridge_values(truth @ design(line, t), line, 1e-9, positions=t)
    np.testing.assert_allclose(np.delete(b, [0, 2], axis=1), both[:, 1:], atol=1e-5)
    np.testing.assert_allclose(b[0, 0] + b[0, 2], 2.5, atol=1e-6)
    grid = fenchel.grid_positions(4, 5)
    h = RNG.normal(size=(2, 20))
    f = design(PLANE, grid)
    expected = np.linalg.solve(f @ f.T + 0.3 * np.eye(2), f @ h.T).T
    np.testing.assert_allclose(fenchel.ridge_values(h, PLANE, 0.3, positions=grid), expected, rtol=1e-10)


def test_padding_is_not_read():
    basis = fenchel.GaussianBasis.linearly_spaced(6, sigma=0.2)
    h = RNG.normal(size=(4, 2, 9))
    lengths = np.array([9, 3, 5, 3])
    for i, n in enumerate(lengths):
        h[i, :, n:] = np.nan
    for dtype, error in ((np.float64, 1e-11), (np.float32, 1e-4)):
        b = fenchel.ridge_values(h.astype(dtype), basis, 0.2, lengths=lengths)
        assert b.dtype == dtype and b.shape == (4, 2, 6)
        for i, n in enumerate(lengths):
            np.testing.assert_allclose(b[i], fenchel.ridge_values(h[i, :, :n], basis, 0.2), rtol=error, atol=error)
    assert fenchel.ridge_values(h[:0], basis, lengths=lengths[:0]).shape == (0, 2, 6)


def test_gradient_of_the_ridge():
    basis, h, step = fenchel.GaussianBasis.linearly_spaced(6, sigma=0.2), RNG.normal(size=(2, 9)), 1e-6
    weights, d_h = RNG.normal(size=(2, 6)), RNG.normal(size=(2, 9))
    gradient = fenchel.RidgeRegression(basis, 9, 0.2).vjp(h, weights)
    loss = [np.sum(weights * fenchel.ridge_values(h + s * d_h, basis, 0.2 + 0.7 * s)) for s in (step, -step)]
    slope = (loss[0] - loss[1]) / (2 * step)
    np.testing.assert_allclose(np.sum(gradient["values"] * d_h) + 0.7 * gradient["ridge"], slope, rtol=1e-6)


def test_value_functions():
    basis = fenchel.GaussianBasis.linearly_spaced(8, sigma=0.12)
    v = fenchel.RidgeRegression(basis, 30, 0.01).fit(np.sin(np.linspace(0, 3, 60)).reshape(2, 30))
    t = np.linspace(0, 1, 6).reshape(2, 3)
    np.testing.assert_allclose(v(t), np.einsum("mn,...n->...m", v.coefficients, basis(t)), rtol=1e-12)
    p = fenchel.BetaGaussian(2, 0.4, 1e-6)
    np.testing.assert_allclose(v.context(p), v.coefficients @ fenchel.attend(p, basis), rtol=1e-14)
    np.testing.assert_allclose(v.context(fenchel.BetaGaussian(2, 0.4, 1e-9)), v(0.4), rtol=1e-4)
    assert v.context([p, p]).shape == (2, 2) and v(0.5).shape == (2,)
    row = fenchel.ValueFunction(v.coefficients[0], basis)
    np.testing.assert_allclose(row.context(p), v.context(p)[0], rtol=1e-14)
    assert pickle.loads(pickle.dumps(row)).basis == basis


def test_matched_weights_have_the_moments():
    w = RNG.dirichlet(np.ones(10), (2, 3))
    t = fenchel.positions(10)
    _, mu, scale = fenchel.match_weights(1.5, w)
    for i in np.ndindex(2, 3):
        p = fenchel.match_weights(1.5, w[i])
        mean = w[i] @ t
        assert p == fenchel.BetaGaussian(1.5, mu[i], scale[i])
        np.testing.assert_allclose([p.mean(), p.var()], [mean, w[i] @ (t - mean) ** 2 + 1 / 1200], rtol=1e-12)
    np.testing.assert_allclose(fenchel.match_weights(2, np.full(7, 1 / 7)).var(), 1 / 12, rtol=1e-12)
    q = fenchel.match_weights(2, w[0, 0], 3 * t, floor=0)
    np.testing.assert_allclose(q.mean(), 3 * w[0, 0] @ t, rtol=1e-12)
    grid = fenchel.grid_positions(2, 5)
    plane = fenchel.match_weights(2, w[0, 0], grid, floor=0.01)
    mean = w[0, 0] @ grid
    covariance = (grid - mean).T * w[0, 0] @ (grid - mean) + 0.01 * np.eye(2)
    np.testing.assert_allclose(plane.mean(), mean, rtol=1e-12)
    np.testing.assert_allclose(plane.cov(), covariance, rtol=1e-11)
    assert fenchel.match_weights(1.5, w.astype(np.float32)).mu.dtype == np.float32
    padded = w[0].copy()
    padded[:, :6] /= padded[:, :6].sum(axis=1, keepdims=True)
    padded[:, 6:] = np.nan
    short = fenchel.match_weights(1.5, padded, lengths=[6, 6, 6])
    np.testing.assert_allclose(short[1:], fenchel.match_weights(1.5, padded[:, :6])[1:], rtol=1e-14)


def test_gradient_of_matched_weights():
    w, h = RNG.dirichlet(np.ones(6), 2), 1e-6
    direction = RNG.normal(size=w.shape)
    direction -= direction.mean(axis=1, keepdims=True)
    for positions, shape in ((None, ()), (fenchel.grid_positions(2, 3), (2,))):
        cotangent = {"mu": RNG.normal(size=(2, *shape)), "Sigma": RNG.normal(size=(2, *shape * 2)), "alpha": [1.0, 2.0]}
        if shape:
            cotangent["Sigma"] += cotangent["Sigma"].swapaxes(1, 2)
        gradient = fenchel.match_weights_vjp(1.5, w, cotangent, positions)

        def loss(s, k=0.0):
            _, mu, scale = fenchel.match_weights(1.5 + k, w + s * direction, positions)
            return np.sum(mu * cotangent["mu"]) + np.sum(scale * cotangent["Sigma"])

        np.testing.assert_allclose(np.sum(gradient["weights"] * direction), (loss(h) - loss(-h)) / (2 * h), rtol=1e-6)
        by_alpha = (loss(0, h) - loss(0, -h)) / (2 * h) + 3
        np.testing.assert_allclose(gradient["alpha"].sum(), by_alpha, rtol=1e-6)


MU, S2 = np.zeros(3), np.ones(3)
READ_ONLY = np.empty((3, 4))
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    "error, message, call",
    [
        (TypeError, "GaussianBasis", lambda: attend(Densities(2, MU, S2), fenchel.PolynomialBasis(1))),
        (ValueError, "of one batch", lambda: attend(Densities(2, MU, np.ones(2)), LINE)),
        (ValueError, "alpha", lambda: attend(Densities([1, 2], MU, S2), LINE)),
        (ValueError, r"mu must have shape \(..., 2\)", lambda: attend(Densities(2, MU, S2), PLANE)),
        (ValueError, r"Sigma must have shape \(..., 2, 2\)", lambda: attend(Densities(2, [0, 0], [1, 1]), PLANE)),
        (ValueError, r"Sigma\[1\] must be positive", lambda: attend(Densities(2, MU, [1, -1, 1]), LINE)),
        (ValueError, "alpha", lambda: attend(Densities(0, MU, S2), LINE)),
        (ValueError, "finite", lambda: attend(Densities(2, [0, np.nan, 0], S2), LINE)),
        (ValueError, "Sigma|eigenvalue", lambda: attend(Densities(2, [0, 0], -np.eye(2)), PLANE)),
        (TypeError, "mu must be real", lambda: attend(Densities(2, ["a"], 1), LINE)),
        (TypeError, "mu must be real", lambda: attend(Densities(2, [1j], 1), LINE)),
        (ValueError, r"out must have shape \(3, 4\)", lambda: attend(Densities(2, MU, S2), LINE, np.ones(3))),
        (TypeError, "out must be a numpy array", lambda: attend(Densities(2, MU, S2), LINE, [1])),
        (ValueError, "out must be writable", lambda: attend(Densities(2, MU, S2), LINE, READ_ONLY)),
        (TypeError, "out must have dtype", lambda: attend(Densities(2, MU, S2), LINE, np.empty((3, 4), int))),
        (ValueError, "cotangent must have shape", lambda: attend_vjp(Densities(2, MU, S2), LINE, np.ones((3, 3)))),
        (ValueError, "direction must be in", lambda: attend_jvp(Densities(2, MU, S2), LINE, {"sigma2": 1})),
        (ValueError, "values must have shape", lambda: attend_context(Densities(2, MU, S2), LINE, np.ones((2, 3)))),
        (ValueError, "values must have shape", lambda: attend_context(Densities(2, MU, S2), LINE, np.ones((2, 5, 4)))),
        (ValueError, r"must have shape \(..., 5\)", lambda: fenchel.RidgeRegression(LINE, 5).fit(np.ones((2, 4)))),
        (ValueError, "ridge must be", lambda: fenchel.ridge_values(np.ones(5), LINE, -1)),
        (ValueError, "singular", lambda: fenchel.ridge_values(np.ones(2), LINE, 0.0, positions=[0.1, 0.1])),
        (ValueError, "positions must be given", lambda: fenchel.ridge_values(np.ones(4), PLANE)),
        (ValueError, "positions must have", lambda: fenchel.ridge_values(np.ones(4), LINE, positions=np.ones((4, 2)))),
        (ValueError, "values must have shape", lambda: fenchel.ridge_values(1.0, LINE)),
        (ValueError, "values must have shape", lambda: fenchel.ridge_values(np.ones(4), LINE, positions=[0.1, 0.2])),
        (TypeError, "basis must be a basis", lambda: fenchel.ridge_values(np.ones(4), 3)),
        (TypeError, "must be integers", lambda: fenchel.ridge_values(np.ones((2, 1, 4)), LINE, lengths=[1.5, 2])),
        (ValueError, "lengths", lambda: fenchel.ridge_values(np.ones((2, 1, 4)), LINE, lengths=[5, 2])),
        (ValueError, "length", lambda: fenchel.ridge_values(np.ones((2, 1, 4)), LINE, lengths=[0, 2])),
        (ValueError, "coefficients must have shape", lambda: fenchel.ValueFunction(np.ones(3), LINE)),
        (TypeError, "p must be Densities", lambda: attend_context(fenchel.BetaGaussian(), LINE, np.ones((2, 4)))),
        (ValueError, r"weights must have shape \(..., L\)", lambda: fenchel.match_weights(2, 1.0)),
        (ValueError, "lengths must have shape", lambda: fenchel.match_weights(2, [0.5, 0.5], lengths=[1])),
        (ValueError, "sum", lambda: fenchel.match_weights(2, [0.5, 0.6])),
        (ValueError, "negative", lambda: fenchel.match_weights(2, [1.5, -0.5])),
        (ValueError, "alpha", lambda: fenchel.match_weights(0.3, [0.5, 0.5])),
        (ValueError, "positions must have shape", lambda: fenchel.match_weights(2, [0.5, 0.5], [0.1])),
        (ValueError, "cotangent must be in", lambda: fenchel.match_weights_vjp(2, [[0.5, 0.5]], {"scale": 1})),
    ],
)
def test_bad_arguments(error, message, call):
    with pytest.raises(error, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_calls_at_the_same_time():
    mu, sigma2 = RNG.uniform(-1, 1, 2000), RNG.uniform(0.01, 2, 2000)
    expected = fenchel.attend(Densities(1.5, mu, sigma2), LINE)
    for found in at_once(4, lambda: fenchel.attend(Densities(1.5, mu, sigma2), LINE)):
        np.testing.assert_array_equal(found, expected)


def runs_during_a_call():
    """Whether this thread gets to run while another is inside of a call, where only the call itself would let it."""
    mu, sigma2 = np.zeros(20000), np.ones(20000)
    inside, done = threading.Event(), threading.Event()

    def work():
        inside.set()
        fenchel.attend(Densities(1.5, mu, sigma2), LINE)
        done.set()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        inside.wait()
        return not done.is_set()
    finally:
        sys.setswitchinterval(interval)
        thread.join()


def test_other_threads_run_during_a_call():
    assert any(runs_during_a_call() for _ in range(20))
