"""Continuous attention over arrays: many beta-Gaussians and Gaussian functions at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import shown
from ._basis import GaussianBasis
from ._rows import Array, check_out, real_array

Shape = tuple[int, ...]

kernels: Any = _core
"""Their overloads are chosen by the types of arrays, which are known at run time only."""


def common_type(*arrays: npt.ArrayLike) -> np.dtype[Any]:
    """float32 where all arrays are that or smaller, a number of Python or a single one aside; else float64."""
    types = [a.dtype for a in map(np.asarray, arrays) if a.ndim > 0] or [np.asarray(a).dtype for a in arrays]
    small = all(t.kind == "f" and t.itemsize <= 4 for t in types)
    return np.dtype(np.float32 if small else np.float64)


def contiguous(x: npt.ArrayLike, dtype: np.dtype[Any]) -> Array:
    """x itself where C++ can read it in place."""
    return np.require(x, dtype, ("C", "ALIGNED"))


def per_row(x: Array, shape: Shape) -> float | Array:
    """A parameter as C++ takes it: a number, or one for each row of the batch."""
    if x.size == 1:
        return float(x.reshape(()))
    return contiguous(np.broadcast_to(x, shape), np.dtype(np.float64)).reshape(-1)


def result_array(where: str, out: Array | None, shape: Shape, dtype: np.dtype[Any], *read: Array) -> Array:
    """Where C++ writes: `out` itself if it can be written in place, and nothing that is read lies in it."""
    if out is None:
        return np.empty(shape, dtype)
    check_out(where, out, shape, dtype)
    in_place = out.flags.c_contiguous and out.flags.aligned
    return out if in_place and not any(np.may_share_memory(out, x) for x in read) else np.empty(shape, dtype)


def delivered(result: Array, out: Array | None) -> Array:
    """What the caller gets back."""
    if out is None or out is result:
        return result
    out[...] = result
    return out


class RowBatch:
    """A batch of this shape and type of numbers, a row for each beta-Gaussian with positions of shape `point`."""

    where: str
    shape: Shape
    point: Shape
    dtype: np.dtype[Any]

    @property
    def rows(self) -> int:
        return math.prod(self.shape)

    @property
    def tails(self) -> dict[str, Shape]:
        """The shapes of the parameters of one density, in the order of C++."""
        return {"alpha": (), "mu": self.point, "scale": self.point * 2}

    def flat(self, name: str, x: npt.ArrayLike, tail: Shape) -> Array:
        """x, broadcast to the batch, with a row for each density."""
        array = real_array(self.where, name, x)
        shape = self.shape + tail
        try:
            whole = np.broadcast_to(array, shape)
        except ValueError:
            raise ValueError(f"{self.where}: {name} must have shape {shape}, got {array.shape}") from None
        return contiguous(whole, self.dtype).reshape(self.rows, math.prod(tail))

    def flat_parameters(self, kind: str, given: Mapping[str, npt.ArrayLike]) -> tuple[Array, Array, Array]:
        """A number for each parameter, of alpha, mu and scale; 0 for those not given."""
        if not isinstance(given, Mapping):
            raise TypeError(f"{self.where}: {kind} must be a mapping of names to numbers, got {shown(given)}")
        for name in given:
            if name not in self.tails:
                raise ValueError(f"{self.where}: {kind} must be in alpha, mu and scale, got {name!r}")
        alpha, mu, scale = (self.flat(name, given.get(name, 0.0), tail) for name, tail in self.tails.items())
        return alpha[:, 0], mu, scale


class Densities(RowBatch):
    """A batch of beta-Gaussians as C++ takes them: alpha (B,) or a number, mu (B, D), scale (B, D^2).

    They have the type of mu and scale; alpha is always a double.
    """

    def __init__(
        self,
        where: str,
        alpha: npt.ArrayLike,
        mu: npt.ArrayLike,
        scale: npt.ArrayLike,
        basis: GaussianBasis,
        *others: npt.ArrayLike,
    ) -> None:
        if not isinstance(basis, GaussianBasis):
            raise TypeError(f"{where}: basis must be a GaussianBasis, got {shown(basis)}")
        self.where, self.basis = where, basis
        self.point = () if basis.dimension is None else (basis.dimension,)
        orders, centres, scales = (real_array(where, *x) for x in (("alpha", alpha), ("mu", mu), ("scale", scale)))
        self.dtype = common_type(centres, scales, *others)
        try:
            self.shape = np.broadcast_shapes(
                orders.shape, self._leading("mu", centres, self.point), self._leading("scale", scales, self.point * 2)
            )
        except ValueError as error:
            if str(error).startswith(where):
                raise
            raise ValueError(
                f"{where}: alpha, mu and scale must be of one batch, got shapes {orders.shape}, {centres.shape} and "
                f"{scales.shape}"
            ) from None
        self.mu = self.flat("mu", centres, self.point)
        self.scale = self.flat("scale", scales, self.point * 2)
        self.alpha = per_row(orders, self.shape)
        self.read = [x for x in (self.alpha, self.mu, self.scale) if isinstance(x, np.ndarray)]

    @property
    def arguments(self) -> tuple[Any, ...]:
        return self.alpha, self.mu, self.scale, self.basis._core

    def _leading(self, name: str, x: Array, tail: Shape) -> Shape:
        """The shape without the axes of a point or a matrix."""
        kept = x.ndim - len(tail)
        if kept < 0 or x.shape[kept:] != tail:
            wanted = ", ".join(["...", *map(str, tail)])
            raise ValueError(f"{self.where}: {name} must have shape ({wanted}), as the basis is, got {x.shape}")
        return x.shape[:kept]

    def gradients(self) -> tuple[Array, Array, Array]:
        """Room for the derivatives, in the order of C++; `shaped` makes the result of it."""
        alpha, mu, scale = (np.empty((self.rows, math.prod(tail)), self.dtype) for tail in self.tails.values())
        return alpha[:, 0], mu, scale

    def shaped(self, gradients: tuple[Array, Array, Array]) -> dict[str, Array]:
        return {name: g.reshape(self.shape + tail) for g, (name, tail) in zip(gradients, self.tails.items())}

    def value_matrices(self, values: npt.ArrayLike) -> Array:
        """count x M x N, where the batch of the matrices is the beginning of that of the densities."""
        array = real_array(self.where, "values", values)
        size, lead = len(self.basis), array.shape[:-2]
        if array.ndim < 2 or array.shape[-1] != size or self.shape[: len(lead)] != lead:
            raise ValueError(
                f"{self.where}: values must have shape (M, {size}), or that after the first axes of the batch "
                f"{self.shape}, got {array.shape}"
            )
        return contiguous(array, self.dtype).reshape(math.prod(lead), *array.shape[-2:])


def attend_batch(
    alpha: npt.ArrayLike,
    mu: npt.ArrayLike,
    scale: npt.ArrayLike,
    basis: GaussianBasis,
    out: Array | None = None,
) -> Array:
    """E_p[psi] for a batch of beta-Gaussians and Gaussian functions: what a model computes.

    Parameters
    ----------
    alpha : array_like, shape (...)
        One for all, or one for each density.
    mu : array_like, shape (...) on the line, (..., D) on R^D
        The centres.
    scale : array_like, shape (...) on the line, (..., D, D) on R^D
        The scales of the scores: sigma2, or Sigma, of which the lower triangle is read.
    basis : GaussianBasis
        On the line or on R^D.
    out : ndarray, optional
        Where the result goes.

    Returns
    -------
    ndarray, shape (..., N)
        In float32 where mu and scale are, else float64. All arithmetic is in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from fenchel import GaussianBasis, attend_batch
    >>> basis = GaussianBasis([0.0, 0.25, 0.5], 0.15)
    >>> attend_batch([1, 2], np.array([0.3, 0.3]), 0.002, basis).round(4)
    array([[0.4061, 2.422 , 1.1267],
           [0.4541, 2.3259, 1.1582]])
    """
    p = Densities("attend_batch", alpha, mu, scale, basis)
    shape = (*p.shape, len(basis))
    result = result_array("attend_batch", out, shape, p.dtype, *p.read)
    kernels.attend_rows(*p.arguments, result.reshape(p.rows, len(basis)))
    return delivered(result, out)


def attend_batch_vjp(
    alpha: npt.ArrayLike, mu: npt.ArrayLike, scale: npt.ArrayLike, basis: GaussianBasis, cotangent: npt.ArrayLike
) -> dict[str, Array]:
    """The gradient of sum(cotangent * attend_batch(...)) in the parameters of each density.

    Parameters
    ----------
    alpha, mu, scale, basis
        As in `attend_batch`.
    cotangent : array_like, shape (..., N)

    Returns
    -------
    dict
        "alpha" (...), "mu" (...) or (..., D), "scale" (...) or (..., D, D): one for each density, also where densities
        share a parameter. That of Sigma is the symmetric G of dL = Tr(G dSigma).

    Examples
    --------
    >>> from fenchel import GaussianBasis, attend_batch_vjp
    >>> gradient = attend_batch_vjp(2.0, [0.3], [0.002], GaussianBasis([0.0, 0.25], 0.15), [[1.0, 0.0]])
    >>> {name: float(value[0].round(3)) for name, value in gradient.items()}
    {'alpha': 0.058, 'mu': -5.122, 'scale': 29.466}
    """
    p = Densities("attend_batch_vjp", alpha, mu, scale, basis)
    weights = p.flat("cotangent", cotangent, (len(basis),))
    gradients = p.gradients()
    kernels.attend_rows_vjp(*p.arguments, weights, *gradients)
    return p.shaped(gradients)


def attend_batch_jvp(
    alpha: npt.ArrayLike,
    mu: npt.ArrayLike,
    scale: npt.ArrayLike,
    basis: GaussianBasis,
    direction: Mapping[str, npt.ArrayLike],
    out: Array | None = None,
) -> Array:
    """How attend_batch(...) moves when the parameters move along a direction.

    Parameters
    ----------
    alpha, mu, scale, basis, out
        As in `attend_batch`.
    direction : mapping
        For "alpha", "mu" and "scale" a number for each element; what is not there does not move. Those of Sigma are
        symmetric.

    Returns
    -------
    ndarray, shape (..., N)

    Examples
    --------
    >>> from fenchel import GaussianBasis, attend_batch_jvp
    >>> attend_batch_jvp(2.0, [0.3], [0.002], GaussianBasis([0.0, 0.25], 0.15), {"mu": 1.0}).round(3)
    array([[-5.122, -4.31 ]])
    """
    where = "attend_batch_jvp"
    p = Densities(where, alpha, mu, scale, basis)
    along = p.flat_parameters("direction", direction)
    result = result_array(where, out, (*p.shape, len(basis)), p.dtype, *p.read, *along)
    by_alpha = along[0] if "alpha" in direction else None
    kernels.attend_rows_jvp(*p.arguments, by_alpha, *along[1:], result.reshape(p.rows, len(basis)))
    return delivered(result, out)


def attend_context(
    alpha: npt.ArrayLike,
    mu: npt.ArrayLike,
    scale: npt.ArrayLike,
    basis: GaussianBasis,
    values: npt.ArrayLike,
    out: Array | None = None,
) -> Array:
    """The contexts B E_p[psi] of a batch, without storing E_p[psi].

    Parameters
    ----------
    alpha, mu, scale, basis, out
        As in `attend_batch`.
    values : array_like, shape (M, N), or (K, ..., M, N)
        The matrix B of all densities, or one for each index of the first axes of the batch: (K, M, N) goes with
        densities of shape (K,) or (K, Q).

    Returns
    -------
    ndarray, shape (..., M)

    Examples
    --------
    >>> from fenchel import GaussianBasis, attend_context
    >>> basis = GaussianBasis([0.0, 0.25, 0.5], 0.15)
    >>> attend_context(2.0, [0.3, 0.4], 0.002, basis, [[1.0, 2.0, 3.0]]).round(4)
    array([[8.5806],
           [9.4019]])
    """
    p = Densities("attend_context", alpha, mu, scale, basis, values)
    matrices = p.value_matrices(values)
    shape = (*p.shape, matrices.shape[1])
    result = result_array("attend_context", out, shape, p.dtype, *p.read, matrices)
    kernels.attend_context_rows(*p.arguments, matrices, result.reshape(p.rows, matrices.shape[1]))
    return delivered(result, out)


def attend_context_vjp(
    alpha: npt.ArrayLike,
    mu: npt.ArrayLike,
    scale: npt.ArrayLike,
    basis: GaussianBasis,
    values: npt.ArrayLike,
    cotangent: npt.ArrayLike,
) -> dict[str, Array]:
    """The gradient of sum(cotangent * attend_context(...)): that of `attend_batch_vjp`, and "values" like values.

    Examples
    --------
    >>> from fenchel import GaussianBasis, attend_context_vjp
    >>> basis = GaussianBasis([0.0, 0.25, 0.5], 0.15)
    >>> attend_context_vjp(2.0, [0.3], [0.002], basis, [[1.0, 2.0, 3.0]], [[1.0]])["values"].round(4)
    array([[0.4541, 2.3259, 1.1582]])
    """
    p = Densities("attend_context_vjp", alpha, mu, scale, basis, values)
    matrices = p.value_matrices(values)
    weights = p.flat("cotangent", cotangent, matrices.shape[1:2])
    gradients, by_values = p.gradients(), np.empty_like(matrices)
    kernels.attend_context_rows_vjp(*p.arguments, matrices, weights, *gradients, by_values)
    return p.shaped(gradients) | {"values": by_values.reshape(np.shape(values))}
