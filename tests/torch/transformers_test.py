"""Models of Hugging Face transformers with the weights of entmax: at alpha = 1 they are the models with softmax."""

import copy
import importlib
import os
import subprocess
import sys

import pytest
import torch

os.environ["HF_HUB_OFFLINE"] = "1"
transformers = pytest.importorskip("transformers")

import fenchel.torch as ft  # noqa: E402
from fenchel.torch.integrations.transformers import register, set_alpha  # noqa: E402

F32, F64 = torch.float32, torch.float64
WORDS, B, L = 40, 2, 9
TOKENS = torch.randint(3, WORDS, (B, L), generator=torch.Generator().manual_seed(1))
ON_THE_LEFT = (torch.arange(L) >= torch.tensor([[3], [0]])).long()
ON_THE_RIGHT = (torch.arange(L) < torch.tensor([[6], [9]])).long()
GREEDY = {"max_new_tokens": 8, "do_sample": False, "pad_token_id": 0, "eos_token_id": None}
SIZES = {"vocab_size": WORDS, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
SMALL = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}

CAUSAL, ENCODER, BOTH = "AutoModelForCausalLM", "AutoModelForMaskedLM", "AutoModelForSeq2SeqLM"
MODELS = {
    "llama": (CAUSAL, lambda: transformers.LlamaConfig(**SIZES, **SMALL, num_key_value_heads=2)),
    "mistral": (CAUSAL, lambda: transformers.MistralConfig(**SIZES, **SMALL, num_key_value_heads=2, sliding_window=4)),
    "gpt2": (CAUSAL, lambda: transformers.GPT2Config(
        vocab_size=WORDS, n_embd=32, n_layer=2, n_head=4, embd_pdrop=0.0, resid_pdrop=0.0, attn_pdrop=0.0, **SMALL
    )),
    "bert": (ENCODER, lambda: transformers.BertConfig(
        **SIZES, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )),
    "t5": (BOTH, lambda: transformers.T5Config(
        vocab_size=WORDS, d_model=32, d_kv=8, d_ff=32, num_layers=2, num_heads=4, dropout_rate=0.0, **SMALL,
        decoder_start_token_id=0, relative_attention_num_buckets=8, relative_attention_max_distance=6,
    )),
    "bart": (BOTH, lambda: transformers.BartConfig(
        vocab_size=WORDS, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, dropout=0.0,
        decoder_attention_heads=4, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=64, **SMALL,
        decoder_start_token_id=2, forced_eos_token_id=None,
    )),
}
IN_FLOAT = {"llama", "mistral"}
"""Their eager attention computes softmax in float32, and gives NaN for padding of float64."""
GENERATING = [name for name, (kind, _) in MODELS.items() if kind != ENCODER]


@pytest.fixture(autouse=True)
def registered():
    register()


def model_of(name, dtype=F32, **settings):
    """With softmax, and weights that are large enough for heads to differ."""
    kind, config = MODELS[name]
    torch.manual_seed(0)
    given = config()
    for key, x in settings.items():
        setattr(given, key, x)
    if name == "t5" and not transformers.T5Model._can_set_attn_implementation():
        pytest.skip("T5 of this transformers has one attention")
    softmax = "sdpa" if dtype == F64 and name in IN_FLOAT else "eager"
    model = getattr(transformers, kind).from_config(given, attn_implementation=softmax).to(dtype).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, dtype=dtype)
    return model


def sparse(model, alpha):
    """A copy."""
    model = copy.deepcopy(model)
    model.set_attn_implementation("entmax")
    set_alpha(model, alpha)
    return model


def logits(model, mask=None, **given):
    if MODELS["t5"][0] == BOTH and model.config.is_encoder_decoder:
        given = {"decoder_input_ids": TOKENS.flip(-1), **given}
    return model(TOKENS, attention_mask=mask, **given).logits


