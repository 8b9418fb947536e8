"""Laws of fenchel.torch: shapes and types without data, any strides, gradients, and the numbers of the Python package."""

from __future__ import annotations

import copy
import math
from typing import Any

import fenchel
import fenchel.torch as ft
import numpy as np
import torch
from arrays import Array
from laws import EPSILON, Function, must, must_agree, not_nan
from number_laws import spacing_mass

ROUNDING = {torch.float64: 4e-15, torch.float32: 4e-6, torch.bfloat16: 3e-2, torch.float16: 4e-3}
"""Of a sum or a difference of probabilities, in units of one."""


def tensor(x: Array, dtype: str = "float64") -> torch.Tensor:
    """In the type, with what it cannot hold cut to what it can."""
    kind = getattr(torch, dtype)
    wide = torch.from_numpy(np.array(x, float))
    return torch.where(wide.isinf(), wide, wide.clamp(-torch.finfo(kind).max, torch.finfo(kind).max)).to(kind)


def apart(x: torch.Tensor) -> torch.Tensor:
    """The same numbers in memory with gaps, the dimensions in another order."""
    wide = x.new_full([2 * n + 1 for n in reversed(x.shape)], math.nan)
    view = wide[tuple(slice(1, None, 2) for _ in x.shape)].permute(*reversed(range(x.dim())))
    return view.copy_(x)


def regular(x: torch.Tensor) -> torch.Tensor:
    """All of it is finite."""
    must("finite", np.isfinite(x.detach().double().numpy()), x.detach().double().numpy())
    return x


def within_type(values: torch.Tensor, loss: Function, scores: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """All of it is finite, or past the largest number of a type that is narrower than the loss in double."""
    if values.dtype == torch.float64:
        return regular(values)
    q = target.double()
    beyond = loss(scores.double(), q / q.sum(-1, keepdim=True)) > torch.finfo(values.dtype).max
    must("finite", (values.isfinite() | beyond).numpy(), values.detach().double().numpy())
    return values


def derivative(leaf: torch.Tensor) -> torch.Tensor:
    """By what was propagated backwards."""
    assert leaf.grad is not None
    return regular(leaf.grad)


def without_data(f: Function, *given: torch.Tensor) -> Any:
    """What f gives, whose shapes and types it also knows for tensors that have no data."""
    real, fake = f(*given), f(*(x.to("meta") for x in given))
    for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (real, fake))):
        must(f"meta: {other.shape}, {other.dtype}, real: {one.shape}, {one.dtype}", one.shape == other.shape)
        must(f"meta: {other.dtype}, real: {one.dtype}", one.dtype == other.dtype and other.is_meta)
    return real


def tensor_map(f: Function, scores: torch.Tensor, axes: int = 1) -> None:
    """Rows are distributions of the type of the scores, and their derivatives sum to zero."""
    p, along, rounding = regular(without_data(f, scores)), tuple(range(-axes, 0)), ROUNDING[scores.dtype]
    must(f"of type {p.dtype}", p.dtype == scores.dtype)
    mass = p.double().sum(along).numpy()
    must_agree("mass one", mass, np.ones(mass.shape), absolute=rounding * (1 + math.sqrt(p[0].numel()) / 16))
    must("strides do not matter", torch.equal(f(apart(scores)), p))
    leaf = scores.clone().requires_grad_()
    (f(leaf) * torch.linspace(-1, 1, p.shape[-1], dtype=p.dtype)).sum().backward()
    assert leaf.grad is not None
    gradient = not_nan(leaf.grad.double().numpy())  # for alpha > 2 it may be beyond the type
    size = abs(gradient).sum(along) + 1
    whole = abs(gradient).max(along) < torch.finfo(p.dtype).max  # not saturated
    sums = np.where(whole, gradient.sum(along) / size, 0)
    must_agree("derivatives sum to zero", sums, np.zeros(mass.shape), absolute=8 * rounding)


