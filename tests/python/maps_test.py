"""softmax, sparsemax and entmax: golden numbers, brute force, laws, and derivatives against differences."""

import functools

import golden
import numpy as np
import pytest
import support

import fenchel

ALPHAS = [0.5, *support.ALPHAS]
SMOOTH_ALPHAS = [0.5, 1, 1 + 1e-8, 4 / 3, 1.5, 2, 5]


def sorted_sparsemax(z):
    ordered = np.sort(z)[::-1]
    sums = np.cumsum(ordered)
    counts = np.arange(1, z.size + 1)
    k = counts[1 + counts * ordered > sums][-1]
    return np.maximum(z - (sums[k - 1] - 1) / k, 0)


def bisected_entmax(z, alpha):
    """p = exp_{2-alpha}(z - A), A by bisection."""
    am1 = alpha - 1

    def p(a):
        if am1 == 0:
            return np.exp(z - a)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.exp(np.log1p(np.maximum(am1 * (z - a), -1)) / am1)

    lower, upper = z.max(), z.max() + (np.log(z.size) if am1 == 0 else -np.expm1(-am1 * np.log(z.size)) / am1) + 1e-9
    for _ in range(200):
        middle = (lower + upper) / 2
        lower, upper = (middle, upper) if p(middle).sum() > 1 else (lower, middle)
    return p(upper)


@pytest.fixture(name="z")
def scores():
    return np.random.default_rng(3).normal(size=(6, 5))


