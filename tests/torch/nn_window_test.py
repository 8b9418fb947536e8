"""Attention with several heads in windows, against the same with a mask."""

import itertools

import pytest
import torch
from key_attention import F64, draw, in_sight

from fenchel.torch import nn

E, H, L = 8, 4, 9
WINDOWS = [{"window": 2}, {"window": (3, 1), "sinks": 2}, {"window": (1, None), "sinks": 1}]


def pair(**settings):
    """In a window, and without one."""
    window = {name: settings.pop(name) for name in ("window", "sinks") if name in settings}
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(E, H, batch_first=True, dtype=F64, **settings)
    ours = nn.MultiheadAttention(E, H, batch_first=True, dtype=F64, **settings, **window)
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


def results(attention, x, **arguments):
    x = x.clone().requires_grad_()
    output, weights = attention(x, x, x, average_attn_weights=False, **arguments)
    loss = (output * torch.linspace(-1, 2, output.numel(), dtype=F64).view(output.shape)).sum()
    if weights is not None:
        loss = loss + (weights * torch.linspace(-1, 1, weights.numel(), dtype=F64).view(weights.shape)).sum()
    return [output, weights, *torch.autograd.grad(loss, [x, *attention.parameters()])]


def compare(ours, theirs, window, is_causal=False, padding=None):
    x = draw(2, L, E)
    hidden = ~in_sight(L, L, is_causal, **window)
    for need_weights in (False, True):
        options = {"need_weights": need_weights, "key_padding_mask": padding}
        found = results(ours, x, is_causal=is_causal, **options)
        expected = results(theirs, x, attn_mask=hidden, **options)
        torch.testing.assert_close(found, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("settings", [{}, {"alpha": "learned", "num_kv_heads": 2}, {"alpha": 1.0}, {"add_bias_kv": True}])
def test_a_window_is_a_mask(window, settings):
    padding = torch.arange(L) >= torch.tensor([[7], [L]])
    for is_causal, mask in itertools.product((False, True), (None, padding)):
        compare(*pair(**settings, **window), window, is_causal, mask)


@pytest.mark.parametrize("window", WINDOWS)
def test_a_scale_counts_the_keys_that_are_seen(window):
    padding = torch.arange(L) >= torch.tensor([[7], [L]])
    for is_causal, mask in itertools.product((False, True), (None, padding)):
        ours, theirs = pair(scale=nn.EntmaxAttentionScale(H, E // H), **window)
        compare(ours, theirs, window, is_causal, mask)


def test_more_sinks_than_keys_are_all_keys():
    x = draw(2, L, E)
    for settings in ({}, {"add_bias_kv": True}, {"scale": nn.EntmaxAttentionScale(H, E // H)}):
        ours, _ = pair(**settings, window=(2, None), sinks=2**63 - 1)
        torch.testing.assert_close(*(f(x, x, x)[0] for f in (ours, pair(**settings)[0])), rtol=1e-12, atol=1e-13)


def test_alpha_one_is_the_module_of_torch():
    ours, _ = pair(alpha=1.0, window=2, sinks=1)
    theirs = torch.nn.MultiheadAttention(E, H, batch_first=True, dtype=F64)
    theirs.load_state_dict(ours.state_dict())
    compare(ours, theirs, {"window": 2, "sinks": 1})


def test_the_window_is_shown_and_checked():
    assert "alpha=1.5, window=(3, 0), sinks=2" in repr(nn.MultiheadAttention(E, H, window=(3, 0), sinks=2))
    for bad, message in (({"window": -1}, "window must not be negative"), ({"sinks": -1}, "sinks must not be negative")):
        with pytest.raises(ValueError, match=message):
            nn.MultiheadAttention(E, H, **bad)


def test_compiled_in_one_graph():
    torch.compiler.reset()
    ours, _ = pair(window=2, sinks=1, scale=nn.EntmaxAttentionScale(H, E // H))
    x = draw(2, L, E)
    compiled = torch.compile(ours, fullgraph=True, backend="aot_eager")
    found, expected = (f(x, x, x, need_weights=False, is_causal=True)[0] for f in (compiled, ours))
    torch.testing.assert_close(found, expected, rtol=1e-13, atol=1e-14)
