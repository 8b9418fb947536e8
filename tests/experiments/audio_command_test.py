"""The command of the audio experiment on a made-up data folder: it writes the file of results, goes on, and says in a
line what is wrong."""

import json

import pytest
import torch

from experiments import command, kept
from experiments.audio import __main__ as audio
from experiments.audio import data, experiment, made_up
from experiments.audio.model import AudioModel, Pooling

pytest.importorskip("soundfile")
SETS = ["mfcc, per clip", "mel, per clip"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    made_up.write_folder(folder)
    return folder


def run(folder, out, *words, rows=("mean",), sets=SETS):
    numbers = ["--device", "cpu", "--epochs", "1", "--seeds", "2"]
    audio.main(["--data", str(folder), "--out", str(out), *numbers, "--sets", *sets, "--rows", *rows, *words])


@pytest.fixture(scope="module")
def finished(folder, tmp_path_factory):
    """The file of results, and where parameters were kept."""
    place = tmp_path_factory.mktemp("results")
    run(folder, place / "audio.json", "--keep", str(place / "kept"), rows=["mean", "both_2", "majority"])
    return place


def test_the_file_has_what_readers_expect(finished):
    content = json.loads((finished / "audio.json").read_text())
    assert content["experiment"] == "audio"
    assert [(row["data"], row["name"], row["group"]) for row in content["rows"]] == [
        (data, name, group)
        for data in SETS
        for name, group in (("both_2", "paper"), ("mean", "control"), ("majority", "floor"))
    ]
    for row in content["rows"]:
        folds = range(1, 11) if row["data"].startswith("mfcc") else (1, 2, 10)
        pairs = [(run["unit"], run["seed"]) for run in row["runs"]]
        assert pairs == [(fold, seed) for fold in folds for seed in (0, 1)]
        assert all(0 <= run["values"]["accuracy"] <= 1 for run in row["runs"])
        assert row["seconds"] >= 0 and {"day", "commit", "machine", "torch", "fenchel"} <= row["made"].keys()
    both, _, majority = content["rows"][:3]
    assert both["label"] == "both, alpha = 2" and both["config"]["pooling"]["alpha"] == 2.0
    assert both["config"]["epochs"] == 1 and both["config"]["batch"] == 16 and both["config"]["filters"] == 128
    # 5 frames of 40 coefficients to 128, keys, a query, 4 classes: each with a bias but for the query.
    assert both["parameters"] == (200 * 128 + 128) + (128 * 128 + 128) + 128 + (128 * 4 + 4)
    assert majority["parameters"] == 0 and majority["config"] == {}
    # Each class is as frequent in every fold.
    assert {run["values"]["accuracy"] for run in majority["runs"]} == {0.25}


def test_rows_are_summed_up_and_compared(finished):
    content = json.loads((finished / "audio.json").read_text())
    assert [(one["data"], one["name"]) for one in content["summary"]] == [
        (row["data"], row["name"]) for row in content["rows"]
    ]
    for one, row in zip(content["summary"], content["rows"]):
        accuracy = [run["values"]["accuracy"] for run in row["runs"]]
        assert one["values"]["accuracy"]["mean"] == pytest.approx(sum(accuracy) / len(accuracy), rel=1e-5)
        assert {"mean", "deviation", "interval"} == one["values"]["accuracy"].keys()
    assert [(one["data"], one["row"], one["against"]) for one in content["differences"]] == [
        (data, "both_2", "mean") for data in SETS
    ]
    for one in content["differences"]:
        for interval in (one["interval"], one["interval_over_units"]):
            assert interval[0] <= one["difference"] <= interval[1]


def test_a_second_run_does_what_is_left(folder, finished, tmp_path, capsys, monkeypatch):
    file = tmp_path / "audio.json"
    file.write_text((finished / "audio.json").read_text())
    monkeypatch.setattr(experiment, "train", None)
    run(folder, file, rows=["mean", "both_2", "majority"])
    said = capsys.readouterr().err.splitlines()
    assert said == [f"{data}, {name}: there already" for data in SETS for name in ("both_2", "mean", "majority")]
    assert file.read_text() == (finished / "audio.json").read_text()
    monkeypatch.undo()
    run(folder, file, rows=["mean", "discrete_1"], sets=["mel, per clip"])
    said = capsys.readouterr().err
    assert "mel, per clip, mean: there already" in said and "mel, per clip, discrete_1: accuracy 0." in said
    names = [row["name"] for row in json.loads(file.read_text())["rows"] if row["data"] == "mel, per clip"]
    assert names == ["both_2", "mean", "majority", "discrete_1"]


def test_other_settings_are_run_again(folder, finished, tmp_path, capsys):
    file = tmp_path / "audio.json"
    file.write_text((finished / "audio.json").read_text())
    run(folder, file, "--epochs", "2", sets=["mel, per clip"])
    assert "there already" not in capsys.readouterr().err
    content = json.loads(file.read_text())
    assert [row["config"]["epochs"] for row in content["rows"] if row["name"] == "mean"] == [1, 2]


def test_parameters_of_what_is_pictured_are_kept(folder, finished):
    assert [file.name for file in (finished / "kept").iterdir()] == ["audio-both_2.pt"]
    # What is kept is the model that never saw fold 10, of the first seed.
    clips = data.prepared(data.read_mel(folder), "clip")
    protocol = experiment.Protocol(clips, [1, 2, 10], [0, 1], experiment.Settings(epochs=1))
    pooling = Pooling("both", 2.0)
    trained, model = experiment.train(protocol, pooling), AudioModel(1, 80, 4, pooling)
    kept.load(finished / "kept" / "audio-both_2.pt", model)
    place = protocol.pairs.index((10, 0))
    for ours, theirs in zip(model.parameters(), trained.parameters()):
        torch.testing.assert_close(ours[0], theirs[place], rtol=2e-3, atol=1e-6)
    with pytest.raises(ValueError, match=r"audio-both_2.pt: output.weight must have shape \(128, 10\), got \(128, 4\)"):
        kept.load(finished / "kept" / "audio-both_2.pt", AudioModel(1, 80, 10, Pooling("both", 2.0)))


def said_by(call, capsys):
    """The line that the program ends with."""
    with pytest.raises(SystemExit) as end:
        command.run_as_program("audio", call)
    return end.value.code if isinstance(end.value.code, str) else capsys.readouterr().err.splitlines()[-1]


def test_what_is_wrong_is_said_in_one_line(folder, tmp_path, capsys):
    out = tmp_path / "audio.json"
    unknown = said_by(lambda: run(folder, out, rows=["mean", "worst"]), capsys)
    assert unknown.startswith("experiments.audio: rows must be among both_1, ") and unknown.endswith("got worst")
    missing = said_by(lambda: run(tmp_path / "nowhere", out), capsys)
    assert missing.startswith(f"experiments.audio: {tmp_path / 'nowhere' / 'us8k-mfcc.tar.xz'} is missing: ")
    out.write_text("{")
    assert "audio.json:1:2: not a file of results" in said_by(lambda: run(folder, out), capsys)
    without = said_by(lambda: audio.main(["--out", str(out)]), capsys)
    assert "--data must name the folder with us8k-mfcc.tar.xz and us8k/" in without
    assert all("\n" not in line for line in (unknown, missing, without))


def test_an_interruption_says_how_to_go_on(capsys):
    def interrupted():
        raise KeyboardInterrupt

    assert "the same command goes on after the last row" in said_by(interrupted, capsys)
