"""The modules of attention: the contexts of the library, padding that is not there, heads, mixtures, and what a module
of torch must stand."""

import copy
import io

import numpy as np
import pytest
import torch

import fenchel
from fenchel.torch import (
    ConcatenatedBasis,
    FourierBasis,
    FunctionBasis,
    GaussianBasis,
    MultivariateGaussianBasis,
    PolynomialBasis,
    continuous_attention,
    fit_mixture,
    sparsemax,
)
from fenchel.torch.nn import ContinuousAttention, Entmax, FusedmaxGrid, MultiheadContinuousAttention

LINE = GaussianBasis.linearly_spaced(6, sigma=0.2)
SQUARE = MultivariateGaussianBasis.unit_square(3, 4, 0.05 * torch.eye(2, dtype=torch.float64))
NUMPY_LINE = fenchel.GaussianBasis.linearly_spaced(6, sigma=0.2)
NUMPY_SQUARE = fenchel.MultivariateGaussianBasis.unit_square(3, 4, 0.05 * np.eye(2))


def random(*shape, seed=1, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def expected(values, scores, kind, alpha, weights_alpha=1.0, grid=None):
    """One context by the NumPy front end: values (L, M), scores (L,)."""
    h, w = values.numpy().T, fenchel.entmax(scores.numpy(), weights_alpha)
    basis = NUMPY_LINE if grid is None else NUMPY_SQUARE
    positions = None if grid is None else fenchel.grid_positions(*grid)
    p = fenchel.match_weights(alpha, w, positions)
    coefficients = fenchel.ridge_values(h, basis, 0.1, positions=positions)
    parts = {"discrete": h @ w, "continuous": coefficients @ fenchel.attend(p, basis)}
    return parts["discrete"] + parts["continuous"] if kind == "both" else parts[kind]


@pytest.mark.parametrize("kind", ["discrete", "continuous", "both"])
@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0, 5.0])
def test_contexts_are_those_of_the_library(kind, alpha):
    values, scores, lengths = random(4, 9, 3), random(4, 2, 9, seed=2), torch.tensor([9, 5, 2, 1])
    attention = ContinuousAttention(LINE, kind, alpha, weights=Entmax(1.5))
    contexts, attended = attention(values, scores, lengths=lengths)
    assert attended.weights.shape == scores.shape and contexts.shape == (4, 2, 3)
    for i, length in enumerate(lengths):
        for q in range(2):
            one = expected(values[i, :length], scores[i, q, :length], kind, alpha, 1.5)
            np.testing.assert_allclose(contexts[i, q], one, rtol=1e-9)


@pytest.mark.parametrize("kind", ["discrete", "continuous", "both"])
def test_grids(kind):
    values, scores = random(2, 4, 5, 3), random(2, 4, 5, seed=2)
    contexts, attended = ContinuousAttention(SQUARE, kind, 1.5)(values, scores)
    assert attended.weights.shape == (2, 4, 5)
    for i in range(2):
        one = expected(values[i].reshape(20, 3), scores[i].flatten(), kind, 1.5, grid=(4, 5))
        np.testing.assert_allclose(contexts[i], one, rtol=1e-9)


@pytest.mark.parametrize("kind", ["discrete", "continuous", "both"])
@pytest.mark.parametrize("queries", [(), (2,)], ids=str)
def test_neighbours_of_a_grid_may_share_their_weight(kind, queries):
    """FusedmaxGrid is the one module of weights that sees the grid, and not a row."""
    values, scores = random(3, 4, 5, 2), random(3, *queries, 4, 5, seed=2).requires_grad_()
    contexts, attended = ContinuousAttention(SQUARE, kind, 1.5, weights=FusedmaxGrid(0.2))(values, scores)
    assert contexts.shape == (3, *queries, 2) and attended.weights.shape == scores.shape
    for place in np.ndindex(3, *queries):
        weights = fenchel.fusedmax_grid(scores[place].detach().numpy(), 0.2)
        np.testing.assert_allclose(attended.weights[place].detach(), weights, rtol=1e-9, atol=1e-12)
        parts = {"discrete": np.einsum("hw,hwm->m", weights, values[place[0]].numpy())}
        at, h = fenchel.grid_positions(4, 5), values[place[0]].numpy().reshape(20, 2).T
        p = fenchel.match_weights(1.5, weights.ravel(), at)
        parts["continuous"] = fenchel.ridge_values(h, NUMPY_SQUARE, 0.1, positions=at) @ fenchel.attend(p, NUMPY_SQUARE)
        wanted = sum(parts.values()) if kind == "both" else parts[kind]
        np.testing.assert_allclose(contexts[place].detach(), wanted, rtol=1e-8)
    (gradient,) = torch.autograd.grad(contexts.square().sum(), scores)
    assert gradient.isfinite().all() and (gradient != 0).any()


