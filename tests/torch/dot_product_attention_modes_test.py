"""Attention over keys in every mode: both orders of derivatives, torch.func, torch.compile and export, autocast, dropout."""

import math

import pytest
import torch
import torch._dynamo.testing
from key_attention import (  # noqa: F401  path is a fixture
    F32, F64, assert_same, draw, gradients, options_of, path, scores_of, tensors, whole_matrix,
)
from torch.autograd import gradcheck, gradgradcheck
from torch.nn import functional as F

import fenchel.torch as ft


def small(device="cpu"):
    return [t.requires_grad_() for t in tensors(device, (2, 3, 4), (2, 5, 4), 2)]


@pytest.mark.parametrize("alpha", [1 + 1e-8, 1.3, 1.5, 2.0])
def test_derivatives_of_both_orders_in_both_modes(alpha, path, device):
    def f(*x):
        return ft.scaled_dot_product_attention(*x, alpha=alpha)

    assert gradcheck(f, small(device), check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(f, small(device), check_fwd_over_rev=True)


def test_derivatives_in_bias_alpha_and_scale(path, device):
    bias = draw(1, 3, 5, seed=7).to(device).requires_grad_()
    alpha = torch.tensor([1.2, 1.8], dtype=F64, device=device, requires_grad=True)
    scale = torch.tensor(0.4, dtype=F64, device=device, requires_grad=True)

    def f(query, key, value, bias, alpha, scale):
        return ft.scaled_dot_product_attention(query, key, value, bias, alpha=alpha, scale=scale)

    x = [*small(device), bias, alpha, scale]
    assert gradcheck(f, x, check_forward_ad=True)
    assert gradgradcheck(f, x)


def test_transforms_of_functions(path, device):
    x = tensors(device, (3, 2, 3, 4), (3, 2, 5, 4), 2)
    alphas = torch.tensor([1.2, 1.5, 2.5], dtype=F64, device=device)

    def f(query, key, value, alpha):
        return ft.scaled_dot_product_attention(query, key, value, alpha=alpha)

    each = torch.stack([f(*(t[i] for t in x), alphas[i]) for i in range(3)])
    torch.testing.assert_close(torch.vmap(f)(*x, alphas), each, rtol=1e-13, atol=1e-14)
    slope = torch.func.grad(lambda *a: f(*a).pow(3).sum(), argnums=(0, 1, 2, 3))
    by_vmap, by_loop = torch.vmap(slope)(*x, alphas), [slope(*(t[i] for t in x), alphas[i]) for i in range(3)]
    for k in range(4):
        torch.testing.assert_close(by_vmap[k], torch.stack([g[k] for g in by_loop]), rtol=1e-12, atol=1e-13)
    row = [t[0, 0] for t in x]

    def cubes(f):
        return lambda query: f(query, *row[1:], alpha=1.5).pow(3).sum()

    for transform in (torch.func.hessian, torch.func.jacrev, torch.func.jacfwd):
        found, exact = (transform(cubes(g))(row[0]) for g in (ft.scaled_dot_product_attention, whole_matrix))
        torch.testing.assert_close(found, exact, rtol=1e-11, atol=1e-11)


def test_forward_mode_of_a_mask(device):
    x = tensors(device)
    mask = draw(5, 7, seed=9).to(device) > 0
    mask[2] = False
    direction = draw(2, 4, 5, 8, seed=11).to(device)
    found, exact = (
        torch.func.jvp(lambda q, f=f: f(q, *x[1:], attn_mask=mask), (x[0],), (direction,))[1]
        for f in (ft.scaled_dot_product_attention, whole_matrix)
    )
    torch.testing.assert_close(found, exact, rtol=1e-12, atol=1e-13)


def test_a_third_derivative_is_an_error(device):
    query, key, value = small(device)
    y = ft.scaled_dot_product_attention(query, key, value).pow(3).sum()
    (first,) = torch.autograd.grad(y, query, create_graph=True)
    (second,) = torch.autograd.grad(first.pow(2).sum(), query, create_graph=True)
    with pytest.raises(NotImplementedError, match="first and second derivatives"):
        torch.autograd.grad(second.sum(), query)


def test_opcheck(device):
    query, key, value = tensors(device, k=(2, 2, 7, 8))
    mask, bias = draw(2, 1, 5, 7, seed=4).to(device) > -1, draw(1, 4, 1, 7, seed=5).to(device)
    alphas, seed = torch.full((4,), 1.4, dtype=F64, device=device), torch.tensor([5], device=device)
    ranges = torch.tensor([[0, 0, 3], [0, 1, 4], [0, 2, 5], [3, 3, 7], [3, 4, 7]], dtype=torch.int32, device=device)
    x = (query.clone().requires_grad_(), key, value, mask, bias, alphas, alphas, seed, ranges.repeat(2, 1, 1))
    static = (0.0, 0.0, False, 0.25, 1)
    asked = (True, True, True, True, True)
    torch.library.opcheck(torch.ops.fenchel.dot_product_attention_blocks, (*x, *static))
    y = torch.zeros(2, 4, 5, 3, dtype=F64, device=device)
    torch.library.opcheck(torch.ops.fenchel.dot_product_attention_blocks_vjp, (query, *x[1:], y, *static, *asked, True))
    if device.type == "cuda":
        return
    torch.library.opcheck(torch.ops.fenchel.dot_product_attention, (*x, *static))
    _, *records = torch.ops.fenchel.dot_product_attention(*x, *static)
    torch.library.opcheck(torch.ops.fenchel.dot_product_attention_vjp, (query, *x[1:], *records, y, *static, *asked))


@pytest.mark.parametrize("name", ["bool", "bias of heads", "causal", "scale", "alphas"])
def test_compiled_in_one_graph(name, path, device):
    torch.compiler.reset()
    x, options = tensors(device), options_of(name, device)
    compiled = torch.compile(ft.scaled_dot_product_attention, fullgraph=True, backend="aot_eager")
    assert_same(gradients(compiled, x, **options), gradients(ft.scaled_dot_product_attention, x, **options), 1e-13, 1e-14)


def test_compiled_under_autocast_and_with_dropout(path, device):
    torch.compiler.reset()
    x = tensors(device, dtype=F32)
    compiled = torch.compile(ft.scaled_dot_product_attention, fullgraph=True, backend="aot_eager")

    def seeded(*x):
        torch.manual_seed(0)
        return compiled(*x, dropout_p=0.3)

    with torch.autocast(device.type, torch.bfloat16):
        first, second = (gradients(seeded, x) for _ in range(2))
    assert first[0].dtype == torch.bfloat16 and all(torch.equal(a, b) for a, b in zip(first, second))
    assert (first[0] != ft.scaled_dot_product_attention(*(t.bfloat16() for t in x))).any()


def test_one_graph_serves_all_lengths(device):
    torch.compiler.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(
        lambda *x: ft.scaled_dot_product_attention(*x, is_causal=True), fullgraph=True, dynamic=True, backend=counter
    )
    counts = []
    for n in (5, 6, 9):
        x = tensors(device, (2, 4, n, 8), (2, 4, n + 13, 8))
        rounding = 0 if device.type == "cpu" else 1e-13  # of torch's products, which the plain path of a GPU has
        plain = ft.scaled_dot_product_attention(*x, is_causal=True)
        torch.testing.assert_close(compiled(*x), plain, rtol=rounding, atol=rounding)
        counts.append(counter.frame_count)
    assert counts[1:] == counts[:-1]


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.project = torch.nn.Linear(8, 24, dtype=F64)
        self.alpha = torch.nn.Parameter(torch.tensor([1.3, 1.8], dtype=F64))

    def forward(self, x):
        query, key, value = self.project(x).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4).unbind(0)
        return ft.scaled_dot_product_attention(query, key, value, is_causal=True, alpha=self.alpha)


