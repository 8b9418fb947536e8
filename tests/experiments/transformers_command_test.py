"""`python -m experiments.transformers` on tiny settings: the file of results, its tables and its pictures."""

from __future__ import annotations

import json

import pytest

from experiments import tables as all_tables
from experiments.transformers import __main__ as program
from experiments.transformers import costs, pictures, presets, tables
from experiments.transformers.experiment import Training
from experiments.transformers.model import Size
from experiments.transformers.variants import VARIANTS

Image = pytest.importorskip("PIL.Image")
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def make_small(patch):
    """Few steps of few short texts and contexts, and few lengths."""
    sets = presets.SIZES["small"]
    text, recall = Training(8, 1e-2, 2, 32), Training(8, 1e-2, 2, 8)
    patch.setitem(sets, "text", sets["text"]._replace(training=text, lengths=(32, 64), timed=(32, 64)))
    patch.setitem(sets, "recall", sets["recall"]._replace(training=recall, lengths=(8, 16), timed=(8, 16)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With the results and the parameters of a run whose steps are few."""
    path = tmp_path_factory.mktemp("transformers")
    with pytest.MonkeyPatch.context() as patch:
        make_small(patch)
        program.main(["--out", str(path / "transformers.json"), "--seeds", "2", "--keep", str(path / "kept")])
        costs.main(["--kept", str(path / "kept"), "--out", str(path / "transformers.json")])
    return path


@pytest.fixture
def content(folder, monkeypatch):
    monkeypatch.setattr(all_tables, "RESULTS", folder)
    return json.loads((folder / "transformers.json").read_text())


def test_each_task_has_each_kind_of_attention(content):
    assert [(row["data"], row["name"]) for row in content["rows"]] == [
        (data, name) for data in ("text", "recall") for name in VARIANTS
    ]
    for row in content["rows"]:
        assert [run["seed"] for run in row["runs"]] == [0, 1]
        assert row["config"]["steps"] == 8 and row["config"]["variant"]["alpha"] == VARIANTS[row["name"]][1].alpha
    learned = [row["parameters"] - content["rows"][0]["parameters"] for row in content["rows"][:4]]
    assert learned == [0, 0, 8, 24]  # alpha, beta and gamma of four heads in two layers


def test_all_have_the_same_texts_and_contexts(content):
    """Seeds begin alike and see the same data: what no model decides is the same number."""
    least = {
        run["values"]["least bits of copies: 64"] for row in content["rows"][:4] for run in row["runs"]
    }
    assert len(least) == 1


def test_what_was_run_is_not_run_again(folder, capsys, monkeypatch):
    before = (folder / "transformers.json").read_text()
    make_small(monkeypatch)
    program.main(["--out", str(folder / "transformers.json"), "--seeds", "2", "--sets", "recall"])
    assert capsys.readouterr().err.count("there already") == 8
    assert (folder / "transformers.json").read_text() == before


def test_options_change_the_settings():
    options = program.parser().parse_args(["--out", "x", "--features", "32", "--rate", "0.5"])
    changed = presets.chosen(options.size, options.features, options.steps, options.rate)["text"].training
    assert changed.size == Size(features=32) and changed.rate == 0.5
    assert changed.steps == presets.SIZES["small"]["text"].training.steps


def test_the_small_size_is_that_of_the_recorded_results():
    """Another setting, or another word for one, would train all of them again."""
    for row in tables.tables.read("transformers")["rows"]:
        config = presets.config_of(presets.SIZES["small"][row["data"]], VARIANTS[row["name"]][1])
        assert json.loads(json.dumps(config)) == row["config"]


def test_tables_say_what_the_results_say(content):
    rows = {row["name"]: row for row in content["summary"] if row["data"] == "recall"}
    lines = tables.TABLES["recall, accuracy"]().splitlines()
    assert lines[0] == "| right answers | 8 | 16 |" and len(lines) == 2 + len(VARIANTS)
    found = rows["learned"]["values"]["accuracy: 16"]
    cell = f"{found['mean']:.3f} [{found['interval'][0]:.3f}, {found['interval'][1]:.3f}]"
    assert lines[4].startswith("| learned alpha |") and lines[4].endswith(f" {cell} |")
    runs = {row["name"]: row["runs"] for row in content["rows"] if row["data"] == "text"}
    a, b = (
        [run["values"]["bits of copies: 64"] for run in runs[name]] for name in ("entmax", "softmax")
    )
    difference = sum(x - y for x, y in zip(a, b)) / 2
    line = tables.TABLES["text, differences of copies"]().splitlines()[2]
    assert line.startswith("| entmax, alpha = 1.5 - softmax |") and f"{difference:+.2f}" in line.split("|")[3]


def test_zeros_have_a_column_for_each_head(content):
    lines = tables.TABLES["zeros"]().splitlines()
    assert len(lines) == 2 + 2 * len(VARIANTS) and lines[0].count("head") == 8
    assert lines[2].count("0.00 [0.00, 0.00]") == 8  # softmax
    assert len(tables.TABLES["alphas"]().splitlines()) == 2 + 4 and len(tables.TABLES["gammas"]().splitlines()) == 2 + 2


def test_costs_are_those_of_each_length(content):
    found = {(one["data"], one["name"], one["length"]): one for one in content["costs"]}
    assert len(found) == len(content["costs"]) == 4 * len(VARIANTS)
    assert all(one["milliseconds"] > 0 for one in found.values())
    for name in VARIANTS:
        assert 1.3 < found["text", name, 64]["megabytes"] / found["text", name, 32]["megabytes"] < 2
    lines = tables.TABLES["costs"]().splitlines()
    assert lines[0] == "| a step | text, 32 | text, 64 | recall, 8 | recall, 16 |"
    columns = [("text", 32), ("text", 64), ("recall", 8), ("recall", 16)]
    kept = [f"{found[data, 'scaled', length]['megabytes']:.1f}" for data, length in columns]
    assert lines[-1] == f"| learned alpha and scale, megabytes | {' | '.join(kept)} |"


def test_a_gpu_has_tables_of_its_own(content, folder):
    file = folder / "transformers_gpu.json"
    made = [row | {"made": row["made"] | {"jobs": 14}} for row in content["rows"]]
    file.write_text(json.dumps(content | {"rows": made}))
    assert tables.TABLES["GPU, recall, accuracy"]() == tables.TABLES["recall, accuracy"]()
    assert tables.TABLES["GPU, made"]().endswith(" minutes in all, 14 trainings at a time.\n")
    assert tables.TABLES["made"]().endswith(" minutes in all.\n")
    file.unlink()


def test_intervals_that_exclude_zero_are_bold():
    found = {"data": "d", "row": "a", "against": "b", "value": "v", "difference": 0.5, "interval": [0.25, 0.75]}
    assert tables.difference({"differences": [found]}, "d", "a", "b", "v", 2) == "**+0.50** [+0.25, +0.75]"
    found["interval"] = [-0.25, 1.25]
    assert tables.difference({"differences": [found]}, "d", "a", "b", "v", 2) == "+0.50 [-0.25, +1.25]"


def test_pictures_are_drawn(content, folder, monkeypatch):
    monkeypatch.setattr(pictures, "LETTERS", 20)
    pictures.main(["--kept", str(folder / "kept"), "--out", str(folder / "figures")])
    for name in ("transformers_maps.png", "transformers_lengths.png"):
        kept = all_tables.ROOT / "experiments/results/figures" / name
        with Image.open(folder / "figures" / name) as drawn, Image.open(kept) as shown:
            assert drawn.size == shown.size
        assert kept.stat().st_size < 60_000


def test_the_page_has_the_tables_of_the_results():
    page = tables.PAGE.read_text()
    assert all_tables.written(page, tables.TABLES) == page, "python -m experiments.transformers.tables"
    for name in tables.TABLES_OF:
        assert f"<!-- tables: {name} -->" in page
