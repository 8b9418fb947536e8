"""Continuous attention in torch: the numbers of the library, and derivatives of both orders."""

import copy
import io

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.library import opcheck

import fenchel
import fenchel.torch as ft
from fenchel.torch._library import ops

ALPHAS = [1.0, 1 + 1e-8, 4 / 3, 1.5, 2.0, 5.0, 1.7, 0.8]


def line_basis(**options):
    return ft.GaussianBasis.linearly_spaced(4, sigma=(0.1, 0.4), **options)


def square_basis(**options):
    return ft.MultivariateGaussianBasis.unit_square(2, 2, torch.tensor([[0.05, 0.01], [0.01, 0.04]]), **options)


def basis_on(dimension, **options):
    return line_basis(**options) if dimension == 1 else square_basis(**options)


def densities(dimension, *shape, dtype=torch.float64, device="cpu"):
    """mu and Sigma that need gradients."""
    draw = torch.Generator().manual_seed(3)
    mu = torch.rand(*shape, dimension, generator=draw, dtype=dtype)
    root = torch.rand(*shape, dimension, dimension, generator=draw, dtype=dtype)
    scale = 0.02 * (root @ root.mT + torch.eye(dimension, dtype=dtype))
    if dimension == 1:
        mu, scale = mu[..., 0], scale[..., 0, 0]
    return mu.to(device).requires_grad_(), scale.to(device).requires_grad_()


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_numbers_are_those_of_the_library(alpha, dimension, dtype):
    basis = basis_on(dimension)
    if dimension == 1:
        twin = fenchel.GaussianBasis(basis.mu.numpy(), basis.sigma.numpy())
    else:
        twin = fenchel.MultivariateGaussianBasis(basis.mu.numpy(), basis.Sigma.numpy())
    mu, Sigma = densities(dimension, 3, 2, dtype=dtype)
    r = ft.continuous_attention(alpha, mu, Sigma, basis)
    assert r.shape == (3, 2, 4) and r.dtype == dtype
    p = fenchel.Densities(alpha, mu.detach().numpy(), Sigma.detach().numpy())
    assert (r.detach().numpy() == fenchel.attend(p, twin)).all()


@pytest.mark.parametrize("dimension", [1, 2])
def test_derivatives_of_both_orders_in_both_modes(dimension, device):
    torch.manual_seed(0)
    basis = basis_on(dimension).to(device)
    alphas = torch.tensor(ALPHAS, dtype=torch.float64, device=device, requires_grad=True)
    x = (*densities(dimension, len(ALPHAS), device=device), alphas)

    def f(mu, Sigma, alpha):
        return ft.continuous_attention(alpha, mu, Sigma, basis)

    options = {"fast_mode": True, "check_batched_grad": True}
    assert gradcheck(f, x, check_forward_ad=True, check_batched_forward_grad=True, **options)
    assert gradgradcheck(f, x, check_fwd_over_rev=True, **options)


