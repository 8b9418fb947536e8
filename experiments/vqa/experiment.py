"""One row of the table: models of several seeds are trained side by side, and asked about images they never saw."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import nn

from .. import ensemble, training
from . import regions
from .model import Network, Pooling
from .questions import DataSet, Questions
from .settings import Settings

Values = dict[str, float]


def network(data: DataSet, pooling: Pooling, settings: Settings, seeds: list[int], device: torch.device) -> Network:
    """Models at their start, one for each seed."""
    model = Network(
        len(seeds),
        symbols=len(data.vocabulary),
        longest=data.train.words.shape[1],
        answers=len(data.answers),
        side=data.train.images.shape[-1],
        pooling=pooling,
        size=settings.size,
    )
    ensemble.initialise(model, seeds)
    with torch.no_grad():
        for layer in model.modules():
            if isinstance(layer, ensemble.Linear):
                layer.weight *= settings.size.start
    return model.to(device)


def rates(steps: int, settings: Settings) -> torch.Tensor:
    """The learning rate of each step: it rises linearly, and falls to 0 as half of a cosine."""
    step = torch.arange(steps) + 0.5
    rising = settings.warm_up * steps
    falling = (1 + torch.cos(math.pi * (step - rising) / (steps - rising))) / 2
    return settings.rate * torch.where(step < rising, step / max(rising, 1), falling)


def groups_of(questions: Questions, together: int) -> torch.Tensor:
    """(groups, together): questions about one image that follow each other."""
    whole = len(questions) // together * together
    groups = torch.arange(whole, device=questions.image.device).view(-1, together)
    if not (questions.image[groups] == questions.image[groups[:, :1]]).all():
        raise ValueError(f"together must divide the number of questions of each image, got {together}")
    return groups


def train(
    data: DataSet,
    pooling: Pooling,
    settings: Settings,
    seeds: list[int],
    device: torch.device,
    progress: Callable[[float], None] = lambda share: None,
) -> Network:
    """Trained models, one for each seed, for a data set whose tensors are on the device."""
    torch.manual_seed(seeds[0])
    model = network(data, pooling, settings, seeds, device)
    known, groups = data.train, groups_of(data.train, settings.together)
    counts = [len(groups)] * len(seeds)
    order = training.orders(counts, seeds, settings.epochs, settings.batch // settings.together).flatten(0, 1)

    def losses(chosen: torch.Tensor) -> torch.Tensor:
        questions = groups[chosen]
        images = known.images[known.image[questions[..., 0]]]
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            scores, _ = model(images, known.words[questions].flatten(1, 2))
        target = known.answer[questions].flatten(1)
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), target.flatten(), reduction="none")
        return loss.view_as(target).mean(-1)

    # TV-max is computed on the CPU, for which a recording cannot wait.
    capture = pooling.map != "tv"
    trainer = training.Trainer(model, losses, order.to(device), rates(len(order), settings), capture=capture)
    for done in trainer.steps():
        if done % 50 == 0:
            progress(done / len(order))
    return model.eval()


@torch.no_grad()
def measure(model: Network, data: DataSet, models: int, batch: int = 256) -> list[Values]:
    """The values of each model on the test questions.

    "accuracy" and, where a model looks at images, "inside", "iou" and "area" of all objects that a question is about;
    each also for every kind and sort of questions, as "accuracy: KIND". For kinds that are about more than the object
    that the question names there are "inside asked: KIND" and "inside answering: KIND", too.
    """
    found: dict[str, list[torch.Tensor]] = {}
    for questions in torch.arange(len(data.test), device=data.test.answer.device).split(batch):
        for name, value in _measure_some(model, data.test, questions, models).items():
            found.setdefault(name, []).append(value)
    every = {name: torch.cat(parts, -1).double() for name, parts in found.items()}
    sorts = {kind: [kind] for kind in data.kinds} | data.sorts
    chosen = {name: torch.isin(data.test.kind, _places(data, kinds)) for name, kinds in sorts.items()}
    related = {name for name, which in chosen.items() if (data.test.asked != data.test.answering)[which].any()}
    values = {name: value.mean(-1) for name, value in every.items() if " " not in name}
    for name, value in every.items():
        for sort, which in chosen.items():
            if which.any() and (" " not in name or sort in related):
                values[f"{name}: {sort}"] = value[:, which].mean(-1)
    return [{name: float(value[i]) for name, value in values.items()} for i in range(models)]


def _places(data: DataSet, kinds: list[str]) -> torch.Tensor:
    return torch.tensor([data.kinds.index(kind) for kind in kinds], device=data.test.kind.device)


def _measure_some(model: Network, test: Questions, questions: torch.Tensor, models: int) -> dict[str, torch.Tensor]:
    """(models, questions) of each value."""
    images = test.images[test.image[questions]].expand(models, -1, -1, -1, -1)
    words = test.words[questions].expand(models, -1, -1)
    scores, attended = model(images, words)
    values = {"accuracy": scores.argmax(-1) == test.answer[questions]}
    if attended is None:
        return values
    mass = regions.pixel_mass(attended, images.shape[-1])
    looked_at = regions.region(mass, model.pooling.sparse)
    asked, answering = (test.region(questions, which) for which in (test.asked, test.answering))
    return values | {
        "inside": regions.inside(mass, asked | answering),
        "iou": regions.overlap(looked_at, asked | answering),
        "area": regions.area(looked_at),
        "inside asked": regions.inside(mass, asked),
        "inside answering": regions.inside(mass, answering),
    }
