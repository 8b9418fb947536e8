"""Densities of scores that are functions of torch: laws, closed forms, derivatives, batches, draws and messages."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.autograd import gradcheck, gradgradcheck

import fenchel
import fenchel.torch as ft
from fenchel import Interval

F64 = torch.float64
ALPHAS = [0.8, 1.0, math.nextafter(1.0, 2.0), 1 + 1e-8, 4 / 3, 1.5, 2.0, 5.0]
LINE, SQUARE = Interval(-3, 3), ft.Box([-2, -2], [2, 2])


def tensor(x, device="cpu"):
    return torch.tensor(x, dtype=F64, device=device)


def hills(t):
    """Two of them, of different height."""
    return 3 * t.square() - t.pow(4) + 0.2 * t


def bell(mu, sigma2):
    return lambda t: -(t - mu).square() / (2 * sigma2)


def predict(f, alpha, domain=LINE, nodes=None, **options):
    return ft.predict(f, alpha, domain, nodes, dtype=F64, **options)


@pytest.mark.parametrize("alpha", [*ALPHAS, 1e6])
def test_laws(alpha, device):
    p = predict(hills, alpha, device=device)
    torch.testing.assert_close(p.probs.sum(), tensor(1.0, device), rtol=1e-13, atol=0)
    on = p.active_support()
    assert on.all() if alpha < 1.1 else not on.all()
    assert (p.log_prob(p.points)[~on] == -torch.inf).all()
    wrong = (p.pdf(p.points) * p.weights - p.probs).abs() > 1e-9 * p.probs + 1e-12
    assert wrong.sum() <= (alpha > 100)  # where almost no rise fills a node, its own density has lost its digits
    assert p.pdf(tensor(3.1, device)) == 0 and p.cross_omega(tensor(-3.1, device)) == torch.inf
    assert p.fenchel_young(p) == 0 and (p.fenchel_young(predict(bell(1, 1), alpha, device=device)) > 1e-3).all()
    # The mean of cross_omega over p is the loss against p less Omega(p): its tsallis_entropy.
    at = p.points[on]
    torch.testing.assert_close((p.cross_omega(at) * p.probs[on]).sum(), p.tsallis_entropy(), rtol=1e-10, atol=1e-10)
    # log_{2-alpha}(p) = f - A on the support.
    if alpha < 100:
        l, am1 = p.log_prob(at), alpha - 1
        deformed = l if am1 == 0 else torch.expm1(am1 * l) / am1
        torch.testing.assert_close(deformed, hills(at) - p.normalizer, rtol=1e-7, atol=1e-7)


# The support ends within the domain, where a rule of 512 nodes errs by about h^(1 + 1 / (alpha - 1)), h = 6 / 512.
# Losses err less.
ERRORS = {0.8: 1e-4, 4 / 3: 2e-7, 1.5: 2e-5, 2.0: 4e-4, 5.0: 5e-3}
LOSS_ERRORS = {0.8: 3e-5, 4 / 3: 3e-9, 1.5: 5e-8, 2.0: 5e-7, 5.0: 1e-5}


@pytest.mark.parametrize("alpha", ALPHAS)
def test_closed_forms(alpha, device):
    error = ERRORS.get(alpha, 1e-12)
    p, exact = predict(bell(0.1, 0.05), alpha, device=device), fenchel.BetaGaussian(alpha, 0.1, 0.05)
    t = np.linspace(-0.6, 0.6, 9)
    at = tensor(t, device)

    def assert_near(ours, theirs, error=error):
        np.testing.assert_allclose(ours.cpu(), theirs, atol=error, rtol=0)

    assert_near(p.pdf(at), exact.pdf(t))
    assert_near(p.mean, 0.1)
    assert_near(p.variance, exact.var())
    assert_near(p.tsallis_entropy(), exact.tsallis_entropy())
    assert_near(p.entropy() / 4, exact.entropy() / 4)
    assert_near(p.expectation(torch.cos), exact.expect(np.cos))
    assert_near(p.cross_omega(at), [exact.cross_omega(x) for x in t], LOSS_ERRORS.get(alpha, 1e-12))


@pytest.mark.parametrize("alpha", [1e9, 1e14, 1e16, 1e17, 1e50, 1e308])
def test_a_huge_alpha_predicts_ones_where_the_score_is_high(alpha, device):
    """alpha - 1 multiplies the rounding of the density's logarithm: most of the support had the density 0."""
    p = predict(lambda t: -t.square() / 2, alpha, device=device)
    at = tensor([-0.52, -0.48, -0.1, 0.0, 0.3, 0.48, 0.52], device)
    expected = tensor([-math.inf, 0.0, 0.0, 0.0, 0.0, 0.0, -math.inf], device)
    torch.testing.assert_close(p.log_prob(at), expected, atol=1e-7, rtol=0)


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0])
def test_two_hills_as_numpy_predicts_them(alpha):
    exact = fenchel.predict(fenchel.Tsallis(alpha), lambda t: 3 * t**2 - t**4 + 0.2 * t, LINE)
    p, t = predict(hills, alpha), np.linspace(-2, 2, 17)
    np.testing.assert_allclose(p.pdf(tensor(t)), exact.pdf(t), atol=1e-4)
    np.testing.assert_allclose(p.mean, exact.mean(), atol=1e-4)
    np.testing.assert_allclose(p.cdf(tensor(t)), exact.cdf(t), atol=1e-4)
    np.testing.assert_allclose(p.cross_omega(tensor(t)), [exact.cross_omega(x) for x in t], atol=1e-6)


