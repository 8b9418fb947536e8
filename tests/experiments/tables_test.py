"""docs/experiments.md says what the recorded results say."""

import pytest

from experiments import tables


def test_the_page_has_the_tables_of_the_results():
    page = tables.PAGE.read_text()
    assert tables.written(page) == page, "python -m experiments.tables"


def test_each_table_is_on_the_page():
    page = tables.PAGE.read_text()
    for name in tables.TABLES:
        assert f"<!-- tables: {name} -->" in page


def test_a_changed_number_is_put_right():
    page = tables.PAGE.read_text()
    changed = page.replace("0.6224", "0.9999")
    assert changed != page and tables.written(changed) == page


def test_an_unknown_table_is_named():
    with pytest.raises(ValueError, match="must be one of .*, got nobody"):
        tables.written("<!-- tables: nobody -->\n<!-- end -->")


def test_intervals_that_exclude_zero_are_bold():
    found = {"data": "d", "row": "a", "against": "b", "value": "accuracy", "difference": 0.01, "interval": [0.001, 0.019]}
    content = {"differences": [found | {"interval_over_units": [-0.001, 0.021]}]}
    assert tables.difference(content, "d", "a", "b") == "+1.0 [-0.1, +2.1]"
    content = {"differences": [found | {"interval_over_units": None}]}
    assert tables.difference(content, "d", "a", "b") == "**+1.0** [+0.1, +1.9]"
