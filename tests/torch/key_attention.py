"""Attention over keys by its definition, and what the tests of it share."""

import math

import pytest
import torch

import fenchel.torch as ft
from fenchel.torch import _attention_blocks as plain_path
from fenchel.torch import _dot_product_attention as module

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
        z = z.masked_fill(~torch.ones(z.shape[-2:], dtype=torch.bool, device=z.device).tril(), -torch.inf)
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


def in_sight(n, m, is_causal=False, window=None, sinks=0, documents=None, device="cpu"):
    """Which keys a query sees by its place: (n, m), or (B, 1, n, m) where members have their own documents."""
    left, right = window if isinstance(window, tuple) else (window, window)
    i, j = torch.arange(n, device=device)[:, None], torch.arange(m, device=device)
    first, seen = torch.zeros((), dtype=torch.int64, device=device), torch.ones(n, m, dtype=torch.bool, device=device)
    if documents is not None:
        seen = documents[..., :, None] == documents[..., None, :]
        first = seen.int().argmax(-1, keepdim=True)
    near = torch.ones_like(seen) if left is None else (i - j <= left) | (j < first + sinks)
    if is_causal or right is not None:
        near = near & (j - i <= (0 if is_causal else right))
    seen = seen & near
    return seen[:, None] if seen.dim() == 3 else seen


def by_mask(query, key, value, attn_mask=None, is_causal=False, window=None, sinks=0, documents=None, **options):
    """The whole matrix, where windows and documents are a mask."""
    seen = in_sight(query.shape[-2], key.shape[-2], is_causal, window, sinks, documents, query.device)
    if attn_mask is not None:
        is_bool = attn_mask.dtype == torch.bool
        seen = seen & attn_mask if is_bool else torch.where(seen, attn_mask, -torch.inf)
    return whole_matrix(query, key, value, seen, **options)


def gradients(f, inputs, **options):
    """The output, and the gradients in what needs some among the tensors."""
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    learned = {
        name: x.detach().clone().requires_grad_()
        for name, x in options.items()
        if isinstance(x, torch.Tensor) and x.is_floating_point()
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
        monkeypatch.setattr(plain_path, "BLOCK", 64)
        monkeypatch.setattr(module, "_has_kernel", lambda x: False)
    return request.param


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
        "causal, a key": {"is_causal": True, "attn_mask": masks["a key"]},
        "causal bias": {"is_causal": True, "attn_mask": masks["bias of heads"]},
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
OPTIONS += ["causal, a key", "causal bias"]
OPTIONS += ["alphas", "an alpha"]
