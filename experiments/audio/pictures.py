"""Draws where audio models look in a dog bark and a gun shot of a fold that they never saw, as Figure 10 of the paper.

The parameters are those that `python -m experiments.audio --keep DIR` saved. Of a clip there are the spectrogram, the
envelope of its waveform, the attention of each model and what it predicts.
"""

from __future__ import annotations

import argparse
import csv
import pathlib
from dataclasses import dataclass
from typing import Any

import torch

from fenchel.torch.nn import Attended

from .. import command, kept
from ..drawing import save_small
from ..results import Results
from ..training import use_one_arithmetic
from . import data, features
from .__main__ import PICTURED, PICTURED_FOLD
from .model import AudioModel, Pooling

FILES = {"audio_dog.png": "dog_bark", "audio_gun.png": "gun_shot"}
LEAST_SECONDS = 3.0
"""Shorter clips are not shown."""
RULE = (
    f"of the clips of this class in test fold {PICTURED_FOLD} that are in the foreground and at least "
    f"{LEAST_SECONDS:.0f} s long, the one whose energy is most concentrated in time, for its length"
)
CREDIT = "From UrbanSound8K (Salamon, Jacoby and Bello 2014; CC BY-NC), Freesound recording"
HOP = features.HOP / features.SAMPLE_RATE
INK, MUTED, RIGHT, WRONG = "#1f2328", "#6b737d", "#1a7f37", "#b42318"
COLOURS = {"discrete_1": INK, "both_1": "#005b9a", "both_4_3": "#008a68", "both_3_2": "#dc66ae", "both_2": "#d04a00"}
"""Of each alpha, the one that the report has."""
DPI, PALETTE = 110, 256


@dataclass(frozen=True)
class Clip:
    """One to show."""

    name: str
    label: str
    waveform: torch.Tensor
    spectrogram: torch.Tensor
    """(frames, 80), in decibels."""
    frames: torch.Tensor
    """The same, as models read it."""


@dataclass(frozen=True)
class Look:
    """What a model saw in a clip and said of it."""

    attended: Attended
    """Of shape ()."""
    predicted: str
    probability: float


def spread(waveform: torch.Tensor) -> float:
    """The standard deviation of time, in parts of the clip, when each moment counts by its energy."""
    energy = waveform.double().square()
    share = energy / energy.sum()
    time = torch.linspace(0, 1, len(share), dtype=torch.float64)
    return float((share @ time.square() - (share @ time).square()).clamp(min=0).sqrt())


def choose(folder: pathlib.Path, label: str) -> tuple[str, torch.Tensor]:
    """Name and waveform of the clip to show of a class: see `RULE`."""
    index = folder / data.MEL_INDEX
    with index.open() as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if (row["fold"], row["class"], row["salience"]) == (str(PICTURED_FOLD), label, "1")
            and int(row["samples"]) >= LEAST_SECONDS * features.SAMPLE_RATE
            and row["filename"] != data.LEFT_OUT
        ]
    if not rows:
        raise ValueError(
            f"{index}: must have a clip of {label} in the foreground of fold {PICTURED_FOLD} that is at least"
            f" {LEAST_SECONDS:.0f} s long, got none"
        )
    waveforms = {
        pathlib.Path(row["slice_file_name"]).stem: data.read_waveform(index.parent / "audio" / row["filename"])
        for row in rows
    }
    return min(waveforms.items(), key=lambda item: spread(item[1]))


def read(folder: pathlib.Path) -> list[Clip]:
    """The clips to show, scaled by the folds that their models learned from."""
    clips = data.prepared(data.read_mel(folder), "clip")
    shift, scale = data.scaling(clips, set(data.MEL_FOLDS) - {PICTURED_FOLD})
    found = []
    for label in FILES.values():
        name, waveform = choose(folder, label)
        place = clips.names.index(name)
        frames = (clips.frames[place, : clips.lengths[place]] - shift) * scale
        found.append(Clip(name, label, waveform, features.log_mel(waveform), frames))
    return found


@torch.no_grad()
def look(model: AudioModel, clip: Clip) -> Look:
    """What the first model of an ensemble sees in a clip."""
    scores, attended = model(clip.frames[None, None], torch.tensor([[len(clip.frames)]]))
    best = scores[0, 0].softmax(-1).max(-1)
    parts = (part if part is None else part[0, 0] for part in (attended.mu, attended.Sigma, attended.weights))
    return Look(Attended(attended.alpha, *parts), data.CLASSES[int(best.indices)], float(best.values))


def title(name: str) -> str:
    """How a model is called: softmax weights, or its alpha."""
    kind, alpha = name.split("_", 1)
    return "discrete softmax" if kind == "discrete" else f"alpha = {alpha.replace('_', '/')}"


