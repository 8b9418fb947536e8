"""Attention over keys with the weights of entmax: torch's arguments, the plain formula's numbers and gradients, and the
errors of the same formula in the same precision."""

import itertools
import math
import random

import pytest
import torch
from key_attention import (  # noqa: F401  path is a fixture
    ALPHAS, F32, F64, HALF, OPTIONS, assert_same, draw, gradients, options_of, path, tensors, whole_matrix,
)
from torch.nn import functional as F

import fenchel.torch as ft
from fenchel.torch import _attention_blocks as plain_path


@pytest.mark.parametrize("alpha", ALPHAS)
def test_numbers_and_gradients_are_those_of_the_plain_formula(alpha, path, device):
    x = tensors(device)
    assert_same(
        gradients(ft.scaled_dot_product_attention, x, alpha=alpha), gradients(whole_matrix, x, alpha=alpha), 1e-9, 1e-9
    )


def test_alpha_one_is_the_function_of_torch(device):
    x = tensors(device)
    mask = draw(5, 7, seed=9).to(device) > -1
    for options in ({}, {"is_causal": True}, {"attn_mask": mask}, {"scale": 0.3}):
        ours = gradients(ft.scaled_dot_product_attention, x, alpha=1.0, **options)
        assert all(torch.equal(a, b) for a, b in zip(ours, gradients(F.scaled_dot_product_attention, x, **options)))
    both = {"is_causal": True, "attn_mask": mask}  # which torch refuses
    assert_same(*(gradients(f, x, alpha=1.0, **both) for f in (ft.scaled_dot_product_attention, whole_matrix)))
    bias = torch.arange(7.0, device=device)  # of another type and of one dimension, as every other alpha takes it
    found = ft.scaled_dot_product_attention(*x, attn_mask=bias, alpha=1)
    torch.testing.assert_close(found, whole_matrix(*x, attn_mask=bias, alpha=1.0))
    one = torch.ones((), dtype=F64, device=device)
    for options in ({}, {"is_causal": True}, {"attn_mask": mask}, {"scale": 0.3}):
        ours = gradients(lambda *a, o=options: ft.scaled_dot_product_attention(*a, alpha=one, **o), x)
        assert_same(ours, gradients(F.scaled_dot_product_attention, x, **options))


@pytest.mark.parametrize("name", OPTIONS)
def test_masks_and_what_is_learned(name, path, device):
    x, options = tensors(device), options_of(name, device)
    assert_same(gradients(ft.scaled_dot_product_attention, x, **options), gradients(whole_matrix, x, **options))


