"""Data in batches: Arrow streams of all producers, arrays, files, and generators in constant memory."""

import gc
import weakref

import numpy as np
import pytest

import fenchel

pa = pytest.importorskip("pyarrow")

X = np.random.default_rng(1).normal(size=1000)
Y = np.arange(1000.0)
TABLE = pa.table({"x": X, "y": Y})


def read(data, columns=None):
    return [np.array(batch) for batch in fenchel.batches(data, columns)]


def stacked(data, columns=None):
    return np.concatenate(read(data, columns))


def producers():
    yield "table", TABLE
    yield "chunked table", pa.concat_tables([TABLE[:0], TABLE[:10], TABLE[10:10], TABLE[10:]])
    yield "reader", TABLE.to_reader(max_chunksize=77)
    yield "record batch", TABLE.combine_chunks().to_batches()[0]
    yield "list of record batches", TABLE.to_batches(max_chunksize=300)
    yield "struct array", TABLE.to_struct_array()
    yield "iterator of record batches", iter(TABLE.to_batches(max_chunksize=300))
    yield "arrays", [np.column_stack([X, Y])[:400], np.column_stack([X, Y])[400:]]
    yield "generator", (np.column_stack([X, Y])[i : i + 100] for i in range(0, 1000, 100))
    yield "one array", np.column_stack([X, Y])
    yield "float32 and Fortran", [np.asfortranarray(np.column_stack([X, Y])), np.empty((0, 2), np.float32)]
    yield "map", map(np.asarray, [np.column_stack([X, Y])])


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in producers()])
def test_all_producers(data):
    batches = read(data)
    assert all(batch.dtype == np.float64 and batch.ndim == 2 and batch.shape[1] == 2 for batch in batches)
    np.testing.assert_array_equal(np.concatenate(batches), np.column_stack([X, Y]))


def test_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"x": X, "y": Y})
    np.testing.assert_array_equal(stacked(frame), np.column_stack([X, Y]))
    np.testing.assert_array_equal(stacked(frame["x"])[:, 0], X)
    np.testing.assert_array_equal(stacked(pl.concat([frame, frame[3:5]], rechunk=False), ["y"])[:, 0], [*Y, 3, 4])
    with pytest.raises(ValueError, match="column s must hold numbers, got string"):
        read(pl.DataFrame({"x": [1.0], "s": ["a"]}))
    assert fenchel.BetaGaussian.fit(frame["x"], alpha=2) == fenchel.BetaGaussian.fit(X, alpha=2)


def test_pandas():
    pd = pytest.importorskip("pandas", minversion="2.2")
    frame = pd.DataFrame({"x": X, "y": Y})
    np.testing.assert_array_equal(stacked(frame), np.column_stack([X, Y]))
    np.testing.assert_array_equal(stacked(frame[frame.x > 0]), np.column_stack([X, Y])[X > 0])
    np.testing.assert_array_equal(stacked(frame.set_index("y"))[:, 0], X)
    np.testing.assert_array_equal(stacked(frame["x"])[:, 0], X)
    assert fenchel.Triangular.fit(frame["x"]) == fenchel.Triangular.fit(frame[["x"]]) == fenchel.Triangular.fit(X)
    with pytest.raises(ValueError, match="row 2, column x: value must"):
        fenchel.LineMoments().update(pd.DataFrame({"x": [1.0, 2.0, np.nan]}))
    with pytest.raises(ValueError, match="column s must hold numbers, got dictionary"):
        read(pd.DataFrame({"s": pd.Categorical(["a", "b"])}))


def test_pandas_without_pyarrow():
    class Frame:
        def __arrow_c_stream__(self, requested_schema=None):
            raise ImportError("pyarrow")

        def __array__(self, dtype=None, copy=None):
            return np.column_stack([X, Y])

    np.testing.assert_array_equal(stacked(Frame()), np.column_stack([X, Y]))


def test_duckdb():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        query = "SELECT i * 0.5::DOUBLE AS x, (i % 7)::SMALLINT AS k FROM range(1200000) t(i)"
        batches = read(connection.sql(query))
        assert len(batches) > 1
        i = np.arange(1200000)
        np.testing.assert_array_equal(np.concatenate(batches), np.column_stack([i * 0.5, i % 7]))
        assert fenchel.fit(fenchel.SparsePoisson, connection.sql(f"SELECT k FROM ({query})"), alpha=1).parameters == [
            pytest.approx(np.mean(i % 7), rel=1e-14)]
        with pytest.raises(ValueError, match="row 1, column x: value must not be null"):
            read(connection.sql("SELECT * FROM (VALUES (1), (NULL)) t(x)"))


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32",
                                  "float64", "bool"])