def masks(model):
    """None, and padding on both sides, with what the outputs of tokens are."""
    everywhere = torch.ones(B, L, dtype=torch.bool)
    yield None, everywhere
    for mask in (ON_THE_LEFT, ON_THE_RIGHT):
        yield mask, everywhere if model.config.is_encoder_decoder else mask.bool()


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_outputs_are_those_of_softmax_at_alpha_one_and_no_others(name, dtype):
    model = model_of(name, dtype)
    close, tolerance = sparse(model, 1.0), 1e-4 if dtype == F32 else 1e-10
    other = sparse(model, 2.0)
    with torch.no_grad():
        for mask, seen in masks(model):
            expected = logits(model, mask)[seen]
            torch.testing.assert_close(logits(close, mask)[seen], expected, rtol=tolerance, atol=tolerance)
            assert (logits(other, mask)[seen] - expected).abs().max() > 1e-2


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_those_of_softmax_at_alpha_one(name, dtype):
    model, tolerance = model_of(name, dtype), 1e-4 if dtype == F32 else 1e-9
    gradients = []
    for each in (model, sparse(model, 1.0)):
        each.train()
        logits(each, ON_THE_RIGHT)[:, :6].square().mean().backward()
        gradients.append({key: x.grad for key, x in each.named_parameters()})
    assert gradients[0].keys() == gradients[1].keys() and any(x.abs().max() > 1e-4 for x in gradients[0].values())
    for key, expected in gradients[0].items():
        torch.testing.assert_close(gradients[1][key], expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("search", [{}, {"num_beams": 3}], ids=["greedy", "beams"])
@pytest.mark.parametrize("name", GENERATING)
def test_generation_is_that_of_softmax_at_alpha_one(name, search):
    model = model_of(name)
    given = {"attention_mask": ON_THE_LEFT, **GREEDY, **search, "return_dict_in_generate": True, "output_logits": True}
    expected, ours, other = (x.generate(TOKENS, **given) for x in (model, sparse(model, 1.0), sparse(model, 3.0)))
    assert torch.equal(ours.sequences, expected.sequences)
    torch.testing.assert_close(torch.stack(ours.logits), torch.stack(expected.logits), rtol=1e-4, atol=1e-4)
    assert (other.logits[0] - expected.logits[0]).abs().max() > 1e-2


@pytest.mark.parametrize("cache", ["dynamic", "static"])
@pytest.mark.parametrize("name", GENERATING)
def test_generation_with_a_cache_is_that_without(name, cache):
    model = sparse(model_of(name, F64), 1.5)
    given = {"attention_mask": ON_THE_LEFT, **GREEDY, "return_dict_in_generate": True, "output_logits": True}
    expected = model.generate(TOKENS, use_cache=False, **given)
    cached = model.generate(TOKENS, cache_implementation=cache, disable_compile=True, **given)
    assert torch.equal(cached.sequences, expected.sequences)
    for ours, theirs in zip(cached.logits, expected.logits, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["llama", "mistral", "gpt2"])
def test_padding_on_the_left_changes_nothing(name):
    model = sparse(model_of(name, F64), 1.5)
    padded = model.generate(TOKENS, attention_mask=ON_THE_LEFT, **GREEDY)
    alone = model.generate(TOKENS[:1, 3:], attention_mask=torch.ones(1, 6, dtype=torch.int64), **GREEDY)
    assert torch.equal(padded[:1, 3:], alone)


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("name", ["llama", "mistral", "bert", "t5"])
def test_weights_of_the_first_layer_are_entmax_of_its_scores(name, alpha):
    """The logarithms of softmax's weights are the scores, up to a number for each query."""
    dtype, tolerance = (F32, 1e-5) if name in IN_FLOAT else (F64, 1e-9)
    model = model_of(name, dtype)
    given = {"output_attentions": True, "decoder_input_ids": TOKENS} if name == "t5" else {"output_attentions": True}
    with torch.no_grad():
        softmax, ours = (x(TOKENS, attention_mask=ON_THE_RIGHT, **given) for x in (model, sparse(model, alpha)))
    pairs = [(softmax[key][0], ours[key][0]) for key in softmax if key.endswith("attentions") and "cross" not in key]
    assert len(pairs) == (2 if name == "t5" else 1) and len(ours[next(k for k in ours if "attentions" in k)]) == 2
    for theirs, p in pairs:
        assert p.shape == (B, 4, L, L)
        seen = (ON_THE_RIGHT.bool() | torch.tensor(name == "t5"))[:, None, :, None].expand_as(p)
        torch.testing.assert_close(p[seen], ft.entmax(theirs.log(), alpha)[seen], rtol=tolerance, atol=tolerance)
        if alpha > 1:
            assert ((p == 0) & (theirs > 0)).any()


def test_weights_are_asked_for_in_generation():
    model = sparse(model_of("llama"), 1.5)
    given = {"attention_mask": ON_THE_LEFT, **GREEDY, "return_dict_in_generate": True, "output_attentions": True}
    attentions = model.generate(TOKENS, **given).attentions
    assert [x[0].shape for x in attentions] == [(B, 4, L, L)] + [(B, 4, 1, L + k) for k in range(1, 8)]
    assert (attentions[3][1][0, :, 0, :3] == 0).all()


@pytest.mark.parametrize("kind", ["bool", "float"])
def test_a_mask_of_four_dimensions_is_taken(kind):
    model = model_of("llama", F64)
    seen = (torch.arange(L) <= torch.arange(L)[:, None]) & (torch.arange(L) % 3 < 2)
    seen = seen.expand(B, 1, L, L)
    added = torch.zeros(seen.shape, dtype=F64).masked_fill(~seen, torch.finfo(F64).min)
    with torch.no_grad():
        expected = model(TOKENS, attention_mask=added).logits
        ours = sparse(model, 1.0)(TOKENS, attention_mask=seen if kind == "bool" else added).logits
        torch.testing.assert_close(ours, expected, rtol=1e-9, atol=1e-9)
        assert sparse(model, 2.0)(TOKENS, attention_mask=seen if kind == "bool" else added).logits.isfinite().all()


def test_a_decoder_may_look_at_both_sides():
    model = model_of("llama", F64)
    with torch.no_grad():
        ours = sparse(model, 1.0)(TOKENS, attention_mask=torch.ones(B, 1, L, L, dtype=torch.bool)).logits
        theirs = sparse(model, 1.0)(TOKENS, is_causal=False).logits
    assert not torch.allclose(sparse(model, 1.0)(TOKENS).logits, ours)
    torch.testing.assert_close(ours, theirs)


def test_sequences_in_a_row_are_told_by_positions():
    model = model_of("llama", F64)
    row, places = TOKENS[:1], torch.tensor([[0, 1, 2, 3, 0, 1, 2, 3, 4]])
    for alpha in (1.0, 1.5):
        ours = sparse(model, alpha)
        with torch.no_grad():
            together = ours(row, position_ids=places, use_cache=False).logits
            apart = torch.cat([ours(row[:, :4]).logits, ours(row[:, 4:]).logits], 1)
        torch.testing.assert_close(together, apart, rtol=1e-9, atol=1e-9)


def test_dropout_is_for_training():
    model = sparse(model_of("llama", F64, attention_dropout=0.5), 1.5)

    def weights():
        torch.manual_seed(3)
        return model(TOKENS, output_attentions=True).attentions[0]

    whole = weights()
    model.train()
    dropped = weights()
    assert torch.equal(dropped, weights())
    assert 0.3 < (dropped[whole > 0] == 0).double().mean() < 0.7
    torch.testing.assert_close(dropped, torch.where(dropped == 0, 0.0, 2 * whole))
    torch.manual_seed(3)
    without = logits(model)
    assert not torch.allclose(without, logits(model)) and not torch.allclose(without, logits(model.eval()))


def test_alpha_is_of_the_module_of_its_configuration_or_of_the_name():
    model = model_of("llama", F64)
    expected = {alpha: logits(sparse(model, alpha)) for alpha in (1.25, 1.5, 2.0)}
    model.set_attn_implementation("entmax")
    assert torch.equal(logits(model), expected[1.5])
    register(2.0)
    assert torch.equal(logits(model), expected[2.0])
    set_alpha(model, 1.25)
    assert torch.equal(logits(model), expected[1.25])
    for layer in model.model.layers:
        layer.self_attn.entmax_alpha = torch.full((4,), 1.5)
    torch.testing.assert_close(logits(model), expected[1.5])
    register(1.1, name="other")
    set_alpha(model, 2.0)
    model.set_attn_implementation("other")
    for layer in model.model.layers:
        layer.self_attn.entmax_alpha = None
    assert torch.equal(logits(model), expected[2.0])


@pytest.mark.parametrize("name", MODELS)
def test_alpha_is_saved_with_the_model(name, tmp_path):
    model = sparse(model_of(name), 1.75)
    model.save_pretrained(tmp_path)
    loaded = type(model).from_pretrained(tmp_path, attn_implementation="entmax").eval()
    assert loaded.config.entmax_alpha == 1.75
    torch.testing.assert_close(logits(loaded), logits(model))


def test_alpha_of_heads_is_learned():
    model = sparse(model_of("gpt2", F64), 1.5)
    attention = model.transformer.h[0].attn
    attention.entmax_alpha = torch.nn.Parameter(torch.tensor([1.2, 1.4, 1.6, 1.8], dtype=F64))

    def loss():
        return logits(model, ON_THE_LEFT).square().mean()

    loss().backward()
    slope, step = attention.entmax_alpha.grad, 1e-6
    for head in range(4):
        with torch.no_grad():
            values = []
            for sign in (1, -1):
                attention.entmax_alpha[head] += sign * step
                values.append(loss())
                attention.entmax_alpha[head] -= sign * step
        assert slope[head] == pytest.approx(float(values[0] - values[1]) / (2 * step), rel=1e-4)


@pytest.mark.parametrize("alpha", [0.99, -1, float("nan")])
def test_alpha_is_at_least_one(alpha):
    model = sparse(model_of("llama"), 1.5)
    with pytest.raises(ValueError, match=r"register: alpha must be at least 1, got"):
        register(alpha)
    with pytest.raises(ValueError, match=r"set_alpha: alpha must be at least 1, got"):
        set_alpha(model, alpha)
    assert model.config.entmax_alpha == 1.5


@pytest.mark.parametrize("name", ["eager", "sdpa", "flash_attention_2", "flash_entmax", "a/b", "paged|entmax", ""])
def test_names_of_others_are_refused(name):
    before = dict(transformers.AttentionInterface())
    with pytest.raises(ValueError, match=r"register: name must be"):
        register(name=name)
    assert dict(transformers.AttentionInterface()) == before


def test_models_without_entmax_have_no_alpha():
    with pytest.raises(ValueError, match=r"set_alpha: model must have .* of register, got 'eager'"):
        set_alpha(model_of("llama"), 1.5)


def test_models_whose_attention_cannot_be_exchanged_are_refused():
    """They take the name, and compute softmax."""
    config = transformers.BloomConfig(vocab_size=WORDS, hidden_size=32, n_layer=1, n_head=4)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="entmax")
    with pytest.raises(ValueError, match=r"set_alpha: model must have attention that .* BloomForCausalLM is always its own"):
        set_alpha(model, 1.5)


