"""Many beta-Gaussians at once, as arrays of parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import shown
from ._basis import Basis, GaussianBasis, MultivariateGaussianBasis
from ._rows import Array, check_out, real_array

Shape = tuple[int, ...]
Gradients = tuple[Array, Array, Array]

kernels: Any = _core
"""Their overloads are chosen by the types of arrays, which are known at run time only."""


class Densities(NamedTuple):
    """A batch of beta-Gaussians, as arrays that broadcast: what `attend` and its kin take of a model.

    The arrays are kept as they are; a basis says whether they are on the line or on R^D.

    Parameters
    ----------
    alpha : array_like, shape (...)
        One for all, or one for each density.
    mu : array_like, shape (...) on the line, (..., D) on R^D
        The centres.
    Sigma : array_like, shape (...) on the line, (..., D, D) on R^D
        The scales of the scores: sigma2 on the line, a matrix on R^D, of which the lower triangle is read.

    Examples
    --------
    >>> import numpy as np
    >>> from fenchel import Densities, GaussianBasis, attend
    >>> attend(Densities([1, 2], np.array([0.3, 0.3]), 0.002), GaussianBasis([0.0, 0.25, 0.5], 0.15)).round(4)
    array([[0.4061, 2.422 , 1.1267],
           [0.4541, 2.3259, 1.1582]])
    """

    alpha: npt.ArrayLike
    mu: npt.ArrayLike
    Sigma: npt.ArrayLike


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


def delivered(where: str, result: Array, out: Array | None) -> Array:
    """What the caller gets back."""
    if out is None or out is result:
        return result
    check_out(where, out, result.shape, result.dtype)
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
        return {"alpha": (), "mu": self.point, "Sigma": self.point * 2}

    def flat(self, name: str, x: npt.ArrayLike, tail: Shape) -> Array:
        """x, broadcast to the batch, with a row for each density."""
        array = real_array(self.where, name, x)
        shape = self.shape + tail
        try:
            whole = np.broadcast_to(array, shape)
        except ValueError:
            raise ValueError(f"{self.where}: {name} must have shape {shape}, got {array.shape}") from None
        return contiguous(whole, self.dtype).reshape(self.rows, math.prod(tail))

    def flat_parameters(self, kind: str, given: Mapping[str, npt.ArrayLike]) -> Gradients:
        """A number for each parameter, of alpha, mu and Sigma; 0 for those not given."""
        if not isinstance(given, Mapping):
            raise TypeError(f"{self.where}: {kind} must be a mapping of names to numbers, got {shown(given)}")
        for name in given:
            if name not in self.tails:
                raise ValueError(f"{self.where}: {kind} must be in alpha, mu and Sigma, got {name!r}")
        alpha, mu, scale = (self.flat(name, given.get(name, 0.0), tail) for name, tail in self.tails.items())
        return alpha[:, 0], mu, scale


class DensityRows(RowBatch):
    """Densities as C++ takes them: alpha (B,) or a number, mu (B, D), Sigma (B, D^2).

    They have the type of mu and Sigma; alpha is always a double.
    """

    def __init__(self, where: str, p: Densities, basis: Basis, *others: npt.ArrayLike) -> None:
        if not isinstance(p, Densities):
            raise TypeError(f"{where}: p must be Densities, got {shown(p)}")
        if not isinstance(basis, (GaussianBasis, MultivariateGaussianBasis)):
            wanted = "a GaussianBasis or a MultivariateGaussianBasis"
            raise TypeError(f"{where}: basis must be {wanted} where p are Densities, got {shown(basis)}")
        self.where, self.basis = where, basis
        self.point = () if basis.dimension is None else (basis.dimension,)
        alpha, mu, scale = (real_array(where, name, x) for name, x in p._asdict().items())
        self.dtype = common_type(mu, scale, *others)
        leading = self._leading("mu", mu, self.point), self._leading("Sigma", scale, self.point * 2)
        try:
            self.shape = np.broadcast_shapes(alpha.shape, *leading)
        except ValueError:
            raise ValueError(
                f"{where}: alpha, mu and Sigma must be of one batch, got shapes {alpha.shape}, {mu.shape} and "
                f"{scale.shape}"
            ) from None
        self.mu, self.scale = self.flat("mu", mu, self.point), self.flat("Sigma", scale, self.point * 2)
        self.alpha = per_row(alpha, self.shape)
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

    def result(self, out: Array | None, size: int, *read: Array) -> Array:
        """Room for `size` numbers a density."""
        return result_array(self.where, out, (*self.shape, size), self.dtype, *self.read, *read)

    def gradients(self) -> Gradients:
        """Room for the derivatives, in the order of C++; `shaped` makes the result of it."""
        alpha, mu, scale = (np.empty((self.rows, math.prod(tail)), self.dtype) for tail in self.tails.values())
        return alpha[:, 0], mu, scale

    def shaped(self, gradients: Gradients) -> dict[str, Array]:
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
