"""A cache of keys and values: tokens one by one are what all of them are at once."""

import math

import pytest
import torch
from key_attention import ALPHAS, F32, F64, draw
from torch.autograd import gradcheck

import fenchel.torch as ft
from fenchel.torch import nn

B, H, G, N, D, E = 2, 4, 2, 23, 8, 6
LAYOUTS = {"whole": {}, "pages of 1": {"page_size": 1}, "pages of 4": {"page_size": 4}, "pages of 7": {"page_size": 7}}
OPTIONS = {
    "all": {},
    "window": {"window": 5},
    "window of sides": {"window": (3, None), "sinks": 2},
    "itself": {"window": 0},
    "alphas": {"alpha": torch.tensor([1.0, 1.25, 1.5, 2.0], dtype=F64)},
    "scales": {"scale": torch.tensor([0.1, 0.5, 1.0, -2.0], dtype=F64)},
    "a scale": {"scale": 0.7, "alpha": 2.0},
}


def tensors(dtype=F64, length=N):
    return [draw(B, h, length, k, seed=s).to(dtype) for s, (h, k) in enumerate(((H, D), (G, D), (G, E)))]


def made(layout="whole", batch=B, dtype=F64, **settings):
    return ft.KeyValueCache(batch, G, N, D, E, dtype=dtype, **LAYOUTS[layout], **settings)


def all_at_once(query, key, value, bias=None, **options):
    return ft.scaled_dot_product_attention(query, key, value, bias, is_causal=True, enable_gqa=True, **options)


def in_turns(cache, x, turns, **options):
    """Outputs of tokens that come in turns."""
    query, key, value = (t.split(turns, 2) for t in x)
    found = []
    for q, k, v in zip(query, key, value):
        cache.append(k, v)
        found.append(cache.attend(q, **options))
    return torch.cat(found, 2)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", OPTIONS)
