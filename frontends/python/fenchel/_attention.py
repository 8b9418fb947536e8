"""Continuous attention: the mean of a basis under a distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import FloatArray, doubles, shown
from ._basis import Basis
from ._densities import Densities, DensityRows, delivered, kernels
from ._distribution import Distribution
from ._line import TruncatedGaussian
from ._location_scale import LocationScale
from ._mixture import Mixture, MultivariateMixture
from ._predict import NumericDensity
from ._regularizer import Tsallis
from ._rows import Array
from ._score import DifferentiableScore


def attend(
    p: Distribution | Densities | Sequence[Distribution] | npt.ArrayLike, basis: Basis, out: Array | None = None
) -> Array:
    """The mean of each function of a basis under a density: r = E_p[psi], where continuous attention looks.

    The context of attention is B r for values V(t) = B psi(t): see `ridge_values`, `ValueFunction` and
    `attend_context`.

    Parameters
    ----------
    p : distribution, sequence of distributions, Densities, or array_like
        Where attention looks. `Densities` are a batch of beta-Gaussians, for Gaussian functions. An array is a sample,
        of numbers or for a basis on R^D of points, a row each; a number (a vector) is a single point.
    basis : Basis
        Functions on what p is a distribution on.
    out : ndarray, optional
        Where the result goes.

    Returns
    -------
    ndarray, shape (N,), or (len(p), N) for a sequence of distributions, (..., N) for Densities
        In float32 for Densities whose mu and Sigma are, else float64. All arithmetic is in float64.

    Examples
    --------
    >>> from fenchel import BetaGaussian, Densities, GaussianBasis, PolynomialBasis, attend
    >>> basis = GaussianBasis([0.0, 0.25, 0.5], 0.15)
    >>> attend(BetaGaussian(alpha=2, mu=0.3, sigma2=0.002), basis).round(4)
    array([0.4541, 2.3259, 1.1582])
    >>> attend(Densities(2, [0.3, 0.4], 0.002), basis).round(4)
    array([[0.4541, 2.3259, 1.1582],
           [0.1211, 1.6045, 2.0239]])
    >>> attend([BetaGaussian(1, 2.0), BetaGaussian(1, 3.0)], PolynomialBasis(2))
    array([[ 1.,  2.,  5.],
           [ 1.,  3., 10.]])
    >>> attend([1.0, 2.0, 6.0], PolynomialBasis(1))
    array([1., 3.])
    """
    check_basis("attend", basis)
    if not isinstance(p, Densities):
        return delivered("attend", _attended(p, basis), out)
    rows = DensityRows("attend", p, basis)
    result = rows.result(out, len(basis))
    kernels.attend_rows(*rows.arguments, result.reshape(rows.rows, len(basis)))
    return delivered("attend", result, out)


def _attended(p: Distribution | Sequence[Distribution] | npt.ArrayLike, basis: Basis) -> FloatArray:
    if isinstance(p, Distribution):
        _check_domain("attend", p, basis)
        return np.asarray(basis._stacked(lambda core: _core.attend(p._core, core)))
    if isinstance(p, (list, tuple)) and any(isinstance(each, Distribution) for each in p):
        for each in p:
            if not isinstance(each, Distribution):
                raise TypeError(f"attend: p must be all distributions, or all numbers, got {shown(each)}")
        return np.stack([_attended(each, basis) for each in p])
    sample = doubles("p", cast(npt.ArrayLike, p))
    dimension = 0 if basis.dimension is None else 1
    if sample.ndim == dimension:
        sample = sample[np.newaxis]
    if sample.ndim != dimension + 1 or sample.size == 0:
        wanted = "(L,)" if basis.dimension is None else f"(L, {basis.dimension})"
        raise ValueError(f"attend: a sample must have shape {wanted} and not be empty, got {sample.shape}")
    points, _ = basis._points(sample)
    return np.asarray(basis._stacked(lambda core: core.attend_sample(points)))


def attend_vjp(p: Distribution | Densities, basis: Basis, cotangent: npt.ArrayLike) -> dict[str, Any]:
    """The gradient of sum(cotangent * attend(p, basis)) in the parameters of p.

    Parameters
    ----------
    p : Distribution or Densities
        On the line a family, a `Mixture` of beta-Gaussians, or the prediction of Tsallis for a `LinearScore` or a
        `ParametricScore`; a `MultivariateBetaGaussian` or a `MultivariateMixture`.
    basis : Basis
        For a `MultivariateBetaGaussian` a `MultivariateGaussianBasis`.
    cotangent : array_like, shape (N,), (..., N) for Densities

    Returns
    -------
    dict
        By name: "mu", "sigma2", "b" or "sigma", "alpha", "gamma" or "kappa", and "theta" of a score; "mu", "Sigma" and
        "alpha" on R^D and for Densities,
        there one for each density, also where densities share a parameter. That of a matrix Sigma is the symmetric G of
        dL = Tr(G dSigma). Those of a mixture have a row for each component, and there is one in its "weights", which is
        right along directions that keep their sum.

    Examples
    --------
    >>> from fenchel import BetaGaussian, PolynomialBasis, attend_vjp
    >>> attend_vjp(BetaGaussian(1, mu=3), PolynomialBasis(2), [0, 0, 1])["mu"]
    6.0
    """
    if isinstance(p, Densities):
        rows = DensityRows("attend_vjp", p, basis)
        gradients = rows.gradients()
        kernels.attend_rows_vjp(*rows.arguments, rows.flat("cotangent", cotangent, (len(basis),)), *gradients)
        return rows.shaped(gradients)
    _check_differentiable("attend_vjp", p, basis)
    weights = doubles("cotangent", cotangent)
    if weights.shape != (len(basis),):
        raise ValueError(f"attend_vjp: cotangent must have shape ({len(basis)},), got {weights.shape}")
    if isinstance(p, (Mixture, MultivariateMixture)):
        parts = [attend_vjp(each, basis, share * weights) for share, each in zip(p.weights, p.components)]
        by_weight = np.array([attend(each, basis) @ weights for each in p.components])
        return {"weights": by_weight} | {name: np.stack([part[name] for part in parts]) for name in parts[0]}
    if isinstance(p, NumericDensity):
        return {"theta": weights @ attend_jacobian(p, basis)}
    if basis.dimension is None:
        return dict(zip(_names(p), (weights @ _gradient(p, basis)).tolist()))
    return dict(zip(_names(p), _core.attend_vjp(p._core, basis._core, weights)))


def attend_jvp(
    p: Distribution | Densities, basis: Basis, direction: Mapping[str, npt.ArrayLike], out: Array | None = None
) -> Array:
    """How attend(p, basis) moves when the parameters of p move along a direction.

    Parameters
    ----------
    p, basis
        As in `attend_vjp`.
    direction : mapping
        By the names of `attend_vjp`; a parameter that is not there does not move. That of a matrix Sigma is symmetric.
    out : ndarray, optional
        Where the result goes.

    Returns
    -------
    ndarray, shape (N,), (..., N) for Densities

    Examples
    --------
    >>> from fenchel import BetaGaussian, PolynomialBasis, attend_jvp
    >>> attend_jvp(BetaGaussian(1, mu=3), PolynomialBasis(2), {"mu": 1})
    array([0., 1., 6.])
    """
    if not isinstance(p, Densities):
        return delivered("attend_jvp", _moved(p, basis, direction), out)
    rows = DensityRows("attend_jvp", p, basis)
    along = rows.flat_parameters("direction", direction)
    result = rows.result(out, len(basis), *along)
    by_alpha = along[0] if "alpha" in direction else None
    kernels.attend_rows_jvp(*rows.arguments, by_alpha, *along[1:], result.reshape(rows.rows, len(basis)))
    return delivered("attend_jvp", result, out)


def _moved(p: Distribution, basis: Basis, direction: Mapping[str, npt.ArrayLike]) -> FloatArray:
    _check_differentiable("attend_jvp", p, basis)
    names = _names(p)
    if not isinstance(direction, Mapping):
        raise TypeError(f"attend_jvp: direction must be a mapping of names to numbers, got {shown(direction)}")
    for name in direction:
        if name not in names:
            raise ValueError(f"attend_jvp: direction must be in {', '.join(names)}, got {name!r}")
    if isinstance(p, (Mixture, MultivariateMixture)):
        return _moved_mixture(p, basis, direction)
    if isinstance(p, NumericDensity):
        jacobian = attend_jacobian(p, basis)
        theta = doubles("theta", direction.get("theta", np.zeros(jacobian.shape[1])))
        if theta.shape != jacobian.shape[1:]:
            wanted = jacobian.shape[1:]
            raise ValueError(f"attend_jvp: the direction of theta must have shape {wanted}, got {theta.shape}")
        return np.asarray(jacobian @ theta)
    dimension = basis.dimension
    shapes = [(), (), ()] if dimension is None else [(dimension,), (dimension, dimension), ()]
    along = [doubles(name, direction.get(name, np.zeros(shape))) for name, shape in zip(names, shapes)]
    for name, shape, x in zip(names, shapes, along):
        if x.shape != shape:
            raise ValueError(f"attend_jvp: the direction of {name} must have shape {shape}, got {x.shape}")
    if dimension is None:
        return np.asarray(_gradient(p, basis) @ np.array(along))
    return np.asarray(_core.attend_jvp(p._core, basis._core, along[0], along[1], float(along[2])))


def _moved_mixture(
    p: Mixture | MultivariateMixture, basis: Basis, direction: Mapping[str, npt.ArrayLike]
) -> FloatArray:
    rows = {name: doubles(name, x) for name, x in direction.items()}
    count = len(p.components)
    for name, x in rows.items():
        if x.shape[:1] != (count,):
            raise ValueError(f"attend_jvp: the direction of {name} must have {count} rows, got shape {x.shape}")
    shares = rows.pop("weights", np.zeros(count))
    result = np.zeros(len(basis))
    for k, (share, each) in enumerate(zip(p.weights, p.components)):
        along = {name: x[k] for name, x in rows.items()}
        result += shares[k] * attend(each, basis) + share * _moved(each, basis, along)
    return result


def attend_jacobian(p: Distribution, basis: Basis) -> FloatArray:
    """The derivative of attend(p, basis) in the canonical parameters theta of the score of p, alpha or gamma fixed.

    It is the transpose of the generalized covariance of order 2 - alpha of the score's functions phi and psi, where the
    regularizer is Tsallis' of order alpha.

    Parameters
    ----------
    p, basis
        As in `attend_vjp`; no mixture, `TruncatedGaussian` or `LocationScale`, which have no canonical parameters.

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
    if isinstance(p, NumericDensity):
        omega, f, _ = p._triple()
        return np.asarray(basis._stacked(lambda core: _core.attend_jacobian(omega, f, p._core, core)))
    if isinstance(p, (Mixture, MultivariateMixture, TruncatedGaussian, LocationScale)):
        raise TypeError(f"attend_jacobian: {type(p).__name__} has no canonical parameters: see attend_vjp")
    return np.asarray(basis._stacked(lambda core: _core.attend_jacobian(p._core, core)))


