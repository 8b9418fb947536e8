"""Orders of the data, steps of an ensemble against plain Adam on each model alone, and the line that says how long."""

import io

import pytest
import torch

from experiments import ensemble, training


def test_each_order_is_a_permutation_cut_to_whole_batches():
    counts, seeds = [11, 8, 23], [5, 5, 6]
    found = training.orders(counts, seeds, epochs=4, batch=3)
    assert found.shape == (4, 2, 3, 3)
    for epoch in found:
        for model, count in enumerate(counts):
            numbers = epoch[:, model].flatten().tolist()
            assert len(set(numbers)) == 6 and 0 <= min(numbers) and max(numbers) < count


def test_every_example_comes_at_some_time_and_whole_batches_leave_out_none():
    assert set(training.orders([5], [0], epochs=40, batch=2).flatten().tolist()) == set(range(5))
    for epoch in training.orders([12], [0], epochs=3, batch=4):
        assert sorted(epoch.flatten().tolist()) == list(range(12))


def test_an_order_is_of_its_seed_and_epoch_alone():
    found = training.orders([20, 20, 30], [3, 4, 3], epochs=2, batch=5)
    assert torch.equal(found, training.orders([20, 20, 30], [3, 4, 3], epochs=2, batch=5))
    assert not torch.equal(found[0], found[1])
    assert not torch.equal(found[:, :, 0], found[:, :, 1])
    assert torch.equal(found[:, :, :1], training.orders([20], [3], epochs=2, batch=5))


def test_a_batch_of_more_than_there_is_is_refused():
    with pytest.raises(ValueError, match="batch must be at most the fewest examples, 4, got 5"):
        training.orders([9, 4], [0, 0], epochs=1, batch=5)


def trained(models, seeds, x, y, examples, rates, weight_decay):
    """Two layers on x (N, 4) and y (N,), and the losses of all steps."""
    model = torch.nn.Sequential(ensemble.Linear(models, 4, 8), torch.nn.Tanh(), ensemble.Linear(models, 8, 1))
    ensemble.initialise(model, seeds)

    def losses(chosen):
        return (model(x[chosen])[..., 0] - y[chosen]).square().mean(-1)

    trainer = training.Trainer(model, losses, examples, rates, weight_decay)
    done = []
    for step in trainer.steps():
        done.append((step, trainer.loss.clone()))
    assert [step for step, _ in done] == list(range(1, len(examples) + 1)) and model.training
    return model, torch.stack([loss for _, loss in done])


def test_steps_are_those_of_adam_on_each_model_alone():
    random = torch.Generator().manual_seed(0)
    x = torch.randn(30, 4, generator=random)
    y = x.square().sum(-1) + torch.randn(30, generator=random)
    seeds, weight_decay = [2, 5, 9], 0.03
    examples = training.orders([30, 30, 27], seeds, epochs=3, batch=6).flatten(0, 1)
    rates = 0.02 * torch.linspace(1, 0.1, len(examples))
    model, losses = trained(3, seeds, x, y, examples, rates, weight_decay)
    for number, seed in enumerate(seeds):
        first, second = torch.nn.Linear(4, 8), torch.nn.Linear(8, 1)
        start = torch.nn.Sequential(ensemble.Linear(1, 4, 8), ensemble.Linear(1, 8, 1))
        ensemble.initialise(start, [seed])
        with torch.no_grad():
            for plain, layer in zip((first, second), start):
                plain.weight.copy_(layer.weight[0].T)
                plain.bias.copy_(layer.bias[0, 0])
        plain = torch.nn.Sequential(first, torch.nn.Tanh(), second)
        optimizer = torch.optim.Adam(plain.parameters(), weight_decay=weight_decay)
        for step, chosen in enumerate(examples[:, number]):
            optimizer.param_groups[0]["lr"] = float(rates[step])
            optimizer.zero_grad()
            loss = (plain(x[chosen])[:, 0] - y[chosen]).square().mean()
            loss.backward()
            optimizer.step()
            assert float(losses[step, number]) == pytest.approx(loss.item(), rel=1e-4, abs=1e-6)
        for layer, alone in ((model[0], first), (model[2], second)):
            torch.testing.assert_close(layer.weight[number].T, alone.weight, rtol=0, atol=1e-6)
            torch.testing.assert_close(layer.bias[number, 0], alone.bias, rtol=0, atol=1e-6)


class Stream(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass when the test says so."""
    now = [1000.0]
    monkeypatch.setattr(training.time, "monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize("terminal, lines_in_100_seconds", [(False, 10), (True, 100)])
def test_progress_is_a_line_now_and_then(clock, terminal, lines_in_100_seconds):
    stream = Stream(terminal)
    progress = training.Progress(1, stream)
    for second in range(100):
        clock[0] += 1
        progress.show("row", (second + 1) / 200)
        clock[0] += 0.0625
        progress.show("row", (second + 1) / 200)
        clock[0] -= 0.0625
    shown = stream.getvalue().count("row")
    assert shown == lines_in_100_seconds
    assert stream.getvalue().count("\n") == (0 if terminal else shown)
    assert stream.getvalue().count("\r") == (shown if terminal else 0)


def test_progress_says_how_long_the_rest_takes(clock):
    stream = Stream(terminal=False)
    progress = training.Progress(4, stream)
    progress.skip("zero")
    clock[0] += 60
    progress.finish("one", "accuracy 0.5")
    clock[0] += 30
    progress.show("two", 0.5)
    # Of three parts one and a half took 90 s.
    assert stream.getvalue().splitlines() == [
        "zero: there already",
        "one: accuracy 0.5",
        "two:  50%; part 2 of 3, 1:30 left",
    ]


def test_progress_does_not_guess_before_anything_is_done(clock):
    stream = Stream(terminal=False)
    progress = training.Progress(2, stream)
    clock[0] += 20
    progress.show("one", 0.0)
    assert stream.getvalue() == "one:   0%; part 1 of 2, ? left\n"
