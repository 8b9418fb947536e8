"""Models of torch whose attention becomes sparse: the weights and, at alpha = 1, the outputs stay."""

import math

import pytest
import torch
from key_attention import F64, draw

from fenchel.torch import nn
from fenchel.torch.nn import sparsify

E, H, B, L = 8, 4, 2, 6
X, MEMORY = draw(B, L, E, seed=1), draw(B, L + 1, E, seed=2)
PADDING = torch.arange(L) >= torch.tensor([[4], [L]])
CAUSAL = torch.nn.Transformer.generate_square_subsequent_mask(L, dtype=F64)
OF_LAYER = {"d_model": E, "nhead": H, "dim_feedforward": 16, "batch_first": True, "dropout": 0.0, "dtype": F64}


def encoder(**settings):
    return torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(**OF_LAYER, **settings), 2)


def transformer():
    return torch.nn.Transformer(num_encoder_layers=2, num_decoder_layers=2, **OF_LAYER)


MODELS = {
    "encoder layer": (lambda: torch.nn.TransformerEncoderLayer(**OF_LAYER), lambda m: m(X)),
    "norm first": (lambda: torch.nn.TransformerEncoderLayer(norm_first=True, **OF_LAYER), lambda m: m(X)),
    "masked layer": (lambda: torch.nn.TransformerEncoderLayer(**OF_LAYER), lambda m: m(X, CAUSAL, PADDING)),
    "causal layer": (lambda: torch.nn.TransformerEncoderLayer(**OF_LAYER), lambda m: m(X, CAUSAL, is_causal=True)),
    "encoder": (encoder, lambda m: m(X)),
    "padded encoder": (encoder, lambda m: m(X, src_key_padding_mask=PADDING)[~PADDING]),
    "causal encoder": (encoder, lambda m: m(X, CAUSAL, is_causal=True)),
    "decoder layer": (
        lambda: torch.nn.TransformerDecoderLayer(**OF_LAYER), lambda m: m(X, MEMORY, CAUSAL, tgt_is_causal=True)
    ),
    "transformer": (transformer, lambda m: m(MEMORY, X, tgt_mask=CAUSAL, tgt_is_causal=True)),
    "padded transformer": (
        transformer, lambda m: m(X, X, tgt_mask=CAUSAL, src_key_padding_mask=PADDING, memory_key_padding_mask=PADDING)
    ),
}


def pair(name):
    torch.manual_seed(0)
    make, call = MODELS[name]
    model = make()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.2 * torch.randn_like(parameter)
    return model, call


@pytest.mark.parametrize("mode", ["train", "eval", "eval without gradients"])
@pytest.mark.parametrize("name", MODELS)
def test_outputs_stay_at_alpha_one_and_change_at_others(name, mode):
    """Without gradients layers of torch would compute softmax on a path of their own."""
    model, call = pair(name)
    model.train(mode == "train")
    with torch.set_grad_enabled(mode != "eval without gradients"):
        before = call(model)
        assert sparsify(model, alpha=1) is model
        torch.testing.assert_close(call(model), before, rtol=1e-9, atol=1e-9)
        sparse, _ = pair(name)
        output = call(sparsify(sparse.train(mode == "train"), alpha=2.0))
        assert (output - before).abs().max() > 1e-3
        for module in sparse.modules():
            if isinstance(module, nn.MultiheadAttention):
                module._alpha = 1.0
        torch.testing.assert_close(call(sparse), before, rtol=1e-9, atol=1e-9)


def test_an_attention_put_in_by_hand_is_used():
    layer = torch.nn.TransformerEncoderLayer(**OF_LAYER).eval()
    with torch.no_grad():
        before = layer(X)
        layer.self_attn = sparsify(layer.self_attn, alpha=2.0)
        assert (layer(X) - before).abs().max() > 1e-3
        stack = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
        assert stack(X, src_key_padding_mask=PADDING).isfinite().all()


def test_all_are_replaced_and_parameters_are_the_same_objects():
    model, _ = pair("transformer")
    state, parameters = model.state_dict(), list(model.parameters())
    sparsify(model, alpha=1.5)
    found = [m for m in model.modules() if isinstance(m, torch.nn.MultiheadAttention)]
    assert len(found) == 6 and all(type(m) is nn.MultiheadAttention and m.alpha == 1.5 for m in found)
    assert all(a is b for a, b in zip(model.parameters(), parameters, strict=True))
    model.load_state_dict(state)


@pytest.mark.parametrize(
    "settings",
    [{"bias": False}, {"kdim": 5, "vdim": 3}, {"add_bias_kv": True, "add_zero_attn": True}, {"dropout": 0.5}],
    ids=str,
)
def test_settings_are_kept(settings):
    old = torch.nn.MultiheadAttention(E, H, **settings).eval()
    new = sparsify(old, alpha=1.0)
    assert type(new) is nn.MultiheadAttention and not new.training and new.dropout == old.dropout
    x = draw(3, E).float(), draw(4, settings.get("kdim", E)).float(), draw(4, settings.get("vdim", E)).float()
    for found, expected in zip(new(*x), old(*x)):
        torch.testing.assert_close(found, expected)


def test_what_stands_in_two_places_still_does():
    attention = torch.nn.MultiheadAttention(E, H)
    model = torch.nn.ModuleDict({"a": attention, "b": torch.nn.ModuleList([attention]), "c": attention})
    sparsify(model)
    assert model["a"] is model["b"][0] is model["c"] and type(model["a"]) is nn.MultiheadAttention


def test_alphas_and_scales_are_learned_by_each():
    model, call = pair("transformer")
    sparsify(model, "learned", scale=nn.EntmaxAttentionScale(H, E // H))
    found = [m for m in model.modules() if isinstance(m, nn.MultiheadAttention)]
    assert len({id(m.scale) for m in found}) == 6 and {m.raw_alpha.dtype for m in found} == {F64}
    call(model).square().sum().backward()
    names = ("raw_alpha", "scale.raw_beta", "scale.raw_gamma")
    assert all(m.get_parameter(name).grad.abs().sum() > 0 for m in found for name in names)
    model, call = pair("transformer")
    before = call(model)
    sparsify(model, 1.0, scale=nn.EntmaxAttentionScale(H, E // H))
    torch.testing.assert_close(call(model), before, rtol=1e-5, atol=1e-5)
    sparsify(model := pair("transformer")[0], 1.0, scale=1 / math.sqrt(E // H))
    torch.testing.assert_close(call(model), before)


class Own(torch.nn.MultiheadAttention):
    pass


def test_nothing_to_replace_is_an_error():
    for model in (torch.nn.Linear(2, 3), torch.nn.Sequential(Own(E, H)), sparsify(torch.nn.MultiheadAttention(E, H))):
        with pytest.raises(ValueError, match="sparsify: model must contain a torch.nn.MultiheadAttention, got none"):
            sparsify(model)