def test_a_number_for_each_head_in_either_shape(device):
    x = tensors(device)
    for name in ("scale", "alpha"):
        one = torch.tensor([1.1, 1.5, 2.0, 3.0], dtype=F64, device=device)
        found = [ft.scaled_dot_product_attention(*x, **{name: t}) for t in (one, one[:, None, None])]
        assert torch.equal(*found)
        each = [ft.scaled_dot_product_attention(*(t[:, h : h + 1] for t in x), **{name: one[h].item()}) for h in range(4)]
        torch.testing.assert_close(found[0], torch.cat(each, 1), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(
    ("q", "k"),
    [
        ((5, 8), (7, 8)),
        ((3, 5, 8), (7, 8)),
        ((5, 8), (3, 7, 8)),
        ((2, 1, 5, 8), (4, 7, 8)),
        ((4, 5, 8), (2, 1, 7, 8)),
        ((1, 4, 5, 8), (3, 1, 7, 8)),
        ((3, 1, 2, 5, 8), (2, 2, 7, 8)),
    ],
)
def test_leading_dimensions_broadcast_as_in_torch(q, k, path, device):
    x = tensors(device, q, k)
    assert_same(gradients(ft.scaled_dot_product_attention, x), gradients(whole_matrix, x))
    expected = F.scaled_dot_product_attention(*x)
    assert ft.scaled_dot_product_attention(*x).shape == expected.shape
    one = torch.ones((), dtype=F64, device=device)
    torch.testing.assert_close(ft.scaled_dot_product_attention(*x, alpha=one), expected)
    full = (*expected.shape[:-1], 7)
    for keep in itertools.product([True, False], repeat=len(full) - 1):
        mask = draw(*(n if kept else 1 for n, kept in zip(full, keep)), 7, seed=4).to(device)
        found, exact = (gradients(f, x, attn_mask=mask) for f in (ft.scaled_dot_product_attention, whole_matrix))
        assert_same(found, exact)


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_heads_of_keys_divide_those_of_queries(heads, path, device):
    x = tensors(device, k=(2, heads, 7, 8))
    for options in ({}, {"attn_mask": draw(4, 5, 7, seed=4).to(device)}, {"alpha": draw(4, seed=5).abs().add(1).to(device)}):
        options["enable_gqa"] = True
        assert_same(gradients(ft.scaled_dot_product_attention, x, **options), gradients(whole_matrix, x, **options))


def test_keys_and_values_may_have_different_heads(device):
    query, key, value = tensors(device)
    y = ft.scaled_dot_product_attention(query, key[:, :1], value[:, :2], enable_gqa=True)
    torch.testing.assert_close(y, whole_matrix(query, key[:, :1], value[:, :2], enable_gqa=True))


def test_a_query_without_a_key_has_the_output_zero_as_in_torch(path, device):
    x = tensors(device)
    seen = torch.ones(5, 7, dtype=torch.bool, device=device)
    seen[1] = False
    seen[3, 2:] = False
    for mask in (seen, torch.zeros(5, 7, dtype=F64, device=device).masked_fill(~seen, -torch.inf)):
        alphas = torch.tensor([1.0, 1.3, 2.0, 4.0], dtype=F64, device=device)
        ours = gradients(lambda *t, m=mask: ft.scaled_dot_product_attention(*t, attn_mask=m, alpha=alphas), x)
        assert (ours[0][..., 1, :] == 0).all() and (ours[1][..., 1, :] == 0).all()
        assert all(t.isfinite().all() for t in ours)
        assert_same(ours, gradients(whole_matrix, x, attn_mask=mask, alpha=alphas)[:4])
        assert (F.scaled_dot_product_attention(*x, attn_mask=mask)[..., 1, :] == 0).all()
    bias = torch.zeros(5, 7, dtype=F64, device=device).masked_fill(~seen, -torch.inf)
    ours = gradients(ft.scaled_dot_product_attention, x, attn_mask=bias)
    assert all(t.isfinite().all() for t in ours) and (ours[4][~seen] == 0).all()


def test_a_bad_number_spoils_the_queries_that_see_it(path, device):
    query, key, value = tensors(device)
    good = ft.scaled_dot_product_attention(query, key, value)
    bad = query.clone()
    bad[0, 1, 2, 3] = torch.nan
    found = ft.scaled_dot_product_attention(bad, key, value)
    assert found[0, 1, 2].isnan().all()
    found[0, 1, 2] = good[0, 1, 2]
    assert torch.equal(found, good)
    bad = key.clone()
    bad[0, 1, 2, 3] = torch.nan
    found = ft.scaled_dot_product_attention(query, bad, value)
    assert found[0, 1].isnan().all() and not found[1].isnan().any() and not found[0, 0].isnan().any()
    mask = torch.ones(5, 7, dtype=torch.bool, device=device)
    mask[:, 2] = False
    for given in (mask, torch.zeros(5, 7, dtype=F64, device=device).masked_fill(~mask, -torch.inf)):
        assert ft.scaled_dot_product_attention(query, bad, value, attn_mask=given).isfinite().all()


def test_strides_change_nothing(path, device):
    x = tensors(device, dtype=F32)
    expected = gradients(ft.scaled_dot_product_attention, x)
    for same in (
        [t.transpose(1, 2).contiguous().transpose(1, 2) for t in x],
        [t.mT.contiguous().mT for t in x],
        [torch.stack([t, t], -1)[..., 0] for t in x],
    ):
        assert all(torch.equal(a, b) for a, b in zip(gradients(ft.scaled_dot_product_attention, same), expected))
    fused = draw(2, 5, 3, 4, 8, seed=3).to(device)
    parts = fused.permute(2, 0, 3, 1, 4).unbind(0)
    torch.testing.assert_close(ft.scaled_dot_product_attention(*parts), whole_matrix(*parts))
    mask = (draw(7, 5, seed=3).to(device) > 0).mT
    found = ft.scaled_dot_product_attention(*x, attn_mask=mask)
    assert torch.equal(found, ft.scaled_dot_product_attention(*x, attn_mask=mask.contiguous()))


@pytest.mark.parametrize("zero", ["batch", "heads", "queries", "keys", "cols", "values"])
def test_sizes_may_be_zero(zero, path, device):
    size = {"batch": 2, "heads": 4, "queries": 5, "keys": 7, "cols": 8, "values": 3} | {zero: 0}
    b, h, n, m, d, e = size.values()
    x = tensors(device, (b, h, n, d), (b, h, m, d), e)
    bias = draw(1, 1, n, m).to(device)
    y, *slopes = gradients(ft.scaled_dot_product_attention, x, attn_mask=bias, alpha=torch.tensor(1.5, dtype=F64))
    assert y.shape == (b, h, n, e) and [s.shape for s in slopes] == [*(t.shape for t in x), bias.shape, ()]
    assert all(t.isfinite().all() for t in (y, *slopes))
    assert zero == "cols" or zero in ("batch", "heads", "queries", "values") or (y == 0).all()
    if zero == "cols":
        torch.testing.assert_close(ft.scaled_dot_product_attention(*x), x[2].mean(-2, keepdim=True).expand(y.shape))


@pytest.mark.parametrize("dtype", [F32, *HALF])
@pytest.mark.parametrize("alpha", [4 / 3, 1.5, 2.0])
@pytest.mark.parametrize("with_bias", [False, True])
def test_errors_are_those_of_the_plain_formula(alpha, dtype, with_bias, path, device):
    """At most twice as large, against float64, in the root of the mean square: a largest error is one number's luck. The
    gradient in a bias makes the backward pass plain, so there are both."""
    x = tensors(device, (1, 16, 40, 16), (1, 16, 60, 16), 8, dtype)
    alphas, scale = (torch.full((16,), number, dtype=F32, device=device) for number in (alpha, 0.3))
    options = {"alpha": alphas, "scale": scale}
    if with_bias:
        options["attn_mask"] = draw(16, 40, 60, seed=4).to(device, dtype)

    def in_float32(query, key, value, **options):
        return whole_matrix(query.float(), key.float(), value.float(), **options).to(query.dtype)

    ours, theirs = (gradients(f, x, **options) for f in (ft.scaled_dot_product_attention, in_float32))
    exact = gradients(whole_matrix, [t.double() for t in x], **{k: t.double() for k, t in options.items()})
    for name, a, b, c in zip(("out", "query", "key", "value", *options), ours, theirs, exact, strict=True):
        assert a.dtype == b.dtype
        error, other = ((t.double() - c).norm() / c.norm() for t in (a, b))
        rounding = torch.finfo(a.dtype).eps * (8 if name in ("alpha", "scale") else 1)  # the sums of terms that cancel
        assert error <= 2 * other + rounding, (name, error, other)


def test_weights_sum_to_one(path, device):
    for dtype, close in ((F64, 1e-14), (F32, 1e-6)):
        query, key, _ = tensors(device, (2, 4, 50, 16), (2, 4, 300, 16), dtype=dtype)
        value = torch.ones(2, 4, 300, 1, dtype=dtype, device=device)
        for alpha in ALPHAS:
            y = ft.scaled_dot_product_attention(3 * query, key, value, alpha=alpha)
            torch.testing.assert_close(y, torch.ones_like(y), rtol=0, atol=close)


def test_blocks_cover_all_queries_and_are_small(monkeypatch):
    for batch, heads, n, m, causal in [(3, 2, 10, 7, False), (1, 4, 25, 30, True), (5, 1, 1, 100, False), (2, 3, 4, 0, True)]:
        query, key, value = tensors(q=(batch, heads, n, 2), k=(batch, heads, m, 2))
        x = plain_path.Attention(query, key, value, None, None, None, None, None, None, 1.5, 1.0, causal, 0.0)
        for size in (1, 60, 200, 10**6):
            monkeypatch.setattr(plain_path, "BLOCK", size)
            seen = torch.zeros(batch, n, m)
            for members, rows, cols in plain_path.blocks(x):
                seen[members, rows, cols] += 1
                scores = (members.stop - members.start) * heads * (rows.stop - rows.start) * m
                assert scores <= max(size, heads * m)
            must_see = torch.ones(n, m).tril() if causal else torch.ones(n, m)
            assert (seen <= 1).all() and (seen >= must_see).all()


def test_two_calls_give_the_same_bits(path, device):
    x = tensors(device, (2, 4, 100, 16), (2, 4, 130, 16), dtype=F32)
    alphas = torch.tensor([1.0, 1.3, 1.5, 2.0], device=device)
    first, second = (gradients(ft.scaled_dot_product_attention, x, alpha=alphas) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first, second))


