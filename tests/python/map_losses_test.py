"""Losses of the maps: zero exactly at the prediction, definitions, gradients against differences, reductions, masks."""

import numpy as np
import pytest
import support

import fenchel

ALPHAS = [0.5, *support.ALPHAS]
Z = np.random.default_rng(2).normal(size=(4, 3, 5))
CLASSES = np.random.default_rng(3).integers(0, 5, size=(4, 3))
SOFT = fenchel.sparsemax(np.random.default_rng(4).normal(size=Z.shape))
LOSSES = [
    (fenchel.entmax_loss, 1.5),
    (fenchel.cross_omega, 1.5),
    (fenchel.fusedmax_loss, 0.3),
    (fenchel.smooth_sparsemax_loss, 0.3),
]
both = pytest.mark.parametrize("target", [CLASSES, SOFT], ids=["classes", "soft"])
every_loss = pytest.mark.parametrize("loss,parameter", LOSSES, ids=lambda x: getattr(x, "__name__", None))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_zero_exactly_at_the_prediction(alpha, dtype):
    z = Z.astype(dtype)
    p = fenchel.entmax(z, alpha)
    losses, gradient = fenchel.entmax_loss(z, p, alpha, reduction="none", return_gradient=True)
    assert losses.dtype == dtype and losses.shape == (4, 3)
    np.testing.assert_array_equal(losses, 0)
    np.testing.assert_array_equal(gradient, 0)
    assert (fenchel.entmax_loss(z, SOFT, alpha, reduction="none") > 0).all()


def test_zero_at_the_prediction_of_neighbours():
    for loss, predict in (
        (fenchel.fusedmax_loss, fenchel.fusedmax),
        (fenchel.smooth_sparsemax_loss, fenchel.smooth_sparsemax),
        (fenchel.fusedmax_grid_loss, fenchel.fusedmax_grid),
    ):
        p = predict(Z, 0.3)
        assert loss(Z, p, 0.3) == pytest.approx(0, abs=1e-15)
        assert loss(Z, np.roll(p, 1, axis=-1), 0.3) > 0.01


@pytest.mark.parametrize("alpha", ALPHAS)
@both
def test_definition(alpha, target):
    q = np.eye(5)[target] if target is CLASSES else target
    cross = fenchel.entmax_conjugate(Z, alpha) - (Z * q).sum(-1)
    loss = fenchel.entmax_loss(Z, target, alpha, reduction="none")
    np.testing.assert_allclose(loss, cross + fenchel.negentropy(q, alpha), atol=1e-12)
    np.testing.assert_allclose(fenchel.cross_omega(Z, target, alpha, reduction="none"), cross, atol=1e-12)


def test_cross_entropy_of_classes():
    log_p = Z - np.log(np.exp(Z).sum(-1, keepdims=True))
    expected = -np.take_along_axis(log_p, CLASSES[..., None], -1)[..., 0]
    np.testing.assert_allclose(fenchel.entmax_loss(Z, CLASSES, 1, reduction="none"), expected, rtol=1e-13)


@every_loss
@both
def test_gradients_are_those_of_differences(loss, parameter, target):
    v = np.random.default_rng(5).normal(size=Z.shape)
    for reduction in ("mean", "sum"):
        value, gradient, by_parameter = fenchel_gradients(loss, parameter, target, reduction)
        assert value == loss(Z, target, parameter, reduction=reduction)
        change = support.difference(lambda z: loss(z, target, parameter, reduction=reduction), Z, v)
        assert (gradient * v).sum() == pytest.approx(change, rel=1e-6)
        change = support.difference(lambda a: loss(Z, target, a, reduction=reduction), parameter, 1.0)
        assert by_parameter.sum() == pytest.approx(change, rel=1e-6, abs=1e-9)


def fenchel_gradients(loss, parameter, target, reduction):
    name = "alpha" if parameter == 1.5 else "gamma"
    options = {"return_gradient": True, f"return_{name}_gradient": True}
    return loss(Z, target, parameter, reduction=reduction, **options)


@every_loss
@both
def test_reductions(loss, parameter, target):
    each = loss(Z, target, parameter, reduction="none")
    assert each.shape == (4, 3)
    assert loss(Z, target, parameter) == pytest.approx(each.mean(), rel=1e-13)
    assert loss(Z, target, parameter, reduction="sum") == pytest.approx(each.sum(), rel=1e-13)
    with pytest.raises(ValueError, match="reduction must be 'none', 'mean' or 'sum', got 'max'"):
        loss(Z, target, parameter, reduction="max")


@every_loss
@both
def test_any_axis(loss, parameter, target):
    moved = np.moveaxis(Z, -1, 0)
    moved_target = np.moveaxis(target, -1, 0) if target is SOFT else target
    for reduction in ("none", "mean"):
        value, gradient = loss(moved, moved_target, parameter, axis=0, reduction=reduction, return_gradient=True)
        expected, expected_gradient = loss(Z, target, parameter, axis=-1, reduction=reduction, return_gradient=True)
        np.testing.assert_array_equal(value, expected)
        np.testing.assert_array_equal(np.moveaxis(gradient, 0, -1), expected_gradient)