def test_export(device):
    model = Model().to(device)
    length = torch.export.Dim("length", min=2)
    exported = torch.export.export(model, (draw(2, 6, 8).to(device),), dynamic_shapes=({1: length},))
    for n in (6, 9):
        x = draw(2, n, 8).to(device)
        torch.testing.assert_close(exported.module()(x), model(x), rtol=1e-13, atol=1e-14)


def test_autocast_is_that_of_torch(path, device):
    x = tensors(device, dtype=F32)
    bias = draw(5, 7, seed=4).to(device, F32)
    with torch.autocast(device.type, torch.bfloat16):
        theirs = F.scaled_dot_product_attention(*x, attn_mask=bias)
        ours = gradients(ft.scaled_dot_product_attention, x, attn_mask=bias)
        wide = ft.scaled_dot_product_attention(*tensors(device))
    assert ours[0].dtype == theirs.dtype == torch.bfloat16 and wide.dtype == F64
    assert all(t.dtype == F32 for t in ours[1:])
    narrow = [t.bfloat16() for t in x]
    expected = ft.scaled_dot_product_attention(*narrow, attn_mask=bias.bfloat16())
    assert torch.equal(ours[0], expected)
    torch.testing.assert_close(wide, whole_matrix(*tensors(device)))


def dropped(*x, seed=0, **options):
    torch.manual_seed(seed)
    return ft.scaled_dot_product_attention(*x, dropout_p=0.3, **options)


