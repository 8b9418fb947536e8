"""Attention with several heads: torch's module at alpha = 1, the plain formula at others, and what torch's has not."""

import copy
import io
import itertools
import math
import warnings

import pytest
import torch
from key_attention import F32, F64, draw, whole_matrix
from torch.nn import functional as F

import fenchel.torch as ft
from fenchel.torch import nn
from fenchel.torch.nn import _multihead_attention as module

L, S, B, E, H = 5, 6, 2, 8, 4
BATCHES = {"first": (B, True), "second": (B, False), "none": (1, False)}


def made(cls=nn.MultiheadAttention, seed=0, **settings):
    """A module in which no parameter is 0."""
    torch.manual_seed(seed)
    attention = cls(E, H, dtype=F64, **settings)
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return attention


def pair(alpha=1.0, batch_first=True, **settings):
    theirs = made(torch.nn.MultiheadAttention, batch_first=batch_first, **settings)
    ours = nn.MultiheadAttention(E, H, dtype=F64, batch_first=batch_first, alpha=alpha, **settings)
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


def inputs(batch="first", kdim=E, vdim=E, keys=S):
    x = draw(B, L, E, seed=1), draw(B, keys, kdim, seed=2), draw(B, keys, vdim, seed=3)
    if batch == "none":
        return [t[0] for t in x]
    return [t if batch == "first" else t.transpose(0, 1) for t in x]


def attn_masks(size):
    hidden = draw(L, S, seed=4) > 0.6
    hidden[:, 0] = False
    each = draw(size * H, L, S, seed=5) > 0.6
    each[..., 0] = False
    bias = draw(L, S, seed=6)
    return {
        "none": None, "bool": hidden, "bias": bias, "-inf": bias.masked_fill(hidden, -math.inf), "bool of heads": each,
        "bias of heads": draw(size * H, L, S, seed=7).masked_fill(each, -math.inf),
    }


def padding_masks(size):
    hidden = torch.arange(S) >= torch.tensor([[4], [S]][:size])
    return {"none": None, "bool": hidden, "numbers": draw(size, S, seed=8).masked_fill(hidden, -math.inf)}


