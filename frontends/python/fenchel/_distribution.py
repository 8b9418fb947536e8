"""What all distributions share, and what those on the line do."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, overload

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import RandomState, Size, doubles, elementwise, integer, reals, seed_from, shape_from, shown, vector
from ._score import Function, Prediction
from ._value import Value

if TYPE_CHECKING:
    from typing_extensions import Self


class Distribution(Value):
    """A distribution: an immutable value, known by its parameters.

    Objects are equal where their parameters are, can be pickled, copied and used as keys.
    """

    __slots__ = ()
    _tsallis: ClassVar[float | None] = None
    """The order of the Tsallis entropy in the regularizer, where it is no parameter."""

    @classmethod
    def fit(
        cls, data: Any, *, weights: npt.ArrayLike | str | None = None, columns: Sequence[str | int] | None = None,
        **fixed: float | str | Function | None,
    ) -> Self:
        """The member of this family that matches the moments of data: `fenchel.fit`, which says more, without errors.

        >>> import fenchel
        >>> fenchel.SparsePoisson.fit([0, 1, 2], alpha=1)
        SparsePoisson(alpha=1.0, mu=1.0)
        """
        from ._fit import fit

        return fit(cls, data, weights=weights, columns=columns, **fixed).distribution

    def _order(self, alpha: float | None) -> float:
        """alpha, or the order of the Tsallis entropy in the regularizer that this is a prediction of."""
        if alpha is not None:
            return reals(alpha=alpha)[0]
        own = getattr(self, "alpha", self._tsallis)
        if own is None:
            raise TypeError(f"tsallis_entropy: {type(self).__name__} is no prediction with an order: alpha is needed")
        return float(own)


class NumericDistribution(Distribution):
    """A distribution of numbers.

    Methods over arrays take anything that NumPy makes an array of and return an array of that shape, or a number
    for a number. A NaN gives a NaN.
    """

    __slots__ = ()

    def cdf(self, x: npt.ArrayLike) -> Any:
        """P(X <= x)."""
        return elementwise("x", self._core.cdf, x)

    def sf(self, x: npt.ArrayLike) -> Any:
        """P(X > x), the survival function, accurate also where it is small."""
        return elementwise("x", self._core.survival, x)

    def logcdf(self, x: npt.ArrayLike) -> Any:
        """log P(X <= x)."""
        return elementwise("x", self._core.log_cdf, x)

    def logsf(self, x: npt.ArrayLike) -> Any:
        """log P(X > x)."""
        return elementwise("x", self._core.log_survival, x)

    def ppf(self, q: npt.ArrayLike) -> Any:
        """The smallest x of the support with cdf(x) >= q, NaN for q outside of [0, 1]."""
        return elementwise("q", self._core.quantile, q)

    def isf(self, q: npt.ArrayLike) -> Any:
        """The smallest x of the support with sf(x) <= q, NaN for q outside of [0, 1]."""
        return elementwise("q", self._core.survival_quantile, q)

    def rvs(self, size: Size = None, random_state: RandomState = None) -> Any:
        """Draws: one number, or an array of shape `size`.

        An integer `random_state` is the seed of the counter-based generator of the C++ library, which draws the same
        numbers on any number of threads; a numpy Generator gives a seed, and moves on.
        """
        shape = shape_from(size)
        return self._core.sample(math.prod(shape), seed_from(random_state)).reshape(shape)[()]

    def mean(self) -> float:
        """The expected value."""
        return float(self._core.mean())

    def median(self) -> float:
        """ppf(1/2)."""
        return float(self._core.median())

    def mode(self) -> float:
        """Where the density, or the probability, is largest."""
        return float(self._core.mode())

    def var(self) -> float:
        """The variance; inf where there is none."""
        return float(self._core.variance())

    def std(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.var())

    def skewness(self) -> float:
        """E(X - mean)^3 / var^(3/2)."""
        return float(self._core.skewness())

    def kurtosis(self) -> float:
        """E(X - mean)^4 / var^2: 3 for the Gaussian. SciPy's is 3 less."""
        return float(self._core.kurtosis())

    def moment(self, order: int) -> float:
        """E[X^order]; NaN or inf where there is none."""
        return float(self._core.moment(integer("order", order, limit=2**12)))

    def central_moment(self, order: int) -> float:
        """E[(X - mean)^order]; NaN or inf where there is none."""
        return float(self._core.central_moment(integer("order", order, limit=2**12)))

    def entropy(self) -> float:
        """The Shannon entropy, in nats."""
        return float(self._core.entropy())

    def tsallis_entropy(self, alpha: float | None = None) -> float:
        """The Tsallis entropy -Omega_alpha: of the order of the regularizer unless alpha is given; Shannon's for 1."""
        return float(self._core.tsallis_entropy(self._order(alpha)))

    def support(self) -> tuple[float, float]:
        """The outermost ends of the support."""
        lower, upper = self._core.support()
        return float(lower), float(upper)

    def interval(self, confidence: float) -> tuple[float, float]:
        """The interval about the median that has at least this probability, with equal tails."""
        (level,) = reals(confidence=confidence)
        if not 0 <= level <= 1:
            raise ValueError(f"confidence must be in [0, 1], got {confidence}")
        tail = (1 - level) / 2
        # Where the median is a gap of the support, each may round to the other end of it.
        lower, upper = sorted((float(self.ppf(tail)), float(self.isf(tail))))
        return lower, upper

    def expect(self, func: Callable[[float], float]) -> float:
        """E[func(X)], to 1e-10 of E|func(X)|; func takes a float."""
        if not callable(func):
            raise TypeError(f"func must be callable, got {shown(func)}")
        return float(self._core.expectation(func))


