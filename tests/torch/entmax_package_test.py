"""Beside the entmax package: the same numbers where it is right, and right where it is wrong."""

import functools
import types

import entmax as package
import pytest
import torch

import fenchel.torch as ft
from fenchel.torch import nn

OURS = types.SimpleNamespace(**{name: getattr(m, name) for m in (ft, nn) for name in m.__all__})
INF = float("inf")
X = 2 * torch.randn(6, 9, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
CLASSES = torch.tensor([0, 8, 3, 3, 1, 5])
WEIGHTS = torch.randn(6, 9, generator=torch.Generator().manual_seed(5), dtype=torch.float64)


def gradients(f, *arguments):
    arguments = tuple(a.clone().requires_grad_() for a in arguments)
    value = f(*arguments)
    cotangent = WEIGHTS.flatten()[: value.numel()].reshape(value.shape)
    return value, *torch.autograd.grad(value, arguments, cotangent)


CALLS = {
    "sparsemax": lambda m, x: m.sparsemax(x, -1),
    "sparsemax k": lambda m, x: m.sparsemax(x, dim=-1, k=4),
    "sparsemax_bisect": lambda m, x: m.sparsemax_bisect(x, dim=-1, n_iter=60),
    "entmax15": lambda m, x: m.entmax15(x, dim=-1, k=4),
    "entmax15 dim": lambda m, x: m.entmax15(x, dim=0),
    "entmax_bisect 1.2": lambda m, x: m.entmax_bisect(x, 1.2, -1, 60, True),
    "entmax_bisect 3": lambda m, x: m.entmax_bisect(x, alpha=3.0, dim=-1, n_iter=60, ensure_sum_one=True),
    "Sparsemax": lambda m, x: m.Sparsemax(dim=-1, k=None)(x),
    "SparsemaxBisect": lambda m, x: m.SparsemaxBisect(dim=-1, n_iter=60)(x),
    "Entmax15": lambda m, x: m.Entmax15(dim=-1, k=4)(x),
    "EntmaxBisect": lambda m, x: m.EntmaxBisect(alpha=1.7, dim=-1, n_iter=60)(x),
    "sparsemax_loss": lambda m, x: m.sparsemax_loss(x, CLASSES),
    "sparsemax_bisect_loss": lambda m, x: m.sparsemax_bisect_loss(x, CLASSES, 60),
    "entmax15_loss": lambda m, x: m.entmax15_loss(x, CLASSES, k=4),
    "entmax_bisect_loss": lambda m, x: m.entmax_bisect_loss(x, CLASSES, 1.3, n_iter=60),
    "Entmax15Loss": lambda m, x: m.Entmax15Loss(k=4, ignore_index=3, reduction="none")(x, CLASSES),
    "EntmaxBisectLoss": lambda m, x: m.EntmaxBisectLoss(1.3, n_iter=60, ignore_index=3, reduction="sum")(x, CLASSES),
    "SparsemaxLoss": lambda m, x: m.SparsemaxLoss(k=4, reduction="elementwise_mean")(x, CLASSES),
    "SparsemaxBisectLoss": lambda m, x: m.SparsemaxBisectLoss(n_iter=60, ignore_index=3)(x, CLASSES),
}


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients_are_those_of_the_package(name):
    results = [gradients(functools.partial(CALLS[name], module), X) for module in (OURS, package)]
    for ours, theirs in zip(*results):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


def test_gradient_in_alpha_is_that_of_the_package():
    alpha = 1.2 + torch.rand(6, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(6))
    for ours, theirs in zip(gradients(ft.entmax_bisect, X, alpha), gradients(package.entmax_bisect, X, alpha)):
        torch.testing.assert_close(ours, theirs, rtol=1e-7, atol=1e-9)


def test_alpha_one_is_softmax():
    torch.testing.assert_close(ft.entmax_bisect(X, 1.0), torch.softmax(X, -1), rtol=1e-14, atol=0)
    assert not torch.allclose(package.entmax_bisect(X, 1.0), torch.softmax(X, -1))


def test_masked_scores_in_the_loss():
    x = X.clone()
    x[0, 1] = -INF
    kept = torch.cat([X[0, :1], X[0, 2:]])[None]
    for loss in (ft.sparsemax_loss, ft.entmax15_loss, ft.entmax_bisect_loss):
        assert isinstance(loss(x, CLASSES), torch.Tensor)
        value, gradient = gradients(lambda x: loss(x, CLASSES), x)
        assert value[0].item() == pytest.approx(loss(kept, CLASSES[:1]).item(), rel=1e-14)
        assert gradient[0, 1] == 0 and torch.isfinite(gradient).all()
    assert torch.isnan(package.entmax15_loss(x, CLASSES)[0]).any()


def test_loss_learns_alpha():
    alpha = torch.tensor(1.4, dtype=torch.float64, requires_grad=True)
    ft.entmax_bisect_loss(X, CLASSES, alpha).sum().backward()
    h = 1e-6
    values = [ft.entmax_bisect_loss(X, CLASSES, 1.4 + s).sum().item() for s in (h, -h)]
    assert alpha.grad.item() == pytest.approx((values[0] - values[1]) / (2 * h), rel=1e-7)


def test_every_dim_with_k():
    expected = ft.sparsemax(X)
    assert (ft.sparsemax(X.T.contiguous(), dim=-2, k=2) == expected.T).all()
    with pytest.raises(RuntimeError):
        package.sparsemax(X, dim=-2, k=2)


def test_a_row_that_is_all_masked_is_nan_and_alone():
    x = X.clone()
    x[2] = -INF
    for p in (ft.sparsemax(x), ft.entmax15(x, k=3), ft.entmax_bisect(x, 1.3)):
        assert torch.isnan(p[2]).all() and torch.isfinite(p[[0, 1, 3, 4, 5]]).all()


def test_double_backward_off_the_support():
    x = X.clone().requires_grad_()
    p = ft.entmax15(x)
    assert (p == 0).any()
    (gradient,) = torch.autograd.grad((p * WEIGHTS).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad((gradient**2).sum(), x)
    assert torch.isfinite(second).all() and (second[p == 0] == 0).all() and (second != 0).any()


def test_large_alpha_in_float32():
    x = X.float()
    p = ft.entmax_bisect(x, 10.0)
    torch.testing.assert_close(p.double(), ft.entmax(x.double(), 10.0), rtol=0, atol=1e-5)
    torch.testing.assert_close(p.sum(-1), torch.ones(6), rtol=0, atol=2e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_types(dtype):
    x = X.to(dtype)
    for f in (ft.sparsemax, ft.entmax15, lambda x: ft.entmax_bisect(x, 1.2)):
        assert (f(x) == f(x.float()).to(dtype)).all()
    for loss in (ft.sparsemax_loss, ft.entmax15_loss, ft.entmax_bisect_loss):
        assert (loss(x, CLASSES) == loss(x.float(), CLASSES).to(dtype)).all()