def spoken(label: str) -> str:
    return label.replace("_", " ")


def caption(clip: Clip, looks: dict[str, Look]) -> str:
    """What is seen, in plain text."""
    said = "; ".join(
        f"{title(name)}: {spoken(one.predicted)} ({100 * one.probability:.0f} %, {verdict(clip, one)})"
        for name, one in looks.items()
    )
    duration = len(clip.waveform) / features.SAMPLE_RATE
    return (
        f"Attention over a {spoken(clip.label)} ({duration:.1f} s) that the models did not learn from: {RULE}. From the"
        " top: the envelope of the waveform; the spectrogram; the softmax weights of a model with discrete attention;"
        " the densities of four models that add continuous attention; and where each looks: the part of the clip in the"
        " support, with a dot at the mean. Softmax and a Gaussian (alpha = 1) look at all of it. Predictions with their"
        f" probabilities: {said}. {CREDIT} {clip.name.partition('-')[0]}."
    )


def verdict(clip: Clip, one: Look) -> str:
    return "right" if one.predicted == clip.label else "wrong"


def seconds(place: torch.Tensor, clip: Clip, pool: int) -> torch.Tensor:
    """The time of a place in [0, 1]: 0 is where the first window of attention begins, half a frame before time 0."""
    return HOP * (pool * (len(clip.frames) // pool) * place - 0.5)


def draw(clip: Clip, looks: dict[str, Look], pool: int, file: pathlib.Path) -> None:
    """Below each other: waveform, spectrogram, weights, densities, and a lane for each model."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context({"font.size": 9.5, "axes.edgecolor": MUTED, "xtick.color": MUTED, "ytick.color": MUTED}):
        grid = {"height_ratios": [0.8, 1.9, 0.9, 1.6, 1.7], "hspace": 0.16}
        figure, axes = pyplot.subplots(5, 1, figsize=(8.2, 7.6), sharex=True, gridspec_kw=grid)
        figure.subplots_adjust(left=0.165, right=0.76, top=0.95, bottom=0.065)
        _waveform(axes[0], clip)
        _spectrogram(axes[1], clip)
        _weights(axes[2], looks["discrete_1"].attended, clip, pool)
        _densities(axes[3], looks, clip, pool)
        _lanes(axes[4], looks, clip, pool)
        axes[0].set_title(f"{spoken(clip.label)} (clip {clip.name})", loc="left", fontsize=11, color=INK)
        axes[-1].set_xlabel("time in seconds", color=INK)
        axes[-1].set_xlim(0, len(clip.waveform) / features.SAMPLE_RATE)
        for axis in axes:
            axis.spines[["top", "right"]].set_visible(False)
            axis.yaxis.set_label_coords(-0.1, 0.5)
            axis.yaxis.label.set_color(INK)
        save_small(figure, file, DPI, PALETTE)


def _waveform(axis: Any, clip: Clip) -> None:
    """Its smallest and largest value in each 10 ms."""
    parts = clip.waveform[: len(clip.waveform) // features.HOP * features.HOP].unflatten(0, (-1, features.HOP))
    time = HOP * (torch.arange(len(parts)) + 0.5)
    axis.fill_between(time, parts.amin(1), parts.amax(1), color=MUTED, linewidth=0.4)
    axis.set_ylim(-1.05 * clip.waveform.abs().max(), 1.05 * clip.waveform.abs().max())
    axis.set_yticks([])
    axis.set_ylabel("waveform")


def _spectrogram(axis: Any, clip: Clip) -> None:
    """In decibels below the loudest, with frequencies on the mel scale."""
    loudness = clip.spectrogram - clip.spectrogram.max()
    extent = (-HOP / 2, HOP * (len(loudness) - 0.5), -0.5, features.MEL_FILTERS - 0.5)
    picture = axis.imshow(
        loudness.T, origin="lower", aspect="auto", extent=extent, cmap="magma", interpolation="nearest"
    )
    # Filter j is centred at step j + 1 of MEL_FILTERS + 1 steps of the mel scale.
    step = features.hertz_to_mel(features.SAMPLE_RATE / 2) / (features.MEL_FILTERS + 1)
    for_kilohertz = {f"{f:g}": features.hertz_to_mel(1000 * f) / step - 1 for f in (0.25, 0.5, 1, 2, 4)}
    axis.set_yticks([*for_kilohertz.values()], [*for_kilohertz])
    axis.set_ylabel("frequency in kHz")
    bar = axis.figure.colorbar(picture, cax=axis.inset_axes((1.025, 0, 0.025, 1)))
    bar.outline.set_visible(False)
    bar.set_label("dB", color=INK)


def _weights(axis: Any, attended: Attended, clip: Clip, pool: int) -> None:
    """A step for each window that attention weighs."""
    count = len(attended.weights)
    edges = seconds(torch.linspace(0, 1, count + 1), clip, pool)
    axis.stairs(attended.weights, edges, fill=True, color=COLOURS["discrete_1"])
    axis.set_ylim(0)
    axis.locator_params(axis="y", nbins=3)
    axis.set_ylabel("weight")
    _note(axis, 0.5, f"softmax weights,\none for each {1000 * pool * HOP:.0f} ms", COLOURS["discrete_1"])


def _densities(axis: Any, looks: dict[str, Look], clip: Clip, pool: int) -> None:
    """By time in seconds."""
    place = torch.linspace(0, 1, 801)
    time = seconds(place, clip, pool)
    continuous = {name: one.attended for name, one in looks.items() if one.attended.mu is not None}
    for i, (name, attended) in enumerate(continuous.items()):
        density = attended.density().log_prob(place).exp() / (time[-1] - time[0])
        axis.plot(time, density, color=COLOURS[name], linewidth=1.8)
        _note(axis, 0.86 - 0.2 * i, title(name).replace("alpha", "$\\alpha$"), COLOURS[name], line=True)
    axis.set_ylim(0)
    axis.locator_params(axis="y", nbins=4)
    axis.set_ylabel("density per second")


def _lanes(axis: Any, looks: dict[str, Look], clip: Clip, pool: int) -> None:
    """The support of each model as a bar with a dot at the mean, and what it says."""
    for i, (name, one) in enumerate(looks.items()):
        attended = one.attended
        if attended.mu is None:
            count = len(attended.weights)
            mean = attended.weights @ ((torch.arange(count) + 0.5) / count)
            ends = torch.tensor([0.0, 1.0])
        else:
            mean, ends = attended.mu, torch.stack(attended.density().active_support()).clamp(0, 1)
        begin, end = seconds(ends, clip, pool).tolist()
        axis.barh(i, end - begin, left=begin, height=0.5, color=COLOURS[name], alpha=0.35)
        axis.plot(float(seconds(mean, clip, pool)), i, "o", color=COLOURS[name], markersize=6, clip_on=False)
        sign, colour = ("\N{CHECK MARK}", RIGHT) if verdict(clip, one) == "right" else ("\N{BALLOT X}", WRONG)
        text = f"{sign} {spoken(one.predicted)} {100 * one.probability:.0f} %"
        axis.text(1.025, i, text, color=colour, va="center", transform=axis.get_yaxis_transform())
    axis.set_yticks(range(len(looks)), [title(name).replace("alpha", "$\\alpha$") for name in looks])
    axis.tick_params(axis="y", length=0)
    for text, name in zip(axis.get_yticklabels(), looks):
        text.set_color(COLOURS[name])
    axis.set_ylim(len(looks) - 0.4, -1.5)
    for place, heading in ((0.01, "support, with a dot at the mean"), (1.025, "predicted")):
        axis.text(place, -1, heading, color=MUTED, va="center", transform=axis.get_yaxis_transform())


def _note(axis: Any, height: float, text: str, colour: str, line: bool = False) -> None:
    """To the right of a picture, after a piece of a line."""
    if line:
        axis.plot([1.025, 1.065], [height] * 2, color=colour, linewidth=2, transform=axis.transAxes, clip_on=False)
    axis.text(1.08 if line else 1.025, height, text, color=colour, va="center", transform=axis.transAxes)


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.audio.pictures", description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, metavar="DIR", required=True, help="the folder that us8k is in")
    parser.add_argument("--kept", type=pathlib.Path, metavar="FOLDER", required=True, help="which --keep named")
    parser.add_argument("--out", type=pathlib.Path, metavar="FOLDER", required=True, help="where the pictures go")
    parser.add_argument("--results", type=pathlib.Path, metavar="FILE", help="write captions into this file of results")
    options = parser.parse_args(words)
    use_one_arithmetic()
    results = options.results and Results(options.results, "audio")
    rows = {row.name: row for row in command.read_rows(pathlib.Path(__file__).parent / "rows", Pooling, list(PICTURED))}
    models = {}
    for name in PICTURED:
        models[name] = AudioModel(1, features.MEL_FILTERS, len(data.CLASSES), rows[name].pooling).eval()
        kept.load(options.kept / f"audio-{name}.pt", models[name])
    for file, clip in zip(FILES, read(options.data)):
        looks = {name: look(model, clip) for name, model in models.items()}
        draw(clip, looks, models["discrete_1"].size.pool, options.out / file)
        if results:
            results.put_figure(file, caption(clip, looks))


if __name__ == "__main__":
    command.run_as_program("audio.pictures", main)
