"""Gaussian bases: the functions that a value function is made of, fixed or learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import fenchel

from ._linalg import cholesky

if TYPE_CHECKING:
    from typing_extensions import Self


class Basis(torch.nn.Module):
    """What the bases share. A fixed one has the buffers fixed_*, in float64 whatever the module is cast to; a learned
    one has the parameters raw_*, which may be any numbers."""

    learned: bool
    fixed_mu: torch.Tensor
    raw_mu: torch.Tensor

    def _keep(self, learned: bool, fixed: dict[str, torch.Tensor], raw: dict[str, torch.Tensor]) -> None:
        self.learned = learned
        if learned:
            for name, x in raw.items():
                self.register_parameter(f"raw_{name}", torch.nn.Parameter(x.to(torch.get_default_dtype(), copy=True)))
        else:
            for name, x in fixed.items():
                self.register_buffer(f"fixed_{name}", x.clone(memory_format=torch.contiguous_format))

    @property
    def mu(self) -> torch.Tensor:
        """The centres, (N,) on the line and (N, D) on R^D, in float64."""
        return self.raw_mu.to(torch.float64) if self.learned else self.fixed_mu

    @property
    def count(self) -> int:
        """How many functions there are, N."""
        return self.mu.shape[0]

    @property
    def event_shape(self) -> torch.Size:
        """Of a position: () on the line, (D,) on R^D."""
        return self.mu.shape[1:]

    @property
    def dimension(self) -> int:
        """D; 1 on the line."""
        return self.event_shape.numel()

    def functions(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Means (N, D) and covariances (N, D, D), as the operations take them; D = 1 on the line."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        return f"count={self.count}, dimension={self.dimension}, learned={self.learned}"

    def _apply(self, fn: Callable[..., Any], recurse: bool = True) -> Self:
        """A cast leaves the functions of a fixed basis as they are, and a move moves them."""
        kept = dict(self.named_buffers())
        super()._apply(fn, recurse)
        for name, buffer in kept.items():
            moved = getattr(self, name)
            if moved.dtype != buffer.dtype:
                setattr(self, name, buffer.to(moved.device))
        return self


class GaussianBasis(Basis):
    """Gaussian radial basis functions on the line, psi_j(t) = N(t; mu_j, sigma_j^2), j = 1, ..., N.

    ``basis(t)`` is psi at each position of a tensor. A fixed basis has buffers, in float64 whatever the module is cast
    to. A learned one has parameters: mu, and the logarithm of sigma, so that it stays positive.

    Parameters
    ----------
    mu : Tensor
        The centres, (N,).
    sigma : float or Tensor
        The standard deviations, (N,), or one for all.
    learned : bool
        Whether mu and sigma are parameters.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import GaussianBasis
    >>> basis = GaussianBasis(torch.tensor([0.0, 0.5, 1.0]), 0.2)
    >>> basis(torch.tensor(0.4))
    tensor([0.2700, 1.7603, 0.0222])
    >>> basis
    GaussianBasis(count=3, dimension=1, learned=False)
    """

    fixed_sigma: torch.Tensor
    raw_sigma: torch.Tensor

    def __init__(self, mu: torch.Tensor, sigma: float | torch.Tensor, learned: bool = False) -> None:
        super().__init__()
        if mu.dim() != 1 or mu.numel() == 0:
            raise ValueError(f"GaussianBasis: mu must have shape (N,), N > 0, got {tuple(mu.shape)}")
        if not isinstance(sigma, torch.Tensor):
            sigma = torch.full((), sigma, dtype=torch.float64, device=mu.device)
        if sigma.shape not in ((), mu.shape):
            raise ValueError(
                f"GaussianBasis: sigma must have shape () or {tuple(mu.shape)}, as mu has, got {tuple(sigma.shape)}"
            )
        centres, deviations = mu.detach().double(), sigma.detach().double().expand(mu.shape)
        bad = ~(torch.isfinite(centres) & torch.isfinite(deviations) & (deviations > 0))
        if bad.is_cpu and bad.any():
            j = int(bad.nonzero()[0])
            raise ValueError(
                "GaussianBasis: mu must be finite and sigma positive and finite, got "
                f"{centres[j].item()} and {deviations[j].item()} at {j}"
            )
        fixed = {"mu": centres, "sigma": deviations}
        self._keep(learned, fixed, {"mu": centres, "sigma": deviations.log()})

    @classmethod
    def linearly_spaced(
        cls,
        count: int,
        lower: float = 0.0,
        upper: float = 1.0,
        sigma: float | Sequence[float] = (0.1, 0.5),
        learned: bool = False,
    ) -> Self:
        """For each standard deviation sigma in turn as many functions as for the others, `count` in all, from lower to
        upper.

        The centres include both ends. The paper's basis for audio is ``linearly_spaced(128)``.

        Examples
        --------
        >>> from fenchel.torch import GaussianBasis
        >>> GaussianBasis.linearly_spaced(6).mu
        tensor([0.0000, 0.5000, 1.0000, 0.0000, 0.5000, 1.0000], dtype=torch.float64)
        """
        basis = fenchel.GaussianBasis.linearly_spaced(count, lower, upper, sigma)
        return cls(torch.from_numpy(basis.mu), torch.from_numpy(basis.sigma), learned)

    @property
    def sigma(self) -> torch.Tensor:
        """The standard deviations, (N,), in float64."""
        return self.raw_sigma.to(torch.float64).exp() if self.learned else self.fixed_sigma

    def functions(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Means (N, 1) and variances (N, 1, 1), as the operations take them."""
        return self.mu.unsqueeze(-1), self.sigma.square().reshape(-1, 1, 1)

    def forward(self, t: torch.Tensor) -> torch.Tensor:
        """psi(t), (..., N), at positions t, (...)."""
        _check_floating("GaussianBasis", t)
        normal = torch.distributions.Normal(self.mu, self.sigma, validate_args=False)
        return normal.log_prob(t[..., None].to(torch.float64)).exp().to(t.dtype)


