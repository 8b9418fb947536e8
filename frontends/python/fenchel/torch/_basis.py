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


class GaussianBasis(torch.nn.Module):
    """Gaussian radial basis functions, psi_j(t) = N(t; mean_j, covariance_j), j = 1, ..., N, on the line or on R^D.

    A fixed basis has buffers, in float64 whatever the module is cast to. A learned one has parameters: the means, and
    of each covariance its Cholesky factor, with logarithms on the diagonal, so that it stays positive definite.

    Parameters
    ----------
    mean : Tensor
        (N,) on the line, (N, D) on R^D.
    covariance : Tensor
        On the line the variances (N,), or one for all; on R^D matrices (N, D, D), or one (D, D) for all.
    learned : bool
        Whether mean and covariance are parameters.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import GaussianBasis
    >>> basis = GaussianBasis(torch.tensor([0.0, 0.5, 1.0]), torch.tensor(0.2**2))
    >>> basis.evaluate(torch.tensor(0.4))
    tensor([0.2700, 1.7603, 0.0222])
    >>> basis
    GaussianBasis(count=3, dimension=1, learned=False)
    """

    means: torch.Tensor
    covariances: torch.Tensor

    def __init__(self, mean: torch.Tensor, covariance: torch.Tensor, learned: bool = False) -> None:
        super().__init__()
        if mean.dim() not in (1, 2) or mean.numel() == 0:
            raise ValueError(f"GaussianBasis: mean must have shape (N,) or (N, D), N > 0, got {tuple(mean.shape)}")
        event = tuple(mean.shape[1:])
        if covariance.shape not in (event * 2, mean.shape + event):
            raise ValueError(
                f"GaussianBasis: covariance must have shape {event * 2} or {tuple(mean.shape + event)}, as mean has "
                f"{tuple(mean.shape)}, got {tuple(covariance.shape)}"
            )
        count, dimension = len(mean), mean.shape[1] if event else 1
        means = mean.detach().to(torch.float64).reshape(count, dimension)
        covariances = covariance.detach().to(torch.float64).expand(*mean.shape, *event)
        covariances = covariances.reshape(count, dimension, dimension)
        covariances = (covariances + covariances.mT) / 2
        factor, info = torch.linalg.cholesky_ex(covariances)
        bad = ~(torch.isfinite(factor).all(-1).all(-1) & torch.isfinite(means).all(-1) & (info == 0))
        if bad.is_cpu and bad.any():
            j = int(bad.nonzero()[0])
            raise ValueError(
                "GaussianBasis: means must be finite and covariances positive definite, got "
                f"{means[j].tolist()} and {covariances[j].tolist()} at {j}"
            )
        self.learned = learned
        if learned:
            dtype = torch.get_default_dtype()
            diagonal = factor.diagonal(dim1=-2, dim2=-1)
            self.means = torch.nn.Parameter(means.to(dtype))
            self.factors = torch.nn.Parameter((factor.tril(-1) + diagonal.log().diag_embed()).to(dtype))
        else:
            self.register_buffer("means", means.clone())
            self.register_buffer("covariances", covariances)

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

        The means include both ends. The paper's basis for audio is ``linearly_spaced(128)``.

        Examples
        --------
        >>> from fenchel.torch import GaussianBasis
        >>> GaussianBasis.linearly_spaced(6).mean[:, 0]
        tensor([0.0000, 0.5000, 1.0000, 0.0000, 0.5000, 1.0000], dtype=torch.float64)
        """
        basis = fenchel.GaussianBasis.linearly_spaced(count, lower, upper, sigma)
        return cls(torch.from_numpy(basis.mu), torch.from_numpy(basis.sigma**2), learned)

    @classmethod
    def unit_square(cls, rows: int, columns: int, covariance: torch.Tensor, learned: bool = False) -> Self:
        """rows x columns functions on the unit square with one covariance (2, 2), row by row, ends included.

        The paper's basis for images is ``unit_square(10, 10, 0.001 * torch.eye(2))``.
        """
        matrix = np.asarray(covariance.detach().to("cpu", torch.float64))
        basis = fenchel.GaussianBasis.unit_square(rows, columns, matrix)
        mean, matrices = (torch.from_numpy(x).to(covariance.device) for x in (basis.mu, basis.sigma))
        return cls(mean, matrices, learned)

    @property
    def count(self) -> int:
        """How many functions there are, N."""
        return self.means.shape[0]

    @property
    def dimension(self) -> int:
        """D; 1 on the line."""
        return self.means.shape[1]

    @property
    def mean(self) -> torch.Tensor:
        """(N, D), in float64."""
        return self.means.to(torch.float64)

    @property
    def covariance(self) -> torch.Tensor:
        """(N, D, D), in float64."""
        if not self.learned:
            return self.covariances
        factor = self.factor
        return factor @ factor.mT

    @property
    def factor(self) -> torch.Tensor:
        """The lower Cholesky factors of the covariances, (N, D, D), in float64."""
        if not self.learned:
            return cholesky(self.covariances)
        factors = self.factors.to(torch.float64)
        return factors.tril(-1) + factors.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def evaluate(self, t: torch.Tensor) -> torch.Tensor:
        """psi(t), (..., N), at positions t, (...) on the line and (..., D) on R^D."""
        if not t.is_floating_point():
            raise TypeError(f"GaussianBasis: t must be of a floating point type, got {t.dtype}")
        point = t[..., None] if self.dimension == 1 else t
        if point.shape[-1:] != (self.dimension,):
            raise ValueError(f"GaussianBasis: t must have shape (..., {self.dimension}), got {tuple(t.shape)}")
        normal = torch.distributions.MultivariateNormal(self.mean, scale_tril=self.factor, validate_args=False)
        return normal.log_prob(point[..., None, :].to(torch.float64)).exp().to(t.dtype)

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
