"""Attention over keys with the weights of entmax: torch's arguments, the plain formula's numbers, derivatives of both
orders, and the errors of the same formula in the same precision."""

import math
import random

import pytest
import torch
import torch._dynamo.testing
from torch.autograd import gradcheck, gradgradcheck
from torch.nn import functional as F

import fenchel.torch as ft
from fenchel.torch import _attention_blocks as plain_path

F64, F32 = torch.float64, torch.float32
HALF = [torch.bfloat16, torch.float16]
ALPHAS = [math.nextafter(1, 2), 1 + 1e-8, 4 / 3, 1.5, 2.0, 5.0, 1e6]


def draw(*shape, seed=0, dtype=F64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=F64).to(dtype)


def tensors(device="cpu", q=(2, 4, 5, 8), k=(2, 4, 7, 8), cols=3, dtype=F64):
    return [x.to(device, dtype) for x in (draw(*q, seed=1), draw(*k, seed=2), draw(*k[:-1], cols, seed=3))]


def scores_of(query, key, attn_mask=None, is_causal=False, scale=None, enable_gqa=False):
    """By the definition, in the type of the query; the whole matrix."""
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    if isinstance(scale, torch.Tensor) and scale.dim() == 1:
        scale = scale[:, None, None]
    z = query @ key.mT * scale
    if is_causal:
        attn_mask = torch.ones(z.shape[-2:], dtype=torch.bool, device=z.device).tril()
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        return z.masked_fill(~attn_mask, -torch.inf)
    return z if attn_mask is None else z + attn_mask


def whole_matrix(query, key, value, attn_mask=None, is_causal=False, scale=None, enable_gqa=False, alpha=1.5):
    z = scores_of(query, key, attn_mask, is_causal, scale, enable_gqa)
    if enable_gqa:
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    if isinstance(alpha, torch.Tensor):
        alpha = alpha.to(F64)
        alpha = alpha[:, None, None] if alpha.dim() == 1 else alpha
    empty = (z == -torch.inf).all(-1, keepdim=True)
    p = ft.entmax(z.masked_fill(empty, 0), alpha).masked_fill(empty, 0)
    return p.to(value.dtype) @ value


def gradients(f, inputs, **options):
    """The output, and the gradients in what needs some among the tensors."""
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    learned = {
        name: x.detach().clone().requires_grad_()
        for name, x in options.items()
        if isinstance(x, torch.Tensor) and x.dtype != torch.bool
    }
    y = f(*leaves, **options | learned)
    weights = torch.linspace(-1, 2, max(y.numel(), 1), dtype=F64, device=y.device)[: y.numel()].reshape(y.shape)
    found = torch.autograd.grad((y.double() * weights).sum(), [*leaves, *learned.values()], allow_unused=True)
    return [y.detach(), *found]


def assert_same(ours, exact, rtol=1e-11, atol=1e-11):
    for a, b in zip(ours, exact, strict=True):
        torch.testing.assert_close(a, b, rtol=rtol, atol=atol)


@pytest.fixture(params=["kernel", "blocks"])
def path(request, monkeypatch):
    """Both ways to compute it: by the kernel of the device, and in blocks so small that there are several."""
    if request.param == "blocks":
        from fenchel.torch import _dot_product_attention as module

        monkeypatch.setattr(plain_path, "BLOCK", 64)
        monkeypatch.setattr(module, "_has_kernel", lambda x: False)
    return request.param


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
    one = torch.ones((), dtype=F64, device=device)
    for options in ({}, {"is_causal": True}, {"attn_mask": mask}, {"scale": 0.3}):
        ours = gradients(lambda *a, o=options: ft.scaled_dot_product_attention(*a, alpha=one, **o), x)
        assert_same(ours, gradients(F.scaled_dot_product_attention, x, **options))


def options_of(name, device, dtype=F64):
    masks = {
        "bool": draw(5, 7, seed=4) > -0.5,
        "a key": draw(2, 1, 1, 7, seed=5) > -0.5,
        "bias": draw(2, 4, 5, 7, seed=6),
        "bias of heads": draw(4, 1, 7, seed=7),
        "bias of batch": draw(2, 1, 5, 7, seed=8),
        "one bias": draw(1, 1, seed=9),
    }
    made = {name: {"attn_mask": mask} for name, mask in masks.items()} | {
        "causal": {"is_causal": True},
        "scale": {"scale": torch.tensor([0.1, 0.5, 1.0, -2.0], dtype=F64)},
        "one scale": {"scale": torch.tensor(0.7, dtype=F64)},
        "alphas": {"alpha": torch.tensor([1.0, 1.3, 2.0, 4.0], dtype=F64)},
        "an alpha": {"alpha": torch.tensor(1.7, dtype=F64)},
    }
    return {
        k: (x.to(device) if x.dtype == torch.bool else x.to(device, dtype)) if isinstance(x, torch.Tensor) else x
        for k, x in made[name].items()
    }


OPTIONS = ["bool", "a key", "bias", "bias of heads", "bias of batch", "one bias", "causal", "scale", "one scale"]
OPTIONS += ["alphas", "an alpha"]


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
    mask = draw(*expected.shape[:-1], 7, seed=4).to(device)
    assert_same(
        gradients(ft.scaled_dot_product_attention, x, attn_mask=mask), gradients(whole_matrix, x, attn_mask=mask)
    )


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
    x = (query.clone().requires_grad_(), key, value, mask, bias, alphas, alphas, seed)
    static = (0.0, 0.0, False, 0.25)
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


def test_one_graph_serves_all_lengths(device):
    torch.compiler.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(
        lambda *x: ft.scaled_dot_product_attention(*x, is_causal=True), fullgraph=True, dynamic=True, backend=counter
    )
    counts = []
    for n in (5, 6, 9):
        x = tensors(device, (2, 4, n, 8), (2, 4, n + 13, 8))
        assert torch.equal(compiled(*x), ft.scaled_dot_product_attention(*x, is_causal=True))
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


def test_two_calls_give_the_same_bits(path, device):
    x = tensors(device, (2, 4, 100, 16), (2, 4, 130, 16), dtype=F32)
    alphas = torch.tensor([1.0, 1.3, 1.5, 2.0], device=device)
    first, second = (gradients(ft.scaled_dot_product_attention, x, alpha=alphas) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first, second))


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
        args = (*x, None, None, None, None, torch.tensor([seed]), 1.5, 0.4, True, 0.4)
        ours, plain = (getattr(torch.ops.fenchel, f"dot_product_attention{kind}")(*args)[0] for kind in ("", "_blocks"))
        torch.testing.assert_close(ours, plain, rtol=1e-13, atol=1e-14)


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
    ({"attn_mask": torch.ones(5, 7), "is_causal": True}, ValueError, "attn_mask must be None where is_causal, got both"),
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
    kind = pick.choice(["none", "bool", "bias", "causal"])
    if kind == "bool":
        options["attn_mask"] = draw(*shape, seed=seed) > -0.7
    elif kind == "bias":
        options["attn_mask"] = draw(*shape, seed=seed)
    elif kind == "causal":
        options["is_causal"] = True
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
