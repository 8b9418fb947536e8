"""Continuous attention: the mean of a basis under a distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import FloatArray, doubles, shown
from ._basis import Basis
from ._distribution import Distribution


def attend(p: Distribution | Sequence[Distribution] | npt.ArrayLike, basis: Basis) -> FloatArray:
    """The mean of each function of a basis under a density: r = E_p[psi], where continuous attention looks.

    The context of attention is B r for values V(t) = B psi(t): see `ridge_values` and `ValueFunction`. For arrays of
    parameters, and float32, use `attend_batch`.

    Parameters
    ----------
    p : distribution, sequence of distributions, or array_like
        Where attention looks. An array is a sample, of numbers or for a basis on R^D of points, a row each; a number
        (a vector) is a single point.
    basis : Basis
        Functions on what p is a distribution on.

    Returns
    -------
    ndarray, shape (N,), or (len(p), N) for a sequence of distributions

    Examples
    --------
    >>> from fenchel import BetaGaussian, GaussianBasis, PolynomialBasis, attend
    >>> attend(BetaGaussian(alpha=2, mu=0.3, sigma2=0.002), GaussianBasis([0.0, 0.25, 0.5], 0.15)).round(4)
    array([0.4541, 2.3259, 1.1582])
    >>> attend([BetaGaussian(1, 2.0), BetaGaussian(1, 3.0)], PolynomialBasis(2))
    array([[ 1.,  2.,  5.],
           [ 1.,  3., 10.]])
    >>> attend([1.0, 2.0, 6.0], PolynomialBasis(1))
    array([1., 3.])
    """
    check_basis("attend", basis)
    if isinstance(p, Distribution):
        _check_domain("attend", p, basis)
        return np.asarray(basis._stacked(lambda core: _core.attend(p._core, core)))
    if isinstance(p, (list, tuple)) and any(isinstance(each, Distribution) for each in p):
        for each in p:
            if not isinstance(each, Distribution):
                raise TypeError(f"attend: p must be all distributions, or all numbers, got {shown(each)}")
        return np.stack([attend(each, basis) for each in p])
    sample = doubles("p", cast(npt.ArrayLike, p))
    dimension = 0 if basis.dimension is None else 1
    if sample.ndim == dimension:
        sample = sample[np.newaxis]
    if sample.ndim != dimension + 1 or sample.size == 0:
        wanted = "(L,)" if basis.dimension is None else f"(L, {basis.dimension})"
        raise ValueError(f"attend: a sample must have shape {wanted} and not be empty, got {sample.shape}")
    points, _ = basis._points(sample)
    return np.asarray(basis._stacked(lambda core: core.attend_sample(points)))


def attend_vjp(p: Distribution, basis: Basis, cotangent: npt.ArrayLike) -> dict[str, Any]:
    """The gradient of cotangent . attend(p, basis) in the parameters of p.

    Parameters
    ----------
    p : BetaGaussian, BetaLaplace, CappedTriangular, CappedParabola, SmoothTriangular, SmoothParabola or \
