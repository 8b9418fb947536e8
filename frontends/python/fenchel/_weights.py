"""From weights over positions, as discrete attention has them, to a density."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import doubles, reals
from ._densities import Densities, RowBatch, common_type, contiguous, kernels, per_row
from ._line import BetaGaussian
from ._ridge import checked_lengths
from ._rows import Array, real_array
from ._space import MultivariateBetaGaussian


class _Weights(RowBatch):
    """A batch of weights and where they lie, as C++ takes them."""

    def __init__(
        self,
        where: str,
        alpha: npt.ArrayLike,
        weights: npt.ArrayLike,
        positions: npt.ArrayLike | None,
        floor: float | None,
        lengths: npt.ArrayLike | None,
    ) -> None:
        self.where = where
        array = real_array(where, "weights", weights)
        if array.ndim == 0 or array.shape[-1] == 0:
            raise ValueError(f"{where}: weights must have shape (..., L) with L > 0, got {array.shape}")
        self.shape = array.shape[:-1]
        self.dtype = common_type(array)
        self.weights = contiguous(array, self.dtype).reshape(self.rows, array.shape[-1])
        points = None if positions is None else doubles("positions", positions)
        if points is not None and (points.ndim not in (1, 2) or len(points) != array.shape[-1]):
            raise ValueError(
                f"{where}: positions must have shape ({array.shape[-1]},) or ({array.shape[-1]}, D), got {points.shape}"
            )
        self.point = () if points is None else points.shape[1:]
        orders = doubles("alpha", alpha)
        try:
            order = per_row(orders, self.shape)
        except ValueError:
            raise ValueError(f"{where}: alpha must be a number or of shape {self.shape}, got {orders.shape}") from None
        self.arguments = (
            order,
            self.weights,
            None if points is None else points.reshape(len(points), -1),
            np.empty(0, np.int64) if lengths is None else checked_lengths(where, lengths, self.shape),
            None if floor is None else reals(floor=floor)[0],
        )


def match_weights(
    alpha: npt.ArrayLike,
    weights: npt.ArrayLike,
    positions: npt.ArrayLike | None = None,
    floor: float | None = None,
    lengths: npt.ArrayLike | None = None,
) -> Any:
    """The beta-Gaussian that has the mean of weights over positions, and their covariance plus a floor.

    Parameters
    ----------
    alpha : array_like, shape (...)
        The order of the density, above D / (D + 2) and finite: one for all, or one for each row.
    weights : array_like, shape (L,) or (..., L)
        Not negative, of sum 1 along the last axis.
    positions : array_like, shape (L,) or (L, D), optional
        The centres of L equal cells of [0, 1] unless said.
    floor : float, optional
        Added to the variance, so that the density never collapses to a point: that of one cell of the unit cube,
        L^(-2/D) / 12, unless said.
    lengths : array_like of int, shape (...), optional
        How many of a row's weights count; the others are not read.

    Returns
    -------
    BetaGaussian, MultivariateBetaGaussian or Densities
        Of one row a distribution, on the line or on R^D, of several rows `Densities`.

    Examples
    --------
    >>> from fenchel import match_weights
    >>> p = match_weights(2, [0.0, 0.5, 0.5, 0.0])
    >>> p.mean(), round(p.var(), 6)
    (0.5, 0.020833)
    >>> p = match_weights(1, [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    >>> p.mu.round(4), p.Sigma.round(4)
    (array([0.3333, 0.6667]), array([0.037, 0.037]))
    """
    array = real_array("match_weights", "weights", weights)
    one = array.ndim == 1
    w = _Weights("match_weights", alpha, doubles("weights", array) if one else array, positions, floor, lengths)
    size = math.prod(w.point)
    mu, scale = np.empty((w.rows, size), w.dtype), np.empty((w.rows, size * size), w.dtype)
    kernels.match_weights_rows(*w.arguments, mu, scale)
    mu, scale = mu.reshape(w.shape + w.point), scale.reshape(w.shape + w.point * 2)
    if not one:
        return Densities(alpha, mu, scale)
    (order,) = reals(alpha=alpha)
    return MultivariateBetaGaussian(order, mu, scale) if w.point else BetaGaussian(order, float(mu), float(scale))


def match_weights_vjp(
    alpha: npt.ArrayLike,
    weights: npt.ArrayLike,
    cotangent: Mapping[str, npt.ArrayLike],
    positions: npt.ArrayLike | None = None,
    floor: float | None = None,
    lengths: npt.ArrayLike | None = None,
) -> dict[str, Array]:
    """From a gradient in "alpha", "mu" and "Sigma", as `attend_vjp` of Densities gives it, that in "weights", "alpha".

    Weights are divided by their sum, so that the gradient is that along weights of sum 1. A parameter that is not in
    the cotangent counts for nothing. Other parameters are as in `match_weights`.

    Examples
    --------
    >>> from fenchel import match_weights_vjp
    >>> gradient = match_weights_vjp(1, [[0.5, 0.5, 0.0]], {"mu": [1.0]})
    >>> gradient["weights"].round(4)
    array([[-0.1667,  0.1667,  0.5   ]])
    """
    w = _Weights("match_weights_vjp", alpha, weights, positions, floor, lengths)
    given = w.flat_parameters("cotangent", cotangent)
    by_weights, by_alpha = np.empty_like(w.weights), np.empty(w.rows, w.dtype)
    kernels.match_weights_rows_vjp(*w.arguments, *given, by_weights, by_alpha)
    return {"weights": by_weights.reshape(np.shape(weights)), "alpha": by_alpha.reshape(w.shape)}
