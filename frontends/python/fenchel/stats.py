"""The distributions as SciPy's, in both of SciPy's styles.

Classic, in lower case: `beta_gaussian` is used as `scipy.stats.norm` is, with shapes, ``loc`` and ``scale``. The
member with loc 0 and scale 1 is the one with mu = 0 and sigma2 = 1 (or b = 1); all others are loc + scale * X
of it. scale has the unit of x, and sigma2 has not: `frozen` finds the scale of a fenchel distribution. `fit` matches
moments where it can. On the integers mu and sigma2 are shapes.

New, with the names of `fenchel`, for SciPy >= 1.16: `BetaGaussian` is used as `scipy.stats.Normal` is, with alpha, mu
and sigma2, or with alpha alone for mu = 0 and sigma2 = 1.

Parameters may be arrays. What is no member of the family gives NaN, as it does in SciPy.

Examples
--------
>>> import scipy.stats
>>> import fenchel
>>> from fenchel import stats
>>> stats.beta_gaussian.pdf([0.0, 1.0, 2.0], alpha=2).round(4)
array([0.6552, 0.1552, 0.    ])
>>> p = fenchel.BetaGaussian(alpha=2, mu=1, sigma2=8)
>>> q = stats.frozen(p)
>>> round(q.kwds["scale"], 4)
2.0
>>> x = q.rvs(1000, random_state=1)
>>> bool(scipy.stats.kstest(x, q.cdf).pvalue > 0.01)
True
>>> [round(float(value), 1) for value in stats.beta_gaussian.fit(x, falpha=2)]
[2.0, 1.0, 2.0]

From loc and scale back to sigma2:

>>> round(fenchel.BetaGaussian.from_variance(2, q.mean(), q.var()).sigma2, 4)
8.0

The new style:

>>> X = stats.BetaGaussian(alpha=[1.5, 2.0], mu=1.0, sigma2=8.0)
>>> X.support()[1].round(4)
array([4.9487, 3.2894])
>>> (2 * X + 1).mean()
array([3., 3.])
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy
import scipy.stats
from scipy.stats._distn_infrastructure import _ShapeInfo

from . import _gamma, _integers, _line
from ._distribution import Distribution

__all__ = [
    "beta_gaussian",
    "beta_laplace",
    "capped_parabola",
    "capped_triangular",
    "frozen",
    "smooth_parabola",
    "smooth_triangular",
    "sparse_integer_gaussian",
    "sparse_poisson",
    "triangular",
    "truncated_gaussian",
]

_Domain = tuple[tuple[float, float], tuple[bool, bool]]
"""The ends of an interval, and which of them belong to it."""

_POSITIVE: _Domain = (0, np.inf), (False, False)
_REAL: _Domain = (-np.inf, np.inf), (False, False)


class _Family(NamedTuple):
    of: type[Any]
    shapes: dict[str, _Domain]
    scale: str | None = None
    """The parameter beside mu that is fixed to 1 in the standard member; None on the integers."""
    free: bool = False
    """`of.fit` can estimate the shapes."""
    areas: bool = False
    """The shapes are in units of x**2, not numbers."""


_GAMMA: dict[str, _Domain] = {"gamma": ((0, np.inf), (True, False))}
_ORDER: _Domain = (0, np.inf), (False, True)

_FAMILIES = {
    "beta_gaussian": _Family(_line.BetaGaussian, {"alpha": ((0, np.inf), (False, True))}, "sigma2", free=True),
    "beta_laplace": _Family(_line.BetaLaplace, {"alpha": ((0.5, np.inf), (False, True))}, "b"),
    "capped_parabola": _Family(_gamma.CappedParabola, _GAMMA, "sigma2"),
    "capped_triangular": _Family(_gamma.CappedTriangular, _GAMMA, "b"),
    "smooth_parabola": _Family(_gamma.SmoothParabola, _GAMMA, "sigma2", areas=True),
    "smooth_triangular": _Family(_gamma.SmoothTriangular, _GAMMA, "b", areas=True),
    "sparse_integer_gaussian": _Family(
        _integers.SparseIntegerGaussian, {"alpha": _ORDER, "mu": _REAL, "sigma2": _POSITIVE}
    ),
    "sparse_poisson": _Family(_integers.SparsePoisson, {"alpha": _ORDER, "mu": _POSITIVE}),
    "triangular": _Family(_line.Triangular, {}, "b"),
    "truncated_gaussian": _Family(
        _line.TruncatedGaussian, {"kappa": ((1, np.inf), (False, False))}, "sigma2", free=True
    ),
}


@functools.lru_cache(maxsize=4)
def _member(of: Any, names: tuple[str, ...], values: tuple[float, ...]) -> Any:
    """The member with these parameters, None where there is none."""
    try:
        return of(**dict(zip(names, values)))
    except ValueError:
        return None


def _each(of: Any, parameters: dict[str, Any], f: Callable[..., Any], *x: Any) -> Any:
    """f(member, its part of x) over broadcast arrays, in one call for each distinct member; NaN for no member."""
    arrays = [np.asarray(a) for a in (*x, *parameters.values())]
    shape = np.broadcast(*arrays).shape if arrays else ()
    out = np.full(shape, np.nan)
    if out.size == 0:
        return out
    flat = [(a if a.shape == shape else np.broadcast_to(a, shape)).ravel() for a in arrays]
    flat_x, values = flat[: len(x)], flat[len(x) :]
    places: list[Any] = [slice(None)]
    if any((row != row[0]).any() for row in values):
        columns, inverse, counts = np.unique(np.stack(values), axis=1, return_inverse=True, return_counts=True)
        values = list(columns)
        places = np.split(np.argsort(inverse, axis=None, kind="stable"), np.cumsum(counts)[:-1])
    flat_out = out.reshape(-1)
    for i, at in enumerate(places):
        member = _member(of, tuple(parameters), tuple(float(row[i]) for row in values))
        if member is not None:
            flat_out[at] = f(member, *(a[at] for a in flat_x))
    return out[()]


def _over(name: str) -> Callable[..., Any]:
    """SciPy's method that is this one of a member, over x."""

    def method(self: Any, x: Any, *shapes: Any, **named: Any) -> Any:
        return self._each(lambda p, part: getattr(p, name)(part), shapes, named, x)

    method.__name__ = f"_{name}"
    return method