class LineDistribution(NumericDistribution, Prediction):
    """A distribution of real numbers with a density.

    Methods over arrays take anything that NumPy makes an array of and return an array of that shape, or a number
    for a number. Outside of the support the density is 0; a NaN gives a NaN.
    """

    __slots__ = ()

    def pdf(self, x: npt.ArrayLike) -> Any:
        """The density at x: 0 outside of the support."""
        return elementwise("x", self._core.pdf, x)

    def logpdf(self, x: npt.ArrayLike) -> Any:
        """The logarithm of the density at x: -inf outside of the support."""
        return elementwise("x", self._core.log_pdf, x)

    def std(self) -> float:
        """The standard deviation, also where the variance is beyond floats."""
        return float(self._core.standard_deviation())

    def pieces(self) -> list[tuple[float, float]]:
        """The intervals that the support is made of, in order: more than one where it has gaps."""
        return [(float(lower), float(upper)) for lower, upper in self._core.pieces()]

    @property
    def _density(self) -> Any:
        """What C++ takes where any density may stand."""
        return self._core

    def total_variation(self) -> float:
        """int |pdf'|, jumps included: what the density climbs and falls."""
        return float(_core.total_variation(self._density))

    def roughness(self) -> float:
        """int pdf'^2; inf where the density jumps."""
        return float(_core.roughness(self._density))

    def escort(self, order: float) -> LineDistribution:
        """The density proportional to pdf(x)^order on the support."""
        return EscortDensity(self, order)

    def expect(self, func: Callable[[float], float], points: npt.ArrayLike = ()) -> float:
        """E[func(X)], to 1e-10 of E|func(X)| by two rules that agree on it.

        Parameters
        ----------
        func : callable
            float -> float.
        points : array of shape (n,)
            Where func changes quickly. Between them it is looked at about a thousand times: a bump that is narrower
            than a tenth of the standard deviation may be missed unless it has a point. Where func is 0 elsewhere it is
            looked at more closely, and one of a thousandth is seen.

        Raises
        ------
        ConvergenceError
            Where the accuracy is not reached.

        Examples
        --------
        >>> from math import exp
        >>> from fenchel import BetaGaussian
        >>> round(1e4 * BetaGaussian(2).expect(lambda t: exp(-(((t - 0.3) / 1e-4) ** 2)), points=[0.3]), 6)
        1.081525
        """
        if not callable(func):
            raise TypeError(f"func must be callable, got {shown(func)}")
        places = vector("points", points)
        if not np.isfinite(places).all():
            raise ValueError(f"points must be finite, got {shown(points)}")
        return float(self._core.expectation(func, places.tolist()))

    def expectation_gradient(self, func: Function) -> dict[str, float]:
        """The derivative of `expect`(func) in each parameter, by its name; func need not be differentiable.

        >>> from fenchel import BetaGaussian
        >>> round(BetaGaussian(2, mu=3).expectation_gradient(lambda t: t**2)["mu"], 8)
        6.0
        """
        if not callable(func):
            raise TypeError(f"func must be callable, got {shown(func)}")
        if not hasattr(self._core, "expectation_gradient"):
            raise TypeError(f"expectation_gradient: there is none for {type(self).__name__}")
        gradient: dict[str, float] = self._core.expectation_gradient(func)
        return gradient

    @overload
    def fenchel_young(self, target: LineTarget, return_gradient: Literal[False] = False) -> float: ...
    @overload
    def fenchel_young(self, target: LineTarget, return_gradient: Literal[True]) -> tuple[float, dict[str, float]]: ...
    def fenchel_young(
        self, target: LineTarget, return_gradient: bool = False
    ) -> float | tuple[float, dict[str, float]]:
        """The Fenchel-Young loss Omega*(f) + Omega(q) - E_q[f] of this prediction's score f against a target q.

        It is never negative, and 0 where q is this distribution. The regularizer Omega is that of the family; where
        Omega(q) is infinite, as for a point or a sample and alpha >= 1, so is the loss: see `cross_omega`.

        Parameters
        ----------
        target : LineDistribution, array or number
            Any distribution on the line, a sample, or a point.
        return_gradient : bool
            Also give the derivatives, at a fixed target.

        Returns
        -------
        value : float
        gradient : dict
            With `return_gradient`: the derivative in each parameter of score and regularizer, by its name.

        Examples
        --------
        >>> from fenchel import BetaGaussian, Triangular
        >>> p = BetaGaussian(2)
        >>> p.fenchel_young(p)
        0.0
        >>> round(p.fenchel_young(Triangular(mu=1)), 6)
        0.523555
        """
        return self._loss("fenchel_young", target, return_gradient)

    @overload
    def cross_omega(self, target: LineTarget, return_gradient: Literal[False] = False) -> float: ...
    @overload
    def cross_omega(self, target: LineTarget, return_gradient: Literal[True]) -> tuple[float, dict[str, float]]: ...
    def cross_omega(self, target: LineTarget, return_gradient: bool = False) -> float | tuple[float, dict[str, float]]:
        """The cross-Omega loss Omega*(f) - E_q[f], finite also for samples; arguments as of `fenchel_young`.

        Its minimum over the parameters is where the moments of prediction and target are the same. For alpha = 1 it is
        the mean of -logpdf.

        Examples
        --------
        >>> from fenchel import BetaGaussian
        >>> value, gradient = BetaGaussian(2).cross_omega([0.5, 1.5], return_gradient=True)
        >>> gradient["mu"]
        -1.0
        """
        return self._loss("cross_omega", target, return_gradient)

    def fenchel_young_hessian(self, target: LineTarget | None = None) -> Any:
        """The second derivative of both losses: in the canonical parameters of the score, or, for a target, in all.

        Without a target it is the generalized covariance of order 2 - alpha of the functions that the canonical
        parameters multiply: see `beta_covariance`. It is the same for every target, a number where there is one such
        parameter, else a matrix. `TruncatedGaussian`, `LocationScale` and the families of gamma have it for a target: a
        matrix in the parameters, in the order of the gradient.

        >>> from fenchel import BetaGaussian, CappedParabola
        >>> BetaGaussian(1, mu=0, sigma2=2).fenchel_young_hessian()
        array([[2., 0.],
               [0., 8.]])
        >>> CappedParabola(1, mu=0, sigma2=2).fenchel_young_hessian([0.5, 1.5]).shape
        (3, 3)
        """
        if target is None:
            return super().fenchel_young_hessian()
        if not hasattr(self._core, "fenchel_young_hessian_at"):
            raise TypeError(f"fenchel_young_hessian: that of {type(self).__name__} is without a target")
        return np.array(self._core.fenchel_young_hessian_at(line_target(target)))

    def _loss(self, name: str, target: LineTarget, return_gradient: bool) -> float | tuple[float, dict[str, float]]:
        value, gradient = self._core_loss(name, line_target(target))
        return (float(value), gradient) if return_gradient else float(value)

    def _core_loss(self, name: str, target: Any) -> tuple[float, dict[str, float]]:
        loss: tuple[float, dict[str, float]] = getattr(self._core, name)(target)
        return loss


