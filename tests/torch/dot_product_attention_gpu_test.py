"""Attention over keys by the kernels of a GPU: 10000 random problems, strides, and orders that are not numbers of a head."""

import random

import pytest
import torch
from key_attention import HALF, draw, gradients, tensors, whole_matrix

import fenchel.torch as ft
from fenchel.torch import _dot_product_attention as module

pytestmark = pytest.mark.gpu
PARTS, EACH = 20, 500


def problem(seed):
    """Shapes, options and numbers that the kernels take: flat and peaked scores, rows without a key, repeated heads."""
    pick = random.Random(seed)
    generator = torch.Generator("cuda").manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=generator, device="cuda")

    b, groups, share = pick.choice([1, 2]), pick.choice([1, 2]), pick.choice([1, 1, 2, 3])
    h, d, e = groups * share, 8 * pick.randint(1, 16), 8 * pick.randint(1, 16)
    n, m = pick.choice([1, 15, 33, 128, 129, 300]), pick.choice([1, 7, 64, 65, 129, 500, 1500])
    options = {"enable_gqa": True}
    kind = pick.choice(["none", "none", "bool", "bias", "causal"])
    shape = [pick.choice([1, size]) for size in (b, h, n, m)]
    if kind == "bool":
        options["attn_mask"] = normal(*shape) > pick.choice([-1.0, 1.5])
    elif kind == "bias":
        options["attn_mask"] = normal(*shape).to(HALF[seed % 2])
    elif kind == "causal":
        options["is_causal"] = True
    alphas = 1 + torch.rand(h, generator=generator, device="cuda")
    options["alpha"] = pick.choice([1.05, 1.25, 4 / 3, 1.5, 1.5, 1.7, 2.0, alphas])
    if pick.random() < 0.3:
        options["scale"] = pick.choice([0.05, 0.3, -0.2, normal(h)])
    spread = pick.choice([0.1, 0.5, 1.0, 1.0, 3.0])
    x = [spread * normal(b, h, n, d), normal(b, groups, m, d), normal(b, groups, m, e)]
    return [t.to(HALF[seed % 2]) for t in x], options


def in_float32(query, key, value, **options):
    return whole_matrix(query.float(), key.float(), value.float(), **options).to(query.dtype)


@pytest.mark.parametrize("part", range(PARTS))
def test_errors_of_random_problems_are_those_of_the_plain_formula(part):
    """At most twice as large, against float64, in the root of the mean square, or a rounding more; gradients in bias, alpha
    and scale are sums of many terms, which may cancel."""
    for seed in range(EACH * part, EACH * (part + 1)):
        x, options = problem(seed)
        wide = {k: t.double() if torch.is_tensor(t) and t.dtype != torch.bool else t for k, t in options.items()}
        ours, plain = (gradients(f, x, **options) for f in (ft.scaled_dot_product_attention, in_float32))
        exact = gradients(whole_matrix, [t.double() for t in x], **wide)
        for place, (a, b, c) in enumerate(zip(ours, plain, exact, strict=True)):
            size = c.norm() + 1e-2 * (c if place < 4 else ours[0]).numel() ** 0.5
            error, other = ((t.double() - c).norm() / size for t in (a, b))
            rounding = torch.finfo(x[0].dtype).eps * (1 if place < 4 else 8)
            assert error <= 2 * other + rounding, (seed, place, error.item(), other.item())


def test_strides_are_those_of_any_view():
    """Tensors of (batch, length, heads, columns), of a packed projection, of one head for all, and of one key for all."""
    for dtype in HALF:
        packed = draw(2, 150, 3, 4, 64, seed=1, dtype=dtype).cuda()
        x = packed.permute(2, 0, 3, 1, 4).unbind(0)
        views = [x, [t.transpose(1, 2).contiguous().transpose(1, 2) for t in x]]
        views.append([x[0], x[1][:1, :1].expand(2, 4, -1, -1), x[2][:1, :1].expand(2, 4, -1, -1)])
        views.append([x[0], x[1][:, :, :1].expand(-1, -1, 150, -1), x[2]])
        for view in views:
            ours, same = (
                attended_with_gradients([t.detach() for t in x]) for x in (view, [t.contiguous() for t in view])
            )
            assert all(torch.equal(a, b) for a, b in zip(ours, same))


def attended_with_gradients(x):
    for t in x:
        t.requires_grad_()
    y = ft.scaled_dot_product_attention(*x)
    return [y, *torch.autograd.grad(y, x, draw(*y.shape, seed=7).to(y))]


def test_a_head_whose_alpha_is_none_is_nan_and_no_other():
    x = tensors("cuda", (2, 3, 150, 64), (2, 3, 200, 64), 64, torch.bfloat16)
    alphas = torch.tensor([1.5, 0.5, 2.0], device="cuda")
    found, good = (ft.scaled_dot_product_attention(*x, alpha=t) for t in (alphas, alphas.clamp(1)))
    assert found[:, 1].isnan().all()
    assert torch.equal(found[:, ::2], good[:, ::2])


def test_an_infinite_alpha_of_a_head_is_the_largest_score():
    x = tensors("cuda", (2, 3, 150, 64), (2, 3, 200, 64), 64, torch.bfloat16)
    alphas = torch.tensor([1.5, torch.inf, 2.0], device="cuda", dtype=torch.float64)
    found = ft.scaled_dot_product_attention(*x, alpha=alphas)
    largest = (x[0][:, 1].double() @ x[1][:, 1].double().mT).argmax(-1)
    assert torch.equal(found[:, 1], torch.gather(x[2][:, 1], 1, largest[..., None].expand(-1, -1, 64)))
    assert torch.equal(found[:, 0], ft.scaled_dot_product_attention(*(t[:, :1] for t in x), alpha=1.5)[:, 0])


def test_the_kernels_are_what_was_tested():
    assert module.ON_GPU