def test_dropout_follows_the_generator(path, device):
    x = tensors(device)
    assert torch.equal(dropped(*x), dropped(*x)) and not torch.equal(dropped(*x), dropped(*x, seed=1))
    torch.manual_seed(0)
    first, second = (ft.scaled_dot_product_attention(*x, dropout_p=0.3) for _ in range(2))
    assert torch.equal(first, dropped(*x)) and not torch.equal(first, second)


def test_dropout_keeps_the_mean_and_drops_single_weights(path, device):
    query, key, _ = tensors(device, (40, 4, 5, 8), (40, 4, 7, 8))
    value = torch.eye(7, dtype=F64, device=device)
    p = ft.attention_weights(query, key).to_dense()
    found = dropped(query, key, value)
    kept = found != 0
    torch.testing.assert_close(found[kept], p[kept] / 0.7, rtol=1e-12, atol=1e-15)
    share = 1 - kept.sum() / (p > 0).sum()
    assert abs(share - 0.3) < 5 * math.sqrt(0.21 / (p > 0).sum().item())
    assert abs(kept[..., 0, :].sum() - kept[..., 1, :].sum()) < (p > 0).sum() / 10


def test_gradients_know_what_was_dropped(path, device):
    """The output is linear in the value, and a gradient is that of the same weights."""
    query, key, value = tensors(device)
    identity = torch.eye(7, dtype=F64, device=device).expand(2, 4, 7, 7)
    kept = dropped(query, key, identity)
    p = ft.attention_weights(query, key).to_dense()
    factors = (kept != 0).double() / 0.7
    bias = draw(4, 5, 7, seed=4).to(device)

    def known(query, key, value, attn_mask=None):
        z = scores_of(query, key, attn_mask)
        return (ft.entmax(z) * factors) @ value

    assert_same(gradients(dropped, (query, key, value)), gradients(known, (query, key, value)))
    factors = (dropped(query, key, identity, attn_mask=bias * 0) != 0).double() / 0.7
    ours = gradients(dropped, (query, key, value), attn_mask=bias * 0)
    assert_same(ours, gradients(known, (query, key, value), attn_mask=bias * 0))
    assert gradcheck(lambda *x: dropped(*x), [t[:1, :1].clone().requires_grad_() for t in (query, key, value)])


def test_both_paths_drop_the_same_weights():
    x = tensors()
    for seed in (0, 5, 2**62 + 12345, -7):
        args = (*x, None, None, None, None, torch.tensor([seed]), None, 1.5, 0.4, True, 0.4, 0)
        ours, plain = (getattr(torch.ops.fenchel, f"dot_product_attention{kind}")(*args)[0] for kind in ("", "_blocks"))
        torch.testing.assert_close(ours, plain, rtol=1e-13, atol=1e-14)
