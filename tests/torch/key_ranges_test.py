"""Attention where a query sees an interval of keys: windows, sinks and documents, against masks that say the same."""

import itertools

import pytest
import torch
from key_attention import (  # noqa: F401  path is a fixture
    ALPHAS, F32, F64, HALF, assert_same, by_mask, draw, gradients, in_sight, path, tensors,
)
from torch._subclasses import FakeTensorMode
from torch.autograd import gradcheck, gradgradcheck
from torch.nn import functional as F

import fenchel.torch as ft

WINDOWS = [0, 2, (1, 3), (None, 1), (3, None), (None, None), 100]
SHAPES = {"as many": (11, 11), "more keys": (5, 12), "more queries": (12, 5)}


def problem(device, n=11, m=11, dtype=F64):
    return tensors(device, (2, 4, n, 8), (2, 2, m, 8), 8, dtype)


def documents(device):
    """Of two members with 11 tokens: one with three documents, one with padding on the left."""
    return torch.tensor([[0, 0, 0, 3, 4, 4, 4, 4, 4, 4, 4], [-1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0]], device=device)


def compare(x, rtol=1e-11, atol=1e-11, **options):
    options = {"enable_gqa": True} | options
    ours, exact = (gradients(f, x, **options) for f in (ft.scaled_dot_product_attention, by_mask))
    assert_same(ours, exact, rtol, atol)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_window_is_a_mask(window, shape, path, device):
    x = problem(device, *SHAPES[shape])
    for sinks, is_causal in itertools.product((0, 1, 4), (False, True)):
        compare(x, window=window, sinks=sinks, is_causal=is_causal)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_every_alpha(alpha, path, device):
    compare(problem(device), 1e-9, 1e-9, window=3, sinks=1, is_causal=True, alpha=alpha)


@pytest.mark.parametrize("window", [None, 2, (1, None)])
def test_documents_are_a_mask(window, path, device):
    x = problem(device)
    for own in (documents(device), documents(device)[0].int(), documents(device)[1].to(torch.int16)):
        for sinks, is_causal in itertools.product((0, 2), (False, True)):
            compare(x, window=window, sinks=sinks, is_causal=is_causal, documents=own)


def test_masks_bias_scales_and_alphas_hold_beside_them(path, device):
    x = problem(device)
    key_mask, bias = draw(2, 1, 1, 11, seed=4).to(device) > -0.5, draw(4, 11, 11, seed=5).to(device)
    numbers = torch.tensor([1.0, 1.3, 2.0, 1.5], dtype=F64, device=device)
    for own in ({"documents": documents(device)}, {}):
        for option in ({"attn_mask": key_mask}, {"attn_mask": bias}, {"alpha": numbers, "scale": numbers / 4}):
            compare(x, window=(4, 1), sinks=1, **own, **option)


def test_members_of_any_shape_have_their_documents(device):
    """Leading dimensions beside the heads, and none."""
    x = [t.expand(3, *t.shape) for t in problem(device)]
    own = documents(device).expand(3, 2, 11)
    found = ft.scaled_dot_product_attention(*x, enable_gqa=True, documents=own)
    one = ft.scaled_dot_product_attention(*problem(device), enable_gqa=True, documents=own[0])
    assert all(torch.equal(part, one) for part in found)
    x = tensors(device, (11, 8), (11, 8))
    compare(x, documents=documents(device)[0], window=3, enable_gqa=False)


@pytest.mark.parametrize("options", [{"window": 2}, {"window": (3, 1), "sinks": 2}, {"documents": True, "is_causal": True}])
def test_alpha_one_is_the_function_of_torch_with_the_mask(options, path, device):
    x = problem(device)
    own = documents(device) if options.pop("documents", False) else None
    seen = in_sight(11, 11, documents=own, device=device, **options)
    ours = gradients(ft.scaled_dot_product_attention, x, alpha=1.0, documents=own, enable_gqa=True, **options)
    assert_same(ours, gradients(F.scaled_dot_product_attention, x, attn_mask=seen, enable_gqa=True))


def test_a_window_without_bounds_is_causal_or_nothing(device):
    x = problem(device)
    ours = ft.scaled_dot_product_attention(*x, enable_gqa=True, window=(None, 0))
    assert torch.equal(ours, ft.scaled_dot_product_attention(*x, enable_gqa=True, is_causal=True))
    ours = ft.scaled_dot_product_attention(*x, enable_gqa=True, window=(None, None), sinks=3)
    assert torch.equal(ours, ft.scaled_dot_product_attention(*x, enable_gqa=True))


@pytest.mark.parametrize(("batch", "n", "m"), [(2, 0, 5), (2, 5, 0), (2, 0, 0), (0, 5, 5)])
def test_nothing_is_in_a_window(batch, n, m, path, device):
    x = [t[:batch] for t in problem(device, n, m)]
    compare(x, window=(2, 1), sinks=1)
    if n == m:
        own = torch.zeros(batch, n, dtype=torch.int64, device=device)
        assert ft.scaled_dot_product_attention(*x, enable_gqa=True, documents=own).shape == (batch, 4, n, 8)


