"""Fits: the member of a family with the least mean loss over data, which matches the moments of the data."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy.typing as npt

from . import _core
from ._arrays import reals, shown, vector
from ._data import is_one_shot, weighted_parts
from ._distribution import Distribution
from ._domain import Domain, Line
from ._fitted import D, Fit, rows_of
from ._gamma import CappedParabola, CappedTriangular, SmoothParabola, SmoothTriangular
from ._integers import SparseIntegerGaussian, SparsePoisson
from ._line import BetaGaussian, BetaLaplace, Triangular, TruncatedGaussian, Uniform
from ._location_scale import LocationScale
from ._predict import NumericDensity
from ._regularizer import Tsallis
from ._score import Function, LinearScore, function_list
from ._space import MultivariateBetaGaussian
from ._statistics import AbsoluteMoments, CountHistogram, LineMoments, Moments, Statistics

_LINE = Line()


class _Family(NamedTuple):
    fit: Any
    """In C++: of statistics and the shape, or of rows, weights, names and the shape."""
    statistics: type[Statistics] | None
    """That suffice."""
    one_pass: bool
    """Whether one pass over the data collects them."""
    shape: str | None
    """The parameter that says which members are fitted."""
    default: float | None
    """Its value where none is given; None is estimated."""
    estimates: bool = False
    """Whether it can be estimated."""
    functions: tuple[str, ...] = ()
    """That must be given, in place of the shape."""


FAMILIES: dict[type[Distribution], _Family] = {
    BetaGaussian: _Family(_core.fit_beta_gaussian, LineMoments, True, "alpha", 2.0, True),
    BetaLaplace: _Family(_core.fit_beta_laplace, AbsoluteMoments, False, "alpha", 2.0),
    CappedParabola: _Family(_core.fit_capped_parabola, LineMoments, True, "gamma", 1.0),
    CappedTriangular: _Family(_core.fit_capped_triangular, AbsoluteMoments, False, "gamma", 1.0),
    LocationScale: _Family(_core.fit_location_scale, None, False, None, None, functions=("g", "slope")),
    MultivariateBetaGaussian: _Family(_core.fit_multivariate_beta_gaussian, Moments, True, "alpha", 2.0, True),
    SmoothParabola: _Family(_core.fit_smooth_parabola, LineMoments, True, "gamma", 1.0),
    SmoothTriangular: _Family(_core.fit_smooth_triangular, AbsoluteMoments, False, "gamma", 1.0),
    SparseIntegerGaussian: _Family(_core.fit_sparse_integer_gaussian, CountHistogram, True, "alpha", 2.0, True),
    SparsePoisson: _Family(_core.fit_sparse_poisson, CountHistogram, True, "alpha", 2.0, True),
    Uniform: _Family(_core.fit_beta_gaussian, LineMoments, True, None, math.inf),
    Triangular: _Family(_core.fit_beta_laplace, AbsoluteMoments, False, None, 2.0),
    TruncatedGaussian: _Family(_core.fit_truncated_gaussian, None, False, "kappa", 2.0, True),
}


def _functions(name: str, entry: _Family, fixed: dict[str, Any]) -> list[Function]:
    """The functions that the family is made of."""
    if set(fixed) != set(entry.functions):
        needs = " and ".join(entry.functions)
        raise TypeError(f"fit: {name} needs {needs}, and nothing else, got {', '.join(fixed) or 'nothing'}")
    return [function_list(function, [fixed[function]])[0] for function in entry.functions]


def shape_of(name: str, entry: _Family, fixed: dict[str, Any]) -> float | None:
    """The value of the family's own parameter: what is given, or the default; None where it is to be estimated."""
    for other in fixed:
        if other != entry.shape:
            takes = f"can fix {entry.shape} only" if entry.shape else "has no parameter that can be given"
            raise TypeError(f"fit: {name} {takes}, got {other}")
    value = fixed.get(str(entry.shape), entry.default)
    if value is not None and value != "auto":
        return reals(**{str(entry.shape): value})[0]
    if not entry.estimates:
        raise TypeError(f"fit: {name} needs {entry.shape}, which is not estimated, got {value!r}")
    return None


