"""BetaGaussian in torch: the numbers of the library, laws, and derivatives of both orders."""

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
import torch
from torch import distributions
from torch.autograd import gradcheck, gradgradcheck
from torch.utils._python_dispatch import TorchDispatchMode

import fenchel
import fenchel.torch as ft
from fenchel.torch._elliptical import _beta_gaussian
from fenchel.torch._library import ops

F64 = torch.float64
ALPHAS = [0.4, 0.7, 1.0, 1.0 + 2.0**-52, 1 + 1e-8, 4 / 3, 1.5, 2.0, 5.0, 1e6, math.inf]


def real(x, requires_grad=False, device="cpu"):
    return torch.tensor(x, dtype=F64, device=device, requires_grad=requires_grad)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_numbers_are_those_of_the_library(alpha):
    p, reference = ft.BetaGaussian(alpha, real(0.3), 1.7), fenchel.BetaGaussian(alpha, 0.3, 1.7)
    t, u = torch.linspace(-3, 3, 13, dtype=F64), torch.linspace(0, 1, 9, dtype=F64)
    np.testing.assert_allclose(p.cdf(t), reference.cdf(t.numpy()), rtol=1e-14, atol=1e-16)
    np.testing.assert_allclose(p.log_prob(t), reference.logpdf(t.numpy()), rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(p.icdf(u), reference.ppf(u.numpy()), rtol=1e-13)
    np.testing.assert_allclose(p.variance, reference.var(), rtol=1e-14)
    np.testing.assert_allclose(p.entropy(), reference.entropy(), atol=1e-15)
    np.testing.assert_allclose(p.tsallis_entropy(), reference.tsallis_entropy(alpha), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(p.cross_omega(real(0.7)), reference.cross_omega(0.7), rtol=1e-14)
    other = ft.BetaGaussian(alpha, real(0.5), 0.9)
    np.testing.assert_allclose(
        p.fenchel_young(other), reference.fenchel_young(fenchel.BetaGaussian(alpha, 0.5, 0.9)), atol=1e-14
    )
    np.testing.assert_allclose(torch.stack(p.active_support()), reference.support(), rtol=1e-14)
    low = ft.BetaGaussian(alpha, torch.tensor(0.3), torch.tensor(1.7))
    assert low.log_prob(t.float()).dtype == low.cdf(t.float()).dtype == low.rsample().dtype == torch.float32
    expected = fenchel.BetaGaussian(alpha, float(low.mu), float(low.sigma2)).logpdf(t.float().double().numpy())
    np.testing.assert_array_equal(low.log_prob(t.float()), expected.astype(np.float32))


def test_the_gaussian_and_student_are_members():
    t = torch.linspace(-4, 4, 9, dtype=F64)
    gaussian = ft.BetaGaussian(1, real(0.2), 2.25)
    np.testing.assert_allclose(gaussian.log_prob(t), scipy.stats.norm(0.2, 1.5).logpdf(t), rtol=1e-14)
    student = fenchel.BetaGaussian.student(5, 0.2, 1.5)
    p = ft.BetaGaussian(student.alpha, real(student.mu), student.sigma2)
    np.testing.assert_allclose(p.log_prob(t), scipy.stats.t(5, 0.2, 1.5).logpdf(t), rtol=1e-12)
    np.testing.assert_allclose(p.cdf(t), scipy.stats.t(5, 0.2, 1.5).cdf(t), rtol=1e-12)


def test_derivatives_of_both_orders_in_both_modes(device):
    """In the argument, alpha, mu and sigma2 at once; for one of each kind of alpha."""
    alpha = real([0.6, 1.0, 1 + 1e-8, 1.5, 3.0], True, device)
    x, u = real([0.3, -0.4, 1.2, 0.2, -0.1], True, device), real([0.1, 0.3, 0.5, 0.8, 0.7], True, device)
    parameters = (alpha, real(0.1, True, device), real([1.3, 0.8, 1.0, 2.0, 0.7], True, device))

    def of(name):
        return lambda x, *parameters: getattr(ft.BetaGaussian(*parameters, validate_args=False), name)(x)

    def moments(*parameters):
        p = ft.BetaGaussian(*parameters, validate_args=False)
        return p.entropy() + 2 * p.tsallis_entropy() + 3 * p.variance

    def rsample(*parameters):
        torch.manual_seed(3)
        return ft.BetaGaussian(*parameters, validate_args=False).rsample((2,))

    smooth = [(of("log_prob"), (x, *parameters)), (of("cross_omega"), (x, *parameters)), (moments, parameters)]
    for f, inputs in [*smooth, (rsample, parameters), (of("cdf"), (x, *parameters)), (of("icdf"), (u, *parameters))]:
        assert gradcheck(f, inputs, check_forward_ad=True, check_batched_grad=True, atol=1e-6)
    for f, inputs in [*smooth, (rsample, parameters), (of("cdf"), (x, *parameters)), (of("icdf"), (u, *parameters))]:
        assert gradgradcheck(f, inputs, check_fwd_over_rev=True, atol=1e-5)


@pytest.mark.parametrize("alpha", [0.7, 1.0, 1.5, 2.0, 5.0, math.inf])
def test_off_the_support_the_gradient_is_zero(alpha):
    x, parameters = real([0.0, 30.0, math.inf], True), (real(alpha, True), real(0.0, True), real(1.0, True))
    p = ft.BetaGaussian(*parameters)
    assert p.log_prob(x)[2] == -math.inf and p.cdf(x)[2] == 1
    for at in (2,) if alpha <= 1 else (1, 2):
        assert p.log_prob(x)[at] == -math.inf
        for f in (p.log_prob, p.cdf):
            for gradient in torch.autograd.grad(f(x)[at], (x, *parameters)):
                assert (gradient == 0).all()


@pytest.mark.parametrize("alpha", [0.7, 1.0, 1.5, 3.0])
def test_the_density_has_mass_one_and_the_cdf_is_its_integral(alpha):
    p = ft.BetaGaussian(alpha, real(0.3), 1.7)
    low, high = (float(end) for end in p.active_support())

    def density(t):
        return float(p.log_prob(real(t)).exp())

    assert scipy.integrate.quad(density, low, high)[0] == pytest.approx(1, abs=1e-8)
    assert scipy.integrate.quad(density, low, 0.5)[0] == pytest.approx(float(p.cdf(real(0.5))), abs=1e-8)


@pytest.mark.parametrize("alpha", [0.6, 1.0, 1 + 1e-8, 1.5, 2.0, 1e6, math.inf])
def test_draws_follow_the_law(alpha):
    p = ft.BetaGaussian(alpha, real([0.3, -2.0]), real([1.7, 0.1]))
    torch.manual_seed(5)
    t = p.sample((2000,))
    torch.manual_seed(5)
    assert (t == p.sample((2000,))).all()
    assert (t != p.sample((2000,))).all()
    assert not t.requires_grad
    assert torch.isfinite(p.log_prob(t)).all()
    for column in p.cdf(t).unbind(1):
        assert scipy.stats.kstest(column.numpy(), "uniform").pvalue > 1e-3


def test_a_loss_of_draws_has_the_gradient_of_its_mean():
    """E[(t - mu)^2] is the variance, whose derivatives are known."""
    alpha, sigma2 = real(1.6, True), real(1.4, True)
    p = ft.BetaGaussian(alpha, real(0.5), sigma2)
    torch.manual_seed(6)
    drawn = torch.autograd.grad(((p.rsample((100000,)) - 0.5) ** 2).mean(), (alpha, sigma2))
    exact = torch.autograd.grad(p.variance, (alpha, sigma2))
    for a, b in zip(drawn, exact):
        assert float(a) == pytest.approx(float(b), rel=0.02)


@pytest.mark.parametrize("alpha", [0.8, 1.0, 1.5, 2.0, 5.0])
def test_cross_omega_is_least_where_the_moments_match(alpha):
    x = real([-0.3, 0.1, 0.9, 1.7])
    matched = fenchel.BetaGaussian.from_variance(alpha, float(x.mean()), float(x.var(correction=0)))
    mu, sigma2 = real(matched.mu, True), real(matched.sigma2, True)
    loss = ft.BetaGaussian(alpha, mu, sigma2).cross_omega(x).mean()
    for gradient in torch.autograd.grad(loss, (mu, sigma2)):
        assert abs(float(gradient)) < 1e-13
    assert ft.BetaGaussian(alpha, mu + 0.1, sigma2 * 1.1).cross_omega(x).mean() > loss


@pytest.mark.parametrize("alpha", [1e-300, 0.013538823323729033, 0.1, 1 / 3])
def test_the_loss_exists_above_a_third(alpha):
    """Below, its parts are infinite, and their sum was NaN; fenchel refuses it too."""
    p = ft.BetaGaussian(real([0.7, alpha]), real(0.3), 1.3, validate_args=True)
    with pytest.raises(ValueError, match=f"fenchel_young: alpha must be above 0.333.*, got {alpha}"):
        p.fenchel_young(p)
    one = fenchel.BetaGaussian(alpha, 0.3, 1.3)
    with pytest.raises(ValueError, match="alpha must be above 1/3"):
        one.fenchel_young(one)
    assert ft.BetaGaussian(0.34, real(0.3), 1.3).fenchel_young(ft.BetaGaussian(0.34, real(0.3), 1.3)).abs() < 1e-9


@pytest.mark.parametrize("alpha", [*ALPHAS, 226870200129.1265])
def test_the_loss_is_zero_at_the_prediction(alpha):
    """Its parts are of the size of 1 / sigma2 for a large alpha, and their roundings were left."""
    for sigma2 in (1e-12, 4.769510059875314e-10, 0.3, 1e9):
        p, twin = (ft.BetaGaussian(alpha, real(-2.9), sigma2) for _ in range(2))
        assert p.fenchel_young(twin) == 0


def test_the_loss_has_derivatives_near_the_prediction_and_apart():
    alpha = real([0.6, 1.0, 1.5, 3.0], True)
    one, other = (real(0.1, True), real([1.3, 0.8, 1.0, 2.0], True)), (real(0.3, True), real([1.5, 0.1, 7.0, 1.9], True))

    def loss(alpha, mu, sigma2, target_mu, target_sigma2):
        target = ft.BetaGaussian(alpha, target_mu, target_sigma2, validate_args=False)
        return ft.BetaGaussian(alpha, mu, sigma2, validate_args=False).fenchel_young(target)

    found = loss(alpha, *one, *other).tolist()
    for value, a, s, t in zip(found, alpha.tolist(), one[1].tolist(), other[1].tolist()):
        assert value == pytest.approx(fenchel.BetaGaussian(a, 0.1, s).fenchel_young(fenchel.BetaGaussian(a, 0.3, t)))
    assert gradcheck(loss, (alpha, *one, *other), check_forward_ad=True, check_batched_grad=True, atol=1e-6)
    assert gradgradcheck(loss, (alpha, *one, *other), check_fwd_over_rev=True, atol=1e-5)


@pytest.mark.parametrize("alpha", [0.02, 0.4, 1.0, 1.5])
def test_far_out_and_at_infinity(alpha):
    """Distances beyond 1e250 were taken for 1e250, and gradients at infinity were NaN for a narrow density."""
    for sigma2 in (2.3e-308, 1e-30, 1.0, 1e200, 1e308):
        wide, reference = ft.BetaGaussian(alpha, real(2.8), sigma2), fenchel.BetaGaussian(alpha, 2.8, sigma2)
        t = reference.ppf([1e-5, 0.01, 0.3, 0.9, 0.9999])
        np.testing.assert_allclose(wide.log_prob(torch.from_numpy(t)), reference.logpdf(t), rtol=1e-12)
        np.testing.assert_allclose(wide.cdf(torch.from_numpy(t)), reference.cdf(t), rtol=1e-12)
        leaves = [real(x, True) for x in ([-math.inf, math.inf], alpha, 2.8, sigma2)]
        p = ft.BetaGaussian(*leaves[1:])
        assert (p.log_prob(leaves[0]) == -math.inf).all()
        assert p.cdf(leaves[0]).tolist() == [0, 1]
        for f in (p.log_prob, p.cdf):
            for gradient in torch.autograd.grad(f(leaves[0]).sum(), leaves):
                assert gradient.isfinite().all()


@pytest.mark.parametrize("alpha", [4 / 3, 2.0, 2.7, math.inf])
def test_a_member_that_doubles_do_not_resolve_is_that_of_the_library(alpha):
    p, reference = ft.BetaGaussian(alpha, real(1e20), 1e-307), fenchel.BetaGaussian(alpha, 1e20, 1e-307)
    t = np.array([np.nextafter(1e20, 0), 1e20, np.nextafter(1e20, math.inf)])
    np.testing.assert_array_equal(reference.cdf(t), [0, 0.5, 1])
    np.testing.assert_array_equal(p.cdf(torch.from_numpy(t)), [0, 0.5, 1])


def test_shapes_expand_and_validation():
    p = ft.BetaGaussian(torch.tensor([[1.0], [2.0]]), torch.zeros(3), 2.0)
    assert p.batch_shape == (2, 3) and p.event_shape == () and p.rsample((4,)).shape == (4, 2, 3)
    wide = p.expand((5, 2, 3))
    assert wide.batch_shape == (5, 2, 3) and wide.log_prob(torch.zeros(3)).shape == (5, 2, 3)
    assert (wide.entropy() == p.entropy()).all()
    empty = ft.BetaGaussian(1.5, torch.zeros(0, 3))
    assert empty.rsample((2,)).shape == (2, 0, 3) and empty.log_prob(torch.zeros(0, 3)).shape == (0, 3)
    assert empty.entropy().shape == (0, 3)
    for bad in (
        {"alpha": -1.0},
        {"alpha": math.nan},
        {"sigma2": 0.0},
        {"sigma2": real(5e-324)},
        {"sigma2": math.inf},
        {"mu": math.nan},
        {"mu": math.inf},
    ):
        with pytest.raises(ValueError, match=next(iter(bad))):
            ft.BetaGaussian(**{"alpha": 1.5, "mu": torch.tensor(0.0), **bad}, validate_args=True)
    with pytest.raises(ValueError, match=r"alpha\[0\] must be above 0, got -1"):
        ft.BetaGaussian(-1.0, validate_args=False).entropy()


def test_inside_of_other_distributions():
    scores, mu, sigma2 = real([0.3, -0.2]), real([0.0, 2.0]), real([1.0, 0.5])
    p = ft.BetaGaussian(1.5, mu, sigma2)
    mixture = distributions.MixtureSameFamily(distributions.Categorical(logits=scores), p)
    x = real([-0.5, 0.3, 2.2])
    by_hand = (scores.softmax(0) * p.log_prob(x[:, None]).exp()).sum(1).log()
    torch.testing.assert_close(mixture.log_prob(x), by_hand)
    torch.testing.assert_close(mixture.cdf(x), (scores.softmax(0) * p.cdf(x[:, None])).sum(1))
    assert mixture.sample((7,)).shape == (7,)
    independent = distributions.Independent(p, 1)
    torch.testing.assert_close(independent.log_prob(x[:2]), p.log_prob(x[:2]).sum())
    assert independent.rsample((3,)).shape == (3, 2)
    moved = distributions.TransformedDistribution(p, [distributions.AffineTransform(1.0, -2.0)])
    torch.testing.assert_close(moved.log_prob(1 - 2 * x[:2]), p.log_prob(x[:2]) - math.log(2))


def test_kl_against_a_normal():
    p = ft.BetaGaussian(2.0, real(0.4), 1.3)
    q = distributions.Normal(real(0.0), real(1.1))
    low, high = (float(end) for end in p.active_support())
    t = torch.linspace(low, high, 20001, dtype=F64)[1:-1]
    log_p = p.log_prob(t)
    by_sum = (log_p.exp() * (log_p - q.log_prob(t))).sum() * (t[1] - t[0])
    torch.testing.assert_close(distributions.kl_divergence(p, q), by_sum, atol=1e-6, rtol=0)


def test_an_alpha_that_is_not_learned_costs_no_integral():
    class Calls(TorchDispatchMode):
        in_alpha = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if "gradient" in str(func):
                self.in_alpha.append(args[-1])
            return func(*args, **(kwargs or {}))

    sigma2, u = real([0.1, 0.2], True), real([0.3, 0.6])
    with Calls() as calls:
        for alpha in (1.5, real(1.5, True)):
            p = ft.BetaGaussian(alpha, 0.0, sigma2)
            (p.cdf(u) + p.icdf(u)).sum().backward()
            torch.func.jvp(lambda s, alpha=alpha: ft.BetaGaussian(alpha, 0.0, s).cdf(u), (sigma2,), (u,))
    assert calls.in_alpha == [False] * 3 + [True] * 2 + [False]
    numbers = (real([0.2, 0.3]), real([0.1, 0.2]), real([1.5, 1.0]))
    for name in ("cdf", "quantile"):
        some, all_ = (ops.beta_gaussian_gradient(*numbers, name, 1, wanted) for wanted in (False, True))
        assert torch.equal(some[:, :2], all_[:, :2]) and some[:, 2].isnan().all() and all_.isfinite().all()


def test_operations_and_transforms():
    x, log_det, alpha = real([0.2, 0.5], True), real([0.1, -0.3], True), real([1.5, 1.0], True)
    for name in ("log_density", "cdf"):
        torch.library.opcheck(torch.ops.fenchel.beta_gaussian, (x, log_det, alpha, name, 1))
    numbers = (x.detach(), log_det.detach(), alpha.detach())
    torch.library.opcheck(torch.ops.fenchel.beta_gaussian_gradient, (*numbers, "cdf", 1, True))
    torch.library.opcheck(torch.ops.fenchel.beta_gaussian_hessian, (None, *numbers[1:], "entropy", 3, True))
    torch.library.opcheck(torch.ops.fenchel.beta_gaussian_directions, (real([3.0, 4.0]), 3))

    def log_prob(x, alpha, mu, sigma2):
        return ft.BetaGaussian(alpha, mu, sigma2, validate_args=False).log_prob(x)

    args = (real([0.2, -0.5]), real([1.5, 2.0]), real([0.1, 0.0]), real([1.0, 2.0]))
    each = torch.stack([log_prob(*(a[i] for a in args)) for i in range(2)])
    torch.testing.assert_close(torch.func.vmap(log_prob)(*args), each)
    hessian = torch.func.vmap(torch.func.hessian(log_prob, argnums=(0, 1, 2, 3)))(*args)
    assert torch.isfinite(torch.stack([h for row in hessian for h in row])).all()
    compiled = torch.compile(log_prob, fullgraph=True, backend="aot_eager")
    leaves = [a.clone().requires_grad_() for a in args]
    torch.testing.assert_close(compiled(*leaves), log_prob(*leaves))
    for a, b in zip(*(torch.autograd.grad(f(*leaves).sum(), leaves) for f in (compiled, log_prob))):
        torch.testing.assert_close(a, b)

    def rsample(alpha):
        return ft.BetaGaussian(alpha, real(0.0), validate_args=False).rsample()

    drawn = torch.func.vmap(rsample, randomness="different")(real([1.5, 1.5]))
    assert drawn[0] != drawn[1]
    drawn = torch.func.vmap(rsample, randomness="same")(real([1.5, 1.5]))
    assert drawn[0] == drawn[1]


def test_the_functions_of_the_rule_are_named():
    with pytest.raises(ValueError, match="function must be"):
        _beta_gaussian(None, real(0.0), real(1.0), "no such function", 1)
