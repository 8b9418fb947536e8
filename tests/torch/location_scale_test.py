"""LocationScale in torch: the numbers of NumPy, the families that it holds, and derivatives."""

import math

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

import fenchel
import fenchel.torch as ft

F64 = torch.float64


def real(x, requires_grad=False):
    return torch.tensor(x, dtype=F64, requires_grad=requires_grad)


def test_numbers_are_those_of_numpy():
    ours = ft.LocationScale(torch.cosh, torch.sinh, real([0.3, -1.0]), 1.7)
    t, u = torch.linspace(-2, 2, 9, dtype=F64), torch.linspace(0, 1, 7, dtype=F64)
    for i, mu in enumerate((0.3, -1.0)):
        p = fenchel.LocationScale(math.cosh, math.sinh, mu, 1.7)
        np.testing.assert_allclose(ours.log_prob(t[:, None])[:, i], p.logpdf(t.numpy()), rtol=1e-9)
        np.testing.assert_allclose(ours.cdf(t[:, None])[:, i], p.cdf(t.numpy()), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(ours.icdf(u[:, None])[:, i], p.ppf(u.numpy()), rtol=1e-9)
        np.testing.assert_allclose(ours.variance[i], p.var(), rtol=1e-10)
        np.testing.assert_allclose(ours.entropy()[i], p.entropy(), rtol=1e-9)
        np.testing.assert_allclose(ours.tsallis_entropy()[i], p.tsallis_entropy(), rtol=1e-9)
        np.testing.assert_allclose(ours.cross_omega(real(0.7))[i], p.cross_omega(0.7), rtol=1e-9)
        np.testing.assert_allclose(torch.stack(ours.active_support())[:, i], p.support(), rtol=1e-12)


def test_the_triangular_density_is_a_member():
    p = ft.LocationScale(lambda x: x.square() / 2, lambda x: x, real(0.2), 1.5)
    q = ft.Triangular(real(0.2), 1.5**2)
    t = torch.linspace(-2, 2, 9, dtype=F64)
    for name in ("log_prob", "cdf", "cross_omega"):
        torch.testing.assert_close(getattr(p, name)(t), getattr(q, name)(t))
    torch.testing.assert_close((p.variance, p.entropy(), p.tsallis_entropy()), (q.variance, q.entropy(), q.tsallis_entropy()))


def test_derivatives():
    mu, sigma = real([0.1, -0.2], True), real([0.7, 1.6], True)
    x, u = real([0.3, -0.4], True), real([0.2, 0.9], True)

    def of(function):
        return lambda x, *parameters: getattr(ft.LocationScale(torch.cosh, torch.sinh, *parameters), function)(x)

    def moments(*parameters):
        p = ft.LocationScale(torch.cosh, torch.sinh, *parameters)
        return p.variance + p.entropy() + p.tsallis_entropy()

    for name in ("log_prob", "cdf", "cross_omega"):
        assert gradcheck(of(name), (x, mu, sigma), check_forward_ad=True)
        assert gradgradcheck(of(name), (x, mu, sigma))
    assert gradcheck(of("icdf"), (u, mu, sigma), check_forward_ad=True)
    assert gradgradcheck(of("icdf"), (u, mu, sigma))
    assert gradcheck(moments, (mu, sigma)) and gradgradcheck(moments, (mu, sigma))
    p = ft.LocationScale(torch.cosh, torch.sinh, mu, sigma)
    torch.manual_seed(1)
    draws = p.rsample((20,))
    torch.testing.assert_close(draws.var(0), p.variance, rtol=0.6, atol=0)
    (slope,) = torch.autograd.grad(draws.sum(), mu, retain_graph=True)
    torch.testing.assert_close(slope, torch.full_like(mu, 20))
    assert p.expand((3, 2)).rsample().shape == (3, 2)


def test_errors():
    with pytest.raises(ValueError, match="sigma"):
        ft.LocationScale(torch.cosh, torch.sinh, 0.0, -1.0, validate_args=True)
    p = ft.LocationScale(torch.cosh, torch.sinh)
    assert p.icdf(real(1.5)).isnan() and p.log_prob(real(9.0)) == -math.inf
    with pytest.raises(ValueError):
        ft.LocationScale(lambda x: x, lambda x: -x).variance  # noqa: B018
    with pytest.raises(ValueError, match="sigma"):  # the peak of the density is beyond the largest number
        ft.LocationScale(torch.cosh, torch.sinh, 0.0, real([1.0, 5e-324]), validate_args=True)
    assert ft.LocationScale(torch.cosh, torch.sinh, 0.0, real(1e-307)).tsallis_entropy().isfinite()
