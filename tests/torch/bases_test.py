"""Bases on the line that are not Gaussian: the numbers of NumPy, and derivatives."""

import math

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

import fenchel
import fenchel.torch as ft

F64 = torch.float64
PAIRS = {
    "polynomial": (ft.PolynomialBasis(4, 0.2, 0.7), fenchel.PolynomialBasis(4, 0.2, 0.7)),
    "fourier": (ft.FourierBasis(3, 1.3), fenchel.FourierBasis(3, 1.3)),
    "concatenated": (
        ft.ConcatenatedBasis(ft.GaussianBasis.linearly_spaced(4), ft.PolynomialBasis(2), ft.FourierBasis(1)),
        fenchel.ConcatenatedBasis(
            fenchel.GaussianBasis.linearly_spaced(4), fenchel.PolynomialBasis(2), fenchel.FourierBasis(1)
        ),
    ),
    "function": (
        ft.FunctionBasis(lambda t: torch.stack([t.cos(), t**3], -1), 2),
        fenchel.FunctionBasis([math.cos, lambda t: t**3]),
    ),
}


def real(x, requires_grad=False):
    return torch.tensor(x, dtype=F64, requires_grad=requires_grad)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("alpha", [0.9, 1.0, 1 + 1e-8, 1.5, 2.0, 5.0])
def test_numbers_are_those_of_numpy(name, alpha):
    ours, theirs = PAIRS[name]
    t = torch.linspace(-1, 2, 7, dtype=F64)
    np.testing.assert_allclose(ours(t), theirs(t.numpy()), rtol=1e-13, atol=1e-13)
    assert ours.count == len(theirs)
    if alpha < 1 and name in ("polynomial", "concatenated", "function"):
        return  # no moments
    expected = [fenchel.attend(fenchel.BetaGaussian(alpha, mu, 0.3), theirs) for mu in (0.2, 0.9)]
    seen = ft.continuous_attention(alpha, real([0.2, 0.9]), real(0.3), ours)
    np.testing.assert_allclose(seen, expected, rtol=1e-8, atol=1e-9)
    low = ft.continuous_attention(alpha, torch.tensor([0.2, 0.9]), torch.tensor(0.3), ours)
    assert low.dtype == torch.float32 and low.shape == seen.shape


@pytest.mark.parametrize("name", PAIRS)
def test_derivatives(name):
    basis = PAIRS[name][0]
    alpha, mu = real([1.0, 1.3, 1.5, 2.5], True), real([0.1, 0.3, 0.7, 0.4], True)
    sigma2 = real([0.2, 0.5, 0.3, 0.1], True)
    f = lambda *x: ft.continuous_attention(*x, basis)
    assert gradcheck(f, (alpha, mu, sigma2), check_forward_ad=True, check_batched_grad=name != "concatenated", atol=1e-6)
    compiled = torch.compile(f, backend="aot_eager")
    ours, theirs = (torch.autograd.grad(g(alpha, mu, sigma2).sum(), (alpha, mu, sigma2)) for g in (compiled, f))
    torch.testing.assert_close(ours, theirs)


def test_a_network_is_a_basis():
    network = torch.nn.Sequential(torch.nn.Unflatten(-1, (-1, 1)), torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
    basis = ft.FunctionBasis(lambda t: network(t), 3)
    assert not basis.learned
    basis = ft.FunctionBasis(network, 3)
    assert basis.learned and len(list(basis.parameters())) == 4
    mu = torch.tensor([0.2, 0.4, 0.5], requires_grad=True)
    ft.continuous_attention(1.5, mu, torch.tensor(0.1), basis).square().sum().backward()
    assert mu.grad.isfinite().all() and all(p.grad.abs().sum() > 0 for p in network.parameters())


def test_a_concatenated_basis_may_be_learned():
    basis = ft.ConcatenatedBasis(ft.GaussianBasis.linearly_spaced(4, learned=True), ft.PolynomialBasis(1))
    assert basis.learned and basis.count == 6
    ft.continuous_attention(2.0, torch.tensor(0.2), torch.tensor(0.1), basis).sum().backward()
    assert all(p.grad.isfinite().all() for p in basis.parameters())
    values = torch.randn(2, 7, 3)
    assert ft.RidgeValues(basis)(values).shape == (2, 6, 3)


def test_errors_name_what_is_wrong():
    with pytest.raises(TypeError, match="bases must be bases on the line"):
        ft.ConcatenatedBasis(ft.MultivariateGaussianBasis.unit_square(2, 2, torch.eye(2)))
    with pytest.raises(ValueError, match="bases must not be empty"):
        ft.ConcatenatedBasis()
    with pytest.raises(ValueError, match=r"function must give shape \(65, 2\), got \(65,\)"):
        ft.continuous_attention(2.0, real(0.0), real(1.0), ft.FunctionBasis(lambda t: t, 2))
    with pytest.raises(ValueError, match="degree"):
        ft.PolynomialBasis(-1)
    with pytest.raises(ValueError, match="must be of one batch"):
        ft.continuous_attention(2.0, real([0.0, 1.0]), real([1.0, 1.0, 1.0]), ft.PolynomialBasis(1))
    mu = real(0.1, True)
    (slope,) = torch.autograd.grad(
        ft.continuous_attention(2.0, mu, real(1.0), ft.PolynomialBasis(2)).sum(), mu, create_graph=True
    )
    with pytest.raises(NotImplementedError, match="polynomial basis has first derivatives"):
        slope.backward()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ((2.0, 0.0, 0.0), "sigma2 must be positive and finite, got 0"),
        ((2.0, 0.0, -1.0), "sigma2 must be positive and finite, got -1"),
        ((2.0, 0.0, math.nan), "sigma2 must be positive and finite, got nan"),
        ((2.0, math.inf, 1.0), "mu must be finite, got inf"),
        ((2.0, math.nan, 1.0), "mu must be finite, got nan"),
        ((-1.0, 0.0, 1.0), "alpha must be positive on the line, got -1"),
    ],
)
@pytest.mark.parametrize("name", ["polynomial", "function"])
def test_densities_are_checked_by_every_basis(name, parameters, message):
    alpha, mu, sigma2 = ([good, bad] for good, bad in zip((2.0, 0.0, 1.0), parameters))
    with pytest.raises(ValueError, match=message):
        PAIRS[name][0].attend(real(alpha), real(mu), real(sigma2))


def test_the_check_of_densities_lets_transforms_and_tensors_without_data_pass():
    basis = PAIRS["function"][0]
    mu, sigma2, alpha = real([0.1, 0.4]), real([0.2, 0.3]), real([1.5, 2.0])
    direct = basis.attend(alpha, mu, sigma2)
    torch.testing.assert_close(torch.vmap(basis.attend)(alpha, mu, sigma2), direct)
    assert basis.attend(alpha.to("meta"), mu.to("meta"), sigma2.to("meta")).shape == direct.shape
    _, tangent = torch.func.jvp(lambda m: basis.attend(alpha, m, sigma2), (mu,), (torch.ones_like(mu),))
    assert tangent.isfinite().all()


def test_opcheck():
    x = (real([0.1, 0.4], True), real([0.2, 0.3], True), real([1.5, 2.0], True))
    torch.library.opcheck(torch.ops.fenchel.attend_line, (*x, "polynomial", 3, 0.0, 1.0))
    plain = [t.detach() for t in x]
    torch.library.opcheck(torch.ops.fenchel.attend_line_gradient, (*plain, "fourier", 2, 0.0, 1.0))
