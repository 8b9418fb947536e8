"""A bell made of any convex function, as a distribution of torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.distributions import Distribution, constraints
from torch.distributions.utils import broadcast_all, lazy_property

import fenchel

from ._constraints import finite, positive_normal
from ._elliptical import real
from ._rows import Parameter

Function = Callable[[torch.Tensor], torch.Tensor]


class LocationScale(Distribution):
    """A bell made of any convex g: the prediction of sparsemax (alpha = 2) for the score -g'(|t - mu| / sigma) / sigma.

    p(t) = (g'(a) - g'(|t - mu| / sigma)) / sigma on mu +- a sigma, and a is where a g'(a) - g(a) + g(0) = 1/2. All
    members are of mu + sigma Z for one Z, which `fenchel.LocationScale` knows. Every function has derivatives in its
    argument, mu and sigma, of as many orders as g' has; parameters of g get none. Quantiles and draws are found one by
    one, with many calls of g: they are slow.

    Parameters
    ----------
    g : callable
        Convex on [0, inf), on tensors of float64.
    slope : callable
        Its derivative, which is 0 at 0 or above.
    mu : float or Tensor
        The centre.
    sigma : float or Tensor
        The scale, positive and no subnormal number.
    validate_args : bool, optional
        As of torch.distributions.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import LocationScale
    >>> p = LocationScale(torch.cosh, torch.sinh, torch.tensor(1.0), 2.0)
    >>> p.active_support()
    (tensor(-0.8142), tensor(2.8142))
    >>> p.cdf(torch.tensor([1.0, 1.5]))
    tensor([0.5000, 0.7278])
    """

    arg_constraints = {"mu": finite, "sigma": positive_normal}  # noqa: RUF012
    support = constraints.real
    has_rsample = True

    def __init__(
        self,
        g: Function,
        slope: Function,
        mu: Parameter = 0.0,
        sigma: Parameter = 1.0,
        validate_args: bool | None = None,
    ) -> None:
        self.g, self.slope = g, slope
        self.mu, self.sigma = map(real, broadcast_all(mu, sigma))
        super().__init__(self.mu.shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> LocationScale:
        """The same distributions, in a larger batch."""
        new: LocationScale = self._get_checked_instance(LocationScale, _instance)
        new.g, new.slope = self.g, self.slope
        new.mu, new.sigma = self.mu.expand(batch_shape), self.sigma.expand(batch_shape)
        Distribution.__init__(new, torch.Size(batch_shape), validate_args=False)
        new._validate_args = self._validate_args
        return new

    @lazy_property
    def standard(self) -> fenchel.LocationScale:
        """Z: the member of mu = 0 and sigma = 1."""
        return fenchel.LocationScale(_of_floats(self.g), _of_floats(self.slope))

    def _check(self, value: torch.Tensor) -> torch.dtype:
        if self._validate_args:
            self._validate_sample(value)
        return torch.promote_types(value.dtype, self.mu.dtype)

    def _distance(self, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """(t - mu) / sigma, its size no larger than a, and whether it is less."""
        z = (value.double() - self.mu.double()) / self.sigma.double()
        inside = z.abs() < self._end()
        return z, torch.where(inside, z, 0.0).abs(), inside

    def _end(self) -> float:
        return self.standard.support()[1]

    def _at_end(self, f: Function) -> torch.Tensor:
        with torch.no_grad():
            return f(torch.tensor(self._end(), dtype=torch.float64, device=self.mu.device))

    def log_prob(self, value: torch.Tensor) -> torch.Tensor:
        """The log density: -inf, with a gradient of 0, off the support."""
        dtype = self._check(value)
        _, y, inside = self._distance(value)
        height = (self._at_end(self.slope) - self.slope(y)).log() - self.sigma.double().log()
        return torch.where(inside, height, -torch.inf).to(dtype)

    def cdf(self, value: torch.Tensor) -> torch.Tensor:
        """P(X <= value)."""
        dtype = self._check(value)
        z, y, inside = self._distance(value)
        tail = (self._end() - y) * self._at_end(self.slope) - self._at_end(self.g) + self.g(y)
        tail = torch.where(inside, tail, 0.0)
        return torch.where(z < 0, tail, 1 - tail).to(dtype)

    def icdf(self, value: torch.Tensor) -> torch.Tensor:
        """The quantile of a probability, NaN outside of [0, 1]."""
        z = _Quantile.apply(value.double(), self)
        dtype = torch.promote_types(value.dtype, self.mu.dtype)
        return (self.mu.double() + self.sigma.double() * z).to(dtype)

    def rsample(self, sample_shape: Any = torch.Size()) -> torch.Tensor:
        """Draws, differentiable in mu and sigma: quantiles of torch's uniform numbers."""
        shape = self._extended_shape(sample_shape)
        u = torch.randint(1, 2**53, shape, dtype=torch.float64, device=self.mu.device) / 2**53
        return self.icdf(u).to(self.mu.dtype)

    @property
    def mean(self) -> torch.Tensor:
        """mu."""
        return self.mu

    @property
    def mode(self) -> torch.Tensor:
        """mu."""
        return self.mu

    @property
    def variance(self) -> torch.Tensor:
        """The variance."""
        return (self.sigma.double().square() * self.standard.var()).to(self.mu.dtype)

    def active_support(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The ends of the support."""
        mu, half = self.mu.double(), self._end() * self.sigma.double()
        return (mu - half).to(self.mu.dtype), (mu + half).to(self.mu.dtype)

    def entropy(self) -> torch.Tensor:
        """Shannon's."""
        return (self.sigma.double().log() + self.standard.entropy()).to(self.mu.dtype)

    def tsallis_entropy(self) -> torch.Tensor:
        """Tsallis', of order 2: (1 - int p^2) / 2."""
        return (0.5 - (0.5 - self.standard.tsallis_entropy()) / self.sigma.double()).to(self.mu.dtype)

    def cross_omega(self, value: torch.Tensor) -> torch.Tensor:
        """The cross-Omega loss Omega*(f) - f(t) of the score f at a point, finite off the support too."""
        dtype = self._check(value)
        sigma = self.sigma.double()
        slope = self.slope(((value.double() - self.mu.double()) / sigma).abs())
        with torch.no_grad():
            at_zero = self.slope(torch.zeros((), dtype=torch.float64)).item()
        conjugate = self.standard.cross_omega(0.0) - at_zero  # of sigma = 1, where 1/2 is the constant of Omega
        return (0.5 + (conjugate - 0.5 + slope) / sigma).to(dtype)


class _Quantile(torch.autograd.Function):
    """Of Z. Its derivative is 1 / p at the result, which is a function of u: so there are all orders."""

    @staticmethod
    def forward(u: torch.Tensor, p: LocationScale) -> torch.Tensor:
        return torch.as_tensor(p.standard.ppf(u.detach().cpu().numpy()), dtype=torch.float64, device=u.device)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        ctx.p = inputs[1]
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def _slope(ctx: Any) -> torch.Tensor:
        (z,) = ctx.saved_tensors
        return 1 / (ctx.p._at_end(ctx.p.slope) - ctx.p.slope(z.abs()))

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return grad * _Quantile._slope(ctx), None

    @staticmethod
    def jvp(ctx: Any, du: torch.Tensor, _: Any) -> Any:
        return du * _Quantile._slope(ctx)


def _of_floats(f: Function) -> Callable[[float], float]:
    def called(x: float) -> float:
        with torch.no_grad():
            return float(f(torch.tensor(x, dtype=torch.float64)))

    return called
