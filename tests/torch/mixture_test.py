"""Mixtures in torch: the numbers of NumPy, EM, gradients, and attention with several modes."""

import numpy as np
import pytest
import torch

import fenchel
import fenchel.torch as ft
from fenchel.torch.nn import ContinuousAttention

F64 = torch.float64
TWO = torch.tensor([0.2, 0.3, 0.01, 0.0, 0.0, 0.19, 0.3], dtype=F64)


def test_numbers_are_those_of_numpy():
    weights, mu, sigma2 = [0.25, 0.75], [-2.0, 2.0], [1.0, 0.5]
    ours = ft.Mixture(torch.tensor(weights, dtype=F64), ft.BetaGaussian(1.5, torch.tensor(mu, dtype=F64), torch.tensor(sigma2, dtype=F64)))
    theirs = fenchel.Mixture(weights, [fenchel.BetaGaussian(1.5, *x) for x in zip(mu, sigma2)])
    t = torch.linspace(-4, 4, 17, dtype=F64)
    np.testing.assert_allclose(ours.log_prob(t), theirs.logpdf(t.numpy()), rtol=1e-12)
    np.testing.assert_allclose(ours.cdf(t), theirs.cdf(t.numpy()), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose([ours.mean, ours.variance], [theirs.mean(), theirs.var()], rtol=1e-12)
    matrices = 0.3 * torch.eye(2, dtype=F64).expand(2, 2, 2)
    space = ft.Mixture(torch.tensor(weights, dtype=F64), ft.MultivariateBetaGaussian(2.0, torch.tensor([[0.0, 0], [1, 2]], dtype=F64), matrices))
    parts = [fenchel.MultivariateBetaGaussian(2, m, 0.3 * np.eye(2)) for m in ([0, 0], [1, 2])]
    at = torch.tensor([[0.1, 0.1], [1.0, 1.9]], dtype=F64)
    np.testing.assert_allclose(space.log_prob(at), fenchel.MultivariateMixture(weights, parts).logpdf(at.numpy()), rtol=1e-12)


def test_em_finds_what_numpy_finds():
    """The floor of NumPy is a bound, and that here is added."""
    floor = 1e-12
    found = fenchel.fit_mixture(2, TWO.numpy(), floor=floor).mixture
    p = ft.fit_mixture(2.0, TWO, floor=floor)
    np.testing.assert_allclose(p.weights, found.weights, rtol=1e-6)
    np.testing.assert_allclose(p.components.mu, [q.mu for q in found.components], rtol=1e-6)
    np.testing.assert_allclose(p.components.sigma2, [q.sigma2 for q in found.components], rtol=1e-4)
    one = ft.fit_mixture(1.5, TWO, components=1)
    mu, sigma2 = ft.match_weights(1.5, TWO)
    torch.testing.assert_close((one.components.mu[0], one.components.sigma2[0]), (mu, sigma2))
    batch = ft.fit_mixture(2.0, torch.stack([TWO, TWO.flip(0)]).expand(3, 2, 7))
    assert batch.batch_shape == (3, 2) and batch.components.batch_shape == (3, 2, 2)
    torch.testing.assert_close(batch.components.mu[0, 0], ft.fit_mixture(2.0, TWO).components.mu)


def test_the_mean_moves_with_the_weights():
    """The mean of the mixture is that of the weights, whatever the components are: so its gradient is known."""
    weights = TWO.clone().requires_grad_()
    p = ft.fit_mixture(2.0, weights)
    places = torch.from_numpy(fenchel.positions(7))
    torch.testing.assert_close(p.mean, (TWO * places).sum())
    (slope,) = torch.autograd.grad(p.mean, weights)
    torch.testing.assert_close(slope, places - (TWO * places).sum(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("grid", [(12,), (4, 5)])
def test_attention_with_two_modes(grid):
    values = torch.randn(2, *grid, 3, dtype=F64, generator=torch.Generator().manual_seed(1))
    scores = torch.full((2, *grid), -4.0, dtype=F64).flatten(1)
    scores[:, [0, -1]] = 1.0
    scores = scores.reshape(2, *grid).requires_grad_()
    if len(grid) == 1:
        basis = ft.GaussianBasis.linearly_spaced(6)
    else:
        basis = ft.MultivariateGaussianBasis.unit_square(3, 3, 0.05 * torch.eye(2, dtype=F64))
    attention = ContinuousAttention(basis, "continuous", components=2)
    context, attended = attention(values, scores)
    assert attended.modes.shape == attended.mu.shape[:2] == (2, 2)
    r = ft.continuous_attention(2.0, attended.mu, attended.Sigma, basis)
    by_hand = torch.einsum("bk,bkn,bnm->bm", attended.modes, r, attention.value_function(values))
    torch.testing.assert_close(context, by_hand)
    context.square().sum().backward()
    assert scores.grad.isfinite().all() and scores.grad.abs().sum() > 0
    assert attended.density().batch_shape == (2, 2)


def test_errors_name_what_is_wrong():
    with pytest.raises(TypeError, match="components must be a BetaGaussian"):
        ft.Mixture(torch.tensor([1.0]), torch.distributions.Normal(torch.zeros(1), 1.0))
    with pytest.raises(ValueError, match="weights must have shape"):
        ft.fit_mixture(2.0, torch.tensor(1.0))
    with pytest.raises(ValueError, match="components"):
        ft.fit_mixture(2.0, TWO, components=0)
    with pytest.raises(ValueError, match="densities of one component"):
        attention = ContinuousAttention(ft.GaussianBasis.linearly_spaced(6), components=2)
        attention(torch.randn(2, 7, 3), torch.randn(2, 7), lengths=torch.tensor([7, 3]))