class _Classic:
    """What rv_continuous and rv_discrete are asked for, from the members of the family of this name."""

    name: str
    _cdf, _sf, _logcdf, _logsf, _ppf, _isf = map(_over, ("cdf", "sf", "logcdf", "logsf", "ppf", "isf"))

    def _each(self, f: Callable[..., Any], shapes: tuple[Any, ...], named: dict[str, Any], *x: Any) -> Any:
        family = _FAMILIES[self.name]
        parameters = dict(zip(family.shapes, shapes)) or {name: named[name] for name in family.shapes}
        if family.scale:
            parameters[family.scale] = 1.0
        return _each(family.of, parameters, f, *x)

    def __repr__(self) -> str:
        return f"{__name__}.{self.name}"

    def _attach_methods(self) -> None:
        super()._attach_methods()  # type: ignore[misc]
        self.vecentropy = self._entropy  # over arrays as it is

    def _shape_info(self) -> list[Any]:
        return [_ShapeInfo(name, False, *domain) for name, domain in _FAMILIES[self.name].shapes.items()]

    def _argcheck(self, *shapes: Any) -> Any:
        return self._each(lambda p: 1, shapes, {}) == 1

    def _get_support(self, *shapes: Any, **named: Any) -> tuple[Any, Any]:
        lower, upper = (self._each(lambda p, end=end: p.support()[end], shapes, named) for end in (0, 1))
        return lower, upper

    def _stats(self, *shapes: Any, moments: str = "mvsk", **named: Any) -> tuple[Any, ...]:
        functions = {
            "m": lambda p: p.mean(),
            "v": lambda p: p.var(),
            "s": lambda p: p.skewness(),
            "k": lambda p: p.kurtosis() - 3,
        }
        return tuple(self._each(f, shapes, named) if kind in moments else None for kind, f in functions.items())

    def _munp(self, n: int, *shapes: Any, **named: Any) -> Any:
        return self._each(lambda p: p.moment(int(n)), shapes, named)

    def _entropy(self, *shapes: Any, **named: Any) -> Any:
        return self._each(lambda p: p.entropy(), shapes, named)

    def _rvs(self, *shapes: Any, size: Any = None, random_state: Any = None, **named: Any) -> Any:
        return self._each(lambda p, part: p.rvs(part.shape, random_state), shapes, named, np.empty(size or ()))