@pytest.mark.parametrize("alpha", [4 / 3, 1.5, 2.0, 3.0])
def test_the_order_of_the_error(alpha):
    """h^(1 + 1 / (alpha - 1)), in the mean over where the support ends between nodes."""
    random = torch.Generator().manual_seed(0)
    mu, sigma2 = torch.rand(2, 400, 1, dtype=F64, generator=random) * 0.1 + tensor([[[0.0]], [[0.05]]])
    exact = ft.BetaGaussian(alpha, mu, sigma2).log_prob(mu).squeeze(1)

    def error(nodes):
        p = predict(lambda t: bell(mu, sigma2)(t), alpha, LINE, nodes)
        return (p.log_prob(mu.squeeze(1)) - exact).square().mean().sqrt().item()

    order = math.log2(error(128) / error(1024)) / 3
    assert abs(order - (1 + 1 / (alpha - 1))) < 0.3, order


THETA = (tensor([[0.5, 2.0], [-0.4, 1.0]]), tensor([1.4, 2.6]))


def statistics(theta, alpha, at, domain=LINE, nodes=12):
    a, b = theta.unbind(-1)
    p = predict(lambda t: a[:, None] * t + b[:, None] * torch.cos(2 * t) - t.square() / 2, alpha, domain, nodes)
    q = predict(bell(0.2, 1.0), 2.0, domain, nodes)
    return (
        p.normalizer, p.mean, p.variance, p.entropy(), p.tsallis_entropy(), p.expectation(torch.sin), p.pdf(at),
        p.cross_omega(at), p.fenchel_young(q), p.cdf(at), p.icdf(tensor([[0.2], [0.7]])),
    )  # fmt: skip


def test_derivatives_in_both_modes():
    theta, alpha = (x.clone().requires_grad_() for x in THETA)
    at = tensor([[0.1], [-0.3]])
    assert gradcheck(lambda x, a: statistics(x, a, at), (theta, alpha), check_forward_ad=True)
    assert gradgradcheck(lambda x, a: statistics(x, a, at)[:9], (theta, alpha))