CUBE = MultivariateGaussianBasis(
    torch.cartesian_prod(*[torch.tensor([0.0, 0.5, 1.0], dtype=torch.float64)] * 3), 0.05 * torch.eye(3, dtype=torch.float64)
)


def test_volumes_are_those_of_the_library():
    """A place is (x, y, z): x along the last dimension, z along the first."""
    values, scores = random(2, 3, 4, 2), random(2, 3, 4, seed=2)
    context, attended = ContinuousAttention(CUBE, "continuous", 1.5)(values, scores)
    z, y, x = np.meshgrid(*((np.arange(n) + 0.5) / n for n in (2, 3, 4)), indexing="ij")
    places = np.stack([x, y, z], -1).reshape(24, 3)
    p = fenchel.match_weights(1.5, fenchel.softmax(scores.flatten().numpy()), places)
    np.testing.assert_allclose(attended.mu, p.mu, rtol=1e-12)
    np.testing.assert_allclose(attended.Sigma, p.Sigma, rtol=1e-12)
    basis = fenchel.MultivariateGaussianBasis(CUBE.mu.numpy(), 0.05 * np.eye(3))
    coefficients = fenchel.ridge_values(values.reshape(24, 2).numpy().T, basis, 0.1, positions=places)
    np.testing.assert_allclose(context, coefficients @ fenchel.attend(p, basis), rtol=1e-6)


def test_y_grows_downwards():
    """A picture whose lower left pixel is looked at has its density there: at small x and large y."""
    scores = torch.full((4, 6), -torch.inf, dtype=torch.float64)
    scores[3, 0] = 0
    _, attended = ContinuousAttention(SQUARE)(random(4, 6, 3), scores)
    np.testing.assert_allclose(attended.mu, [0.5 / 6, 3.5 / 4], rtol=1e-12)


@pytest.mark.parametrize("positions", ["ends", "given"])
def test_positions_and_floor(positions):
    """The paper's: values at l / L, and no floor of the variance."""
    values, scores = random(7, 3), random(7, seed=2)
    places = np.arange(1, 8) / 7
    given = "ends" if positions == "ends" else torch.from_numpy(places)
    attention = ContinuousAttention(LINE, "continuous", 2.0, positions=given, floor=0.0)
    context, attended = attention(values, scores)
    p = fenchel.match_weights(2.0, fenchel.softmax(scores.numpy()), places, 0.0)
    np.testing.assert_allclose([attended.mu, attended.Sigma], [p.mu, p.sigma2], rtol=1e-11)
    coefficients = fenchel.ridge_values(values.numpy().T, NUMPY_LINE, 0.1, positions=places)
    np.testing.assert_allclose(context, coefficients @ fenchel.attend(p, NUMPY_LINE), rtol=1e-8)
    if positions == "given":
        with pytest.raises(ValueError, match="positions must be as many as values, 9, got 7"):
            attention(random(9, 3), random(9))
        with pytest.raises(ValueError, match="lengths must be None for positions that are given"):
            attention(values, scores, lengths=torch.tensor(7))
        return
    lengths = torch.tensor([7, 4])
    contexts, attended = attention(values.expand(2, 7, 3), scores.expand(2, 7), lengths=lengths)
    alone, of_four = attention(values[:4], scores[:4])
    np.testing.assert_allclose(contexts[0], context, rtol=1e-9)
    np.testing.assert_allclose(contexts[1], alone, rtol=1e-9)
    np.testing.assert_allclose(attended.mu[1], of_four.mu, rtol=1e-12)


def test_channels_may_be_first():
    values, scores = random(2, 4, 5, 3), random(2, 4, 5, seed=2)
    last, _ = ContinuousAttention(SQUARE)(values, scores)
    first, _ = ContinuousAttention(SQUARE, channels_first=True)(values.movedim(-1, 1), scores)
    assert (last == first).all()


