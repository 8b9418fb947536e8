"""Trains a model of either task, and finds out what it does at lengths that it was not trained at."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional

from . import measures, recall, text
from .devices import arithmetic, sent
from .model import Finder, Size, Writer
from .variants import Variant

Values = dict[str, float]
Progress = Callable[[float], None]
TEST_SEED = 1_000_000
"""Of what all models are tried on: no training has it."""


@dataclass(frozen=True)
class Training:
    """Adam, whose rate rises in the first tenth of the steps and falls to 0 as half of a cosine."""

    steps: int
    rate: float
    batch: int
    length: int
    """Letters of a text, or the most pairs of a context."""
    size: Size = field(default_factory=Size)
    questions: int = 16
    """Of each context."""
    autocast: str | None = None
    """The type of torch.autocast, such as "bfloat16"; None is none, and is absent from the results."""


def optimize(
    model: nn.Module, loss: Callable[[], torch.Tensor], training: Training, device: torch.device, progress: Progress
) -> None:
    """Steps on the losses, each of new data."""
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), training.rate, fused=True if device.type == "cuda" else None)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, training.rate, training.steps, pct_start=0.1, cycle_momentum=False
    )
    for step in range(training.steps):
        optimizer.zero_grad()
        with arithmetic(training.autocast, device):
            value = loss()
        value.backward()
        optimizer.step()
        schedule.step()
        progress((step + 1) / training.steps)
    model.eval()


def loss_of_text(model: Writer, letters: torch.Tensor) -> torch.Tensor:
    """In nats, of each letter but the first."""
    scores, _ = model(letters[:, :-1])
    return functional.cross_entropy(scores.mT.float(), letters[:, 1:], reduction="none")


def loss_of_recall(model: Finder, task: recall.Recall) -> torch.Tensor:
    scores, _ = model(task)
    return functional.cross_entropy(scores.flatten(0, 1).float(), task.answers.flatten())


def train_writer(variant: Variant, training: Training, seed: int, device: torch.device, progress: Progress) -> Writer:
    """Each step has new texts."""
    torch.manual_seed(seed)
    model = Writer(variant, training.size).to(device)
    draw = random.Random(seed)

    def loss() -> torch.Tensor:
        texts = [text.write(training.length + 1, draw) for _ in range(training.batch)]
        return loss_of_text(model, sent(text.encode(texts), device)).mean()

    optimize(model, loss, training, device, progress)
    return model


def train_finder(variant: Variant, training: Training, seed: int, device: torch.device, progress: Progress) -> Finder:
    """Each step has new contexts, with as many pairs as it happens, from 4 to the most."""
    torch.manual_seed(seed)
    model = Finder(variant, training.size).to(device)
    draw = torch.Generator().manual_seed(seed)

    def loss() -> torch.Tensor:
        pairs = int(torch.randint(4, training.length + 1, (), generator=draw))
        return loss_of_recall(model, recall.make(training.batch, pairs, training.questions, draw).to(device))

    optimize(model, loss, training, device, progress)
    return model


def learned_numbers(model: nn.Module) -> Values:
    """The alphas and the exponents of log n of all layers and heads, where they are learned."""
    found: Values = {}
    layers = [module for module in model.modules() if hasattr(module, "raw_alpha")]
    for layer, attention in enumerate(layers, 1):
        for head, alpha in enumerate(attention.alpha.tolist(), 1):
            found[f"alpha: layer {layer}, head {head}"] = alpha
        if isinstance(attention.scale, nn.Module):
            for head, raw in enumerate(attention.scale.raw_gamma.tolist(), 1):
                found[f"gamma: layer {layer}, head {head}"] = 2 * torch.tanh(torch.tensor(raw)).item()
    return found


def measure_writer(model: Writer, training: Training, lengths: tuple[int, ...], device: torch.device) -> Values:
    """At each length, of the last `training.length` letters: bits of a letter, those of a letter that can be copied, how
    often such a letter has the highest score, and how many keys have weight in the second layer."""
    draw = random.Random(TEST_SEED)
    values: Values = {}
    for length in lengths:
        texts = [text.write(length + 1, draw) for _ in range(32)]
        letters = text.encode(texts).to(device)
        bits_needed = torch.tensor([one.bits[1:] for one in texts], device=device)[:, -training.length :]
        with torch.no_grad(), arithmetic(training.autocast, device):
            scores = torch.cat([model(part[:, :-1])[0][:, -training.length :] for part in letters.split(8)]).float()
            target = letters[:, -training.length :]
            bits = functional.cross_entropy(scores.mT, target, reduction="none") / torch.log(torch.tensor(2.0))
            copied = ~bits_needed.isnan()
            values |= {
                f"bits: {length}": bits.mean().item(),
                f"bits of copies: {length}": bits[copied].mean().item(),
                f"least bits of copies: {length}": bits_needed[copied].mean().item(),
                f"copied: {length}": (scores.argmax(-1) == target)[copied].double().mean().item(),
            }
            few = 32 if length == training.length else 2
            found = [model(one[None, :-1], need_weights=True)[1] for one in letters[:few]]
            last = [each[1][:, :, -training.length :] for each in found]
            values[f"keys: {length}"] = sum(map(measures.support, last)) / few
            values[f"keys of 95 %: {length}"] = sum(map(measures.bulk, last)) / few
        if length == training.length:
            seen = [measures.visible(length, window, device) for window in (training.size.window, None)]
            values |= measures.by_layer_and_head([torch.cat(layer) for layer in zip(*found)], seen)
            values["accuracy"], values["bits"] = values[f"copied: {length}"], values[f"bits: {length}"]
    return values | learned_numbers(model)


def measure_finder(model: Finder, training: Training, lengths: tuple[int, ...], device: torch.device) -> Values:
    """At each number of pairs: how many answers are right, the weight of the right pair in the head that has most of it,
    and how many keys have weight."""
    draw = torch.Generator().manual_seed(TEST_SEED)
    values: Values = {}
    for length in lengths:
        tasks = [recall.make(1, length, 128, draw).to(device) for _ in range(8)]
        right, on, keys, held = [], [], [], []
        for task in tasks:
            with torch.no_grad(), arithmetic(training.autocast, device):
                scores, (weights,) = model(task, need_weights=True)
            right.append((scores.argmax(-1) == task.answers).double().mean().item())
            place = task.at[:, None, :, None].expand(-1, weights.shape[1], -1, 1)
            on.append(weights.gather(3, place).amax(1).double().mean().item())
            keys.append(measures.support(weights))
            held.append(measures.bulk(weights))
            if length == training.length and task is tasks[0]:
                seen = torch.ones(128, length, dtype=torch.bool, device=device)
                values |= measures.by_layer_and_head([weights], [seen])
        for name, numbers in (("accuracy", right), ("weight", on), ("keys", keys), ("keys of 95 %", held)):
            values[f"{name}: {length}"] = sum(numbers) / len(numbers)
    return values | {"accuracy": values[f"accuracy: {training.length}"]} | learned_numbers(model)