class MultivariateGaussianBasis(Basis):
    """Gaussian radial basis functions on R^D, psi_j(t) = N(t; mu_j, Sigma_j), j = 1, ..., N.

    ``basis(t)`` is psi at each position of a tensor. A fixed basis has buffers, in float64 whatever the module is cast
    to. A learned one has parameters: mu, and of each Sigma its Cholesky factor, with logarithms on the diagonal, so
    that it stays positive definite.

    Parameters
    ----------
    mu : Tensor
        The centres, (N, D).
    Sigma : Tensor
        The covariance matrices, (N, D, D), or one for all, (D, D); their symmetric part counts.
    learned : bool
        Whether mu and Sigma are parameters.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import MultivariateGaussianBasis
    >>> basis = MultivariateGaussianBasis(torch.tensor([[0.2, 0.2], [0.8, 0.5]]), 0.1 * torch.eye(2))
    >>> basis(torch.tensor([0.2, 0.2]))
    tensor([1.5915, 0.1677])
    >>> basis
    MultivariateGaussianBasis(count=2, dimension=2, learned=False)
    """

    fixed_Sigma: torch.Tensor
    raw_Sigma: torch.Tensor

    def __init__(self, mu: torch.Tensor, Sigma: torch.Tensor, learned: bool = False) -> None:
        super().__init__()
        if mu.dim() != 2 or mu.numel() == 0:
            raise ValueError(
                f"MultivariateGaussianBasis: mu must have shape (N, D), N > 0 and D > 0, got {tuple(mu.shape)}"
            )
        square = mu.shape[1:] * 2
        if Sigma.shape not in (square, mu.shape[:1] + square):
            raise ValueError(
                f"MultivariateGaussianBasis: Sigma must have shape {tuple(square)} or {tuple(mu.shape[:1] + square)}, "
                f"as mu has {tuple(mu.shape)}, got {tuple(Sigma.shape)}"
            )
        centres, covariances = mu.detach().double(), Sigma.detach().double().expand(mu.shape[:1] + square)
        covariances = (covariances + covariances.mT) / 2
        factor, info = torch.linalg.cholesky_ex(covariances)
        bad = ~(torch.isfinite(factor).all(-1).all(-1) & torch.isfinite(centres).all(-1) & (info == 0))
        if bad.is_cpu and bad.any():
            j = int(bad.nonzero()[0])
            raise ValueError(
                "MultivariateGaussianBasis: mu must be finite and Sigma positive definite, got "
                f"{centres[j].tolist()} and {covariances[j].tolist()} at {j}"
            )
        logarithms = factor.diagonal(dim1=-2, dim2=-1).log().diag_embed()
        fixed = {"mu": centres, "Sigma": covariances}
        self._keep(learned, fixed, {"mu": centres, "Sigma": factor.tril(-1) + logarithms})

    @classmethod
    def unit_square(cls, rows: int, columns: int, Sigma: torch.Tensor, learned: bool = False) -> Self:
        """rows x columns functions on the unit square with one covariance Sigma, (2, 2), row by row, ends included.

        The paper's basis for images is ``unit_square(10, 10, 0.001 * torch.eye(2))``.
        """
        matrix = np.asarray(Sigma.detach().to("cpu", torch.float64))
        basis = fenchel.MultivariateGaussianBasis.unit_square(rows, columns, matrix)
        mu, matrices = (torch.from_numpy(x).to(Sigma.device) for x in (basis.mu, basis.Sigma))
        return cls(mu, matrices, learned)

    @property
    def Sigma(self) -> torch.Tensor:
        """The covariance matrices, (N, D, D), in float64."""
        if not self.learned:
            return self.fixed_Sigma
        factor = self._factor()
        return factor @ factor.mT

    def _factor(self) -> torch.Tensor:
        """The lower Cholesky factors of Sigma."""
        if not self.learned:
            return cholesky(self.fixed_Sigma)
        raw = self.raw_Sigma.to(torch.float64)
        return raw.tril(-1) + raw.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def functions(self) -> tuple[torch.Tensor, torch.Tensor]:
        """mu and Sigma, as the operations take them."""
        return self.mu, self.Sigma

    def forward(self, t: torch.Tensor) -> torch.Tensor:
        """psi(t), (..., N), at positions t, (..., D)."""
        _check_floating("MultivariateGaussianBasis", t)
        if t.shape[-1:] != self.event_shape:
            raise ValueError(
                f"MultivariateGaussianBasis: t must have shape (..., {self.dimension}), got {tuple(t.shape)}"
            )
        normal = torch.distributions.MultivariateNormal(self.mu, scale_tril=self._factor(), validate_args=False)
        return normal.log_prob(t[..., None, :].to(torch.float64)).exp().to(t.dtype)


def _check_floating(where: str, t: torch.Tensor) -> None:
    if not t.is_floating_point():
        raise TypeError(f"{where}: t must be of a floating point type, got {t.dtype}")