@pytest.mark.parametrize("row", golden.cases("entmax.txt"), ids=lambda row: f"{row['alpha'][0]}-{len(row['scores'])}")
def test_golden_numbers(row):
    z, alpha = np.array(row["scores"]), row["alpha"][0]
    p = fenchel.entmax(z, alpha)
    np.testing.assert_allclose(p, row["p"], rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(fenchel.negentropy(row["p"], alpha), row["negentropy"][0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(fenchel.entmax_conjugate(z, alpha), row["conjugate"][0], rtol=1e-12)
    if alpha != 1:
        np.testing.assert_allclose(fenchel.entmax_threshold(z, alpha), row["threshold"][0], rtol=1e-12)
    moved = fenchel.entmax_jvp(p, np.zeros_like(p), alpha, alpha_direction=1.0)
    np.testing.assert_allclose(moved, row["p_alpha"], rtol=1e-8, atol=1e-12)


def test_sparsemax_against_sorting(z):
    np.testing.assert_allclose(fenchel.sparsemax(z), [sorted_sparsemax(row) for row in z], atol=1e-15)


@pytest.mark.parametrize("alpha", SMOOTH_ALPHAS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_entmax_against_bisection(z, alpha, dtype):
    expected = [bisected_entmax(row, alpha) for row in z.astype(dtype).astype(float)]
    p = fenchel.entmax(z.astype(dtype), alpha)
    assert p.dtype == dtype
    np.testing.assert_allclose(p, expected, atol=1e-6 if dtype == np.float32 else 1e-10)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_laws(z, alpha):
    p = fenchel.entmax(z, alpha)
    np.testing.assert_allclose(p.sum(-1), 1, rtol=1e-14)
    assert (p >= 0).all()
    order = np.argsort(z, axis=-1)
    assert (np.diff(np.take_along_axis(p, order, -1), axis=-1) >= 0).all()
    np.testing.assert_allclose(fenchel.entmax(z + 7, alpha), p, atol=1e-12)
    np.testing.assert_array_equal(fenchel.support_size(z, alpha), (p > 0).sum(-1))
    if alpha > 1:
        threshold = fenchel.entmax_threshold(z, alpha)
        assert (p[z < threshold[:, None] - 1e-9] == 0).all()


def test_the_named_maps_are_entmax(z):
    np.testing.assert_array_equal(fenchel.softmax(z), fenchel.entmax(z, 1))
    np.testing.assert_array_equal(fenchel.sparsemax(z), fenchel.entmax(z, 2))
    exponentials = np.exp(z)
    np.testing.assert_allclose(fenchel.softmax(z), exponentials / exponentials.sum(-1, keepdims=True), rtol=1e-14)
    assert fenchel.entmax([1.0, 1.0, 0.0], np.inf).tolist() == [0.5, 0.5, 0]


def test_masks_and_rows_without_prediction():
    inf, nan = np.inf, np.nan
    z = np.array([[0.0, -inf, 0.0], [nan, 0, 0], [inf, 0, 0], [-inf, -inf, -inf], [1, 0, -5]])
    p = fenchel.entmax(z, 1.5)
    np.testing.assert_allclose(p[0], [0.5, 0, 0.5], rtol=1e-15)
    assert p[0, 1] == 0
    assert np.isnan(p[1:4]).all()
    np.testing.assert_array_equal(p[4], fenchel.entmax(z[4], 1.5))
    assert fenchel.support_size(z).tolist() == [2, 0, 0, 0, 2]
    assert np.isnan(fenchel.entmax_threshold(z)[1:4]).all()
    assert np.isnan(fenchel.entmax_conjugate(z)[1:4]).all()
    assert np.isnan(fenchel.entmax_vjp(p, np.ones_like(z))[1:4]).all()


def test_an_alpha_for_each_row(z):
    alphas = np.array([1, 1.2, 1.5, 2, 3, np.inf])
    p = fenchel.entmax(z, alphas)
    np.testing.assert_array_equal(p, [fenchel.entmax(row, alpha) for row, alpha in zip(z, alphas)])
    z3 = z.reshape(2, 3, 5)
    np.testing.assert_array_equal(fenchel.entmax(z3, alphas[:3])[1], fenchel.entmax(z3[1], alphas[:3]))
    np.testing.assert_array_equal(fenchel.entmax(z3, alphas[:2, None])[1], fenchel.entmax(z3[1], alphas[1]))
    np.testing.assert_array_equal(fenchel.entmax(z3, alphas[:5], axis=1)[:, :, 3], fenchel.entmax(z3[:, :, 3], 2))
    np.testing.assert_array_equal(fenchel.entmax(z, np.array(2)), fenchel.sparsemax(z))
    with pytest.raises(ValueError, match=r"entmax: alpha must broadcast to .*\(6,\), got shape \(6, 1\)"):
        fenchel.entmax(z, alphas[:, None])


@pytest.mark.parametrize("alpha", SMOOTH_ALPHAS)
def test_products_with_the_jacobian(z, alpha):
    rng = np.random.default_rng(5)
    v, w = rng.normal(size=(2, *z.shape))
    p = fenchel.entmax(z, alpha)
    jvp, vjp = fenchel.entmax_jvp(p, v, alpha), fenchel.entmax_vjp(p, w, alpha)
    np.testing.assert_allclose(jvp, support.difference(lambda x: fenchel.entmax(x, alpha), z, v), atol=1e-6)
    np.testing.assert_allclose((w * jvp).sum(-1), (v * vjp).sum(-1), atol=1e-13)
    np.testing.assert_allclose(fenchel.entmax_hessian_product(z, v, alpha), jvp, atol=1e-13)


@pytest.mark.parametrize("alpha", SMOOTH_ALPHAS)
def test_derivatives_in_alpha(z, alpha):
    w = np.random.default_rng(6).normal(size=z.shape)
    p = fenchel.entmax(z, alpha)
    change = support.difference(lambda a: fenchel.entmax(z, a), alpha, 1.0)
    np.testing.assert_allclose(fenchel.entmax_jvp(p, 0 * z, alpha, alpha_direction=1.0), change, atol=1e-6)
    gradient, by_alpha = fenchel.entmax_vjp(p, w, alpha, return_alpha_gradient=True)
    np.testing.assert_array_equal(gradient, fenchel.entmax_vjp(p, w, alpha))
    np.testing.assert_allclose(by_alpha, (w * change).sum(-1), atol=1e-5)


@pytest.mark.parametrize("alpha", [1, 4 / 3, 1.5, 2])
def test_second_derivatives(z, alpha):
    rng = np.random.default_rng(7)
    grad, weight, v = rng.normal(size=(3, *z.shape))
    weight_alpha = rng.normal(size=len(z))

    def weighted(x, a):
        p = fenchel.entmax(x, a)
        by_z, by_alpha = fenchel.entmax_vjp(p, grad, a, return_alpha_gradient=True)
        return (weight * by_z).sum(-1) + weight_alpha * by_alpha

    second, by_alpha = fenchel.entmax_vjp_vjp(
        fenchel.entmax(z, alpha), grad, weight, alpha, alpha_weight=weight_alpha, return_alpha_gradient=True
    )
    np.testing.assert_allclose((second * v).sum(-1), support.difference(lambda x: weighted(x, alpha), z, v), atol=1e-5)
    np.testing.assert_allclose(by_alpha, support.difference(functools.partial(weighted, z), alpha, 1.0), atol=1e-5)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_negentropy_and_conjugate(z, alpha):
    p = fenchel.entmax(z, alpha)
    value = (z * p).sum(-1) - fenchel.negentropy(p, alpha)
    np.testing.assert_allclose(fenchel.entmax_conjugate(z, alpha), value, rtol=1e-12, atol=1e-12)
    others = fenchel.softmax(np.random.default_rng(1).normal(size=z.shape))
    assert (value >= (z * others).sum(-1) - fenchel.negentropy(others, alpha) - 1e-12).all()


def test_escort(z):
    p = fenchel.sparsemax(z)
    with np.errstate(divide="ignore"):
        powers = np.where(p > 0, p**0.5, 0)
    np.testing.assert_allclose(fenchel.escort(p, 0.5), powers / powers.sum(-1, keepdims=True), rtol=1e-14)
    np.testing.assert_allclose(fenchel.escort(p, 0), (p > 0) / (p > 0).sum(-1, keepdims=True), rtol=1e-14)
    np.testing.assert_allclose(fenchel.escort(p, 1), p, rtol=1e-14)
    one_each = fenchel.escort(p.T, np.arange(6), axis=0)
    np.testing.assert_array_equal(one_each[:, 2], fenchel.escort(p[2], 2))
    p[1, 1] = np.nan
    assert np.isnan(fenchel.escort(p, 2)[1]).all() and not np.isnan(fenchel.escort(p, 2)[2]).any()
    with pytest.raises(ValueError, match="must not be negative"):
        fenchel.escort([0.5, -0.5], 2)


@pytest.mark.parametrize("alpha", [0, -1, np.nan])
def test_alpha_must_be_positive(z, alpha):
    for call in (
        lambda a: fenchel.entmax(z, a),
        lambda a: fenchel.entmax_vjp(z, z, a),
        lambda a: fenchel.entmax_jvp(z, z, a),
        lambda a: fenchel.negentropy(z, a),
        lambda a: fenchel.entmax_conjugate(z, a),
        lambda a: fenchel.entmax_loss(z, np.zeros(6, int), a),
    ):
        with pytest.raises(ValueError, match="alpha must be positive, got"):
            call(alpha)
    with pytest.raises(ValueError, match=r"alpha\[1\] must be positive"):
        fenchel.entmax(z[:2], [1.5, alpha])


def test_what_is_no_number_or_shape(z):
    for wrong in (1j * z, z.astype(object), np.array(["a", "b"])):
        with pytest.raises(TypeError, match="entmax: scores must be real numbers, got an array of dtype"):
            fenchel.entmax(wrong)
    with pytest.raises(TypeError, match="entmax: alpha must be real numbers"):
        fenchel.entmax(z, "1.5")
    with pytest.raises(ValueError, match="entmax: scores must have at least one dimension, got a number"):
        fenchel.entmax(1.0)
    with pytest.raises(ValueError, match=r"entmax_vjp: cotangent must have shape \(6, 5\), got \(5,\)"):
        fenchel.entmax_vjp(z, z[0])
    for axis in (2, -3):
        with pytest.raises(np.exceptions.AxisError, match="out of bounds for array of dimension 2"):
            fenchel.entmax(z, axis=axis)
    with pytest.raises(TypeError):
        fenchel.entmax(z, axis=0.5)
