"""Losses in torch: the numbers of the library, their derivatives of both orders, targets, reductions."""

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import gradcheck, gradgradcheck
from torch.nn.functional import cross_entropy

import fenchel
import fenchel.torch as ft
from fenchel.torch import _entmax_loss

ALPHAS = [1.0, 1.0 + 2.0**-52, 1 + 1e-8, 4 / 3, 1.5, 2.0, 5.0, 1e6, 0.7]
INF = float("inf")


def random(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


X = random(4, 6)
CLASSES = torch.tensor([0, 5, -100, 3])
SOFT = ft.sparsemax(random(4, 6, seed=1))
both = pytest.mark.parametrize("target", [CLASSES, SOFT], ids=["classes", "soft"])


@pytest.fixture(params=["as the device has it", "without the gradient"])
def forward(request, monkeypatch):
    """A loss that keeps its gradient, and one that keeps its scores, on every device."""
    if request.param == "without the gradient":
        monkeypatch.setattr(_entmax_loss, "_keeps_gradient", lambda scores, alphas: False)


both_forms = pytest.mark.usefixtures("forward")
losses = pytest.mark.parametrize(
    "loss,reference", [(ft.entmax_loss, fenchel.entmax_loss), (ft.cross_omega, fenchel.cross_omega)]
)


@both_forms
@losses
@both
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_numbers_are_those_of_the_library(loss, reference, target, alpha, dtype):
    x = X.clone().to(dtype).requires_grad_()
    q = target if target is CLASSES else target.to(dtype)
    if target is CLASSES:
        loss, reference = ft.entmax_loss, fenchel.entmax_loss
    for reduction in ("none", "sum", "mean"):
        ours = loss(x, q, alpha, reduction=reduction)
        (gradient,) = torch.autograd.grad(ours.sum(), x)
        value, expected = reference(x.detach().numpy(), q.numpy(), alpha, reduction=reduction, return_gradient=True)
        eps = torch.finfo(dtype).eps
        np.testing.assert_allclose(ours.detach(), value, rtol=0 if reduction == "none" else 4 * eps)
        np.testing.assert_allclose(gradient, expected, rtol=eps)


@both_forms
@pytest.mark.parametrize("loss,target", [(ft.entmax_loss, CLASSES), (ft.entmax_loss, SOFT), (ft.cross_omega, SOFT)])
def test_derivatives_of_both_orders_in_both_modes(loss, target, device):
    """Of rows with alphas of all kinds: 1 by its limit, near it, beyond 2, and below 1 for a class that is ignored."""
    x, target = X.to(device, copy=True).requires_grad_(), target.to(device)
    alphas = torch.tensor([[1.0], [1 + 1e-8], [0.7], [2.5]], dtype=torch.float64, device=device, requires_grad=True)

    def f(x, alphas):
        return loss(x, target, alphas, reduction="none")

    assert gradcheck(f, (x, alphas), check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(f, (x, alphas), check_fwd_over_rev=True)


@both_forms
def test_hessian_is_the_jacobian_of_the_prediction(device):
    def f(x, alpha):
        return ft.entmax_loss(x, torch.tensor(2, device=device), alpha)

    x, alpha = X[0].to(device), torch.tensor(1.4, dtype=torch.float64, device=device)
    (xx, xa), (ax, aa) = torch.func.hessian(f, (0, 1))(x, alpha)
    to_x, to_alpha = torch.func.jacrev(ft.entmax, (0, 1))(x, alpha)
    torch.testing.assert_close(xx, to_x)
    torch.testing.assert_close(xa, to_alpha)
    torch.testing.assert_close(ax, to_alpha)
    assert aa.item() == pytest.approx(torch.func.jacrev(torch.func.jacrev(f, 1), 1)(x, alpha).item())


@both_forms
@pytest.mark.parametrize("target", [CLASSES.clamp(min=0), SOFT], ids=["classes", "soft"])
def test_alpha_one_is_cross_entropy(target, device):
    x, target = X.to(device, copy=True).requires_grad_(), target.to(device)
    ours, theirs = ft.cross_omega(x, target, 1.0), cross_entropy(x, target)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(*(torch.autograd.grad(loss, x)[0] for loss in (ours, theirs)))


@both_forms
@pytest.mark.parametrize("alpha", ALPHAS)
def test_zero_exactly_at_the_prediction(alpha):
    x = X.clone().requires_grad_()
    loss = ft.entmax_loss(x, ft.entmax(X, alpha), alpha, reduction="none")
    assert (loss == 0).all() and (torch.autograd.grad(loss.sum(), x)[0] == 0).all()
    assert (ft.entmax_loss(X, SOFT, alpha, reduction="none") > 0).all()


@both_forms
def test_learned_alpha_shared_or_one_a_row():
    def slope(alpha, rows=slice(None)):
        h = 1e-6
        values = [ft.entmax_loss(X[rows], SOFT[rows], alpha + s, reduction="sum") for s in (h, -h)]
        return (values[0] - values[1]) / (2 * h)

    shared = torch.tensor(1.5, requires_grad=True)
    ft.entmax_loss(X, SOFT, shared, reduction="sum").backward()
    assert shared.grad.dtype == torch.float32 and shared.grad.item() == pytest.approx(slope(1.5).item(), abs=1e-7)
    each = torch.tensor([[1.2], [1.0], [2.0], [3.0]], dtype=torch.float64, requires_grad=True)
    ft.entmax_loss(X, SOFT, each, reduction="sum").backward()
    for i, alpha in enumerate(each.detach().squeeze(-1)):
        assert each.grad[i].item() == pytest.approx(slope(alpha.item(), slice(i, i + 1)).item(), abs=1e-7)


@both_forms
def test_masks_and_rows_without_a_prediction():
    x = X.clone()
    x[0, 3] = x[1, 5] = -INF
    x[2] = x[3] = -INF
    x[3, 0] = float("nan")
    x.requires_grad_()
    target = torch.tensor([0, 5, 2, -100])
    loss = ft.entmax_loss(x, target, reduction="none")
    short = torch.cat([X[0, :3], X[0, 4:]])
    assert loss[0].item() == pytest.approx(ft.entmax_loss(short, torch.tensor(0)).item())
    assert loss[1] == INF and torch.isnan(loss[2]) and loss[3] == 0
    (gradient,) = torch.autograd.grad(loss[0] + loss[3], x)
    assert gradient[0, 3] == 0 and torch.isfinite(gradient[[0, 3]]).all(), "an ignored row's NaN goes nowhere"


@both_forms
def test_ignored_rows():
    mean, total = (ft.entmax_loss(X, CLASSES, reduction=r).item() for r in ("mean", "sum"))
    assert mean == pytest.approx(total / 3)
    x = X.clone().requires_grad_()
    loss = ft.entmax_loss(x, torch.full((4,), 2), ignore_index=2)
    loss.backward()
    assert loss == 0 and (x.grad == 0).all()
    assert ft.entmax_loss(X[:0], CLASSES[:0]) == 0


@both_forms
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_types(dtype):
    x = X.clone().to(dtype).requires_grad_()
    exact = x.detach().double().requires_grad_()
    q = SOFT.to(dtype)
    eps = torch.finfo(dtype).eps
    for target, wide in ((CLASSES, CLASSES), (q, q.double() / q.double().sum(-1, keepdim=True))):
        loss, expected = ft.entmax_loss(x, target), ft.entmax_loss(exact, wide)
        assert loss.dtype == dtype and loss.item() == pytest.approx(expected.item(), rel=eps)
        gradient, sharp = (torch.autograd.grad(y, z, create_graph=True)[0] for y, z in ((loss, x), (expected, exact)))
        assert gradient.dtype == dtype
        torch.testing.assert_close(gradient.double(), sharp, atol=eps, rtol=eps)
        second, sharp = (torch.autograd.grad((g**2).sum(), z)[0] for g, z in ((gradient, x), (sharp, exact)))
        torch.testing.assert_close(second.double(), sharp, atol=4 * eps, rtol=4 * eps)
        in_scores = torch.func.grad(lambda x: ft.entmax_loss(x, target))  # noqa: B023
        assert torch.func.jvp(in_scores, (x.detach(),), (x.detach(),))[1].dtype == dtype
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = ft.entmax_loss(x, CLASSES)
        assert loss.dtype == torch.float32 and loss.item() == ft.entmax_loss(x.float(), CLASSES).item()
    plain = torch.func.grad(lambda x: ft.entmax_loss(x.float(), CLASSES))(x.detach())
    assert torch.equal(torch.autograd.grad(loss, x)[0], plain)
    with pytest.raises(ValueError, match="sum of targets"):
        ft.entmax_loss(x, 1.1 * q)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_targets_of_half_precision_are_the_same_in_every_layout(dtype):
    """Their sums are rounded, and the loss in double shows each bit."""
    scores, target = random(5000, 17), (4 * random(5000, 17, seed=1)).softmax(-1).to(dtype)
    loss = ft.entmax_loss(scores, target, 4 / 3, reduction="none")
    for layout in (target.mT.contiguous().mT, torch.stack([target, -target], -1)[..., 0]):
        assert torch.equal(ft.entmax_loss(scores, layout, 4 / 3, reduction="none"), loss)
    assert torch.equal(ft.entmax_loss(scores.mT, target.mT, 4 / 3, reduction="none", dim=0), loss)


def test_every_dim_and_layout():
    x, target = random(2, 7, 3, 5), torch.randint(7, (2, 3, 5), generator=torch.Generator().manual_seed(1))
    alpha = 1 + torch.rand(5, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    expected = ft.entmax_loss(x.movedim(1, -1), target, alpha[:, None], reduction="none")
    for loss in (
        ft.entmax_loss(x, target, alpha, reduction="none", dim=1),
        ft.entmax_loss(x.movedim(1, -2), target, alpha, reduction="none", dim=-2),
        torch.vmap(lambda x, t: ft.entmax_loss(x, t, alpha, reduction="none", dim=0))(x, target),
    ):
        assert (loss == expected.reshape(loss.shape)).all()
    soft = ft.sparsemax(x, dim=1)
    strided = ft.entmax_loss(x.movedim(1, -1), soft.movedim(1, -1))
    assert strided.item() == pytest.approx(ft.entmax_loss(x, soft, dim=1).item(), rel=1e-14)
    assert ft.entmax_loss(X[0], torch.tensor(3)).shape == ()


@both_forms
@both
def test_transforms_and_compilation(target):
    alpha = torch.tensor(1.4, dtype=torch.float64)

    def f(x, alpha):
        return ft.entmax_loss(x, target, alpha)

    expected = torch.func.grad(f, (0, 1))(X, alpha)
    x, learned = X.clone().requires_grad_(), alpha.clone().requires_grad_()
    compiled = torch.compile(f, backend="aot_eager", fullgraph=True)
    for ours, theirs in zip(torch.autograd.grad(compiled(x, learned), (x, learned)), expected):
        torch.testing.assert_close(ours, theirs)
    with torch.no_grad():
        assert compiled(x, learned) == f(X, alpha)

    # A vmap inside of autograd, and autograd inside of a vmap.
    rows = [torch.vmap(lambda x, t: ft.entmax_loss(x, t, 1.4), in_dims=(0, 0))(x, target) for x in (x, X)]
    (gradient,) = torch.autograd.grad(rows[0].sum(), x, create_graph=True)
    inside = torch.vmap(torch.func.grad(lambda x, t: ft.entmax_loss(x, t, 1.4)))(X, target)
    torch.testing.assert_close(gradient, inside)
    assert torch.autograd.grad((gradient**2).sum(), x)[0].abs().sum() > 0


@both
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_the_gradient_from_the_scores_is_that_from_the_residual(target, dtype):
    """Of rows along every dimension and for one upstream gradient a row, some of them 0 or negative."""
    scores, weights = random(3, 4, 7).to(dtype), random(3, 4, 1, seed=1).to(torch.promote_types(dtype, torch.float32))
    classes, soft = torch.arange(12).reshape(3, 4, 1) % 7, ft.sparsemax(random(3, 4, 7, seed=2))
    classes[0, 0], weights[1, 1] = -100, 0
    alphas = 1 + random(3, 4, 1, seed=3).square()
    for dim in (-1, -2, -3):
        x, weight, labels, q, orders = (t.movedim(-1, dim) for t in (scores, weights, classes, soft, alphas))
        q = (labels, None) if target is CLASSES else (None, q)
        for alpha in (None, orders):
            residual = torch.ops.fenchel.entmax_loss(x, alpha, *q, 1.5, dim, -100, False, True)[1]
            ours = torch.ops.fenchel.entmax_loss_vjp(x, alpha, *q, weight, 1.5, dim, -100)
            assert ours.dtype == dtype and torch.equal(ours, (weight * residual).to(dtype))
    nothing = (scores[:0], None, None, soft[:0], weights[:0], 1.5, -1, -100)
    assert torch.ops.fenchel.entmax_loss_vjp(*nothing).shape == (0, 4, 7)


@both_forms
def test_the_mean_in_one_operation_is_that_of_the_rows():
    """So are its derivatives, of first and second order and in forward mode."""
    x, alphas = X.clone().requires_grad_(), torch.linspace(1.1, 2.2, 4, dtype=torch.float64)[:, None].requires_grad_()
    direction, weight = random(4, 6, seed=2), random(4, 6, seed=3)

    def derivatives(loss):
        first = torch.autograd.grad(loss(x, alphas), (x, alphas), create_graph=True)
        second = torch.autograd.grad((first[0] * weight).sum() + first[1].square().sum(), (x, alphas))
        _, moved = torch.func.jvp(lambda z: loss(z, alphas.detach()), (X,), (direction,))
        return loss(x, alphas), *first, *second, moved

    def of_rows(z, a):
        return ft.entmax_loss(z, CLASSES, a, reduction="sum") / 3

    found = derivatives(lambda z, a: ft.entmax_loss(z, CLASSES, a))
    assert type(found[0].grad_fn).__name__ == "EagerValueBackward"
    for ours, expected in zip(found, derivatives(of_rows)):
        torch.testing.assert_close(ours, expected, rtol=1e-13, atol=1e-15)

    def f(z, a):
        return _entmax_loss._entmax_mean_loss(z, a, CLASSES, 0.0, -1, -100, True)

    assert gradcheck(f, (x, alphas), check_forward_ad=True)
    assert gradgradcheck(f, (x, alphas), check_fwd_over_rev=True)


def test_bad_gradients_are_named():
    def message(weights, soft=None):
        with pytest.raises(ValueError) as error:
            torch.ops.fenchel.entmax_loss_vjp(X, None, CLASSES[:, None], soft, weights, 1.5, -1, -100)
        return str(error.value)

    assert "grad_loss must have shape (4, 1), got (4)" in message(torch.ones(4))
    assert "either classes or soft must be given" in message(torch.ones(4, 1), SOFT)
    assert "grad_loss must be float64, float32, bfloat16 or float16, got Long" in message(CLASSES[:, None])


@both
def test_without_the_gradient_only_the_scores_are_kept(target, monkeypatch):
    """Beside the target, all tensors of the size of the scores are the scores themselves."""
    x = random(64, 1000, dtype=torch.bfloat16).requires_grad_()
    q = torch.arange(64) if target is CLASSES else ft.sparsemax(random(64, 1000, seed=1))
    kept = []

    def others():
        kept.clear()
        with torch.autograd.graph.saved_tensors_hooks(lambda t: (kept.append(t), t)[1], lambda t: t):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = ft.entmax_loss(x, q)
        large = [t for t in kept if t.untyped_storage().nbytes() >= 64000]
        return [t for t in large if t.data_ptr() not in (x.data_ptr(), q.data_ptr())], loss

    (residual,), expected = others()
    assert residual.dtype == torch.float32 and residual.shape == x.shape
    monkeypatch.setattr(_entmax_loss, "_keeps_gradient", lambda scores, alphas: False)
    large, loss = others()
    assert not large and loss == expected
    assert torch.equal(*(torch.autograd.grad(y, x)[0] for y in (loss, expected)))


def test_on_a_gpu_the_scores_are_kept():
    with FakeTensorMode():
        scores = {d: torch.empty(4, 6, device=d, requires_grad=True) for d in ("cpu", "cuda")}
        alphas = {d: torch.empty(4, 1, device=d, requires_grad=True) for d in ("cpu", "cuda")}
        for device, keeps in (("cpu", True), ("cuda", False)):
            assert _entmax_loss._keeps_gradient(scores[device], None) == keeps
            assert _entmax_loss._keeps_gradient(scores[device], alphas[device].detach()) == keeps
            assert _entmax_loss._keeps_gradient(scores[device], alphas[device])
            assert not _entmax_loss._keeps_gradient(scores[device].detach(), None)


def test_no_gradient_is_computed_unless_wanted():
    def residual(x):
        return torch.ops.fenchel.entmax_loss(x, None, CLASSES[:, None], None, 1.5, -1, -100, False, False)[1]

    assert residual(X).shape == (0,)
    assert not ft.entmax_loss(X, CLASSES).requires_grad


@both
def test_opcheck(target):
    x, alphas = X.clone().requires_grad_(), torch.full((4, 1), 1.5, dtype=torch.float64, requires_grad=True)
    targets = (CLASSES[:, None], None) if target is CLASSES else (None, SOFT)
    torch.library.opcheck(torch.ops.fenchel.entmax_loss, (x, alphas, *targets, 1.5, -1, -100, False, True))
    torch.library.opcheck(torch.ops.fenchel.entmax_loss, (x, None, *targets, 1.5, -1, -100, False, False))
    torch.library.opcheck(torch.ops.fenchel.entmax_loss, (X.bfloat16(), None, *targets, 1.5, -1, -100, False, False))
    if target is CLASSES:
        mean = torch.ops.fenchel.entmax_mean_loss
        torch.library.opcheck(mean, (x, alphas, CLASSES, 1.5, -1, -100, True))
        torch.library.opcheck(mean, (X.bfloat16(), None, CLASSES, 1.5, -1, -100, False))
    alphas = alphas.detach()
    _, residual, slope = torch.ops.fenchel.entmax_loss(X, alphas, *targets, 1.5, -1, -100, False, True)
    for per_row in ((alphas, *targets, X, slope), (None, *targets, X, None)):
        torch.library.opcheck(torch.ops.fenchel.entmax_loss_curvature, (residual, *per_row, 1.5, -1, -100, False))
    for scores, orders in ((X, alphas), (X.bfloat16(), None), (X.mT.contiguous().mT, None)):
        torch.library.opcheck(torch.ops.fenchel.entmax_loss_vjp, (scores, orders, *targets, alphas, 1.5, -1, -100))


def test_bad_arguments_are_named():
    def message(*args, **kwargs):
        with pytest.raises((ValueError, TypeError)) as error:
            ft.entmax_loss(*args, **kwargs)
        return str(error.value)

    assert "classes[1] must be in [0, 6) or -100, got 6" in message(X, torch.tensor([0, 6, 1, 1]))
    assert "classes[0] must be in [0, 6) or -100, got -1" in message(X, torch.tensor([-1, 6, 1, 1]))
    assert "target must not require a gradient" in message(X, SOFT.clone().requires_grad_())
    assert "must have the shape of scores without dim, (4,), got (3,)" in message(X, CLASSES[:3])
    assert "must have the shape of scores, (4, 6), got (4, 5)" in message(X, SOFT[:, :5])
    assert "got torch.bool" in message(X, CLASSES == 1)
    assert "alpha must be positive, got -1" in message(X, CLASSES, -1.0)
    assert "alpha must broadcast to (4, 1), got shape (4,)" in message(X, CLASSES, torch.ones(4))
    assert "reduction must be 'none', 'mean' or 'sum', got 'max'" in message(X, CLASSES, reduction="max")
    assert "at least one class" in message(X[:, :0], CLASSES)
    with pytest.raises(ValueError, match="target must have no tangent"):
        torch.func.jvp(lambda q: ft.entmax_loss(X, q), (SOFT,), (SOFT,))
