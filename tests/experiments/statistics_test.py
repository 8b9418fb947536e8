"""Means, deviations and intervals by hand and against scipy."""

import math

import numpy as np
import pytest
from scipy import stats

from experiments import statistics


def runs(values, name="accuracy"):
    """From a table with a line for each unit and a column for each seed."""
    return [
        {"unit": unit, "seed": seed, "values": {name: value}}
        for unit, row in enumerate(values, 1)
        for seed, value in enumerate(row)
    ]


def test_by_hand():
    # Mean 3, squares 4 + 0 + 4, so that the variance is 4; t(.975, 2) = 4.302653.
    assert statistics.deviation([1, 3, 5]) == 2
    half = 4.302653 * 2 / math.sqrt(3)
    assert statistics.interval([1, 3, 5]) == pytest.approx([3 - half, 3 + half])
    assert statistics.by_unit(runs([[1, 3], [5, 6]]), "accuracy") == {1: 2, 2: 5.5}


def test_one_number_has_no_interval():
    assert statistics.interval([0.5]) is None and statistics.deviation([0.5]) == 0
    assert statistics.interval([]) is None


@pytest.mark.parametrize("count", [2, 3, 10, 50])
def test_intervals_are_those_of_scipy(count):
    numbers = np.random.default_rng(count).normal(0.6, 0.1, count)
    expected = stats.t.interval(0.95, count - 1, numbers.mean(), stats.sem(numbers))
    assert statistics.interval(numbers.tolist()) == pytest.approx(list(expected), rel=1e-12)
    assert statistics.deviation(numbers.tolist()) == pytest.approx(numbers.std(ddof=1), rel=1e-12)


def test_a_summary_is_over_units_after_the_seeds():
    values = np.random.default_rng(0).normal(0.6, 0.1, (10, 5))
    found = statistics.summary(runs(values))["accuracy"]
    units = values.mean(1)
    assert found["mean"] == pytest.approx(values.mean()) and found["deviation"] == pytest.approx(units.std(ddof=1))
    assert found["interval"] == pytest.approx(list(stats.t.interval(0.95, 9, units.mean(), stats.sem(units))))


def test_a_summary_of_one_unit_is_over_seeds():
    values = np.random.default_rng(0).normal(0.6, 0.1, (1, 5))
    found = statistics.summary(runs(values))["accuracy"]
    assert found["deviation"] == pytest.approx(values[0].std(ddof=1))
    assert found["interval"] == pytest.approx(list(stats.t.interval(0.95, 4, values.mean(), stats.sem(values[0]))))
    assert statistics.summary(runs([[0.5]]))["accuracy"] == {"mean": 0.5, "deviation": 0.0, "interval": None}


def test_a_difference_is_paired_by_unit_and_seed():
    random = np.random.default_rng(1)
    hard = random.normal(0.6, 0.2, (10, 1))  # what the rows share must not widen the interval
    ours, theirs = (hard + random.normal(0, 0.01, (10, 5)) + shift for shift in (0.02, 0.0))
    against = runs(theirs)
    random.shuffle(against)
    found = statistics.difference(runs(ours), against, "accuracy")
    pairs = stats.ttest_rel(ours.ravel(), theirs.ravel()).confidence_interval(0.95)
    units = stats.ttest_rel(ours.mean(1), theirs.mean(1)).confidence_interval(0.95)
    assert found["value"] == "accuracy" and found["difference"] == pytest.approx((ours - theirs).mean())
    assert found["interval"] == pytest.approx([pairs.low, pairs.high], rel=1e-9)
    assert found["interval_over_units"] == pytest.approx([units.low, units.high], rel=1e-9)


def test_a_difference_of_one_unit_has_no_interval_over_units():
    found = statistics.difference(runs([[1.0, 2.0]]), runs([[0.5, 1.0]]), "accuracy")
    assert found["difference"] == 0.75 and found["interval_over_units"] is None
    # Differences .5 and 1, of deviation .353553; t(.975, 1) = 12.706205.
    assert found["interval"] == pytest.approx([0.75 - 12.706205 * 0.25, 0.75 + 12.706205 * 0.25], rel=1e-6)


def test_seeds_that_one_row_lacks_have_no_part_in_a_difference():
    found = statistics.difference(runs([[1.0, 2.0, 9.0], [3.0, 5.0, 9.0]]), runs([[0.5, 1.0], [1.0, 2.0]]), "accuracy")
    assert found == statistics.difference(runs([[1.0, 2.0], [3.0, 5.0]]), runs([[0.5, 1.0], [1.0, 2.0]]), "accuracy")
    assert found["difference"] == (0.5 + 1 + 2 + 3) / 4