class _Continuous(_Classic, scipy.stats.rv_continuous):  # type: ignore[misc]
    """A family on the line, as an rv_continuous."""

    _pdf, _logpdf = _over("pdf"), _over("logpdf")

    def fit(self, data: Any, *args: Any, **kwds: Any) -> Any:
        """Shapes, loc and scale that fit the data.

        By the moments of the data, with the smallest Fenchel-Young loss, where nothing but shapes is fixed (as in
        ``falpha=2``); with floc, fscale, method or optimizer by SciPy's fit. Only `beta_gaussian` and
        `truncated_gaussian` know the shapes from moments, others need them fixed or are left to SciPy's fit.
        """
        family, given = _FAMILIES[self.name], dict(kwds)
        fixed = {}
        for i, name in enumerate(family.shapes):
            keys = [key for key in (f"f{i}", f"f{name}", f"fix_{name}") if given.get(key) is not None]
            if len(keys) > 1:
                raise ValueError(f"fit: {name} is fixed more than once, by {', '.join(keys)}")
            fixed.update({name: given.pop(key) for key in keys})
        by_moments = (family.free or len(fixed) == len(family.shapes)) and not family.areas
        if not by_moments or not given.keys() <= {"loc", "scale"} or isinstance(data, scipy.stats.CensoredData):
            return super().fit(data, *args, **kwds)
        return _location_scale(family, family.of.fit(np.ravel(data), **{**dict.fromkeys(family.shapes), **fixed}))

    def _fitstart(self, data: Any, args: Any = None) -> Any:
        if args is None and _FAMILIES[self.name].free and not isinstance(data, scipy.stats.CensoredData):
            by_moments = self.fit(data)[:-2]
            args = by_moments if np.isfinite(by_moments).all() else None
        return super()._fitstart(data, args)


class _Discrete(_Classic, scipy.stats.rv_discrete):  # type: ignore[misc]
    """A family on the integers, as an rv_discrete."""

    _pmf, _logpmf = _over("pmf"), _over("logpmf")


def _location_scale(family: _Family, p: Any) -> tuple[float, ...]:
    """Shapes, loc and scale of a member. A density that is scale times as wide is that much lower at its mode."""
    shapes = {name: getattr(p, name) for name in family.shapes}
    width = str(family.scale)
    flat, wide = shapes, p
    if family.areas:  # gamma = 0 has the same scale
        flat = dict.fromkeys(shapes, 0.0)
        wide = family.of(**flat, **{width: getattr(p, width)})
    standard = family.of(**flat, **{width: 1.0})
    scale = float(standard.pdf(standard.mode()) / wide.pdf(wide.mode()))
    return (*(s / scale**2 if family.areas else s for s in shapes.values()), p.mu, scale)


def _classic(name: str) -> Any:
    family = _FAMILIES[name]
    shapes = ", ".join(family.shapes)
    made = (_Continuous if family.scale else _Discrete)(name=name, shapes=shapes)
    made.__doc__ = f"`fenchel.{family.of.__name__}` in the classic style of `scipy.stats`; shapes: {shapes or 'none'}."
    return made


beta_gaussian = _classic("beta_gaussian")
beta_laplace = _classic("beta_laplace")
capped_parabola = _classic("capped_parabola")
capped_triangular = _classic("capped_triangular")
smooth_parabola = _classic("smooth_parabola")
smooth_triangular = _classic("smooth_triangular")
sparse_integer_gaussian = _classic("sparse_integer_gaussian")
sparse_poisson = _classic("sparse_poisson")
triangular = _classic("triangular")
truncated_gaussian = _classic("truncated_gaussian")


def frozen(distribution: Distribution) -> Any:
    """A fenchel distribution as a frozen one of `scipy.stats`, with its shapes, loc and scale.

    Examples
    --------
    >>> import fenchel, fenchel.stats
    >>> p = fenchel.BetaGaussian(alpha=1, mu=3, sigma2=4)
    >>> {name: round(value, 4) for name, value in fenchel.stats.frozen(p).kwds.items()}
    {'alpha': 1.0, 'loc': 3.0, 'scale': 2.0}
    """
    for name, family in _FAMILIES.items():
        if isinstance(distribution, family.of):
            if family.scale is None:
                keys, values = tuple(family.shapes), tuple(getattr(distribution, s) for s in family.shapes)
            else:
                keys, values = (*family.shapes, "loc", "scale"), _location_scale(family, distribution)
            return globals()[name](**dict(zip(keys, values)))
    names = ", ".join(family.of.__name__ for family in _FAMILIES.values())
    raise TypeError(f"frozen: distribution must be one of {names}, got {type(distribution).__name__}")


