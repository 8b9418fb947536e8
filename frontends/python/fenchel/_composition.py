"""From scores over positions to a context: discrete attention, continuous attention, and their sum."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import FloatArray, matrix, reals, shown, vector
from ._basis import GaussianBasis, MultivariateGaussianBasis
from ._densities import kernels
from ._ridge import RidgeRegression

Kind = Literal["discrete", "continuous", "both"]

_KINDS = {
    "discrete": _core.AttentionKind.discrete,
    "continuous": _core.AttentionKind.continuous,
    "both": _core.AttentionKind.both,
}


def _arguments(
    where: str, scores: npt.ArrayLike, values: npt.ArrayLike, regression: RidgeRegression, kind: Kind,
    alpha: float, weights_alpha: float, floor: float | None,
) -> tuple[Any, ...]:
    """As C++ takes them."""
    if kind not in _KINDS:
        raise ValueError(f"{where}: kind must be 'discrete', 'continuous' or 'both', got {shown(kind)}")
    if not isinstance(regression, RidgeRegression):
        raise TypeError(f"{where}: regression must be a RidgeRegression, got {shown(regression)}")
    if not isinstance(regression.basis, (GaussianBasis, MultivariateGaussianBasis)):
        raise TypeError(f"{where}: the basis of regression must be of Gaussians, got {shown(regression.basis)}")
    points = regression.positions.reshape(len(regression.positions), -1).T
    least = None if floor is None else reals(floor=floor)[0]
    system = regression.basis._core, points, regression._system
    numbers = reals(weights_alpha=weights_alpha, alpha=alpha)
    return (_KINDS[kind], *numbers, least, *system, vector("scores", scores), matrix("values", values))


def compose(
    scores: npt.ArrayLike, values: npt.ArrayLike, regression: RidgeRegression, kind: Kind = "both", *,
    alpha: float = 2.0, weights_alpha: float = 1.0, floor: float | None = None,
) -> FloatArray:
    """The context that attention makes of scores over the positions of a regression and the values there.

    Parameters
    ----------
    scores : array_like, shape (L,)
        The weights are entmax(scores, weights_alpha). -inf masks its position.
    values : array_like, shape (M, L)
        H: the last axis runs over positions.
    regression : RidgeRegression
        Of a basis of Gaussians at the L positions.
    kind : {'discrete', 'continuous', 'both'}
        The mean of the values under the weights; that of the ridge regression of the values under the density
        match_weights(alpha, weights, positions, floor); or the sum of both.
    alpha : float
        The order of the density.
    weights_alpha : float
        The order of the weights: 1 is softmax.
    floor : float, optional
        Added to the variance of the density, as in `match_weights`.

    Returns
    -------
    ndarray, shape (M,)

    Examples
    --------
    >>> from fenchel import GaussianBasis, RidgeRegression, compose
    >>> regression = RidgeRegression(GaussianBasis.linearly_spaced(8, sigma=0.2), 4, ridge=0.01)
    >>> values = [[0.0, 1.0, 2.0, 3.0]]
    >>> [round(float(compose([0.0, 1.0, 2.0, 1.0], values, regression, kind)[0]), 3)
    ...  for kind in ("discrete", "continuous", "both")]
    [1.855, 1.831, 3.686]
    """
    arguments = _arguments("compose", scores, values, regression, kind, alpha, weights_alpha, floor)
    return np.asarray(kernels.compose(*arguments))


def compose_vjp(
    scores: npt.ArrayLike, values: npt.ArrayLike, regression: RidgeRegression, cotangent: npt.ArrayLike,
    kind: Kind = "both", *, alpha: float = 2.0, weights_alpha: float = 1.0, floor: float | None = None,
) -> dict[str, Any]:
    """The gradient of cotangent . compose(...) in "scores", "values", "weights_alpha", "alpha" and "ridge".

    Parameters are as in `compose`; what does not take part has gradient 0.

    Examples
    --------
    >>> from fenchel import GaussianBasis, RidgeRegression, compose_vjp
    >>> regression = RidgeRegression(GaussianBasis.linearly_spaced(8, sigma=0.2), 2)
    >>> compose_vjp([0.0, 0.0], [[0.0, 1.0]], regression, [1.0], "discrete")["scores"]
    array([-0.25,  0.25])
    """
    arguments = _arguments("compose_vjp", scores, values, regression, kind, alpha, weights_alpha, floor)
    names = "scores", "values", "weights_alpha", "alpha", "ridge"
    return dict(zip(names, kernels.compose_vjp(*arguments, vector("cotangent", cotangent))))
