"""The generalized covariance, of which derivatives of expectations and Hessians of losses are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import doubles, reals, shown, vector
from ._distribution import Distribution, LineDistribution
from ._integers import IntegerDistribution
from ._score import Function, function_list


def beta_covariance(
    p: LineDistribution | IntegerDistribution | npt.ArrayLike,
    beta: float,
    phi: Function | Sequence[Function] | npt.ArrayLike,
    psi: Function | Sequence[Function] | npt.ArrayLike | None = None,
) -> Any:
    """cov_{p,beta}(phi, psi) = int p^beta (phi - E phi)(psi - E psi) over the support of p, E under its escort.

    The escort is that of order beta. For beta = 1 it is the covariance. For the beta = 2 - alpha of a prediction it is
    the derivative of E_p[psi] in the parameters that phi multiplies in the score, and with psi = phi the Hessian of the
    Fenchel-Young loss.

    Parameters
    ----------
    p : distribution on the line or the integers, or array_like of shape (n,)
        An array is of probabilities.
    beta : float
        The order, finite.
    phi, psi : callable, sequence of callables, or array_like of shape (n,) or (n, K)
        Functions float -> float; for probabilities their values, a row for each. psi is phi unless given.

    Returns
    -------
    float or ndarray
        A number for one phi and one psi; else an axis for each of them that are several.

    Raises
    ------
    ValueError
        Where the integral does not exist.

    Examples
    --------
    >>> from fenchel import BetaGaussian, beta_covariance
    >>> round(beta_covariance(BetaGaussian(1, sigma2=4), 1, lambda t: t), 6)
    4.0
    >>> beta_covariance(BetaGaussian(2), 0, [lambda t: t, lambda t: t**2]).round(4)
    array([[1.    , 0.    ],
           [0.    , 0.3494]])
    >>> beta_covariance([0.5, 0.5, 0.0], 1, [1.0, 3.0, 7.0])
    1.0
    """
    (order,) = reals(beta=beta)
    other = phi if psi is None else psi
    if isinstance(p, Distribution):
        if not isinstance(p, (LineDistribution, IntegerDistribution)):
            raise TypeError(f"beta_covariance: p must be on the line or the integers, got {shown(p)}")
        core = p._core.table if isinstance(p, IntegerDistribution) else p._density
        rows, columns = function_list("phi", phi), function_list("psi", other)
        return _shaped(_core.beta_covariance(core, order, rows, columns), callable(phi), callable(other))
    probabilities = vector("p", p)
    first, second = _values("phi", phi, len(probabilities)), _values("psi", other, len(probabilities))
    result = _core.beta_covariance(probabilities, order, first, second)
    return _shaped(result, np.ndim(phi) == 1, np.ndim(other) == 1)  # type: ignore[arg-type]


def _values(name: str, x: Any, atoms: int) -> npt.NDArray[np.float64]:
    array = doubles(name, x)
    if array.ndim not in (1, 2) or len(array) != atoms:
        raise ValueError(f"{name} must have shape ({atoms},) or ({atoms}, K), as p has, got {array.shape}")
    return array.reshape(atoms, -1)


def _shaped(result: Any, one_row: bool, one_column: bool) -> Any:
    shaped = result[:, 0] if one_column else result
    found = shaped[0] if one_row else shaped
    return float(found) if np.ndim(found) == 0 else found
