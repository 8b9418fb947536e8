"""fusedmax in torch: the numbers of the library, and derivatives in the scores and in gamma."""

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

import fenchel
import fenchel.torch as ft

X = torch.randn(3, 2, 7, generator=torch.Generator().manual_seed(3), dtype=torch.float64)


@pytest.mark.parametrize("gamma", [0.0, 0.1, 1.0, 100.0])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_numbers_are_those_of_the_library(gamma, dtype):
    x = X.to(dtype)
    expected = torch.from_numpy(fenchel.fusedmax(x.numpy(), gamma))
    assert (ft.fusedmax(x, gamma) == expected).all()
    assert (ft.fusedmax(x.movedim(-1, 0), gamma, dim=0) == expected.movedim(-1, 0)).all()
    assert (ft.fusedmax(x, torch.tensor(gamma)) - expected).abs().max() < 1e-6
    if gamma == 0:
        torch.testing.assert_close(expected, ft.sparsemax(x))


def test_derivatives_of_both_orders_in_both_modes(device):
    scores = X.to(device)
    x = scores[:, 0].clone().requires_grad_()
    gamma = torch.tensor([[0.05], [0.3], [0.6]], dtype=torch.float64, device=device, requires_grad=True)
    assert gradcheck(ft.fusedmax, (x, gamma), check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(ft.fusedmax, (x, gamma), check_fwd_over_rev=True)
    shared = torch.tensor(0.1, requires_grad=True)
    (gradient,) = torch.autograd.grad((ft.fusedmax(scores, shared) * scores).sum(), shared)
    slope = ((ft.fusedmax(scores, 0.1 + 1e-6) - ft.fusedmax(scores, 0.1 - 1e-6)) * scores).sum() / 2e-6
    assert gradient.item() == pytest.approx(slope.item(), rel=1e-6)


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match="gamma must be finite and not negative, got -1"):
        ft.fusedmax(X, -1.0)
    with pytest.raises(ValueError, match=r"gamma must broadcast to \(3, 2, 1\), got shape \(7,\)"):
        ft.fusedmax(X, torch.ones(7))


def test_opcheck(device):
    x = X.to(device)
    p = ft.fusedmax(x, 0.2)
    gammas = torch.full((3, 2, 1), 0.2, dtype=torch.float64, device=device)
    torch.library.opcheck(torch.ops.fenchel.fusedmax, (x.clone().requires_grad_(), gammas, 0.0, -1))
    torch.library.opcheck(torch.ops.fenchel.fusedmax_vjp, (p, gammas, x, 0.0, -1))
    torch.library.opcheck(torch.ops.fenchel.fusedmax_jvp, (p, gammas, x, gammas, 0.0, -1))
