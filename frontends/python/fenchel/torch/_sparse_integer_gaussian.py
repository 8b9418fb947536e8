"""Integers about a centre, as a distribution of torch."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributions import Distribution, constraints
from torch.distributions.utils import broadcast_all

from ._beta_gaussian import BetaGaussian
from ._constraints import finite, positive_finite
from ._elliptical import alpha_tensor, real
from ._entmax import entmax
from ._entmax_loss import entmax_loss
from ._rows import Parameter

_MOST_INTEGERS = 2**25
"""In a window: those of `IntegerTable` in C++."""


def _gathered(rows: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
    """The numbers at these places, (...), of rows, (..., W)."""
    return rows.expand(*place.shape, rows.shape[-1]).gather(-1, place.unsqueeze(-1)).squeeze(-1)


class SparseIntegerGaussian(Distribution):
    """Integers about mu: the discrete Gaussian for alpha = 1, else finitely many of them.

    It is the prediction of the Tsallis regularizer for the score -(k - mu)^2 / (2 sigma2) on the integers: `entmax` over
    a window that holds its support. For alpha = 1 the window has 40 sigma on each side, and nothing is beyond it. All but
    `sample`, `icdf` and `mode` have derivatives of both orders in alpha, mu and sigma2, on every device.

    Parameters
    ----------
    alpha : float or Tensor
        At least 1; inf is allowed.
    mu : float or Tensor
        The centre; the mean where it is a multiple of 1/2.
    sigma2 : float or Tensor
        The scale of the score, positive; not the variance.
    validate_args : bool, optional
        As of torch.distributions.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import SparseIntegerGaussian
    >>> p = SparseIntegerGaussian(sigma2=torch.tensor(4.0))
    >>> p.prob(torch.arange(-2, 3))
    tensor([0.0000, 0.2917, 0.4167, 0.2917, 0.0000])
    """

    arg_constraints = {  # noqa: RUF012
        "alpha": constraints.greater_than_eq(1.0),
        "mu": finite,
        "sigma2": positive_finite,
    }
    support = constraints.integer_interval(-(2**53), 2**53)

    def __init__(
        self, alpha: Parameter = 2.0, mu: Parameter = 0.0, sigma2: Parameter = 1.0, validate_args: bool | None = None
    ) -> None:
        mu, sigma2 = map(real, broadcast_all(mu, sigma2))
        alpha = alpha_tensor(alpha, mu)
        shape = torch.broadcast_shapes(alpha.shape, mu.shape)
        self.alpha, self.mu, self.sigma2 = (x.expand(shape) for x in (alpha, mu, sigma2))
        super().__init__(shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> SparseIntegerGaussian:
        """The same distributions, in a larger batch."""
        new: SparseIntegerGaussian = self._get_checked_instance(SparseIntegerGaussian, _instance)
        new.alpha, new.mu, new.sigma2 = (x.expand(batch_shape) for x in (self.alpha, self.mu, self.sigma2))
        Distribution.__init__(new, torch.Size(batch_shape), validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _window(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The integers of each window, (..., W), and their scores less that of the middle one, which is the largest."""
        mu, sigma2, alpha = (x.double() for x in (self.mu, self.sigma2, self.alpha))
        with torch.no_grad():
            # A sum of a unimodal function is at most its integral and its largest value: the support is at most that of
            # the density of mass 2, which has less than twice the width of that of mass 1.
            ends = BetaGaussian(alpha, torch.zeros_like(mu), sigma2, validate_args=False).active_support()[1]
            radius = torch.minimum(2 * ends, 40 * sigma2.sqrt()).max().item() if mu.numel() else 0.0
            if radius > _MOST_INTEGERS / 2:
                raise ValueError(
                    f"fenchel.torch.SparseIntegerGaussian: sigma2 must need a window of at most "
                    f"{_MOST_INTEGERS} integers, got {sigma2.max().item()}"
                )
            half = int(radius) + 2
            k = mu.round().unsqueeze(-1) + torch.arange(-half, half + 1, dtype=torch.float64, device=mu.device)
        return k, -self._below_middle(k, mu.unsqueeze(-1)) / sigma2.unsqueeze(-1)

    @staticmethod
    def _below_middle(k: torch.Tensor, mu: torch.Tensor) -> torch.Tensor:
        """((k - mu)^2 - (middle - mu)^2) / 2, whose quotient by a scale that is almost 0 has a largest one, too."""
        middle = mu.detach().round()
        return (k - middle) * ((k - mu) + (middle - mu)) / 2

    def _probabilities(self) -> tuple[torch.Tensor, torch.Tensor]:
        k, scores = self._window()
        return k, entmax(scores, self.alpha.double().unsqueeze(-1))

    def _offsets(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The integers of each window less its middle, which may be so large that a mean of them is rounded."""
        k, p = self._probabilities()
        return k - self.mu.detach().double().round().unsqueeze(-1), p

    def _check(self, value: torch.Tensor) -> torch.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return value

    def prob(self, value: torch.Tensor) -> torch.Tensor:
        """The probability of integers: 0 outside of the sparse support."""
        return self._at(self._check(value)).to(self.mu.dtype)

    def log_prob(self, value: torch.Tensor) -> torch.Tensor:
        """Its logarithm: -inf outside of the sparse support, where its gradient is 0."""
        p = self._at(self._check(value))
        there = p > 0
        return torch.where(there, torch.where(there, p, 1.0).log(), -torch.inf).to(self.mu.dtype)

    def _at(self, value: torch.Tensor) -> torch.Tensor:
        k, p = self._probabilities()
        place = value.to(p.device, torch.float64) - k[..., 0]
        inside = (place >= 0) & (place < k.shape[-1])
        return torch.where(inside, _gathered(p, torch.where(inside, place, 0.0).long()), 0.0)

    def cdf(self, value: torch.Tensor) -> torch.Tensor:
        """The probability of at most `value`, which is any number."""
        k, p = self._probabilities()
        place = value.to(p.device, torch.float64).floor() - k[..., 0]
        above = place >= 0
        last = torch.where(above, place, 0.0).clamp(max=k.shape[-1] - 1).long()
        return torch.where(above, _gathered(p.cumsum(-1), last), 0.0).clamp(max=1.0).to(self.mu.dtype)

    def icdf(self, value: torch.Tensor) -> torch.Tensor:
        """The smallest integer of the support whose cdf is at least `value`; NaN outside of [0, 1]."""
        with torch.no_grad():
            k, p = self._probabilities()
            u = value.to(p.device, torch.float64)
            total = p.cumsum(-1)
            wanted = torch.minimum(u, total[..., -1])
            low, high = torch.zeros_like(wanted).long(), torch.full_like(wanted, k.shape[-1] - 1).long()
            for _ in range(k.shape[-1].bit_length()):  # a comparison with all of a window would need too much memory
                middle = (low + high) // 2
                # Up to rounding of the sums, so that the median of a symmetric one is the lower of two.
                short = _gathered(total, middle) + 1e-15 < wanted
                low, high = torch.where(short, middle + 1, low), torch.where(short, high, middle)
            place = torch.maximum(low, (total == 0).sum(-1))
            return torch.where((u >= 0) & (u <= 1), _gathered(k, place), torch.nan).to(self.mu.dtype)

    def cross_omega(self, value: torch.Tensor) -> torch.Tensor:
        """The cross-Omega loss of integers: what to minimise. -log_prob for alpha = 1, and finite for every alpha."""
        below = self._below_middle(self._check(value).to(self.mu.device, torch.float64), self.mu.double())
        return (self._conjugate() + below / self.sigma2.double()).to(self.mu.dtype)

    @property
    def mean(self) -> torch.Tensor:
        """The mean."""
        offset, p = self._offsets()
        return (self.mu.detach().double().round() + (offset * p).sum(-1)).to(self.mu.dtype)

    @property
    def variance(self) -> torch.Tensor:
        """The variance."""
        offset, p = self._offsets()
        mean = (offset * p).sum(-1, keepdim=True)
        return ((offset - mean).square() * p).sum(-1).to(self.mu.dtype)

    @property
    def mode(self) -> torch.Tensor:
        """The most probable integer, the smaller of two."""
        return (self.mu.detach() - 0.5).ceil()

    def entropy(self) -> torch.Tensor:
        """The Shannon entropy, in nats."""
        p = self._probabilities()[1]
        # Of 1 in place of 0, where the slope would be infinite.
        return torch.special.entr(torch.where(p > 0, p, 1.0)).sum(-1).to(self.mu.dtype)

    def tsallis_entropy(self) -> torch.Tensor:
        """-Omega_alpha, of the same alpha: Omega*(f) less the mean score."""
        scores = self._window()[1]
        p = entmax(scores, self.alpha.double().unsqueeze(-1))
        mean_score = (torch.where(p > 0, scores, 0.0) * p).sum(-1)  # a score may be minus infinity
        return (self._conjugate() - mean_score).to(self.mu.dtype)

    def _conjugate(self) -> torch.Tensor:
        """Omega*(f) less the score of the middle of the window."""
        k, scores = self._window()
        middle = k.shape[-1] // 2
        classes = torch.full(k.shape[:-1], middle, device=k.device)
        return entmax_loss(scores, classes, self.alpha.double().unsqueeze(-1), reduction="none")

    def sample(self, sample_shape: Any = torch.Size()) -> torch.Tensor:
        """Integers, by inversion of torch's uniform numbers: torch.manual_seed gives the same ones again."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=torch.float64, device=self.mu.device))
