"""Densities on the line that are made of a convex function."""

from __future__ import annotations

from . import _core
from ._arrays import reals, shown
from ._distribution import LineDistribution
from ._score import Function
from ._value import Parameter


class LocationScale(LineDistribution):
    """A bell made of any convex g: the prediction of sparsemax (alpha = 2) for the score -g'(|t - mu| / sigma) / sigma.

    p(t) = (g'(a) - g'(|t - mu| / sigma)) / sigma on mu +- a sigma, and a is where a g'(a) - g(a) + g(0) = 1/2.
    g = t^3 / 6 gives the truncated parabola of sigma2 = sigma^3, g = t^2 / 2 the triangular density of b = sigma^2. The
    methods call g and its derivative, so they hold the GIL and run on one thread; what these raise comes back.

    Parameters
    ----------
    g : callable
        Convex on [0, inf), float -> float.
    slope : callable
        Its derivative, which is 0 at 0 or above.
    mu : float
        The centre: mean, median and mode.
    sigma : float
        The scale, positive.

    Examples
    --------
    >>> import math
    >>> from fenchel import LocationScale
    >>> p = LocationScale(math.cosh, math.sinh, mu=1.0, sigma=2.0)
    >>> [round(end, 4) for end in p.support()]
    [-0.8142, 2.8142]
    >>> p.cdf([1.0, 1.5]).round(4), p.fenchel_young(p)
    (array([0.5   , 0.7278]), 0.0)
    """

    __slots__ = ()
    _parameters = ("g", "slope", "mu", "sigma")
    _tsallis = 2.0

    mu = Parameter("The centre.")
    sigma = Parameter("The scale.")

    def __init__(self, g: Function, slope: Function, mu: float = 0.0, sigma: float = 1.0) -> None:
        for name, f in (("g", g), ("slope", slope)):
            if not callable(f):
                raise TypeError(f"{name} must be callable, got {shown(f)}")
        self._core = _core.LocationScale(g, slope, *reals(mu=mu, sigma=sigma))

    @property
    def g(self) -> Function:
        """The convex function."""
        g: Function = self._core.g
        return g

    @property
    def slope(self) -> Function:
        """Its derivative."""
        slope: Function = self._core.slope
        return slope
