"""Fits: the member of a family with the least mean loss over data, which matches the moments of the data."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy.typing as npt

from . import _core
from ._arrays import FloatArray, RandomState, integer, reals, seed_from, shown, vector
from ._data import is_one_shot, parts, whole
from ._distribution import Distribution
from ._domain import Domain, Line
from ._gamma import CappedParabola, CappedTriangular, SmoothParabola, SmoothTriangular
from ._goodness import ConfidenceInterval, Goodness
from ._integers import SparseIntegerGaussian, SparsePoisson
from ._line import BetaGaussian, BetaLaplace, Triangular, TruncatedGaussian, Uniform
from ._location_scale import LocationScale
from ._predict import NumericDensity
from ._regularizer import Tsallis
from ._score import Function, LinearScore, function_list
from ._space import MultivariateBetaGaussian
from ._statistics import (
    AbsoluteMoments,
    CountHistogram,
    LineMoments,
    Moments,
    Statistics,
    check_columns,
    check_weights,
    weights_of,
)

D = TypeVar("D", bound=Distribution)
_LINE = Line()


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Generic[D]):
    """A distribution fitted to data, and how well it is known: what `fit` gives.

    Examples
    --------
    >>> import fenchel
    >>> result = fenchel.fit(fenchel.BetaGaussian, [1.0, 2.0, 3.0, 4.0], alpha=1)
    >>> result.distribution
    BetaGaussian(alpha=1.0, mu=2.5, sigma2=1.25)
    >>> dict(zip(result.names, result.standard_errors.round(3).tolist()))
    {'mu': 0.559, 'sigma2': 0.884}
    """

    distribution: D
    names: tuple[str, ...]
    """Of the parameters that were estimated."""
    parameters: FloatArray
    """Their estimates."""
    _covariance: FloatArray | Callable[[], FloatArray]
    standard_errors: FloatArray
    """The square roots of the diagonal of `covariance`."""
    loss: float
    """The mean cross-Omega loss reached."""
    weight: float
    """Of all rows."""
    _rows: Callable[[], tuple[Any, Any, Any]] | None = None
    """The data as C++ takes it, where it can be read again."""
    _shape: tuple[float | None] | None = None
    """What draws of the fit are fitted with, where they can be."""

    @property
    def covariance(self) -> FloatArray:
        """Of the estimators, for large samples from the fitted family; infinite or NaN where there is none.

        On R^N it has (N (N + 3) / 2)^2 entries, 3 GB for N = 200, and is computed when it is first asked for.
        """
        covariance = self._covariance
        if callable(covariance):
            covariance = covariance()
            object.__setattr__(self, "_covariance", covariance)
        return covariance

    @property
    def log_likelihood(self) -> float:
        """Of the data, -inf where a row lies outside of the support: see `goodness`."""
        return self._found.log_likelihood

    @property
    def aic(self) -> float:
        """Akaike's information criterion, 2 k - 2 `log_likelihood` for k parameters that were estimated."""
        return self._found.aic

    @property
    def bic(self) -> float:
        """The Bayesian information criterion, k log(`weight`) - 2 `log_likelihood`."""
        return self._found.bic

    @property
    def crps(self) -> float:
        """The mean continuous ranked probability score, which compares families and alphas."""
        return self._found.crps

    @property
    def outside(self) -> float:
        """The weight of the rows outside of the support."""
        return self._found.outside

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the fit doubtful, in words.

        Rows outside of the support, a standard error that is larger than its estimate or does not exist, alpha at the
        end of its range, fewer rows than standard errors need, and data that does not look like draws of the fit.

        Examples
        --------
        >>> import fenchel
        >>> print(*fenchel.fit(fenchel.BetaGaussian, [1.0, 2.0, 3.0, 5.0], alpha=1).warnings)
        4 rows are fewer than the 20 that standard errors need
        """
        return self._found.warnings

    @property
    def _found(self) -> Goodness:
        """Of the data of the fit, computed when it is first asked for."""
        found = self.__dict__.get("_goodness")
        if found is None:
            found = self.goodness()
            object.__setattr__(self, "_goodness", found)
        return found

    def goodness(
        self, data: Any = None, *, weights: npt.ArrayLike | None = None, bootstrap: int = 0, seed: RandomState = 0
    ) -> Goodness:
        """How good the fit is: likelihood, scores, distances from the data, and warnings in words.

        Parameters
        ----------
        data : array_like, optional
            Data in place of that of the fit; needed where the fit was made from statistics, from a stream that is read
            once, or was pickled.
        weights : array_like, optional
            Of `data`, one for each row.
        bootstrap : int
            How many samples are drawn from the fit and fitted again, for p-values of the two distances. A p-value is
            the share of samples, the data being one, that are as far from their fits. Tables of these distances do not
            hold after a fit.
        seed : int, numpy Generator or None
            Of the draws, which do not depend on the number of threads. None is a new one.

        Returns
        -------
        Goodness
            What was found. Distances keep 2^17 different values of the distribution function at most, 5 MB; with more
            data they err by some 1e-4.

        Raises
        ------
        ValueError
            Where there is no data to read, and for data that cannot be used.
        TypeError
            For a bootstrap in R^N, or of a family that is made of functions.

        Examples
        --------
        >>> import fenchel
        >>> x = fenchel.BetaGaussian(1.5, mu=5, sigma2=2).rvs(398, random_state=3)
        >>> found = fenchel.fit(fenchel.BetaGaussian, x, alpha=1).goodness(bootstrap=199, seed=1)
        >>> round(found.log_likelihood, 2), round(found.kolmogorov_smirnov, 3), found.p_values["anderson_darling"]
        (-522.48, 0.044, 0.005)
        """
        if data is not None:
            one = not isinstance(self.distribution, MultivariateBetaGaussian)
            rows = _rows(data, weights, columns=1 if one else None)
        elif weights is not None:
            raise TypeError("goodness: weights are those of data, which is not given")
        elif self._rows is None:
            raise ValueError("goodness: data must be given: the fit was made without it, or was pickled")
        else:
            rows = self._rows()
        run: Any = _core.goodness
        numbers, warnings = run(
            self.distribution._core, list(self.names), self.parameters.tolist(), self.standard_errors.tolist(),
            self.loss, *rows,
        )
        fields: list[Any] = [*numbers, tuple(warnings)]
        found = Goodness(*fields)
        if integer("bootstrap", bootstrap) == 0:
            return found
        draws = self._bootstrap(found, bootstrap, seed)
        return replace(
            found, p_values={"kolmogorov_smirnov": draws[0], "anderson_darling": draws[1]}, failed=draws[3]
        )

    def _bootstrap(self, found: Goodness, replicates: int, seed: RandomState) -> tuple[float, float, FloatArray, int]:
        """Both p-values, the parameters of the fits to draws, and how many samples have none."""
        if self._shape is None:
            raise TypeError(f"bootstrap: {type(self.distribution).__name__} cannot be drawn from and fitted again")
        run: Any = _core.bootstrap
        drawn: tuple[float, float, FloatArray, int] = run(
            self.distribution._core, *self._shape, self.weight, found.kolmogorov_smirnov, found.anderson_darling,
            integer("bootstrap", replicates), seed_from(seed),
        )
        return drawn

    def confidence_interval(
        self, level: float = 0.95, method: Literal["wald", "bootstrap"] = "wald", *, bootstrap: int = 999,
        seed: RandomState = 0,
    ) -> ConfidenceInterval:
        """Confidence intervals of the parameters, in the order of `names`.

        Parameters
        ----------
        level : float
            How often such an interval has the parameter in it, above 0 and below 1.
        method : {"wald", "bootstrap"}
            "wald" is the estimate -+ z standard errors, for large samples. "bootstrap" draws samples from the fit and
            fits each again: the interval is between quantiles of the estimates.
        bootstrap : int
            How many samples are drawn.
        seed : int, numpy Generator or None
            Of the draws.

        Returns
        -------
        ConfidenceInterval
            Arrays ``low`` and ``high``.

        Examples
        --------
        >>> import fenchel
        >>> x = fenchel.BetaGaussian(1.5, mu=5, sigma2=2).rvs(398, random_state=3)
        >>> found = fenchel.fit(fenchel.BetaGaussian, x, alpha=1)
        >>> found.names, found.confidence_interval().low.round(2), found.confidence_interval().high.round(2)
        (('mu', 'sigma2'), array([4.89, 0.7 ]), array([5.06, 0.92]))
        >>> found.confidence_interval(0.9, "bootstrap", bootstrap=199).low.round(2)
        array([4.91, 0.72])
        """
        (share,) = reals(level=level)
        if method == "wald":
            ends = _core.wald_intervals(self.parameters.tolist(), self.standard_errors.tolist(), share)
        elif method == "bootstrap":
            ends = _core.percentile_intervals(self._bootstrap(self._found, bootstrap, seed)[2], share)
        else:
            raise ValueError(f"method must be 'wald' or 'bootstrap', got {shown(method)}")
        return ConfidenceInterval(*ends)

    def __getstate__(self) -> dict[str, Any]:
        # Functions cannot be pickled, and data is not.
        return {**self.__dict__, "_covariance": self.covariance, "_rows": None}

    def __repr__(self) -> str:
        width = max(len("parameter"), *(len(name) for name in self.names))
        lines = [f"Fit of {self.distribution!r}", f"{'parameter':<{width}}  {'estimate':>12}  {'standard error':>14}"]
        for name, estimate, error in zip(self.names, self.parameters, self.standard_errors):
            lines.append(f"{name:<{width}}  {estimate:>12.6g}  {error:>14.3g}")
        return "\n".join([*lines, f"loss {self.loss:.6g}, weight {self.weight:.12g}"])


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


_FAMILIES: dict[type[Distribution], _Family] = {
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
    TruncatedGaussian: _Family(_core.fit_truncated_gaussian, None, False, "kappa", None, True),
}


def _functions(name: str, entry: _Family, fixed: dict[str, Any]) -> list[Function]:
    """The functions that the family is made of."""
    if set(fixed) != set(entry.functions):
        needs = " and ".join(entry.functions)
        raise TypeError(f"fit: {name} needs {needs}, and nothing else, got {', '.join(fixed) or 'nothing'}")
    return [function_list(function, [fixed[function]])[0] for function in entry.functions]


def _shape(name: str, entry: _Family, fixed: dict[str, Any]) -> float | None:
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


def _collected(kind: type[Statistics], data: Any, weights: npt.ArrayLike | None) -> Statistics:
    """The statistics of data, in one pass."""
    stream = parts(data, vectors=kind is not Moments)
    if kind is not Moments:
        return kind()._add(stream, weights)
    first = list(itertools.islice(stream, 1))
    statistics = Moments(len(first[0].names) if first else 1)
    return statistics._add(itertools.chain(first, stream), weights)


def fit(
    family: type[D], data: Any, *, weights: npt.ArrayLike | None = None, **fixed: float | str | Function | None
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
    weights : array_like, optional
        One for each row, not negative: a row of weight w counts as w rows.
    **fixed : float, or None or "auto"
        The parameter that says which members are fitted: ``alpha`` (2 unless given; inf of `BetaGaussian` is
        `Uniform`), ``gamma`` (1 unless given) or ``kappa`` (estimated unless given). None and "auto" estimate it: the
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
    entry = _FAMILIES.get(family) if isinstance(family, type) else None
    if entry is None:
        known = ", ".join(kind.__name__ for kind in _FAMILIES)
        raise TypeError(f"fit: family must be one of {known}, got {getattr(family, '__name__', shown(family))}")
    name = family.__name__
    functions = _functions(name, entry, fixed) if entry.functions else []
    shape = None if entry.functions else _shape(name, entry, fixed)
    one_pass = entry.one_pass and not (family is MultivariateBetaGaussian and shape is None)
    if isinstance(data, Statistics):
        if weights is not None:
            raise TypeError("fit: weights must not be given with statistics, which have them already")
        if type(data) is not entry.statistics or one_pass < entry.one_pass:
            wanted = entry.statistics.__name__ if entry.statistics else "the data itself"
            given = f" and {entry.shape}" if type(data) is entry.statistics else ""
            raise TypeError(f"fit: {name} needs {wanted}{given}, got {type(data).__name__}")
        result = entry.fit(data._core, shape)
    elif one_pass and entry.statistics is not None:
        result = entry.fit(_collected(entry.statistics, data, weights)._core, shape)
    else:
        if is_one_shot(data):
            hint = f", or {entry.statistics.__name__}" if entry.statistics else ""
            raise TypeError(
                f"fit: {name} needs several passes over the data, got a {type(data).__name__} that is read once: "
                f"pass a table, an array{hint}"
            )
        rows = _rows(data, weights, columns=None if family is MultivariateBetaGaussian else 1)
        last: list[Any] = functions or [shape]
        result = entry.fit(*rows, *last)
    core, names, *rest = result
    for function, f in zip(entry.functions, functions):
        setattr(core, function, f)  # it keeps what it calls alive
    again = (shape,) if family is not MultivariateBetaGaussian and not entry.functions else None
    fields = [*rest, _reader(data, weights, family), again]
    return Fit(family._of(core), tuple(names), *fields)


def _reader(data: Any, weights: npt.ArrayLike | None, family: type[Distribution]) -> Callable[[], Any] | None:
    """What reads the data once more, where that can be done."""
    if isinstance(data, Statistics) or is_one_shot(data):
        return None
    return lambda: _rows(data, weights, columns=None if family is MultivariateBetaGaussian else 1)


def _rows(data: Any, weights: npt.ArrayLike | None, columns: int | None) -> tuple[Any, Any, Any]:
    """All of data, weights and names, as C++ takes them."""
    rows, names = whole(data, vectors=columns == 1)
    if columns is not None:
        check_columns(names, columns)
    per_row = weights_of(weights)
    check_weights(per_row, len(rows))
    return rows, per_row, names


def fit_linear_score(
    alpha: float, phi: Function | Sequence[Function], data: Any, domain: Domain = _LINE, *,
    weights: npt.ArrayLike | None = None, start: npt.ArrayLike | None = None,
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
    weights : array_like, optional
        One for each row, not negative: a row of weight w counts as w rows.
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
    core, names, theta, *rest = run(order, functions, domain._core, *_rows(data, weights, columns=1), begin)
    core.f = functions  # it keeps what it calls alive
    p = NumericDensity._made(core, Tsallis(order), LinearScore(theta, functions), domain)
    fields = [*rest, lambda: _rows(data, weights, columns=1)]
    return Fit(p, tuple(names), theta, *fields)
