"""Distances between beta-Gaussians of one alpha, and paths from one to another."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import FloatArray, doubles, points, reals
from ._line import BetaGaussian
from ._space import MultivariateBetaGaussian
from ._value import Parameter, Value

Member = TypeVar("Member", BetaGaussian, MultivariateBetaGaussian)


class AffineMap(NamedTuple):
    """The map x -> slope x + shift of the line, over arrays.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.AffineMap(slope=2.0, shift=1.0)([0.0, 1.0])
    array([1., 3.])
    """

    slope: float
    shift: float

    def __call__(self, x: npt.ArrayLike) -> Any:
        return self.slope * doubles("x", x) + self.shift


class MultivariateAffineMap(NamedTuple):
    """The map x -> matrix x + shift, over arrays of points of shape (..., N).

    Examples
    --------
    >>> import fenchel
    >>> import numpy as np
    >>> fenchel.MultivariateAffineMap(2 * np.eye(2), np.ones(2))([[0.0, 0.0], [1.0, 2.0]])
    array([[1., 1.],
           [3., 5.]])
    """

    matrix: FloatArray
    shift: FloatArray

    def __call__(self, x: npt.ArrayLike) -> FloatArray:
        return np.asarray(points("x", x, len(self.shift)) @ self.matrix.T + self.shift)


def _cores(p: Any, q: Any, *families: type[BetaGaussian | MultivariateBetaGaussian]) -> tuple[Any, Any]:
    for family in families:
        if isinstance(p, family) and isinstance(q, family):
            return p._core, q._core
    names = " or of ".join(family.__name__ for family in families)
    raise TypeError(f"p and q must both be of {names}, got {type(p).__name__} and {type(q).__name__}")


def _fraction(t: float) -> float:
    (fraction,) = reals(t=t)
    if not 0 <= fraction <= 1:
        raise ValueError(f"t must be in [0, 1], got {t}")
    return fraction


def wasserstein2(p: Member, q: Member) -> float:
    """The Wasserstein distance W2 of two beta-Gaussians of the same alpha.

    Parameters
    ----------
    p, q : BetaGaussian or MultivariateBetaGaussian
        With a finite variance; the Sigma of p must not be singular.

    Examples
    --------
    >>> from fenchel import BetaGaussian, wasserstein2
    >>> wasserstein2(BetaGaussian(1, mu=0, sigma2=1), BetaGaussian(1, mu=3, sigma2=25))
    5.0
    """
    return float(_core.wasserstein2(*_cores(p, q, BetaGaussian, MultivariateBetaGaussian)))


def optimal_map(p: Member, q: Member) -> AffineMap | MultivariateAffineMap:
    """The map T for which T(X) has distribution q where X has p, at the cost E|T(X) - X|^2 = W2^2.

    Examples
    --------
    >>> from fenchel import BetaGaussian, optimal_map
    >>> carry = optimal_map(BetaGaussian(1, mu=0, sigma2=1), BetaGaussian(1, mu=3, sigma2=25))
    >>> carry
    AffineMap(slope=5.0, shift=3.0)
    >>> carry([0, 1])
    array([3., 8.])
    """
    scale, shift = _core.optimal_map(*_cores(p, q, BetaGaussian, MultivariateBetaGaussian))
    return AffineMap(scale, shift) if isinstance(p, BetaGaussian) else MultivariateAffineMap(scale, shift)


def wasserstein_geodesic(p: Member, q: Member, t: float) -> Member:
    """The distribution at the fraction t in [0, 1] of the way from p to q, each point moved along the optimal map.

    Examples
    --------
    >>> from fenchel import BetaGaussian, wasserstein_geodesic
    >>> middle = wasserstein_geodesic(BetaGaussian(1, mu=0, sigma2=1), BetaGaussian(1, mu=3, sigma2=25), 0.5)
    >>> middle.mu, round(middle.sigma2, 4)
    (1.5, 9.0)
    """
    cores, fraction = _cores(p, q, BetaGaussian, MultivariateBetaGaussian), _fraction(t)
    family = BetaGaussian if isinstance(p, BetaGaussian) else MultivariateBetaGaussian
    return family._of(_core.wasserstein_geodesic(*cores, fraction))


def _metric_cores(p: BetaGaussian, q: BetaGaussian) -> tuple[Any, Any]:
    cores = _cores(p, q, BetaGaussian)
    if p.alpha != q.alpha:
        raise ValueError(f"alpha must be the same for both, got {p.alpha} and {q.alpha}")
    return cores


def geodesic(p: BetaGaussian, q: BetaGaussian, t: float) -> BetaGaussian:
    """The distribution at the fraction t in [0, 1] of the length of the shortest path from p to q.

    The metric is that of the Fenchel-Young loss: near p the loss is half the squared distance to p. It is Fisher's for
    alpha = 1. Alpha must be the same for both, above 1/3 and finite.

    Examples
    --------
    >>> from fenchel import BetaGaussian, geodesic
    >>> middle = geodesic(BetaGaussian(2, mu=0), BetaGaussian(2, mu=4), 0.5)
    >>> round(middle.mu, 4), round(middle.sigma2, 4)
    (2.0, 30.3186)
    """
    cores, fraction = _metric_cores(p, q), _fraction(t)
    between = BetaGaussian._of(_core.geodesic(*cores, fraction))
    return p if fraction == 0 else q if fraction == 1 else between


def geodesic_distance(p: BetaGaussian, q: BetaGaussian) -> float:
    """The length of the shortest path from p to q in the metric of the Fenchel-Young loss, as `geodesic` has it.

    Examples
    --------
    >>> from fenchel import BetaGaussian, geodesic_distance
    >>> round(geodesic_distance(BetaGaussian(1, sigma2=1), BetaGaussian(1, sigma2=4)) ** 2 / 2, 4)
    0.4805
    """
    return float(_core.geodesic_distance(*_metric_cores(p, q)))


class FenchelYoungMetric(Value):
    """The metric of the Fenchel-Young loss on the beta-Gaussians of one alpha: Fisher's for alpha = 1.

    It is dmu^2 / sigma^2 + constant * sigma^(2 e - 4) dsigma^2 with e = 2 / (alpha + 1) and sigma^2 = sigma2. `geodesic`
    and `geodesic_distance` are its shortest paths.

    Parameters
    ----------
    alpha : float
        Above 1/3 and finite.

    Examples
    --------
    >>> from fenchel import FenchelYoungMetric
    >>> metric = FenchelYoungMetric(1)
    >>> metric.tensor(2.0), metric.curvature(2.0)
    (array([0.25, 0.5 ]), -0.5)
    """

    __slots__ = ()
    _parameters = ("alpha",)

    alpha = Parameter("The order of the family.")
    constant = Parameter("The constant of the metric: 2 for alpha = 1.")

    def __init__(self, alpha: float = 2.0) -> None:
        self._core = _core.FenchelYoungMetric(*reals(alpha=alpha))

    def tensor(self, sigma: float) -> FloatArray:
        """The diagonal of the metric in (mu, sigma); NaN unless sigma is positive."""
        return np.array(self._core.tensor(*reals(sigma=sigma)))

    def curvature(self, sigma: float) -> float:
        """The Gaussian curvature: negative, and constant for alpha = 1 only."""
        return float(self._core.curvature(*reals(sigma=sigma)))

    def vertical_distance(self, sigma_a: float, sigma_b: float) -> float:
        """The distance of two members with the same mu; to sigma = 0 it is inf for alpha >= 1."""
        return float(self._core.vertical_distance(*reals(sigma_a=sigma_a, sigma_b=sigma_b)))

    def geodesic_of_diracs(self, a: float, b: float, t: float) -> BetaGaussian:
        """The member at t in (0, 1) on the limit of shortest paths between two observations a and b.

        t is the fraction of the length, or, where that is infinite, for alpha >= 1, of the angle from 0 to pi.
        """
        return BetaGaussian._of(self._core.geodesic_of_diracs(*reals(a=a, b=b), _fraction(t)))
