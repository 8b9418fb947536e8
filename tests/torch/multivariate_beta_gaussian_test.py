"""MultivariateBetaGaussian in torch: the numbers of the library, laws, and derivatives of both orders."""

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
import torch
from torch import distributions
from torch.autograd import gradcheck, gradgradcheck

import fenchel
import fenchel.torch as ft

F64 = torch.float64
ALPHAS = [0.8, 1.0, 1.0 + 2.0**-52, 1 + 1e-8, 4 / 3, 1.5, 2.0, 5.0, 1e6, math.inf]


def case(n):
    """mu and Sigma."""
    generator = torch.Generator().manual_seed(n)
    a = torch.randn(n, n, generator=generator, dtype=F64) / 2
    return torch.randn(n, generator=generator, dtype=F64), a @ a.T + 0.5 * torch.eye(n, dtype=F64)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_numbers_are_those_of_the_library(alpha, n):
    mu, Sigma = case(n)
    p = ft.MultivariateBetaGaussian(alpha, mu, Sigma)
    reference = fenchel.MultivariateBetaGaussian(alpha, mu.numpy(), Sigma.numpy())
    t = mu + 0.4 * torch.randn(5, n, generator=torch.Generator().manual_seed(7), dtype=F64)
    t[0] += 100
    np.testing.assert_allclose(p.log_prob(t), reference.logpdf(t.numpy()), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(p.entropy(), reference.entropy(), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(p.tsallis_entropy(), reference.tsallis_entropy(alpha), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(p.covariance_matrix, reference.cov(), rtol=1e-12)
    np.testing.assert_allclose(p.cross_omega(t[1]), reference.cross_omega(t[1].numpy()), rtol=1e-12)
    by_factor = ft.MultivariateBetaGaussian(alpha, mu, scale_tril=torch.linalg.cholesky(Sigma))
    torch.testing.assert_close(by_factor.log_prob(t), p.log_prob(t))
    torch.testing.assert_close(by_factor.Sigma, Sigma)
    low = ft.MultivariateBetaGaussian(alpha, mu.float(), Sigma.float())
    assert low.log_prob(t.float()).dtype == low.rsample().dtype == low.covariance_matrix.dtype == torch.float32


@pytest.mark.parametrize("n", [2, 3])
def test_derivatives_of_both_orders_in_both_modes(n, device):
    mu, Sigma = (x.to(device) for x in case(n))
    alpha = torch.tensor([0.8, 1.5], dtype=F64, device=device, requires_grad=True)
    factor = torch.linalg.cholesky(Sigma).requires_grad_()
    inputs = ((mu + 0.1).requires_grad_(), alpha, mu.requires_grad_(), factor)

    def functions(x, alpha, mu, factor):
        torch.manual_seed(3)
        p = ft.MultivariateBetaGaussian(alpha, mu, factor @ factor.mT, validate_args=False)
        values = p.log_prob(x), p.cross_omega(x), p.entropy(), p.tsallis_entropy(), p.covariance_matrix[..., 0, 1]
        return torch.cat([torch.stack(values, -1), p.rsample()], -1)

    assert gradcheck(functions, inputs, check_forward_ad=True, check_batched_grad=True, atol=1e-6, fast_mode=True)
    if n == 2:
        assert gradgradcheck(functions, inputs, check_fwd_over_rev=True, atol=1e-5, fast_mode=True)


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("alpha", [0.8, 1.0, 1.5, 2.0, 1e6, math.inf])
def test_draws_follow_the_law(alpha, n):
    """The squared radius has the beta distribution of docs/math.md 4, or F's, and directions do not depend on it."""
    mu, Sigma = case(n)
    p = ft.MultivariateBetaGaussian(alpha, mu, Sigma)
    torch.manual_seed(8)
    t = p.sample((4000,))
    torch.manual_seed(8)
    assert (t == p.sample((4000,))).all()
    z = torch.linalg.solve_triangular(torch.linalg.cholesky(Sigma), (t - mu).T, upper=False)
    q = z.square().sum(0).numpy()
    if alpha == 1:
        law = scipy.stats.chi2(n)
    elif alpha > 1:
        law = scipy.stats.beta(n / 2, 1 + 1 / (alpha - 1), scale=float(p.active_support()[2]))
    else:
        nu = 2 / (1 - alpha) - n
        law = scipy.stats.f(n, nu, scale=n * float(p._function("log_variance").exp()) * (nu - 2) / nu)
    assert scipy.stats.kstest(q, law.cdf).pvalue > 1e-3
    cosine = (z[0] / z.norm(dim=0)).numpy()
    assert scipy.stats.kstest(cosine**2, scipy.stats.beta(0.5, (n - 1) / 2).cdf).pvalue > 1e-3
    assert abs(np.corrcoef(cosine**2, q)[0, 1]) < 0.06


@pytest.mark.parametrize("alpha", [1.2, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("n", [2, 3])
def test_the_constant_of_cross_omega_is_that_of_the_definition(alpha, n):
    """Omega*(f) = E_p[f] - Omega(p) by quadrature, and its derivative in alpha by the envelope: spcdist is off by
    n / (2 alpha), which is not constant in alpha."""
    order = torch.tensor(alpha, dtype=F64, requires_grad=True)
    p = ft.MultivariateBetaGaussian(order, torch.zeros(n, dtype=F64), torch.eye(n, dtype=F64))
    fixed = ft.MultivariateBetaGaussian(alpha, p.mu, p.Sigma)
    end = float(fixed.active_support()[2].sqrt())
    area = 2 * math.pi ** (n / 2) / math.gamma(n / 2)

    def radial(g):
        def shell(r):
            log_p = float(fixed.log_prob(torch.tensor([r] + [0.0] * (n - 1), dtype=F64)))
            return area * r ** (n - 1) * math.exp(log_p) * g(r, log_p)

        return scipy.integrate.quad(shell, 0, end * (1 - 1e-12), limit=200)[0]

    def negentropy_term(log_p, alpha):
        return math.expm1((alpha - 1) * log_p) / (alpha * (alpha - 1))

    h = 1e-4
    value = radial(lambda r, log_p: -r * r / 2 - negentropy_term(log_p, alpha))
    slope = radial(lambda r, log_p: -(negentropy_term(log_p, alpha + h) - negentropy_term(log_p, alpha - h)) / (2 * h))
    loss = p.cross_omega(torch.zeros(n, dtype=F64))
    (gradient,) = torch.autograd.grad(loss, order)
    assert float(loss.detach()) == pytest.approx(value, rel=1e-6)
    assert float(gradient) == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize("alpha", [0.8, 1.0, 1.5, 2.0])
def test_cross_omega_is_least_where_the_moments_match(alpha):
    x = torch.randn(20, 2, generator=torch.Generator().manual_seed(9), dtype=F64)
    matched = fenchel.MultivariateBetaGaussian.from_covariance(alpha, x.mean(0).numpy(), np.cov(x.numpy().T, bias=True))
    mu = torch.tensor(matched.mu, requires_grad=True)
    Sigma = torch.tensor(matched.Sigma, requires_grad=True)
    p = ft.MultivariateBetaGaussian(alpha, mu, Sigma)
    for gradient in torch.autograd.grad(p.cross_omega(x).mean(), (mu, Sigma)):
        assert gradient.abs().max() < 1e-13
    other = ft.MultivariateBetaGaussian(alpha, mu + 0.1, 1.1 * Sigma)
    assert other.cross_omega(x).mean() > p.cross_omega(x).mean()
    assert other.fenchel_young(p) > 1e-4
    torch.testing.assert_close(p.fenchel_young(p), torch.zeros((), dtype=F64), atol=1e-14, rtol=0)
    if alpha == 1:
        normal, target = (distributions.MultivariateNormal(q.mu, q.Sigma) for q in (other, p))
        torch.testing.assert_close(other.fenchel_young(p), distributions.kl_divergence(target, normal))
        torch.testing.assert_close(distributions.kl_divergence(p, normal), distributions.kl_divergence(target, normal))


def test_kl_against_a_normal_is_its_mean_over_draws():
    mu, Sigma = case(2)
    p, q = ft.MultivariateBetaGaussian(1.5, mu, Sigma), distributions.MultivariateNormal(mu + 0.3, Sigma * 1.2)
    torch.manual_seed(10)
    t = p.sample((40000,))
    mean = float((p.log_prob(t) - q.log_prob(t)).mean())
    assert mean == pytest.approx(float(distributions.kl_divergence(p, q)), rel=0.02)


def test_shapes_expand_validation_and_transforms():
    mu, Sigma = case(3)
    p = ft.MultivariateBetaGaussian(torch.tensor([[1.0], [2.0]]), mu.expand(4, 3), Sigma)
    assert p.batch_shape == (2, 4) and p.event_shape == (3,) and p.rsample((5,)).shape == (5, 2, 4, 3)
    assert p.mean.shape == p.mode.shape == p.variance.shape == p.stddev.shape == (2, 4, 3)
    wide = p.expand((6, 2, 4))
    assert wide.log_prob(mu).shape == (6, 2, 4) and (wide.entropy() == p.entropy()).all()
    assert wide.rsample().shape == (6, 2, 4, 3)
    empty = ft.MultivariateBetaGaussian(1.5, torch.zeros(0, 3), torch.eye(3))
    assert empty.rsample((2,)).shape == (2, 0, 3) and empty.log_prob(torch.zeros(0, 3)).shape == (0,)
    for bad in ({"alpha": 0.3}, {"Sigma": -torch.eye(3)}, {"Sigma": torch.eye(2)}, {"Sigma": None}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            ft.MultivariateBetaGaussian(**{"alpha": 1.5, "mu": mu, "Sigma": Sigma, **bad}, validate_args=True)
    heavy = ft.MultivariateBetaGaussian(0.6, mu, Sigma, validate_args=True)
    with pytest.raises(ValueError, match=r"fenchel_young: alpha must be above 0.6, got 0.6"):
        heavy.fenchel_young(heavy)
    weights = distributions.Categorical(logits=torch.zeros(2, 4))
    mixture = distributions.MixtureSameFamily(weights, p)
    torch.testing.assert_close(mixture.log_prob(mu), p.log_prob(mu).logsumexp(-1) - math.log(4))

    def log_prob(x, alpha, mu, Sigma):
        return ft.MultivariateBetaGaussian(alpha, mu, Sigma, validate_args=False).log_prob(x)

    args = (mu + 0.1, torch.tensor(1.5, dtype=F64), mu, Sigma)
    compiled = torch.compile(log_prob, fullgraph=True, backend="aot_eager")
    leaves = [a.clone().requires_grad_() for a in args]
    for a, b in zip(*(torch.autograd.grad(f(*leaves), leaves) for f in (compiled, log_prob))):
        torch.testing.assert_close(a, b)
    batched = [torch.stack([a, a]) for a in args]
    torch.testing.assert_close(torch.func.vmap(log_prob)(*batched)[0], log_prob(*args))
