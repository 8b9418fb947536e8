"""Draws where models look: image, discrete attention, continuous softmax, and continuous sparsemax with its ellipse.

Parameters that `python -m experiments.vqa --keep DIR` saved are read; models without are trained first, with one seed.
"""

from __future__ import annotations

import argparse
import pathlib
import textwrap
from dataclasses import dataclass
from typing import Any

import torch

from fenchel.torch.nn import Attended

from .. import command, kept
from ..drawing import save_small
from ..results import Results
from ..training import Progress, use_one_arithmetic
from . import experiment, regions, sort_of_clevr
from .__main__ import PICTURED, SETS, file_of, load
from .model import Network
from .questions import DataSet
from .settings import read_rows, read_settings

ASKED = 2000
"""How many test questions the examples are chosen from."""
DIMMED = 0.25
"""How bright a pixel is that is not looked at."""


@dataclass(frozen=True)
class Answers:
    """Of one model to the first test questions."""

    answer: torch.Tensor
    """(Q,)."""
    attended: Attended
    """(Q, 1, ...)."""


@torch.no_grad()
def ask(model: Network, data: DataSet) -> Answers:
    """The answers of the first model of an ensemble."""
    test = data.test
    answers, looks = [], []
    for questions in torch.arange(min(ASKED, len(test))).split(250):
        images, words = test.images[test.image[questions]].unsqueeze(0), test.words[questions].unsqueeze(0)
        scores, attended = model(images, words)
        answers.append(scores[0].argmax(-1))
        looks.append(attended)
    joined = [
        torch.cat([getattr(one, name)[0] for one in looks]) if getattr(looks[0], name) is not None else None
        for name in ("mu", "Sigma", "weights")
    ]
    return Answers(torch.cat(answers), Attended(looks[0].alpha, *joined))


def examples(data: DataSet, answers: list[Answers], count: int = 6) -> list[int]:
    """Questions to show: where all models are right, where they differ either way, and where all are wrong.

    Of each sort as many as there are, in turn, about images of their own and kinds that were not shown yet.
    """
    target = data.test.answer[: len(answers[0].answer)]
    right = torch.stack([one.answer == target for one in answers])
    discrete, sparse = right[0], right[-1]
    sorts = [right.all(0), sparse & ~discrete, discrete & ~sparse, ~right.any(0)]
    left = [sort.nonzero()[:, 0].tolist() for sort in sorts]
    chosen: list[int] = []
    while len(chosen) < count and any(left):
        for questions in left:
            images = {int(data.test.image[one]) for one in chosen}
            kinds = [int(data.test.kind[one]) for one in chosen]
            questions[:] = [one for one in questions if int(data.test.image[one]) not in images]
            if questions and len(chosen) < count:
                best = min(questions, key=lambda one: (kinds.count(int(data.test.kind[one])), one))
                chosen.append(best)
    return sorted(chosen, key=lambda one: [bool(sort[one]) for sort in sorts], reverse=True)


def ellipse(attended: Attended, question: int, mass: float | None) -> torch.Tensor:
    """(points, 2): the bound of the support, or of the smallest region of a Gaussian with so much mass."""
    mu, Sigma, radius2 = (x[question, 0] for x in attended.density().active_support())
    if mass is not None:
        radius2 = -2 * torch.log(torch.tensor(1 - mass))
    turn = torch.linspace(0, 2 * torch.pi, 100)
    circle = torch.stack([turn.cos(), turn.sin()])
    return (mu.unsqueeze(-1) + radius2.sqrt() * torch.linalg.cholesky(Sigma) @ circle).T


def sentence(data: DataSet, question: int) -> str:
    words = data.test.words[question]
    return sort_of_clevr.sentence(words) if data.name == "sort-of-clevr" else f"{data.text(words)}?"


def caption(data: DataSet, answers: dict[str, Answers], chosen: list[int]) -> str:
    """What is seen, in plain text."""
    target = data.test.answer[chosen]
    right = ", ".join(f"{PICTURED[name]} {int((one.answer[chosen] == target).sum())}" for name, one in answers.items())
    return (
        f"Where models look in images of {data.name}, with a test question and its answer in each row: some that all"
        " models answer rightly, some that they differ in, and some that all answer wrongly, as far as there are such."
        " Bright pixels are those looked at. Ellipses hold 50 % and 95 % of a Gaussian, or are the bound of the"
        f" support. Right answers to the {len(chosen)} questions shown: {right}."
    )