@pytest.mark.parametrize("alpha", [1.0, math.nextafter(1.0, 2.0), 1 + 1e-8])
def test_derivatives_in_alpha_go_through_one(alpha):
    theta, at = THETA[0], tensor([[0.1], [-0.3]])

    def f(alpha):
        return torch.cat([x.flatten() for x in statistics(theta, alpha.expand(2), at)[:8]])

    slope = torch.autograd.functional.jacobian(f, tensor(alpha))
    numeric = (f(tensor(alpha + 1e-4)) - f(tensor(alpha - 1e-4))) / 2e-4
    torch.testing.assert_close(slope, numeric, rtol=1e-6, atol=1e-6)


def test_the_loss_has_the_gradient_of_the_paper(device):
    """E_p[df] - E_q[df], for a network; at a stationary point the two agree."""
    torch.manual_seed(0)
    layers = [nn.Unflatten(0, (-1, 1)), nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1), nn.Flatten(0)]
    f = nn.Sequential(*layers).to(device, F64)
    data = tensor([-1.1, -0.9, -1.3, 1.4, 1.2, 0.2], device)

    def slopes_of(weights, points):
        return torch.autograd.grad((weights * f(points)).sum(), f.parameters())

    for alpha in (1.0, 1.5, 2.0):
        p = ft.predict(f, alpha, LINE)
        gradient = torch.autograd.grad(p.cross_omega(data).mean(), f.parameters())
        model, sample = slopes_of(p.probs.detach(), p.points), slopes_of(torch.full_like(data, 1 / 6), data)
        for g, m, s in zip(gradient, model, sample):
            torch.testing.assert_close(g, m - s, rtol=1e-9, atol=1e-12)

    optimizer = torch.optim.LBFGS(f.parameters(), max_iter=300, tolerance_grad=1e-9, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = ft.predict(f, 1.5, LINE, 64).cross_omega(data).mean()
        loss = loss + 1e-3 * sum(x.square().sum() for x in f.parameters())
        loss.backward()
        return loss

    first = closure().item()
    assert optimizer.step(closure).item() == first
    assert closure().item() < first - 0.3
    p = ft.predict(f, 1.5, LINE, 64)
    model, sample = slopes_of(p.probs.detach(), p.points), slopes_of(torch.full_like(data, 1 / 6), data)
    for m, s, x in zip(model, sample, f.parameters()):
        torch.testing.assert_close(m + 2e-3 * x, s, rtol=0, atol=1e-5)


def test_expectations_move_by_the_covariance():
    """d E_p[psi] / dtheta = cov_{p, 2-alpha}(df, psi), here by the closed form of the family."""
    for alpha, error in ((1.0, 1e-10), (1.5, 1e-3), (2.0, 2e-2)):
        sigma2 = tensor(0.05).requires_grad_()
        (ours,) = torch.autograd.grad(predict(lambda t: bell(0.1, sigma2)(t), alpha).variance, sigma2)
        (exact,) = torch.autograd.grad(ft.BetaGaussian(alpha, tensor(0.1), sigma2).variance, sigma2)
        torch.testing.assert_close(ours, exact, rtol=error, atol=0)


def test_batches_are_densities_of_their_own(device):
    mu, alpha = tensor([[-0.5], [0.0], [0.7]], device), tensor([1.0, 1.5, 3.0], device)
    p = predict(lambda t: bell(mu, 0.2)(t), alpha, device=device)
    assert p.batch_shape == (3,) and p.event_shape == () and p.probs.shape == (3, 512)
    t = torch.linspace(-0.6, 0.8, 6, dtype=F64, device=device).reshape(2, 3)
    for i in range(3):
        one = predict(bell(mu[i], 0.2), alpha[i].item(), device=device)
        for name in ("mean", "variance", "normalizer", "mode"):
            torch.testing.assert_close(getattr(p, name)[i], getattr(one, name), rtol=1e-10, atol=1e-12)
        for name in ("log_prob", "cross_omega", "cdf", "icdf"):
            at = t.abs() if name == "icdf" else t
            torch.testing.assert_close(getattr(p, name)(at)[:, i], getattr(one, name)(at[:, i]), rtol=1e-9, atol=1e-11)
        features = torch.stack([p.points, p.points.cos()], -1)
        torch.testing.assert_close(p.expectation(lambda t: torch.stack([t, t.cos()], -1))[i], one.expectation(features))
        own = features * torch.arange(1, 4, dtype=F64, device=device)[:, None, None]
        torch.testing.assert_close(p.expectation(own)[i], (i + 1) * one.expectation(features))


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0])
def test_nodes_are_a_base_measure(alpha, device):
    points, scores = tensor([[0.0, 1.0], [2.0, 0.0], [1.0, 1.0]], device), tensor([0.3, -0.2, 0.9], device)
    values = dict(zip(map(tuple, points.tolist()), scores))
    f = lambda t: torch.stack([values[tuple(x)] for x in t.tolist()])  # noqa: E731
    even = ft.predict(f, alpha, ft.Nodes(points, torch.ones(3, dtype=F64, device=device)))
    torch.testing.assert_close(even.probs, ft.entmax(scores, alpha))
    last = torch.tensor(2, device=device)
    torch.testing.assert_close(even.fenchel_young(last), ft.entmax_loss(scores, last, alpha))
    torch.testing.assert_close(even.covariance_matrix, torch.cov(points.T, aweights=even.probs, correction=0))
    draws = even.sample((7, 2))
    assert draws.shape == (7, 2, 2) and all(tuple(x) in values for x in draws.flatten(0, 1).tolist())
    prior = tensor([0.5, 0.0, 2.0], device)
    weighted = ft.predict(f, alpha, ft.Nodes(points, prior))
    assert weighted.probs[1] == 0
    if alpha == 1:
        torch.testing.assert_close(weighted.probs, (scores + prior.log()).softmax(0))


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0])
def test_in_a_box(alpha, device):
    mu, Sigma = tensor([0.2, -0.1], device), tensor([[0.2, 0.05], [0.05, 0.1]], device)
    inverse = Sigma.inverse()
    p = predict(lambda t: -((t - mu) @ inverse * (t - mu)).sum(-1) / 2, alpha, SQUARE, device=device)
    exact = ft.MultivariateBetaGaussian(alpha, mu, Sigma)
    assert p.event_shape == (2,) and p.points.shape == (4096, 2)
    at = tensor([[0.0, 0.0], [0.3, -0.2], [1.9, 1.9]], device)
    error = {1.0: 1e-4, 1.5: 2e-4, 2.0: 4e-3}[alpha]  # at alpha = 1 what lies beyond the box
    torch.testing.assert_close(p.pdf(at), exact.log_prob(at).exp(), rtol=0, atol=error)
    torch.testing.assert_close(p.mean, mu, rtol=0, atol=error)
    torch.testing.assert_close(p.covariance_matrix, exact.covariance_matrix, rtol=0, atol=error)
    torch.testing.assert_close(p.variance, p.covariance_matrix.diagonal())
    torch.testing.assert_close(p.cross_omega(at), exact.cross_omega(at), rtol=0, atol=1e-4)
    assert p.pdf(tensor([0.0, 2.1], device)) == 0
    torch.manual_seed(1)
    draws = p.sample((20000,))
    assert not p.has_rsample and draws.shape == (20000, 2)
    torch.testing.assert_close(torch.cov(draws.T), exact.covariance_matrix, rtol=0.05, atol=0.004)
    assert (p.log_prob(draws) > -torch.inf).double().mean() > 0.97  # cells at the edge stick out


