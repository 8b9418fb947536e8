"""entmax over weighted nodes: golden numbers, laws, derivatives against differences, and losses."""

import math

import golden
import numpy as np
import pytest

import fenchel

ALPHAS = [0.5, 1, math.nextafter(1, 2), 1 + 1e-8, 4 / 3, 1.5, 2, 5, 1e6, math.inf]
RNG = np.random.default_rng(1)
Z, W, G, DZ, DW = (RNG.normal(size=(3, 6)) for _ in range(5))
W = np.exp(W)


def test_golden_numbers():
    for block in golden.cases("weighted_entmax.txt"):
        p = fenchel.entmax(block["scores"], block["alpha"][0], weight=block["weights"])
        np.testing.assert_allclose(p, block["p"], rtol=4e-14, atol=4e-16)
        tangent = fenchel.entmax_jvp(
            p, block["d_scores"], block["alpha"][0], alpha_direction=block["d_alpha"][0], weight=block["weights"],
            weight_direction=block["d_weights"],
        )
        np.testing.assert_allclose(tangent, block["tangent"], rtol=1e-9, atol=1e-9 * np.abs(tangent).max() + 1e-60)
        for k, loss in enumerate((fenchel.entmax_loss, fenchel.cross_omega)):
            for target, name in ((block["target"], "losses"), (int(block["label"][0]), "class_losses")):
                if math.isfinite(expected := block[name][k]):
                    value = loss(block["scores"], target, block["alpha"][0], measure=block["weights"])
                    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_laws(alpha):
    np.testing.assert_allclose(fenchel.entmax(Z, alpha, weight=1.0), fenchel.entmax(Z, alpha), rtol=0, atol=1e-15)
    twice = fenchel.entmax(np.hstack([Z, Z]), alpha)
    np.testing.assert_allclose(fenchel.entmax(Z, alpha, weight=2.0), 2 * twice[:, :6], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(fenchel.entmax(Z.T, alpha, 0, weight=W.T), fenchel.entmax(Z, alpha, weight=W).T)
    p = fenchel.entmax(Z, alpha, weight=W)
    np.testing.assert_array_equal((p > 0).sum(-1), fenchel.support_size(Z, alpha, weight=W))
    if 1 < alpha < 10:
        outside = Z <= fenchel.entmax_threshold(Z, alpha, weight=W)[:, None]
        np.testing.assert_array_equal(p == 0, outside)


def test_softmax_with_a_prior_and_sparsemax():
    expected = W * np.exp(Z) / (W * np.exp(Z)).sum(-1, keepdims=True)
    np.testing.assert_allclose(fenchel.softmax(Z, weight=W), expected, rtol=1e-14)
    np.testing.assert_array_equal(fenchel.sparsemax(Z, weight=W), fenchel.entmax(Z, 2, weight=W))


@pytest.mark.parametrize("alpha", [0.5, 1, 4 / 3, 1.5, 2, 5])
def test_derivatives(alpha):
    p = fenchel.entmax(Z, alpha, weight=W)
    h = 1e-6
    ahead, behind = (fenchel.entmax(Z + s * DZ, alpha + s, weight=W + s * DW) for s in (h, -h))
    tangent = fenchel.entmax_jvp(p, DZ, alpha, alpha_direction=1.0, weight=W, weight_direction=DW)
    np.testing.assert_allclose(tangent, (ahead - behind) / (2 * h), rtol=1e-6, atol=1e-7)
    gradient, by_alpha, by_weight = fenchel.entmax_vjp(
        p, G, alpha, weight=W, return_alpha_gradient=True, return_weight_gradient=True
    )
    total = (gradient * DZ).sum(-1) + (by_weight * DW).sum(-1) + by_alpha
    np.testing.assert_allclose(total, (G * tangent).sum(-1), rtol=1e-10, atol=1e-10)


def test_loss_is_zero_at_the_prediction_and_matches_its_gradient():
    p = fenchel.entmax(Z, 1.5, weight=W)
    loss, gradient = fenchel.entmax_loss(Z, p, 1.5, measure=W, return_gradient=True)
    assert loss == 0 and not gradient.any()
    q = fenchel.softmax(G)
    loss, gradient, by_alpha = fenchel.cross_omega(
        Z, q, 1.5, reduction="none", measure=W, return_gradient=True, return_alpha_gradient=True
    )
    np.testing.assert_allclose(gradient, p - q, atol=1e-15)
    h = 1e-6
    ahead, behind = (fenchel.cross_omega(Z, q, 1.5 + s, reduction="none", measure=W) for s in (h, -h))
    np.testing.assert_allclose(by_alpha, (ahead - behind) / (2 * h), rtol=1e-6)


def test_refined_nodes_converge_to_the_beta_gaussian():
    for alpha in (1.0, 1.5, 2.0):
        density = fenchel.BetaGaussian(alpha)
        t = np.linspace(-8, 8, 3201)
        p = fenchel.entmax(-(t**2) / 2, alpha, weight=t[1] - t[0])
        np.testing.assert_allclose(p / (t[1] - t[0]), density.pdf(t), atol=2e-5)


def test_messages():
    with pytest.raises(ValueError, match=r"weights\[0\]\[1\] must be finite and not negative, got -1"):
        fenchel.entmax([1.0, 2.0], weight=[1.0, -1.0])
    with pytest.raises(ValueError, match=r"entmax: weight must broadcast to shape \(2,\), got shape \(3,\)"):
        fenchel.entmax([1.0, 2.0], weight=[1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="entmax_vjp: weight must be given where its gradient is asked for, got None"):
        fenchel.entmax_vjp([0.5, 0.5], [1.0, 0.0], return_weight_gradient=True)
    with pytest.raises(ValueError, match="entmax_jvp: weight must be given where it has a direction, got None"):
        fenchel.entmax_jvp([0.5, 0.5], [1.0, 0.0], weight_direction=[1.0, 0.0])
