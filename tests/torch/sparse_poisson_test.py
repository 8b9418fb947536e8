"""SparsePoisson in torch: the numbers of the library, derivatives, and the manners of torch.distributions."""

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.distributions import Independent, Poisson

import fenchel
from fenchel.sklearn import SparsePoissonRegressor
from fenchel.torch import SparsePoisson

ALPHAS = [0.7, 0.9, 1 - 1e-8, 1.0, 1.0 + 2.0**-52, 1 + 1e-8, 4 / 3, 1.5, 2.0, 5.0, 1e6]
F64 = torch.float64
COUNTS = torch.arange(12, dtype=F64)


@pytest.mark.parametrize("alpha", [*ALPHAS, float("inf")])
@pytest.mark.parametrize("mu", [0.3, 3.0, 1e4])
def test_numbers_are_those_of_the_library(alpha, mu):
    reference = fenchel.SparsePoisson(alpha=alpha, mu=mu)
    p = SparsePoisson(alpha, torch.tensor(mu, dtype=F64))
    counts = COUNTS + np.floor(mu)
    for ours, theirs in [
        (p.log_prob(counts), reference.logpmf(counts)),
        (p.prob(counts), reference.pmf(counts)),
        (p.cdf(counts + 0.3), reference.cdf(counts + 0.3)),
        (p.icdf(torch.linspace(0.01, 0.99, 9, dtype=F64)), reference.ppf(np.linspace(0.01, 0.99, 9))),
        (p.mean, reference.mean()),
        (p.variance, reference.var()),
        (p.mode, reference.mode()),
        (p.entropy(), reference.entropy()),
        (p.tsallis_entropy(), reference.tsallis_entropy(alpha)),
        (p.tsallis_entropy(1.5), reference.tsallis_entropy(1.5)),
    ]:
        assert (ours.numpy() == theirs).all()
    loss = torch.tensor([reference.fenchel_young(int(k)) for k in counts], dtype=F64)
    torch.testing.assert_close(p.cross_omega(counts), loss, rtol=1e-12, atol=1e-13)


def test_poisson_at_alpha_one():
    mu = torch.tensor([0.5, 4.0, 30.0], dtype=F64)
    ours, theirs = SparsePoisson(1.0, mu), Poisson(mu)
    counts = COUNTS[:, None]
    torch.testing.assert_close(ours.log_prob(counts), theirs.log_prob(counts))
    torch.testing.assert_close(ours.cross_omega(counts), -theirs.log_prob(counts))
    torch.testing.assert_close(ours.mean, mu)
    torch.testing.assert_close(ours.variance, mu)
    far = torch.tensor(2000.0, dtype=F64)  # where probabilities are 0 in double
    torch.testing.assert_close(ours.log_prob(far), theirs.log_prob(far))


@pytest.mark.parametrize("alpha", ALPHAS[:-1])
def test_derivatives_in_log_mu_and_alpha_in_both_modes(alpha):
    log_mu = torch.tensor([0.4, 1.3], dtype=F64, requires_grad=True)
    alphas = torch.tensor(alpha, dtype=F64, requires_grad=abs(alpha - 1) > 0.05)
    counts = torch.tensor([[1.0, 3.0], [2.0, 4.0], [40.0, 0.0]], dtype=F64)

    def f(log_mu, alphas):
        p = SparsePoisson(log_mu=log_mu, alpha=alphas, validate_args=False)
        at_counts = [p.prob(counts), p.cdf(counts), p.cross_omega(counts), p.log_prob(counts[:2]).clamp_min(-1e9)]
        return (*at_counts, p.mean, p.variance, p.entropy(), p.tsallis_entropy(1.7))

    assert gradcheck(f, (log_mu, alphas), check_forward_ad=True, check_batched_grad=True)