def test_softcap_is_refused():
    config = transformers.Gemma2Config(**SIZES, num_key_value_heads=2, head_dim=8)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="entmax")
    with pytest.raises(ValueError, match=r"Gemma2Attention must not ask .* got softcap$"):
        model(TOKENS)
    config.attn_logit_softcapping = None
    transformers.AutoModelForCausalLM.from_config(config, attn_implementation="entmax")(TOKENS)


@pytest.mark.parametrize("name", ["s_aux", "cu_seq_lens_q", "indices", "head_mask", "cache"])
def test_unknown_keywords_are_refused(name):
    attend = transformers.AttentionInterface()["entmax"]
    query, key, value = torch.randn(3, 1, 2, 5, 8).unbind(0)
    attend(torch.nn.Module(), query, key, value, None, **{name: None})
    with pytest.raises(ValueError, match=rf"Module must not ask .* got {name}$"):
        attend(torch.nn.Module(), query, key, value, None, **{name: torch.ones(2)})


def run(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


def test_transformers_is_imported_where_it_is_asked_for_alone():
    assert run("import sys, fenchel.torch; sys.exit('transformers' in sys.modules)").returncode == 0


@pytest.mark.parametrize("missing", ["transformers", "transformers.masking_utils"])
def test_a_missing_transformers_is_told(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "fenchel.torch.integrations.transformers")
    with pytest.raises(ImportError, match=r'needs transformers 5.0 or later: pip install "transformers>=5.0"$'):
        importlib.import_module("fenchel.torch.integrations.transformers")


def test_an_old_transformers_is_told(monkeypatch):
    monkeypatch.setattr(sys.modules["transformers"], "__version__", "4.57.6")
    monkeypatch.delitem(sys.modules, "fenchel.torch.integrations.transformers")
    with pytest.raises(ImportError, match=r'needs transformers 5.0 or later: .*, got 4.57.6$'):
        importlib.import_module("fenchel.torch.integrations.transformers")
