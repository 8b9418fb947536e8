"""fusedmax, smooth sparsemax and fusedmax of images: brute force by projected descent, limits, derivatives."""

import numpy as np
import pytest
from support import difference

import fenchel

Z = np.random.default_rng(8).normal(size=(3, 6))
CHAINS = [
    (fenchel.fusedmax, fenchel.fusedmax_vjp, fenchel.fusedmax_jvp),
    (fenchel.smooth_sparsemax, fenchel.smooth_sparsemax_vjp, fenchel.smooth_sparsemax_jvp),
]
GRID = (fenchel.fusedmax_grid, fenchel.fusedmax_grid_vjp, fenchel.fusedmax_grid_jvp)
every_map = pytest.mark.parametrize("maps", [*CHAINS, GRID], ids=["fused", "smooth", "grid"])
every_chain = pytest.mark.parametrize("maps", CHAINS, ids=["fused", "smooth"])


def objective(maps, z, gamma, p):
    steps = np.diff(p)
    if maps is CHAINS[1]:
        penalty = (steps**2).sum() / 2
    else:
        penalty = np.abs(steps).sum() + (np.abs(np.diff(p, axis=0)).sum() if maps is GRID else 0)
    return (p * z).sum() - (p**2).sum() / 2 - gamma * penalty


@every_map
@pytest.mark.parametrize("gamma", [0.05, 0.3, 2])
def test_nothing_near_is_better(maps, gamma):
    rng = np.random.default_rng(9)
    z = Z if maps is GRID else Z[0]
    p = maps[0](z, gamma)
    assert p.sum() == pytest.approx(1, abs=1e-14) and (p >= 0).all()
    best = objective(maps, z, gamma, p)
    for scale in (1e-4, 1e-2, 1):
        for _ in range(200):
            other = fenchel.sparsemax((p + scale * rng.normal(size=p.shape)).ravel()).reshape(p.shape)
            assert objective(maps, z, gamma, other) <= best + 1e-12


@every_map
def test_limits(maps):
    flat = fenchel.sparsemax(Z.reshape(1, 18)).reshape(Z.shape) if maps is GRID else fenchel.sparsemax(Z)
    np.testing.assert_allclose(maps[0](Z, 0), flat, atol=1e-14)
    np.testing.assert_allclose(maps[0](Z, 1e8), np.full_like(Z, 1 / (18 if maps is GRID else 6)), atol=1e-6)
    assert np.isnan(maps[0](Z * np.nan, 1)).all()
    for gamma in (-1, np.nan, np.inf):
        with pytest.raises(ValueError, match="gamma must be finite and not negative, got"):
            maps[0](Z, gamma)


@every_map
@pytest.mark.parametrize("gamma", [0.1, 0.4])
def test_products_with_the_jacobian(maps, gamma):
    predict, vjp, jvp = maps
    rng = np.random.default_rng(10)
    v, w = rng.normal(size=(2, *Z.shape))
    p = predict(Z, gamma)
    product = jvp(p, v, gamma)
    np.testing.assert_allclose(product, difference(lambda z: predict(z, gamma), Z, v, h=1e-6), atol=1e-7)
    gradient, by_gamma = vjp(p, w, gamma, return_gamma_gradient=True)
    assert (w * product).sum() == pytest.approx((v * gradient).sum(), rel=1e-11)
    np.testing.assert_array_equal(gradient, vjp(p, w, gamma))
    change = difference(lambda g: predict(Z, g), gamma, 1.0, h=1e-6)
    np.testing.assert_allclose(jvp(p, 0 * Z, gamma, gamma_direction=1.0), change, atol=1e-7)
    np.testing.assert_allclose(by_gamma, (w * change).sum(axis=(-2, -1) if maps is GRID else -1), atol=1e-7)


@every_chain
def test_a_gamma_for_each_row_along_any_axis(maps):
    gammas = np.array([0.1, 0.5, 1])
    expected = [maps[0](row, gamma) for row, gamma in zip(Z, gammas)]
    np.testing.assert_array_equal(maps[0](Z, gammas), expected)
    np.testing.assert_array_equal(maps[0](Z.T, gammas, axis=0).T, expected)
    np.testing.assert_array_equal(maps[0](np.array(Z.T), gammas, axis=0).T, expected)


@every_chain
def test_lengths(maps):
    predict, vjp, jvp = maps
    p = predict(Z, 0.3, lengths=[6, 4, 1])
    np.testing.assert_array_equal(p[1], [*predict(Z[1, :4], 0.3), 0, 0])
    assert p[2].tolist() == [1, 0, 0, 0, 0, 0]
    v = np.ones_like(Z) * np.arange(6)
    np.testing.assert_allclose(vjp(p, v, 0.3, lengths=[6, 4, 1])[1, :4], vjp(p[1, :4], v[1, :4], 0.3), atol=1e-14)
    np.testing.assert_allclose(jvp(p, v, 0.3, lengths=[6, 4, 1])[1, :4], jvp(p[1, :4], v[1, :4], 0.3), atol=1e-14)
    with pytest.raises(ValueError, match=r"lengths\[1\] must be in \[1, 6\], got 7"):
        predict(Z, 0.3, lengths=[6, 7, 1])
    with pytest.raises(TypeError, match="lengths must be integers"):
        predict(Z, 0.3, lengths=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="lengths must broadcast"):
        predict(Z, 0.3, lengths=[1, 2])


@every_chain
def test_weights(maps):
    predict = maps[0]
    np.testing.assert_allclose(predict(Z, 0.3, weights=np.full(5, 2.0)), predict(Z, 0.6), atol=1e-14)
    np.testing.assert_allclose(predict(Z, 0.3, weights=2), predict(Z, 0.6), atol=1e-14)
    each = np.random.default_rng(1).uniform(0.5, 2, size=(3, 5))
    np.testing.assert_array_equal(predict(Z, 0.3, weights=each)[1], predict(Z[1], 0.3, weights=each[1]))
    assert (predict(np.ones((3, 1)), 0.3, weights=[]) == 1).all()
    with pytest.raises(ValueError, match=r"weights must broadcast to shape \(3, 5\), got \(6,\)"):
        predict(Z, 0.3, weights=np.ones(6))
    with pytest.raises(ValueError, match="weights.* must be positive and finite"):
        predict(Z, 0.3, weights=np.zeros(5))


def test_images_in_any_layout():
    images = np.random.default_rng(12).normal(size=(2, 3, 4))
    expected = fenchel.fusedmax_grid(images, 0.2)
    np.testing.assert_allclose(expected.sum(axis=(1, 2)), 1, atol=1e-14)
    for order in ((1, 2, 0), (0, 2, 1), (2, 0, 1)):
        moved = images.transpose(order)
        axis = (order.index(1), order.index(2))
        for z in (moved, np.array(moved), moved[::-1][::-1]):
            np.testing.assert_array_equal(fenchel.fusedmax_grid(z, 0.2, axis), expected.transpose(order))
    np.testing.assert_array_equal(fenchel.fusedmax_grid(images, 0.2, (2, 1)), expected)
    for axis in (1, (0,), (0, 1, 2)):
        with pytest.raises(ValueError, match="fusedmax_grid: axis must be a pair"):
            fenchel.fusedmax_grid(images, 0.2, axis)
    with pytest.raises(ValueError, match="must not name an axis twice"):
        fenchel.fusedmax_grid(images, 0.2, (1, -2))
    with pytest.raises(np.exceptions.AxisError):
        fenchel.fusedmax_grid(images[0, 0], 0.2)