class Target(LineDistribution):
    """A density that is the prediction of no score: a target of losses, which has none itself."""

    __slots__ = ()

    def _core_loss(self, name: str, target: Any) -> tuple[float, dict[str, float]]:
        raise TypeError(f"{name}: {type(self).__name__} is no prediction of a score, only a target of losses")

    def _of_score(self, name: str) -> NoReturn:
        raise TypeError(f"{name}: {type(self).__name__} is no prediction of a score")


class EscortDensity(Target):
    """The density proportional to that of another distribution to a power: what `escort` gives.

    Examples
    --------
    >>> import fenchel
    >>> p = fenchel.TruncatedGaussian(2)
    >>> p.escort(0.5)
    EscortDensity(of=TruncatedGaussian(kappa=2.0, mu=0.0, sigma2=1.0), order=0.5)
    >>> round(p.var(), 4), round(p.escort(0.5).var(), 4)
    (0.4069, 0.5444)
    """

    __slots__ = ("_of_which", "_power")
    _parameters = ("of", "order")

    def __init__(self, of: LineDistribution, order: float) -> None:
        if not isinstance(of, LineDistribution):
            raise TypeError(f"EscortDensity: of must be a distribution on the line, got {shown(of)}")
        self._of_which = of
        (self._power,) = reals(order=order)
        self._core = of._core.escort(self._power)

    @property
    def of(self) -> LineDistribution:
        """The distribution that this is an escort of."""
        return self._of_which

    @property
    def order(self) -> float:
        """The power."""
        return self._power


LineTarget = LineDistribution | npt.ArrayLike


def line_target(target: LineTarget) -> Any:
    """The target of a loss on the line for C++: a distribution, the numbers of a sample, or one number."""
    if isinstance(target, LineDistribution):
        return target._density
    values = doubles("target", target)
    if values.size == 0:
        raise ValueError("target must not be empty")
    if not np.isfinite(values).all():
        raise ValueError(f"target must be finite numbers, got {values[~np.isfinite(values)][0]}")
    return values if values.ndim else float(values)
