"""Regularizers: what it costs to be certain."""

from __future__ import annotations

from typing import ClassVar

from . import _core
from ._arrays import reals
from ._value import Parameter, Value


class Regularizer(Value):
    """A convex function Omega of densities: an immutable value, known by its parameters.

    `predict` maximizes E_p[f] - Omega(p). A temperature is a factor of all of it.
    """

    __slots__ = ()
    _tsallis: ClassVar[float | None] = None
    """The order of its Tsallis part, where it is no parameter."""

    temperature = Parameter("The factor of the regularizer.")


class Tsallis(Regularizer):
    """temperature * Omega_alpha(p), Omega_alpha(p) = (int p^alpha - 1) / (alpha (alpha - 1)); Shannon's for alpha = 1.

    For alpha > 1 predictions are 0 where the score is low; 2 gives sparsemax.

    Parameters
    ----------
    alpha : float
        Positive.
    temperature : float
        Positive.

    Examples
    --------
    >>> from fenchel import Tsallis
    >>> Tsallis()
    Tsallis(alpha=2.0, temperature=1.0)
    """

    __slots__ = ()
    _parameters = ("alpha", "temperature")

    alpha = Parameter("The order.")

    def __init__(self, alpha: float = 2.0, temperature: float = 1.0) -> None:
        self._core = _core.Tsallis(*reals(alpha=alpha, temperature=temperature))


class TotalVariation(Regularizer):
    """temperature * ((int p^2 - 1) / 2 + gamma int |p'|): predictions have plateaus, as those of `fusedmax` have.

    Parameters
    ----------
    gamma : float
        The weight of the total variation, not negative; 0 is Tsallis(2).
    temperature : float
        Positive.

    Examples
    --------
    >>> from fenchel import TotalVariation
    >>> TotalVariation(0.3)
    TotalVariation(gamma=0.3, temperature=1.0)
    """

    __slots__ = ()
    _parameters = ("gamma", "temperature")
    _tsallis = 2.0

    gamma = Parameter("The weight of the total variation.")

    def __init__(self, gamma: float = 1.0, temperature: float = 1.0) -> None:
        self._core = _core.TotalVariation(*reals(gamma=gamma, temperature=temperature))


class Sobolev(Regularizer):
    """temperature * ((int p^2 - 1) / 2 + (gamma / 2) int p'^2): predictions are smooth, as in `smooth_sparsemax`.

    Parameters
    ----------
    gamma : float
        The weight of the roughness, not negative; 0 is Tsallis(2).
    temperature : float
        Positive.

    Examples
    --------
    >>> from fenchel import Sobolev
    >>> Sobolev(gamma=2)
    Sobolev(gamma=2.0, temperature=1.0)
    """

    __slots__ = ()
    _parameters = ("gamma", "temperature")
    _tsallis = 2.0

    gamma = Parameter("The weight of the roughness.")

    def __init__(self, gamma: float = 1.0, temperature: float = 1.0) -> None:
        self._core = _core.Sobolev(*reals(gamma=gamma, temperature=temperature))