@pytest.mark.parametrize("begin", [0, 3, 9])
def test_types_and_offsets(kind, begin):
    values = np.random.default_rng(0).integers(0, 2, size=40) if kind == "bool" else np.arange(40)
    array = pa.array(values.astype(kind), type=kind if kind != "bool" else pa.bool_())
    assert str(array.type) == {"float32": "float", "float64": "double"}.get(kind, kind)
    expected = values[begin:].astype(float)
    np.testing.assert_array_equal(stacked(array[begin:])[:, 0], expected)
    table = pa.table({"a": array, "b": array})
    np.testing.assert_array_equal(stacked(table[begin:]), np.column_stack([expected, expected]))
    np.testing.assert_array_equal(stacked(table.to_struct_array()[begin:]), np.column_stack([expected, expected]))
    batch = table.to_batches()[0][begin:]
    np.testing.assert_array_equal(stacked(batch, ["b"])[:, 0], expected)


@pytest.mark.parametrize(
    "array, kind",
    [
        (pa.array(["a"]), "string"),
        (pa.array(["a"], pa.large_string()), "string"),
        (pa.array([b"a"]), "binary"),
        (pa.array(["a"]).dictionary_encode(), "dictionary"),
        (pa.array([1.0]).dictionary_encode(), "dictionary"),
        (pa.array([1], pa.decimal128(5)), "decimal"),
        (pa.array([0], pa.timestamp("s")), "date or time"),
        (pa.array([0], pa.date32()), "date or time"),
        (pa.array([[1.0]]), "nested"),
        (pa.array([None]), "null"),
        (pa.array(np.array([1], np.float16)), "float16"),
    ],
    ids=str,
)
def test_other_types_are_refused_by_name(array, kind):
    table = pa.table({"good": [1.0], "bad": array})
    with pytest.raises(ValueError, match=f"^column bad must hold numbers, got {kind}$"):
        read(table)
    with pytest.raises(ValueError, match=f"column bad must hold numbers, got {kind}"):
        read(table[:0])
    np.testing.assert_array_equal(stacked(table, ["good"]), [[1.0]])
    with pytest.raises(ValueError, match=f"must hold numbers, got {kind}"):
        read(array)


def test_nulls_are_refused_with_row_and_column():
    column = pa.chunked_array([[1.0, 2.0], [3.0, None, None], [None]])
    table = pa.table({"a": [0.0] * 6, "b": column})
    with pytest.raises(ValueError, match="^row 3, column b: value must not be null$"):
        read(table)
    with pytest.raises(ValueError, match="^row 1, column b: value must not be null$"):
        read(table[2:])
    np.testing.assert_array_equal(stacked(table[:3])[:, 1], [1, 2, 3])
    np.testing.assert_array_equal(stacked(table, ["a"]), np.zeros((6, 1)))
    with pytest.raises(ValueError, match="row 1, column 0: value must not be null"):
        read(pa.array([1, None]))
    array = pa.array([1.0, 2, None, 4, None])
    for sliced in (array[1:], pa.table({"0": array}).to_struct_array()[1:]):
        with pytest.raises(ValueError, match="row 1, column 0: value must not be null"):
            read(sliced)
    rows = pa.StructArray.from_arrays([pa.array([1.0, 2.0])], ["a"], mask=pa.array([False, True]))
    with pytest.raises(ValueError, match="row 1"):
        read(rows)
    # A bitmap without nulls in the part that is read.
    np.testing.assert_array_equal(stacked(pa.array([None, 5.0, 6.0])[1:])[:, 0], [5, 6])
    statistics = fenchel.LineMoments()
    with pytest.raises(ValueError):
        statistics.update(column)
    assert statistics.weight == 0


