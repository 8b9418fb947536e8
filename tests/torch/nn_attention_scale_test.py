"""The scale that grows with the number of keys: its formula, where it begins, and how many keys a query sees."""

import math

import pytest
import torch
from key_attention import F64, draw
from torch.nn import functional as F

from fenchel.torch import nn
from fenchel.torch.nn._attention_masks import masks_of

H, D = 4, 3
N = torch.tensor([1, 2, 10, 1000, 10**6])


def learned():
    scale = nn.EntmaxAttentionScale(H, D).double()
    with torch.no_grad():
        scale.raw_beta.copy_(draw(H, seed=1))
        scale.raw_gamma.copy_(draw(H, seed=2))
    return scale


def test_it_begins_at_that_of_torch():
    torch.testing.assert_close(nn.EntmaxAttentionScale(H, D)(N).detach(), torch.full((H, 5), 1 / math.sqrt(D)))


def test_the_formula():
    scale = learned()
    for h in range(H):
        beta, gamma = F.softplus(scale.raw_beta[h]).item(), 2 * torch.tanh(scale.raw_gamma[h]).item()
        for n, found in zip(N.tolist(), scale(N)[h].tolist()):
            assert found == pytest.approx((1 - math.log(2) + beta * math.log(1 + n) ** gamma) / math.sqrt(D), rel=1e-12)
    assert (scale(N).diff()[scale.raw_gamma > 0] > 0).all() and (scale(N) > 0.3 / math.sqrt(D)).all()


def test_both_parameters_learn_from_the_start():
    scale = nn.EntmaxAttentionScale(H, D)
    scale(N[:4]).sum().backward()
    assert (scale.raw_beta.grad != 0).all() and (scale.raw_gamma.grad != 0).all()
    scale = learned()
    assert torch.autograd.gradcheck(
        lambda b, g: torch.func.functional_call(scale, {"raw_beta": b, "raw_gamma": g}, (N,)), list(scale.parameters())
    )


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("appended", [0, 2])
@pytest.mark.parametrize("kind", ["none", "bool", "bias", "heads"])
@pytest.mark.parametrize("has_padding", [False, True])
@pytest.mark.parametrize("keys", [3, 5, 7])
@pytest.mark.parametrize(("window", "sinks"), [(None, 0), ((1, None), 1)])
def test_lengths_are_those_of_the_matrix(is_causal, appended, kind, has_padding, keys, window, sinks):
    batch, queries = 2, 5
    mask = {
        "none": None, "bool": draw(queries, keys) > 0, "heads": draw(batch * H, queries, keys) > 0,
        "bias": draw(queries, keys).masked_fill(draw(queries, keys) > 0, -math.inf),
    }[kind]
    padding = torch.arange(keys) >= torch.tensor([[2], [keys]]) if has_padding else None
    masks = masks_of(batch, H, queries, keys, padding, mask, is_causal, window, sinks)
    masks = masks.append(appended, torch.device("cpu"))
    seen = torch.ones(batch, H, queries, keys, dtype=torch.bool)
    if is_causal:
        seen &= torch.ones(queries, keys, dtype=torch.bool).tril()
    elif mask is not None:
        hidden = mask if mask.dtype == torch.bool else mask == -math.inf
        seen &= ~(hidden.view(batch, H, queries, keys) if kind == "heads" else hidden)
    if padding is not None:
        seen &= ~padding[:, None, None]
    if window is not None:
        behind = torch.arange(keys) < torch.arange(queries)[:, None] - window[0]
        seen &= ~behind | (torch.arange(keys) < sinks)
    assert torch.equal(masks.lengths(torch.device("cpu")).expand(batch, H, queries), seen.sum(-1) + appended)


@pytest.mark.parametrize("need_weights", [False, True])
def test_attention_has_the_scale_of_what_a_query_sees(need_weights):
    """A sequence that ends early, or is padded, gives what its part alone does."""
    torch.manual_seed(0)
    attention = nn.MultiheadAttention(H * D, H, batch_first=True, scale=learned(), dtype=F64)
    x = 3 * draw(2, 9, H * D)
    options = {"need_weights": need_weights}
    whole = attention(x, x, x, is_causal=True, **options)[0]
    part = x[:, :6]
    torch.testing.assert_close(attention(part, part, part, is_causal=True, **options)[0], whole[:, :6])
    padding = torch.arange(9) >= torch.tensor([[6], [9]])
    padded = attention(x, x, x, padding, **options)[0]
    torch.testing.assert_close(padded[:1, :6], attention(part[:1], part[:1], part[:1], **options)[0])
    # Where all queries see all keys, the scales of heads are numbers.
    weights = attention(x, x, x, average_attn_weights=False)[1]
    for h, number in enumerate(attention.scale(torch.tensor([9])).flatten().tolist()):
        twin = nn.MultiheadAttention(H * D, H, batch_first=True, scale=number, dtype=F64)
        twin.load_state_dict({name: p for name, p in attention.state_dict().items() if "scale" not in name})
        torch.testing.assert_close(twin(x, x, x, average_attn_weights=False)[1][:, h], weights[:, h])


def test_settings_that_mean_nothing():
    for heads, columns in ((0, 3), (2, 0)):
        message = f"num_heads and head_dim must be positive, got {heads} and {columns}"
        with pytest.raises(ValueError, match=f"EntmaxAttentionScale: {message}"):
            nn.EntmaxAttentionScale(heads, columns)