MultivariateBetaGaussian
    basis : Basis
        For a `MultivariateBetaGaussian` a `GaussianBasis`.
    cotangent : array_like, shape (N,)

    Returns
    -------
    dict
        By name: "mu", "sigma2" or "b", and "alpha" or "gamma"; "mu", "Sigma" and "alpha" on R^D, where that of Sigma is
        the symmetric G of dL = Tr(G dSigma).

    Examples
    --------
    >>> from fenchel import BetaGaussian, PolynomialBasis, attend_vjp
    >>> attend_vjp(BetaGaussian(1, mu=3), PolynomialBasis(2), [0, 0, 1])["mu"]
    6.0
    """
    _check_differentiable("attend_vjp", p, basis)
    weights = doubles("cotangent", cotangent)
    if weights.shape != (len(basis),):
        raise ValueError(f"attend_vjp: cotangent must have shape ({len(basis)},), got {weights.shape}")
    if basis.dimension is None:
        return dict(zip(_names(p), (weights @ _gradient(p, basis)).tolist()))
    return dict(zip(_names(p), _core.attend_vjp(p._core, basis._core, weights)))


def attend_jvp(p: Distribution, basis: Basis, direction: Mapping[str, npt.ArrayLike]) -> FloatArray:
    """How attend(p, basis) moves when the parameters of p move along a direction.

    Parameters
    ----------
    p, basis
        As in `attend_vjp`.
    direction : mapping
        By the names of `attend_vjp`; a parameter that is not there does not move. That of Sigma is symmetric.

    Returns
    -------
    ndarray, shape (N,)

    Examples
    --------
    >>> from fenchel import BetaGaussian, PolynomialBasis, attend_jvp
    >>> attend_jvp(BetaGaussian(1, mu=3), PolynomialBasis(2), {"mu": 1})
    array([0., 1., 6.])
    """
    _check_differentiable("attend_jvp", p, basis)
    names = _names(p)
    if not isinstance(direction, Mapping):
        raise TypeError(f"attend_jvp: direction must be a mapping of names to numbers, got {shown(direction)}")
    for name in direction:
        if name not in names:
            raise ValueError(f"attend_jvp: direction must be in {', '.join(names)}, got {name!r}")
    dimension = basis.dimension
    shapes = [(), (), ()] if dimension is None else [(dimension,), (dimension, dimension), ()]
    along = [doubles(name, direction.get(name, np.zeros(shape))) for name, shape in zip(names, shapes)]
    for name, shape, x in zip(names, shapes, along):
        if x.shape != shape:
            raise ValueError(f"attend_jvp: the direction of {name} must have shape {shape}, got {x.shape}")
    if dimension is None:
        return np.asarray(_gradient(p, basis) @ np.array(along))
    return np.asarray(_core.attend_jvp(p._core, basis._core, along[0], along[1], float(along[2])))


def attend_jacobian(p: Distribution, basis: Basis) -> FloatArray:
    """The derivative of attend(p, basis) in the canonical parameters theta of the score of p, alpha or gamma fixed.

    It is the transpose of the generalized covariance of order 2 - alpha of the score's functions phi and psi, where the
    regularizer is Tsallis' of order alpha.

    Parameters
    ----------
    p, basis
        As in `attend_vjp`.

    Returns
    -------
    ndarray, shape (N, M)
        A row for each function. The columns are those of theta = (mu / sigma2, -1 / (2 sigma2)) for quadratic scores,
        theta = -1 / b at fixed mu for absolute ones, and (Sigma^-1 mu, vec(-Sigma^-1 / 2)), D + D^2 numbers, on R^D.

    Examples
    --------
    >>> from fenchel import BetaGaussian, PolynomialBasis, attend_jacobian
    >>> attend_jacobian(BetaGaussian(1, mu=3), PolynomialBasis(1))
    array([[0., 0.],
           [1., 6.]])
    """
    _check_differentiable("attend_jacobian", p, basis)
    return np.asarray(basis._stacked(lambda core: _core.attend_jacobian(p._core, core)))


_DIFFERENTIABLE = (
    _core.BetaGaussian,
    _core.BetaLaplace,
    _core.CappedTriangular,
    _core.CappedParabola,
    _core.SmoothTriangular,
    _core.SmoothParabola,
    _core.MultivariateBetaGaussian,
)


def _names(p: Distribution) -> tuple[str, str, str]:
    scale = next(name for name in ("Sigma", "sigma2", "b") if hasattr(p, name))
    return "mu", scale, "alpha" if hasattr(p, "alpha") else "gamma"


def _gradient(p: Distribution, basis: Basis) -> FloatArray:
    """dr / d(_names(p)), N x 3, on the line."""
    return np.asarray(basis._stacked(lambda core: _core.attend_gradient(p._core, core)))


def check_basis(where: str, basis: Basis) -> None:
    if not isinstance(basis, Basis):
        raise TypeError(f"{where}: basis must be a basis, such as GaussianBasis, got {shown(basis)}")


def _check_domain(where: str, p: Distribution, basis: Basis) -> None:
    dimension = getattr(p, "dimension", None)
    if dimension != basis.dimension:
        domains = ["the line" if d is None else f"R^{d}" for d in (basis.dimension, dimension)]
        raise ValueError(f"{where}: basis must be on {domains[1]}, as p is, got one on {domains[0]}")


def _check_differentiable(where: str, p: Distribution, basis: Basis) -> None:
    if not isinstance(p, Distribution) or not isinstance(p._core, _DIFFERENTIABLE):
        families = ", ".join(family.__name__ for family in _DIFFERENTIABLE)
        raise TypeError(f"{where}: p must be one of {families}, got {shown(p)}")
    check_basis(where, basis)
    _check_domain(where, p, basis)