def test_columns():
    table = TABLE.append_column("s", pa.array(["a"] * 1000))
    for columns, expected in [(["y"], [Y]), (["y", "x"], [Y, X]), ([1], [Y]), ([0, -2], [X, Y])]:
        np.testing.assert_array_equal(stacked(table, columns), np.column_stack(expected))
    np.testing.assert_array_equal(stacked(np.column_stack([X, Y]), [1]), Y[:, None])
    for columns in (["z"], [3], ["x", "z"]):
        with pytest.raises(ValueError, match="columns must"):
            read(table, columns)
    with pytest.raises(ValueError, match="columns must"):
        read(pa.table([[1.0], [2.0]], names=["x", "x"]), ["x"])
    with pytest.raises(ValueError, match="1 column, got 2: x, y"):
        fenchel.LineMoments().update(TABLE)
    with pytest.raises(ValueError, match="batch 1 must have 2 columns as those before, got 1"):
        read([np.eye(2), np.zeros(3)])


def test_one_column_of_doubles_is_not_copied():
    array = pa.array(X)
    (batch,) = fenchel.batches(array[3:])
    assert batch.ctypes.data == array.buffers()[1].address + 24
    assert not batch.flags.writeable
    del array
    gc.collect()
    np.testing.assert_array_equal(batch[:, 0], X[3:])


def test_batches_are_released():
    gc.collect()
    before = pa.total_allocated_bytes()
    for _ in range(3):
        batches = (pa.record_batch({"x": pa.array(range(1000), pa.float64())}) for _ in range(20))
        reader = pa.RecordBatchReader.from_batches(pa.schema({"x": pa.float64()}), batches)
        assert fenchel.LineMoments().update(reader).weight == 20000
        stream = fenchel.batches(TABLE.to_reader(10))
        next(stream)
        stream.close()
        with pytest.raises(ValueError):
            read(pa.table({"a": [1.0, None]}))
        del batches, reader, stream
    gc.collect()
    assert pa.total_allocated_bytes() == before


def test_a_read_error_in_the_middle():
    def broken():
        yield TABLE.to_batches()[0]
        raise OSError("the disk is gone")

    statistics = fenchel.Moments(2)
    with pytest.raises(ValueError, match="batch 1 cannot be read: .*the disk is gone"):
        statistics.update(pa.RecordBatchReader.from_batches(TABLE.schema, broken()))
    assert statistics.weight == 0

    def failing():
        yield X
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        fenchel.fit(fenchel.BetaGaussian, failing(), alpha=2)


def test_rows_count_over_batches():
    bad = X.copy()
    bad[700] = np.nan
    table = pa.table({"x": bad})
    for data in (table.to_reader(100), table, (bad[i : i + 100] for i in range(0, 1000, 100))):
        name = "0" if not hasattr(data, "schema") else "x"
        with pytest.raises(ValueError, match=f"row 700, column {name}: value must be finite, got nan"):
            fenchel.LineMoments().update(data)
    with pytest.raises(ValueError, match="row 700, column x"):
        fenchel.Triangular.fit(table)


def test_a_reader_is_read_once():
    reader = TABLE.select(["x"]).to_reader()
    with pytest.raises(TypeError, match="RecordBatchReader that is read once"):
        fenchel.Triangular.fit(reader)
    assert fenchel.LineMoments().update(reader).weight == 1000
    assert read(reader) == []
    capsule = TABLE.__arrow_c_stream__()

    class Used:
        def __arrow_c_stream__(self, requested_schema=None):
            return capsule

    assert sum(map(len, read(Used()))) == 1000
    with pytest.raises(ValueError, match="read already"):
        read(Used())


def test_what_is_no_stream():
    class Liar:
        def __arrow_c_stream__(self, requested_schema=None):
            return 17

    with pytest.raises((TypeError, ValueError)):
        read(Liar())
    for nothing in (None, object(), "text", [1, "a"], {"x": 1.0}):
        with pytest.raises((TypeError, ValueError)):
            fenchel.LineMoments().update(nothing)