_CALLED = {"ccdf": "sf", "logccdf": "logsf", "icdf": "ppf", "iccdf": "isf"}
"""What methods of the new style are called in the old one."""


def _formula(name: str) -> Callable[..., Any]:
    """The method of the protocol of this name, over x where it takes one."""

    def method(self: _Protocol, *x: Any, **parameters: Any) -> Any:
        return self._each(lambda p, *part: getattr(p, _CALLED.get(name, name))(*part), parameters, *x)

    method.__name__ = name
    return method


class _Protocol:
    """A family on the line, as scipy.stats.make_distribution takes it."""

    __make_distribution_version__ = "1.16.0"
    pdf, logpdf, cdf, logcdf = map(_formula, ("pdf", "logpdf", "cdf", "logcdf"))
    ccdf, logccdf, icdf, iccdf = map(_formula, _CALLED)
    entropy, median, mode = map(_formula, ("entropy", "median", "mode"))

    def __init__(self, family: _Family) -> None:
        self._family = family
        domains = {**family.shapes, "mu": _REAL, str(family.scale): _POSITIVE}
        every = {name: {"endpoints": ends, "inclusive": closed} for name, (ends, closed) in domains.items()}
        standard = {name: dict(every[name]) for name in family.shapes}
        self.parameters = (every, standard) if standard else (every,)
        self.support = {"endpoints": (self._lower, self._upper), "inclusive": (True, True)}

    def _each(self, f: Callable[..., Any], parameters: dict[str, Any], *x: Any) -> Any:
        own = {name: parameters[name] for name in self.parameters[0]}  # a truncated one passes more
        return _each(self._family.of, own, f, *x)

    def process_parameters(self, **parameters: Any) -> dict[str, Any]:
        """mu = 0 and scale 1 where shapes alone are given."""
        shape = np.broadcast_shapes(*map(np.shape, parameters.values()))
        defaults = {"mu": np.zeros(shape)[()], str(self._family.scale): np.ones(shape)[()]}
        return {**defaults, **parameters}

    def _lower(self, **parameters: Any) -> Any:
        """the least of the support"""
        return self._each(lambda p: p.support()[0], parameters)

    def _upper(self, **parameters: Any) -> Any:
        """the greatest of the support"""
        return self._each(lambda p: p.support()[1], parameters)

    def moment(self, order: int, kind: str, **parameters: Any) -> Any:
        n = int(order)
        functions: dict[str, Callable[..., Any] | None] = {
            "raw": lambda p: p.moment(n),
            "central": lambda p: p._core.central_moment(n),
            "standardized": {3: lambda p: p.skewness(), 4: lambda p: p.kurtosis()}.get(n),
        }
        f = functions[kind]
        return f and self._each(f, parameters)

    def sample(self, shape: tuple[int, ...], *, rng: Any = None, **parameters: Any) -> Any:
        return self._each(lambda p, part: p.rvs(part.shape, rng), parameters, np.empty(shape))


_NEW = {family.of.__name__: name for name, family in _FAMILIES.items()}


def __getattr__(name: str) -> Any:
    """Classes of the new style are made when they are asked for: they take time, and a new SciPy."""
    if name not in _NEW:
        raise AttributeError(f"module 'fenchel.stats' has no attribute {name!r}")
    if tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 16):
        raise ImportError(
            f"fenchel.stats.{name} needs SciPy >= 1.16, got {scipy.__version__}; fenchel.stats.{_NEW[name]} does not"
        )
    family = _FAMILIES[_NEW[name]]
    made = scipy.stats.make_distribution(_Protocol(family) if family.scale else globals()[_NEW[name]])
    keywords = ", ".join([*family.shapes, *(["mu", family.scale] if family.scale else [])])
    doc = f"`fenchel.{name}` in the new style of `scipy.stats`, with the keywords {keywords}."
    globals()[name] = type(name, (made,), {"__module__": __name__, "__doc__": doc})
    return globals()[name]


def __dir__() -> list[str]:
    return sorted([*__all__, *_NEW])