@pytest.mark.parametrize("name", ["bool", "bias of heads", "causal", "scale", "alphas"])
def test_weights_are_those_of_the_map(name, monkeypatch, device):
    monkeypatch.setattr(plain_path, "BLOCK", 64)
    query, key, _ = tensors(device)
    options = options_of(name, device)
    p = ft.attention_weights(query, key, **options)
    assert p.layout == torch.sparse_coo and p.is_coalesced() and (p.values() != 0).all()
    eye = torch.eye(7, dtype=F64, device=device)
    torch.testing.assert_close(p.to_dense(), whole_matrix(query, key, eye, **options), rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(p.to_dense(), ft.scaled_dot_product_attention(query, key, eye, **options))


def test_weights_of_any_leading_dimensions(device):
    for q, k in [((5, 8), (7, 8)), ((3, 5, 8), (7, 8)), ((3, 1, 2, 5, 8), (2, 2, 7, 8)), ((2, 0, 8), (2, 7, 8))]:
        query, key, _ = tensors(device, q, k)
        eye = torch.eye(7, dtype=F64, device=device)
        p = ft.attention_weights(query, key, alpha=2.0)
        torch.testing.assert_close(p.to_dense(), whole_matrix(query, key, eye, alpha=2.0), rtol=1e-12, atol=1e-14)


Q, K, V = tensors()
ERRORS = [
    ({"query": Q[0, 0, 0]}, ValueError, "query, key and value must have at least two dimensions, got shapes"),
    ({"key": K[..., :4]}, ValueError, r"key must have the last dimension of query, 8, got \(2, 4, 7, 4\)"),
    ({"value": V[..., :4, :]}, ValueError, r"value must have a row for each of 7 keys, got \(2, 4, 4, 3\)"),
    ({"key": K[:, :3]}, ValueError, "leading dimensions of query, key and value must broadcast, got shapes"),
    ({"key": K[:, :3], "value": V[:, :3], "enable_gqa": True}, ValueError, "heads of key and value must divide"),
    ({"key": K.float()}, TypeError, "query, key and value must be of one type"),
    ({"query": Q.int(), "key": K.int(), "value": V.int()}, TypeError, "query must be float64, float32, .* got torch.int32"),
    ({"attn_mask": torch.ones(5, 7, dtype=torch.int64)}, TypeError, "attn_mask must be bool or floating point"),
    ({"attn_mask": torch.ones(5, 6)}, ValueError, r"attn_mask must broadcast to \(2, 4, 5, 7\), got shape \(5, 6\)"),
    ({"dropout_p": 1.0}, ValueError, r"dropout_p must be in \[0, 1\), got 1.0"),
    ({"alpha": 0.9}, ValueError, "alpha must be at least 1, got 0.9"),
    ({"alpha": math.nan}, ValueError, "alpha must be at least 1, got nan"),
    ({"alpha": torch.ones(3)}, ValueError, r"alpha must be a number or of shape \(\), \(4,\) or \(4, 1, 1\), got shape"),
    ({"alpha": torch.ones(4, 1)}, ValueError, "alpha must be a number or of shape"),
    ({"scale": math.inf}, ValueError, "scale must be finite, got inf"),
    ({"scale": torch.ones(2)}, ValueError, "scale must be a number or of shape"),
]


@pytest.mark.parametrize(("given", "error", "message"), ERRORS, ids=range(len(ERRORS)))
def test_errors(given, error, message):
    with pytest.raises(error, match=f"fenchel.torch: {message}"):
        ft.scaled_dot_product_attention(**{"query": Q, "key": K, "value": V} | given)


def test_alphas_below_one_are_errors_on_the_cpu():
    with pytest.raises(ValueError, match=r"alpha\[0\] must be at least 1, got 0.5"):
        ft.scaled_dot_product_attention(Q, K, V, alpha=torch.tensor(0.5))


def sweep(seed):
    """Random shapes and options, on the CPU."""
    pick = random.Random(seed)
    b, d, e = pick.choice([1, 2, 3]), pick.choice([1, 2, 7, 16, 33]), pick.choice([1, 3, 8, 17])
    n, m = pick.choice([1, 2, 9, 25, 50]), pick.choice([1, 2, 8, 31, 70])
    groups, share = pick.choice([1, 2, 3]), pick.choice([1, 1, 2])
    h = groups * share
    shape = [pick.choice([1, size]) for size in (b, h, n, m)]
    options = {"enable_gqa": True}
    kind = pick.choice(["none", "bool", "bias", "causal", "causal bool", "causal bias"])
    if "bool" in kind:
        options["attn_mask"] = draw(*shape, seed=seed) > -0.7
    elif "bias" in kind:
        options["attn_mask"] = draw(*shape, seed=seed)
    options["is_causal"] = "causal" in kind
    options["alpha"] = pick.choice([*ALPHAS, draw(h, seed=seed + 1).abs() + 1, torch.tensor(1.5)])
    if pick.random() < 0.4:
        options["scale"] = pick.choice([0.2, 3.0, draw(h, seed=seed + 2)])
    x = [draw(b, h, n, d, seed=seed + 3), draw(b, groups, m, d, seed=seed + 4), draw(b, groups, m, e, seed=seed + 5)]
    return x, options


@pytest.mark.parametrize("part", range(10))
def test_random_shapes_and_options(part, path, device):
    for seed in range(15 * part, 15 * part + 15):
        x, options = sweep(seed)
        x = [t.to(device) for t in x]
        options = {k: t.to(device) if isinstance(t, torch.Tensor) else t for k, t in options.items()}
        ours = gradients(ft.scaled_dot_product_attention, x, **options)
        exact = gradients(whole_matrix, x, **options)
        for a, b in zip(ours, exact, strict=True):
            size = b.abs().max().item() if b.numel() else 0.0
            torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-10 * max(size, 1), msg=lambda m, s=seed: f"{s}: {m}")
