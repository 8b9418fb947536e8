"""Sequences of different lengths in a row, and nested tensors, against a call for each sequence."""

import pytest
import torch
from key_attention import F32, F64, HALF, assert_same, by_mask, draw, gradients, path  # noqa: F401  path is a fixture
from torch.autograd import gradcheck
from torch.nn import functional as F

import fenchel.torch as ft

LENGTHS, KEYS = [3, 0, 6, 1, 2], [2, 4, 5, 0, 1]
OPTIONS = {
    "all": {},
    "causal": {"is_causal": True},
    "window": {"window": (2, 1)},
    "sinks": {"window": (1, 0), "sinks": 2},
    "causal window": {"window": 1, "sinks": 1, "is_causal": True},
    "alpha 2": {"alpha": 2.0},
    "alpha 1": {"alpha": 1.0, "is_causal": True},
    "scale": {"scale": 0.3},
}


def starts(lengths, device="cpu"):
    return torch.tensor([0, *lengths]).cumsum(0).to(device, torch.int32)


def packed(device="cpu", lengths=LENGTHS, keys=LENGTHS, dtype=F64, columns=8):
    n, m = sum(lengths), sum(keys)
    shapes = (n, 4, columns), (m, 2, columns), (m, 2, columns)
    return [draw(*shape, seed=k).to(device, dtype) for k, shape in enumerate(shapes)]


def one_by_one(lengths, keys, f):
    """A call of f for each sequence."""

    def of(query, key, value, **options):
        parts = zip(*(x.transpose(0, 1).split(sizes, 1) for x, sizes in ((query, lengths), (key, keys), (value, keys))))
        return torch.cat([f(*part, enable_gqa=True, **options).transpose(0, 1) for part in parts])

    return of


def compare(x, lengths, keys, rtol=1e-11, atol=1e-11, **options):
    device = x[0].device

    def ours(*x, **options):
        cu_seqlens_k = None if keys is lengths else starts(keys, device)
        return ft.varlen_attention(*x, starts(lengths, device), cu_seqlens_k, enable_gqa=True, **options)

    assert_same(gradients(ours, x, **options), gradients(one_by_one(lengths, keys, by_mask), x, **options), rtol, atol)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_row_of_sequences_is_a_call_for_each(name, path, device):
    compare(packed(device), LENGTHS, LENGTHS, **OPTIONS[name])
    compare(packed(device, keys=KEYS), LENGTHS, KEYS, **OPTIONS[name])


def test_a_sequence_without_keys_has_the_output_zero(path, device):
    x = packed(device, keys=KEYS)
    out = ft.varlen_attention(*x, starts(LENGTHS, device), starts(KEYS, device), enable_gqa=True)
    assert (out[9] == 0).all() and (out[:9] != 0).any(-1).all()


def test_no_sequence_and_no_token(device):
    x = packed(device, [], [])
    assert ft.varlen_attention(*x, starts([], device), enable_gqa=True).shape == (0, 4, 8)
    assert ft.varlen_attention(*x, starts([0, 0], device), enable_gqa=True).shape == (0, 4, 8)


@pytest.mark.parametrize("dtype", [F32, *HALF])
def test_errors_are_those_of_the_plain_formula(dtype, device):
    lengths = [150, 1, 129, 64]
    x = packed(device, lengths, lengths, dtype, 64)

    def in_float32(query, key, value, **options):
        return by_mask(query.float(), key.float(), value.float(), **options).to(query.dtype)

    def ours(*x, **options):
        return ft.varlen_attention(*x, starts(lengths, device), enable_gqa=True, **options)

    for options in ({"is_causal": True}, {"window": (30, 0), "sinks": 3}):
        found, plain = (gradients(f, x, **options) for f in (ours, one_by_one(lengths, lengths, in_float32)))
        exact = gradients(one_by_one(lengths, lengths, by_mask), [t.double() for t in x], **options)
        for a, b, c in zip(found, plain, exact, strict=True):
            error, other = ((t.double() - c).norm() / c.norm() for t in (a, b))
            assert error <= 2 * other + torch.finfo(dtype).eps, (options, error, other)


def test_derivatives_are_those_of_differences(path, device):
    cu = starts([2, 3], device)
    x = [t[:5, :1, :3].clone().requires_grad_() for t in packed(device)]
    assert gradcheck(lambda *x: ft.varlen_attention(*x, cu, is_causal=True, window=1, sinks=1), x)


