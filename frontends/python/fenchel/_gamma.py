"""Distributions on the line whose regularizer, of strength gamma, is the total variation or the roughness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from . import _core
from ._arrays import reals
from ._distribution import LineDistribution
from ._value import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self


class _GammaFamily(LineDistribution):
    __slots__ = ()
    _tsallis = 2.0
    _family: ClassVar[Any]
    """The class in C++."""

    gamma = Parameter("The strength of the regularizer.")
    mu = Parameter("The centre: mean, median and mode.")

    @classmethod
    def from_variance(cls, gamma: float, mu: float, variance: float) -> Self:
        """The member with this variance."""
        return cls._of(cls._family.from_variance(*reals(gamma=gamma, mu=mu, variance=variance)))


class _TriangularFamily(_GammaFamily):
    __slots__ = ()
    _parameters = ("gamma", "mu", "b")

    b = Parameter("The scale of the score -|t - mu| / b.")

    def __init__(self, gamma: float = 1.0, mu: float = 0.0, b: float = 1.0) -> None:
        self._core = self._family(*reals(gamma=gamma, mu=mu, b=b))

    @classmethod
    def from_mean_deviation(cls, gamma: float, mu: float, deviation: float) -> Self:
        """The member with this E|X - mu|."""
        return cls._of(cls._family.from_mean_deviation(*reals(gamma=gamma, mu=mu, deviation=deviation)))


class _ParabolaFamily(_GammaFamily):
    __slots__ = ()
    _parameters = ("gamma", "mu", "sigma2")

    sigma2 = Parameter("The scale of the score -(t - mu)^2 / (2 sigma2).")

    def __init__(self, gamma: float = 1.0, mu: float = 0.0, sigma2: float = 1.0) -> None:
        self._core = self._family(*reals(gamma=gamma, mu=mu, sigma2=sigma2))


class CappedTriangular(_TriangularFamily):
    """A triangular density with its top cut off: the prediction for -|t - mu| / b where total variation counts.

    The regularizer is (int p^2 - 1) / 2 + gamma int |p'|. gamma = 0 gives `Triangular`, a large one is nearly uniform.

    Parameters
    ----------
    gamma : float
        The weight of the total variation, not negative.
    mu : float
        The centre: mean, median and mode.
    b : float
        The scale of the score, positive.

    Examples
    --------
    >>> from fenchel import CappedTriangular
    >>> CappedTriangular(gamma=1.5).pdf([0, 1.5, 2.5]).round(4)
    array([0.2679, 0.2679, 0.    ])
    """

    __slots__ = ()
    _family = _core.CappedTriangular


class CappedParabola(_ParabolaFamily):
    """A parabola with its top cut off: the prediction for -(t - mu)^2 / (2 sigma2) where total variation counts.

    The regularizer is (int p^2 - 1) / 2 + gamma int |p'|. gamma = 0 gives `BetaGaussian` of alpha 2, a large one is
    nearly uniform.

    Parameters
    ----------
    gamma : float
        The weight of the total variation, not negative.
    mu : float
        The centre: mean, median and mode.
    sigma2 : float
        The scale of the score, positive.

    Examples
    --------
    >>> from fenchel import CappedParabola
    >>> [round(end, 4) for end in CappedParabola().support()]
    [-1.651, 1.651]
    """

    __slots__ = ()
    _family = _core.CappedParabola


class SmoothTriangular(_TriangularFamily):
    """A triangular density without corners: the prediction for -|t - mu| / b where roughness counts.

    The regularizer is (int p^2 - 1) / 2 + (gamma / 2) int p'^2, of Sobolev. gamma = 0 gives `Triangular`.

    Parameters
    ----------
    gamma : float
        The weight of the roughness, not negative.
    mu : float
        The centre: mean, median and mode.
    b : float
        The scale of the score, positive.

    Examples
    --------
    >>> from fenchel import SmoothTriangular
    >>> [round(end, 4) for end in SmoothTriangular().support()]
    [-2.0279, 2.0279]
    """

    __slots__ = ()
    _family = _core.SmoothTriangular


class SmoothParabola(_ParabolaFamily):
    """A parabola with smooth ends: the prediction for -(t - mu)^2 / (2 sigma2) where roughness counts.

    The regularizer is (int p^2 - 1) / 2 + (gamma / 2) int p'^2, of Sobolev. gamma = 0 gives `BetaGaussian` of alpha 2,
    a large one is nearly a biweight.

    Parameters
    ----------
    gamma : float
        The weight of the roughness, not negative.
    mu : float
        The centre: mean, median and mode.
    sigma2 : float
        The scale of the score, positive.

    Examples
    --------
    >>> from fenchel import SmoothParabola
    >>> [round(end, 4) for end in SmoothParabola().support()]
    [-1.9847, 1.9847]
    """

    __slots__ = ()
    _family = _core.SmoothParabola