@pytest.mark.parametrize(
    "basis",
    [
        PolynomialBasis(3, 0.5, 0.5),
        FourierBasis(2, 2.0),
        ConcatenatedBasis(GaussianBasis.linearly_spaced(4), PolynomialBasis(1)),
        FunctionBasis(lambda t: torch.stack([t, (3 * t).sin()], -1), 2),
    ],
)
def test_any_basis(basis):
    values, scores = random(2, 9, 3), random(2, 9, seed=2).requires_grad_()
    attention = ContinuousAttention(basis, "continuous", 1.5)
    context, attended = attention(values, scores)
    coefficients = attention.value_function(values)
    by_hand = continuous_attention(1.5, attended.mu, attended.Sigma, basis)[:, None] @ coefficients
    torch.testing.assert_close(context, by_hand[:, 0])
    context.sum().backward()
    assert scores.grad.isfinite().all() and (scores.grad != 0).any()
    assert torch.equal(copy.deepcopy(attention)(values, scores)[0], context)


def test_a_mask_takes_frames_out_wherever_they_are():
    attention = ContinuousAttention(LINE)
    mask = torch.tensor([[0, 0, 0, 0, 0, 1, 1], [1, 1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 1, 1, 0]]).bool()
    values, scores = random(3, 7, 2), random(3, 7, seed=2)
    values[mask], scores[mask] = torch.nan, torch.nan
    values.requires_grad_(), scores.requires_grad_()
    contexts, attended = attention(values, scores, key_padding_mask=mask)
    gradients = torch.autograd.grad(contexts.square().sum(), (values, scores))
    for i in range(3):
        kept = ~mask[i]
        v, s = (x[i, kept].detach().requires_grad_() for x in (values, scores))
        context, alone = attention(v, s)
        torch.testing.assert_close(contexts[i], context)
        torch.testing.assert_close(attended.weights[i, kept], alone.weights)
        for whole, part in zip(gradients, torch.autograd.grad(context.square().sum(), (v, s))):
            torch.testing.assert_close(whole[i, kept], part)
            assert (whole[i, mask[i]] == 0).all()
    trailing, _ = attention(values[:1], scores[:1], lengths=torch.tensor([5]))
    assert torch.equal(trailing, contexts[:1])


def test_nothing_to_attend_to_is_an_error():
    values, scores, mask = random(2, 4, 2), random(2, 4), torch.tensor([[False] * 4, [True] * 4])
    with pytest.raises(ValueError, match=r"lengths\[1\] must be .* got 0"):
        ContinuousAttention(LINE)(values, scores, key_padding_mask=mask)


@pytest.mark.parametrize("basis, grid", [(LINE, (5,)), (SQUARE, (2, 3))])
def test_gradients(basis, grid):
    attention = ContinuousAttention(basis, alpha=1.5, learned_alpha=True).double()

    def context(values, scores, raw):
        return torch.func.functional_call(attention, {"raw_alpha": raw}, (values, scores))[0]

    inputs = random(2, *grid, 2), random(2, *grid, seed=2), attention.raw_alpha.detach()
    assert torch.autograd.gradcheck(context, [x.requires_grad_() for x in inputs], fast_mode=True)


def test_a_learned_basis_gets_gradients():
    attention = ContinuousAttention(GaussianBasis.linearly_spaced(6, sigma=0.2, learned=True), "continuous")
    values, scores = random(2, 7, 2, dtype=torch.float32), random(2, 7, dtype=torch.float32)
    fixed, _ = ContinuousAttention(LINE, "continuous")(values, scores)
    contexts, _ = attention(values, scores, lengths=torch.tensor([7, 7]))
    torch.testing.assert_close(contexts, fixed, rtol=1e-4, atol=1e-5)
    contexts.sum().backward()
    assert all(p.grad.abs().max() > 0 for p in attention.parameters())


def test_a_density_may_be_given():
    attention, values, scores = ContinuousAttention(LINE, "continuous"), random(3, 8, 2), random(3, 8)
    contexts, attended = attention(values, scores)
    again, given = attention(values, density=(attended.mu, attended.Sigma))
    assert torch.equal(again, contexts) and given.weights is None


def test_mixtures_are_sums():
    attention, values, scores = ContinuousAttention(LINE), random(2, 8, 2), random(2, 5, 3, 8)
    mixing = sparsemax(random(2, 5, 3, seed=3))
    contexts, _ = attention(values, scores)
    mixed, attended = attention(values, scores, mixing=mixing)
    assert mixed.shape == (2, 5, 2) and attended.mu.shape == (2, 5, 3)
    torch.testing.assert_close(mixed, torch.einsum("bqk,bqkm->bqm", mixing, contexts))


