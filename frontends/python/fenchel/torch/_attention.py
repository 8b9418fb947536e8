"""Continuous attention: r = E_p[psi] for beta-Gaussian densities p and the functions psi of a basis."""

from __future__ import annotations

from typing import Any

import torch

from ._basis import Basis
from ._differentiable import Places, Rule, Tensors, differentiable, or_zeros
from ._library import ops, register_rows
from ._line_bases import ConcatenatedBasis, LineBasis
from ._rows import Parameter, computed_dtype, parameter


def _expectations(mu: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    return mu.new_empty((*mu.shape[:-1], centres.shape[0]))


def _gradient(x: Tensors, learned: bool) -> Tensors:
    """What a kernel allocates for a gradient: nothing, of shape (0), for what has none."""
    there = (True, True, x[2] is not None, learned, learned)
    return tuple(
        t.new_empty(t.shape) if wanted else x[0].new_empty(0, dtype=torch.float64) for t, wanted in zip(x, there)
    )


register_rows("attend", lambda *args: _expectations(args[0], args[3]), shared=(3, 4))
register_rows("attend_vjp", lambda *args: _gradient(args[:5], args[-1]), shared=(3, 4), summed=True)
register_rows("attend_jvp", lambda *args: _expectations(args[0], args[3]), shared=(3, 4, 8, 9))
register_rows("attend_vjp_vjp", lambda *args: _gradient(args[:5], args[-1]), shared=(3, 4, 9, 10), summed=True)


def _whole(x: Tensors, dx: Tensors) -> Tensors:
    """The densities' direction, 0 where they stand still; that of alphas and of the basis may be None."""
    return (*map(or_zeros, dx[:2], x[:2]), *dx[2:])


def _learned(wanted: Places) -> bool:
    return not wanted.isdisjoint((3, 4))


class _Attend(Rule):
    """x is (mu, scale, alphas, means, covariances)."""

    name = "attend"
    count = 5

    @staticmethod
    def vjp(x: Tensors, outputs: Tensors, grad: torch.Tensor, wanted: Places, static: tuple[Any, ...]) -> Tensors:
        return ops.attend_vjp(*x, grad, *static, _learned(wanted))

    @staticmethod
    def jvp(x: Tensors, outputs: Tensors, dx: Tensors, static: tuple[Any, ...]) -> torch.Tensor:
        return ops.attend_jvp(*x, *_whole(x, dx), *static)

    @staticmethod
    def hessian(
        x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        return ops.attend_vjp_vjp(*x, grad, *_whole(x, dx), *static, _learned(wanted))


_attend = differentiable(_Attend)


def continuous_attention(
    alpha: Parameter,
    mu: torch.Tensor,
    Sigma: torch.Tensor,
    basis: Basis,
) -> torch.Tensor:
    """r = E_p[psi], for densities p of order alpha that attend to a place mu with a squared width Sigma.

    p is the density that maximises E_p[f] - Omega_alpha(p) for the score f(t) = -(t - mu)^T Sigma^-1 (t - mu) / 2: a
    Gaussian for alpha = 1, a parabola with an end on all sides for alpha = 2. r @ B is the mean under p of the value
    function V(t) = B^T psi(t): the context. All parameters may need gradients, of second order too.

    Parameters
    ----------
    alpha : float or Tensor
        Positive and above 1 - 2 / D; a tensor (...) gets a gradient: one for all densities, or one each.
    mu : Tensor
        Where densities lie: (...) for a basis on the line, (..., D) for one on R^D.
    Sigma : Tensor
        The scores' scales: on the line sigma2, (...), positive; on R^D matrices (..., D, D), of which the symmetric
        part counts and is positive definite.
    basis : GaussianBasis, MultivariateGaussianBasis, PolynomialBasis, FourierBasis, FunctionBasis or ConcatenatedBasis
        psi, N functions. With bases that are not Gaussian there are derivatives of first order.

    Returns
    -------
    Tensor
        (..., N), where alpha, mu and Sigma are broadcast against each other. All arithmetic is in float64, but for
        float32 on a GPU; float16 and bfloat16 become float32 under autocast.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import GaussianBasis, continuous_attention
    >>> basis = GaussianBasis(torch.tensor([0.0, 0.25, 0.5]), 0.15)
    >>> continuous_attention(torch.tensor([1.0, 2.0]), torch.tensor([0.3, 0.3]), torch.tensor(0.002), basis)
    tensor([[0.4061, 2.4220, 1.1267],
            [0.4541, 2.3259, 1.1582]])
    """
    if not isinstance(basis, Basis):
        given = type(basis)
        raise TypeError(
            "continuous_attention: basis must be a GaussianBasis, a MultivariateGaussianBasis or another basis of "
            f"fenchel.torch, got {given.__module__}.{given.__name__}"
        )
    if isinstance(basis, LineBasis):
        return _attend_on_the_line(alpha, mu, Sigma, basis)
    means, covariances = basis.functions()
    dtype = computed_dtype(torch.promote_types(mu.dtype, Sigma.dtype), mu.device)
    place, scale = mu.to(dtype), Sigma.to(dtype)
    event = basis.event_shape
    if not event:
        place, scale = place[..., None], scale[..., None, None]
    elif place.shape[-1:] != event or scale.shape[-2:] != event * 2:
        d = basis.dimension
        raise ValueError(
            f"continuous_attention: mu and Sigma must have shapes (..., {d}) and (..., {d}, {d}), as the basis is on "
            f"R^{d}, got {tuple(mu.shape)} and {tuple(Sigma.shape)}"
        )
    else:
        scale = (scale + scale.mT) / 2
    batch = place.shape[:-1]
    orders = alpha.shape if isinstance(alpha, torch.Tensor) else batch
    if not batch == scale.shape[:-2] == orders:  # else a third of the time of a small call
        try:
            batch = torch.broadcast_shapes(batch, scale.shape[:-2], orders)
        except RuntimeError:
            shapes = [tuple(x.shape) for x in (alpha, mu, Sigma) if isinstance(x, torch.Tensor)]
            raise ValueError(f"continuous_attention: alpha, mu and Sigma must be of one batch, got {shapes}") from None
        place, scale = place.expand(*batch, *means.shape[1:]), scale.expand(*batch, *covariances.shape[1:])
    alphas, number = parameter(alpha, batch, place.device)
    return _attend(place, scale, alphas, means, covariances, number)


def _attend_on_the_line(alpha: Parameter, mu: torch.Tensor, sigma2: torch.Tensor, basis: LineBasis) -> torch.Tensor:
    if isinstance(basis, ConcatenatedBasis):
        return torch.cat([continuous_attention(alpha, mu, sigma2, part) for part in basis.parts()], -1)
    dtype = computed_dtype(torch.promote_types(mu.dtype, sigma2.dtype), mu.device)
    orders = alpha if isinstance(alpha, torch.Tensor) else torch.tensor(alpha, dtype=torch.float64)
    try:
        tensors = torch.broadcast_tensors(orders.to(mu.device).double(), mu.double(), sigma2.double())
    except RuntimeError:
        shapes = [tuple(x.shape) for x in (orders, mu, sigma2)]
        raise ValueError(f"continuous_attention: alpha, mu and Sigma must be of one batch, got {shapes}") from None
    return basis.attend(*tensors).to(dtype)
