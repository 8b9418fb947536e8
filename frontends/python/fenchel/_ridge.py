"""Value functions from observations, by ridge regression."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import FloatArray, doubles, reals, shown
from ._attention import attend, check_basis
from ._basis import Basis
from ._basis import positions as centres
from ._densities import Densities, Shape, common_type, contiguous, kernels
from ._distribution import Distribution
from ._rows import Array, integer_array, real_array


def checked_lengths(where: str, lengths: npt.ArrayLike, shape: Shape) -> Array:
    """How many columns of each sequence count, as C++ takes them."""
    counts = integer_array(where, "lengths", lengths)
    if counts.shape != shape:
        raise ValueError(f"{where}: lengths must have shape {shape}, got {counts.shape}")
    return np.ascontiguousarray(counts).reshape(-1)


class ValueFunction:
    """V(t) = B psi(t): what attention takes the mean of.

    Parameters
    ----------
    coefficients : array_like, shape (M, N) or (N,)
        B, a row for each number of V.
    basis : Basis
        psi, N functions.

    Examples
    --------
    >>> from fenchel import BetaGaussian, PolynomialBasis, ValueFunction
    >>> v = ValueFunction([[0, 1], [2, 0]], PolynomialBasis(1))
    >>> v(0.5)
    array([0.5, 2. ])
    >>> v.context(BetaGaussian(2, mu=0.25))
    array([0.25, 2.  ])
    """

    __slots__ = ("basis", "coefficients")

    def __init__(self, coefficients: npt.ArrayLike, basis: Basis) -> None:
        if not isinstance(basis, Basis):
            raise TypeError(f"ValueFunction: basis must be a basis, such as GaussianBasis, got {shown(basis)}")
        array = real_array("ValueFunction", "coefficients", coefficients)
        if array.ndim not in (1, 2) or array.shape[-1] != len(basis):
            raise ValueError(
                f"ValueFunction: coefficients must have shape (M, {len(basis)}) or ({len(basis)},), got {array.shape}"
            )
        self.coefficients = array
        self.basis = basis

    def __call__(self, t: npt.ArrayLike) -> Any:
        """V at positions: shape (..., M), or (...) where B is a row."""
        return np.matmul(self.basis(t), self.coefficients.T)[()]

    def context(self, p: Distribution | Densities | Sequence[Distribution]) -> Any:
        """E_p[V] = B attend(p, psi): the context of attention."""
        return np.matmul(attend(p, self.basis), self.coefficients.T)[()]

    def __repr__(self) -> str:
        return f"ValueFunction({self.coefficients!r}, {self.basis!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.coefficients, self.basis)


class RidgeRegression:
    """The ridge regression of values on a basis, at one set of positions: made once, used for any values there.

    B = argmin |B F - H|^2 + ridge |B|^2 = H G, where F, N x L, is psi at the positions, and H, M x L, the values.

    Parameters
    ----------
    basis : Basis
        psi, N functions.
    positions : int or array_like
        L numbers, or for a basis on R^D points of shape (L, D). A number L means `fenchel.positions(L)`, the centres of
        L equal cells of [0, 1].
    ridge : float
        Finite, not negative, and large enough for a system that is not singular. The paper has 0.1.

    Examples
    --------
    >>> import numpy as np
    >>> from fenchel import PolynomialBasis, RidgeRegression
    >>> regression = RidgeRegression(PolynomialBasis(1), [0.0, 1.0, 2.0], ridge=0)
    >>> regression.fit([[1.0, 3.0, 5.0]]).coefficients.round(12)
    array([[1., 2.]])
    """

    __slots__ = ("_system", "basis", "positions", "ridge")

    def __init__(self, basis: Basis, positions: int | npt.ArrayLike, ridge: float = 0.1) -> None:
        check_basis("RidgeRegression", basis)
        if isinstance(positions, (int, np.integer)) and basis.dimension is None:
            positions = centres(int(positions))
        at = doubles("positions", positions)
        if at.ndim != (1 if basis.dimension is None else 2):
            wanted = "(L,)" if basis.dimension is None else f"(L, {basis.dimension})"
            raise ValueError(f"RidgeRegression: positions must have shape {wanted}, got {at.shape}")
        self.basis, self.positions = basis, at.copy()
        (self.ridge,) = reals(ridge=ridge)
        self.positions.flags.writeable = False
        self._system = _core.RidgeSystem(basis(at).T, self.ridge)

    @property
    def matrix(self) -> FloatArray:
        """G, L x N."""
        return np.asarray(self._system.matrix())

    def fit(self, values: npt.ArrayLike) -> ValueFunction:
        """The value function of H, shape (M, L) or (L,)."""
        return ValueFunction(self._fit(real_array("RidgeRegression", "values", values)), self.basis)

    def _fit(self, values: Array) -> Array:
        length = len(self.positions)
        if values.ndim == 0 or values.shape[-1] != length:
            raise ValueError(f"RidgeRegression: values must have shape (..., {length}), got {values.shape}")
        return _multiply(values, self.basis, [self], np.array([length], np.int64))

    def vjp(self, values: npt.ArrayLike, cotangent: npt.ArrayLike) -> dict[str, Any]:
        """From the gradient of a loss in B that in H, "values", and in "ridge"."""
        observed, weights = doubles("values", values), doubles("cotangent", cotangent)
        lead, size = observed.shape[:-1], len(self.basis)
        if observed.shape != (*lead, len(self.positions)) or weights.shape != (*lead, size):
            raise ValueError(
                f"RidgeRegression.vjp: values and cotangent must have shapes (..., {len(self.positions)}) and "
                f"(..., {size}), got {observed.shape} and {weights.shape}"
            )
        by_values, by_ridge = self._system.vjp(observed.reshape(-1, len(self.positions)), weights.reshape(-1, size))
        return {"values": np.asarray(by_values).reshape(observed.shape), "ridge": by_ridge}

    def __repr__(self) -> str:
        return f"RidgeRegression({self.basis!r}, {self.positions!r}, ridge={self.ridge!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.basis, self.positions, self.ridge)


def _multiply(values: Array, basis: Basis, regressions: Sequence[RidgeRegression], lengths: Array) -> Array:
    """H G, with the G of each length."""
    dtype = common_type(values)
    result = np.empty((*values.shape[:-1], len(basis)), dtype)
    rows = math.prod(values.shape[:-1])
    systems = [regression._system for regression in regressions]
    flat = contiguous(values, dtype).reshape(rows, values.shape[-1])
    kernels.ridge_rows(systems, flat, lengths, result.reshape(rows, len(basis)))
    return result


def ridge_values(
    values: npt.ArrayLike,
    basis: Basis,
    ridge: float = 0.1,
    *,
    positions: npt.ArrayLike | None = None,
    lengths: npt.ArrayLike | None = None,
) -> Array:
    """The coefficients B of a value function V(t) = B psi(t) from values at positions, by ridge regression.

    Parameters
    ----------
    values : array_like, shape (..., M, L) or (L,)
        H: the last axis runs over positions.
    basis : Basis
        psi, N functions.
    ridge : float
        The penalty; the paper has 0.1.
    positions : array_like, shape (L,) or (L, D), optional
        The centres of L equal cells of [0, 1] unless said; needed for a basis on R^D: see `grid_positions`.
    lengths : array_like of int, shape (...), optional
        For padded sequences, values of shape (..., M, L): how many positions of each count. A sequence of length l lies
        on the centres of l cells; its padding is not read.

    Returns
    -------
    ndarray, shape (..., M, N) or (N,)
        In float32 where values are. All arithmetic is in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from fenchel import GaussianBasis, ValueFunction, ridge_values
    >>> basis = GaussianBasis.linearly_spaced(8, sigma=0.12)
    >>> b = ridge_values(np.sin(np.arange(20) / 4), basis, ridge=0.01)
    >>> b.shape
    (8,)
    >>> round(float(ValueFunction(b, basis)(0.5)), 2)
    0.7
    """
    array = real_array("ridge_values", "values", values)
    if array.ndim == 0:
        raise ValueError("ridge_values: values must have shape (..., L), got a number")
    if lengths is None:
        if positions is None and isinstance(basis, Basis) and basis.dimension is not None:
            raise ValueError(f"ridge_values: positions must be given for a basis on R^{basis.dimension}, got None")
        return RidgeRegression(basis, array.shape[-1] if positions is None else positions, ridge)._fit(array)
    if array.ndim < 2 or positions is not None:
        raise ValueError("ridge_values: lengths must go with values of shape (..., M, L) and no positions")
    counts = checked_lengths("ridge_values", lengths, array.shape[:-2])
    regressions = [RidgeRegression(basis, int(length), ridge) for length in np.unique(counts)]
    return _multiply(array, basis, regressions, counts)
