"""Densities from weights and value functions from values in torch: the numbers of the library, and derivatives."""

import copy
import io
import re

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.library import opcheck

import fenchel
import fenchel.torch as ft
from fenchel.torch._library import ops


def draw(*shape, seed=1, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


BASIS = ft.GaussianBasis.linearly_spaced(8, sigma=(0.1, 0.3))
TWIN = fenchel.GaussianBasis.linearly_spaced(8, sigma=(0.1, 0.3))


def coefficients(values, **options):
    """Of the NumPy front end, which has the transpose."""
    return fenchel.ridge_values(np.swapaxes(values, -1, -2), TWIN, 0.05, **options).swapaxes(-1, -2)


@pytest.mark.parametrize("length", [1, 5, 10, 11, 40])
def test_ridge_is_that_of_the_library(length):
    values = draw(2, length, 3)
    b = ft.RidgeValues(BASIS, 0.05)(values)
    np.testing.assert_allclose(b, coefficients(values.numpy()), rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("learned", [False, True])
def test_padding_is_never_read(learned):
    lengths = torch.tensor([[4, 9, 1], [7, 4, 9]])
    values = draw(2, 3, 9, 2)
    padded = values.masked_fill(torch.arange(9)[:, None] >= lengths[..., None, None], torch.nan).requires_grad_()
    basis = ft.GaussianBasis.linearly_spaced(8, sigma=(0.1, 0.3), learned=learned).double()
    ridge = ft.RidgeValues(basis, 0.05)
    b = ridge.fit(padded, lengths)
    close = {"rtol": 1e-5, "atol": 1e-6} if learned else {"rtol": 1e-10, "atol": 1e-11}
    np.testing.assert_allclose(b.detach(), coefficients(values.numpy(), lengths=lengths.numpy()), **close)
    (gradient,) = torch.autograd.grad(b.square().sum(), padded)
    assert torch.isfinite(gradient).all() and (gradient[0, 0, 4:] == 0).all()
    if learned:
        traced = torch.compile(ridge, fullgraph=True, backend="aot_eager")
    else:  # for every length from 2 on
        length = {2: torch.export.Dim("length", min=2, max=1000)}
        traced = torch.export.export(ridge, (padded, lengths), dynamic_shapes=(length, None)).module()
    torch.testing.assert_close(traced(padded, lengths), b, rtol=1e-9, atol=1e-10)
    torch.testing.assert_close(torch.func.vmap(ridge)(padded, lengths), b, rtol=1e-9, atol=1e-10)


def test_a_ridge_that_is_learned_has_derivatives():
    mu, sigma = torch.tensor([0.1, 0.5, 0.8], dtype=torch.float64), torch.tensor(0.2, dtype=torch.float64)
    basis = ft.GaussianBasis(mu, sigma)
    values, lengths = torch.rand(2, 6, 1, dtype=torch.float64), torch.tensor([6, 4])
    strength = torch.tensor(0.05, dtype=torch.float64, requires_grad=True)
    for each in (None, lengths):
        fit = lambda ridge, each=each: ft.RidgeValues(basis, ridge).fit(values, each)
        assert torch.autograd.gradcheck(fit, (strength,)) and torch.autograd.gradgradcheck(fit, (strength,))
        torch.testing.assert_close(fit(strength), ft.RidgeValues(basis, 0.05).fit(values, each))
    learned = ft.RidgeValues(basis, torch.nn.Parameter(torch.tensor(0.05)))
    assert [name for name, _ in learned.named_parameters()] == ["ridge"]
    learned(values).sum().backward()
    twin = fenchel.RidgeRegression(fenchel.GaussianBasis([0.1, 0.5, 0.8], 0.2), 6, 0.05)
    wanted = twin.vjp(values[..., 0].numpy(), np.ones((2, 3)))["ridge"]
    np.testing.assert_allclose(learned.ridge.grad.item(), wanted, rtol=1e-6)
    with pytest.raises(ValueError, match="ridge must be a number, got a tensor"):
        ft.RidgeValues(basis, torch.ones(2))


def test_ridge_on_a_learned_basis_has_derivatives():
    torch.manual_seed(0)
    basis = ft.GaussianBasis.linearly_spaced(4, sigma=0.2, learned=True).double()
    ridge = ft.RidgeValues(basis)
    x = (draw(2, 5, 1).requires_grad_(), *(p.detach().requires_grad_() for p in basis.parameters()))

    def f(values, raw_mu, raw_sigma):
        given = {"basis.raw_mu": raw_mu, "basis.raw_sigma": raw_sigma}
        return torch.func.functional_call(ridge, given, (values, torch.tensor([3, 5])))

    assert gradcheck(f, x, fast_mode=True, check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(f, x, fast_mode=True)


# Few queries go through weights over the values, many through B: for 8 functions, 9 positions and 5 channels.
QUERIES = [(), (1,), (3,), (2, 25), (0,)]


@pytest.mark.parametrize("queries", QUERIES, ids=str)
@pytest.mark.parametrize("padded", [False, True])
def test_contexts_are_expectations_times_coefficients(queries, padded):
    ridge, values = ft.RidgeValues(BASIS, 0.05), draw(2, 3, 9, 5)
    lengths = torch.tensor([[4, 9, 1], [7, 4, 9]]) if padded else None
    if padded:
        values = values.masked_fill(torch.arange(9)[:, None] >= lengths[..., None, None], torch.nan)
    r = draw(2, 3, *queries, 8, seed=2)
    contexts = ridge.contexts(r, values, lengths)
    assert contexts.shape == (2, 3, *queries, 5)
    by_hand = r.reshape(2, 3, -1, 8) @ ridge.fit(values, lengths)
    torch.testing.assert_close(contexts, by_hand.reshape(contexts.shape), rtol=1e-11, atol=1e-12)


def test_contexts_without_a_batch_and_on_grids():
    r = draw(4, 8, seed=2)
    torch.testing.assert_close(ft.RidgeValues(BASIS).contexts(r, draw(9, 5)), r @ ft.RidgeValues(BASIS)(draw(9, 5)))
    square = ft.RidgeValues(ft.MultivariateGaussianBasis.unit_square(3, 4, 0.05 * torch.eye(2, dtype=torch.float64)))
    image = draw(2, 4, 5, 3)
    for queries in (1, 100):
        r = draw(2, queries, 12, seed=3)
        torch.testing.assert_close(square.contexts(r, image), r @ square(image), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("queries", [1, 40])
def test_contexts_have_derivatives(queries):
    """In expectations, values, a learned basis and a learned ridge; padding has none."""
    basis = ft.GaussianBasis.linearly_spaced(4, sigma=0.2, learned=True).double()
    ridge = ft.RidgeValues(basis, torch.nn.Parameter(torch.tensor(0.1, dtype=torch.float64)))
    lengths = torch.tensor([3, 5])

    def f(r, values, *parameters):
        given = dict(zip(names, parameters))
        return torch.func.functional_call(Contexts(ridge), given, (r, values, lengths))

    names = [f"ridge_values.{name}" for name, _ in ridge.named_parameters()]
    x = (draw(2, queries, 4, seed=2), draw(2, 5, 6), *(p.detach() for p in ridge.parameters()))
    assert len(x) == 5
    for each in x:
        each.requires_grad_()
    assert gradcheck(f, x, fast_mode=True, check_forward_ad=True) and gradgradcheck(f, x, fast_mode=True)
    (gradient,) = torch.autograd.grad(f(*x).square().sum(), x[1])
    assert (gradient[0, 3:] == 0).all() and (gradient[0, :3] != 0).all()


class Contexts(torch.nn.Module):
    def __init__(self, ridge_values):
        super().__init__()
        self.ridge_values = ridge_values

    def forward(self, *arguments):
        return self.ridge_values.contexts(*arguments)


@pytest.mark.parametrize("queries", [1, 300])
def test_contexts_in_float32_err_by_roundings_of_their_terms(queries):
    """Of the sum over the values, or of that over the functions: all before it is of float64."""
    ridge = ft.RidgeValues(ft.GaussianBasis.linearly_spaced(16), 1e-6)
    mu, values = torch.sigmoid(draw(2, queries, seed=2)), draw(2, 120, 32).float()
    r = ft.continuous_attention(2.0, mu, torch.full_like(mu, 0.02), ridge.basis).float()
    contexts = ridge.contexts(r, values)
    by_coefficients = r.double() @ ridge(values.double()).abs()
    by_weights = (r.double() @ ridge(torch.eye(120, dtype=torch.float64))).abs() @ values.double().abs()
    error = (contexts - r.double() @ ridge(values.double())).abs() / (by_weights if queries == 1 else by_coefficients)
    assert contexts.dtype == torch.float32
    assert 0 < error.max() < 3 * torch.finfo(torch.float32).eps


@pytest.mark.parametrize("positions", ["centres", "ends"])
@pytest.mark.parametrize("longest", [5, 30])
def test_matrices_of_all_lengths_are_those_of_each(positions, longest):
    """A GPU keeps the former, and the CPU the latter; a length of 0 is NaN."""
    ridge = ft.RidgeValues(BASIS, 0.05, positions)
    lengths = torch.arange(longest + 1)
    every = ridge._of_each(lengths, longest)
    assert every.shape == (longest + 1, longest, 8) and every[0].isnan().all()
    units = torch.eye(longest, dtype=torch.float64).expand(longest, longest, longest)
    there = ridge.fit(units, lengths[1:]).mT
    torch.testing.assert_close(every[1:], there, rtol=1e-9, atol=1e-11)
    for length in range(1, longest + 1):
        alone = ridge.fit(torch.eye(length, dtype=torch.float64)).mT
        torch.testing.assert_close(every[length, :length], alone, rtol=1e-9, atol=1e-11)
        assert (every[length, length:] == 0).all()


def test_lengths_of_any_order_and_shape():
    ridge, values = ft.RidgeValues(BASIS, 0.05), draw(3, 2, 12, 4)
    lengths = torch.tensor([[12, 3], [3, 1], [12, 7]], dtype=torch.int32)
    b = ridge.fit(values, lengths)
    for place in np.ndindex(3, 2):
        torch.testing.assert_close(b[place], ridge.fit(values[place][: lengths[place]]))
    assert ridge.fit(values[:0], lengths[:0]).shape == (0, 2, 8, 4)
    assert len(ridge._matrices) == 4


@pytest.mark.parametrize("length", [10, 11])
def test_even_lengths_fit_as_well_as_odd_ones(length):
    """quati and speech put the positions of even lengths elsewhere: an error of .95 for sin(2 pi t) at length 10."""
    ridge = ft.RidgeValues(ft.GaussianBasis.linearly_spaced(16, sigma=0.1), 1e-4)
    wave = torch.sin(2 * torch.pi * torch.from_numpy(fenchel.positions(length)))[None, :, None]
    padded = torch.cat([wave, torch.full((1, 3, 1), torch.nan)], 1)
    b = ridge.fit(padded, torch.tensor([length]))
    t = torch.linspace(0.1, 0.9, 50, dtype=torch.float64)
    error = (ridge.basis(t) @ b)[0, :, 0] - torch.sin(2 * torch.pi * t)
    assert error.square().mean().sqrt() < 0.02


def test_ridge_on_grids():
    Sigma = torch.tensor([[0.03, 0.01], [0.01, 0.05]], dtype=torch.float64)
    basis = ft.MultivariateGaussianBasis.unit_square(3, 4, Sigma)
    twin = fenchel.MultivariateGaussianBasis.unit_square(3, 4, Sigma.numpy())
    assert (basis.mu.numpy() == twin.mu).all() and (basis.Sigma.numpy() == twin.Sigma).all()
    values = draw(2, 3, 5, 2)
    at = fenchel.grid_positions(3, 5)
    np.testing.assert_allclose(basis(torch.from_numpy(at)), twin(at), rtol=1e-12)
    expected = fenchel.ridge_values(values.flatten(1, 2).mT.numpy(), twin, 0.1, positions=at)
    np.testing.assert_allclose(ft.RidgeValues(basis)(values).mT, expected, rtol=1e-10, atol=1e-11)


def test_what_is_kept_follows_the_basis_and_stays_out_of_copies():
    ridge = ft.RidgeValues(copy.deepcopy(BASIS), 0.05)
    values = draw(6, 2)
    with torch.inference_mode():
        before = ridge(values).clone()
    torch.autograd.grad(ridge(values.requires_grad_()).sum(), values)
    assert len(ridge._matrices) == 1
    copied = copy.deepcopy(ridge)
    assert not copied._matrices and torch.equal(copied(values), ridge(values))
    stored = io.BytesIO()
    torch.save(ridge, stored)
    stored.seek(0)
    assert torch.equal(torch.load(stored, weights_only=False)(values), before)
    shifted = ft.GaussianBasis(BASIS.mu + 0.01, BASIS.sigma)
    ridge.load_state_dict(ft.RidgeValues(shifted).state_dict())
    assert torch.equal(ridge(values), ft.RidgeValues(shifted, 0.05)(values))
    assert not torch.allclose(ridge(values), before)
    ridge.half()
    assert ridge.basis.mu.dtype == torch.float64
    assert ridge(values.half()).dtype == torch.float16


@pytest.mark.parametrize("dimension", [0, 1, 2])
@pytest.mark.parametrize("alpha", [1.0, 2.0, 0.8])
def test_matched_densities(dimension, alpha):
    weights = torch.softmax(draw(3, 6), -1)
    lengths = None
    positions = None if dimension == 0 else draw(6, dimension, seed=2).squeeze(-1)
    if dimension == 0:
        lengths = torch.tensor([6, 1, 4])
        weights = torch.softmax(draw(3, 6).masked_fill(torch.arange(6) >= lengths[:, None], -torch.inf), -1)
    options = {"positions": positions, "lengths": lengths}
    mu, Sigma = ft.match_weights(alpha, weights, **options)
    numbers = {name: None if x is None else x.numpy() for name, x in options.items()}
    expected = fenchel.match_weights(alpha, weights.numpy(), **numbers)
    assert (mu.numpy() == expected.mu).all() and (Sigma.numpy() == expected.Sigma).all()


@pytest.mark.parametrize("dimension", [0, 1, 2])
@pytest.mark.parametrize("alpha", [1.0, 2.0, 0.8])
def test_derivatives_of_matched_densities(dimension, alpha, device):
    lengths = torch.tensor([6, 1, 4], device=device) if dimension == 0 else None
    positions = None if dimension == 0 else draw(6, dimension, seed=2).squeeze(-1).to(device)
    options = {"positions": positions, "lengths": lengths}
    frames = torch.arange(6, device=device)

    def f(scores, alphas):
        """Weights of sum 1: all that have a density."""
        here = scores if lengths is None else scores.masked_fill(frames >= lengths[:, None], -torch.inf)
        return ft.match_weights(alphas, torch.softmax(here, -1), **options)

    orders = torch.full((3,), alpha, dtype=torch.float64, device=device)
    x = (draw(3, 6).to(device).requires_grad_(), orders.requires_grad_())
    assert gradcheck(f, x, fast_mode=True, check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(f, x, fast_mode=True, check_fwd_over_rev=True, check_batched_grad=True)


def test_matched_densities_compiled_and_checked(device):
    lengths, positions = torch.tensor([6, 1, 4], device=device), draw(6, 2).to(device)
    weights = torch.full((3, 6), 1 / 6, dtype=torch.float64, device=device)
    orders = torch.full((3,), 1.5, dtype=torch.float64, device=device)

    def f(weights, alpha):
        return ft.match_weights(alpha, torch.softmax(weights, -1), positions)

    compiled = torch.compile(f, fullgraph=True, backend="aot_eager")
    for one, other in zip(compiled(weights, orders), f(weights, orders)):
        torch.testing.assert_close(one, other)
    checks = ("test_schema", "test_faketensor")
    first = torch.where(torch.arange(6, device=device) < lengths[:, None], 1 / lengths[:, None].double(), torch.nan)
    opcheck(ops.match_weights.default, (first, orders, None, lengths, 0.0, None), test_utils=checks)
    grad = torch.ones(3, 6, dtype=torch.float64, device=device)
    opcheck(ops.match_weights_vjp.default, (weights, orders, positions, None, grad, 0.0, 0.1), test_utils=checks)
    second = (weights, orders, positions, None, grad, weights, orders, 0.0, 0.1)
    opcheck(ops.match_weights_vjp_vjp.default, second, test_utils=checks)
    opcheck(ops.match_weights_jvp.default, (weights, None, positions, None, grad, None, 2.0, 0.1), test_utils=checks)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_weights_of_16_bits_count_as_shares(dtype, device):
    weights = torch.softmax(draw(4, 50, dtype=torch.float32), -1).to(device)
    lengths = torch.tensor([50, 20, 3, 50], device=device)
    here = torch.arange(50, device=device) < lengths[:, None]
    small = torch.where(here, weights, torch.nan).to(dtype).requires_grad_()
    mu, sigma2 = ft.match_weights(2.0, small, lengths=lengths)
    assert mu.dtype == sigma2.dtype == dtype
    shares = torch.where(here, weights, 0.0)
    exact = ft.match_weights(2.0, shares / shares.sum(-1, keepdim=True), lengths=lengths)
    torch.testing.assert_close(mu.float(), exact[0], rtol=2e-2, atol=0)
    torch.testing.assert_close(sigma2.float(), exact[1], rtol=4e-2, atol=0)
    (gradient,) = torch.autograd.grad(mu.sum() + sigma2.sum(), small)
    assert torch.isfinite(gradient).all()


def test_errors_name_what_is_wrong():
    weights = torch.full((2, 4), 0.25)
    with pytest.raises(ValueError, match=r"lengths must have shape \(2,\), got \(3,\)"):
        ft.match_weights(2.0, weights, lengths=torch.tensor([1, 2, 3]))
    with pytest.raises(ValueError, match=r"positions must have shape \(4,\) or \(4, D\), got \(3,\)"):
        ft.match_weights(2.0, weights, positions=torch.zeros(3))
    with pytest.raises(ValueError, match=r"alpha must broadcast to \(2,\), got shape \(3,\)"):
        ft.match_weights(torch.full((3,), 2.0), weights)
    with pytest.raises(ValueError, match="positions must have no tangent"):
        torch.func.jvp(lambda t: ft.match_weights(2.0, weights, positions=t), (torch.rand(4),), (torch.ones(4),))
    with pytest.raises(ValueError, match="must be finite and not negative"):
        ft.match_weights(2.0, -weights)
    with pytest.raises(ValueError, match=r"lengths\[0\] must be"):
        ft.match_weights(2.0, weights, lengths=torch.tensor([5, 1]))
    with pytest.raises(ValueError, match=r"lengths must be in \[1, 4\], got 5"):
        ft.RidgeValues(BASIS).fit(torch.zeros(2, 4, 1), torch.tensor([5, 1]))
    with pytest.raises(ValueError, match="ridge must be positive and finite, got 0"):
        ft.RidgeValues(BASIS, 0)
    with pytest.raises(ValueError, match=r"values must have shape \(..., L, M\), got \(4,\)"):
        ft.RidgeValues(BASIS).fit(torch.zeros(4))
    with pytest.raises(ValueError, match=r"values must have shape \(..., L, M\), got \(4,\)"):
        ft.RidgeValues(BASIS).contexts(torch.zeros(8), torch.zeros(4))
    with pytest.raises(ValueError, match=r"lengths must be in \[1, 4\], got 0"):
        ft.RidgeValues(BASIS).contexts(torch.zeros(2, 8), torch.zeros(2, 4, 1), torch.tensor([0, 1]))
    for shape in ((4, 8), (2, 2), (2, 2, 7), (3, 2, 8), (2,)):
        message = rf"expectations must have shape \(2, 2, \*queries, 8\), got {re.escape(str(shape))}"
        with pytest.raises(ValueError, match=message):
            ft.RidgeValues(BASIS).contexts(torch.zeros(shape), torch.zeros(2, 2, 4, 1))


@pytest.mark.parametrize("length", [0, 10, -3])
def test_a_length_that_nobody_looks_at_makes_nan_of_its_row_alone(length):
    ridge, values = ft.RidgeValues(BASIS, 0.05), draw(3, 9, 2)
    lengths = torch.tensor([9, length, 4])
    b = torch.func.vmap(ridge)(values, lengths)
    assert b[1].isnan().all()
    torch.testing.assert_close(b[[0, 2]], ridge(values[[0, 2]], lengths[[0, 2]]))