@pytest.mark.parametrize("iterations", [1, 3])
def test_a_mixture_may_take_so_many_steps(iterations):
    values, scores, lengths = random(3, 12, 2), 2 * random(3, 12, seed=2), torch.tensor([12, 8, 5])
    attention = ContinuousAttention(LINE, "continuous", 2.0, components=2, iterations=iterations)
    contexts, attended = attention(values, scores, lengths=lengths)
    p = fit_mixture(2.0, attended.weights, components=2, lengths=lengths, tolerance=0, max_iterations=iterations)
    torch.testing.assert_close(attended.mu, p.components.mu)
    torch.testing.assert_close(attended.Sigma, p.components.sigma2)
    torch.testing.assert_close(attended.modes, p.weights)
    seen = p.weights.unsqueeze(-1) * continuous_attention(2.0, attended.mu, attended.Sigma, LINE)
    coefficients = attention.value_function(values, lengths)
    torch.testing.assert_close(contexts, torch.einsum("bkn,bnm->bm", seen, coefficients))


def test_many_steps_of_a_mixture_converge():
    values, scores = random(3, 12, 2), 2 * random(3, 12, seed=2)
    make = lambda iterations: ContinuousAttention(LINE, components=2, iterations=iterations)(values, scores)[0]
    converged = make(None)
    torch.testing.assert_close(make(1000), converged, rtol=1e-4, atol=1e-5)
    assert (make(1) - converged).abs().max() > 1e-3


def test_heads_have_their_own_densities():
    alphas = torch.tensor([1.0, 2.0]).reshape(2, 1)
    multihead = MultiheadContinuousAttention(6, 2, ContinuousAttention(LINE, alpha=alphas), kdim=5, vdim=4).double()
    query, key, value = random(3, 4, 6), random(3, 7, 5, seed=2), random(3, 7, 4, seed=3)
    mask = torch.arange(7) >= torch.tensor([7, 4, 1]).unsqueeze(-1)
    output, attended = multihead(query, key, value, mask)
    assert output.shape == (3, 4, 6) and attended.mu.shape == (3, 2, 4) and attended.weights.shape == (3, 2, 4, 7)
    heads = []
    for head in range(2):
        part = slice(3 * head, 3 * head + 3)
        q, k, v = (
            layer(x)[..., part]
            for layer, x in ((multihead.q_proj, query), (multihead.k_proj, key), (multihead.v_proj, value))
        )
        one = ContinuousAttention(LINE, alpha=float(alphas[head]))
        heads.append(one(v, q @ k.mT / 3**0.5, key_padding_mask=mask)[0])
    torch.testing.assert_close(output, multihead.out_proj(torch.cat(heads, -1)))

    key[mask], value[mask] = torch.nan, torch.nan
    padded, _ = multihead(query, key, value, mask)
    torch.testing.assert_close(padded, output)
    padded.sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in multihead.parameters())


def test_heads_over_a_grid():
    multihead = MultiheadContinuousAttention(6, 2, ContinuousAttention(SQUARE))
    image = random(2, 4, 5, 6, dtype=torch.float32)
    output, attended = multihead(image[:, 0], image, image)
    assert output.shape == (2, 5, 6) and attended.Sigma.shape == (2, 2, 5, 2, 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.half])
def test_types(dtype):
    values, scores = random(2, 9, 3), random(2, 9)
    attention = ContinuousAttention(LINE, alpha=1.5, learned_alpha=True)
    exact, _ = attention(values, scores)
    rounded, _ = copy.deepcopy(attention).to(dtype)(values.to(dtype), scores.to(dtype))
    assert rounded.dtype == dtype
    torch.testing.assert_close(rounded.double(), exact, rtol=0, atol=30 * torch.finfo(dtype).eps)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        under_autocast, _ = attention(values.float(), scores.float())
    torch.testing.assert_close(under_autocast.double(), exact, rtol=0, atol=0.2)


