"""entmax over weighted nodes in torch: laws, derivatives of both orders in scores, weights and alpha, and losses."""

import math

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.nn.functional import cross_entropy

import fenchel.torch as ft

ALPHAS = [1.0, 1.0 + 2.0**-52, 1 + 1e-8, 4 / 3, 1.5, 2.0, 5.0, 1e6, math.inf, 0.7]


def draw(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


X, W = draw(3, 5, seed=1), draw(3, 5, seed=2).exp()
SOFT = ft.sparsemax(draw(3, 5, seed=3))
CLASSES = torch.tensor([0, 4, -100])
targets = pytest.mark.parametrize("target", [CLASSES, SOFT], ids=["classes", "soft"])
losses = pytest.mark.parametrize("loss", [ft.entmax_loss, ft.cross_omega])


@pytest.mark.parametrize("alpha", ALPHAS)
def test_laws(alpha):
    """Ones are entmax; a weight of two is a node that is there twice; one weight serves all rows."""
    ones = torch.ones(5, dtype=torch.float64)
    torch.testing.assert_close(ft.entmax(X, alpha, weight=ones), ft.entmax(X, alpha), rtol=0, atol=1e-15)
    twice = ft.entmax(torch.cat([X, X], -1), alpha)
    torch.testing.assert_close(ft.entmax(X, alpha, weight=2 * ones), 2 * twice[:, :5], rtol=0, atol=1e-15)
    each = torch.stack([ft.entmax(x, alpha, weight=W[0]) for x in X])
    torch.testing.assert_close(ft.entmax(X, alpha, weight=W[0]), each, rtol=0, atol=0)
    torch.testing.assert_close(ft.entmax(X.T, alpha, 0, weight=W.T), ft.entmax(X, alpha, weight=W).T, rtol=0, atol=0)


def test_softmax_with_a_prior():
    prior = W / W.sum(-1, keepdim=True)
    p = ft.entmax(X, 1.0, weight=prior)
    torch.testing.assert_close(p, torch.softmax(X + prior.log(), -1))
    ours = ft.entmax_loss(X, CLASSES, 1.0, measure=prior)
    torch.testing.assert_close(ours, cross_entropy(X + prior.log(), CLASSES))


def test_special_cases_and_types():
    torch.testing.assert_close(ft.sparsemax(X, weight=W), ft.entmax(X, 2.0, weight=W))
    torch.testing.assert_close(ft.entmax15(X, weight=W), ft.entmax(X, 1.5, weight=W))
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        p = ft.entmax(X.to(dtype), 1.5, weight=W)
        assert p.dtype == dtype
        expected = ft.entmax(X.to(dtype).double(), 1.5, weight=W)
        torch.testing.assert_close(p.double(), expected, rtol=torch.finfo(dtype).eps, atol=1e-7)


@pytest.mark.parametrize("alpha", ALPHAS[:7] + [0.7])
def test_derivatives_of_both_orders_in_both_modes(alpha, device):
    x, w = X.to(device, copy=True).requires_grad_(), W.to(device, copy=True).requires_grad_()

    def f(x, w):
        return ft.entmax(x, alpha, weight=w)

    assert gradcheck(f, (x, w), check_forward_ad=True, check_batched_grad=True, check_batched_forward_grad=True)
    assert gradgradcheck(f, (x, w), check_fwd_over_rev=True)


def test_derivatives_in_alpha(device):
    """And in one row of weights that all rows share."""
    x, w = X.to(device, copy=True).requires_grad_(), W[0].to(device, copy=True).requires_grad_()
    alpha = torch.tensor([[1.0], [0.7], [2.5]], dtype=torch.float64, device=device, requires_grad=True)

    def f(x, w, alpha):
        return ft.entmax(x, alpha, weight=w)

    assert gradcheck(f, (x, w, alpha), check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(f, (x, w, alpha), check_fwd_over_rev=True)


@losses
@targets
def test_derivatives_of_losses(loss, target, device):
    x, w = X.to(device, copy=True).requires_grad_(), W.to(device, copy=True).requires_grad_()
    alpha = torch.tensor([[1.0], [0.7], [2.5]], dtype=torch.float64, device=device, requires_grad=True)
    target = target.to(device)

    def f(x, w, alpha):
        return loss(x, target, alpha, reduction="none", measure=w)

    assert gradcheck(f, (x, w, alpha), check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(f, (x, w, alpha), check_fwd_over_rev=True)


@targets
@pytest.mark.parametrize("alpha", ALPHAS)
def test_losses_of_ones_are_those_without_a_measure(target, alpha):
    ones = torch.ones_like(X)
    for loss in (ft.entmax_loss, ft.cross_omega):
        torch.testing.assert_close(
            loss(X, target, alpha, measure=ones), loss(X, target, alpha), rtol=1e-14, atol=1e-15
        )


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_loss_is_zero_at_the_prediction(alpha, dtype):
    x, w = X.to(dtype), W.to(dtype)
    x.requires_grad_()
    loss = ft.entmax_loss(x, ft.entmax(x.detach(), alpha, weight=w), alpha, measure=w)
    (gradient,) = torch.autograd.grad(loss, x)
    assert loss == 0 and (gradient == 0).all()


def test_nodes_of_weight_zero_are_not_there():
    x = torch.tensor([math.nan, 1.0, 0.0], requires_grad=True)
    w = torch.tensor([0.0, 2.0, 1.0], requires_grad=True)
    p = ft.entmax(x, 1.5, weight=w)
    assert p[0] == 0
    torch.testing.assert_close(p[1:], ft.entmax(x[1:], 1.5, weight=w[1:]))
    p[1].backward()
    assert x.grad[0] == 0 and w.grad[0] == 0
    assert ft.entmax_loss(x, torch.tensor(0), 1.5, measure=w) == math.inf


def test_quadrature_nodes_converge_to_the_density():
    """The parabola's density at alpha = 2 is 3/4 (1 - t^2) for sigma2 = 2/3; a rule's nodes have it at their places."""
    errors = []
    for n in (100, 400):
        h = 4 / n
        t = -2 + h * (torch.arange(n, dtype=torch.float64) + 0.5)
        p = ft.entmax(-0.75 * t**2, 2.0, weight=torch.full_like(t, h))
        errors.append((p / h - 0.75 * (1 - t**2).clamp(min=0)).abs().max().item())
    assert errors[0] < 1e-3 and errors[1] < errors[0] / 8


def test_vmap_and_compile(device):
    x, w = X.to(device), W.to(device)
    expected = ft.entmax(x, 1.5, weight=w)
    torch.testing.assert_close(torch.func.vmap(lambda x, w: ft.entmax(x, 1.5, weight=w))(x, w), expected)
    torch.testing.assert_close(
        torch.func.vmap(lambda x: ft.entmax(x, 1.5, weight=w[0]))(x), ft.entmax(x, 1.5, weight=w[0])
    )
    compiled = torch.compile(lambda x, w: ft.entmax(x, 1.5, weight=w), backend="aot_eager", fullgraph=True)
    w.requires_grad_()
    result = compiled(x, w)
    torch.testing.assert_close(result, expected)
    (gradient,) = torch.autograd.grad(result[:, 0].sum(), w)
    (eager,) = torch.autograd.grad(ft.entmax(x, 1.5, weight=w)[:, 0].sum(), w)
    torch.testing.assert_close(gradient, eager)
    loss = torch.compile(lambda x, w: ft.entmax_loss(x, SOFT.to(device), 1.5, measure=w), backend="aot_eager")
    (gradient,) = torch.autograd.grad(loss(x, w), w)
    (eager,) = torch.autograd.grad(ft.entmax_loss(x, SOFT.to(device), 1.5, measure=w), w)
    torch.testing.assert_close(gradient, eager)


def test_opcheck(device):
    x = draw(2, 5, 3, seed=4).to(device)
    w = x.exp()
    alphas = torch.full((2, 1, 3), 1.5, dtype=torch.float64, device=device)
    p = ft.entmax(x, 1.5, dim=1, weight=w)
    check, ops = torch.library.opcheck, torch.ops.fenchel
    check(ops.weighted_entmax, (x.clone().requires_grad_(), w.clone().requires_grad_(), alphas, 0.0, -2))
    for in_weight in (True, False):
        check(ops.weighted_entmax_vjp, (p, w, alphas, x, 0.0, -2, in_weight))
        check(ops.weighted_entmax_vjp_vjp, (p, w, alphas, x, x, None, alphas, 0.0, -2, in_weight))
    check(ops.weighted_entmax_jvp, (p, w, alphas, None, x, alphas, 0.0, -2))
    soft = ft.entmax(-x, 1.5, dim=1)
    for gradient in (True, False):
        check(ops.weighted_entmax_loss, (x, w, alphas, None, soft, 0.0, -2, -100, True, gradient))
    check(ops.weighted_entmax_loss_curvature, (p - soft, w, alphas, None, soft, x, w, alphas, 0.0, -2, -100, False))


def test_messages():
    with pytest.raises(ValueError, match=r"weights\[1\]\[2\] must be finite and not negative, got -1"):
        ft.entmax(torch.zeros(2, 3), weight=torch.tensor([[1.0, 1, 1], [1, 1, -1]]))
    with pytest.raises(ValueError, match=r"weight must broadcast to \(2, 3\), got shape \(2,\)"):
        ft.entmax(torch.zeros(2, 3), weight=torch.ones(2))
    with pytest.raises(TypeError, match="measure must be floating point, got torch.int64"):
        ft.entmax_loss(torch.zeros(2, 3), torch.tensor([0, 1]), measure=torch.ones(3, dtype=torch.int64))
