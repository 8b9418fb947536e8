"""beta-Gaussians on the line, as a distribution of torch."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributions import Distribution, Normal, constraints, register_kl
from torch.distributions.utils import broadcast_all

from ._constraints import finite, positive_normal
from ._elliptical import Elliptical, alpha_tensor, real
from ._rows import Parameter


class BetaGaussian(Elliptical):
    """A bell on the line that ends for alpha > 1: Student, Gaussian, triweight, biweight, parabola, uniform.

    p(t) = [1 + (alpha - 1) (f(t) - A)]_+^(1 / (alpha - 1)) for the score f(t) = -(t - mu)^2 / (2 sigma2) and the A that
    gives it mass 1. Every function has derivatives in its argument and in alpha, mu and sigma2.

    Parameters
    ----------
    alpha : float or Tensor
        Positive; inf is allowed. 1 is the Gaussian, below it Student's t, 4/3 the triweight, 3/2 the biweight, 2 the
        truncated parabola, inf the uniform distribution.
    mu : float or Tensor
        The centre.
    sigma2 : float or Tensor
        The scale of the score, at least 2.2e-308, so that it has a reciprocal. It is the variance for alpha = 1 only.
    validate_args : bool, optional
        As of torch.distributions.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import BetaGaussian
    >>> p = BetaGaussian(2.0, mu=torch.tensor([1.0, 0.0]))
    >>> p.log_prob(torch.tensor([1.0, 3.0]))
    tensor([-0.4228,    -inf])
    >>> p.active_support()
    (tensor([-0.1447, -1.1447]), tensor([2.1447, 1.1447]))
    """

    arg_constraints = {"alpha": constraints.positive, "mu": finite, "sigma2": positive_normal}
    support = constraints.real
    sigma2: torch.Tensor

    def __init__(
        self, alpha: Parameter = 2.0, mu: Parameter = 0.0, sigma2: Parameter = 1.0, validate_args: bool | None = None
    ) -> None:
        if isinstance(alpha, torch.Tensor) and not any(isinstance(x, torch.Tensor) for x in (mu, sigma2)):
            mu = torch.full((), float(mu), device=alpha.device)
        self.mu, self.sigma2 = map(real, broadcast_all(mu, sigma2))
        self.alpha = alpha_tensor(alpha, self.mu)
        shape = torch.broadcast_shapes(self.alpha.shape, self.mu.shape)
        self._expand_from(self, shape)
        super().__init__(shape, validate_args=validate_args)

    def _expand_from(self, other: BetaGaussian, shape: torch.Size) -> None:
        self.alpha, self.mu, self.sigma2 = (x.expand(shape) for x in (other.alpha, other.mu, other.sigma2))

    def expand(self, batch_shape: Any, _instance: Any = None) -> BetaGaussian:
        """The same distributions, in a larger batch."""
        new: BetaGaussian = self._get_checked_instance(BetaGaussian, _instance)
        new._expand_from(self, torch.Size(batch_shape))
        Distribution.__init__(new, torch.Size(batch_shape), validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _log_det(self) -> torch.Tensor:
        return self.sigma2.double().log()

    def _sigma(self) -> torch.Tensor:
        return self.sigma2.double().sqrt()

    def _whiten(self, d: torch.Tensor) -> torch.Tensor:
        return d / self._sigma()

    def _whitened(self, value: torch.Tensor, largest: float = 1.4e154) -> torch.Tensor:
        """(value - mu) / sigma, at most a number that is infinite when squared; over sigma it is still finite, and so are
        gradients."""
        most, sigma = torch.finfo(torch.float64).max, self._sigma().detach()
        reach = (sigma * (0.9 * most * sigma).clamp(max=largest)).clamp(max=most)
        return self._whiten((value.double() - self.mu.double()).clamp(-reach, reach))

    def _stretch(self, z: torch.Tensor) -> torch.Tensor:
        return self._sigma() * z

    def active_support(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The ends of the support, which are infinite for alpha <= 1."""
        half = self._stretch((self._function("log_radius2") / 2).exp())
        mu = self.mu.double()
        return (mu - half).to(self.mu.dtype), (mu + half).to(self.mu.dtype)

    @property
    def variance(self) -> torch.Tensor:
        """Infinite for alpha <= 1/3."""
        return (self.sigma2.double() * self._function("log_variance").exp()).to(self.mu.dtype)

    def cdf(self, value: torch.Tensor) -> torch.Tensor:
        """P(X <= value)."""
        dtype = self._check(value)
        found = self._function("cdf", self._whitened(value, 1e300))
        return torch.where(value.isinf(), (value > 0).double(), found).to(dtype)

    def icdf(self, value: torch.Tensor) -> torch.Tensor:
        """The quantile of a probability, NaN outside of [0, 1]."""
        x = self._function("quantile", value.double())
        return (self.mu.double() + self._stretch(x)).to(torch.promote_types(value.dtype, self.mu.dtype))

    def _trace_of(self, other: BetaGaussian) -> torch.Tensor:
        return other.sigma2.double() / self.sigma2.double()


@register_kl(BetaGaussian, Normal)  # type: ignore[untyped-decorator]
def _kl_normal(p: BetaGaussian, q: Normal) -> torch.Tensor:
    return p.variance / (2 * q.variance) - q.log_prob(p.mu) - p.entropy()