def draw(data: DataSet, answers: dict[str, Answers], chosen: list[int], file: pathlib.Path) -> None:
    """A row of pictures for each of the chosen questions."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    side = data.test.images.shape[-1]
    figure, axes = pyplot.subplots(
        len(chosen), 1 + len(answers), figsize=(8.6, 2.25 * len(chosen)), squeeze=False, layout="constrained"
    )
    for line, question in zip(axes, chosen):
        image = data.test.images[data.test.image[question]].permute(1, 2, 0) / 255
        target = int(data.test.answer[question])
        asked = textwrap.fill(sentence(data, question), 28)
        _show(line[0], image, f"{asked}\n{data.answers[target]}", "black")
        for axis, (name, one) in zip(line[1:], answers.items()):
            given = int(one.answer[question])
            verdict, colour = ("right", "darkgreen") if given == target else ("wrong", "firebrick")
            look = Attended(one.attended.alpha, *(x if x is None else x[question] for x in one.attended[1:4]))
            mass = regions.pixel_mass(look, side)
            light = DIMMED + (1 - DIMMED) * (mass / mass.max()).unsqueeze(-1)
            _show(axis, image * light, f"{PICTURED[name]}\n{data.answers[given]}, {verdict}", colour)
            for held in () if look.mu is None else (0.5, 0.95) if one.attended.alpha == 1 else (None,):
                bound = ellipse(one.attended, question, held) * side - 0.5
                axis.plot(bound[:, 0], bound[:, 1], color="deepskyblue", linewidth=1.2, scalex=False, scaley=False)
    save_small(figure, file, dpi=75, colours=64)


def _show(axis: Any, image: torch.Tensor, title: str, colour: str) -> None:
    axis.imshow(image.numpy(), interpolation="nearest")
    axis.set_title(title, fontsize=8, color=colour)
    axis.set_xticks([])
    axis.set_yticks([])


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.vqa.pictures", description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, metavar="DIR", help="the folder that easy-vqa is in")
    parser.add_argument("--out", type=pathlib.Path, metavar="FOLDER", required=True, help="where the pictures go")
    parser.add_argument("--kept", type=pathlib.Path, metavar="FOLDER", help="the folder that --keep named")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", type=torch.device)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--epochs", type=int, metavar="N", help="where models are trained")
    parser.add_argument("--results", type=pathlib.Path, metavar="FILE", help="write captions into this file of results")
    options = parser.parse_args(words)
    use_one_arithmetic()
    results = options.results and Results(options.results, "vqa")
    rows = {row.name: row for row in read_rows(list(PICTURED))}
    progress = Progress(len(rows) * len(options.sets))
    for name in options.sets:
        settings = read_settings(name).with_epochs(options.epochs)
        data = load(name, settings, options.data)
        answers = {}
        for row in (rows[one] for one in PICTURED):
            title = f"{name}, {row.name}"
            if options.kept is not None and file_of(options.kept, name, row.name).is_file():
                model = experiment.network(data, row.pooling, settings, [0], torch.device("cpu")).eval()
                kept.load(file_of(options.kept, name, row.name), model)
            else:
                there = data.to(options.device)
                model = experiment.train(
                    there, row.pooling, settings, [0], options.device, lambda share: progress.show(title, share)
                ).cpu()
            answers[row.name] = ask(model, data)
            right = answers[row.name].answer == data.test.answer[: len(answers[row.name].answer)]
            progress.finish(title, f"accuracy {right.double().mean():.4f} on {len(right)} questions")
        chosen = examples(data, list(answers.values()))
        file = f"{name.replace('-', '_')}.png"
        draw(data, answers, chosen, options.out / file)
        if results:
            results.put_figure(file, caption(data, answers, chosen))


if __name__ == "__main__":
    command.run_as_program("vqa.pictures", main)