def _collected(
    kind: type[Statistics], data: Any, weights: npt.ArrayLike | str | None, columns: Sequence[str | int] | None
) -> Statistics:
    """The statistics of data, in one pass."""
    stream = weighted_parts(data, columns, weights, vectors=kind is not Moments)
    if kind is not Moments:
        return kind()._add(stream, weights)
    first = list(itertools.islice(stream, 1))
    statistics = Moments(len(first[0].names) if first else 1)
    return statistics._add(itertools.chain(first, stream), weights)


def fit(
    family: type[D], data: Any, *, weights: npt.ArrayLike | str | None = None,
    columns: Sequence[str | int] | None = None, **fixed: float | str | Function | None,
) -> Fit[D]:
    """Fit a family of distributions to data, with standard errors.

    The result minimises the mean cross-Omega loss over the family, which matches the moments of the data: the mean and
    the variance for `BetaGaussian`, `Uniform`, `CappedParabola`, `SmoothParabola` and `SparseIntegerGaussian`, the mean
    and the covariance for `MultivariateBetaGaussian`, the mean for `SparsePoisson`, the median and the mean deviation
    from it for `BetaLaplace`, `Triangular`, `CappedTriangular` and `SmoothTriangular`.

    Parameters
    ----------
    family : type
        One of these classes, `TruncatedGaussian` or `LocationScale`.
    data : array_like, statistics, or data in batches
        A vector, rows by columns for `MultivariateBetaGaussian`; statistics that suffice; or whatever `batches` takes:
        Arrow tables and streams, iterables of arrays. The families of the median, `TruncatedGaussian`,
        `LocationScale` and `MultivariateBetaGaussian` with an alpha that is estimated need several passes, so no stream
        that is read once.
    weights : array_like or str, optional
        One for each row, not negative, or the name of the column that holds them: a row of weight w counts as w rows.
    columns : sequence of str or int, optional
        Which columns of a table, such as one of pyarrow, polars or pandas; all but that of weights if not given.
    **fixed : float, or None or "auto"
        The parameter that says which members are fitted: ``alpha`` (2 unless given; inf of `BetaGaussian` is
        `Uniform`), ``gamma`` (1 unless given) or ``kappa`` (2 unless given). None and "auto" estimate it: the
        alpha of `BetaGaussian` and of `MultivariateBetaGaussian` by the kurtosis, that of counts by likelihood among
        the members with the moments of the data, and kappa. `LocationScale` needs its functions ``g`` and ``slope``.

    Returns
    -------
    Fit
        The distribution, and the estimates with their standard errors.

    Raises
    ------
    ValueError
        For data that cannot be used, with its row and column, or that no member of the family fits.
    ConvergenceError
        Where the minimiser does not converge.

    Examples
    --------
    >>> import fenchel
    >>> x = fenchel.BetaGaussian(2, mu=1).rvs(1000, random_state=0)
    >>> fenchel.fit(fenchel.BetaGaussian, x, alpha=2)
    Fit of BetaGaussian(alpha=2.0, mu=1.008695720799255, sigma2=1.0033587885137518)
    parameter      estimate  standard error
    mu               1.0087          0.0162
    sigma2          1.00336          0.0509
    loss 0.238219, weight 1000
    """
    entry = FAMILIES.get(family) if isinstance(family, type) else None
    if entry is None:
        known = ", ".join(kind.__name__ for kind in FAMILIES)
        raise TypeError(f"fit: family must be one of {known}, got {getattr(family, '__name__', shown(family))}")
    name = family.__name__
    functions = _functions(name, entry, fixed) if entry.functions else []
    shape = None if entry.functions else shape_of(name, entry, fixed)
    one_pass = entry.one_pass and not (family is MultivariateBetaGaussian and shape is None)
    if isinstance(data, Statistics):
        if weights is not None or columns is not None:
            given = "weights" if weights is not None else "columns"
            raise TypeError(f"fit: {given} must not be given with statistics, which have them already")
        if type(data) is not entry.statistics or one_pass < entry.one_pass:
            wanted = entry.statistics.__name__ if entry.statistics else "the data itself"
            given = f" and {entry.shape}" if type(data) is entry.statistics else ""
            raise TypeError(f"fit: {name} needs {wanted}{given}, got {type(data).__name__}")
        result = entry.fit(data._core, shape)
    elif one_pass and entry.statistics is not None:
        result = entry.fit(_collected(entry.statistics, data, weights, columns)._core, shape)
    else:
        if is_one_shot(data):
            hint = f", or {entry.statistics.__name__}" if entry.statistics else ""
            raise TypeError(
                f"fit: {name} needs several passes over the data, got a {type(data).__name__} that is read once: "
                f"pass a table, an array{hint}"
            )
        rows = rows_of(data, weights, None if family is MultivariateBetaGaussian else 1, columns)
        last: list[Any] = functions or [shape]
        result = entry.fit(*rows, *last)
    core, names, *rest = result
    for function, f in zip(entry.functions, functions):
        setattr(core, function, f)  # it keeps what it calls alive
    again = (shape,) if family is not MultivariateBetaGaussian and not entry.functions else None
    fields = [*rest, _reader(data, weights, columns, family), again]
    return Fit(family._of(core), tuple(names), *fields)


