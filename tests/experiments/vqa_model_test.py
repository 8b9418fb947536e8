"""Each row of the table on a few images of Sort-of-CLEVR: it learns, and what it says is about what it sees."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch

from experiments import kept
from experiments.ensemble import Linear
from experiments.vqa import __main__ as command
from experiments.vqa import experiment, pictures, sort_of_clevr
from experiments.vqa.model import Cells, Network, Pooling, Size, waves
from experiments.vqa.settings import Settings, configuration, read_rows, read_settings
from fenchel.torch.nn import Attended

torch.set_num_threads(1)
CPU = torch.device("cpu")
SIZE = Size(hidden=24, layers=1, heads=2, cells=5, window=0, dropout=0.0, basis=5, Sigma=0.01)
SETTINGS = Settings(SIZE, batch=40, epochs=32, rate=5e-3, together=4, train=6, test=3)
ROWS = read_rows()
PICTURED = {row.name: row for row in read_rows(list(command.PICTURED))}


@pytest.fixture(scope="module")
def data():
    return sort_of_clevr.generate(train=6, test=3)


def answered(model: Network, questions, images: torch.Tensor | None = None) -> torch.Tensor:
    """Scores of answers, (models, Q, answers)."""
    models = model.answer.weight.shape[0]
    images = questions.images if images is None else images
    with torch.no_grad():
        seen = images[questions.image].expand(models, -1, -1, -1, -1)
        return model(seen, questions.words.expand(models, -1, -1))[0]


def loss(model: Network, questions) -> float:
    return float(torch.nn.functional.cross_entropy(answered(model, questions)[0], questions.answer))


def best_by_question(questions) -> float:
    """The accuracy of one who knows the questions and their answers by heart, and does not look at the images."""
    answers: dict[tuple[int, ...], list[int]] = {}
    for words, answer in zip(questions.words.tolist(), questions.answer.tolist()):
        answers.setdefault(tuple(words), []).append(answer)
    return sum(max(map(given.count, given)) for given in answers.values()) / len(questions)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_learns(row, data):
    before = experiment.network(data, row.pooling, SETTINGS, [0], CPU)
    model = experiment.train(data, row.pooling, SETTINGS, [0], CPU)
    accuracy = (answered(model, data.train)[0].argmax(-1) == data.train.answer).double().mean()
    chance = data.train.answer.bincount().max() / len(data.train)
    looks = row.pooling.kind != "none"
    assert loss(model, data.train) < (0.6 if looks else 0.7) * loss(before.eval(), data.train)
    assert accuracy > chance + 0.2
    # What is better than any answer that is the same for all images was seen.
    assert (accuracy > best_by_question(data.train)) == looks
    values = experiment.measure(model, data, 1)[0]
    assert all(0 <= value <= 1 + 1e-6 for value in values.values())
    assert ("inside" in values) == looks


def test_the_table_has_the_rows_of_the_paper_and_their_controls():
    kinds = {(row.pooling.kind, row.pooling.map, round(row.pooling.alpha, 4)) for row in ROWS}
    assert {("continuous", "softmax", alpha) for alpha in (1.0, 1.3333, 1.5, 2.0)} < kinds
    assert {("discrete", name, 1.0) for name in ("softmax", "sparsemax", "tv")} < kinds
    assert {row.pooling.kind for row in ROWS if row.group in ("control", "floor")} == {"mean", "none"}
    assert any(row.pooling.heads > 1 for row in ROWS) and any(row.pooling.components > 1 for row in ROWS)
    assert {one for row in ROWS for pair in command.PAIRS for one in pair} <= {row.name for row in ROWS}


def test_rows_and_settings_that_are_wrong_are_refused():
    with pytest.raises(ValueError, match="rows must be among .*, got nothing"):
        read_rows(["nothing"])
    with pytest.raises(ValueError, match="kind must be one of .*, got 'both'"):
        Pooling(kind="both")
    with pytest.raises(ValueError, match="cells must divide the side of the images, 75, got 16"):
        Cells(1, 75, Size(cells=16))
    assert read_settings("sort-of-clevr").size.cells == 15 and read_settings("easy-vqa").size.cells == 16


@pytest.mark.parametrize("name", ["discrete_1", "continuous_2_heads"])
def test_a_model_is_the_same_alone_and_in_company(name, data):
    pooling = read_rows([name])[0].pooling
    together = answered(experiment.network(data, pooling, SETTINGS, [4, 9], CPU).eval(), data.test)
    alone = answered(experiment.network(data, pooling, SETTINGS, [9], CPU).eval(), data.test)
    assert torch.allclose(together[1], alone[0], atol=1e-5)
    assert not torch.allclose(together[0], alone[0], atol=1e-2)


def test_first_weights_of_linear_layers_are_scaled_and_nothing_else(data):
    larger = replace(SETTINGS, size=replace(SIZE, start=3.0))
    plain, scaled = (experiment.network(data, Pooling(), one, [0], CPU) for one in (SETTINGS, larger))
    factors = dict.fromkeys((f"{name}.weight" for name, of in scaled.named_modules() if isinstance(of, Linear)), 3.0)
    assert len(factors) > 10
    for (name, p), q in zip(plain.named_parameters(), scaled.parameters()):
        assert torch.equal(factors.get(name, 1.0) * p, q), name


def test_questions_about_one_image_can_share_it(data):
    model = experiment.network(data, Pooling("continuous", alpha=2.0), SETTINGS, [0, 1], CPU).eval()
    images, words = (x.expand(2, *x.shape) for x in (data.test.images, data.test.words))
    with torch.no_grad():
        assert torch.allclose(model(images, words)[0], answered(model, data.test), atol=1e-5)
    groups = experiment.groups_of(data.test, 4)
    assert torch.equal(groups.flatten(), torch.arange(len(data.test)))
    with pytest.raises(ValueError, match="together must divide the number of questions of each image, got 3"):
        experiment.groups_of(data.test, 3)


def test_training_twice_gives_the_same_numbers(data):
    brief = replace(SETTINGS, epochs=1, size=replace(SIZE, dropout=0.1))
    first, again = (experiment.train(data, Pooling("mean"), brief, [0, 1], CPU) for _ in range(2))
    assert all(torch.equal(p, q) for p, q in zip(first.parameters(), again.parameters()))


def test_images_count_but_for_the_floor(data):
    other = data.test.images.flip(0)
    for row in read_rows(["mean", "question"]):
        model = experiment.network(data, row.pooling, SETTINGS, [0], CPU).eval()
        same = torch.allclose(answered(model, data.test), answered(model, data.test, other), atol=1e-6)
        assert same == (row.name == "question")


def test_what_is_no_word_counts_for_nothing(data):
    model = experiment.network(data, Pooling(), SETTINGS, [0], CPU).eval()
    longer = replace(data.test, words=data.test.words * torch.tensor([1, 1, 0]))
    before = answered(model, longer)
    with torch.no_grad():
        model.word.weight[:, 0] += 100
        model.place.weight[:, 2] += 100
    assert torch.allclose(answered(model, longer), before, atol=1e-5)
    assert not torch.allclose(answered(model, data.test), before, atol=1e-2)


def test_a_cell_sees_its_window_and_that_of_its_neighbours():
    cells = Cells(1, 20, Size(hidden=8, cells=5, window=1))
    with torch.no_grad():
        for p in cells.parameters():
            torch.nn.init.normal_(p)
    black, white = (torch.full((1, 1, 3, 20, 20), value, dtype=torch.uint8) for value in (0, 255))
    found = cells(white)
    changed = torch.zeros(20, 20, dtype=torch.bool)
    for y in range(20):
        for x in range(20):
            image = white.clone()
            image[..., y, x] = black[..., y, x]
            changed[y, x] = not torch.equal(cells(image)[0, 0, 12], found[0, 0, 12])
    # Cell 12 is in the middle: its pixels are 8 to 11, those of its neighbours 4 to 15, and their windows one more.
    assert changed[3:17, 3:17].float().mean() > 0.9
    changed[3:17, 3:17] = False
    assert not changed.any()


def test_places_of_cells_differ():
    place = waves(15, 4)
    assert place.shape == (225, 16)
    assert (torch.cdist(place, place) + torch.eye(225)).min() > 0.1


def test_the_rate_rises_and_falls():
    rates = experiment.rates(200, Settings(rate=0.01, warm_up=0.1))
    assert rates.argmax() in (19, 20) and rates.max() == pytest.approx(0.01, rel=0.05)
    assert (rates[:19].diff() > 0).all() and (rates[20:].diff() < 0).all() and rates[-1] < 1e-5


def test_measures_of_all_kinds(data):
    model = experiment.network(data, Pooling("mean"), SETTINGS, [0, 1], CPU).eval()
    values = experiment.measure(model, data, 2, batch=7)
    assert len(values) == 2
    for kind in [*data.kinds, *data.sorts]:
        assert {f"{name}: {kind}" for name in ("accuracy", "inside", "iou", "area")} <= values[0].keys()
    assert "inside answering: closest" in values[0] and "inside answering: shape" not in values[0]
    # The mean looks at the whole image, so that the mass inside is the part of the image that the objects are.
    both = data.test.region(torch.arange(len(data.test)), data.test.asked | data.test.answering)
    assert values[0]["inside"] == pytest.approx(both.double().mean().item(), rel=1e-4)
    assert values[0]["area"] == pytest.approx(1)
    right = answered(model, data.test).argmax(-1) == data.test.answer
    assert values[1]["accuracy"] == pytest.approx(right[1].double().mean().item())


def test_parameters_are_kept(tmp_path, data):
    row = read_rows(["continuous_1"])[0]
    model = experiment.network(data, row.pooling, SETTINGS, [3, 5], CPU).eval()
    kept.save(tmp_path / "model.pt", model)
    again = experiment.network(data, row.pooling, SETTINGS, [0], CPU).eval()
    kept.load(tmp_path / "model.pt", again)
    assert torch.allclose(answered(again, data.test)[0], answered(model, data.test)[0], atol=0.01)


def test_pictures(tmp_path, data):
    models = {name: experiment.network(data, row.pooling, SETTINGS, [0], CPU).eval() for name, row in PICTURED.items()}
    answers = {name: pictures.ask(model, data) for name, model in models.items()}
    chosen = pictures.examples(data, list(answers.values()), count=3)
    assert len(set(data.test.image[chosen].tolist())) == len(chosen) == 3
    pictures.draw(data, answers, chosen, tmp_path / "picture.png")
    assert 5_000 < (tmp_path / "picture.png").stat().st_size < 120_000
    right = int((answers["continuous_2"].answer[chosen] == data.test.answer[chosen]).sum())
    caption = pictures.caption(data, answers, chosen)
    assert "sort-of-clevr" in caption and "to the 3 questions" in caption
    assert f"continuous sparsemax {right}" in caption


def test_the_ellipse_bounds_the_support():
    Sigma = torch.tensor([[0.02, 0.01], [0.01, 0.03]]).view(1, 1, 2, 2)
    attended = Attended(2.0, torch.tensor([[[0.4, 0.5]]]), Sigma)
    bound, mu = pictures.ellipse(attended, 0, None), torch.tensor([0.4, 0.5])
    density = attended.density()
    assert density.log_prob(mu + 0.99 * (bound - mu)).isfinite().all()
    assert (density.log_prob(mu + 1.01 * (bound - mu)) == -torch.inf).all()


def test_the_command_goes_on_where_it_was_stopped(tmp_path, monkeypatch, capsys):
    brief = replace(SETTINGS, epochs=1)
    monkeypatch.setattr(command, "read_settings", lambda name: brief)
    words = ["--sets", "sort-of-clevr", "--seeds", "2", "--device", "cpu", "--out", str(tmp_path / "vqa.json")]
    command.main([*words, "--rows", "question"])
    command.main([*words, "--rows", "question", "mean", "discrete_1"])
    assert "sort-of-clevr, question: there already" in capsys.readouterr().err
    content = json.loads((tmp_path / "vqa.json").read_text())
    assert [row["name"] for row in content["rows"]] == ["question", "discrete_1", "mean"]
    row = content["rows"][1]
    assert row["config"] == json.loads(json.dumps(configuration(read_rows(["discrete_1"])[0], brief)))
    assert [(run["unit"], run["seed"]) for run in row["runs"]] == [(0, 0), (0, 1)]
    assert {"accuracy", "inside", "iou", "area"} <= row["runs"][0]["values"].keys()
    compared = {(one["row"], one["against"], one["value"]) for one in content["differences"]}
    assert {("mean", "discrete_1", "accuracy"), ("mean", "discrete_1", "accuracy: relations")} <= compared
