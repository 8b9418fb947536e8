"""What all functions of rows share: transforms of torch.func, types, layouts, masks, and rows that are not there."""

import pytest
import torch
from parity import assert_rows_at_parity
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap

import fenchel.torch as ft

F64 = torch.float64


@pytest.fixture
def draw(device):
    """Numbers on the device, the same on each."""

    def on_device(*shape):
        return torch.randn(shape, generator=torch.Generator().manual_seed(6), dtype=F64).to(device)

    return on_device


MAPS = {
    "entmax": lambda x, a=1.5, dim=-1: ft.entmax(x, a, dim),
    "fusedmax": lambda x, a=0.2, dim=-1: ft.fusedmax(x, a, dim),
}
maps = pytest.mark.parametrize("f", MAPS.values(), ids=MAPS)


@maps
def test_vmap_over_every_argument_and_nested(f, draw, device):
    x, a = draw(3, 4, 5), torch.tensor([1.2, 1.5, 2.5], dtype=F64, device=device)
    assert torch.equal(vmap(f, in_dims=1, out_dims=1)(x), f(x))
    assert torch.equal(vmap(vmap(f))(x), f(x))
    assert torch.equal(vmap(lambda x: f(x, dim=0))(x), f(x, dim=1))
    each = torch.stack([f(x[i], a[i]) for i in range(3)])
    assert torch.equal(vmap(f)(x, a), each)
    assert torch.equal(vmap(f, (None, 0))(x[0], a), torch.stack([f(x[0], a[i]) for i in range(3)]))
    assert torch.equal(vmap(vmap(f, (0, None)), (0, 0))(x, a), each)

    def slope(x, a):
        return grad(lambda x, a: f(x, a).pow(3).sum(), argnums=(0, 1))(x, a)

    by_vmap, by_loop = vmap(slope)(x, a), [slope(x[i], a[i]) for i in range(3)]
    for k in range(2):
        torch.testing.assert_close(by_vmap[k], torch.stack([g[k] for g in by_loop]), rtol=1e-14, atol=1e-15)


def test_derivatives_at_alpha_one_are_those_of_softmax(draw):
    x, t = draw(4, 5), draw(4, 5).flip(0)
    ours, theirs = (lambda x: ft.entmax(x, 1.0)), (lambda x: torch.softmax(x, -1))

    def cubes(f):
        return lambda x: f(x).pow(3).sum()

    for transform in [
        lambda f: grad(cubes(f))(x),
        lambda f: jvp(f, (x,), (t,))[1],
        lambda f: jacrev(f)(x),
        lambda f: jacfwd(f)(x),
        lambda f: hessian(cubes(f))(x),
        lambda f: jacrev(jacfwd(cubes(f)))(x),
        lambda f: jacrev(jacrev(cubes(f)))(x),
        lambda f: vmap(hessian(cubes(f)))(x),
        lambda f: jvp(grad(cubes(f)), (x,), (t,))[1],
    ]:
        torch.testing.assert_close(transform(ours), transform(theirs), rtol=1e-12, atol=1e-13)


def test_hessians_in_scores_and_alpha_are_slopes_of_gradients(draw, device):
    x, a, h = draw(5), torch.tensor(1.4, dtype=F64, device=device), 1e-6

    def f(x, a):
        return ft.entmax(x, a).pow(3).sum()

    second = hessian(f, argnums=(0, 1))(x, a)
    first = grad(f, argnums=(0, 1))
    for k in range(2):
        slope = (first(x, a + h)[k] - first(x, a - h)[k]) / (2 * h)
        torch.testing.assert_close(second[1][k], slope, rtol=1e-7, atol=1e-8)
        torch.testing.assert_close(second[k][1], slope, rtol=1e-7, atol=1e-8)


