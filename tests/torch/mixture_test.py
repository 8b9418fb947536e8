"""Mixtures in torch: the numbers of NumPy, EM, gradients, and attention with several modes."""

import numpy as np
import pytest
import torch

import fenchel
import fenchel.torch as ft
from fenchel.torch._gaussian_em import _start
from fenchel.torch._linalg import eigh
from fenchel.torch.nn import ContinuousAttention

F64 = torch.float64
TWO = torch.tensor([0.2, 0.3, 0.01, 0.0, 0.0, 0.19, 0.3], dtype=F64)


def test_numbers_are_those_of_numpy():
    weights, mu, sigma2 = [0.25, 0.75], [-2.0, 2.0], [1.0, 0.5]
    ours = ft.Mixture(torch.tensor(weights, dtype=F64), ft.BetaGaussian(1.5, torch.tensor(mu, dtype=F64), torch.tensor(sigma2, dtype=F64)))
    theirs = fenchel.Mixture(weights, [fenchel.BetaGaussian(1.5, *x) for x in zip(mu, sigma2)])
    t = torch.linspace(-4, 4, 17, dtype=F64)
    np.testing.assert_allclose(ours.log_prob(t), theirs.logpdf(t.numpy()), rtol=1e-12)
    np.testing.assert_allclose(ours.cdf(t), theirs.cdf(t.numpy()), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose([ours.mean, ours.variance], [theirs.mean(), theirs.var()], rtol=1e-12)
    matrices = 0.3 * torch.eye(2, dtype=F64).expand(2, 2, 2)
    space = ft.Mixture(torch.tensor(weights, dtype=F64), ft.MultivariateBetaGaussian(2.0, torch.tensor([[0.0, 0], [1, 2]], dtype=F64), matrices))
    parts = [fenchel.MultivariateBetaGaussian(2, m, 0.3 * np.eye(2)) for m in ([0, 0], [1, 2])]
    at = torch.tensor([[0.1, 0.1], [1.0, 1.9]], dtype=F64)
    np.testing.assert_allclose(space.log_prob(at), fenchel.MultivariateMixture(weights, parts).logpdf(at.numpy()), rtol=1e-12)


def test_em_finds_what_numpy_finds():
    """The floor of NumPy is a bound, and that here is added."""
    floor = 1e-12
    found = fenchel.fit_mixture(2, TWO.numpy(), floor=floor).mixture
    p = ft.fit_mixture(2.0, TWO, floor=floor)
    np.testing.assert_allclose(p.weights, found.weights, rtol=1e-6)
    np.testing.assert_allclose(p.components.mu, [q.mu for q in found.components], rtol=1e-6)
    np.testing.assert_allclose(p.components.sigma2, [q.sigma2 for q in found.components], rtol=1e-4)
    one = ft.fit_mixture(1.5, TWO, components=1)
    mu, sigma2 = ft.match_weights(1.5, TWO)
    torch.testing.assert_close((one.components.mu[0], one.components.sigma2[0]), (mu, sigma2))
    batch = ft.fit_mixture(2.0, torch.stack([TWO, TWO.flip(0)]).expand(3, 2, 7))
    assert batch.batch_shape == (3, 2) and batch.components.batch_shape == (3, 2, 2)
    torch.testing.assert_close(batch.components.mu[0, 0], ft.fit_mixture(2.0, TWO).components.mu)


def rows_with_zeros(count, length, seed=1):
    """Of sum 1, a third of them zeros."""
    drawn = torch.rand(count, length, generator=torch.Generator().manual_seed(seed), dtype=F64)
    weights = (drawn - 0.33).clamp(min=0).square()
    return weights / weights.sum(-1, keepdim=True)


def raised(covariance, floor):
    values, vectors = np.linalg.eigh(covariance)
    return vectors @ (np.maximum(values, floor)[..., None] * np.swapaxes(vectors, -1, -2))


GRID = torch.tensor([[x, y] for y in range(4) for x in range(5)], dtype=F64)
# No place is halfway between two others: such ties are for rounding in NumPy, and for the first here.
SPACE = torch.rand(20, 3, generator=torch.Generator().manual_seed(3), dtype=F64)


@pytest.mark.parametrize("dimension", [0, 2, 3])
@pytest.mark.parametrize("components", [1, 2, 3])
@pytest.mark.parametrize("steps", [0, 3, 20])
def test_steps_are_those_of_numpy(dimension, components, steps):
    """A component is made of the shares that EM ends with: that is one step more. The floor of NumPy is a bound."""
    at, weights = SPACE[:, :dimension] if dimension else SPACE[:, 0].sort().values, rows_with_zeros(16, 20)
    p = ft.fit_mixture(1.0, weights, at, components, floor=1e-12, tolerance=0, max_iterations=steps)
    for k, row in enumerate(weights.numpy()):
        found = fenchel.fit_mixture(1, row, at.numpy(), components, tolerance=0, max_iterations=steps + 1).mixture
        np.testing.assert_allclose(p.weights[k], found.weights, atol=1e-9)
        np.testing.assert_allclose(p.components.mu[k], [q.mu for q in found.components], atol=1e-9)
        floor = 1e-6 * np.trace(np.atleast_2d(np.cov(at.numpy().T, aweights=row, ddof=0))) / max(dimension, 1)
        if dimension:
            ours, theirs = raised(p.components.Sigma[k].numpy(), floor), [q.cov() for q in found.components]
        else:
            ours, theirs = p.components.sigma2[k].clamp(min=floor).numpy(), [q.sigma2 for q in found.components]
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_cells_of_the_unit_interval_are_the_positions_unless_said():
    weights, cells = rows_with_zeros(16, 20), torch.from_numpy(fenchel.positions(20))
    p, q = ft.fit_mixture(1.5, weights), ft.fit_mixture(1.5, weights, cells)
    torch.testing.assert_close(p.components.mu, q.components.mu)
    torch.testing.assert_close(p.components.sigma2, q.components.sigma2)


@pytest.mark.parametrize("weights", [[0.05, 0.4, 0.1, 0.4, 0.05], [0.4, 0.05, 0.1, 0.05, 0.4]])
def test_ties_are_for_the_first(weights):
    """Centres, and the one that a place halfway between them belongs to, are not chosen by rounding."""
    for length in range(5, 30):
        places = (torch.arange(5, dtype=F64) + 0.5) / length - 2.5 / length
        assert _start(torch.tensor([weights], dtype=F64), places[None, :, None], 2).tolist() == [[1, 1, 0, 0, 0]]


def test_rows_end_where_numpy_ends():
    """Each on its own: those that are done do not move on with the others."""
    weights = rows_with_zeros(12, 30, seed=2)
    places = torch.rand(30, generator=torch.Generator().manual_seed(8), dtype=F64)
    p = ft.fit_mixture(1.0, weights, places, floor=1e-12, tolerance=1e-4)
    iterations = set()
    for k, row in enumerate(weights.numpy()):
        fit = fenchel.fit_mixture(1, row, places.numpy(), tolerance=1e-4)
        more = fenchel.fit_mixture(1, row, places.numpy(), tolerance=0, max_iterations=fit.iterations + 1).mixture
        np.testing.assert_allclose(p.components.mu[k], [q.mu for q in more.components], rtol=1e-9)
        iterations.add(fit.iterations)
    assert len(iterations) > 2


def test_long_rows_have_centres_at_even_steps_of_the_weight():
    weights = rows_with_zeros(2, 1200, seed=3)
    weights[1, 400:] = 0  # fewer than there may be candidates
    weights[1] /= weights[1].sum()
    places = torch.rand(1200, generator=torch.Generator().manual_seed(8), dtype=F64)
    p = ft.fit_mixture(1.0, weights, places, components=3, tolerance=0, max_iterations=4)
    for k, row in enumerate(weights.numpy()):
        found = fenchel.fit_mixture(1, row, places.numpy(), components=3, tolerance=0, max_iterations=5).mixture
        np.testing.assert_allclose(p.components.mu[k], [q.mu for q in found.components], rtol=1e-9)


@pytest.mark.parametrize("at", [None, GRID[:7]])
def test_components_without_positions_are_empty(at):
    """NumPy refuses these rows."""
    weights = torch.zeros(3, 7, dtype=F64)
    weights[0, 2] = weights[1, 6] = 1
    weights[2, [0, 5]] = torch.tensor([0.25, 0.75], dtype=F64)
    weights.requires_grad_()
    p = ft.fit_mixture(2.0, weights, at, 3)
    assert p.weights[:2].tolist() == [[1, 0, 0]] * 2 and p.weights[2].tolist() == [0.75, 0.25, 0]
    places = torch.from_numpy(fenchel.positions(7)) if at is None else at
    torch.testing.assert_close(p.components.mu[:2, 0], places[[2, 6]])
    torch.testing.assert_close(p.components.mu[2, :2], places[[5, 0]])
    (gradient,) = torch.autograd.grad(p.mean.square().sum(), weights)
    assert p.log_prob(places[0]).isfinite().any() and gradient.isfinite().all() and gradient.abs().sum() > 0
    single = ft.fit_mixture(2.0, torch.ones(1, 1))
    assert single.weights.tolist() == [[1, 0]] and single.components.mu[0, 0] == 0.5


@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
@pytest.mark.parametrize("padding", [0.0, 7.0, torch.nan])
@pytest.mark.parametrize("dtype", [F64, torch.float32, torch.bfloat16])
def test_padding_is_not_read(batch, padding, dtype):
    count = int(np.prod(batch))
    lengths = torch.tensor([9, 4, 12, 1, 7, 2])[:count].reshape(batch)
    weights = torch.rand(*batch, 12, generator=torch.Generator().manual_seed(4), dtype=F64)
    weights = weights.masked_fill(torch.arange(12) >= lengths[..., None], 0)
    weights = (weights / weights.sum(-1, keepdim=True)).to(dtype)
    padded = torch.where(torch.arange(12) < lengths[..., None], weights, padding).requires_grad_()
    options = {"components": 2, "tolerance": 0, "max_iterations": 4}
    p = ft.fit_mixture(1.5, padded, lengths=lengths, **options)
    assert p.batch_shape == batch and p.weights.dtype == p.components.mu.dtype == dtype
    (gradient,) = torch.autograd.grad(p.mean.sum() + p.components.sigma2.sum(), padded)
    rows = zip(weights.reshape(-1, 12), lengths.reshape(-1), gradient.reshape(-1, 12))
    for k, (row, length, slope) in enumerate(rows):
        cut = row[:length].clone().requires_grad_()
        q = ft.fit_mixture(1.5, cut, **options)
        torch.testing.assert_close(p.weights.reshape(-1, 2)[k], q.weights)
        torch.testing.assert_close(p.components.mu.reshape(-1, 2)[k], q.components.mu)
        torch.testing.assert_close(p.components.sigma2.reshape(-1, 2)[k], q.components.sigma2)
        (expected,) = torch.autograd.grad(q.mean.sum() + q.components.sigma2.sum(), cut)
        torch.testing.assert_close(slope[:length], expected)
        assert (slope[length:] == 0).all()


def test_lengths_of_rows_over_given_positions():
    at, lengths, weights = GRID[:12], torch.tensor([12, 5]), rows_with_zeros(2, 12)
    weights[1] = torch.cat([weights[1, :5] / weights[1, :5].sum(), torch.full((7,), torch.nan, dtype=F64)])
    p, q = ft.fit_mixture(1.5, weights, at, lengths=lengths), ft.fit_mixture(1.5, weights[1, :5], at[:5])
    torch.testing.assert_close(p.components.mu[1], q.components.mu)
    torch.testing.assert_close(p.components.Sigma[1], q.components.Sigma)


def test_derivatives_are_those_of_fixed_shares():
    """Of far clusters the shares are 0 and 1 however the weights move, so that differences find the gradient."""
    places = torch.tensor([0, 1, 2, 4, 200, 201, 203, 204], dtype=F64) / 204
    scores = torch.randn(2, 8, generator=torch.Generator().manual_seed(5), dtype=F64).requires_grad_()
    alpha = torch.tensor([[1.5, 2.0], [1.2, 3.0]], dtype=F64, requires_grad=True)

    def parts(scores, alpha):
        p = ft.fit_mixture(alpha, scores.softmax(-1), places, floor=1e-4, tolerance=0, max_iterations=3)
        return p.weights, p.components.mu, p.components.sigma2

    assert torch.autograd.gradcheck(parts, (scores, alpha))
    assert torch.autograd.gradgradcheck(parts, (scores, alpha))


@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_eigenvectors_without_waiting(size):
    x = torch.randn(50, size, size, generator=torch.Generator().manual_seed(6), dtype=F64)
    x = x @ x.mT
    x[0], x[1] = 0, 1
    values, vectors = eigh(x)
    torch.testing.assert_close(values.sort(-1).values, torch.linalg.eigvalsh(x), rtol=0, atol=1e-12)
    torch.testing.assert_close(vectors @ torch.diag_embed(values) @ vectors.mT, x, rtol=0, atol=1e-12)
    torch.testing.assert_close(vectors.mT @ vectors, torch.eye(size, dtype=F64).expand_as(x), rtol=0, atol=1e-13)


@pytest.mark.gpu
@pytest.mark.parametrize("at", [None, GRID], ids=["line", "plane"])
@pytest.mark.parametrize("padded", [False, True])
def test_a_graph_captures_a_fit(at, padded):
    lengths = torch.tensor([20, 9, 3, 14]) if padded else None
    scores = torch.randn(4, 20, generator=torch.Generator().manual_seed(7), dtype=F64)
    x = scores.cuda().requires_grad_()
    on_gpu = [None if t is None else t.cuda() for t in (at, lengths)]

    def step(x, at, lengths):
        if lengths is not None:
            x = x.masked_fill(torch.arange(20, device=x.device) >= lengths[:, None], -torch.inf)
        weights = x.softmax(-1)
        p = ft.fit_mixture(2.0, weights, at, 2, lengths=lengths, tolerance=0, max_iterations=5)
        mu, Sigma = p.components.mu, p.components.sigma2 if at is None else p.components.Sigma
        (gradient,) = torch.autograd.grad(mu.square().sum() + Sigma.sum() + p.weights.square().sum(), x)
        return p.weights.detach(), mu.detach(), Sigma.detach(), gradient

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step(x, *on_gpu)
        torch.cuda.set_sync_debug_mode("error")
        try:
            step(x, *on_gpu)
        finally:
            torch.cuda.set_sync_debug_mode("default")
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = step(x, *on_gpu)
    for seed in range(8, 10):
        scores = torch.randn(4, 20, generator=torch.Generator().manual_seed(seed), dtype=F64)
        with torch.no_grad():
            x.copy_(scores)
        graph.replay()
        torch.testing.assert_close(captured, step(x, *on_gpu))
        on_cpu = step(scores.requires_grad_(), at, lengths)
        torch.testing.assert_close(tuple(t.cpu() for t in captured), on_cpu, rtol=1e-7, atol=1e-9)


def test_the_mean_moves_with_the_weights():
    """The mean of the mixture is that of the weights, whatever the components are: so its gradient is known."""
    weights = TWO.clone().requires_grad_()
    p = ft.fit_mixture(2.0, weights)
    places = torch.from_numpy(fenchel.positions(7))
    torch.testing.assert_close(p.mean, (TWO * places).sum())
    (slope,) = torch.autograd.grad(p.mean, weights)
    torch.testing.assert_close(slope, places - (TWO * places).sum(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("grid", [(12,), (4, 5)])
def test_attention_with_two_modes(grid):
    values = torch.randn(2, *grid, 3, dtype=F64, generator=torch.Generator().manual_seed(1))
    scores = torch.full((2, *grid), -4.0, dtype=F64).flatten(1)
    scores[:, [0, -1]] = 1.0
    scores = scores.reshape(2, *grid).requires_grad_()
    if len(grid) == 1:
        basis = ft.GaussianBasis.linearly_spaced(6)
    else:
        basis = ft.MultivariateGaussianBasis.unit_square(3, 3, 0.05 * torch.eye(2, dtype=F64))
    attention = ContinuousAttention(basis, "continuous", components=2)
    context, attended = attention(values, scores)
    assert attended.modes.shape == attended.mu.shape[:2] == (2, 2)
    r = ft.continuous_attention(2.0, attended.mu, attended.Sigma, basis)
    by_hand = torch.einsum("bk,bkn,bnm->bm", attended.modes, r, attention.value_function(values))
    torch.testing.assert_close(context, by_hand)
    context.square().sum().backward()
    assert scores.grad.isfinite().all() and scores.grad.abs().sum() > 0
    assert attended.density().batch_shape == (2, 2)


@pytest.mark.parametrize("positions", ["centres", "ends"])
def test_attention_with_two_modes_over_padded_sequences(positions):
    generator = torch.Generator().manual_seed(2)
    values, scores = (torch.randn(2, 12, *last, dtype=F64, generator=generator) for last in ((3,), ()))
    attention = ContinuousAttention(ft.GaussianBasis.linearly_spaced(6), components=2, positions=positions)
    context, attended = attention(values, scores, lengths=torch.tensor([12, 7]))
    for row, length in enumerate([12, 7]):
        alone, cut = attention(values[row, :length], scores[row, :length])
        torch.testing.assert_close(context[row], alone)
        torch.testing.assert_close(attended.mu[row], cut.mu)


def test_errors_name_what_is_wrong():
    with pytest.raises(TypeError, match="components must be a BetaGaussian"):
        ft.Mixture(torch.tensor([1.0]), torch.distributions.Normal(torch.zeros(1), 1.0))
    with pytest.raises(ValueError, match="weights must have shape"):
        ft.fit_mixture(2.0, torch.tensor(1.0))
    with pytest.raises(ValueError, match="components must be positive, got 0"):
        ft.fit_mixture(2.0, TWO, components=0)
    with pytest.raises(ValueError, match="max_iterations must not be negative, got -1"):
        ft.fit_mixture(2.0, TWO, max_iterations=-1)
    with pytest.raises(ValueError, match="tolerance must not be negative, got nan"):
        ft.fit_mixture(2.0, TWO, tolerance=float("nan"))
    with pytest.raises(ValueError, match=r"weights\[0\]\[1\] must be .*, got -1"):
        ft.fit_mixture(2.0, torch.tensor([2.0, -1.0]))
    with pytest.raises(ValueError, match=r"lengths\[1\] must be in \[1, 7\], got 0"):
        ft.fit_mixture(2.0, TWO.expand(2, 7), lengths=torch.tensor([7, 0]))
    with pytest.raises(ValueError, match=r"lengths must have shape \(2,\), got \(3,\)"):
        ft.fit_mixture(2.0, TWO.expand(2, 7), lengths=torch.tensor([7, 7, 7]))
    with pytest.raises(ValueError, match=r"positions must have shape \(7,\) or \(7, D\), got \(3,\)"):
        ft.fit_mixture(2.0, TWO, torch.zeros(3))