def test_fits_of_tables():
    column = TABLE.select(["x"])
    chunked = pa.concat_tables([column[:300], column[300:]])
    for family, fixed in [
        (fenchel.BetaGaussian, {}),
        (fenchel.Triangular, {}),
        (fenchel.TruncatedGaussian, {"kappa": 3}),
        (fenchel.CappedTriangular, {"gamma": 1}),
        (fenchel.SmoothParabola, {"gamma": 1}),
    ]:
        expected = fenchel.fit(family, X, **fixed)
        for data in (column, chunked):
            np.testing.assert_allclose(fenchel.fit(family, data, **fixed).parameters, expected.parameters, rtol=1e-12)
    for alpha in (None, 2):
        a = fenchel.fit(fenchel.MultivariateBetaGaussian, TABLE, alpha=alpha)
        b = fenchel.fit(fenchel.MultivariateBetaGaussian, np.column_stack([X, Y]), alpha=alpha)
        np.testing.assert_allclose(a.parameters, b.parameters, rtol=1e-12)
    weights = np.arange(1000.0)
    assert fenchel.BetaGaussian.fit(column.to_reader(), alpha=2, weights=weights).mean() == pytest.approx(
        np.average(X, weights=weights), rel=1e-12)


def test_a_stream_holds_one_batch():
    alive = most = 0

    def dies():
        nonlocal alive
        alive -= 1

    def stream():
        nonlocal alive, most
        for i in range(200):
            batch = np.full(1000, float(i))
            weakref.finalize(batch, dies)
            alive += 1
            most = max(most, alive)
            yield batch
            del batch

    statistics = fenchel.LineMoments().update(stream())
    assert statistics.weight == 200_000 and statistics.mean == pytest.approx(99.5, rel=1e-14)
    fenchel.fit(fenchel.BetaGaussian, stream(), alpha=2)
    assert most <= 2


@pytest.mark.parametrize("library", ["pyarrow", "polars", "pandas"])
def test_fits_and_statistics_take_columns_by_name(library):
    columns = {"name": ["a", "b"] * 500, "x": X, "y": Y, "w": Y % 3}
    if library == "pyarrow":
        table = pa.table(columns)
    elif library == "polars":
        table = pytest.importorskip("polars").DataFrame(columns)
    else:
        table = pytest.importorskip("pandas", minversion="2.2").DataFrame(columns)
    fit = fenchel.fit(fenchel.BetaGaussian, table, columns=["x"], weights="w", alpha=2)
    assert repr(fit) == repr(fenchel.fit(fenchel.BetaGaussian, X, weights=Y % 3, alpha=2))
    assert fenchel.BetaGaussian.fit(table, columns=["x"], alpha=2) == fenchel.BetaGaussian.fit(X, alpha=2)
    several_passes = fenchel.fit(fenchel.Triangular, table, columns=["x"], weights="w")
    assert repr(several_passes) == repr(fenchel.fit(fenchel.Triangular, X, weights=Y % 3))
    plane = fenchel.fit(fenchel.MultivariateBetaGaussian, table, columns=["y", "x"], weights="w")
    both = np.column_stack([Y, X])
    assert repr(plane) == repr(fenchel.fit(fenchel.MultivariateBetaGaussian, both, weights=Y % 3))
    unit = fenchel.Interval(-10, 10)
    score = fenchel.fit_linear_score(2, abs, table, unit, columns=["x"], weights="w")
    assert repr(score) == repr(fenchel.fit_linear_score(2, abs, X, unit, weights=Y % 3))
    assert fenchel.LineMoments().update(table, "w", columns=["x"]) == fenchel.LineMoments().update(X, Y % 3)
    assert fenchel.Moments(2).update(table, columns=["x", "y"]) == fenchel.Moments(2).update(both[:, ::-1])


def test_a_column_of_weights_is_none_of_the_data():
    table = pa.table({"x": X, "w": Y % 3})
    expected = fenchel.LineMoments().update(X, Y % 3)
    assert fenchel.LineMoments().update(table, "w") == expected
    in_parts = fenchel.LineMoments().update(table.to_reader(max_chunksize=77), "w")
    np.testing.assert_allclose([in_parts.weight, in_parts.mean], [expected.weight, expected.mean])
    assert fenchel.LineMoments().update(np.column_stack([X, Y % 3]), "1") == expected
    with pytest.raises(ValueError, match="weights must name one of x, w, got 'v'"):
        fenchel.LineMoments().update(table, "v")
    with pytest.raises(ValueError, match="columns must each name one of x, w, got 'v'"):
        fenchel.LineMoments().update(table, "w", columns=["v"])
    with pytest.raises(TypeError, match="columns must be a sequence of names or numbers, got 'x'"):
        fenchel.LineMoments().update(table, "w", columns="x")
    with pytest.raises(TypeError, match="columns must not be given with statistics"):
        fenchel.fit(fenchel.BetaGaussian, expected, columns=["x"])