def test_tokens_in_turns_are_all_tokens_at_once(layout, name):
    x = tensors()
    expected = all_at_once(*x, **OPTIONS[name])
    for turns in ([9, 1, 1, 1, 3, 8], [1] * N, [N]):
        torch.testing.assert_close(in_turns(made(layout), x, turns, **OPTIONS[name]), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("alpha", [1.0, *ALPHAS, float("inf")])
def test_every_alpha(alpha):
    for dtype, bar in ((F64, 1e-12), (F32, 2e-5 if alpha < 5 else 5e-3)):  # past 2 a weight feels a rounding by its root
        x = tensors(dtype)
        found = in_turns(made("pages of 4", dtype=dtype), x, [20, 3], alpha=alpha)
        torch.testing.assert_close(found, all_at_once(*x, alpha=alpha), rtol=bar, atol=bar)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_types_round_once(dtype):
    x = tensors(dtype)
    found = in_turns(made("pages of 4", dtype=dtype), x, [20, 3])
    exact = all_at_once(*(t.double() for t in x))
    assert found.dtype == dtype
    assert (found.double() - exact).abs().max() < 1.01 * torch.finfo(dtype).eps / 2 * exact.abs().max()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_bias_of_positions(layout):
    x, slope = tensors(), torch.tensor([0.5, 0.1, -0.2, 0.0], dtype=F64)[:, None, None]
    bias = slope * torch.arange(N, dtype=F64)
    expected = all_at_once(*x, bias)
    for wider in (0, 3):  # it may have more columns than there are tokens
        given = slope * torch.arange(N + wider, dtype=F64)
        found = in_turns(made(layout), x, [9, 1, 13], bias=given)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sequences_of_different_lengths_are_padded_on_the_left(layout):
    x, counts = tensors(), torch.tensor([[4, 9], [1, 0], [2, 2]])
    cache, place = made(layout), [0, 0]
    for turn in counts:
        length = int(turn.max())
        parts = [torch.full((B, t.shape[1], length, t.shape[3]), float("nan"), dtype=F64) for t in x]
        for b, count in enumerate(turn.tolist()):
            for part, t in zip(parts, x):
                part[b, :, length - count :] = t[b, :, place[b] : place[b] + count]
        query = parts[0].nan_to_num()  # a query that is padding may be anything
        cache.append(*parts[1:], turn)
        found, seen = cache.attend(query), cache.seen(length)
        for b, count in enumerate(turn.tolist()):
            place[b] += count
            whole = all_at_once(*(t[b : b + 1, :, : place[b]] for t in x))
            torch.testing.assert_close(found[b, :, length - count :], whole[0, :, place[b] - count :], rtol=1e-12, atol=1e-13)
            # Queries of tokens that are longer ago are queries of tokens.
            assert seen[b].tolist() == [max(place[b] - length + i + 1, 0) for i in range(length)]
    assert cache.lengths.tolist() == place == [7, 11]


def test_what_is_before_the_first_token_is_zero():
    cache, x = made(), tensors()
    assert (cache.attend(x[0][:, :, :3]) == 0).all()  # no token at all
    cache.append(*(t[:, :, :3] for t in x[1:]), torch.tensor([1, 3]))
    found = cache.attend(x[0][:, :, :3])
    assert (found[0, :, :2] == 0).all() and (found[0, :, 2] != 0).all() and (found[1] != 0).all()
    assert cache.attend(x[0][:, :, :0]).shape == (B, H, 0, E)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_beams_are_copies(layout):
    """Against caches that are written anew."""
    random, beams, tokens = torch.Generator().manual_seed(3), 5, [[] for _ in range(5)]
    cache = made(layout, batch=beams)
    for step in range(12):
        key, value = (torch.randn(beams, G, 1 + step % 2, k, generator=random, dtype=F64) for k in (D, E))
        query = torch.randn(beams, H, 1, D, generator=random, dtype=F64)
        cache.append(key, value)
        tokens = [old + [(key[b : b + 1], value[b : b + 1])] for b, old in enumerate(tokens)]
        if step % 3 < 2:
            index = torch.randint(beams, (beams,), generator=random)
            cache.select(index)
            tokens = [tokens[b] for b in index.tolist()]
        found = cache.attend(query)
        for b in range(beams):
            alone = made(layout, batch=1)
            for k, v in tokens[b]:
                alone.append(k, v)
            assert torch.equal(found[b], alone.attend(query[b : b + 1])[0]), (step, b)


def test_copies_share_full_pages():
    cache, x = ft.KeyValueCache(3, G, 16, D, page_size=4, pages=6, dtype=F64), draw(3, G, 9, D)
    cache.append(x, x, torch.tensor([9, 0, 0]))
    assert cache.free_pages == 3
    cache.select(torch.tensor([0, 0, 0]))
    assert cache.free_pages == 1  # two full pages for all, and an open one for each
    with pytest.raises(ValueError, match="3 more of the 6 pages are needed, got 1 free"):
        cache.append(x[:, :, :4], x[:, :, :4])
    assert cache.lengths.tolist() == [9, 9, 9] and cache.free_pages == 1
    cache.clear(torch.tensor([False, True, True]))
    assert cache.free_pages == 3 and cache.lengths.tolist() == [9, 0, 0]
    cache.clear()
    assert cache.free_pages == 6


def test_a_copy_that_finds_no_page_changes_nothing():
    cache, x = ft.KeyValueCache(2, G, 8, D, page_size=4, pages=2, dtype=F64), draw(2, G, 6, D)
    cache.append(x, x, torch.tensor([6, 0]))
    before = cache.table.clone(), cache.lengths.clone()
    with pytest.raises(ValueError, match="1 more of the 2 pages are needed, got 0 free"):
        cache.select(torch.tensor([0, 0]))
    assert torch.equal(cache.table, before[0]) and torch.equal(cache.lengths, before[1])


def test_bounds_are_those_of_the_tokens_of_a_page():
    random, beams, size = torch.Generator().manual_seed(4), 3, 16
    cache = ft.KeyValueCache(beams, G, 70, D, page_size=size, bounds=True, dtype=F64)
    plain = ft.KeyValueCache(beams, G, 70, D, page_size=size, dtype=F64)
    for step in range(40):
        length = int(torch.randint(4, (), generator=random))
        counts = torch.randint(length + 1, (beams,), generator=random)
        key = torch.randn(beams, G, length, D, generator=random, dtype=F64)
        if int((cache.lengths + counts).max()) > 60:
            members = cache.lengths > 40
            for each in (cache, plain):
                each.clear(members)
        for each in (cache, plain):
            each.append(key, key, counts)
        if step % 5 == 0:
            index = torch.randint(beams, (beams,), generator=random)
            for each in (cache, plain):
                each.select(index)
        for b, count in enumerate(cache.lengths.tolist()):
            for k in range(-(-count // size)):
                page = cache.table[b, k]
                own = cache.key[page, :, : min(size, count - k * size)]
                assert torch.equal(cache._bounds[page], torch.stack([own.amin(1), own.amax(1)], 1)), (step, b, k)
        query = torch.randn(beams, H, 1, D, generator=random, dtype=F64)
        assert torch.equal(cache.attend(query), plain.attend(query))
    bad = torch.zeros(beams, G, 1, D, dtype=F64)
    bad[0, 0, 0, 3] = math.nan
    cache.append(bad, bad)
    last = cache.table[0, (cache.lengths[0] - 1) // size]
    assert cache._bounds[last].isnan().nonzero().tolist() == [[0, 0, 3], [0, 1, 3]]
    with pytest.raises(ValueError, match="page_size must be a multiple of 16 with bounds, got 24"):
        ft.KeyValueCache(1, G, 70, D, page_size=24, bounds=True)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_other_tokens_left_behind_is_not_read(layout):
    """Neither by sequences that are shorter, nor by those that get their pages."""
    cache, (query, key, value) = made(layout), tensors()
    cache.append(*(torch.full_like(x, float("nan")) for x in (key, value)))
    cache.clear()
    cache.append(key[:, :, :9], value[:, :, :9], torch.tensor([9, 4]))
    last, held = query[:, :, :1], cache.attend(query[:, :, :1])
    found, weights = cache.attend_with_weights(last)
    assert held.isfinite().all() and weights.isfinite().all()
    torch.testing.assert_close(found, held, rtol=1e-12, atol=1e-13)
    torch.testing.assert_close(cache.attend(last.clone().requires_grad_()), held, rtol=1e-12, atol=1e-13)


def test_weights_are_those_of_the_whole():
    x, options = tensors(), {"window": (9, None), "sinks": 1}
    cache = made("pages of 4")
    cache.append(*x[1:])
    last = x[0][:, :, -3:]
    whole = ft.attention_weights(x[0], x[1], is_causal=True, enable_gqa=True, **options).to_dense()[:, :, -3:]
    p = cache.attention_weights(last, **options)
    assert p.is_sparse and (p.values() > 0).all()
    torch.testing.assert_close(p.to_dense(), whole, rtol=1e-12, atol=1e-14)
    out, dense = cache.attend_with_weights(last, **options)
    torch.testing.assert_close(dense, whole, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(out, cache.attend(last, **options), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients_are_those_of_the_whole(layout):
    """In the query, alpha, scale and bias; keys and values of a cache have none."""
    x = tensors()
    cache = made(layout)
    cache.append(*x[1:])
    learned = [x[0][:, :, -2:], torch.tensor(1.6, dtype=F64), torch.tensor(0.3, dtype=F64), draw(H, 1, N, seed=9)]
    learned = [t.clone().requires_grad_() for t in learned]
    assert gradcheck(lambda q, alpha, scale, bias: cache.attend(q, alpha=alpha, scale=scale, bias=bias), learned)
    found = cache.attend(learned[0], alpha=learned[1], scale=learned[2], bias=learned[3])
    with torch.no_grad():
        torch.testing.assert_close(found, cache.attend(learned[0], alpha=learned[1], scale=learned[2], bias=learned[3]))
    with pytest.raises(ValueError, match="key must not need a gradient"):
        made(layout).append(x[1].requires_grad_(), x[2])


def test_autocast_changes_nothing():
    """On any path."""
    cache, x = made(dtype=F32), tensors(F32)
    cache.append(*x[1:])
    last = x[0][:, :, -2:]
    expected = cache.attend(last)
    with torch.autocast("cpu", torch.bfloat16):
        found = cache.attend(last), cache.attend_with_weights(last)[0], cache.attend(last.clone().requires_grad_())
    for each in found:
        torch.testing.assert_close(each, expected)


def test_transforms_of_torch_func_see_the_derivatives():
    cache, x = made("pages of 4"), tensors()
    cache.append(*x[1:])
    query, alpha = x[0][:, :, -2:], torch.tensor(1.6, dtype=F64)

    def attend(q, a):
        return cache.attend(q, alpha=a)

    leaves = query.clone().requires_grad_(), alpha.clone().requires_grad_()
    slopes = torch.autograd.grad(attend(*leaves).sum(), leaves)
    ones = torch.ones_like(query), torch.ones_like(alpha)
    moved = torch.func.jvp(attend, (query, alpha), ones)[1]
    torch.testing.assert_close(moved.sum(), sum(t.sum() for t in slopes))
    inner = torch.func.grad(lambda q: torch.vmap(lambda own: attend(own, alpha))(q[None]).sum())
    torch.testing.assert_close(inner(query), slopes[0])


def test_errors_name_the_argument_and_change_nothing():
    cache, (query, key, value) = made("pages of 4"), tensors()
    cache.append(key[:, :, :20], value[:, :, :20])
    wide, told = draw(B, H, N, N), r"bias must broadcast to \(2, 4, 23, S\), where S is at least 20"
    wrong = [
        (lambda: cache.append(key, value), "at most 23 tokens, got 43 for sequence 0"),
        (lambda: cache.append(key[:, :1], value), r"key must have shape \(2, 2, L, 8\)"),
        (lambda: cache.append(key, value[:, :, 1:]), r"value must have shape \(2, 2, L, 6\)"),
        (lambda: cache.append(key[:, :, :2], value[:, :, :2], torch.tensor([3, 0])), r"in \[0, 2\], got \[3, 0\]"),
        (lambda: cache.attend(query[:, :3]), r"query must have shape \(2, H, L, 8\), where 2 divides H"),
        (lambda: cache.attend(query[..., :3]), r"query must have shape \(2, H, L, 8\)"),
        (lambda: cache.attend(query, bias=wide[:, :, :, :19]), told + r", got shape \(2, 4, 23, 19\)"),
        (lambda: cache.attend_with_weights(query, bias=wide[:, :, :, :19]), told + r", got shape \(2, 4, 23, 19\)"),
        (lambda: cache.attend(query, bias=wide[None]), told + r", got shape \(1, 2, 4, 23, 23\)"),
        (lambda: cache.attend(query, bias=wide[:, :3]), told + r", got shape \(2, 3, 23, 23\)"),
        (lambda: cache.attend(query, alpha=0.5), "alpha must be at least 1, got 0.5"),
        (lambda: cache.attend(query, window=-1), "window must not be negative"),
        (lambda: cache.attend(query, sinks=-1), "sinks must not be negative"),
        (lambda: cache.select(torch.tensor([0, 2])), r"index must be 2 numbers in \[0, 2\), got \[0, 2\]"),
        (lambda: cache.clear(torch.tensor([1, 0])), "members must be of bool"),
        (lambda: cache.seen(-1), "count must not be negative, got -1"),
    ]
    for call, message in wrong:
        with pytest.raises(ValueError, match=message):
            call()
    wrong = [
        (lambda: cache.attend(query.float()), "query must be torch.float64, as the cache is, got torch.float32"),
        (lambda: cache.attend(query, bias=wide > 0), "bias must be float64, .* or float16, got torch.bool"),
        (lambda: cache.attention_weights(query, bias=wide > 0), "bias must be float64, .* or float16, got torch.bool"),
        (lambda: cache.append(key.float(), value), "key must be torch.float64, as the cache is, got torch.float32"),
        (lambda: cache.append(key, value.float()), "value must be torch.float64, as the cache is, got torch.float32"),
        (lambda: cache.select(torch.tensor([0.9, 1.0])), "index must be integers, got torch.float32"),
        (lambda: cache.append(key, value, torch.tensor([True, False])), "counts must be integers, got torch.bool"),
    ]
    for call, message in wrong:
        with pytest.raises(TypeError, match=message):
            call()
    assert cache.lengths.tolist() == [20, 20] and cache.free_pages == 2
    for name in ("batch", "heads", "capacity", "columns"):
        sizes = {"batch": 1, "heads": 1, "capacity": 1, "columns": 1} | {name: 0}
        with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
            ft.KeyValueCache(**sizes)
    with pytest.raises(TypeError, match="capacity must be an integer, got 2.5"):
        ft.KeyValueCache(1, 1, 2.5, 1)
    with pytest.raises(TypeError, match="dtype must be float64, .* or float16, got torch.int64"):
        ft.KeyValueCache(1, 1, 1, 1, dtype=torch.int64)
    for name in ("value_columns", "page_size", "pages"):
        with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
            ft.KeyValueCache(1, 1, 1, 1, **{name: 0})


def rotary(query, key, start=None):
    def turned(x):
        length, columns = x.shape[-2:]
        place = torch.arange(length) + (0 if start is None else start[:, None, None])
        angle = place[..., None] * 100.0 ** -(torch.arange(0, columns, 2, dtype=F64) / columns)
        a, b = x.chunk(2, -1)
        return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)

    return turned(query), turned(key)


def alibi(query, key, start=None):
    slope = 2.0 ** -torch.arange(1, query.shape[1] + 1, dtype=F64)
    return query, key, slope[:, None, None] * torch.arange(key.shape[2] if start is None else N)


SETTINGS = {
    "plain": {},
    "softmax": {"alpha": 1.0},
    "learned": {"alpha": "learned", "num_kv_heads": G},
    "rotary": {"positions": rotary},
    "alibi": {"positions": alibi, "num_kv_heads": 1},
    "window": {"window": 4, "sinks": 2},
    "scale": {"scale": nn.EntmaxAttentionScale(H, 4), "window": (6, None), "sinks": 1},
    "number": {"scale": 2.0, "bias": False},
}


@pytest.mark.parametrize("name", SETTINGS)
@torch.no_grad()
def test_a_module_with_a_cache_is_the_causal_module(name):
    torch.manual_seed(0)
    attention = nn.MultiheadAttention(16, H, batch_first=True, dtype=F64, **SETTINGS[name]).eval()
    if name == "scale":
        attention.scale.raw_gamma.add_(torch.tensor([0.2, 0.4, 0.6, -0.3]))
    x = draw(B, N, 16)
    expected, weights = attention(x, x, x, is_causal=True, average_attn_weights=False)
    cache = ft.KeyValueCache(B, attention.num_kv_heads, N, 4, page_size=4, dtype=F64)
    start = 0
    for length in (10, 1, 1, 5, 6):
        new, end = x[:, start : start + length], start + length
        for need_weights in (False, True) if length == 1 else (start == 0,):
            if need_weights and length == 1:
                cache.lengths -= 1  # the same token again
            found, p = attention(new, new, new, need_weights=need_weights, average_attn_weights=False, cache=cache)
            torch.testing.assert_close(found, expected[:, start:end], rtol=1e-11, atol=1e-12)
            if need_weights:
                torch.testing.assert_close(p, weights[:, :, start:end, :end], rtol=1e-11, atol=1e-13)
        start = end


@torch.no_grad()
def test_a_module_with_padding_on_the_left():
    torch.manual_seed(0)
    attention = nn.MultiheadAttention(16, H, dtype=F64, positions=rotary)  # not batch_first
    x, lengths = draw(B, N, 16), [6, 9]
    cache = ft.KeyValueCache(B, H, N, 4, dtype=F64)
    padding = torch.arange(9) < torch.tensor([[3], [0]])
    prompt = torch.stack([torch.cat([torch.ones(9 - n, 16, dtype=F64), x[b, :n]]) for b, n in enumerate(lengths)], 1)
    found = [attention(prompt, prompt, prompt, padding, need_weights=False, cache=cache)[0]]
    for step in range(3):
        new = torch.stack([x[b, n + step] for b, n in enumerate(lengths)])[None]
        found.append(attention(new, new, new, need_weights=False, cache=cache)[0])
    found = torch.cat(found)
    for b, n in enumerate(lengths):
        alone = x[b, : n + 3, None]
        expected = attention(alone, alone, alone, need_weights=False, is_causal=True)[0][:, 0]
        torch.testing.assert_close(found[9 - n :, b], expected, rtol=1e-11, atol=1e-12)


@torch.no_grad()
def test_a_module_says_what_a_cache_does_not_go_with():
    x, cache = draw(B, 3, 16), ft.KeyValueCache(B, H, N, 4, dtype=F64)
    wrong = [
        ({}, {"attn_mask": torch.zeros(3, 3, dtype=F64)}, "attn_mask must be None"),
        ({"add_zero_attn": True}, {}, "no add_zero_attn"),
        ({"add_bias_kv": True}, {}, "no add_bias_kv"),
        ({"dropout": 0.1}, {}, "dropout must be 0 or the module in evaluation"),
        ({}, {"key_padding_mask": torch.tensor([[False, False, True]] * B)}, "True on the left alone"),
        ({}, {"key_padding_mask": torch.zeros(B, 3, dtype=F64)}, "must be of bool"),
    ]
    for settings, options, message in wrong:
        attention = nn.MultiheadAttention(16, H, batch_first=True, dtype=F64, **settings)
        with pytest.raises(ValueError, match=message):
            attention(x, x, x, cache=cache, **options)
    with pytest.raises(ValueError, match="same tokens"):
        nn.MultiheadAttention(16, H, batch_first=True, dtype=F64)(x, x[:, :2], x[:, :2], cache=cache)
    with torch.enable_grad(), pytest.raises(ValueError, match="key must not need a gradient"):
        nn.MultiheadAttention(16, H, batch_first=True, dtype=F64)(x, x, x, cache=cache)
    assert cache.lengths.tolist() == [0, 0]
    # torch asks for an attn_mask beside is_causal, and it says nothing then.
    attention = nn.MultiheadAttention(16, H, batch_first=True, dtype=F64)
    attention(x, x, x, attn_mask=torch.zeros(3, 3, dtype=F64), is_causal=True, cache=cache)