def test_dropout_drops_some(device):
    x = packed(device)
    torch.manual_seed(0)
    some = ft.varlen_attention(*x, starts(LENGTHS, device), enable_gqa=True, dropout_p=0.5)
    assert (some != ft.varlen_attention(*x, starts(LENGTHS, device), enable_gqa=True)).any()


def test_compiled_in_one_graph(path, device):
    torch.compiler.reset()
    x, cu = packed(device), starts(LENGTHS, device)

    def f(*x):
        return ft.varlen_attention(*x, cu, enable_gqa=True, is_causal=True, window=2)

    assert_same(gradients(torch.compile(f, fullgraph=True, backend="aot_eager"), x), gradients(f, x), 1e-13, 1e-14)


class Model(torch.nn.Module):
    def forward(self, x, cu):
        return ft.varlen_attention(x, x, x, cu, is_causal=True, window=3, sinks=1)


def test_export(device):
    tokens, count = torch.export.Dim("tokens", min=2), torch.export.Dim("count", min=3)
    given = draw(11, 2, 4).to(device), starts([5, 6], device)
    exported = torch.export.export(Model(), given, dynamic_shapes=({0: tokens}, {0: count}))
    for lengths in ([5, 6], [1, 7, 3, 2]):
        given = draw(sum(lengths), 2, 4).to(device), starts(lengths, device)
        torch.testing.assert_close(exported.module()(*given), Model()(*given), rtol=1e-13, atol=1e-14)


@pytest.mark.gpu
def test_nobody_waits_for_the_gpu():
    cu = starts(LENGTHS, "cuda")
    for dtype in (F32, torch.bfloat16):
        x = [t.requires_grad_() for t in packed("cuda", dtype=dtype)]
        torch.cuda.set_sync_debug_mode("error")
        try:
            y = ft.varlen_attention(*x, cu, enable_gqa=True, is_causal=True, window=2, sinks=1)
            y.backward(torch.ones_like(y))
        finally:
            torch.cuda.set_sync_debug_mode("default")


def nested(x, lengths):
    """(total, heads, columns) as (B, heads, L, columns)."""
    return torch.nested.nested_tensor_from_jagged(x, torch.tensor([0, *lengths], device=x.device).cumsum(0)).transpose(1, 2)


@pytest.mark.parametrize("name", OPTIONS)
def test_nested_tensors_are_sequences(name, path, device):
    options = OPTIONS[name]
    for keys in (LENGTHS, KEYS):

        def ours(query, key, value, keys=keys, **options):
            key = nested(key, keys)
            value = torch.nested.nested_tensor_from_jagged(value, key.offsets()).transpose(1, 2)
            out = ft.scaled_dot_product_attention(nested(query, LENGTHS), key, value, enable_gqa=True, **options)
            assert out.is_nested and out.layout == torch.jagged
            return out.transpose(1, 2).values()

        x = packed(device, keys=keys)
        assert_same(gradients(ours, x, **options), gradients(one_by_one(LENGTHS, keys, by_mask), x, **options))


def test_keys_and_values_may_be_made_apart():
    """As torch's function allows. On a GPU nobody looks whether their lengths are the same."""
    x = packed()[0]
    apart, one = [nested(x, LENGTHS) for _ in range(3)], nested(x, LENGTHS)
    for alpha in (1.0, 1.5):
        ours, same = (ft.scaled_dot_product_attention(*given, alpha=alpha) for given in (apart, (one, one, one)))
        assert torch.equal(ours.transpose(1, 2).values(), same.transpose(1, 2).values())
    assert F.scaled_dot_product_attention(*apart).shape == apart[0].shape == ours.shape


def test_alpha_one_is_the_function_of_torch(device):
    """Which refuses causal ones on the CPU."""
    x = nested(packed(device)[0], LENGTHS)
    ours, theirs = ft.scaled_dot_product_attention(x, x, x, alpha=1.0), F.scaled_dot_product_attention(x, x, x)
    torch.testing.assert_close(*(y.transpose(1, 2).values() for y in (ours, theirs)), rtol=1e-11, atol=1e-11)


