"""Every public function stands in the table, and a campaign sees every kind of failure."""

import inspect
import json
import math
import pathlib
import random
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import command_laws
import fenchel
import fenchel.torch
import laws
import page
import run
from draw import SHELL_COUNTS, SHELL_FAMILIES, SHELL_SCORES, SHELL_SPACE, Draw
from names import NAMESPACE, public
from row import Row
from table import TABLE

MODULES = {"fenchel": fenchel, "fenchel.torch": fenchel.torch, "fenchel.torch.nn": fenchel.torch.nn}
BY_TORCH = {"forward", "extra_repr"}
"""What torch calls where a module is called, or shown."""


def named(front_end):
    return {name for row in TABLE[front_end] for name in row.names.split()}


@pytest.mark.parametrize("front_end", MODULES)
def test_every_public_function_is_in_the_table(front_end):
    assert set(public(MODULES[front_end])) - named(front_end) == set()


@pytest.mark.parametrize("front_end", MODULES)
def test_the_table_has_public_functions_alone(front_end):
    assert named(front_end) - set(public(MODULES[front_end])) == set()


def test_a_function_that_is_missing_is_found(monkeypatch):
    monkeypatch.setattr(fenchel, "unheard_of", lambda x: x, raising=False)
    monkeypatch.setattr(fenchel, "__all__", [*fenchel.__all__, "unheard_of"])
    assert set(public(fenchel)) - named("fenchel") == {"unheard_of"}


def test_every_command_is_in_the_table():
    commands = set(command_laws.listed()) - {"plot"} | {f"plot {name}" for name in command_laws.listed("plot")}
    assert commands == {row.names for row in TABLE["command"]}


def test_every_family_of_the_command_is_drawn():
    drawn = {text.split('"')[1] for text in (*SHELL_FAMILIES, *SHELL_COUNTS, *SHELL_SPACE, *SHELL_SCORES)}
    assert drawn == set(command_laws.listed("density"))


def text_of(line):
    """A line, what it may draw, and the sources of the laws that it names, with those that they name."""
    text, seen = " ".join(Draw(random.Random(k), True).line(line) for k in range(60)), set()
    while found := [w for w in set(re.findall(r"\w+", text)) - seen if inspect.isfunction(NAMESPACE.get(w))]:
        seen |= set(found)
        text += "".join(inspect.getsource(NAMESPACE[w]) for w in found if NAMESPACE[w].__module__ in sys.modules)
    return text


@pytest.mark.parametrize("front_end", MODULES)
def test_a_row_calls_what_it_names(front_end):
    missing = {}
    for row in TABLE[front_end]:
        if "{name}" not in row.line and "{method}" not in row.line:
            words = set(re.findall(r"\w+", text_of(row.line))) | BY_TORCH
            missing[row.names] = {name.rpartition(".")[2] for name in row.names.split()} - words
    assert not any(missing.values()), {names: words for names, words in missing.items() if words}


def test_a_seed_gives_the_same_lines():
    first, second, other = ([case.line for case in run.cases(TABLE, seed, 0)] for seed in (1, 1, 2))
    assert first == second != other


def test_one_line_of_four_is_large():
    rounds = 60
    row = Row("entmax", "row_map(fenchel.softmax, {scores}), tails({line}, {levels}), draws({line}, 1, {many})")
    lines = [case.line for k in range(rounds) for case in run.cases({"fenchel": [row]}, 1, k)]
    large = [line for line in lines if ", 20000)" in line]
    assert rounds / 8 < len(large) < rounds / 2
    for line in large:
        rows, columns = map(int, re.search(r"array\(\d+, \((\d+), (\d+)\)", line).groups())
        assert 199_000 < rows * columns <= 200_000 and columns <= 1000 and line.count(", 20000") == 2


def attempted(line, wild=True):
    return run.attempt(run.Case("fenchel", "entmax", line, wild))


def test_laws_that_hold_are_counted():
    outcome = attempted("finite(np.ones(7))")
    assert (outcome.kind, outcome.numbers) == ("held", 7)


def test_kinds_of_failures():
    assert attempted("finite([1.0, nan])").kind == "broken"
    assert attempted("fenchel.BetaGaussian(-1)").kind == "declined"
    assert attempted("fenchel.BetaGaussian(-1)", wild=False).kind == "refused"
    assert attempted("fenchel.BetaGaussian('a')").kind == "wrong error"
    assert attempted("1 / 0").kind == "wrong error"


def test_losses_are_drawn_down_to_the_order_of_the_page():
    """And what does not need alpha - 1 further."""
    drawn = {Draw(random.Random(k), True).line("{loss_alpha}") for k in range(2000)}
    assert "1e-15" in drawn and "1e-300" not in drawn
    assert any("entmax_conjugate" in row.names and "{alpha}" in row.line for row in TABLE["fenchel"])


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ("1.5, abs, lambda t: 1 / (1 + t * t)", "held"),
        ("0.77, lambda t: t * t, lambda t: t * t", "held"),  # no such integral
        ("1.5, abs, lambda t: nan", "refused"),
        ("nan, abs, abs", "refused"),
    ],
)
def test_the_law_of_beta_covariances_knows_why_one_is_refused(arguments, kind):
    assert attempted(f"beta_covariances(fenchel.BetaLaplace(0.74, -3.2, 0.78), {arguments})", wild=False).kind == kind