def tensor_loss(loss: Function, f: Function, scores: torch.Tensor, target: torch.Tensor) -> None:
    """Not negative, zero at the prediction; the gradient is the difference of the moments, p - q."""
    leaf, rounding = scores.clone().requires_grad_(), ROUNDING[scores.dtype]
    values = within_type(without_data(loss, leaf, target), loss, scores, target)
    must("not negative", (values >= 0).numpy(), values.detach().double().numpy())
    values.sum().backward()
    p = f(scores)
    must_agree("gradient = p - q", derivative(leaf).double().numpy(), (p - target).double().numpy(), absolute=4 * rounding)
    itself = loss(scores, p).double().numpy()
    must_agree("zero at the prediction", itself, np.zeros(itself.shape), absolute=rounding)
    must("strides do not matter", torch.equal(loss(apart(scores), apart(target)), values))


def class_loss(loss: Function, scores: torch.Tensor) -> None:
    """Not negative, and finite, for classes."""
    classes = torch.arange(len(scores)) % scores.shape[-1]
    must("not negative", (regular(without_data(loss, scores, classes)) >= 0).numpy())


def twins(name: str, parameters: tuple[float, ...], levels: Array) -> None:
    """A distribution of torch has the numbers of that of the Python package, and its draws."""
    p = getattr(fenchel, name)(*parameters)
    numbers = [torch.tensor([x], dtype=torch.float64) for x in parameters[1:]]
    q = getattr(ft, name)(torch.tensor([parameters[0]], dtype=torch.float64), *numbers)
    same_numbers(p, q, levels)


def at_an_end(p: Any, x: Array) -> Any:
    """At an end of the support as doubles have it, fenchel's distribution function is 0 or 1, and torch's that of the
    distance from the centre: they differ by the mass that rounding an end leaves outside."""
    return np.where(np.isin(x, p.support()), spacing_mass(p, x), 0.0)


def same_numbers(p: Any, q: Any, levels: Array) -> None:
    """q of torch, a batch of one, is p."""
    x = p.ppf(levels)
    levels, x = levels[np.isfinite(x)], x[np.isfinite(x)]
    at = torch.from_numpy(x)
    density, inner = (p.pdf if hasattr(p, "pdf") else p.pmf), (levels > 1e-6) & (levels < 1 - 1e-6)
    log = q.log_prob(at[inner])  # its slope is infinite at an end
    must_agree("log_prob", np.exp(log), density(x[inner]), relative=1e-9, absolute=1e-9 * density(p.mode()))
    must_agree("cdf", q.cdf(at), p.cdf(x), absolute=1e-12 + at_an_end(p, x))
    inverse = q.icdf(torch.from_numpy(levels)).numpy()
    if hasattr(q, "prob"):
        must_agree("prob", q.prob(at), p.pmf(x), relative=1e-9, absolute=1e-14)
        must("icdf", (p.cdf(inverse) >= levels - 1e-12) & (p.cdf(inverse - 1) <= levels + 1e-12), levels, inverse, x)
    else:
        must_agree("icdf", inverse, x, relative=1e-12, absolute=64 * EPSILON * p.std())
    # Weights below the smallest normal number have few digits.
    must_agree("mean", q.mean[0], p.mean(), relative=1e-12, absolute=1e-12 * p.std() + np.finfo(float).tiny)
    must_agree("variance", q.variance[0], p.var(), relative=1e-9, absolute=np.finfo(float).tiny)
    must_agree("entropy", q.entropy()[0], p.entropy(), relative=1e-9, absolute=1e-9)
    if hasattr(q, "active_support"):
        must_agree("support", [end.item() for end in q.active_support()], p.support(), relative=1e-12)
    torch.manual_seed(0)
    wider = q.expand((2, 1))
    draws = wider.rsample((50,)) if q.has_rsample else wider.sample((50,))
    lower, upper = p.support()
    must("draws in the support", ((draws >= lower) & (draws <= upper)).numpy(), draws.numpy())
    must(f"draws of shape {draws.shape}", draws.shape == (50, 2, 1))
    if hasattr(q, "cross_omega"):
        loss = q.cross_omega(torch.tensor([p.median()], dtype=torch.float64))
        must_agree("cross_omega", loss, [p.cross_omega(p.median())], relative=1e-9, absolute=1e-9)


def own_loss(q: Any) -> None:
    """Zero at the prediction, to rounding; the entropy of its regularizer is finite."""
    loss = regular(q.fenchel_young(q)).double().numpy()
    size = 1 + abs(regular(q.tsallis_entropy()).double().numpy())
    must("zero at the prediction", abs(loss) <= 1e-9 * size, loss)