def called(attention, x, **arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # masks of two types
        return attention(*x, **arguments)


def results(attention, x, **arguments):
    """The output, weights, and gradients in inputs and parameters."""
    leaves = [t.clone().requires_grad_() for t in x]
    output, weights = called(attention, leaves, **arguments)
    loss = (output * torch.linspace(-1, 2, output.numel(), dtype=F64).view(output.shape)).sum()
    if weights is not None:
        loss = loss + (weights * torch.linspace(-1, 1, weights.numel(), dtype=F64).view(weights.shape)).sum()
    found = torch.autograd.grad(loss, [*leaves, *attention.parameters()])
    return output, weights, *found


def assert_same(one, other, tolerance=1e-11):
    for a, b in zip(one, other, strict=True):
        if a is None or b is None:
            assert a is b
        else:
            torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


NEEDS = [{"need_weights": False}, {}, {"average_attn_weights": False}]
SETTINGS = [
    {}, {"bias": False}, {"kdim": 5, "vdim": 7}, {"add_bias_kv": True}, {"add_zero_attn": True},
    {"add_bias_kv": True, "add_zero_attn": True, "kdim": 5, "vdim": 7},
]


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_alpha_one_is_the_module_of_torch(settings, batch):
    size, first = BATCHES[batch]
    ours, theirs = pair(batch_first=first, **settings)
    x = inputs(batch, settings.get("kdim", E), settings.get("vdim", E))
    for mask, padding, needs in itertools.product(attn_masks(size).values(), padding_masks(size).values(), NEEDS):
        if batch == "none" and padding is not None:
            padding = padding[0]
        arguments = {"attn_mask": mask, "key_padding_mask": padding, **needs}
        with torch.no_grad():
            assert_same(called(ours, x, **arguments), called(theirs, x, **arguments))
    for needs in NEEDS:
        assert_same(results(ours, x, **arguments | needs), results(theirs, x, **arguments | needs))


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("keys", [L, S])
def test_causal_is_the_module_of_torch(settings, batch, keys):
    size, first = BATCHES[batch]
    ours, theirs = pair(batch_first=first, **settings)
    x = inputs(batch, settings.get("kdim", E), settings.get("vdim", E), keys)
    later = torch.ones(L, keys, dtype=torch.bool).triu(1)
    for mask in (later, torch.zeros(L, keys, dtype=F64).masked_fill(later, -math.inf)):
        for padding, needs in itertools.product(padding_masks(size).values(), NEEDS):
            if padding is not None:
                padding = padding[:, :keys] if batch != "none" else padding[0, :keys]
            arguments = {"attn_mask": mask, "key_padding_mask": padding, **needs}
            with torch.no_grad():
                expected, hinted = called(theirs, x, **arguments), called(theirs, x, is_causal=True, **arguments)
                assert_same(called(ours, x, is_causal=True, **arguments), expected)
                assert_same(called(ours, x, is_causal=True, **arguments | {"attn_mask": None}), expected)
            if (settings.get("add_bias_kv") or settings.get("add_zero_attn")) and padding is None and needs == NEEDS[0]:
                assert (hinted[0] - expected[0]).abs().max() > 1e-3  # torch hides the keys that are appended
            else:
                assert_same(hinted, expected)
    assert_same(results(ours, x, is_causal=True, **arguments), results(theirs, x, **arguments))


def test_self_attention_is_the_module_of_torch():
    """Where the tensors are one, also on the fast path of torch."""
    x = draw(B, L, E, seed=1)
    for training in (True, False):
        ours, theirs = (m.train(training) for m in pair())
        for arguments in NEEDS:
            with torch.set_grad_enabled(training):
                assert_same(ours(x, x, x, **arguments), theirs(x, x, x, **arguments))


def by_hand(attention, x, alpha, positions=None, **options):
    """Of inputs with the batch first, by the plain formula."""
    q, k, v = (
        t.unflatten(-1, (h, -1)).transpose(1, 2)
        for t, h in zip(attention._projected(*x), (attention.num_heads, *2 * [attention.num_kv_heads]))
    )
    if positions is not None:
        q, k, *bias = positions(q, k)
        options["attn_mask"] = bias[0] if bias else None
    is_grouped = attention.num_kv_heads != attention.num_heads
    eye = torch.eye(k.shape[2], dtype=F64).expand(*k.shape[:2], -1, -1)
    out, p = (whole_matrix(q, k, t, enable_gqa=is_grouped, alpha=alpha, **options) for t in (v, eye))
    return attention.out_proj(out.transpose(1, 2).flatten(-2)), p


@pytest.mark.parametrize("groups", [None, 1, 2, 4])
@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0, torch.tensor([1.0, 1.3, 2.0, 4.0]), "learned"], ids=str)
def test_other_alphas_and_grouped_heads(alpha, groups):
    attention = made(alpha=alpha, num_kv_heads=groups, batch_first=True)
    x = inputs()
    expected, p = by_hand(attention, x, attention.alpha, is_causal=True)
    output, weights = attention(*x, is_causal=True, average_attn_weights=False)
    without, none = attention(*x, is_causal=True, need_weights=False)
    assert none is None
    assert_same((output, without, weights), (expected, expected, p))
    assert ((weights == 0) == (p == 0)).all()
    assert (weights == 0).sum() > B * H * sum(range(L)) if not isinstance(alpha, float) or alpha > 1 else True


