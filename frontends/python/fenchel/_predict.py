"""Predictions for any score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np

from . import _core
from ._arrays import shown
from ._distribution import LineDistribution
from ._domain import Box, Domain, Euclidean, IntegerDomain, Interval, Line
from ._integers import IntegerPrediction
from ._predict_space import MultivariateNumericDensity, PointsFunction
from ._regularizer import Regularizer, Tsallis
from ._score import DifferentiableScore, LinearScore

_LINE = Line()


class NumericDensity(LineDistribution):
    """The prediction of a regularizer for a score that is a Python function: what `predict` gives.

    Its methods call f, so they hold the GIL and run on one thread; what f raises comes back unchanged.

    Examples
    --------
    >>> from fenchel import Tsallis, predict
    >>> p = predict(Tsallis(2), lambda t: -abs(t))
    >>> type(p).__name__, [round(end, 4) for end in p.support()]
    ('NumericDensity', [-1.0, 1.0])
    """

    __slots__ = ("_domain", "_f", "_regularizer")
    _parameters = ("regularizer", "f", "domain")

    def __init__(self, regularizer: Regularizer, f: Callable[[float], float], domain: Domain = _LINE) -> None:
        if not isinstance(regularizer, Regularizer):
            raise TypeError(f"regularizer must be Tsallis, TotalVariation or Sobolev, got {shown(regularizer)}")
        if not callable(f):
            raise TypeError(f"f must be callable, got {shown(f)}")
        if not isinstance(domain, Domain) or isinstance(domain, IntegerDomain):
            raise TypeError(f"domain must be Line() or an Interval, got {shown(domain)}")
        self._regularizer, self._f, self._domain = regularizer, f, domain
        self._core = _core.NumericDensity(*self._triple())

    @classmethod
    def _made(cls, core: Any, regularizer: Regularizer, f: Callable[[float], float], domain: Domain) -> NumericDensity:
        made = cls._of(core)
        made._regularizer, made._f, made._domain = regularizer, f, domain
        return made

    @property
    def regularizer(self) -> Regularizer:
        """What it costs to be certain."""
        return self._regularizer

    @property
    def f(self) -> Callable[[float], float]:
        """The score."""
        return self._f

    @property
    def domain(self) -> Domain:
        """Where it lives."""
        return self._domain

    @property
    def error(self) -> float:
        """An estimate of the relative error of its mass, at most 1e-10: two rules on shifted panels agree on that."""
        return float(self._core.error())

    def _order(self, alpha: float | None) -> float:
        own = getattr(self._regularizer, "alpha", self._regularizer._tsallis)
        return super()._order(own if alpha is None else alpha)

    def _core_loss(self, name: str, target: Any) -> tuple[float, dict[str, float]]:
        value, gradient = getattr(self._core, name)(*self._triple(), target)
        if "theta" in gradient:
            gradient["theta"] = np.array(gradient["theta"])
        return value, gradient

    def _of_score(self, name: str) -> Any:
        function = getattr(self._core, name, None)
        if function is None or not (name == "conjugate" or isinstance(self._regularizer, Tsallis)):
            raise TypeError(f"{name}: there is none for the prediction of {self._regularizer!r}")
        wanted = DifferentiableScore if name == "normalizer_gradient" else LinearScore
        if name not in ("conjugate", "normalizer") and not isinstance(self._f, wanted):
            raise TypeError(f"{name}: f must be a LinearScore, which has parameters, got {shown(self._f)}")
        return function(*self._triple())

    def _triple(self) -> tuple[Any, Any, Any]:
        """Regularizer, score and domain as C++ takes them."""
        score = self._f._core if isinstance(self._f, DifferentiableScore) else self._f
        return self._regularizer._core, score, self._domain._core


class NumericIntegers(IntegerPrediction):
    """The prediction of Tsallis' regularizer for a score on integers that is a Python function: what `predict` gives.

    Examples
    --------
    >>> from fenchel import Naturals, Tsallis, predict
    >>> p = predict(Tsallis(2), lambda k: -abs(k - 3) / 4, Naturals())
    >>> p.support(), p.pmf([2, 3, 4]).round(4)
    ((2, 4), array([0.25, 0.5 , 0.25]))
    """

    __slots__ = ("_domain", "_f", "_regularizer")
    _parameters = ("regularizer", "f", "domain")

    def __init__(self, regularizer: Regularizer, f: Callable[[float], float], domain: Domain) -> None:
        if not isinstance(regularizer, Tsallis):
            raise TypeError(f"regularizer must be Tsallis on the integers, got {shown(regularizer)}")
        if not callable(f):
            raise TypeError(f"f must be callable, got {shown(f)}")
        if not isinstance(domain, IntegerDomain):
            raise TypeError(f"domain must be Integers(), Naturals() or an IntegerRange, got {shown(domain)}")
        self._regularizer, self._f, self._domain = regularizer, f, domain
        self._core = _core.NumericIntegers(regularizer._core, f, domain._core)

    @property
    def regularizer(self) -> Regularizer:
        """What it costs to be certain."""
        return self._regularizer

    @property
    def f(self) -> Callable[[float], float]:
        """The score."""
        return self._f

    @property
    def domain(self) -> Domain:
        """Where it lives."""
        return self._domain

    def _order(self, alpha: float | None) -> float:
        return super()._order(self._core.alpha if alpha is None else alpha)


@overload
def predict(regularizer: Regularizer, f: Callable[[float], float], domain: IntegerDomain) -> NumericIntegers: ...
@overload
def predict(
    regularizer: Regularizer, f: Callable[[float], float], domain: Line | Interval = _LINE
) -> NumericDensity: ...
@overload
def predict(regularizer: Tsallis, f: PointsFunction, domain: Euclidean | Box) -> MultivariateNumericDensity: ...
def predict(regularizer: Any, f: Callable[..., Any], domain: Domain | Euclidean | Box = _LINE) -> Any:
    """The density for a score that is a Python function: the one of largest E_p[f] - Omega(p) on the domain.

    Parameters
    ----------
    regularizer : Tsallis, TotalVariation or Sobolev
        Omega. ``Tsallis(1)`` gives exp(f) / Z, a larger alpha a density that is 0 where f is low, to a relative 1e-10,
        alpha = inf one that is 1 where f is highest; ``TotalVariation(gamma)`` one with plateaus, and ``Sobolev(gamma)``
        one without corners, to 1e-8 of the peak.
    f : callable, LinearScore or ParametricScore
        The score, float -> float; -inf where the density must be 0. What no scan can see is missed in silence: in an
        interval a bump narrower than 1/1000 of it, on the line one narrower than a tenth of its distance from 0 and
        from other bumps, and among these one narrower than 1/1000 of their width. In the plane and in space f takes
        points, an array of shape (n, N), and returns n numbers.
    domain : Line, Interval, Integers, Naturals, IntegerRange, Euclidean or Box
        Where the distribution lives, the line by default. On integers the regularizer is Tsallis. For alpha > 1 f must
        fall below its threshold within 2**22 integers of its maximum; for alpha <= 1 it must from some distance on fall
        ever further, and smoothly. ``Euclidean(N)`` and ``Box`` are for N = 2, to a relative 1e-8, and 3, to 1e-6; the
        regularizer is Tsallis there, too.

    Returns
    -------
    NumericDensity; on integers NumericIntegers, in the plane and in space MultivariateNumericDensity

    Raises
    ------
    ValueError
        Where f is NaN or +inf, or no density exists since f does not fall enough.
    ConvergenceError
        Where two rules do not agree on the mass to this accuracy, or f turns more than 8192 times in an interval, or
        has more than 300 maxima on the line.

    Examples
    --------
    Sparsemax of a score with two hills has a support with a gap:

    >>> from fenchel import Interval, TotalVariation, Tsallis, predict
    >>> p = predict(Tsallis(2), lambda t: 3 * t**2 - t**4)
    >>> [(round(a, 3), round(b, 3)) for a, b in p.pieces()]
    [(-1.569, -0.734), (0.734, 1.569)]
    >>> p.pdf([0, 1]).round(4)
    array([0.    , 0.6731])

    Total variation cuts off the top:

    >>> predict(TotalVariation(0.3), lambda t: -abs(t), Interval(-4, 4)).pdf([0, 0.5, 1]).round(4)
    array([0.4903, 0.4903, 0.2649])
    """
    if isinstance(domain, (Euclidean, Box)):
        return MultivariateNumericDensity(regularizer, f, domain)
    if isinstance(domain, IntegerDomain):
        return NumericIntegers(regularizer, f, domain)
    return NumericDensity(regularizer, f, domain)