def reparametrized(make: Function, parameters: list[torch.Tensor]) -> None:
    """Draws and logarithms of densities have derivatives in every parameter that are finite, unless the scale, the last
    parameter, is so small that its inverse times some draws is beyond the largest number."""
    leaves = [x.clone().requires_grad_() for x in parameters]
    q = make(*leaves)
    torch.manual_seed(0)
    draws = q.rsample((20,)) if q.has_rsample else q.sample((20,))
    regular(draws)
    log = regular(q.log_prob(draws.detach()))
    (log.sum() + (draws.sum() if draws.requires_grad else 0)).backward()
    within = parameters[-1].abs().max() > 1e-300
    for leaf in leaves:
        assert leaf.grad is not None
        regular(leaf.grad) if within else not_nan(leaf.grad.numpy())


def quadrature(q: Any, at: torch.Tensor) -> None:
    """A prediction by nodes: mass one, zero loss at itself, monotone distribution function, draws where it is positive."""
    must("of its class", isinstance(q, ft.NumericDensity))
    must_agree("mass one", q.probs.sum(-1), np.ones(q.probs.shape[:-1]), absolute=1e-12)
    regular(q.mean), regular(q.variance), regular(q.entropy()), regular(q.tsallis_entropy()), regular(q.pdf(at))
    must_agree("zero at the prediction", q.fenchel_young(q), np.zeros(q.batch_shape), absolute=1e-12)
    regular(q.expectation(torch.cos)), regular(q.cross_omega(q.mean)), q.active_support()
    must("cdf does not fall", (q.cdf(at.sort().values).diff() >= -1e-12).numpy())
    torch.manual_seed(0)
    draws = q.sample((20,))
    must("log_prob of draws", (q.log_prob(draws) > -math.inf).numpy())
    regular(q.icdf(q.cdf(at))), regular(q.rsample((3,)))


def module(made: Any, *given: torch.Tensor) -> None:
    """What a module gives is finite; a copy by its state, and one without data, give the same and the same shapes."""
    real = made(*given)
    first = real[0] if isinstance(real, tuple) else real
    regular(first)
    other = copy.deepcopy(made)
    other.load_state_dict(made.state_dict())
    again = other(*given)
    must("the same by its state", torch.equal(again[0] if isinstance(again, tuple) else again, first))
    fake = other.to("meta")(*(x.to("meta") for x in given))
    fake = fake[0] if isinstance(fake, tuple) else fake
    must(f"meta: {fake.shape}, real: {first.shape}", fake.shape == first.shape and fake.dtype == first.dtype)
    must("has a text", len(repr(made)) > 2)


def multihead(made: Any, x: torch.Tensor) -> None:
    """A module whose weights sum to one, and whose outputs do not depend on whether weights are needed."""
    module(made, x, x, x)
    output, weights = made(x, x, x)
    must_agree("mass one", weights.detach().sum(-1), np.ones(weights.shape[:-1]), absolute=1e-12)
    without, _ = made(x, x, x, need_weights=False)
    must_agree("without weights", without.detach(), output.detach(), absolute=1e-6 * (1 + x.abs().max().item()))


def sparsified(alpha: float, x: torch.Tensor) -> None:
    """A layer of torch keeps its outputs at alpha = 1, and has finite ones at another alpha."""
    layer = torch.nn.TransformerEncoderLayer(x.shape[-1], 2, 16, 0.0, batch_first=True, dtype=x.dtype)
    one, other = (ft.nn.sparsify(copy.deepcopy(layer), order)(x).detach() for order in (1.0, alpha))
    must_agree("at alpha = 1", one, layer(x).detach(), absolute=1e-9)
    regular(other)


def loss_module(made: Any, *given: torch.Tensor) -> None:
    """A module of a loss: the losses of rows are finite, and so is their mean where their sum is."""
    rows = copy.deepcopy(made)
    rows.reduction = "none"
    module(made if regular(rows(*given)).sum().isfinite() else rows, *given)