@pytest.mark.parametrize("settings", [{}, {"kdim": 5, "vdim": 7}, {"bias": False}, {"add_bias_kv": True}], ids=str)
def test_grouped_heads_are_heads_that_share(settings):
    attention = made(num_kv_heads=2, alpha=1.5, batch_first=True, **settings)
    twin = nn.MultiheadAttention(E, H, batch_first=True, dtype=F64, alpha=1.5, **settings)
    state, sizes = attention.state_dict(), [E, E // 2, E // 2]

    def shared(rows):
        return rows.unflatten(0, (2, -1)).repeat_interleave(2, 0).flatten(0, 1)

    for name in ("in_proj_weight", "in_proj_bias"):
        if name in state:
            q, k, v = state[name].split(sizes)
            state[name] = torch.cat([q, shared(k), shared(v)])
    for name in ("k_proj_weight", "v_proj_weight"):
        state |= {name: shared(state[name])} if name in state else {}
    for name in ("bias_k", "bias_v"):
        state |= {name: shared(state[name].flatten()).view(1, 1, E)} if name in state else {}
    twin.load_state_dict(state)
    x = inputs("first", settings.get("kdim", E), settings.get("vdim", E))
    for arguments in NEEDS:
        assert_same(attention(*x, **arguments), twin(*x, **arguments))


def test_a_query_that_sees_no_key():
    ours, theirs = pair()
    x, hidden = inputs(), torch.zeros(L, S, dtype=torch.bool)
    hidden[3] = True
    for sparse in (ours, pair(alpha=1.5)[0]):
        for mask in (hidden, torch.zeros(L, S, dtype=F64).masked_fill(hidden, -math.inf)):
            output, weights, *gradients = results(sparse, x, attn_mask=mask)
            without = sparse(*x, attn_mask=mask, need_weights=False)[0]
            for found in (output, without):
                torch.testing.assert_close(found[:, 3], sparse.out_proj.bias.expand(B, E))
            assert (weights[:, 3] == 0).all() and all(g.isfinite().all() for g in gradients)
    output, weights = theirs(*x, attn_mask=hidden)
    assert output[:, 3].isnan().all() and weights[:, 3].isnan().all()
    everything = torch.ones(B, S, dtype=torch.bool)
    torch.testing.assert_close(ours(*x, everything)[0], ours.out_proj.bias.expand(B, L, E))


def test_the_matrix_is_made_for_weights_alone(monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("a matrix")

    monkeypatch.setattr(module, "attention_and_weights", refuse)
    seen = []
    whole = module.scaled_dot_product_attention
    monkeypatch.setattr(module, "scaled_dot_product_attention", lambda *x, **o: seen.append(x) or whole(*x, **o))
    attention, x = made(scale=nn.EntmaxAttentionScale(H, E // H), batch_first=True), draw(B, 9, E)
    padding = torch.arange(9) >= torch.tensor([[7], [9]])
    attention(x, x, x, padding, need_weights=False, is_causal=True, attn_mask=torch.ones(9, 9).triu(1).bool())
    (_, _, _, mask, _, is_causal, _, _), = seen
    assert is_causal and mask.shape == (B, 1, 1, 9)
    with pytest.raises(AssertionError, match="a matrix"):
        attention(x, x, x)


def test_dropout_is_for_training():
    attention, x = made(dropout=0.5, alpha=1.5, batch_first=True), inputs()
    torch.manual_seed(1)
    output, weights = attention(*x, average_attn_weights=False)
    torch.manual_seed(1)
    torch.testing.assert_close(attention(*x, need_weights=False)[0], output)
    attention.eval()
    whole, p = attention(*x, average_attn_weights=False)
    assert_same((whole,), by_hand(attention, x, 1.5)[:1])
    kept = weights != 0
    torch.testing.assert_close(weights[kept], 2 * p[kept])
    assert 0.2 < kept.sum() / (p != 0).sum() < 0.8


def rotary(query, key):
    """Pairs of features turn by an angle that grows with the position."""

    def turned(x):
        angle = torch.arange(x.shape[-2], dtype=x.dtype)[:, None]
        a, b = x.chunk(2, -1)
        return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)

    return turned(query), turned(key)


def alibi(query, key):
    slopes = 2.0 ** -torch.arange(1, H + 1, dtype=query.dtype)
    return query, key, slopes[:, None, None] * torch.arange(key.shape[-2])


@pytest.mark.parametrize("positions", [rotary, alibi])
@pytest.mark.parametrize("groups", [1, 4])
def test_positions(positions, groups):
    attention = made(alpha=1.5, positions=positions, num_kv_heads=groups, batch_first=True)
    x = inputs()
    assert_same((attention(*x, need_weights=False)[0],), by_hand(attention, x, 1.5, positions)[:1])
    assert_same(attention(*x, average_attn_weights=False), by_hand(attention, x, 1.5, positions))
    without = nn.MultiheadAttention(E, H, batch_first=True, dtype=F64, num_kv_heads=groups)
    without.load_state_dict(attention.state_dict())
    assert (without(*x)[0] - attention(*x)[0]).abs().max() > 1e-3


def test_a_bias_of_positions_beside_masks_and_keys_that_are_appended():
    """The slope of a key alone is that of its distance to the query, as both differ by a number of the query."""

    def distances(query, key):
        _, _, bias = alibi(query, key)
        return query, key, bias - bias[..., :L].mT

    x, padding = draw(B, L, E), torch.arange(L) >= torch.tensor([[3], [L]])
    made_of = [made(alpha=1.5, positions=p, batch_first=True) for p in (alibi, distances)]
    assert_same(*(results(m, [x, x, x], key_padding_mask=padding, is_causal=True) for m in made_of))
    appended = made(alpha=1.5, positions=alibi, batch_first=True, add_zero_attn=True)
    output, weights = appended(x, x, x, padding, is_causal=True, average_attn_weights=False)
    q, k, v = (t.unflatten(-1, (H, -1)).transpose(1, 2) for t in appended._projected(x, x, x))
    bias = alibi(q, k)[2].expand(B, H, L, L).masked_fill(padding[:, None, None], -math.inf)
    scores = q @ k.mT / math.sqrt(E // H) + bias.masked_fill(torch.ones(L, L).triu(1).bool(), -math.inf)
    torch.testing.assert_close(weights, ft.entmax(F.pad(scores, (0, 1)), 1.5))
    torch.testing.assert_close(output, appended.out_proj((weights[..., :-1] @ v).transpose(1, 2).flatten(-2)))


def test_learned_alpha_begins_at_three_halves_and_learns():
    attention = made(alpha="learned", batch_first=True)
    fresh = nn.MultiheadAttention(E, H, alpha="learned", dtype=F64)
    torch.testing.assert_close(fresh.alpha, torch.full((H,), 1.5, dtype=F64))
    assert fresh.raw_alpha.dtype == F64 and nn.MultiheadAttention(E, H, alpha="learned").raw_alpha.dtype == F32
    attention(*inputs(), need_weights=False)[0].square().sum().backward()
    assert (attention.raw_alpha.grad != 0).all()
    with torch.no_grad():
        attention.raw_alpha.fill_(-1e4)
    assert (attention.alpha == 1).all() and attention(*inputs(), need_weights=False)[0].isfinite().all()


@pytest.mark.parametrize("scale", [0.9, nn.EntmaxAttentionScale(H, E // H)], ids=["number", "module"])
def test_gradients(scale):
    attention = made(alpha="learned", scale=scale, batch_first=True, num_kv_heads=2).double()
    names = [name for name, _ in attention.named_parameters()]
    x = inputs()

    def of(*parameters):
        return torch.func.functional_call(attention, dict(zip(names, parameters)), tuple(x), {"need_weights": False})[0]

    assert torch.autograd.gradcheck(of, list(attention.parameters()), fast_mode=True)


def test_states_of_torch_load_wherever_the_module_stands():
    theirs = made(torch.nn.MultiheadAttention, batch_first=True, kdim=5, vdim=7, add_bias_kv=True)
    settings = {"batch_first": True, "kdim": 5, "vdim": 7, "add_bias_kv": True, "dtype": F64}
    ours = nn.MultiheadAttention(E, H, alpha="learned", scale=nn.EntmaxAttentionScale(H, E // H), **settings)
    whole = torch.nn.Sequential(ours)
    whole.load_state_dict(torch.nn.Sequential(theirs).state_dict())
    assert all(torch.equal(x, ours.state_dict()[name]) for name, x in theirs.state_dict().items())
    assert ours.state_dict().keys() - theirs.state_dict().keys() == {"raw_alpha", "scale.raw_beta", "scale.raw_gamma"}
    state = ours.state_dict()
    del state["raw_alpha"]
    with pytest.raises(RuntimeError, match='Missing key.*"raw_alpha"'):
        ours.load_state_dict(state)
    theirs.load_state_dict(nn.MultiheadAttention(E, H, **settings).state_dict())


def test_a_seed_gives_the_parameters_of_torch():
    for settings in SETTINGS:
        torch.manual_seed(3)
        theirs = torch.nn.MultiheadAttention(E, H, **settings).state_dict()
        torch.manual_seed(3)
        ours = nn.MultiheadAttention(E, H, **settings).state_dict()
        assert ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_it_is_a_module_like_others():
    attention = made(alpha="learned", scale=nn.EntmaxAttentionScale(H, E // H), num_kv_heads=2)
    x = inputs("second")
    file = io.BytesIO()
    torch.save(attention, file)
    file.seek(0)
    for twin in (copy.deepcopy(attention), torch.load(file, weights_only=False)):
        assert torch.equal(twin(*x)[0], attention(*x)[0])
    assert "embed_dim=8, num_heads=4, num_kv_heads=2, alpha=tensor(4,), learned=True" in repr(attention)
    assert "embed_dim=8, num_heads=4, alpha=1.5" in repr(nn.MultiheadAttention(E, H))
    compiled = torch.compile(attention, backend="aot_eager", fullgraph=True)
    assert_same(*(m(*x, is_causal=True, need_weights=False) for m in (compiled, attention)))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_types_and_autocast(dtype):
    attention, x = made(alpha=1.5, add_bias_kv=True, scale=nn.EntmaxAttentionScale(H, E // H)), inputs("second")
    exact = attention(*x)
    half = copy.deepcopy(attention).to(dtype)
    attention = attention.float()
    for need in (True, False):
        for found in (half(*(t.to(dtype) for t in x), need_weights=need), None):
            if found is None:
                with torch.autocast("cpu", dtype=dtype):
                    found = attention(*(t.float() for t in x), need_weights=need)
            assert found[0].dtype == dtype
            torch.testing.assert_close(found[0].double(), exact[0], rtol=0, atol=40 * torch.finfo(dtype).eps)


X = dict(zip(("query", "key", "value"), inputs()))
ERRORS = [
    ({"query": X["query"][0]}, "query, key and value must have 2 or 3 dimensions each, got"),
    ({"key": torch.nested.nested_tensor_from_jagged(torch.ones(5, E), torch.tensor([0, 2, 5]))}, "query, .* must not be nested"),
    ({"attn_mask": torch.ones(L, S).long()}, "attn_mask must be of bool or floating point, got torch.int64"),
    ({"attn_mask": torch.ones(L, L)}, r"attn_mask must have shape \(5, 6\) or \(8, 5, 6\), got \(5, 5\)"),
    ({"attn_mask": torch.ones(B, L, S)}, r"attn_mask must have shape \(5, 6\) or \(8, 5, 6\), got \(2, 5, 6\)"),
    ({"key_padding_mask": torch.ones(S).bool()}, r"key_padding_mask must have shape \(2, 6\), got \(6,\)"),
]


@pytest.mark.parametrize(("given", "message"), ERRORS, ids=range(len(ERRORS)))
def test_errors(given, message):
    with pytest.raises(ValueError, match=f"MultiheadAttention: {message}"):
        made(batch_first=True)(**X | given)


def test_everything_is_on_the_device_that_is_said():
    attention = nn.MultiheadAttention(
        E, H, device="meta", alpha=torch.full((H,), 1.5), scale=nn.EntmaxAttentionScale(H, E // H)
    )
    assert all(x.is_meta for x in attention.state_dict().values())


def test_settings_that_mean_nothing():
    for settings, message in [
        ({"embed_dim": 6}, "embed_dim must be a multiple of num_heads, got 6 and 4"),
        ({"num_kv_heads": 3}, "num_kv_heads must divide num_heads, 4, got 3"),
        ({"num_kv_heads": 0}, "num_kv_heads must divide num_heads, 4, got 0"),
        ({"alpha": "learn"}, "alpha must be a number, a tensor or \"learned\", got 'learn'"),
    ]:
        with pytest.raises(ValueError, match=f"MultiheadAttention: {message}"):
            nn.MultiheadAttention(**{"embed_dim": E, "num_heads": H} | settings)
