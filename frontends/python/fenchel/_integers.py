"""Distributions on the integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import RandomState, Size, doubles, elementwise, integer, reals
from ._distribution import NumericDistribution
from ._score import Prediction
from ._value import Parameter


class IntegerDistribution(NumericDistribution):
    """A distribution of integers.

    Methods over arrays take any numbers: what is not an integer has probability 0, and cdf(2.7) is cdf(2).
    """

    __slots__ = ()

    def pmf(self, k: npt.ArrayLike) -> Any:
        """The probability of k: 0 outside of the support."""
        return elementwise("k", self._core.pmf, k)

    def logpmf(self, k: npt.ArrayLike) -> Any:
        """The logarithm of the probability of k: -inf outside of the support."""
        return elementwise("k", self._core.log_pmf, k)

    def rvs(self, size: Size = None, random_state: RandomState = None) -> Any:
        """Draws: one integer, or an int64 array of shape `size`. The seed is as for distributions on the line.

        A draw that is no int64, as those far out in the tails of a small alpha, is the first or the last int64.
        """
        return super().rvs(size, random_state).view(np.int64)  # from C++ they are long long

    def support(self) -> tuple[float, float]:
        """The first and the last integer of positive probability, as int, or an infinity."""
        lower, upper = self._core.support()
        return _integer(lower), _integer(upper)

    def escort(self, order: float) -> IntegerTable:
        """The distribution proportional to the power `order` of the probabilities.

        It is a table: probabilities below e^-700 are 0 in it. That of a distribution with alpha < 1 keeps its tails.
        """
        core = self._core.escort(*reals(order=order))
        return IntegerTable._of(core) if core.has_tails else IntegerTable(core.first, core.probabilities())


def _integer(end: float) -> float:
    return int(end) if end.is_integer() else end


def _target(target: Any) -> Any:
    """What the losses of C++ take: a table, or an array of integers."""
    if isinstance(target, IntegerDistribution):
        return target._core.table
    numbers = doubles("target", target)
    values = np.require(np.where(np.abs(numbers) < 2.0**63, numbers, 0), np.int64, ("C", "ALIGNED"))
    wrong = numbers[values != numbers]
    if wrong.size:
        raise ValueError(f"target must be integers, got {wrong[0]}")
    return values


class IntegerPrediction(IntegerDistribution, Prediction):
    """The prediction of the Tsallis regularizer for a score on the integers.

    The losses are those of its score; a target is a distribution on the integers, an integer or an array of them.
    """

    __slots__ = ()

    def normalizer(self) -> float:
        """A of the probabilities exp_{2-alpha}(f - A)."""
        return float(self._core.normalizer())

    def threshold(self) -> float:
        """The score that a probability is 0 below; -inf for alpha = 1, and for alpha < 1 a pole above all scores."""
        return float(self._core.threshold())

    def fenchel_young(self, target: IntegerDistribution | npt.ArrayLike, return_gradient: bool = False) -> Any:
        """The Fenchel-Young loss against a target: never negative, 0 exactly for this distribution.

        With `return_gradient` a pair: the loss, and a dict of its derivatives.
        """
        loss, gradient = self._core.fenchel_young(_target(target))
        return (loss, gradient) if return_gradient else loss

    def cross_omega(self, target: IntegerDistribution | npt.ArrayLike, return_gradient: bool = False) -> Any:
        """The Fenchel-Young loss without the target's negentropy, Omega*(f) - E_target[f].

        For a sample it is the mean of the Fenchel-Young losses of its members.
        """
        loss, gradient = self._core.cross_omega(_target(target))
        return (loss, gradient) if return_gradient else loss


class SparsePoisson(IntegerPrediction):
    """Counts: Poisson for alpha = 1, on finitely many integers above it, over-dispersed below it.

    It is the prediction of the Tsallis regularizer for the score k log(mu) - log(k!) on 0, 1, 2, ... The gradients of
    its losses are with respect to log_mu, in which they are convex, and alpha.

    Parameters
    ----------
    alpha : float
        Positive; inf is allowed. The mean is finite from 1/2 on, the variance from 2/3 on, and the losses exist above
        1/2.
    mu : float
        Positive; the mean for alpha = 1 only.

    Examples
    --------
    >>> from fenchel import SparsePoisson
    >>> p = SparsePoisson(mu=3)
    >>> p
    SparsePoisson(alpha=2.0, mu=3.0)
    >>> p.support()
    (1, 4)
    >>> p.pmf([0, 3, 3.5, 10]).round(4)
    array([0.    , 0.4233, 0.    , 0.    ])
    >>> p.fenchel_young(p), round(p.fenchel_young(2), 4)
    (0.0, 0.2652)
    >>> heavy = SparsePoisson(0.8, 3)
    >>> round(heavy.mean(), 4), round(heavy.var(), 4)
    (3.5393, 6.4572)
    """

    __slots__ = ()
    _parameters = ("alpha", "mu")

    alpha = Parameter("The order of the regularizer.")
    mu = Parameter("The parameter of the score.")

    def __init__(self, alpha: float = 2.0, mu: float = 1.0) -> None:
        self._core = _core.SparsePoisson(*reals(alpha=alpha, mu=mu))


class SparseIntegerGaussian(IntegerPrediction):
    """Integers about mu: the discrete Gaussian for alpha = 1, finitely many above it, a discrete Student below it.

    It is the prediction of the Tsallis regularizer for the score -(k - mu)^2 / (2 sigma2) on the integers.

    Parameters
    ----------
    alpha : float
        Positive; inf is allowed. The variance is finite, and the losses exist, above 1/3.
    mu : float
        The centre; the mean where it is a multiple of 1/2.
    sigma2 : float
        The scale of the score, positive; not the variance.

    Examples
    --------
    >>> from fenchel import SparseIntegerGaussian
    >>> p = SparseIntegerGaussian(sigma2=4)
    >>> p.support()
    (-1, 1)
    >>> p.pmf([-2, -1, 0, 1, 2]).round(4)
    array([0.    , 0.2917, 0.4167, 0.2917, 0.    ])
    """

    __slots__ = ()
    _parameters = ("alpha", "mu", "sigma2")

    alpha = Parameter("The order of the regularizer.")
    mu = Parameter("The centre.")
    sigma2 = Parameter("The scale of the score.")

    def __init__(self, alpha: float = 2.0, mu: float = 0.0, sigma2: float = 1.0) -> None:
        self._core = _core.SparseIntegerGaussian(*reals(alpha=alpha, mu=mu, sigma2=sigma2))


class IntegerTable(IntegerDistribution):
    """The distribution of integers with given probabilities.

    Parameters
    ----------
    first : int
        The integer that the first probability belongs to.
    probabilities : array_like
        Of first, first + 1, ...; they are divided by their sum.

    Examples
    --------
    >>> from fenchel import IntegerTable
    >>> IntegerTable(1, [1, 1, 2]).mean()
    2.25
    """

    __slots__ = ()
    _parameters = ("first", "probabilities")

    def __init__(self, first: int, probabilities: npt.ArrayLike) -> None:
        start = integer("first", first)
        if abs(start) > 2**53:
            raise ValueError(f"first must be in [-2**53, 2**53], got {start}")
        self._core = _core.IntegerTable(start, doubles("probabilities", probabilities))

    @property
    def first(self) -> int:
        """The first integer of positive probability."""
        return int(self._core.first)

    @property
    def probabilities(self) -> tuple[float, ...]:
        """From the first to the last positive probability."""
        return tuple(self._core.probabilities().tolist())
