"""Trainings by several processes: the same results as by one, what an interrupted run left, and failures by name."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest
import torch

from experiments import statistics
from experiments import tables as all_tables
from experiments.transformers import __main__ as program
from experiments.transformers import costs, pictures, presets, tables
from experiments.transformers.experiment import Training, train_finder
from experiments.transformers.model import Size
from experiments.transformers.variants import VARIANTS


@pytest.fixture
def tiny(monkeypatch):
    """Both sizes with few steps and lengths; the large one with its arithmetic."""
    for size, autocast in (("small", None), ("large", "bfloat16")):
        sets = presets.SIZES[size]
        text = Training(3, 1e-2, 2, 16, Size(32), autocast=autocast)
        recall = Training(3, 1e-2, 2, 8, Size(32), autocast=autocast)
        monkeypatch.setitem(sets, "text", sets["text"]._replace(training=text, lengths=(16, 32), timed=(32,)))
        monkeypatch.setitem(sets, "recall", sets["recall"]._replace(training=recall, lengths=(8, 16), timed=(16,)))


def fail_with_seed_one(variant, training, seed, device, progress):
    """In place of train_finder, where processes find it by its name."""
    if seed == 1 and variant == VARIANTS["entmax"][1]:
        raise RuntimeError("no memory")
    return train_finder(variant, training, seed, device, progress)


def run(file, *words):
    program.main(["--out", str(file), "--sets", "recall", "--seeds", "2", *words])
    return json.loads(file.read_text())


def without_time(content):
    """What is the same whenever and wherever a model is trained."""
    rows = [{name: value for name, value in row.items() if name not in ("seconds", "made")} for row in content["rows"]]
    return content | {"rows": rows}


def test_two_processes_find_what_one_does(tiny, tmp_path):
    alone = run(tmp_path / "alone.json", "--keep", str(tmp_path / "alone"))
    together = run(tmp_path / "together.json", "--jobs", "2", "--keep", str(tmp_path / "together"))
    assert without_time(alone) == without_time(together)
    assert [row["made"]["jobs"] for row in together["rows"]] == [2] * len(VARIANTS)
    assert all(row["made"]["torch"] and row["made"]["machine"] for row in together["rows"])
    assert [row["name"] for row in together["rows"]] == list(VARIANTS)
    assert all([run["seed"] for run in row["runs"]] == [0, 1] for row in together["rows"])
    for kept in (tmp_path / "alone").iterdir():
        other = torch.load(tmp_path / "together" / kept.name, weights_only=True)
        assert all(torch.equal(other[name], p) for name, p in torch.load(kept, weights_only=True).items())


def test_each_training_is_kept_when_it_ends(tiny, tmp_path, monkeypatch, capsys):
    """What an interrupt left is not trained again, and the file ends as without one."""
    file, whole = tmp_path / "results.json", run(tmp_path / "whole.json")
    measure, calls = presets.SIZES["small"]["recall"].measure, []

    def interrupted(*given):
        if len(calls) == 3:
            raise KeyboardInterrupt
        calls.append(given)
        return measure(*given)

    sets = presets.SIZES["small"]
    with monkeypatch.context() as patch:
        patch.setitem(sets, "recall", sets["recall"]._replace(measure=interrupted))
        with pytest.raises(KeyboardInterrupt):
            run(file)
    assert sum(len(row["runs"]) for row in json.loads(file.read_text())["rows"]) == 3
    capsys.readouterr()
    assert without_time(run(file, "--jobs", "2")) == without_time(whole)
    assert capsys.readouterr().err.count("there already") == 3


def test_a_training_that_fails_is_named_after_the_others_are_kept(tiny, tmp_path, monkeypatch, capfd):
    sets, file = presets.SIZES["small"], tmp_path / "results.json"
    with monkeypatch.context() as patch:
        patch.setitem(sets, "recall", sets["recall"]._replace(train=fail_with_seed_one))
        with pytest.raises(ChildProcessError, match="^recall, entmax, seed 1: RuntimeError: no memory$"):
            run(file, "--jobs", "2")
    done = [(row["name"], run["seed"]) for row in json.loads(file.read_text())["rows"] for run in row["runs"]]
    assert {(name, 0) for name in VARIANTS} | {("softmax", 1)} <= set(done) and ("entmax", 1) not in done
    run(file, "--jobs", "2")
    assert capfd.readouterr().err.count("there already") == len(done)


def test_the_program_ends_with_one_line_for_a_failure(monkeypatch):
    def fail():
        raise ChildProcessError("recall, entmax, seed 1: RuntimeError: no memory")

    with pytest.raises(SystemExit, match="^experiments.transformers: recall, entmax, seed 1: RuntimeError: no memory$"):
        program.command.run_as_program("transformers", fail)


def test_jobs_must_be_at_least_one(tmp_path):
    with pytest.raises(ValueError, match="^jobs must be at least 1, got 0$"):
        run(tmp_path / "results.json", "--jobs", "0")


def test_the_large_size_is_trained_timed_and_drawn(tiny, tmp_path, monkeypatch):
    file, kept = tmp_path / "transformers_gpu.json", tmp_path / "kept"
    program.main(["--out", str(file), "--size", "large", "--seeds", "2", "--keep", str(kept)])
    costs.main(["--out", str(file), "--size", "large", "--kept", str(kept)])
    content = json.loads(file.read_text())
    assert len(content["rows"]) == 2 * len(VARIANTS) and content["costs_made"]["torch"]
    for row in content["rows"]:
        assert row["config"]["autocast"] == "bfloat16" and len(row["runs"]) == 2
        zeros = [value for name, value in row["runs"][0]["values"].items() if name.startswith("zeros")]
        assert (max(zeros) == 0) == (row["name"] == "softmax")
    assert [cost["length"] for cost in content["costs"]] == [32] * len(VARIANTS) + [16] * len(VARIANTS)
    assert all(cost["milliseconds"] > 0 and cost["megabytes"] > 0 for cost in content["costs"])
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.setattr(all_tables, "RESULTS", tmp_path)
    monkeypatch.setattr(pictures, "LETTERS", 20)
    pictures.main(["--size", "large", "--kept", str(kept), "--out", str(tmp_path / "drawn")])
    names = sorted(path.name for path in (tmp_path / "drawn").iterdir())
    assert names == ["transformers_gpu_lengths.png", "transformers_gpu_maps.png"]


def test_autocast_changes_the_arithmetic_alone():
    """Parameters stay float32, and what is learned is that of float32 up to roundings."""
    sets = presets.SIZES["large"]["recall"]
    models = [
        sets.train(VARIANTS["entmax"][1], Training(3, 1e-3, 2, 8, Size(32), autocast=name), 0, torch.device("cpu"), quiet)
        for name in (None, "bfloat16")
    ]
    for exact, rounded in zip(*(model.parameters() for model in models)):
        assert rounded.dtype == torch.float32
        assert (exact - rounded).abs().max() < 0.02
    assert any(not torch.equal(a, b) for a, b in zip(*(model.parameters() for model in models)))


def quiet(share):
    pass


def test_the_page_has_the_settings_of_the_large_size():
    page = tables.PAGE.read_text().partition("## On a GPU")[2]
    lines = {line.split("|")[1].strip(): line.split("|")[3].strip() for line in page.splitlines() if line.startswith("| ")}
    text, recall = (presets.SIZES["large"][data].training for data in ("text", "recall"))
    assert text.size == recall.size and text.size.features // text.size.heads == 64
    assert lines["features, heads"] == f"{text.size.features}, four of 64"
    assert lines["arithmetic"] == f"`torch.autocast` to {text.autocast}" == f"`torch.autocast` to {recall.autocast}"
    assert lines["letters of a training's text"] == f"{text.length}"
    assert lines["pairs of a training's context"] == f"4 to {recall.length}"
    assert lines["steps"] == f"{text.steps} of each" == f"{recall.steps} of each"
    assert lines["learning rate"] == f"{text.rate} and {recall.rate}"
    for of in presets.SIZES["large"].values():
        assert of.lengths[0] == of.training.length


def test_a_summary_waits_for_scipy(tiny, tmp_path, monkeypatch, capsys):
    file = tmp_path / "results.json"
    with monkeypatch.context() as patch:
        patch.setattr(program.importlib.util, "find_spec", lambda name: None)
        patch.setattr(statistics, "interval", lambda numbers: pytest.fail("needs scipy"))
        assert run(file)["summary"] == []
    assert "no summary, which needs scipy" in capsys.readouterr().err
    assert len(run(file)["summary"]) == len(VARIANTS)


def test_trainings_need_no_program_for_pictures_or_intervals():
    """A machine with a GPU may have neither."""
    code = "import sys; import experiments.transformers.__main__, experiments.transformers.costs; print(*sys.modules)"
    root = pathlib.Path(__file__).resolve().parents[2]
    loaded = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True).stdout.split()
    assert not {"scipy", "matplotlib", "PIL", "pandas"} & set(loaded)