def test_nested_tensors_are_compiled_in_one_graph(path, device):
    torch.compiler.reset()
    x = nested(packed(device)[0], LENGTHS)

    def f(x):
        return ft.scaled_dot_product_attention(x, x, x, is_causal=True, window=2)

    ours, eager = torch.compile(f, fullgraph=True, backend="aot_eager")(x), f(x)
    torch.testing.assert_close(*(y.transpose(1, 2).values() for y in (ours, eager)), rtol=1e-13, atol=1e-14)


def test_a_nested_output_is_ragged_as_its_queries(device):
    x = nested(packed(device)[0], LENGTHS)
    out = ft.scaled_dot_product_attention(x, x, x, is_causal=True)
    assert out.shape == x.shape and torch.equal(out.offsets(), x.offsets())
    assert (out + x).shape == x.shape


def message_of(call):
    with pytest.raises((ValueError, TypeError)) as error:
        call()
    return str(error.value)


BAD = {
    "cu_seqlens_q must be int32, got torch.int64": starts(LENGTHS).long(),
    "cu_seqlens_q must be a vector, got shape (1, 6)": starts(LENGTHS)[None],
    "cu_seqlens_q must be a vector, got shape (0,)": starts(LENGTHS)[:0],
    "cu_seqlens_q must begin with 0, got 1": starts(LENGTHS) + torch.tensor([1, 0, 0, 0, 0, 0], dtype=torch.int32),
    "cu_seqlens_q must end with the number of tokens, 12, got 10": starts(LENGTHS)[:-1],
    "cu_seqlens_q[2] must not be less than the one before, 5, got 4": starts([5, -1, 8]),
}


@pytest.mark.parametrize("message", BAD)
def test_errors_name_the_argument_and_its_value(message):
    x = packed()
    assert message_of(lambda: ft.varlen_attention(*x, BAD[message], enable_gqa=True)) == f"fenchel.torch: {message}"


def test_errors_name_what_does_not_fit():
    query, key, value = packed()
    cu = starts(LENGTHS)
    assert message_of(lambda: ft.varlen_attention(query, key[:3], value[:3], cu)) == (
        "fenchel.torch: without cu_seqlens_k key must have 12 rows, got (3, 2, 8)"
    )
    assert message_of(lambda: ft.varlen_attention(query, key[None], value, cu)) == (
        "fenchel.torch: query, key and value must have 3 dimensions, got shapes ((12, 4, 8), (1, 12, 2, 8), (12, 2, 8))"
    )
    assert message_of(lambda: ft.varlen_attention(query, key, value, cu, starts([12]))) == (
        "fenchel.torch: cu_seqlens_k must be a vector of 6 numbers, got shape (2,)"
    )
    assert message_of(lambda: ft.varlen_attention(query, key, value, cu, window=-1)) == (
        "fenchel.torch: window must not be negative (None has no bound), got -1"
    )


def test_errors_name_what_is_not_nested():
    whole = packed()[0]
    x, padded = nested(whole, LENGTHS), draw(5, 4, 6, 8)
    mixed = message_of(lambda: ft.scaled_dot_product_attention(x, padded, padded))
    assert mixed.endswith("or none of them nested, got another key")
    straight = x.transpose(1, 2)
    assert message_of(lambda: ft.scaled_dot_product_attention(straight, x, x)).endswith("got another query")
    mask = torch.ones(1, dtype=torch.bool)
    assert message_of(lambda: ft.scaled_dot_product_attention(x, x, x, mask)) == (
        "fenchel.torch: attn_mask must be None beside nested tensors, got a tensor"
    )
    assert message_of(lambda: ft.attention_weights(x, x)) == (
        "fenchel.torch: query, key and value must not be nested here: scaled_dot_product_attention takes nested ones"
    )
    other = nested(whole, LENGTHS[::-1])
    assert "key and value must have the same lengths" in message_of(lambda: ft.scaled_dot_product_attention(x, x, other))
    gaps = torch.nested.narrow(draw(2, 6, 4, 8), 1, torch.tensor([0, 1]), torch.tensor([2, 3]), layout=torch.jagged)
    gaps = gaps.transpose(1, 2)
    assert message_of(lambda: ft.scaled_dot_product_attention(gaps, gaps, gaps)) == (
        "fenchel.torch: the sequences of query must be without gaps between them, got some"
    )
