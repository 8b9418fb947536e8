"""The file of results: it goes on, is never half written, and says what is wrong with one that was changed by hand."""

import datetime
import json
import shutil
import subprocess

import pytest
import torch

from experiments import results
from experiments.results import Results


def row(name, values, data="mfcc, per clip", config=None):
    runs = [{"unit": 1, "seed": seed, "values": {"accuracy": value}} for seed, value in enumerate(values)]
    config = {"alpha": 2.0, "folds": (1, 2)} if config is None else config
    return {
        "data": data, "name": name, "label": f"label of {name}", "group": "paper", "config": config, "parameters": 7,
        "runs": runs, "seconds": 1.0, "made": {},
    }  # fmt: skip


@pytest.fixture
def file(tmp_path):
    return tmp_path / "folder" / "audio.json"


def test_what_was_put_is_there_when_the_file_is_read_again(file):
    Results(file, "audio").put(row("both_2", [0.5, 0.6]))
    again = Results(file, "audio")
    config = {"alpha": 2.0, "folds": (1, 2)}
    assert again.has("mfcc, per clip", "both_2", config, seeds=2)
    assert not again.has("mfcc, per clip", "both_2", config, seeds=3)
    assert not again.has("mfcc, per clip", "both_2", config | {"alpha": 1.5}, seeds=2)
    assert not again.has("mel, per clip", "both_2", config, seeds=2)
    assert not again.has("mfcc, per clip", "both_1", config, seeds=2)


def test_numbers_that_the_file_rounds_are_found_again(file):
    config = {"alpha": 4 / 3, "nested": {"ridge": 1 / 7}}
    Results(file, "audio").put(row("both_4_3", [0.5], config=config))
    assert Results(file, "audio").has("mfcc, per clip", "both_4_3", config, seeds=1)


def test_a_row_takes_the_place_of_the_one_of_its_name_and_data(file):
    found = Results(file, "audio")
    for each in (row("mean", [0.1]), row("both_2", [0.2]), row("mean", [0.3], "mel, per clip"), row("mean", [0.4])):
        found.put(each)
    rows = Results(file, "audio").rows
    assert [(one["data"], one["name"], one["runs"][0]["values"]["accuracy"]) for one in rows] == [
        ("mfcc, per clip", "mean", 0.4),
        ("mfcc, per clip", "both_2", 0.2),
        ("mel, per clip", "mean", 0.3),
    ]


def test_a_change_is_a_whole_new_file_under_the_old_name(file, monkeypatch):
    found = Results(file, "audio")
    found.put(row("mean", [0.1]))
    assert [path.name for path in file.parent.iterdir()] == ["audio.json"]
    before = file.read_text()

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(results.pathlib.Path, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        found.put(row("both_2", [0.2]))
    assert file.read_text() == before


def test_a_row_is_a_line_of_rounded_numbers(file):
    found = Results(file, "audio")
    found.put(row("mean", [1 / 3]))
    found.put(row("both_2", [0.2]))
    assert sum(line.startswith('  {"data"') for line in file.read_text().splitlines()) == 2
    assert json.loads(file.read_text())["rows"][0]["runs"][0]["values"]["accuracy"] == 0.333333


def test_rows_are_summed_up_and_compared(file):
    found = Results(file, "audio")
    for each in (row("mean", [0.1, 0.3]), row("both_2", [0.5, 0.6]), row("mean", [0.3, 0.4], "mel, per clip")):
        found.put(each)
    found.compare([("both_2", "mean"), ("both_2", "absent")], ["accuracy", "absent"])
    content = json.loads(file.read_text())
    assert [(one["data"], one["name"], one["label"], one["group"]) for one in content["summary"]] == [
        ("mfcc, per clip", "mean", "label of mean", "paper"),
        ("mfcc, per clip", "both_2", "label of both_2", "paper"),
        ("mel, per clip", "mean", "label of mean", "paper"),
    ]
    assert content["summary"][1]["values"]["accuracy"]["mean"] == 0.55
    (one,) = content["differences"]
    assert (one["data"], one["row"], one["against"], one["value"]) == ("mfcc, per clip", "both_2", "mean", "accuracy")
    assert one["difference"] == pytest.approx(0.35) and one["interval_over_units"] is None


def test_what_is_read_again_is_compared_alike(file):
    found = Results(file, "audio")
    for name in ("mean", "both_2"):
        found.put(row(name, [len(name) / 7 + 1e-7 * seed for seed in range(5)]))
    found.compare([("both_2", "mean")], ["accuracy"])
    before = file.read_text()
    Results(file, "audio").compare([("both_2", "mean")], ["accuracy"])
    assert file.read_text() == before


@pytest.mark.parametrize(
    "text, message",
    [
        ('{"experiment": "audio",\n "rows": [}', r"audio.json:2:11: not a file of results: Expecting value"),
        ("", r"audio.json:1:1: not a file of results"),
        ('{"experiment": "vqa", "rows": []}', r"audio.json: experiment must be 'audio', got 'vqa'"),
    ],
)
def test_another_file_is_refused(file, text, message):
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(ValueError, match=message):
        Results(file, "audio")
    assert file.read_text() == text


def test_the_commit_is_that_of_the_checkout_or_as_said(monkeypatch, tmp_path):
    monkeypatch.setenv("FENCHEL_COMMIT", "abc1234")
    made = results.made(torch.device("cpu"))
    assert made["commit"] == "abc1234" and "cores" in made["machine"]
    assert made["day"] == datetime.date.today().isoformat()
    assert {"torch", "fenchel", "python"} < made.keys()
    monkeypatch.delenv("FENCHEL_COMMIT")
    monkeypatch.setattr(results, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert results.commit() == "unknown"


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_the_commit_has_a_plus_where_a_file_was_changed(monkeypatch, tmp_path):
    def git(*words):
        return subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "first")
    monkeypatch.delenv("FENCHEL_COMMIT", raising=False)
    monkeypatch.setattr(results, "ROOT", tmp_path)
    assert results.commit() == git("rev-parse", "HEAD")[:7]
    (tmp_path / "file").write_text("two")
    assert results.commit() == git("rev-parse", "HEAD")[:7] + "+"
