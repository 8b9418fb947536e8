"""beta-Gaussians in space, as a distribution of torch."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributions import Distribution, MultivariateNormal, constraints, register_kl
from torch.distributions.utils import lazy_property

from ._constraints import finite_vector
from ._elliptical import Elliptical, alpha_tensor, real
from ._linalg import cholesky
from ._rows import Parameter


class MultivariateBetaGaussian(Elliptical):
    """A bell in R^n that ends on an ellipsoid for alpha > 1.

    p(t) = [1 + (alpha - 1) (f(t) - A)]_+^(1 / (alpha - 1)) for the score f(t) = -(t - mu)^T Sigma^-1 (t - mu) / 2 and
    the A that gives it mass 1. Every function has derivatives in its argument and in alpha, mu and Sigma.

    Parameters
    ----------
    alpha : float or Tensor
        Above 0 and 1 - 2/n; inf is allowed. 1 is the Gaussian.
    mu : Tensor
        The centre, of shape (..., n).
    Sigma : Tensor, optional
        The scale of the score, positive definite, of shape (..., n, n). It is the covariance for alpha = 1 only.
    scale_tril : Tensor, optional
        Its Cholesky factor, in place of Sigma.
    validate_args : bool, optional
        As of torch.distributions.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import MultivariateBetaGaussian
    >>> p = MultivariateBetaGaussian(2.0, torch.zeros(2), torch.eye(2))
    >>> p.log_prob(torch.tensor([[0.0, 0.0], [2.0, 0.0]]))
    tensor([-0.5724,    -inf])
    """

    support = constraints.real_vector

    def __init__(
        self,
        alpha: Parameter,
        mu: torch.Tensor,
        Sigma: torch.Tensor | None = None,
        scale_tril: torch.Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        scale = Sigma if scale_tril is None else scale_tril
        if scale is None or (Sigma is not None and scale_tril is not None):
            raise ValueError("fenchel.torch: MultivariateBetaGaussian: give one of Sigma and scale_tril")
        mu, scale = real(mu), real(scale)
        if mu.dim() < 1 or mu.shape[-1] == 0 or scale.dim() < 2 or scale.shape[-2:] != (mu.shape[-1], mu.shape[-1]):
            raise ValueError(
                "fenchel.torch: MultivariateBetaGaussian: mu and Sigma must have shapes (..., n) and (..., n, n), n > 0"
                f", got {tuple(mu.shape)} and {tuple(scale.shape)}"
            )
        alpha = alpha_tensor(alpha, mu)
        shape = torch.broadcast_shapes(alpha.shape, mu.shape[:-1], scale.shape[:-2])
        n = mu.shape[-1:]
        self.alpha, self.mu = alpha.expand(shape), mu.expand(shape + n)
        if Sigma is not None:
            self.Sigma = scale.expand(shape + n + n)
        else:
            self.scale_tril = scale.expand(shape + n + n)
        # torch's constraints on vectors and matrices fail where there are none to check.
        super().__init__(shape, n, validate_args=validate_args if shape.numel() > 0 else False)
        if Sigma is not None:
            self.scale_tril = cholesky(scale).expand(shape + n + n)

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """What the parameters must be."""
        return {
            "alpha": constraints.greater_than(max(0.0, 1 - 2 / self.mu.shape[-1])),
            "mu": finite_vector,
            "Sigma": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
        }

    def expand(self, batch_shape: Any, _instance: Any = None) -> MultivariateBetaGaussian:
        """The same distributions, in a larger batch."""
        new: MultivariateBetaGaussian = self._get_checked_instance(MultivariateBetaGaussian, _instance)
        shape, n = torch.Size(batch_shape), self.event_shape
        new.alpha, new.mu = self.alpha.expand(shape), self.mu.expand(shape + n)
        new.scale_tril = self.scale_tril.expand(shape + n + n)
        if "Sigma" in self.__dict__:
            new.Sigma = self.Sigma.expand(shape + n + n)
        Distribution.__init__(new, shape, n, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @lazy_property
    def Sigma(self) -> torch.Tensor:
        """The scale of the score."""
        return self.scale_tril @ self.scale_tril.mT

    @lazy_property
    def scale_tril(self) -> torch.Tensor:
        """The Cholesky factor of Sigma."""
        return cholesky(self.Sigma)

    def _log_det(self) -> torch.Tensor:
        return 2 * self.scale_tril.double().diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def _whiten(self, d: torch.Tensor) -> torch.Tensor:
        return torch.linalg.solve_triangular(self.scale_tril.double(), d.unsqueeze(-1), upper=False).squeeze(-1)

    def _stretch(self, z: torch.Tensor) -> torch.Tensor:
        return (self.scale_tril.double() @ z.unsqueeze(-1)).squeeze(-1)

    def active_support(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The ellipsoid (t - mu)^T Sigma^-1 (t - mu) < radius2, as (mu, Sigma, radius2); all of space for alpha <= 1,
        where radius2 is infinite."""
        return self.mu, self.Sigma, self._function("log_radius2").exp().to(self.mu.dtype)

    @property
    def covariance_matrix(self) -> torch.Tensor:
        """Infinite for alpha <= n / (n + 2), where entries of 0 stay 0."""
        factor = self._function("log_variance").exp()[..., None, None]
        Sigma = self.Sigma.double()
        covariance = torch.where(factor.isinf() & (Sigma == 0), Sigma, factor * Sigma)
        return covariance.to(self.mu.dtype)

    @property
    def variance(self) -> torch.Tensor:
        """The diagonal of the covariance matrix."""
        return self.covariance_matrix.diagonal(dim1=-2, dim2=-1)

    def _trace_of(self, other: MultivariateBetaGaussian) -> torch.Tensor:
        return _trace_of_quotient(other.scale_tril, self.scale_tril)


def _trace_of_quotient(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Tr((B B^T)^-1 A A^T) in float64."""
    return torch.linalg.solve_triangular(b.double(), a.double(), upper=False).square().sum((-2, -1))


@register_kl(MultivariateBetaGaussian, MultivariateNormal)  # type: ignore[untyped-decorator]
def _kl_normal(p: MultivariateBetaGaussian, q: MultivariateNormal) -> torch.Tensor:
    trace = p._function("log_variance").exp() * _trace_of_quotient(p.scale_tril, q.scale_tril)
    return (trace / 2).to(p.mu.dtype) - q.log_prob(p.mu) - p.entropy()
