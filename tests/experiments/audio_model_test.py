"""The audio model: that of plain torch for each model alone, blind to padding, and able to learn in every row."""

import pathlib

import pytest
import torch
from torch import nn

import experiments.audio
from experiments import command, ensemble
from experiments.audio import experiment, made_up
from experiments.audio.__main__ import PAIRS, PICTURED, floor_rows
from experiments.audio.authors import AuthorsValues
from experiments.audio.model import AudioModel, Pooling, Size
from fenchel.torch import GaussianBasis, RidgeValues

SIZE = Size(filters=16, dropout=0.0, functions=12)
SETTINGS = experiment.Settings(epochs=4, rate=1e-2)
ROWS = command.read_rows(pathlib.Path(experiments.audio.__file__).parent / "rows", Pooling)
rows = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
CHANNELS, CLASSES = 12, 4


@pytest.fixture(scope="module")
def clips():
    return made_up.clips()


def started(pooling, seeds=(0,), size=SIZE):
    model = AudioModel(len(seeds), CHANNELS, CLASSES, pooling, size)
    ensemble.initialise(model, list(seeds))
    return model.eval()


class Plain(nn.Module):
    """One model for one clip that is not padded, (frames, channels)."""

    def __init__(self, kind, ours):
        super().__init__()
        self.kind = kind
        self.front = nn.Sequential(nn.Conv1d(CHANNELS, 16, 5, padding=2), nn.MaxPool1d(3), nn.ReLU())
        self.keys, self.query, self.output = nn.Linear(16, 16), nn.Linear(16, 1, bias=False), nn.Linear(16, CLASSES)
        with torch.no_grad():
            self.front[0].weight.copy_(ours.convolution.weight[0].T.unflatten(1, (CHANNELS, 5)))
            self.front[0].bias.copy_(ours.convolution.bias[0, 0])
            for layer, other in ((self.keys, ours.keys), (self.query, ours.query), (self.output, ours.output)):
                layer.weight.copy_(other.weight[0].T)
                if layer.bias is not None:
                    layer.bias.copy_(other.bias[0, 0])

    def forward(self, frames):
        hidden = self.front(frames.T).T
        if self.kind == "mean":
            return self.output(hidden.mean(0))
        weights = self.query(self.keys(hidden).tanh())[:, 0].softmax(-1)
        return self.output(weights @ hidden)


