"""Continuous attention: r = E_p[psi] for beta-Gaussian densities p and the functions psi of a Gaussian basis."""

from __future__ import annotations

from typing import Any

import torch

from ._basis import GaussianBasis
from ._differentiable import Places, Rule, Tensors, differentiable, or_zeros
from ._library import ops, register_rows
from ._rows import Parameter, computed_dtype, parameter


def _expectations(mu: torch.Tensor, means: torch.Tensor) -> torch.Tensor:
    return mu.new_empty((*mu.shape[:-1], means.shape[0]))


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
    mu: torch.Tensor, sigma2: torch.Tensor, basis: GaussianBasis, alpha: Parameter = 2.0
) -> torch.Tensor:
    """r = E_p[psi], for densities p that attend to a place mu with a width sigma2.

    p is the density that maximises E_p[f] - Omega_alpha(p) for the score f(t) = -(t - mu)^2 / (2 sigma2): a Gaussian
    for alpha = 1, a parabola with an end on both sides for alpha = 2. r @ B is the mean under p of the value function
    V(t) = B^T psi(t): the context. All parameters may need gradients, of second order too.

    Parameters
    ----------
    mu : Tensor
        Where densities lie: (...) for a basis on the line, (..., D) for one on R^D.
    sigma2 : Tensor
        The scores' scales: (...) on the line, positive; on R^D matrices (..., D, D), of which the symmetric part counts
        and is positive definite.
    basis : GaussianBasis
        psi, N functions.
    alpha : float or Tensor
        Positive and above 1 - 2 / D; a tensor (...) gets a gradient: one for all densities, or one each.

    Returns
    -------
    Tensor
        (..., N), where mu, sigma2 and alpha are broadcast against each other. All arithmetic is in float64, but for
        float32 on a GPU; float16 and bfloat16 become float32 under autocast.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import GaussianBasis, continuous_attention
    >>> basis = GaussianBasis(torch.tensor([0.0, 0.25, 0.5]), torch.tensor(0.15**2))
    >>> continuous_attention(torch.tensor([0.3, 0.3]), torch.tensor(0.002), basis, torch.tensor([1.0, 2.0]))
    tensor([[0.4061, 2.4220, 1.1267],
            [0.4541, 2.3259, 1.1582]])
    """
    if not isinstance(basis, GaussianBasis):
        given = type(basis).__name__
        raise TypeError(f"continuous_attention: basis must be a fenchel.torch.GaussianBasis, got {given}")
    dtype = computed_dtype(torch.promote_types(mu.dtype, sigma2.dtype), mu.device)
    mu, scale = mu.to(dtype), sigma2.to(dtype)
    dimension = basis.dimension
    if dimension == 1:
        mu, scale = mu[..., None], scale[..., None, None]
    elif mu.shape[-1:] != (dimension,) or scale.shape[-2:] != (dimension, dimension):
        raise ValueError(
            f"continuous_attention: mu and sigma2 must have shapes (..., {dimension}) and (..., {dimension}, "
            f"{dimension}), as the basis is on R^{dimension}, got {tuple(mu.shape)} and {tuple(scale.shape)}"
        )
    else:
        scale = (scale + scale.mT) / 2
    batch = mu.shape[:-1]
    orders = alpha.shape if isinstance(alpha, torch.Tensor) else batch
    if not batch == scale.shape[:-2] == orders:  # else a third of the time of a small call
        try:
            batch = torch.broadcast_shapes(batch, scale.shape[:-2], orders)
        except RuntimeError:
            shapes = [tuple(x.shape) for x in (mu, sigma2, alpha) if isinstance(x, torch.Tensor)]
            raise ValueError(f"continuous_attention: mu, sigma2 and alpha must be of one batch, got {shapes}") from None
        mu, scale = mu.expand(*batch, dimension), scale.expand(*batch, dimension, dimension)
    alphas, number = parameter(alpha, batch, mu.device)
    return _attend(mu, scale, alphas, basis.mean, basis.covariance, number)