def _reader(
    data: Any, weights: npt.ArrayLike | str | None, columns: Sequence[str | int] | None, family: type[Distribution]
) -> Callable[[], Any] | None:
    """What reads the data once more, where that can be done."""
    if isinstance(data, Statistics) or is_one_shot(data):
        return None
    return lambda: rows_of(data, weights, None if family is MultivariateBetaGaussian else 1, columns)


def fit_linear_score(
    alpha: float, phi: Function | Sequence[Function], data: Any, domain: Domain = _LINE, *,
    weights: npt.ArrayLike | str | None = None, columns: Sequence[str | int] | None = None,
    start: npt.ArrayLike | None = None,
) -> Fit[NumericDensity]:
    """Fit the density of a `LinearScore` with any functions phi: under it phi have the means of the data.

    It minimises the mean cross-Omega loss, which is convex in theta, by Newton's method. Means agree to 1e-8 standard
    deviations of phi.

    Parameters
    ----------
    alpha : float
        The order of the regularizer, positive and finite.
    phi : callable or sequence of callables
        Each float -> float.
    data : array_like, or data in batches
        One column, as `fit` takes it, in the domain.
    domain : Line or Interval
        Where the density lives, the line by default.
    weights : array_like or str, optional
        One for each row, not negative, or the name of the column that holds them: a row of weight w counts as w rows.
    columns : sequence of str or int, optional
        Which column of a table, in a sequence.
    start : array_like, optional
        Where the search for theta begins: a theta that has a density. Needed only where theta = 0 and single phi have
        none.

    Returns
    -------
    Fit
        Of a `NumericDensity` whose f is a `LinearScore`. The parameters are theta.

    Raises
    ------
    ValueError
        For data that cannot be used or lies outside of the domain, and for phi that are collinear.
    ConvergenceError
        For means that no density of the family has.

    Examples
    --------
    >>> import fenchel
    >>> data, unit = [0.1, 0.4, 0.6, 0.7], fenchel.Interval(0, 1)
    >>> found = fenchel.fit_linear_score(2, [lambda t: t, lambda t: t * t], data, unit)
    >>> round(found.distribution.mean(), 6), round(found.distribution.expect(lambda t: t * t), 6)
    (0.45, 0.255)
    """
    functions = function_list("phi", phi)
    if not isinstance(domain, Domain):
        raise TypeError(f"fit_linear_score: domain must be Line() or an Interval, got {shown(domain)}")
    if is_one_shot(data):
        raise TypeError(f"fit_linear_score: data must be a table or an array, got {shown(data)} that is read once")
    begin = [] if start is None else vector("start", start).tolist()
    (order,) = reals(alpha=alpha)
    run: Any = _core.fit_linear_score
    core, names, theta, *rest = run(order, functions, domain._core, *rows_of(data, weights, 1, columns), begin)
    core.f = functions  # it keeps what it calls alive
    p = NumericDensity._made(core, Tsallis(order), LinearScore(theta, functions), domain)
    fields = [*rest, lambda: rows_of(data, weights, 1, columns)]
    return Fit(p, tuple(names), theta, *fields)