@pytest.mark.parametrize("kind", ["mean", "discrete"])
def test_one_model_is_that_of_plain_torch(kind, clips):
    ours = started(Pooling(kind))
    plain = Plain(kind, ours)
    chosen = slice(0, 12)
    scores, _ = ours(clips.frames[None, chosen], clips.lengths[None, chosen])
    expected = torch.stack([plain(f[:length]) for f, length in zip(clips.frames[chosen], clips.lengths)])
    torch.testing.assert_close(scores[0], expected, rtol=1e-5, atol=1e-6)
    cotangent = torch.randn(scores[0].shape, generator=torch.Generator().manual_seed(1))
    (scores[0] * cotangent).sum().backward()
    (expected * cotangent).sum().backward()
    by_convolution = plain.front[0].weight.grad.flatten(1).T
    torch.testing.assert_close(ours.convolution.weight.grad[0], by_convolution, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(ours.output.weight.grad[0].T, plain.output.weight.grad, rtol=1e-4, atol=1e-5)
    if kind == "discrete":
        torch.testing.assert_close(ours.keys.weight.grad[0].T, plain.keys.weight.grad, rtol=1e-4, atol=1e-5)


@rows
def test_neither_padding_nor_company_changes_a_clip(row, clips):
    model = started(row.pooling)
    frames, lengths = clips.frames[None, :8], clips.lengths[None, :8]
    with torch.no_grad():
        together, _ = model(frames, lengths)
        padded, _ = model(nn.functional.pad(frames, (0, 0, 0, 17)), lengths)
        torch.testing.assert_close(padded, together, rtol=1e-5, atol=1e-5)
        for i in range(8):
            alone, _ = model(frames[:, i : i + 1, : lengths[0, i]], lengths[:, i : i + 1])
            torch.testing.assert_close(alone[0, 0], together[0, i], rtol=1e-5, atol=1e-5)
    assert (together[0].max(0).values - together[0].min(0).values > 1e-3).all()


@rows
def test_a_row_learns(row, clips):
    protocol = experiment.Protocol(clips, [1], [0], SETTINGS)
    model = experiment.train(protocol, row.pooling, SIZE)
    (run,) = experiment.measure(model, protocol)
    values = run["values"]
    assert values["accuracy"] > 0.85  # the chance is 1/4
    assert ("support" in values) == (row.pooling.kind != "mean")
    assert 0 < values.get("support", 1.0) <= 1
    assert ("alpha" in values) == row.pooling.learned
    if row.pooling.learned:
        assert values["alpha"] > 0 and values["alpha"] != pytest.approx(row.pooling.alpha, abs=1e-4)


@pytest.mark.parametrize("name", ["mean", "discrete_learned", "both_1", "both_2", "both_learned", "both_2_mixture"])
def test_a_model_in_an_ensemble_is_the_model_alone(name, clips):
    pooling = next(row.pooling for row in ROWS if row.name == name)
    one_epoch = experiment.Settings(epochs=1, rate=1e-2)
    together = experiment.Protocol(clips, [1, 3], [0, 5], one_epoch)
    alone = experiment.Protocol(clips, [3], [5], one_epoch)
    place = together.pairs.index((3, 5))
    models = [experiment.train(protocol, pooling, SIZE) for protocol in (together, alone)]
    for (label, ours), theirs in zip(models[0].named_parameters(), models[1].parameters()):
        torch.testing.assert_close(ours[place], theirs[0], rtol=1e-3, atol=2e-4, msg=lambda text: f"{label}: {text}")
    first, second = experiment.measure(models[0], together)[place], experiment.measure(models[1], alone)[0]
    assert (first["unit"], first["seed"]) == (second["unit"], second["seed"]) == (3, 5)
    assert first["values"] == pytest.approx(second["values"], abs=1e-3)


def test_the_authors_function_alone_learns_less(clips):
    """About half of the clips are of even length, and what is left of them are two frames."""
    protocol = experiment.Protocol(clips, [1, 2, 3, 4], [0], SETTINGS)
    model = experiment.train(protocol, Pooling("continuous", 2.0, authors=True), SIZE)
    found = [run["values"]["accuracy"] for run in experiment.measure(model, protocol)]
    assert 0.45 < sum(found) / 4 < 0.85


def test_a_fold_is_tried_by_models_that_never_saw_it(clips):
    protocol = experiment.Protocol(clips, [1, 2, 3, 4], [0, 1], SETTINGS)
    assert protocol.pairs == [(fold, seed) for fold in (1, 2, 3, 4) for seed in (0, 1)]
    assert protocol.examples.shape == (4 * 9, 8, 16)
    for i, (fold, _) in enumerate(protocol.pairs):
        assert fold not in clips.folds[protocol.examples[:, i]].unique().tolist()
        assert clips.folds[protocol.held_out[fold]].unique().tolist() == [fold]
    frames, lengths = protocol.frames(torch.arange(200).expand(8, 200))
    inside = torch.arange(frames.shape[2]) < lengths[..., None]
    assert (frames[~inside] == 0).all()
    for i, (fold, _) in enumerate(protocol.pairs):
        seen = frames[i, clips.folds != fold][inside[i, clips.folds != fold]]
        torch.testing.assert_close(seen.mean(0), torch.zeros(CHANNELS), rtol=0, atol=1e-4)
        torch.testing.assert_close(seen.std(0), torch.ones(CHANNELS), rtol=0, atol=1e-3)


def test_accuracy_is_the_part_of_clips_that_are_right(clips):
    protocol = experiment.Protocol(clips, [1, 3], [0], SETTINGS)
    model = started(Pooling("both", 2.0), [0, 1])
    found = experiment.measure(model, protocol, batch=20)
    for i, fold in enumerate((1, 3)):
        chosen = protocol.held_out[fold].expand(2, -1)
        with torch.no_grad():
            scores, attended = model(*protocol.frames(chosen))
        right = (scores[i].argmax(-1) == clips.classes[chosen[i]]).double().mean().item()
        assert found[i]["values"]["accuracy"] == pytest.approx(right)
        lower, upper = (end[i].clamp(0, 1) for end in attended.density().active_support())
        assert found[i]["values"]["support"] == pytest.approx((upper - lower).mean().item(), rel=1e-4)


def test_dropout_is_for_training_alone(clips):
    model = started(Pooling("mean"), size=Size(filters=16, dropout=0.5, functions=12))
    frames, lengths = clips.frames[None, :8], clips.lengths[None, :8]
    assert torch.equal(model(frames, lengths)[0], model(frames, lengths)[0])
    model.train()
    assert not torch.equal(model(frames, lengths)[0], model(frames, lengths)[0])


@pytest.mark.parametrize("kind", ["continuous", "both"])
def test_the_variance_is_the_scale_at_alpha_one_alone(kind, clips):
    frames, lengths = clips.frames[None, :8], clips.lengths[None, :8]
    for alpha in (1.0, 4 / 3, 2.0):
        models = (started(Pooling(kind, alpha, scale=scale)) for scale in ("matched", "variance"))
        matched, variance = (model(frames, lengths) for model in models)
        assert torch.allclose(matched[0], variance[0], rtol=1e-5, atol=1e-6) == (alpha == 1)
        assert (matched[1].Sigma > 1.01 * variance[1].Sigma).all() == (alpha != 1)


def test_controls_are_what_they_are_called(clips):
    frames, lengths = clips.frames[None, :8], clips.lengths[None, :8]
    models = {kind: started(Pooling(kind)) for kind in ("mean", "discrete", "discrete + mean", "discrete twice")}
    mean, discrete, summed, twice = (model.attend(*model.encode(frames, lengths))[0] for model in models.values())
    torch.testing.assert_close(summed, mean + discrete)
    torch.testing.assert_close(twice, 2 * discrete)


def root_mean_square_error(values, length):
    """Of the function that is fitted to a sine, between .1 and .9."""
    wave = torch.sin(2 * torch.pi * (torch.arange(length, dtype=torch.float64) + 0.5) / length)
    padded = torch.nn.functional.pad(wave, (0, 3), value=torch.nan)
    b = values.fit(padded[None, :, None], torch.tensor([length]))
    t = torch.linspace(0.1, 0.9, 50, dtype=torch.float64)
    return ((values.basis(t) @ b)[0, :, 0] - torch.sin(2 * torch.pi * t)).square().mean().sqrt().item()


@pytest.mark.parametrize("length", [10, 11, 20, 21])
def test_the_authors_function_is_that_of_odd_lengths_alone(length):
    """Of an even length the error is more than .68, which the function 0 has: the two frames are in the wrong order."""
    basis = GaussianBasis.linearly_spaced(16, sigma=0.1)
    authors, ours = (root_mean_square_error(kind(basis, 1e-4), length) for kind in (AuthorsValues, RidgeValues))
    assert ours < 0.02
    assert authors < 0.02 if length % 2 else authors > 0.9


@pytest.mark.parametrize("length", [2, 3, 10, 11])
def test_the_authors_function_is_a_fit_to_zeros_beyond_the_values(length):
    basis = GaussianBasis.linearly_spaced(12)
    if length % 2:
        t = (torch.arange(1, 2 * length, dtype=torch.float64) - length / 2) / length
        before = (length - 1) // 2
        # The middle ones are the centres of the cells of [0, 1].
        own = (torch.arange(length, dtype=torch.float64) + 0.5) / length
        torch.testing.assert_close(t[before : before + length], own)
    else:
        t = torch.linspace(length / 2 - 0.5, 1.5 - length / 2, 2 * length, dtype=torch.float64)
        before = length // 2
        middle = t[before : before + length].flip(0)
        assert length == 2 or (torch.diff(middle) > 0).all() and ((middle >= 0) & (middle <= 1)).sum() == 2
    values = torch.randn(2, length, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    beyond = len(t) - before - length
    wanted = RidgeValues(basis, 0.1, positions=t).fit(nn.functional.pad(values, (0, 0, before, beyond)))
    authors = AuthorsValues(basis, 0.1)
    torch.testing.assert_close(authors.fit(values), wanted, rtol=1e-8, atol=1e-9)
    padded = nn.functional.pad(values, (0, 0, 0, 4), value=torch.nan)
    torch.testing.assert_close(authors.fit(padded, torch.tensor([length, length])), wanted, rtol=1e-8, atol=1e-9)
    lengths = torch.tensor([length, 1, length + 4])
    units = torch.eye(length + 4, dtype=torch.float64).expand(len(lengths), -1, -1)
    there = authors.fit(units, lengths).mT
    torch.testing.assert_close(authors._of_each(lengths, length + 4), there)


def test_the_table_has_the_rows_of_the_paper_and_what_is_compared():
    names = {row.name for row in ROWS} | set(floor_rows())
    kinds, alphas = ("discrete", "continuous", "both"), ("1", "4_3", "3_2", "2")
    assert {f"{kind}_{alpha}" for kind in kinds for alpha in alphas} < names
    assert {name for pair in PAIRS for name in pair} <= names and set(PICTURED) < names
    assert len(set(PAIRS)) == len(PAIRS)
    counts = {row.name: sum(p.numel() for p in started(row.pooling).parameters()) for row in ROWS}
    assert {counts[row.name] - row.pooling.learned for row in ROWS} == {counts["discrete_1"]}


def test_a_row_that_means_nothing_is_refused(tmp_path):
    named = 'label = "a"\n'
    for text, message in (
        (named + 'group = "paper"\nkind = "hard"\n', "a.toml: not a row of the table: Pooling: kind must be one of"),
        (named + 'group = "paper"\nkind = "both"\nscale = "x"\n', "scale must be one of matched, variance, got 'x'"),
        (named + 'group = "best"\nkind = "both"\n', "group must be one of paper, .*, got 'best'"),
        ('group = "paper"\nkind = "both"\n', "a.toml: not a row of the table: 'label'"),
        ("label = \n", "a.toml: not a row of the table: .*line 1"),
    ):
        (tmp_path / "a.toml").write_text(text)
        with pytest.raises(ValueError, match=message):
            command.read_rows(tmp_path, Pooling)
