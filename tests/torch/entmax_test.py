"""entmax in torch: the numbers of the library, and derivatives of both orders."""

import math

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

import fenchel
import fenchel.torch as ft

ALPHAS = [1.0, 1.0 + 2.0**-52, 1 + 1e-8, 4 / 3, 1.5, 2.0, 5.0, 1e6, 0.7]


def draw(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_numbers_are_those_of_the_library(alpha, dtype):
    x = draw(7, 33, seed=1).to(dtype)
    assert (ft.entmax(x, alpha).numpy() == fenchel.entmax(x.numpy(), alpha)).all()


@pytest.mark.parametrize("alpha", ALPHAS)
def test_derivatives_of_both_orders_in_both_modes(alpha, device):
    x = draw(3, 5, seed=2).to(device).requires_grad_()

    def f(x):
        return ft.entmax(x, alpha)

    assert gradcheck(f, x, check_forward_ad=True, check_batched_grad=True, check_batched_forward_grad=True)
    assert gradgradcheck(f, x, check_fwd_over_rev=True, check_rev_over_rev=True)


def test_derivatives_in_alpha(device):
    """One for each row, of all kinds, and one that rows share."""
    x = draw(4, 5, seed=3).to(device).requires_grad_()
    for alphas in ([[1.0], [1 + 1e-8], [0.7], [2.5]], 1.5):
        alpha = torch.tensor(alphas, dtype=torch.float64, device=device, requires_grad=True)
        assert gradcheck(ft.entmax, (x, alpha), check_forward_ad=True, check_batched_grad=True)
        assert gradgradcheck(ft.entmax, (x, alpha), check_fwd_over_rev=True)


def test_products_where_one_score_has_nearly_all_of_the_mass(device):
    """Those of two scores are p0 p1 (v0 - v1)."""
    x = torch.tensor([30.0, 0.0], dtype=torch.float64, device=device)
    v = torch.tensor([0.3, -0.7], dtype=torch.float64, device=device)
    expected = math.exp(-30) / (1 + math.exp(-30)) ** 2
    for alpha in (1.0, torch.ones(1, dtype=torch.float64, device=device)):
        product = torch.func.jvp(lambda x, alpha=alpha: ft.entmax(x, alpha), (x,), (v,))[1]
        gradient = torch.func.vjp(lambda x, alpha=alpha: ft.entmax(x, alpha), x)[1](v)[0]
        assert product.tolist() == pytest.approx([expected, -expected], rel=1e-14, abs=0)
        assert gradient.tolist() == pytest.approx([expected, -expected], rel=1e-14, abs=0)


@pytest.mark.parametrize("alpha", [118.0, 300.0, 1e4])
@pytest.mark.parametrize("scores", [[0.0] * 20, [1.41080119, 1.40396135, 1.3]])
def test_second_derivatives_are_finite_for_every_alpha(alpha, scores, device):
    x = torch.tensor(scores, dtype=torch.float64, device=device, requires_grad=True)
    weight = draw(x.numel(), seed=5).to(device)
    (gradient,) = torch.autograd.grad((ft.entmax(x, alpha) * weight).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(gradient[0], x)
    assert torch.isfinite(second).all()


def test_opcheck(device):
    x = draw(2, 5, 3, seed=4).to(device)
    alphas = torch.full((2, 1, 3), 1.5, dtype=torch.float64, device=device)
    p = ft.entmax(x, 1.5, dim=1)
    torch.library.opcheck(torch.ops.fenchel.entmax, (x.clone().requires_grad_(), alphas, 0.0, -2))
    torch.library.opcheck(torch.ops.fenchel.entmax_vjp, (p, alphas, x, 0.0, -2))
    torch.library.opcheck(torch.ops.fenchel.entmax_jvp, (p, alphas, x, alphas, 0.0, -2))
    torch.library.opcheck(torch.ops.fenchel.entmax_vjp_vjp, (p, alphas, x, x, alphas, 0.0, -2))
    with pytest.raises(ValueError, match="alphas must be float64, got Float"):
        torch.ops.fenchel.entmax(x, alphas.float(), 0.0, -2)