@pytest.mark.parametrize("huge", [2**31 - 1, 2**63 - 1])
def test_the_largest_numbers_are_no_bounds(huge, path, device):
    x = problem(device)

    def attend(**options):
        return ft.scaled_dot_product_attention(*x, enable_gqa=True, **options)

    for own in (None, documents(device)):
        assert torch.equal(attend(documents=own, window=huge), attend(documents=own))
        assert torch.equal(attend(documents=own, window=2, sinks=huge), attend(documents=own, window=2, sinks=11))


def test_documents_are_separate_calls(path, device):
    x = [t[:1] for t in problem(device)]
    own = documents(device)[0]
    for options in ({}, {"is_causal": True}, {"window": 1, "sinks": 1}):
        whole = gradients(ft.scaled_dot_product_attention, x, enable_gqa=True, documents=own, **options)
        ends = [0, 3, 4, 11]
        for a, b in zip(ends, ends[1:]):
            part = ft.scaled_dot_product_attention(*(t[:, :, a:b] for t in x), enable_gqa=True, **options)
            torch.testing.assert_close(whole[0][:, :, a:b], part, rtol=1e-13, atol=1e-14)


def test_left_padding_changes_nothing(path, device):
    """Neither outputs nor gradients of the tokens behind it. A kernel does not read it; on the plain path it is multiplied by 0."""
    x = [t[:1] for t in problem(device, 7, 7)]
    held = torch.nan if path == "kernel" and device.type == "cpu" else 1e3
    own = (torch.arange(11, device=device) >= 4).int()
    for options in ({"is_causal": True}, {"window": (2, 0), "sinks": 1}):

        def padded(*x, o=options):
            x = (F.pad(t, (0, 0, 4, 0), value=held) for t in x)
            return ft.scaled_dot_product_attention(*x, enable_gqa=True, documents=own, **o)[:, :, 4:]

        assert_same(gradients(padded, x), gradients(ft.scaled_dot_product_attention, x, enable_gqa=True, **options))


@pytest.mark.parametrize("dtype", [F32, *HALF])
@pytest.mark.parametrize("alpha", [1.0, 4 / 3, 1.5, 2.0])
def test_errors_are_those_of_the_plain_formula(alpha, dtype, device):
    """Over several tiles of keys: at most twice as large, against float64, in the root of the mean square."""
    x = tensors(device, (1, 2, 300, 64), (1, 2, 300, 64), 64, dtype)
    own = torch.arange(300, device=device) // 140

    def in_float32(query, key, value, **options):
        return by_mask(query.float(), key.float(), value.float(), **options).to(query.dtype)

    for options in ({"window": (40, 0), "sinks": 4}, {"window": 150}, {"documents": own, "is_causal": True}):
        options["alpha"] = alpha
        ours, plain = (gradients(f, x, **options) for f in (ft.scaled_dot_product_attention, in_float32))
        exact = gradients(by_mask, [t.double() for t in x], **options)
        for a, b, c in zip(ours, plain, exact, strict=True):
            error, other = ((t.double() - c).norm() / c.norm() for t in (a, b))
            assert error <= 2 * other + torch.finfo(dtype).eps, (options, error, other)


def test_the_two_paths_drop_the_same_weights():
    x = tensors(k=(2, 4, 7, 8))
    ranges = torch.tensor([[0, 0, 1], [0, 2, 4], [0, 2, 5], [3, 4, 7], [7, 7, 7]], dtype=torch.int32).repeat(2, 1, 1)
    args = (*x, None, None, None, None, torch.tensor([5]), ranges, 1.5, 0.4, False, 0.4, 1)
    ours, plain = (getattr(torch.ops.fenchel, f"dot_product_attention{kind}")(*args)[0] for kind in ("", "_blocks"))
    torch.testing.assert_close(ours, plain, rtol=1e-13, atol=1e-14)
    assert (ours[:, :, 4] == 0).all()


def test_weights_are_those_of_the_mask(path, device):
    query, key, _ = problem(device)
    for options in ({"window": 2, "sinks": 1}, {"documents": documents(device), "is_causal": True}):
        seen = in_sight(11, 11, device=device, **options)
        ours = ft.attention_weights(query, key, enable_gqa=True, **options).to_dense()
        torch.testing.assert_close(ours, ft.attention_weights(query, key, seen, enable_gqa=True).to_dense())


def small(device):
    return [t.requires_grad_() for t in tensors(device, (1, 2, 6, 3), (1, 1, 6, 3), 2)]


def windowed(*x, **options):
    return ft.scaled_dot_product_attention(*x, enable_gqa=True, window=(2, 1), sinks=1, **options)