def attend_context(
    p: Densities, basis: Basis, values: npt.ArrayLike, out: Array | None = None
) -> Array:
    """The contexts B E_p[psi] of a batch, without storing E_p[psi]; see `ValueFunction.context` for one density.

    Parameters
    ----------
    p : Densities
    basis : GaussianBasis or MultivariateGaussianBasis
    values : array_like, shape (M, N), or (K, ..., M, N)
        The matrix B of all densities, or one for each index of the first axes of the batch: (K, M, N) goes with
        densities of shape (K,) or (K, Q).
    out : ndarray, optional
        Where the result goes.

    Returns
    -------
    ndarray, shape (..., M)

    Examples
    --------
    >>> from fenchel import Densities, GaussianBasis, attend_context
    >>> basis = GaussianBasis([0.0, 0.25, 0.5], 0.15)
    >>> attend_context(Densities(2, [0.3, 0.4], 0.002), basis, [[1.0, 2.0, 3.0]]).round(4)
    array([[8.5806],
           [9.4019]])
    """
    rows = DensityRows("attend_context", p, basis, values)
    matrices = rows.value_matrices(values)
    result = rows.result(out, matrices.shape[1], matrices)
    kernels.attend_context_rows(*rows.arguments, matrices, result.reshape(rows.rows, matrices.shape[1]))
    return delivered("attend_context", result, out)


