"""The small transformers: what they see, that they learn, and how zeros, time and memory are counted."""

from __future__ import annotations

import random

import pytest
import torch

from experiments.transformers import experiment, measures, model, recall, text
from experiments.transformers.experiment import Training
from experiments.transformers.model import Finder, Size, Writer
from experiments.transformers.variants import VARIANTS
from fenchel.torch import attention_weights

CPU = torch.device("cpu")


def quiet(_):
    pass


@pytest.fixture(params=VARIANTS)
def variant(request):
    return VARIANTS[request.param][1]


def made(kind, variant, size=Size()):
    torch.manual_seed(0)
    return kind(variant, size).eval()


def test_models_begin_alike():
    """But for what is learned of alpha and scale."""
    parameters = [dict(made(Writer, variant).named_parameters()) for _, variant in VARIANTS.values()]
    for others in parameters[1:]:
        assert all(torch.equal(others[name], p) for name, p in parameters[0].items())
    added = [len(p) - len(parameters[0]) for p in parameters]
    assert added == [0, 0, 2, 6]


@torch.no_grad()
def test_a_letter_depends_on_those_before_it(variant):
    writer, letters = made(Writer, variant), text.encode([text.write(80, random.Random(0))])
    changed = letters.clone()
    changed[0, 50] = (changed[0, 50] + 1) % len(text.LETTERS)
    same = torch.isclose(writer(letters)[0], writer(changed)[0], atol=1e-5).all(-1)[0]
    assert same[:50].all() and not same[50]


@torch.no_grad()
def test_weights_are_those_of_the_output(variant):
    writer, letters = made(Writer, variant), text.encode([text.write(80, random.Random(0))])
    scores, weights = writer(letters, need_weights=True)
    assert torch.allclose(scores, writer(letters)[0], atol=1e-4)
    for layer, window in zip(weights, (Size().window, None)):
        seen = measures.visible(80, window, CPU)
        assert layer.shape == (1, 4, 80, 80) and torch.allclose(layer.sum(-1), torch.ones(()), atol=1e-5)
        assert (layer.masked_fill(seen, 0) == 0).all()
        if variant.alpha == 1:
            assert (layer[..., seen] > 0).all()


@torch.no_grad()
def test_the_first_layer_knows_distances_alone():
    """The same letters further on in a text: the scores of a layer with rotary positions are the same."""
    q, k = torch.randn(2, 1, 1, 90, 16).unbind()
    near = torch.einsum("bhic,bhjc->bhij", *model.rotary(q, k))[0, 0, 20, 5]
    moved = [torch.cat([torch.zeros(1, 1, 300, 16), x], 2) for x in (q, k)]
    far = torch.einsum("bhic,bhjc->bhij", *model.rotary(*moved))[0, 0, 320, 305]
    assert far.item() == pytest.approx(near.item(), abs=1e-4)


@torch.no_grad()
def test_pairs_have_no_order(variant):
    finder, task = made(Finder, variant), recall.make(2, 30, 8, torch.Generator().manual_seed(0))
    order = torch.randperm(30, generator=torch.Generator().manual_seed(1))
    back = order.argsort()
    turned = recall.Recall(task.keys[:, order], task.values[:, order], back[task.at])
    assert torch.equal(turned.answers, task.answers)
    assert torch.allclose(finder(turned)[0], finder(task)[0], atol=1e-5)


def test_zeros_are_counted_as_the_sparse_weights_have_them():
    query, key = (3 * torch.randn(2, 2, 4, 50, 16, generator=torch.Generator().manual_seed(0))).unbind()
    for window in (None, 15):
        sparse = attention_weights(query, key, is_causal=True, window=window, alpha=1.5)
        seen = measures.visible(50, window, CPU)
        held = torch.bincount(sparse.indices()[1], minlength=4)
        expected = 1 - held / (2 * seen.sum())
        assert measures.share_of_zeros(sparse.to_dense(), seen) == pytest.approx(expected.tolist(), abs=1e-6)
        assert measures.support(sparse.to_dense()) == pytest.approx(sparse._nnz() / 400)
        assert 0.1 < min(expected) and max(expected) < 1


def test_the_bulk_is_the_fewest_keys_that_hold_95_percent():
    weights = torch.tensor([[[[0.5, 0.46, 0.04, 0.0]], [[0.25, 0.25, 0.25, 0.25]]]])
    assert measures.bulk(weights[:, :1]) == 2 and measures.bulk(weights[:, 1:]) == 4
    assert measures.bulk(weights) == 3 and measures.support(weights) == 3.5


def test_memory_counts_what_is_kept_once():
    x = torch.randn(1000, requires_grad=True)
    assert measures.kept_bytes(lambda: (x.exp() * 2).sum()) == 4000  # exp keeps its result
    assert measures.kept_bytes(lambda: (x * x).sum()) == 4000  # both factors are one tensor
    assert measures.kept_bytes(lambda: (x * 2).sum()) == 0


def test_a_model_learns_to_recall(variant):
    training = Training(steps=300, rate=1e-2, batch=16, length=8, size=Size(32, 2))
    finder = experiment.train_finder(variant, training, 100, CPU, quiet)
    values = experiment.measure_finder(finder, training, (8, 64), CPU)
    assert values["accuracy"] == values["accuracy: 8"] > 0.5 > 8 / recall.VALUES  # one of eight values by chance
    assert values["weight: 8"] > 0.3
    zeros = [value for name, value in values.items() if name.startswith("zeros")]
    assert len(zeros) == 2 and (sum(zeros) == 0) == (variant.alpha == 1)
    assert values["keys: 64"] <= 64 and values["keys of 95 %: 64"] <= values["keys: 64"]


def test_a_model_learns_letters(variant):
    training = Training(steps=60, rate=1e-2, batch=8, length=64, size=Size(32, 2))
    values = experiment.measure_writer(
        experiment.train_writer(variant, training, 100, CPU, quiet), training, (64, 128), CPU
    )
    assert values["bits"] == values["bits: 64"] < 3.2 < torch.tensor(float(len(text.LETTERS))).log2()
    assert 0 <= values["least bits of copies: 128"] < values["bits of copies: 128"]
    assert {f"zeros: layer {layer}, head {head}" for layer in (1, 2) for head in (1, 2)} <= values.keys()


def test_a_seed_gives_the_same_model():
    training = Training(steps=3, rate=1e-2, batch=4, length=16, size=Size(32, 2))
    first, again = (
        experiment.train_writer(VARIANTS["scaled"][1], training, 5, CPU, quiet).state_dict() for _ in range(2)
    )
    assert all(torch.equal(first[name], again[name]) for name in first)


def test_learned_numbers_are_those_of_the_modules():
    writer = made(Writer, VARIANTS["scaled"][1])
    with torch.no_grad():
        writer.blocks[1].attention.scale.raw_gamma[2] = 0.5
        writer.blocks[0].attention.raw_alpha[1] = 0.0
    values = experiment.learned_numbers(writer)
    assert values["alpha: layer 1, head 2"] == pytest.approx(1.6931, abs=1e-4)
    assert values["alpha: layer 2, head 1"] == pytest.approx(1.5)
    scale = writer.blocks[1].attention.scale(torch.tensor([1000]))[2].item()
    log = torch.tensor(1001.0).log().item()
    beta = torch.log(torch.tensor(2.0)).item()
    assert scale * 4 == pytest.approx(1 - beta + beta * log ** values["gamma: layer 2, head 3"], rel=1e-5)
    assert experiment.learned_numbers(made(Writer, VARIANTS["softmax"][1])) == {}