def test_derivatives_are_those_of_differences(path, device):
    own = torch.tensor([0, 0, 0, 1, 1, 1], device=device)
    for options in ({}, {"documents": own, "is_causal": True}):
        assert gradcheck(lambda *x, o=options: windowed(*x, **o), small(device), check_forward_ad=True)
        assert gradgradcheck(lambda *x, o=options: windowed(*x, **o), small(device))


@pytest.mark.parametrize("options", [{"window": 2, "sinks": 1}, {"documents": True, "is_causal": True}])
def test_compiled_in_one_graph(options, path, device):
    torch.compiler.reset()
    x = problem(device)
    if "documents" in options:
        options = options | {"documents": documents(device)}
    compiled = torch.compile(ft.scaled_dot_product_attention, fullgraph=True, backend="aot_eager")
    ours, eager = (gradients(f, x, enable_gqa=True, **options) for f in (compiled, ft.scaled_dot_product_attention))
    assert_same(ours, eager, 1e-13, 1e-14)


class Model(torch.nn.Module):
    def forward(self, x, own):
        x = x.unflatten(-1, (2, 4)).transpose(1, 2)
        return ft.scaled_dot_product_attention(x, x, x, is_causal=True, window=3, sinks=1, documents=own)


def test_export(device):
    length = torch.export.Dim("length", min=2)
    x, own = draw(2, 6, 8).to(device), torch.tensor([0, 0, 0, 1, 1, 1], device=device)
    exported = torch.export.export(Model(), (x, own), dynamic_shapes=({1: length}, {0: length}))
    for n in (6, 9):
        x, own = draw(2, n, 8).to(device), torch.arange(n, device=device) // 4
        torch.testing.assert_close(exported.module()(x, own), Model()(x, own), rtol=1e-13, atol=1e-14)


def test_vmap_is_a_call_for_each(device):
    x = problem(device)
    together = torch.vmap(lambda *t: ft.scaled_dot_product_attention(*t, enable_gqa=True, window=2))(*x)
    torch.testing.assert_close(together, ft.scaled_dot_product_attention(*x, enable_gqa=True, window=2))


def test_numbers_of_tensors_without_data_are_not_looked_at(device):
    with FakeTensorMode() as mode:
        x, own = [mode.from_tensor(t) for t in problem(device)], mode.from_tensor(documents(device))
        assert ft.scaled_dot_product_attention(*x, enable_gqa=True, documents=own).shape == x[0].shape


@pytest.mark.gpu
def test_nobody_waits_for_the_gpu():
    own = documents("cuda")
    for dtype in (F32, torch.bfloat16):
        x = [t.requires_grad_() for t in problem("cuda", dtype=dtype)]
        torch.cuda.set_sync_debug_mode("error")
        try:
            y = ft.scaled_dot_product_attention(*x, enable_gqa=True, window=3, sinks=1, documents=own)
            y.backward(torch.ones_like(y))
        finally:
            torch.cuda.set_sync_debug_mode("default")


BAD = {
    "window must not be negative (None has no bound), got -1": {"window": -1},
    "window must not be negative (None has no bound), got (2, -3)": {"window": (2, -3)},
    "sinks must not be negative, got -2": {"window": 3, "sinks": -2},
    "sinks must be an integer, got 2.5": {"window": 3, "sinks": 2.5},
    "sinks must be an integer, got None": {"window": 3, "sinks": None},
    "window must be an integer or a pair of integers or None, got 2.5": {"window": 2.5},
    "window must be an integer or a pair of integers or None, got (1, 2, 3)": {"window": (1, 2, 3)},
    "documents must be integers, got torch.float32": {"documents": torch.zeros(11)},
    "documents must be integers, got torch.bool": {"documents": torch.zeros(11, dtype=torch.bool)},
    "documents must have shape (11,) or (2, 11), got (10,)": {"documents": torch.zeros(10, dtype=torch.int64)},
    "documents must have shape (11,) or (2, 11), got (3, 11)": {"documents": torch.zeros(3, 11, dtype=torch.int64)},
    "documents[6] must not be less than the one before, 5, got 3": {
        "documents": torch.tensor([0, 1, 2, 3, 4, 5, 3, 7, 8, 9, 10])
    },
    "documents[1, 10] must not be less than the one before, 1, got 0": {
        "documents": torch.tensor([[0] * 11, [1] * 10 + [0]])
    },
}


@pytest.mark.parametrize("message", BAD)
def test_errors_name_the_argument_and_its_value(message):
    with pytest.raises((ValueError, TypeError)) as error:
        ft.scaled_dot_product_attention(*problem("cpu"), enable_gqa=True, **BAD[message])
    assert str(error.value) == f"fenchel.torch: {message}"


def test_documents_need_as_many_queries_as_keys():
    x = problem("cpu", 5, 12)
    with pytest.raises(ValueError, match="documents need as many queries as keys, got 5 and 12"):
        ft.scaled_dot_product_attention(*x, enable_gqa=True, documents=torch.zeros(5, dtype=torch.int64))