def test_strides_and_empty_batches():
    attention = ContinuousAttention(LINE)
    values, scores = random(2, 9, 3, 2).permute(3, 1, 2, 0)[..., 0], random(9, 2).T
    values = values.mT.contiguous().mT
    assert torch.equal(attention(values, scores)[0], attention(values.contiguous(), scores.contiguous())[0])
    contexts, _ = attention(values[:0], scores[:0], lengths=torch.empty(0, dtype=torch.int64))
    assert contexts.shape == (0, 3)
    assert attention(values, torch.empty(2, 0, 9, dtype=torch.float64))[0].shape == (2, 0, 3)


def test_it_is_a_module_like_others():
    def make(alphas, weights_alpha):
        weights = Entmax(weights_alpha, learned=True)
        return ContinuousAttention(LINE, alpha=torch.tensor(alphas), learned_alpha=True, weights=weights)

    attention = make([1.5, 2.0], 1.5)
    values, scores = random(3, 7, 2, dtype=torch.float32), random(3, 2, 7, dtype=torch.float32)
    contexts, _ = attention(values, scores)
    file = io.BytesIO()
    torch.save(attention, file)
    file.seek(0)
    for other in (copy.deepcopy(attention), torch.load(file, weights_only=False)):
        assert torch.equal(other(values, scores)[0], contexts)
    fresh = make([3.0, 3.0], 1.9)
    assert not torch.equal(fresh(values, scores)[0], contexts)
    fresh.load_state_dict(attention.state_dict())
    assert torch.equal(fresh(values, scores)[0], contexts)
    assert "alpha=tensor(2,), learned_alpha=True" in repr(attention)


def test_compiled():
    multihead = MultiheadContinuousAttention(4, 2, ContinuousAttention(LINE, alpha=1.5, learned_alpha=True))
    compiled = torch.compile(multihead, backend="aot_eager", fullgraph=True)
    x, mask = random(2, 7, 4, dtype=torch.float32), torch.arange(7) >= torch.tensor([[7], [4]])
    results = []
    for module in (multihead, compiled):
        multihead.zero_grad()
        output, attended = module(x, x, x, mask)
        output.square().sum().backward()
        results.append([output, attended.mu, *(p.grad for p in multihead.parameters())])
    for eager, graph in zip(*results):
        torch.testing.assert_close(graph, eager)


def test_exported_and_under_vmap():
    attention, values, scores = ContinuousAttention(LINE), random(3, 7, 2), random(3, 7)
    contexts, _ = attention(values, scores)
    exported = torch.export.export(attention, (values, scores), strict=False).module()
    torch.testing.assert_close(exported(values, scores)[0], contexts)
    torch.testing.assert_close(torch.vmap(lambda v, s: attention(v, s)[0])(values, scores), contexts)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"values": torch.ones(3)}, r"values must have shape \(\*batch, L, M\), got \(3,\)"),
        ({}, "either scores or, for the kind 'continuous', density must be given, got none for 'both'"),
        ({"density": (torch.ones(2), torch.ones(2))}, "got density for 'both'"),
        ({"scores": torch.ones(2, 4)}, r"scores must have shape \(2, \*queries, 5\), got \(2, 4\)"),
        ({"scores": torch.ones(5)}, r"scores must have shape \(2, \*queries, 5\), got \(5,\)"),
        ({"scores": torch.ones(2, 5), "lengths": torch.ones(3)}, r"lengths must have shape \(2,\)"),
        (
            {"scores": torch.ones(2, 5), "key_padding_mask": torch.ones(2, 5)},
            r"key_padding_mask must be of bool and shape \(2, 5\), got torch.float32",
        ),
    ],
)
def test_errors_say_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        ContinuousAttention(LINE)(**{"values": torch.ones(2, 5, 1), **arguments})


def test_settings_that_mean_nothing():
    for message, make in [
        ("kind must be one of both, continuous, discrete, got 'hard'", lambda: ContinuousAttention(LINE, "hard")),
        (
            "alpha must be finite and above 1 to be learned, got 1.0",
            lambda: ContinuousAttention(LINE, alpha=1.0, learned_alpha=True),
        ),
        ("iterations must be at least 1, got 0", lambda: ContinuousAttention(LINE, components=2, iterations=0)),
        ("components must be at least 1, got 0", lambda: ContinuousAttention(LINE, components=0)),
        ("floor must be finite and not negative, got -1", lambda: ContinuousAttention(LINE, floor=-1.0)),
        (
            "embed_dim must be a multiple of num_heads, got 6 and 4",
            lambda: MultiheadContinuousAttention(6, 4, ContinuousAttention(LINE)),
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            make()