def attend_context_vjp(
    p: Densities, basis: Basis, values: npt.ArrayLike, cotangent: npt.ArrayLike
) -> dict[str, Array]:
    """The gradient of sum(cotangent * attend_context(...)): that of `attend_vjp`, and "values" like values.

    Examples
    --------
    >>> from fenchel import Densities, GaussianBasis, attend_context_vjp
    >>> basis = GaussianBasis([0.0, 0.25, 0.5], 0.15)
    >>> attend_context_vjp(Densities(2, [0.3], 0.002), basis, [[1.0, 2.0, 3.0]], [[1.0]])["values"].round(4)
    array([[0.4541, 2.3259, 1.1582]])
    """
    rows = DensityRows("attend_context_vjp", p, basis, values)
    matrices = rows.value_matrices(values)
    weights = rows.flat("cotangent", cotangent, matrices.shape[1:2])
    gradients, by_values = rows.gradients(), np.empty_like(matrices)
    kernels.attend_context_rows_vjp(*rows.arguments, matrices, weights, *gradients, by_values)
    return rows.shaped(gradients) | {"values": by_values.reshape(np.shape(values))}


_DIFFERENTIABLE = (
    _core.BetaGaussian,
    _core.BetaLaplace,
    _core.TruncatedGaussian,
    _core.LocationScale,
    _core.CappedTriangular,
    _core.CappedParabola,
    _core.SmoothTriangular,
    _core.SmoothParabola,
    _core.MultivariateBetaGaussian,
    _core.Mixture,
    _core.MultivariateMixture,
)


def _names(p: Distribution) -> tuple[str, ...]:
    """Of the parameters, in the order of C++."""
    if isinstance(p, (Mixture, MultivariateMixture)):
        return ("weights", *_names(p.components[0]))
    if isinstance(p, NumericDensity):
        return ("theta",)
    if isinstance(p, TruncatedGaussian):
        return "kappa", "mu", "sigma2"
    if isinstance(p, LocationScale):
        return "mu", "sigma"
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
    if isinstance(p, NumericDensity):
        known = isinstance(p.f, DifferentiableScore) and isinstance(p.regularizer, Tsallis)
    else:
        known = isinstance(p, Distribution) and isinstance(p._core, _DIFFERENTIABLE)
    if not known:
        families = ", ".join(family.__name__ for family in _DIFFERENTIABLE)
        raise TypeError(f"{where}: p must be one of {families}, or of a LinearScore and Tsallis, got {shown(p)}")
    check_basis(where, basis)
    _check_domain(where, p, basis)
