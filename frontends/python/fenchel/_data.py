"""Data as rows and columns, in one part or many: arrays, Arrow tables and streams, iterables of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import FloatArray, doubles, integer, real_numbers, shown

_ROWS_PER_SLICE = 2**18
"""Of a file in memory: 2 MiB a column."""


class Part(NamedTuple):
    """Some rows, the names of their columns, and the weights of the rows where they are a column of the data."""

    rows: FloatArray
    names: list[str]
    weights: FloatArray | None = None


def _is_arrow(data: Any) -> bool:
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def _is_sequence_of_parts(data: Any, vectors: bool) -> bool:
    first = data[0] if isinstance(data, (list, tuple)) and data else None
    return _is_arrow(first) or (isinstance(first, np.ndarray) and first.ndim > (0 if vectors else 1))


def is_one_shot(data: Any) -> bool:
    """Whether data can be read only once: an iterator, such as a generator or a reader of record batches."""
    return hasattr(data, "__next__")


def _positions(columns: Sequence[str | int], names: list[str]) -> list[int]:
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise TypeError(f"columns must be a sequence of names or numbers, got {shown(columns)}")
    positions = []
    for column in columns:
        if isinstance(column, str):
            if names.count(column) != 1:
                raise ValueError(f"columns must each name one of {', '.join(names)}, got {column!r}")
            positions.append(names.index(column))
        else:
            number = integer("columns", column)
            if not -len(names) <= number < len(names):
                raise ValueError(f"columns must be among {len(names)}, got {number}")
            positions.append(number % len(names))
    return positions


def _arrow_parts(reader: Any, columns: Sequence[str | int] | None) -> Iterator[Part]:
    names = reader.names
    positions = list(range(len(names))) if columns is None else _positions(columns, names)
    reader.select(positions)
    chosen = [names[j] or str(j) for j in positions]
    while (rows := reader.next()) is not None:
        yield Part(rows, chosen)


def _array_parts(data: npt.ArrayLike, columns: Sequence[str | int] | None, vectors: bool) -> Iterator[Part]:
    try:
        array = data if isinstance(data, np.memmap) else real_numbers("data", data)
    except TypeError:
        if np.ndim(data):
            raise
        allowed = "an array, a table or stream of Arrow, or an iterable of these"
        raise TypeError(f"data must be {allowed}, got a {type(data).__name__}") from None
    if array.ndim > 2 or (array.ndim < 2 and not vectors):
        allowed = "a vector or rows by columns" if vectors else "rows by columns"
        raise ValueError(f"data must be {allowed}, got shape {array.shape}")
    if array.ndim < 2:
        array = array.reshape(-1, 1)
    names = [str(j) for j in range(array.shape[1])]
    if columns is not None:
        positions = _positions(columns, names)
        names = [names[j] for j in positions]
    step = _ROWS_PER_SLICE if isinstance(data, np.memmap) else max(len(array), 1)
    for begin in range(0, len(array), step):
        rows = array[begin : begin + step]
        yield Part(doubles("data", rows if columns is None else rows[:, positions]), names)


def weighted_parts(
    data: Any, columns: Sequence[str | int] | None, weights: Any, vectors: bool = True
) -> Iterator[Part]:
    """The parts of data, with its column of weights apart where weights are the name of one."""
    if not isinstance(weights, str):
        yield from parts(data, columns, vectors)
        return
    both = columns if columns is None or isinstance(columns, str) else [*columns, weights]
    for rows, names, _ in parts(data, both, vectors):
        if columns is None and weights not in names:
            raise ValueError(f"weights must name one of {', '.join(names)}, got {weights!r}")
        at = names.index(weights) if columns is None else len(names) - 1
        kept = [j for j in range(len(names)) if j != at]
        yield Part(np.ascontiguousarray(rows[:, kept]), [names[j] for j in kept], np.ascontiguousarray(rows[:, at]))


def parts(data: Any, columns: Sequence[str | int] | None = None, vectors: bool = True) -> Iterator[Part]:
    """The parts of data, one after the other. Where vectors are no columns, a list of them is a list of rows."""
    if _is_arrow(data):
        if hasattr(data, "reset_index"):  # pandas would send its index as one more column
            data = data.reset_index(drop=True)
        try:
            if hasattr(data, "__arrow_c_stream__"):
                reader = _core.ArrowReader(data.__arrow_c_stream__())
            else:
                reader = _core.ArrowReader(*data.__arrow_c_array__())
        except ImportError:  # pandas without pyarrow
            yield from _array_parts(data, columns, vectors)
        else:
            yield from _arrow_parts(reader, columns)
    elif is_one_shot(data) or _is_sequence_of_parts(data, vectors):
        names: list[str] | None = None
        for i, batch in enumerate(data):
            for part in parts(batch, columns, vectors):
                if names is not None and len(part.names) != len(names):
                    raise ValueError(f"batch {i} must have {len(names)} columns as those before, got {len(part.names)}")
                names = part.names
                yield part
    elif isinstance(data, Iterable) and not isinstance(data, Sequence) and not hasattr(data, "__array__"):
        yield from parts(iter(data), columns, vectors)
    else:
        yield from _array_parts(data, columns, vectors)


def whole(data: Any, vectors: bool, columns: Sequence[str | int] | None = None, weights: Any = None) -> Part:
    """All of data at once; an array of doubles is not copied. Weights may be the name of a column."""
    if isinstance(data, np.memmap):
        data = np.asarray(data)
    read = list(weighted_parts(data, columns, weights, vectors))
    if len(read) == 1:
        return read[0]
    if not read:
        return Part(np.empty((0, 1)), ["0"])
    per_row = [part.weights for part in read if part.weights is not None]
    return Part(np.concatenate([part.rows for part in read]), read[0].names, np.concatenate(per_row) if per_row else None)


def batches(data: Any, columns: Sequence[str | int] | None = None) -> Iterator[FloatArray]:
    """Data larger than memory, batch by batch: arrays of doubles, rows by columns.

    Parameters
    ----------
    data : object
        One of: an object with ``__arrow_c_stream__`` or ``__arrow_c_array__`` (a table, a reader of record batches or a
        chunked array of pyarrow, a DataFrame of polars or pandas, a relation of DuckDB); a ``numpy.memmap``, read in
        slices; an iterable of arrays, or of any of these; an array, which is one batch.
    columns : sequence of str or int, optional
        Which columns, in this order; all of them if not given.

    Yields
    ------
    numpy.ndarray
        The rows of one batch. A single column of doubles from Arrow is not copied, and can only be read.

    Raises
    ------
    ValueError
        For a column that holds no numbers, with its type, and for a missing value, with its row and column.

    Examples
    --------
    >>> import fenchel, numpy as np
    >>> total = fenchel.LineMoments()
    >>> for batch in fenchel.batches(np.full(3, i) for i in range(5)):
    ...     total = total.update(batch)
    >>> total.weight, total.mean
    (15.0, 2.0)
    """
    for part in parts(data, columns):
        yield part.rows