def basis_functions(basis: Any, at: torch.Tensor, mu: torch.Tensor, sigma2: torch.Tensor) -> None:
    """Functions and their means are finite, but means of powers that are beyond the largest number, which are infinite."""
    regular(basis(at))
    p = fenchel.BetaGaussian(2, mu.item(), sigma2.item())

    def within(means: torch.Tensor, first: Any) -> None:
        powers = first.count if isinstance(first, ft.PolynomialBasis) else 0
        beyond = [k < powers and math.isinf(p.moment(k)) for k in range(means.shape[-1])]
        must("finite", (means.isfinite() | means.isinf() & torch.tensor(beyond)).numpy(), means.numpy())

    parts = basis.parts() if hasattr(basis, "parts") else [basis]
    for part in parts:
        if hasattr(part, "attend"):
            within(part.attend(torch.full_like(mu, 2.0), mu, sigma2), part)
        else:
            for parameter in part.functions():
                regular(parameter)
    within(
        without_data(lambda m, s: ft.continuous_attention(2.0, m, s, copy.deepcopy(basis).to(m.device)), mu, sigma2),
        parts[0],
    )


def key_attention(alpha: float, query: torch.Tensor, key: torch.Tensor) -> None:
    """The mean of ones is one, and no mean is beyond the values. Weights are positive and sum to one. Gradients are finite,
    where alpha <= 2: above it those of the scores may be so large that their sums are not."""
    rounding = ROUNDING[query.dtype]

    def attend(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        return ft.scaled_dot_product_attention(q, k, torch.ones_like(k[..., :1]), alpha=alpha)

    ones = regular(without_data(attend, query, key))
    must(f"of type {ones.dtype}", ones.dtype == query.dtype)
    for mass in (ones, attend(apart(query), apart(key)), ft.attention_weights(query, key, alpha=alpha).to_dense().sum(-1)):
        must_agree("mass one", mass.double(), np.ones(mass.shape), absolute=rounding)
    must("zeros are absent", (ft.attention_weights(query, key, alpha=alpha).values() > 0).numpy())
    leaf = query.clone().requires_grad_()
    value = torch.linspace(-1, 1, key.shape[-2], dtype=query.dtype)[:, None].expand(*key.shape[:-1], 1)
    mean = ft.scaled_dot_product_attention(leaf, key, value, alpha=alpha)
    must("between the values", (abs(mean.detach().double()) <= 1 + rounding).numpy(), mean.detach().double().numpy())
    mean.sum().backward()
    if alpha <= 2:
        derivative(leaf)


def seen_by_place(length: int, causal: bool, window: Any, sinks: int, documents: torch.Tensor | None) -> torch.Tensor:
    """Which keys each query sees, as many of both: (L, L), or (batch, 1, L, L) for documents of each member."""
    left, right = window if isinstance(window, tuple) else (window, window)
    place = torch.arange(length)
    own = torch.zeros(length, dtype=torch.int64) if documents is None else documents
    same = own[..., :, None] == own[..., None, :]
    first = same.int().argmax(-1, keepdim=True)
    ahead = place - place[:, None]
    near = same if left is None else same & ((-ahead <= left) | (place - first < sinks))
    right = 0 if causal else right
    near = near if right is None else near & (ahead <= right)
    return near if near.dim() == 2 else near[:, None]


def key_ranges(
    alpha: float, query: torch.Tensor, key: torch.Tensor, causal: bool, window: Any, sinks: int, documents: Any
) -> None:
    """A query sees the keys of its interval alone. The mean of ones is one, no other key has weight, and a mask says the same,
    where alpha <= 2: above it a weight next to the threshold feels every rounding."""
    rounding, own = ROUNDING[query.dtype], None if documents is None else torch.tensor(documents)
    value = torch.linspace(-1, 1, key.shape[-2], dtype=query.dtype)[:, None].expand(*key.shape[:-1], 1)
    options: dict[str, Any] = {"alpha": alpha, "is_causal": causal, "window": window, "sinks": sinks}

    def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return ft.scaled_dot_product_attention(q, k, v, documents=None if own is None else own.to(q.device), **options)

    ones = regular(without_data(attend, query, key, torch.ones_like(value)))
    must_agree("mass one", ones.double(), np.ones(ones.shape), absolute=rounding)
    seen = seen_by_place(query.shape[-2], causal, window, sinks, own)
    p = ft.attention_weights(query, key, documents=own, **options).to_dense()
    must_agree("mass one", p.sum(-1).double(), np.ones(p.shape[:-1]), absolute=rounding)
    must("no weight out of sight", (p.masked_fill(seen, 0) == 0).numpy())
    if alpha <= 2:
        masked = ft.scaled_dot_product_attention(query, key, value, seen, alpha=alpha)
        must_agree("as a mask", attend(query, key, value).double(), masked.double(), absolute=rounding)


def row_of_sequences(
    alpha: float, query: torch.Tensor, key: torch.Tensor, lengths: list[int], causal: bool, window: Any, sinks: int
) -> None:
    """Sequences in a row are a call for each, where alpha <= 2, and the same bits as a nested tensor. The mean of ones is one."""
    rounding = ROUNDING[query.dtype]
    value = torch.linspace(-1, 1, key.shape[-2], dtype=query.dtype)[:, None].expand(*key.shape[:-1], 1)
    starts = torch.tensor([0, *lengths]).cumsum(0)
    options: dict[str, Any] = {"alpha": alpha, "is_causal": causal, "window": window, "sinks": sinks}

    def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        tokens = (x.transpose(0, 1) for x in (q, k, v))
        return ft.varlen_attention(*tokens, starts.to(q.device, torch.int32), **options).transpose(0, 1)

    ones = regular(without_data(attend, query, key, torch.ones_like(value)))
    must_agree("mass one", ones.double(), np.ones(ones.shape), absolute=rounding)
    mean = attend(query, key, value)
    ragged = [torch.nested.nested_tensor_from_jagged(x.transpose(0, 1), starts).transpose(1, 2) for x in (query, key, value)]
    nested = ft.scaled_dot_product_attention(*ragged, **options).transpose(1, 2).values().transpose(0, 1)
    must("a nested tensor", torch.equal(nested, mean))
    if alpha <= 2:
        parts = zip(*(x.split(lengths, 1) for x in (query, key, value)))
        alone = torch.cat([ft.scaled_dot_product_attention(*part, **options) for part in parts], 1)
        must_agree("a call for each", mean.double(), alone.double(), absolute=rounding)


def cached_keys(alpha: float, query: torch.Tensor, key: torch.Tensor, page_size: int) -> None:
    """The mean of values is between them, and weights are positive and sum to one. Neither pages nor the turns in which
    tokens come change a bit. Beams are what they were before, in another order, and nothing is left of what is cleared."""
    value = torch.linspace(-1, 1, key.shape[-2], dtype=query.dtype)[:, None].expand(*key.shape[:-1], 1)
    whole, paged = (
        ft.KeyValueCache(len(key), *key.shape[1:], 1, page_size=size, dtype=query.dtype) for size in (None, page_size)
    )
    for cache, turns in ((whole, key.shape[2]), (paged, 5)):
        for part in zip(key.split(turns, 2), value.split(turns, 2)):
            cache.append(*part)
    mean = regular(whole.attend(query, alpha=alpha))
    must(f"of type {mean.dtype}", mean.dtype == query.dtype)
    must("between the values", (abs(mean.double()) <= 1 + ROUNDING[query.dtype]).numpy(), mean.double().numpy())
    must("pages change no bit", torch.equal(mean, paged.attend(query, alpha=alpha)))
    p = whole.attention_weights(query, alpha=alpha)
    must("zeros are absent", (p.values() > 0).numpy())
    mass = p.to_dense().sum(-1).double()
    must_agree("mass one", mass, np.ones(mass.shape), absolute=ROUNDING[query.dtype])
    dense = paged.attend_with_weights(query, alpha=alpha)[1]
    must("no weight after a token", bool((dense.sum(-1) > 0.5).all() and (dense.triu(1 + key.shape[2] - query.shape[2]) == 0).all()))
    must("as many tokens as there are", whole.seen(2)[0].tolist() == [key.shape[2] - 1, key.shape[2]])
    paged.select(torch.tensor([1, 0]))
    must("beams in another order", torch.equal(mean.flip(0), paged.attend(query.flip(0), alpha=alpha)))
    paged.clear()
    must("nothing is left", bool((paged.attend(query, alpha=alpha) == 0).all()))