@maps
@pytest.mark.parametrize("dtype", [F64, torch.float32, torch.bfloat16, torch.float16])
def test_every_type_is_rounded_from_a_wider_one(f, dtype, draw, device):
    x = draw(6, 9).to(dtype).requires_grad_()
    wide = x.detach().double().requires_grad_()
    p, exact = f(x), f(wide)
    assert p.dtype == dtype
    eps = torch.finfo(dtype).eps
    torch.testing.assert_close(p.double(), exact, rtol=2 * eps, atol=8 * max(eps**2, 1e-7 if dtype != F64 else 0))
    weights = torch.arange(9, device=device)
    (p * weights.to(dtype)).sum().backward()
    (exact * weights).sum().backward()
    assert x.grad.dtype == dtype
    torch.testing.assert_close(x.grad.double(), wide.grad, rtol=20 * eps, atol=20 * eps)


@maps
def test_autocast_computes_in_float32(f, draw, device):
    x = draw(4, 5).to(torch.bfloat16).requires_grad_()
    with torch.autocast(device.type, torch.bfloat16):
        p = f(x)
        assert p.dtype == torch.float32
        mixed = f(torch.nn.functional.linear(x.detach(), torch.eye(5, device=device)))
    assert torch.equal(p, f(x.detach().float())) and torch.equal(mixed, p)
    p.square().sum().backward()
    assert x.grad.dtype == torch.bfloat16


@maps
def test_every_dim_and_layout_gives_the_same_bits(f, draw, device):
    """Those of the CPU; on a GPU, where they differ, all are at parity with it."""

    def check(found, expected, dim=-1):
        if device.type == "cpu":
            assert torch.equal(found, expected)
        else:
            assert_rows_at_parity(found, expected, expected, dim)

    x = draw(2, 3, 4, 5)
    for dim in range(-4, 4):
        rows = f(x.cpu().movedim(dim, -1).contiguous()).movedim(-1, dim)
        for same in [
            x,
            x.to(memory_format=torch.channels_last),
            x.permute(3, 1, 0, 2).contiguous().permute(2, 1, 3, 0),
            torch.stack([x, x], -1)[..., 0],
            x.flip(0).flip(0),
        ]:
            check(f(same, dim=dim), rows, dim)
    row = draw(5)
    check(f(row.expand(3, 5)), f(row.cpu()).expand(3, 5))
    leaf = draw(5, 3).requires_grad_()
    f(leaf.t().expand(2, 3, 5)).pow(3).sum().backward()
    other = leaf.detach().t().contiguous().requires_grad_()
    (2 * f(other).pow(3)).sum().backward()
    torch.testing.assert_close(leaf.grad, other.grad.t(), rtol=1e-14, atol=1e-15)
    with pytest.raises(IndexError, match=r"dim must be in \[-4, 3\], got 4"):
        f(x, dim=4)


@maps
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
def test_nothing_to_do(f, shape, device):
    for dim in range(len(shape)):
        x = torch.empty(shape, dtype=F64, device=device, requires_grad=True)
        p = f(x, dim=dim)
        p.sum().backward()
        assert p.shape == x.grad.shape == shape
    assert vmap(f)(torch.empty(2, 3, 0, device=device)).shape == (2, 3, 0)


@maps
def test_a_bad_row_is_nan_and_a_mask_is_zero(f, draw):
    x = draw(4, 5)
    good = f(x)
    bad = x.clone()
    bad[1, 2], bad[2] = torch.nan, -torch.inf
    bad.requires_grad_()
    p = f(bad)
    assert p[1:3].isnan().all() and torch.equal(p[[0, 3]].detach(), good[[0, 3]])
    p[[0, 3]].square().sum().backward()
    assert bad.grad[[0, 3]].isfinite().all()
    masked = x.clone()
    masked[:, 1] = -torch.inf
    masked.requires_grad_()
    p = f(masked)
    assert (p[:, 1] == 0).all()
    torch.testing.assert_close(p.sum(-1), torch.ones_like(p.sum(-1)))
    p.square().sum().backward()
    assert masked.grad.isfinite().all() and (masked.grad[:, 1] == 0).all()
