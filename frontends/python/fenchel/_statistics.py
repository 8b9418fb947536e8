"""Statistics of data in any number of parts: what fitting needs to know of the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import FloatArray, doubles, integer, matrix, reals, shown, vector
from ._data import Part, weighted_parts
from ._value import Parameter, Wrapped

if TYPE_CHECKING:
    from typing_extensions import Self


def weights_of(weights: npt.ArrayLike | str | None) -> FloatArray | None:
    """Weights, one after the other; None where there are none, or where they are a column of the data."""
    return None if weights is None or isinstance(weights, str) else vector("weights", weights)


def check_weights(weights: FloatArray | None, rows: int) -> None:
    """Raises ValueError unless there is a weight for each row."""
    if weights is not None and len(weights) != rows:
        raise ValueError(f"weights must have one entry for each of {rows} rows, got {len(weights)}")


def check_columns(got: list[str], wanted: int) -> None:
    """Raises ValueError unless there are so many columns."""
    if len(got) != wanted:
        raise ValueError(f"data must have {wanted} column{'s' * (wanted != 1)}, got {len(got)}: {', '.join(got[:8])}")


class Statistics(Wrapped):
    """Statistics that data can be added to, in any split; they forget the data.

    `update` adds data and `merge` what other statistics have seen, in another thread, process or year. They can be
    pickled, copied and compared. A row of weight w counts as w rows.
    """

    __slots__ = ()

    _kind: ClassVar[Any]
    """The class in C++."""

    @property
    def _columns(self) -> int:
        return 1

    def update(
        self, x: Any, weights: npt.ArrayLike | str | None = None, *, columns: Sequence[str | int] | None = None
    ) -> Self:
        """Add data, and return self.

        Parameters
        ----------
        x : array_like or data in batches
            Rows by columns, or a vector where there is one column; or whatever `fenchel.batches` takes.
        weights : array_like or str, optional
            One for each row, not negative, or the name of the column that holds them; 1 if not given.
        columns : sequence of str or int, optional
            Which columns of a table, in this order; all but that of weights if not given.

        Raises
        ------
        ValueError
            For an entry that cannot be used, with its row and column. Nothing has then been added.
        """
        return self._add(weighted_parts(x, columns, weights, self._columns == 1), weights)

    def _add(self, stream: Iterable[Part], weights: npt.ArrayLike | str | None) -> Self:
        per_row = weights_of(weights)
        before, first = self._core.copy(), 0
        try:
            for rows, names, own in stream:
                check_columns(names, self._columns)
                last = first + len(rows)
                if per_row is not None and len(per_row) < last:
                    check_weights(per_row, last)
                self._core.update(rows, own if per_row is None else per_row[first:last], names, first)
                first = last
            check_weights(per_row, first)
        except BaseException:
            if first > 0:
                self._core = before
            raise
        return self

    def merge(self, other: Self) -> Self:
        """Add what `other`, of the same make, has seen, and return self."""
        if type(other) is not type(self):
            raise TypeError(f"merge: other must be {type(self).__name__}, got {type(other).__name__}")
        self._core.merge(other._core)
        return self

    weight = Parameter("Of all rows: their number, if they have no weights.")

    def to_bytes(self) -> bytes:
        """All of it, the same on every machine and in C++."""
        return bytes(self._core.to_bytes())

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """What wrote these bytes."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"from_bytes: data must be bytes, got {shown(data)}")
        return cls._of(cls._kind.from_bytes(bytes(data)))

    def copy(self) -> Self:
        """Statistics that go their own way from here on."""
        return self._of(self._core.copy())

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: weight {self.weight:.12g}>"


class LineMoments(Statistics):
    """Weight, mean, central moments to the fourth and extremes of one column.

    They do not depend on how the data was split beyond 1e-13.

    Examples
    --------
    >>> from fenchel import LineMoments
    >>> s = LineMoments().update([1.0, 2.0]).merge(LineMoments().update([6.0]))
    >>> s
    <LineMoments: weight 3, mean 3, variance 4.66666666667>
    >>> LineMoments().update([1.0, float("nan")])
    Traceback (most recent call last):
        ...
    ValueError: row 1, column 0: value must be finite, got nan
    """

    __slots__ = ()
    _kind = _core.LineMoments

    def __init__(self) -> None:
        self._core = _core.LineMoments()

    mean = Parameter("NaN without data, as all moments.")
    variance = Parameter("The second central moment, divided by the weight.")
    minimum = Parameter("The least value; inf without data.")
    maximum = Parameter("The largest value; -inf without data.")

    def central_moment(self, order: int) -> float:
        """The mean of (x - mean)^order, for the orders 2, 3 and 4."""
        number = integer("order", order, limit=2**31)
        if number not in (2, 3, 4):
            raise ValueError(f"order must be 2, 3 or 4, got {number}")
        return float(self._core.central_moment(number))

    def __repr__(self) -> str:
        return f"<LineMoments: weight {self.weight:.12g}, mean {self.mean:.12g}, variance {self.variance:.12g}>"


