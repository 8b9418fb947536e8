"""Mixtures of beta-Gaussians: densities with several modes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import (
    FloatArray,
    RandomState,
    Size,
    doubles,
    integer,
    points,
    reals,
    seed_from,
    shape_from,
    shown,
    vector,
)
from ._basis import positions as centres
from ._distribution import Distribution, Target
from ._line import BetaGaussian
from ._space import MultivariateBetaGaussian


def _made(family: Any, core: Any, weights: npt.ArrayLike, components: Any) -> Any:
    """A mixture in C++."""
    parts = list(components)
    for part in parts:
        if not isinstance(part, family):
            raise TypeError(f"components must be of {family.__name__}, got {shown(part)}")
    return core(vector("weights", weights).tolist(), [part._core for part in parts])


class Mixture(Target):
    """The mixture sum_k weights[k] components[k] of beta-Gaussians on the line.

    Its support is the union of theirs, which may have gaps: see `pieces`.

    Parameters
    ----------
    weights : array_like, shape (K,)
        Not negative, of sum 1.
    components : sequence of BetaGaussian

    Examples
    --------
    >>> from fenchel import BetaGaussian, Mixture
    >>> p = Mixture([0.25, 0.75], [BetaGaussian(2, mu=-2), BetaGaussian(2, mu=2)])
    >>> p.mean()
    1.0
    >>> [(round(a, 3), round(b, 3)) for a, b in p.pieces()]
    [(-3.145, -0.855), (0.855, 3.145)]
    """

    __slots__ = ()
    _parameters = ("weights", "components")

    def __init__(self, weights: npt.ArrayLike, components: Sequence[BetaGaussian]) -> None:
        self._core = _made(BetaGaussian, _core.Mixture, weights, components)

    @property
    def weights(self) -> tuple[float, ...]:
        """Of the components."""
        return tuple(self._core.weights().tolist())

    @property
    def _density(self) -> Any:
        return _core.AnyDensity(self._core)

    @property
    def components(self) -> tuple[BetaGaussian, ...]:
        """The densities that are mixed."""
        return tuple(BetaGaussian._of(core) for core in self._core.components())


class MultivariateMixture(Distribution):
    """The mixture sum_k weights[k] components[k] of beta-Gaussians on R^N.

    Parameters
    ----------
    weights : array_like, shape (K,)
        Not negative, of sum 1.
    components : sequence of MultivariateBetaGaussian
        Of one dimension, none of them singular.

    Examples
    --------
    >>> from fenchel import MultivariateBetaGaussian, MultivariateMixture
    >>> parts = [MultivariateBetaGaussian(2, [x, 0], [1, 1]) for x in (-2, 2)]
    >>> MultivariateMixture([0.5, 0.5], parts).cov().round(4)
    array([[4.1881, 0.    ],
           [0.    , 0.1881]])
    """

    __slots__ = ()
    _parameters = ("weights", "components")

    def __init__(self, weights: npt.ArrayLike, components: Sequence[MultivariateBetaGaussian]) -> None:
        self._core = _made(MultivariateBetaGaussian, _core.MultivariateMixture, weights, components)

    @property
    def weights(self) -> tuple[float, ...]:
        """Of the components."""
        return tuple(self._core.weights().tolist())

    @property
    def components(self) -> tuple[MultivariateBetaGaussian, ...]:
        """The densities that are mixed."""
        return tuple(MultivariateBetaGaussian._of(core) for core in self._core.components())

    @property
    def dimension(self) -> int:
        """N."""
        return len(self.mean())

    def pdf(self, x: npt.ArrayLike) -> Any:
        """The density at points of shape (..., N): 0 outside of the support."""
        return self._core.pdf(points("x", x, self.dimension))[()]

    def logpdf(self, x: npt.ArrayLike) -> Any:
        """The logarithm of the density at points of shape (..., N): -inf outside of the support."""
        return self._core.log_pdf(points("x", x, self.dimension))[()]

    def rvs(self, size: Size = None, random_state: RandomState = None) -> FloatArray:
        """Draws, an array of shape size + (N,), as of `MultivariateBetaGaussian`."""
        shape = shape_from(size)
        draws: FloatArray = self._core.sample(math.prod(shape), seed_from(random_state)).T
        return draws.reshape(*shape, self.dimension)

    def mean(self) -> FloatArray:
        """The expected value."""
        return np.array(self._core.mean())

    def cov(self) -> FloatArray:
        """The covariance matrix; inf where there is none."""
        return np.array(self._core.covariance())


class MixtureFit(NamedTuple):
    """What `fit_mixture` gives.

    Examples
    --------
    >>> from fenchel import fit_mixture
    >>> found = fit_mixture(2, [0.25, 0.5, 0.25], components=1)
    >>> found.converged, found.mixture.weights, round(found.mixture.mean(), 4)
    (True, (1.0,), 0.5)
    """

    mixture: Mixture | MultivariateMixture
    """It may have fewer components than asked for: empty ones are left out."""
    log_likelihood: float
    """sum_l w_l log q(x_l) of the mixture of Gaussians q that EM found, the weights made to add up to one."""
    objective: float
    """What EM raised: log_likelihood, and a bound below it for sparse responsibilities."""
    iterations: int
    converged: bool
    criterion: float


def fit_mixture(
    alpha: float,
    weights: npt.ArrayLike,
    positions: npt.ArrayLike | None = None,
    components: int = 2,
    *,
    choose: bool = False,
    criterion: Literal["bic", "aic"] = "bic",
    observations: float | None = None,
    floor: float | None = None,
    tolerance: float = 1e-9,
    max_iterations: int = 1000,
    responsibilities: float = 1.0,
) -> MixtureFit:
    """From weights over positions, as discrete attention has them, to a density with several modes.

    A mixture of Gaussians is fitted by EM, from a deterministic start, and each component replaced by the beta-Gaussian
    of the same mean and covariance. One component is `match_weights` with its own floor.

    Parameters
    ----------
    alpha : float
        The order of the densities, above D / (D + 2).
    weights : array_like, shape (L,)
        Not negative; they are divided by their sum.
    positions : array_like, shape (L,) or (L, D), optional
        The centres of L equal cells of [0, 1] unless said.
    components : int
        How many; with `choose` from 1 to so many, whichever the criterion is least for.
    criterion : {'bic', 'aic'}
        -2 n log_likelihood + parameters * (log n, or 2), n the observations.
    observations : float, optional
        How many observations the weights stand for: the positions of positive weight unless said.
    floor : float, optional
        The least variance of a component in any direction: 1e-6 times the mean variance of the points unless said.
    tolerance : float
        EM ends where an iteration adds no more to the objective.
    max_iterations : int
        The most iterations.
    responsibilities : float
        The order of the responsibilities, at least 1: those of a point are `entmax` of its log densities. 1 is EM. Above
        it a point whose component leads by 1 / (responsibilities - 1) is that component's alone, and moves no other one.

    Returns
    -------
    MixtureFit
        With a `Mixture`, or a `MultivariateMixture` for positions of shape (L, D).

    Examples
    --------
    >>> from fenchel import fit_mixture
    >>> found = fit_mixture(2, [0.2, 0.3, 0.0, 0.0, 0.0, 0.2, 0.3])
    >>> sorted((round(p.mu, 3), round(weight, 3)) for p, weight in zip(found.mixture.components, found.mixture.weights))
    [(0.157, 0.5), (0.871, 0.5)]
    """
    if criterion not in ("bic", "aic"):
        raise ValueError(f"fit_mixture: criterion must be 'bic' or 'aic', got {shown(criterion)}")
    share = vector("weights", weights)
    at = centres(max(len(share), 1)) if positions is None else doubles("positions", positions)
    if at.ndim not in (1, 2):
        raise ValueError(f"fit_mixture: positions must have shape (L,) or (L, D), got {at.shape}")
    given = {"observations": observations, "floor": floor}
    optional = [None if x is None else reals(**{name: x})[0] for name, x in given.items()]
    run: Any = _core.fit_mixture if at.ndim == 1 else _core.fit_multivariate_mixture
    core, *rest = run(
        reals(alpha=alpha)[0],
        at,
        share,
        integer("components", components),
        bool(choose),
        criterion == "aic",
        *optional,
        reals(tolerance=tolerance)[0],
        integer("max_iterations", max_iterations),
        reals(responsibilities=responsibilities)[0],
    )
    return MixtureFit(Mixture._of(core) if at.ndim == 1 else MultivariateMixture._of(core), *rest)
