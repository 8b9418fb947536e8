"""Layers of many models: each model has the numbers and the gradients that torch's own layer gives it alone."""

import math

import pytest
import torch
from torch.nn import functional

from experiments import ensemble

MODELS = (1, 3, 60)


def draw(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def assert_models_are_alone(layer, x, by_torch):
    """Result and gradients of the layer are, model by model, those of `by_torch(x, *parameters)`, and only its own."""
    with torch.no_grad():
        for seed, parameter in enumerate(layer.parameters()):
            parameter.copy_(draw(*parameter.shape, seed=seed))
    if x.is_floating_point():
        x.requires_grad_()
    y = layer(x)
    cotangent = draw(*y.shape, seed=9)
    variables = [*layer.parameters(), *([x] if x.requires_grad else [])]
    found = torch.autograd.grad((y * cotangent).sum(), variables)
    for model in range(x.shape[0]):
        own = [v.detach()[model].requires_grad_() for v in variables]
        parameters = own[: len(own) - x.requires_grad]
        expected = by_torch(own[-1] if x.requires_grad else x[model], *parameters)
        torch.testing.assert_close(y[model], expected, rtol=1e-5, atol=1e-5)
        gradients = torch.autograd.grad((expected * cotangent[model]).sum(), own)
        for ours, theirs in zip(found, gradients):
            torch.testing.assert_close(ours[model], theirs, rtol=1e-5, atol=1e-4)


def linear(x, weight, bias=None):
    return functional.linear(x, weight.T, None if bias is None else bias[0])


@pytest.mark.parametrize("models", MODELS)
@pytest.mark.parametrize("shape", [(), (6,), (16, 5), (7, 5), (4, 3, 2)], ids=str)
@pytest.mark.parametrize("bias", [True, False])
def test_linear(models, shape, bias):
    assert_models_are_alone(ensemble.Linear(models, 4, 3, bias), draw(models, *shape, 4), linear)


@pytest.mark.parametrize("models", MODELS)
@pytest.mark.parametrize("shape", [(), (6,), (4, 3, 2)], ids=str)
def test_layer_norm(models, shape):
    layer = ensemble.LayerNorm(models, 5)
    ensemble.initialise(layer, [0] * models)
    assert (layer.weight == 1).all() and (layer.bias == 0).all()
    assert_models_are_alone(layer, draw(models, *shape, 5), lambda x, w, b: functional.layer_norm(x, (5,), w, b))


@pytest.mark.parametrize("models", MODELS)
@pytest.mark.parametrize("shape", [(6,), (4, 3)], ids=str)
def test_embedding(models, shape):
    symbols = torch.randint(7, (models, *shape), generator=torch.Generator().manual_seed(1))
    assert_models_are_alone(ensemble.Embedding(models, 7, 3), symbols, functional.embedding)


def two_layers(models):
    layers = ensemble.Linear(models, 25, 8), ensemble.LayerNorm(models, 8), ensemble.Embedding(models, 5, 3)
    return torch.nn.Sequential(*layers)


def test_a_model_starts_alike_in_any_company():
    together, alone, again = two_layers(3), two_layers(1), two_layers(2)
    ensemble.initialise(together, [4, 7, 4])
    ensemble.initialise(alone, [7])
    ensemble.initialise(again, [0, 7])
    for all_three, one, two in zip(*(module.parameters() for module in (together, alone, again))):
        assert torch.equal(all_three[1], one[0]) and torch.equal(all_three[1], two[1])
        assert torch.equal(all_three[0], all_three[2])
    assert not torch.equal(together[0].weight[0], together[0].weight[1])


def test_first_numbers_have_the_bound_of_torch():
    ours, theirs = ensemble.Linear(1, 25, 2000), torch.nn.Linear(25, 2000)
    ensemble.initialise(ours, [0])
    for mine, other in ((ours.weight, theirs.weight), (ours.bias, theirs.bias)):
        bound = 1 / math.sqrt(25)
        assert 0.99 * bound < mine.abs().max() <= bound
        assert mine.std().item() == pytest.approx(other.std().item(), rel=0.05)
        assert mine.mean().abs() < 0.02
    symbols = ensemble.Embedding(1, 200, 50)
    ensemble.initialise(symbols, [0])
    assert symbols.weight.std().item() == pytest.approx(1, rel=0.05) and symbols.weight.abs().max() > 3