@every_loss
def test_ignored_rows(loss, parameter):
    classes = CLASSES.copy()
    classes[0] = -100
    value, gradient = loss(Z, classes, parameter, return_gradient=True)
    assert value == pytest.approx(loss(Z[1:], classes[1:], parameter), rel=1e-13)
    assert (gradient[0] == 0).all() and (gradient[1:] != 0).any()
    classes[0] = 7
    assert value == loss(Z, classes, parameter, ignore_index=7)
    assert loss(Z, np.full((4, 3), -100), parameter) == 0


def test_masked_and_broken_rows():
    z = np.array([[0.0, -np.inf], [np.nan, 0], [1, 0]])
    assert fenchel.entmax_loss(z, [1, 0, 0], reduction="none").tolist()[0] == np.inf
    losses, gradient = fenchel.entmax_loss(z, [0, 0, 0], 2, reduction="none", return_gradient=True)
    assert losses[0] == 0 and np.isnan(losses[1]) and losses[2] == 0
    assert np.isnan(gradient[1]).all() and (gradient[[0, 2]] == 0).all()


def test_targets_of_every_kind():
    expected = fenchel.entmax_loss(Z, CLASSES)
    for dtype in (np.int8, np.uint8, np.int32, np.uint64, ">i4"):
        assert fenchel.entmax_loss(Z, CLASSES.astype(dtype)) == expected
    assert fenchel.entmax_loss(Z, np.asfortranarray(CLASSES)) == expected
    assert fenchel.entmax_loss(Z, np.eye(5, dtype=int)[CLASSES]) == pytest.approx(expected, rel=1e-14)
    assert fenchel.entmax_loss(Z, np.eye(5, dtype=np.float32)[CLASSES]) == pytest.approx(expected, rel=1e-14)
    one = fenchel.entmax_loss(Z[0, 0], 2, reduction="none")
    assert np.ndim(one) == 0 and one == fenchel.entmax_loss(Z[:1, 0], [2])
    assert fenchel.entmax_loss(np.empty((0, 4)), np.empty(0, int)) == 0
    assert fenchel.entmax_loss(np.empty((0, 4)), np.empty(0, int), reduction="none").shape == (0,)


def test_wrong_targets():
    with pytest.raises(ValueError, match=r"classes\[2\] must be in \[0, 5\) or -100, got 5"):
        fenchel.entmax_loss(Z[0], [0, 1, 5])
    with pytest.raises(ValueError, match=r"classes\[0\] must be in"):
        fenchel.entmax_loss(Z[0], np.array([2**64 - 100, 1, 1], np.uint64))
    with pytest.raises(TypeError, match="entmax_loss: target must be integers, got an array of dtype float64"):
        fenchel.entmax_loss(Z[0], [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match=r"target must be classes of shape \(3,\) or distributions of shape \(3, 5\)"):
        fenchel.entmax_loss(Z[0], [0, 1])
    with pytest.raises(ValueError, match="must be 1, got"):
        fenchel.entmax_loss(Z, SOFT * 0.9)
    with pytest.raises(ValueError, match="must not be negative"):
        fenchel.entmax_loss(Z, -SOFT)
    with pytest.raises(TypeError, match="target must be real numbers"):
        fenchel.entmax_loss(Z, SOFT + 1j)


@pytest.mark.parametrize("alpha", [0.7, 1, 1 + 1e-8, 4 / 3, 1.5, 2, 5])
def test_normalizer_and_its_gradient(alpha):
    scores = np.random.default_rng(8).normal(size=(3, 6))
    scores[1, 2] = -np.inf
    normalizer, p = fenchel.entmax_normalizer(scores, alpha), fenchel.entmax(scores, alpha)
    best = scores.argmax(axis=1)[:, None]
    excess = np.take_along_axis(scores, best, 1)[:, 0] - normalizer
    log_p = excess if alpha == 1 else np.log1p((alpha - 1) * excess) / (alpha - 1)
    np.testing.assert_allclose(np.take_along_axis(p, best, 1)[:, 0], np.exp(log_p), rtol=1e-7 if alpha < 1.01 else 1e-12)
    direction, h = np.random.default_rng(9).normal(size=(3, 6)), 1e-6
    slope = (fenchel.entmax_normalizer(scores + h * direction, alpha)
             - fenchel.entmax_normalizer(scores - h * direction, alpha)) / (2 * h)
    np.testing.assert_allclose(slope, (fenchel.escort(p, 2 - alpha) * direction).sum(1), atol=1e-8)
    assert np.isnan(fenchel.entmax_normalizer([np.nan, 1.0], alpha))