class Moments(Statistics):
    """Weight, mean and covariance of rows with `dimension` columns.

    They do not depend on how the data was split beyond 1e-13.

    Examples
    --------
    >>> from fenchel import Moments
    >>> s = Moments(2).update([[0.0, 1.0], [2.0, 5.0]])
    >>> s.mean
    array([1., 3.])
    >>> s.covariance
    array([[1., 2.],
           [2., 4.]])
    """

    __slots__ = ()
    _kind = _core.Moments

    def __init__(self, dimension: int) -> None:
        self._core = _core.Moments(integer("dimension", dimension, limit=2**31))

    @property
    def _columns(self) -> int:
        return self.dimension

    @property
    def dimension(self) -> int:
        """The number of columns."""
        return int(self._core.dimension)

    @property
    def mean(self) -> FloatArray:
        """Of each column; NaN without data, as the covariance."""
        return np.asarray(self._core.mean)

    @property
    def covariance(self) -> FloatArray:
        """Divided by the weight."""
        return np.asarray(self._core.covariance)

    def __repr__(self) -> str:
        return f"<Moments: dimension {self.dimension}, weight {self.weight:.12g}>"


class AbsoluteMoments(Statistics):
    """The means of |x - centre|^power for one column and some powers, and the weights on both sides of the centre.

    Examples
    --------
    >>> from fenchel import AbsoluteMoments
    >>> s = AbsoluteMoments(2.0).update([1.0, 2.0, 4.0])
    >>> s.moment(0), s.weight_below, s.weight_above
    (1.0, 1.0, 1.0)
    """

    __slots__ = ()
    _kind = _core.AbsoluteMoments

    def __init__(self, centre: float, powers: Sequence[float] = (1.0,)) -> None:
        exponents = doubles("powers", powers)
        if exponents.ndim != 1:
            raise ValueError(f"powers must be a vector, got shape {exponents.shape}")
        (origin,) = reals(centre=centre)
        self._core = _core.AbsoluteMoments(origin, exponents.tolist())

    centre = Parameter("What distances are taken from.")

    @property
    def powers(self) -> tuple[float, ...]:
        """The powers of the distance."""
        return tuple(self._core.powers)

    weight_below = Parameter("Of all x < centre.")
    weight_above = Parameter("Of all x > centre.")

    def moment(self, k: int = 0) -> float:
        """The mean of |x - centre|^powers[k]; NaN without data, inf where its sum overflows."""
        return float(self._core.moment(integer("k", k)))

    def __repr__(self) -> str:
        return f"<AbsoluteMoments: centre {self.centre:.12g}, powers {self.powers}, weight {self.weight:.12g}>"


class CountHistogram(Statistics):
    """The weight of each integer in one column; memory grows with the number of different integers.

    Examples
    --------
    >>> from fenchel import CountHistogram
    >>> s = CountHistogram().update([0, 3, 3])
    >>> s.values.tolist(), s.weights.tolist()
    ([0, 3], [1.0, 2.0])
    >>> s.mean
    2.0
    """

    __slots__ = ()
    _kind = _core.CountHistogram

    def __init__(self) -> None:
        self._core = _core.CountHistogram()

    mean = Parameter("NaN without data, as the variance.")
    variance = Parameter("The second central moment, divided by the weight.")

    @property
    def values(self) -> npt.NDArray[np.int64]:
        """The integers with a positive weight, ascending."""
        return np.asarray(self._core.values)

    @property
    def weights(self) -> FloatArray:
        """Of these integers."""
        return np.asarray(self._core.weights)

    def __repr__(self) -> str:
        return f"<CountHistogram: weight {self.weight:.12g}, mean {self.mean:.12g}, variance {self.variance:.12g}>"


class RadialMoments(Statistics):
    """The means of q and q^2 over rows x, q = (x - mean)^T covariance^-1 (x - mean): a second pass, after `Moments`.

    With the data's own mean and covariance the mean of q is the dimension, and that of q^2 is Mardia's kurtosis.

    Examples
    --------
    >>> from fenchel import Moments, RadialMoments
    >>> x = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    >>> s = Moments(2).update(x)
    >>> r = RadialMoments(s.mean, s.covariance).update(x)
    >>> r.mean, r.mean_square
    (2.0, 4.0)
    """

    __slots__ = ()
    _kind = _core.RadialMoments

    def __init__(self, mean: npt.ArrayLike, covariance: npt.ArrayLike) -> None:
        self._core = _core.RadialMoments(vector("mean", mean), matrix("covariance", covariance))

    @property
    def _columns(self) -> int:
        return self.dimension

    @property
    def dimension(self) -> int:
        """The number of columns."""
        return int(self._core.dimension)

    mean = Parameter("Of q; NaN without data.")
    mean_square = Parameter("Of q^2; NaN without data.")
