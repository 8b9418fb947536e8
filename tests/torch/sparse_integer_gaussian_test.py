"""SparseIntegerGaussian in torch: the numbers of NumPy, laws, and derivatives of both orders."""

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


@pytest.mark.parametrize("alpha", [1.0, math.nextafter(1, 2), 1 + 1e-8, 4 / 3, 1.5, 2.0, 5.0, 1e6, math.inf])
@pytest.mark.parametrize("sigma2", [0.05, 1.0, 300.0])
def test_numbers_are_those_of_numpy(alpha, sigma2):
    ours, theirs = ft.SparseIntegerGaussian(alpha, real([0.3, -2.5]), sigma2), [
        fenchel.SparseIntegerGaussian(alpha, mu, sigma2) for mu in (0.3, -2.5)
    ]
    k = torch.arange(-40, 41)
    u = torch.linspace(0, 1, 11, dtype=F64)
    for i, p in enumerate(theirs):
        np.testing.assert_allclose(ours.prob(k[:, None])[:, i], p.pmf(k.numpy()), rtol=1e-10, atol=1e-15)
        np.testing.assert_allclose(ours.cdf(k[:, None])[:, i], p.cdf(k.numpy()), rtol=1e-10, atol=1e-14)
        if alpha >= 4 / 3:
            np.testing.assert_array_equal(ours.icdf(u[:, None])[:, i], p.ppf(u.numpy()))
        np.testing.assert_allclose(ours.mean[i], p.mean(), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(ours.variance[i], p.var(), rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(ours.entropy()[i], p.entropy(), rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(ours.tsallis_entropy()[i], p.tsallis_entropy(), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(ours.cross_omega(torch.tensor(3))[i], p.cross_omega(3), rtol=1e-11)
        assert ours.mode[i] == p.mode()


def test_scores_that_hardly_differ_count():
    """Twice the scale overflows: all scores were 0, and all integers of the window had the same probability."""
    p, q = fenchel.SparseIntegerGaussian(10847.0, 6.76, 1e308), ft.SparseIntegerGaussian(10847.0, real(6.76), 1e308)
    k = np.arange(4, 11)
    np.testing.assert_allclose(q.prob(torch.from_numpy(k)), p.pmf(k), rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(q.cross_omega(torch.tensor(7)), p.cross_omega(7), rtol=1e-10)


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0, math.inf])
def test_a_scale_that_is_almost_zero_leaves_one_integer(alpha):
    """All scores were minus infinity."""
    p, q = fenchel.SparseIntegerGaussian(alpha, 1.3, 5e-324), ft.SparseIntegerGaussian(alpha, real(1.3), 5e-324)
    k = np.arange(-1, 4)
    np.testing.assert_array_equal(q.prob(torch.from_numpy(k)), p.pmf(k))
    assert q.mean == 1 and q.variance == 0 and q.entropy() == 0 and q.cross_omega(torch.tensor(1)) == p.cross_omega(1)


def test_moments_about_a_large_centre():
    """The mean is known to 6e-5 there, whose square was missing in the variance."""
    mu = real(474755231714.31757, requires_grad=True)
    q = ft.SparseIntegerGaussian(1.1798065222046517, mu, 0.6487208513056468)
    near = fenchel.SparseIntegerGaussian(1.1798065222046517, mu.item() - 474755231714.0, 0.6487208513056468)
    np.testing.assert_allclose(q.variance.item(), near.var(), rtol=1e-13)
    np.testing.assert_allclose(q.mean.item() - 474755231714.0, near.mean(), atol=1e-4)
    (slope,) = torch.autograd.grad(q.mean, mu)
    by_difference = fenchel.SparseIntegerGaussian(1.1798065222046517, mu.item() - 474755231714.0 + 1e-5, 0.6487208513056468)
    np.testing.assert_allclose(slope.item(), (by_difference.mean() - near.mean()) / 1e-5, rtol=1e-3)


def test_a_window_that_is_too_large_is_an_error():
    """It was an OverflowError, or memory that is not there."""
    for sigma2 in (1e23, 1e308):
        with pytest.raises(ValueError, match=r"sigma2 must need a window of at most 33554432 integers, got 1e\+(23|308)"):
            ft.SparseIntegerGaussian(1.4, real([0.3, 1.0]), real([1.0, sigma2])).tsallis_entropy()


def test_many_numbers_of_a_wide_one():
    """A window of a million integers, of which each number needs a few."""
    p, q = fenchel.SparseIntegerGaussian(1.0, 0.2, 1e8), ft.SparseIntegerGaussian(1.0, real([0.2]), 1e8)
    u = np.linspace(1e-6, 1 - 1e-6, 20_000)
    x = q.icdf(torch.from_numpy(u))
    assert (abs(x.numpy() - p.ppf(u)) <= 1).all()
    np.testing.assert_allclose(q.cdf(x), p.cdf(x.numpy()), rtol=0, atol=1e-12)
    np.testing.assert_allclose(q.cdf(real([-math.inf, -1e9, 1e9, math.inf])), [0, 0, 1, 1], rtol=0, atol=1e-12)


def test_derivatives_of_both_orders():
    alpha, mu, sigma2 = real([1.0, 1.3, 2.0], True), real([0.2, -0.7, 3.3], True), real([1.5, 4.0, 9.0], True)
    k = torch.tensor([0, -1, 4])

    def of(name):
        return lambda *x: getattr(ft.SparseIntegerGaussian(*x, validate_args=False), name)(k)

    def moments(*x):
        p = ft.SparseIntegerGaussian(*x, validate_args=False)
        return p.mean + p.variance + p.entropy() + p.tsallis_entropy()

    for f in (of("log_prob"), of("cdf"), of("cross_omega"), moments):
        assert gradcheck(f, (alpha, mu, sigma2), check_forward_ad=True, atol=1e-6)
    for f in (of("log_prob"), of("cross_omega")):
        assert gradgradcheck(f, (alpha, mu, sigma2), atol=1e-5)


def test_draws_and_shapes():
    torch.manual_seed(1)
    p = ft.SparseIntegerGaussian(1.5, real([0.3, 7.9]), 20.0)
    draws = p.sample((20000,))
    assert (draws == draws.round()).all() and (p.prob(draws) > 0).all()
    torch.testing.assert_close(draws.mean(0), p.mean, atol=0.1, rtol=0)
    torch.testing.assert_close(draws.var(0), p.variance, atol=0.3, rtol=0)
    assert p.expand((3, 2)).sample((4,)).shape == (4, 3, 2)
    low = ft.SparseIntegerGaussian(2.0, torch.tensor(0.3), torch.tensor(4.0))
    assert low.log_prob(torch.tensor(1)).dtype == torch.float32
    assert low.log_prob(torch.tensor(9)) == -math.inf
    with pytest.raises(ValueError, match="alpha"):
        ft.SparseIntegerGaussian(0.5, validate_args=True)
    with pytest.raises(ValueError, match="within the support"):
        ft.SparseIntegerGaussian(2.0, validate_args=True).log_prob(torch.tensor(0.5))