@pytest.mark.parametrize("alpha", [1.0, 2.0])
def test_draws(alpha, device):
    torch.manual_seed(3)
    p = predict(lambda t: torch.stack([hills(t), bell(0.5, 0.1)(t)]), alpha, device=device)
    draws = p.sample((10000,))
    assert draws.shape == (10000, 2) and p.has_rsample
    u = p.cdf(draws).sort(0).values
    even = torch.linspace(0, 1, 10000, dtype=F64, device=device)[:, None]
    assert (u - even).abs().max() < 1.6 / 100  # Kolmogorov's bound, of 1 %
    torch.manual_seed(3)
    assert torch.equal(p.sample((10000,)), draws)
    torch.testing.assert_close(p.icdf(p.cdf(draws)), draws, rtol=0, atol=1e-7)
    assert (p.icdf(tensor([[0.0, 0.0], [1.0, 1.0]], device)).abs() <= 3).all()
    assert ft.predict(hills, alpha, LINE, device=device).sample((3,)).dtype == torch.float32


def test_draws_move_with_the_score():
    mu = tensor(0.2).requires_grad_()
    p = predict(lambda t: bell(mu, 0.3)(t), 1.5)
    torch.manual_seed(0)
    slope = torch.autograd.grad(p.rsample((4000,)).mean(), mu)[0]
    assert abs(slope - 1) < 0.03  # a density that is pushed along
    with pytest.raises(NotImplementedError, match="rsample is for densities on an Interval, got Box"):
        predict(lambda t: -t.square().sum(-1), 1.5, SQUARE).rsample()


