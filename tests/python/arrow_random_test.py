"""Arrow streams at random: any columns, cut into any chunks and slices, are read as numbers or refused by name."""

import numpy as np
import pytest

import fenchel

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies
pa = pytest.importorskip("pyarrow")

NUMBERS = [pa.int8(), pa.uint8(), pa.int16(), pa.uint32(), pa.int64(), pa.float32(), pa.float64(), pa.bool_()]
OTHERS = [pa.string(), pa.date32(), pa.float16(), pa.decimal128(5), pa.list_(pa.int8())]


def column(draw, kind, rows):
    """Values of that type, some of them null in one column of three."""
    numbers = draw(st.lists(st.integers(0, 100), min_size=rows, max_size=rows))
    some = draw(st.integers(0, 2)) == 0
    null = [some and gone for gone in draw(st.lists(st.booleans(), min_size=rows, max_size=rows))]
    of = {pa.bool_(): lambda v: v % 2 == 0, pa.string(): str, pa.list_(pa.int8()): lambda v: [v]}
    values = [None if gone else of.get(kind, lambda v: v)(v) for v, gone in zip(numbers, null)]
    if kind == pa.float16():
        return pa.array([None if v is None else np.float16(v) for v in values], kind)
    return pa.array(values, kind)


@st.composite
def tables(draw):
    """A table with one to four columns of random types, as a slice of random chunks."""
    rows = draw(st.integers(0, 20))
    kinds = draw(st.lists(st.sampled_from(NUMBERS * 3 + OTHERS), min_size=1, max_size=4))
    table = pa.table([column(draw, kind, rows) for kind in kinds], names=[f"c{j}" for j in range(len(kinds))])
    cut = sorted(draw(st.lists(st.integers(0, rows), max_size=3)))
    chunks = [table[a:b] for a, b in zip([0, *cut], [*cut, rows])]
    begin = draw(st.integers(0, rows))
    return pa.concat_tables(chunks)[begin : draw(st.integers(begin, rows))]


@hypothesis.settings(deadline=None, max_examples=100, derandomize=True)
@hypothesis.given(tables(), st.sampled_from(["table", "reader", "batches"]))
def test_a_table_is_read_or_refused_by_the_column(table, way):
    data = {"table": lambda: table, "reader": table.to_reader, "batches": table.to_batches}[way]()
    bad = [name for name in table.column_names if table[name].type in OTHERS]
    null = [name for name in table.column_names if table[name].null_count > 0]
    if way == "batches" and not data:
        return
    if bad or null:
        with pytest.raises(ValueError, match="column (" + "|".join(bad or null) + ")"):
            list(fenchel.batches(data))
    else:
        found = np.concatenate([np.empty((0, table.num_columns)), *map(np.array, fenchel.batches(data))])
        expected = [np.array(table[name].to_pylist(), float) for name in table.column_names]
        np.testing.assert_array_equal(found, np.stack(expected, -1))