@pytest.mark.parametrize(("dimension", "alpha"), [(1, 1.0), (1, 1.7), (2, 2.0), (2, 0.8)])
def test_derivatives_in_a_learned_basis(dimension, alpha, device):
    torch.manual_seed(0)
    basis = basis_on(dimension, learned=True).double().to(device)
    names = [name for name, _ in basis.named_parameters()]
    x = (*densities(dimension, 2, device=device), *(p.detach().requires_grad_() for p in basis.parameters()))

    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.basis = basis

        def forward(self, mu, Sigma):
            return ft.continuous_attention(alpha, mu, Sigma, self.basis)

    def f(mu, Sigma, *parameters):
        given = {f"basis.{name}": p for name, p in zip(names, parameters)}
        return torch.func.functional_call(Attention(), given, (mu, Sigma))

    assert gradcheck(f, x, fast_mode=True, check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(f, x, fast_mode=True, check_fwd_over_rev=True)
    # Bases have a batch of their own, and gradients of a shared one stay apart.
    stacked = [torch.stack([p, p + 0.1]) for p in x[2:]]
    both = torch.func.vmap(f, in_dims=(None, None, *(0 for _ in stacked)))(*x[:2], *stacked)
    assert torch.equal(both[1], f(*x[:2], *(p[1] for p in stacked)))
    each = torch.func.jacrev(f, argnums=2)(*x)
    torch.testing.assert_close(each, torch.func.jacfwd(f, argnums=2)(*x))


def test_a_gradient_in_the_centres_of_a_fixed_basis():
    mu, sigma2 = densities(1, 3)
    fixed, learned = line_basis(), line_basis(learned=True).double()
    fixed.fixed_mu.requires_grad_()
    for basis in (fixed, learned):
        ft.continuous_attention(2.0, mu, sigma2, basis).sin().sum().backward()
    torch.testing.assert_close(fixed.fixed_mu.grad, learned.raw_mu.grad, rtol=1e-5, atol=0)


def test_compiled_and_transformed_by_value(device):
    basis = square_basis(learned=True).double().to(device)
    mu, Sigma = densities(2, 3, device=device)
    alpha = torch.tensor([1.0, 1.5, 3.0], dtype=torch.float64, device=device, requires_grad=True)
    inputs = (mu, Sigma, alpha, *basis.parameters())

    def f(mu, Sigma, alpha):
        return ft.continuous_attention(alpha, mu, Sigma, basis)

    compiled = torch.compile(f, fullgraph=True, backend="aot_eager")
    r = f(mu, Sigma, alpha)
    torch.testing.assert_close(compiled(mu, Sigma, alpha), r, rtol=0, atol=0)
    expected = torch.autograd.grad(r.sin().sum(), inputs)
    got = torch.autograd.grad(compiled(mu, Sigma, alpha).sin().sum(), inputs)
    torch.testing.assert_close(got, expected, rtol=1e-13, atol=1e-13)
    # vmap inside of grad, and forward mode by value.
    rows = torch.func.grad(lambda *x: torch.func.vmap(f)(*x).sin().sum(), argnums=(0, 1, 2))
    torch.testing.assert_close(rows(mu, Sigma, alpha), expected[:3], rtol=1e-13, atol=1e-13)
    _, along = torch.func.jvp(lambda m: f(m, Sigma, alpha), (mu,), (torch.ones_like(mu),))
    step = 1e-6
    torch.testing.assert_close(along, (f(mu + step, Sigma, alpha) - f(mu - step, Sigma, alpha)) / (2 * step))


def test_operations_are_what_they_say(device):
    for dimension, learned in ((1, False), (2, True)):
        basis = basis_on(dimension).to(device)
        mu, scale = (x.detach() for x in densities(dimension, 3, device=device))
        if dimension == 1:
            mu, scale = mu[:, None], scale[:, None, None]
        alphas = torch.tensor([1.0, 1.5, 2.0], dtype=torch.float64, device=device)
        grad = torch.ones(3, 4, dtype=torch.float64, device=device)
        x = (mu, scale, alphas, *basis.functions())
        tangents = (mu, scale, alphas, *(basis.functions() if learned else (None, None)))
        checks = ("test_schema", "test_faketensor")
        opcheck(ops.attend.default, (*x, 0.0), test_utils=checks)
        opcheck(ops.attend.default, (*x[:2], None, *x[3:], 2.0), test_utils=checks)
        opcheck(ops.attend_vjp.default, (*x, grad, 0.0, learned), test_utils=checks)
        opcheck(ops.attend_jvp.default, (*x, *tangents, 0.0), test_utils=checks)
        opcheck(ops.attend_vjp_vjp.default, (*x, grad, *tangents, 0.0, learned), test_utils=checks)


def test_shapes_are_broadcast():
    basis = line_basis()
    mu, sigma2 = densities(1, 5)
    alpha = torch.tensor([[1.0], [2.0], [3.0]])
    r = ft.continuous_attention(alpha, mu, sigma2[0], basis)
    assert r.shape == (3, 5, 4)
    for i in range(3):
        assert torch.equal(r[i], ft.continuous_attention(float(alpha[i]), mu, sigma2[0].expand(5), basis))
    grads = torch.autograd.grad(r.sum(), (mu, sigma2))
    assert grads[1][1:].eq(0).all() and grads[1][0] != 0
    assert ft.continuous_attention(2.0, mu[0], sigma2[0], basis).shape == (4,)
    assert torch.equal(ft.continuous_attention(2.0, mu.expand(3, 5).T, sigma2[0], basis)[:, 2], r[1])


def test_an_empty_batch_has_gradients(device):
    basis = square_basis(learned=True).to(device)
    mu = torch.zeros(0, 2, device=device, requires_grad=True)
    Sigma = torch.zeros(0, 2, 2, device=device, requires_grad=True)
    r = ft.continuous_attention(2.0, mu, Sigma, basis)
    assert r.shape == (0, 4)
    r.sum().backward()
    assert mu.grad.shape == (0, 2) and all(p.grad.eq(0).all() for p in basis.parameters())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_16_bits_are_storage(dtype):
    basis = line_basis(learned=True).to(dtype)
    mu, sigma2 = (x.detach().to(dtype).requires_grad_() for x in densities(1, 6))
    r = ft.continuous_attention(1.5, mu, sigma2, basis)
    wide = ft.continuous_attention(1.5, mu.float(), sigma2.float(), basis)
    assert r.dtype == dtype and torch.equal(r, wide.to(dtype))
    r.sum().backward()
    assert mu.grad.dtype == dtype and basis.raw_mu.grad.dtype == dtype
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(ft.continuous_attention(1.5, mu, sigma2, basis), wide)


def test_two_forwards_before_one_backward():
    """spcdist keeps the density in a shared object, so that the second call changes the gradient of the first."""
    basis, (mu, sigma2) = line_basis(), densities(1, 3)
    alone = torch.autograd.grad(ft.continuous_attention(2.0, mu, sigma2, basis).sum(), (mu, sigma2))
    first = ft.continuous_attention(2.0, mu, sigma2, basis)
    ft.continuous_attention(2.0, mu + 0.3, 2 * sigma2, basis)
    torch.testing.assert_close(torch.autograd.grad(first.sum(), (mu, sigma2)), alone, rtol=0, atol=0)


@pytest.mark.parametrize("alpha", [1.0, 1.2, 4 / 3, 1.4, 1.5, 1.7, 1.9, 2.0, 2.5, 3.0])
def test_no_gradient_is_nan(alpha):
    """spcdist: NaN in a quarter of the rows for 1.4, 1.7 and 1.9, an exception for 1, 2.5 and 3."""
    for dtype in (torch.float32, torch.float64):
        draw = torch.Generator().manual_seed(5)
        mu = torch.rand(200, generator=draw, dtype=dtype, requires_grad=True)
        sigma2 = (10 ** (-7 * torch.rand(200, generator=draw, dtype=dtype))).requires_grad_()
        r = ft.continuous_attention(alpha, mu, sigma2, line_basis())
        assert all(torch.isfinite(g).all() for g in torch.autograd.grad(r.sum(), (mu, sigma2)))


@pytest.mark.parametrize("alpha", [1.0, 4 / 3, 1.5, 2.0, 1.7])
def test_narrow_densities_in_single_precision(alpha):
    """spcdist's closed forms cancel: 3.19 for 2.41 at sigma2 = 1e-3, 6e5 at 1e-5."""
    basis, mu = line_basis(), torch.linspace(0, 1, 7)
    for sigma2 in (1e-3, 1e-5, 1e-7, 1e-12):
        scale = torch.full((7,), sigma2)
        r = ft.continuous_attention(alpha, mu, scale, basis)
        exact = ft.continuous_attention(alpha, mu.double(), scale.double(), basis)
        torch.testing.assert_close(r.double(), exact, rtol=3e-7, atol=1e-30)
    torch.testing.assert_close(r, basis(mu), rtol=1e-5, atol=1e-6)


def test_the_plane_against_quadrature():
    """mcan and vqa-mm count an angle twice: errors of 1e-2. Here the trapezoidal rule has each angle once."""
    mu, sigma = np.array([0.4, 0.6]), np.array([[0.02, 0.008], [0.008, 0.03]])
    p, basis = fenchel.MultivariateBetaGaussian(2.0, mu, sigma), square_basis()
    # At alpha = 2 the density is R^2/2 less half of the distance in Sigma squared.
    radius = np.sqrt(2 * p.pdf(mu))
    nodes, weights = np.polynomial.legendre.leggauss(40)
    s, w = (nodes + 1) / 2, weights / 2
    angles = 2 * np.pi * np.arange(60) / 60
    circle = np.stack([np.cos(angles), np.sin(angles)], -1)
    t = mu + radius * s[:, None, None] * (circle @ np.linalg.cholesky(sigma).T)
    area = radius**2 * np.sqrt(np.linalg.det(sigma)) * w * s * 2 * np.pi / 60
    brute = np.einsum("i,ij,ijk->k", area, p.pdf(t), basis(torch.from_numpy(t)).numpy())
    r = ft.continuous_attention(2.0, torch.from_numpy(mu), torch.from_numpy(sigma), basis)
    np.testing.assert_allclose(r, brute, rtol=1e-12)


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("dimension", [1, 2])
def test_bases_are_modules(dimension, learned):
    basis, plain = basis_on(dimension, learned=learned), basis_on(dimension)
    torch.testing.assert_close(basis.functions(), plain.functions(), rtol=1e-5, atol=1e-8)
    assert (basis.count, basis.dimension, len(list(basis.parameters()))) == (4, dimension, 2 * learned)
    t = torch.rand(3, 5, 2)[..., 0] if dimension == 1 else torch.rand(3, 5, 2)
    assert basis(t).shape == (3, 5, 4)
    mu, Sigma = densities(dimension, 3)
    r = ft.continuous_attention(2.0, mu, Sigma, basis)
    stored = io.BytesIO()
    torch.save(basis, stored)
    stored.seek(0)
    other = basis_on(dimension, learned=learned)
    other.load_state_dict({name: x + 0.1 for name, x in basis.state_dict().items()})
    assert not torch.equal(ft.continuous_attention(2.0, mu, Sigma, other), r)
    other.load_state_dict(basis.state_dict())
    for same in (copy.deepcopy(basis), torch.load(stored, weights_only=False), other, copy.deepcopy(basis).double()):
        assert torch.equal(ft.continuous_attention(2.0, mu, Sigma, same), r)
    half = copy.deepcopy(basis).half()
    torch.testing.assert_close(ft.continuous_attention(2.0, mu, Sigma, half), r, rtol=1e-2, atol=1e-2)
    assert (half.raw_mu if learned else half.fixed_mu).dtype == (torch.float16 if learned else torch.float64)


def test_a_learned_basis_learns():
    """Towards the functions that made the target; its deviations stay positive."""
    mu, sigma2 = torch.linspace(0, 1, 20), torch.full((20,), 0.01)
    wanted = ft.GaussianBasis(torch.tensor([0.3, 0.8]), torch.tensor([0.14, 0.22]))
    target = ft.continuous_attention(2.0, mu, sigma2, wanted)
    basis = ft.GaussianBasis(torch.tensor([0.2, 0.9]), 0.17, learned=True)
    optimizer = torch.optim.LBFGS(basis.parameters(), max_iter=50, line_search_fn="strong_wolfe")

    def loss():
        optimizer.zero_grad()
        error = (ft.continuous_attention(2.0, mu, sigma2, basis) - target).square().mean()
        error.backward()
        return error

    optimizer.step(loss)
    assert loss() < 1e-6
    torch.testing.assert_close(basis.mu, wanted.mu, atol=1e-2, rtol=0)
    torch.testing.assert_close(basis.sigma, wanted.sigma, atol=1e-2, rtol=0)


def test_errors_name_what_is_wrong():
    basis = square_basis()
    with pytest.raises(ValueError, match=r"mu and Sigma must have shapes \(..., 2\) and \(..., 2, 2\).*got \(3,\)"):
        ft.continuous_attention(2.0, torch.zeros(3), torch.ones(3), basis)
    with pytest.raises(ValueError, match="must be of one batch"):
        ft.continuous_attention(2.0, torch.zeros(3), torch.ones(2), line_basis())
    with pytest.raises(ValueError, match=r"Sigma\[1\] must be positive and finite, got -1"):
        ft.continuous_attention(2.0, torch.zeros(2), torch.tensor([1.0, -1.0]), line_basis())
    with pytest.raises(ValueError, match="alpha must be positive, got -2"):
        ft.continuous_attention(-2.0, torch.zeros(2), torch.ones(2), line_basis())
    with pytest.raises(TypeError, match="basis must be .* of fenchel.torch, got fenchel._basis.GaussianBasis"):
        ft.continuous_attention(2.0, torch.zeros(2), torch.ones(2), fenchel.GaussianBasis([0.0], 1.0))
    with pytest.raises(ValueError, match=r"sigma positive and finite, got 1.0 and -1.0 at 1"):
        ft.GaussianBasis(torch.tensor([0.0, 1.0]), torch.tensor([1.0, -1.0]))
    with pytest.raises(ValueError, match=r"sigma must have shape \(\) or \(2,\), as mu has, got \(3,\)"):
        ft.GaussianBasis(torch.zeros(2), torch.ones(3))
    with pytest.raises(ValueError, match=r"mu must have shape \(N,\), N > 0, got \(2, 1\)"):
        ft.GaussianBasis(torch.zeros(2, 1), 1.0)
    with pytest.raises(ValueError, match=r"Sigma positive definite, got \[0.0, 0.0\] and \[\[-1.0, 0.0\]"):
        ft.MultivariateGaussianBasis(torch.zeros(1, 2), torch.tensor([[-1.0, 0.0], [0.0, 1.0]]))
    with pytest.raises(ValueError, match=r"Sigma must have shape \(2, 2\) or \(3, 2, 2\), as mu has \(3, 2\)"):
        ft.MultivariateGaussianBasis(torch.zeros(3, 2), torch.tensor(0.1))
