"""Pictures of attention over made-up clips: the rule that chooses a clip, the files, and their captions."""

from __future__ import annotations

import csv
import json
import pathlib

import pytest
import torch

from experiments import command, ensemble, kept
from experiments.audio import data, features, made_up, model, pictures
from experiments.results import Results

pytest.importorskip("soundfile")
Image = pytest.importorskip("PIL.Image")
pytest.importorskip("matplotlib")

SECONDS = 3.2
LOUD = {"dog_bark": 0.5, "gun_shot": 0.2}
"""Where the most concentrated clip of a class is loud, in parts of its length."""


def add(folder, name, label, loud, seconds=SECONDS, fold=10, salience=1):
    """A clip of noise that is loud for a tenth of its length about each of the given places."""
    import soundfile

    generator = torch.Generator().manual_seed(len(name))
    waveform = 0.002 * torch.randn(int(seconds * features.SAMPLE_RATE), generator=generator)
    time = torch.linspace(0, 1, len(waveform))
    for place in loud:
        waveform[(time - place).abs() < 0.05] *= 100
    file = f"fold{fold}/{name}.ogg"
    path = folder / "us8k/audio" / file
    soundfile.write(path, waveform.numpy(), features.SAMPLE_RATE, format="OGG", subtype="VORBIS")
    number = data.CLASSES.index(label)
    row = [file, f"{name}.wav", name.partition("-")[0], 0.0, 4.0, salience, fold, number, label, len(waveform), "full"]
    with (folder / data.MEL_INDEX).open("a") as index:
        csv.writer(index, lineterminator="\n").writerow(row)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("data")
    made_up.write_folder(path)
    for number, (label, place) in enumerate(LOUD.items(), 1):
        add(path, f"{number}00-0-0-0", label, [0.1, 0.9])
        add(path, f"{number}01-0-0-0", label, [place])
        add(path, f"{number}02-0-0-0", label, [], salience=2)
        add(path, f"{number}03-0-0-0", label, [place], seconds=2.9)
        add(path, f"{number}04-0-0-0", label, [place], fold=1)
    return path


def untrained(name):
    """A model of a row."""
    (row,) = command.read_rows(pathlib.Path(pictures.__file__).parent / "rows", model.Pooling, [name])
    return model.AudioModel(1, features.MEL_FILTERS, len(data.CLASSES), row.pooling).eval()


@pytest.fixture(scope="module")
def parameters(tmp_path_factory):
    path = tmp_path_factory.mktemp("kept")
    for name in pictures.PICTURED:
        one = untrained(name)
        ensemble.initialise(one, [0])
        kept.save(path / f"audio-{name}.pt", one)
    return path


def test_the_spread_is_a_standard_deviation():
    assert pictures.spread(torch.ones(10001)) == pytest.approx(12**-0.5, rel=1e-3)
    moment = torch.zeros(1000)
    moment[300] = 0.1
    assert pictures.spread(moment) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("label, name", [("dog_bark", "101-0-0-0"), ("gun_shot", "201-0-0-0")])
def test_the_most_concentrated_long_clip_in_the_foreground_is_chosen(folder, label, name):
    chosen, waveform = pictures.choose(folder, label)
    assert chosen == name and len(waveform) == SECONDS * features.SAMPLE_RATE


def test_a_class_that_is_not_there_is_named(folder):
    with pytest.raises(ValueError, match="must have a clip of siren in the foreground of fold 10 .* got none"):
        pictures.choose(folder, "siren")


def test_pictures_and_captions(folder, parameters, tmp_path):
    results = tmp_path / "audio.json"
    Results(results, "audio").put_figure("audio_gun.png", "old")
    words = ["--data", folder, "--kept", parameters, "--out", tmp_path / "figures", "--results", results]
    pictures.main([str(word) for word in words])
    for file in ("audio_dog.png", "audio_gun.png"):
        assert 10_000 < (tmp_path / "figures" / file).stat().st_size < 120_000
        with Image.open(tmp_path / "figures" / file) as picture:
            assert picture.width == 902
            assert len(picture.convert("RGB").getcolors(1 << 20)) > 50
    figures = json.loads(results.read_text())["figures"]
    assert [figure["file"] for figure in figures] == ["audio_gun.png", "audio_dog.png"]
    gun, dog = (figure["caption"] for figure in figures)
    assert "Attention over a gun shot (3.2 s)" in gun and "recording 201" in gun
    assert "Attention over a dog bark (3.2 s)" in dog and "recording 101" in dog
    for text in (gun, dog):
        assert text.isascii() and "CC BY-NC" in text
        assert text.count(" %, wrong)") + text.count(" %, right)") == len(pictures.PICTURED)
        for name in ("discrete softmax: ", "alpha = 1: ", "alpha = 4/3: ", "alpha = 3/2: ", "alpha = 2: "):
            assert name in text


def test_a_model_sees_the_clip_as_it_was_scaled_in_training(folder, parameters):
    clip = pictures.read(folder)[1]
    clips = data.prepared(data.read_mel(folder), "clip")
    shift, scale = data.scaling(clips, [1, 2])
    place = clips.names.index("201-0-0-0")
    frames = ((clips.frames - shift) * scale)[place, : clips.lengths[place]]
    assert torch.allclose(clip.frames, frames)
    one = untrained("both_2")
    kept.load(parameters / "audio-both_2.pt", one)
    seen = pictures.look(one, clip)
    with torch.no_grad():
        scores, attended = one(frames[None, None], torch.tensor([[len(frames)]]))
    assert seen.predicted == data.CLASSES[int(scores.argmax())]
    assert seen.probability == pytest.approx(float(scores.softmax(-1).max()))
    assert seen.attended.mu == pytest.approx(float(attended.mu))


def test_places_are_times(folder):
    """A window of three frames, 10 ms apart, begins half a frame before the first of them."""
    name, waveform = pictures.choose(folder, "gun_shot")
    clip = pictures.Clip(name, "gun_shot", waveform, frames := torch.zeros(321, 80), frames)
    times = pictures.seconds(torch.tensor([0.0, 1 / 107, 1.0]), clip, 3)
    assert times.tolist() == pytest.approx([-0.005, 0.025, 3.205])