def test_masks_and_float32(device):
    p = ft.predict(lambda t: torch.where(t > 0.5, -torch.inf, -t.square()), 1.5, Interval(0, 1), device=device)
    assert p.probs.dtype == torch.float32 and p.normalizer.dtype == torch.float32
    assert p.pdf(torch.tensor(0.7, device=device)) == 0 and (p.probs[p.points > 0.5] == 0).all()
    for number in (p.mean, p.normalizer, p.entropy(), p.tsallis_entropy()):
        assert number.isfinite()
    exact = predict(lambda t: torch.where(t > 0.5, -torch.inf, -t.square()), 1.5, Interval(0, 1), device=device)
    torch.testing.assert_close(p.mean.double(), exact.mean, rtol=1e-6, atol=0)
    module = nn.Linear(2, 1).to(device, F64)
    assert ft.predict(lambda t: module(t).squeeze(-1), 1.5, SQUARE, 8, dtype=F64, device=device).mean.dtype == F64


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: predict(hills, 0.0), "alpha must be positive and finite, got 0.0"),
        (lambda: predict(hills, tensor([1.0, torch.inf])), "alpha must be positive and finite, got inf"),
        (lambda: predict(torch.log, 1.5, Interval(-1, 1)), "f must be finite or -inf, got nan at -0.99"),
        (lambda: predict(lambda t: t - torch.inf, 1.5), "f must be above -inf somewhere, got -inf at all nodes"),
        (lambda: predict(lambda t: t[1:], 1.5), r"f must give scores of shape \(..., 512\) for 512 points, got torch"),
        (lambda: predict(hills, 1.5, LINE, 10), "nodes must be a positive multiple of 4, got 10"),
        (lambda: predict(hills, 1.5, Interval(0, math.inf)), r"domain must be finite, got Interval\(lower=0.0,"),
        (lambda: predict(hills, 1.5, ft.Nodes(torch.ones(3), torch.ones(3)), 8), "nodes must not be given for Nodes"),
        (lambda: ft.Nodes(torch.ones(3), torch.ones(2)), r"\(n,\) or \(n, d\) and \(n,\), got \(3,\) and \(2,\)"),
        (lambda: predict(hills, 1.5).expectation(lambda t: t[:3]), r"begins with \(512,\), got \(3,\)"),
    ],
)  # fmt: skip
def test_messages(call, message, monkeypatch):
    # torch.compile turns the checks of all distributions off for the rest of the process.
    monkeypatch.setattr(torch.distributions.Distribution, "_validate_args", True)
    with pytest.raises(ValueError, match=message):
        call()


def test_a_domain_is_one():
    with pytest.raises(TypeError, match=r"domain must be an Interval, a Box or Nodes, got \(0, 1\)"):
        predict(hills, 1.5, (0, 1))