def test_the_law_of_draws_knows_that_integers_end():
    """A draw beyond 64 bits is the last of them: two thirds of these are, and a sixth of those on either side."""
    assert attempted("draws(fenchel.SparsePoisson(0.01, 9.06), 1, 400)", wild=False).kind == "held"
    assert attempted("draws(fenchel.SparseIntegerGaussian(0.5, 0.0, 1e28), 1, 1200)", wild=False).kind == "held"


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ("0.0425, -212180.0, 0.586), 'moment', 3", "held"),  # no such moment: both of its tails are infinite
        ("0.0425, 0.0, 0.586), 'central_moment', 7", "held"),
        ("2, 0.0, 0.586), 'moment', 3", "held"),
    ],
)
def test_the_law_of_a_moment_knows_where_there_is_none(arguments, kind):
    assert attempted(f"a_moment(fenchel.SparseIntegerGaussian({arguments})", wild=False).kind == kind


def test_the_law_of_a_moment_takes_no_other_nan():
    class Wrong:
        alpha = 0.5

        def moment(self, order):
            return math.nan

        def central_moment(self, order):
            return 1.0

    with pytest.raises(laws.Broken):
        NAMESPACE["a_moment"](Wrong(), "moment", 3)


@pytest.mark.parametrize(
    ("mu", "expected", "kind"),
    [(3.1853e11, 3.2713e-4, "held"), (0.0, 3.2713e-4, "held"), (0.0, 3.2063e-4, "broken"), (3.1853e3, 3.27129e-4, "broken")],
)
def test_the_law_of_a_mean_deviation_knows_what_doubles_resolve(mu, expected, kind):
    line = f"mean_deviation(fenchel.BetaLaplace.from_mean_deviation(3.4, {mu}, 3.2713e-4), {expected})"
    assert attempted(line, wild=False).kind == kind


@pytest.mark.parametrize(
    ("forward", "slope", "kind"),
    [("1e300", "-inf", "held"), ("1e200", "-inf", "broken"), ("1e200", "1e260", "held"), ("1e200", "2e260", "broken")],
)
def test_the_law_of_adjoints_knows_which_gradients_overflow(forward, slope, kind):
    line = f"adjoint([{forward}], dict(mu=0.0, sigma2={slope}), dict(mu=1.0, sigma2=0.1), [1e59])"
    assert attempted(line, wild=False).kind == kind


def test_the_law_of_adjoints_takes_arrays():
    line = "ridge(fenchel.RidgeRegression(fenchel.GaussianBasis([0.0, 0.5], 0.1), 12, 0.9), array(1, (3, 12)), array(2, (3, 2)))"
    assert attempted(line, wild=False).kind == "held"


@pytest.mark.parametrize(("mu", "kind"), [("[4.6e10, 2.6e55]", "held"), ("[0.0, 1.0]", "held")])
def test_the_law_of_moved_draws_knows_what_doubles_resolve(mu, kind):
    line = f"moved_draws(fenchel.MultivariateBetaGaussian(12709.4, {mu}, [[1.26, -1.56], [-1.56, 5.12]]), 376059)"
    assert attempted(line, wild=False).kind == kind


def test_the_law_of_twins_knows_the_smallest_number():
    line = "twins('SparseIntegerGaussian', (1.0000182896559833, 0.02495559806812811, 0.0006561183855803358), array(1, 9, 'ends'))"
    assert attempted(line, wild=False).kind == "held"


def test_the_law_of_canonical_parameters_knows_the_smallest_number():
    assert attempted("canonical(2, 5e-324, -2.2)", wild=False).kind == "held"
    assert attempted("canonical(2, 1e-300, -2.2)", wild=False).kind == "held"


def test_the_law_of_moments_knows_that_a_variance_underflows():
    assert attempted("moments(fenchel.EscortDensity(fenchel.Triangular(0.0, 5e-324), 9.0))", wild=False).kind == "held"


def test_the_gaussian_of_a_law_is_a_number_where_its_variance_is_huge():
    assert NAMESPACE["gaussian"](0.0, 0.0, 1e308) == pytest.approx(1e-154 / math.sqrt(2 * math.pi), abs=0)


def test_crashes_and_calls_without_end_are_failures(monkeypatch):
    monkeypatch.setattr(run, "SECONDS", 3)
    lines = ["__import__('os').abort()", "finite(1.0)", "__import__('time').sleep(99)", "all(iter(int, 1)) or finite(1.0)"]
    worker = run.Worker()
    assert [worker.run(run.Case("", "", line, True)).kind for line in lines] == ["crash", "held", "no end", "held"]
    worker.close()


def seen(tally):
    return {**vars(tally), "failures": None}, [[case.line for case, _ in group] for group in tally.worst()]


def test_the_number_of_processes_does_not_change_a_campaign():
    """Each of them has one thread."""
    laws = ["finite([1.0] * {count})", "holds(fenchel.num_threads() == 1)", "holds({unit} < 0.5)"]
    table = {"fenchel": [Row("entmax", line) for line in laws]}
    reports = []
    one, three = (run.campaign(table, 1, 5, 0, jobs, lambda *_: reports.append(jobs)) for jobs in (1, 3))
    assert seen(one) == seen(three)
    assert one.calls["fenchel"] == 15 and one.failed == reports.count(1) == reports.count(3) > 0


def test_the_page_has_the_figures_of_the_record():
    text = page.PAGE.read_text()
    assert page.written(text, json.loads(page.RECORD.read_text())) == text, "python tests/campaign/page.py"
