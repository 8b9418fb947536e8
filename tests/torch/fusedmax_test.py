"""fusedmax and its kin in torch: the numbers of the library, and derivatives in the scores and in gamma."""

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

import fenchel
import fenchel.torch as ft
from fenchel.torch import nn

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


LENGTHS = torch.tensor([[7, 4], [1, 7], [5, 2]])
WEIGHTS = 0.3 + torch.rand(3, 2, 6, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
MASKED = X.masked_fill(torch.arange(7) == 3, -torch.inf)


@pytest.mark.parametrize("name", ["fusedmax", "smooth_sparsemax"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_chains_are_those_of_the_library(name, dtype):
    ours, theirs = getattr(ft, name), getattr(fenchel, name)
    for x in (X.to(dtype), MASKED.to(dtype)):
        expected = torch.from_numpy(theirs(x.numpy(), 0.4))
        assert (ours(x, 0.4) == expected).all()
        expected = torch.from_numpy(theirs(x.numpy(), 0.4, lengths=LENGTHS.numpy(), weights=WEIGHTS.numpy()))
        assert (ours(x, 0.4, lengths=LENGTHS[..., None], weights=WEIGHTS) == expected).all()
        front = ours(x.movedim(-1, 0), 0.4, 0, lengths=LENGTHS, weights=WEIGHTS.movedim(-1, 0))
        assert (front == expected.movedim(-1, 0)).all()
    shared = torch.from_numpy(theirs(X.numpy(), 0.4, weights=WEIGHTS[0, 0].numpy()))
    assert (ours(X, 0.4, weights=WEIGHTS[0, 0]) == shared).all()
    assert ours(X[..., :1], weights=WEIGHTS[..., :0]).eq(1).all()
    assert ours(X[:0]).shape == (0, 2, 7)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_images_are_those_of_the_library(dtype):
    images = torch.randn(2, 4, 5, 3, generator=torch.Generator().manual_seed(5), dtype=dtype)
    gamma = torch.tensor([0.1, 0.5], dtype=torch.float64)
    expected = torch.from_numpy(fenchel.fusedmax_grid(images.numpy(), 0.2, axis=(1, 2)))
    assert (ft.fusedmax_grid(images, 0.2, (1, 2)) == expected).all()
    expected = torch.from_numpy(fenchel.fusedmax_grid(images[..., 0].numpy(), gamma.numpy()))
    assert (ft.fusedmax_grid(images[..., 0], gamma[:, None, None]) == expected).all()
    turned = ft.fusedmax_grid(images[..., 0].mT, gamma[:, None, None], (-1, -2))
    assert (turned == expected.mT).all()


def _smooth(x, gamma):
    return ft.smooth_sparsemax(x, gamma, lengths=LENGTHS[:, :1], weights=WEIGHTS[:, 0])


def _chain(x, gamma):
    return ft.fusedmax(x, gamma, lengths=LENGTHS[:, :1], weights=WEIGHTS[:, 0])


def _image(x, gamma):
    return ft.fusedmax_grid(x.unflatten(-1, (1, 7)).expand(3, 2, 7), gamma[..., None])


CLASSES = torch.tensor([1, -100, 6])
SOFT = torch.softmax(X[:, 1], -1)
LOSSES = {
    "fusedmax": lambda x, gamma, q: ft.fusedmax_loss(x, q, gamma, reduction="none", weights=WEIGHTS[:, 0]),
    "smooth": lambda x, gamma, q: ft.smooth_sparsemax_loss(x, q, gamma, reduction="none", weights=WEIGHTS[:, 0]),
    "grid": lambda x, gamma, q: ft.fusedmax_grid_loss(
        x[:, None], q if q.dim() == 1 else q[:, None], gamma[..., None], reduction="none"
    ),
}
DIFFERENTIATED = {
    "smooth": _smooth,
    "chain": _chain,
    "image": _image,
    **{f"loss of {name}, classes": lambda x, g, f=f: f(x, g, CLASSES) for name, f in LOSSES.items()},
    **{f"loss of {name}, soft": lambda x, g, f=f: f(x, g, SOFT) for name, f in LOSSES.items()},
}


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_derivatives_of_the_kin(name):
    function = DIFFERENTIATED[name]
    x = X[:, 0].clone().requires_grad_()
    gamma = torch.tensor([[0.05], [0.3], [0.6]], dtype=torch.float64, requires_grad=True)
    assert gradcheck(function, (x, gamma), check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(function, (x, gamma), check_fwd_over_rev=True)
    compiled = torch.compile(function, backend="aot_eager")
    for ours, theirs in zip(*(torch.autograd.grad(f(x, gamma).square().sum(), (x, gamma)) for f in (compiled, function))):
        torch.testing.assert_close(ours, theirs)
    batched = torch.vmap(function, in_dims=(0, None))(torch.stack([x, 2 * x]), gamma)
    torch.testing.assert_close(batched[1], function(2 * x, gamma))


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_those_of_the_library(name):
    gamma = torch.tensor([[0.05], [0.3], [0.6]], dtype=torch.float64)
    function = getattr(fenchel, {"smooth": "smooth_sparsemax_loss", "grid": "fusedmax_grid_loss"}.get(name, "fusedmax_loss"))
    for q in (CLASSES, SOFT):
        scores, target = X[:, 0].numpy(), q.numpy()
        if name == "grid":
            theirs = function(
                scores[:, None], target if target.ndim == 1 else target[:, None], gamma[:, 0].numpy(), reduction="none"
            )
        else:
            theirs = function(scores, target, gamma[:, 0].numpy(), reduction="none", weights=WEIGHTS[:, 0].numpy())
        assert (LOSSES[name](X[:, 0], gamma, q) == torch.from_numpy(theirs)).all()
    assert ft.fusedmax_loss(X[:, 0], CLASSES, 0.3) == pytest.approx(fenchel.fusedmax_loss(X[:, 0].numpy(), CLASSES.numpy(), 0.3))


@pytest.mark.gpu
@pytest.mark.parametrize("name", DIFFERENTIATED)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_cores_of_the_cpu_compute_for_a_gpu(name, dtype):
    """The same bits, and gradients of both orders."""
    gamma = torch.tensor([[0.05], [0.3], [0.6]], dtype=torch.float64)

    def results(device):
        x, g = (t.clone().to(device).requires_grad_() for t in (X[:, 0].to(dtype), gamma))
        y = DIFFERENTIATED[name](x, g)
        assert y.device == x.device and y.dtype == dtype
        first = torch.autograd.grad(y.square().sum(), (x, g), create_graph=True)
        second = torch.autograd.grad(sum(t.square().sum() for t in first), (x, g))
        return [t.detach().cpu() for t in (y, *first, *second)]

    for ours, exact in zip(results("cuda"), results("cpu")):
        torch.testing.assert_close(ours, exact, rtol=1e-6 if dtype == torch.float32 else 1e-12, atol=1e-6)
    module = nn.FusedmaxGrid(torch.nn.Parameter(torch.tensor(0.2))).cuda()
    images = X.to(dtype).cuda()
    p = module(images)
    assert torch.equal(p.cpu(), ft.fusedmax_grid(X.to(dtype), torch.tensor(0.2)))
    (p * images).sum().backward()
    assert module.gamma.grad.is_cuda and module.gamma.grad.isfinite()
    with torch.autocast("cuda", torch.bfloat16):
        assert module(images.bfloat16()).dtype == torch.float32


def test_modules():
    assert (nn.SmoothSparsemax(0.1, dim=2)(X) == ft.smooth_sparsemax(X, 0.1, 2)).all()
    assert (nn.FusedmaxGrid(0.1)(X) == ft.fusedmax_grid(X, 0.1)).all()
    gamma = torch.nn.Parameter(torch.tensor(0.2))
    module = nn.FusedmaxGrid(gamma, dim=(0, 2))
    (module(X) * X).sum().backward()
    assert gamma.grad is not None and repr(module) == "FusedmaxGrid(gamma=0.2, dim=(0, 2))"


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match=r"lengths\[1\] must be in \[1, 7\], got 0"):
        ft.smooth_sparsemax(X[:, 0], lengths=torch.tensor([[7], [0], [1]]))
    with pytest.raises(ValueError, match=r"weights must broadcast to \(3, 2, 6\), got shape \(7,\)"):
        ft.fusedmax(X, weights=torch.ones(7))
    with pytest.raises(ValueError, match=r"weights\[0\]\[0\] must be positive and finite, got 0"):
        ft.fusedmax(X, weights=torch.zeros(6))
    with pytest.raises(ValueError, match="weights must not require a gradient"):
        ft.fusedmax(X, weights=torch.ones(6, requires_grad=True))
    with pytest.raises(TypeError, match="lengths must be integers, got torch.float64"):
        ft.fusedmax(X, lengths=X[..., :1])
    with pytest.raises(ValueError, match="dim must be a pair"):
        ft.fusedmax_grid(X, dim=-1)
    with pytest.raises(ValueError, match="dim must not name a dimension twice"):
        ft.fusedmax_grid(X, dim=(-1, 2))
    with pytest.raises(ValueError, match=r"gamma must be of one number, or of size 1 along dim \(-2, -1\)"):
        ft.fusedmax_grid(X, torch.ones(7))
    with pytest.raises(ValueError, match="gamma must be finite and not negative, got -1"):
        ft.fusedmax(X, -1.0)
    with pytest.raises(ValueError, match=r"gamma must broadcast to \(3, 2, 1\), got shape \(7,\)"):
        ft.fusedmax(X, torch.ones(7))


def test_opcheck(device):
    x = X.to(device)
    p = ft.fusedmax(x, 0.2)
    gammas = torch.full((3, 2, 1), 0.2, dtype=torch.float64, device=device)
    torch.library.opcheck(torch.ops.fenchel.fusedmax, (x.clone().requires_grad_(), gammas, None, None, 0.0, -1))
    torch.library.opcheck(torch.ops.fenchel.fusedmax_vjp, (p, gammas, None, None, x, 0.0, -1))
    torch.library.opcheck(torch.ops.fenchel.fusedmax_jvp, (p, gammas, None, None, x, gammas, 0.0, -1))
    lengths, weights = torch.full((3, 2, 1), 5), torch.full((3, 2, 6), 0.5, dtype=torch.float64)
    classes = torch.full((3, 2, 1), 1)
    ops, chain = torch.ops.fenchel, (lengths, weights)
    if device.type == "cpu":
        torch.library.opcheck(ops.smooth_sparsemax, (x.clone().requires_grad_(), gammas, *chain, 0.0, -1))
        torch.library.opcheck(
            ops.smooth_sparsemax_loss, (x.clone().requires_grad_(), gammas, classes, None, *chain, 0.0, -100, -1)
        )
        torch.library.opcheck(ops.smooth_sparsemax_vjp_vjp, (p, gammas, *chain, x, x, gammas, 0.0, -1))
        torch.library.opcheck(ops.smooth_sparsemax_loss_curvature, (p, gammas, *chain, x, gammas, 0.0, -1))
        torch.library.opcheck(ops.fusedmax_grid, (x.clone().requires_grad_(), gammas, 0.0, 1, -1))
        torch.library.opcheck(
            ops.fusedmax_grid_loss, (x.clone().requires_grad_(), gammas, classes, None, 0.0, 1, -100, -1)
        )