def test_second_derivative_of_the_loss():
    log_mu = torch.tensor([0.4, 1.3], dtype=F64)
    count = torch.tensor([1.0, 5.0], dtype=F64)

    def loss(log_mu, alpha=2.0):
        return SparsePoisson(log_mu=log_mu, alpha=alpha, validate_args=False).cross_omega(count).sum()

    def mean(log_mu):
        return SparsePoisson(log_mu=log_mu, validate_args=False).mean

    torch.testing.assert_close(torch.func.hessian(loss)(log_mu), torch.func.jacrev(mean)(log_mu))
    torch.testing.assert_close(torch.func.jacrev(torch.func.grad(loss))(log_mu), torch.func.jacfwd(mean)(log_mu))
    hessian = torch.func.hessian(lambda a: loss(log_mu, a))(torch.tensor(1.5, dtype=F64))
    step = torch.tensor(1e-5, dtype=F64)
    slopes = [torch.func.grad(lambda a: loss(log_mu, a))(1.5 + sign * step) for sign in (1, -1)]
    torch.testing.assert_close(hessian, (slopes[0] - slopes[1]) / (2 * step), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("alpha", [0.7, 0.9, 1.0, 1 + 1e-8, 4 / 3, 1.5, 2.0])
def test_second_derivatives(alpha):
    log_mu = torch.tensor([0.4, 1.3], dtype=F64, requires_grad=True)
    alphas = torch.tensor(alpha, dtype=F64, requires_grad=True)
    counts = torch.tensor([[1.0, 3.0], [40.0, 0.0]], dtype=F64)

    def f(log_mu, alphas):
        p = SparsePoisson(log_mu=log_mu, alpha=alphas, validate_args=False)
        at_counts = [p.prob(counts), p.cdf(counts), p.cross_omega(counts), p.log_prob(counts[:1])]
        return (*at_counts, p.mean, p.variance, p.entropy(), p.tsallis_entropy(1.7))

    assert gradgradcheck(f, (log_mu, alphas), check_fwd_over_rev=alpha == 1.5)


def test_shapes_are_those_of_torch():
    p = SparsePoisson(torch.tensor([1.5, 2.0]), torch.rand(3, 1) + 1)
    assert (p.batch_shape, p.event_shape, p.mean.shape) == ((3, 2), (), (3, 2))
    assert p.sample().shape == (3, 2) and p.sample((4, 5)).shape == (4, 5, 3, 2)
    assert p.log_prob(torch.ones(7, 3, 2)).shape == p.log_prob(torch.ones(7, 1, 2)).shape == (7, 3, 2)
    assert p.expand((6, 3, 2)).log_prob(torch.ones(())).shape == (6, 3, 2)
    assert Independent(p, 1).log_prob(torch.ones(3, 2)).shape == (3,)
    wide = SparsePoisson(2.0, torch.rand(3, 1) + 1)
    torch.testing.assert_close(
        wide.log_prob(torch.ones(3, 4)), wide.expand((3, 4)).log_prob(torch.ones(3, 4)), rtol=0, atol=0
    )
    assert SparsePoisson(2, 3).mean.dtype == SparsePoisson().mean.dtype == torch.get_default_dtype()
    for shape in [(0,), (0, 3), (3, 0)]:
        empty = SparsePoisson(2.0, torch.ones(shape, requires_grad=True))
        assert empty.log_prob(torch.ones(shape)).shape == empty.mean.shape == shape
        assert empty.sample((2,)).shape == (2, *shape) and empty.sample((0,)).shape == (0, *shape)
        empty.cross_omega(torch.ones(shape)).sum().backward()
    assert "SparsePoisson(mu" in repr(p)


def test_each_number_is_of_its_own_distribution():
    mu = torch.tensor([[0.7, 2.0, 9.0]], dtype=F64).expand(2, 3)
    alpha = torch.tensor([[1.0], [2.0]], dtype=F64)
    counts = torch.arange(24, dtype=F64).reshape(4, 2, 3) % 5
    ours = SparsePoisson(alpha, mu).log_prob(counts)
    for k, i, j in np.ndindex(4, 2, 3):
        reference = fenchel.SparsePoisson(alpha=float(alpha[i, 0]), mu=float(mu[i, j]))
        assert ours[k, i, j] == reference.logpmf(float(counts[k, i, j]))


def test_samples_have_the_probabilities_and_obey_the_seed():
    p = SparsePoisson(1.5, torch.tensor([0.5, 6.0]))
    torch.manual_seed(3)
    draws = p.sample((20000,))
    torch.manual_seed(3)
    assert (p.sample((20000,)) == draws).all() and not draws.requires_grad
    frequencies = (draws == torch.arange(15.0)[:, None, None]).double().mean(1)
    probabilities = p.prob(torch.arange(15.0)[:, None]).double()
    assert (frequencies - probabilities).abs().max() < 5 * (0.25 / 20000) ** 0.5
    assert (frequencies[probabilities == 0] == 0).all()


def test_float32_is_rounded_once():
    mu = torch.tensor([0.3, 3.0, 1e4])
    p, wide = SparsePoisson(2.0, mu), SparsePoisson(2.0, mu.double())
    assert (p.entropy() == wide.entropy().float()).all() and p.entropy().dtype == torch.float32
    half = SparsePoisson(2.0, mu[:2].to(torch.bfloat16))
    assert half.mean.dtype == torch.bfloat16


def test_off_the_support_and_bad_arguments():
    mu = torch.tensor(3.0, requires_grad=True)
    p = SparsePoisson(2.0, mu)
    p.log_prob(torch.tensor([0.0, 9.0])).sum().backward()
    assert p.log_prob(torch.tensor(9.0)) == -torch.inf and mu.grad == 0
    assert SparsePoisson(2.0, 3.0, validate_args=False).log_prob(torch.tensor([-1.0, 2.5])).tolist() == [-torch.inf] * 2
    assert p.cdf(torch.tensor([-1.0, torch.inf])).tolist() == [0, 1]
    assert SparsePoisson(1.0, 3.0).icdf(torch.tensor([1.0])).item() == torch.inf
    nan = SparsePoisson(2.0, torch.tensor([torch.nan, 3.0]), validate_args=False)
    assert nan.mean.isnan().tolist() == [True, False]
    with pytest.raises(ValueError, match="mu"):
        SparsePoisson(2.0, torch.tensor([1.0, -1.0]), validate_args=True)
    with pytest.raises(ValueError, match="alpha"):
        SparsePoisson(-0.5, 1.0, validate_args=True)
    with pytest.raises(ValueError, match="only one of mu and log_mu may be given"):
        SparsePoisson(2.0, 1.0, log_mu=0.0)
    with pytest.raises(NotImplementedError, match="an alpha that is a number"):
        SparsePoisson(torch.tensor(1.5)).tsallis_entropy()
    with pytest.raises(ValueError, match="value"):
        SparsePoisson(2.0, 3.0, validate_args=True).log_prob(torch.tensor(2.5))
    with pytest.raises((ValueError, RuntimeError), match=r"mu must be positive and at most 2\^52, got -1"):
        SparsePoisson(2.0, -1.0, validate_args=False).mean  # noqa: B018
    with pytest.raises((ValueError, RuntimeError), match="must be a natural number, got -1"):
        SparsePoisson(2.0, 1.0, validate_args=False).cross_omega(torch.tensor(-1.0))


def test_count_regression_reaches_the_fit_of_the_library():
    generator = np.random.default_rng(5)
    features = generator.normal(size=(200, 2))
    counts = generator.poisson(np.exp(0.8 + features @ [0.5, -0.3]))
    x, y = torch.from_numpy(features), torch.from_numpy(counts).to(F64)
    parameters = torch.zeros(3, dtype=F64, requires_grad=True)
    optimizer = torch.optim.LBFGS([parameters], max_iter=200, tolerance_change=0, line_search_fn="strong_wolfe")

    def loss():
        optimizer.zero_grad()
        mean_loss = SparsePoisson(log_mu=x @ parameters[:2] + parameters[2]).cross_omega(y).mean()
        mean_loss.backward()
        return mean_loss

    optimizer.step(loss)
    fit = SparsePoissonRegressor(alpha=2.0, penalty=0).fit(features, counts)
    np.testing.assert_allclose(parameters.detach(), [*fit.coef_, fit.intercept_], atol=1e-6)


def test_transforms_and_compilation():
    log_mu = torch.tensor([0.4, 1.3, 2.0], dtype=F64)
    counts = torch.tensor([1.0, 3.0, 7.0], dtype=F64)

    def loss(log_mu, count):
        return SparsePoisson(log_mu=log_mu, validate_args=False).cross_omega(count)

    expected = loss(log_mu, counts)
    assert (torch.func.vmap(loss)(log_mu, counts) == expected).all()
    assert (torch.func.vmap(loss, (None, 0))(log_mu, counts.expand(2, 3)) == expected).all()
    per_example = torch.func.vmap(torch.func.grad(loss))(log_mu, counts)
    torch.testing.assert_close(per_example, SparsePoisson(log_mu=log_mu).mean - counts)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    x = log_mu.clone().requires_grad_()
    compiled(x, counts).sum().backward()
    torch.testing.assert_close(x.grad, per_example)


def test_opcheck():
    for alphas in [None, torch.tensor([[1.5], [2.0]], dtype=F64)]:
        mu = torch.tensor([[1.5], [3.0]], dtype=F64, requires_grad=True)
        args = (mu, alphas, torch.ones(2, 3, dtype=F64), 2.0, 4, 1.0)
        torch.library.opcheck(torch.ops.fenchel.sparse_poisson.default, args)
        torch.library.opcheck(torch.ops.fenchel.sparse_poisson_curvature.default, (mu.detach(), *args[1:]))
