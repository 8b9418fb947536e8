"""What beta-Gaussians on the line and in space share: functions of (q, log det Sigma, alpha) by the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.distributions import Distribution

from ._differentiable import Places, Rule, Tensors, differentiable
from ._library import ops, register_rows

if TYPE_CHECKING:
    from typing_extensions import Self

_PLACES = ((0, 1, 2), (1, 3, 4), (2, 4, 5))
"""Of the second derivatives among the six that the operation gives."""


def _register(name: str, last: tuple[int, ...]) -> None:
    register_rows(name, lambda argument, log_det, *rest: log_det.new_empty((*log_det.shape, *last)))


_register("beta_gaussian", ())
_register("beta_gaussian_gradient", (3,))
_register("beta_gaussian_hessian", (6,))
register_rows("beta_gaussian_directions", lambda seeds, dimension: seeds.new_empty((*seeds.shape, dimension)))


class _BetaGaussian(Rule):
    """x is (argument, log_det, alpha), static the function's name and the dimension: all element by element."""

    name = "beta_gaussian"
    count = 3

    @staticmethod
    def vjp(x: Tensors, outputs: Tensors, grad: torch.Tensor, wanted: Places, static: tuple[Any, ...]) -> Tensors:
        slopes = ops.beta_gaussian_gradient(*x, *static, 2 in wanted)
        return tuple(grad * slopes[..., i] if i in wanted else None for i in range(3))

    @staticmethod
    def jvp(x: Tensors, outputs: Tensors, dx: Tensors, static: tuple[Any, ...]) -> torch.Tensor:
        slopes = ops.beta_gaussian_gradient(*x, *static, dx[2] is not None)
        moves = (slopes[..., i] * d for i, d in enumerate(dx) if d is not None)
        return sum(moves, torch.zeros_like(x[1]))

    @staticmethod
    def hessian(
        x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        second = ops.beta_gaussian_hessian(*x, *static, 2 in wanted or dx[2] is not None)
        moves = [(j, d) for j, d in enumerate(dx) if d is not None]
        return tuple(
            grad * sum(second[..., _PLACES[i][j]] * d for j, d in moves) if i in wanted else None for i in range(3)
        )


_beta_gaussian = differentiable(_BetaGaussian)


class Elliptical(Distribution):
    """A beta-Gaussian of centre mu and scale Sigma. All is computed in float64, and rounded once."""

    has_rsample = True
    alpha: torch.Tensor
    mu: torch.Tensor

    @property
    def _dimension(self) -> int:
        return self.event_shape.numel()

    def _log_det(self) -> torch.Tensor:
        """log det Sigma, in float64."""
        raise NotImplementedError

    def _whiten(self, d: torch.Tensor) -> torch.Tensor:
        """L^-1 d in float64, where Sigma = L L^T."""
        raise NotImplementedError

    def _stretch(self, z: torch.Tensor) -> torch.Tensor:
        """L z in float64."""
        raise NotImplementedError

    def _trace_of(self, other: Any) -> torch.Tensor:
        """Of Sigma^-1 times the other's Sigma, in float64."""
        raise NotImplementedError

    def _squared_norm(self, z: torch.Tensor) -> torch.Tensor:
        return z.square().sum(-1) if self.event_shape else z.square()

    def _whitened(self, value: torch.Tensor) -> torch.Tensor:
        """L^-1 (value - mu). Infinity is made a number, or its gradient of 0 would become NaN on the way back."""
        return self._whiten((value.double() - self.mu.double()).clamp(-1e250, 1e250))

    def _distance2(self, value: torch.Tensor) -> torch.Tensor:
        return self._squared_norm(self._whitened(value))

    def _function(self, name: str, argument: torch.Tensor | None = None) -> torch.Tensor:
        """One of the library's functions, in float64."""
        tensors = [self._log_det(), self.alpha.double()]
        if argument is None:
            return _beta_gaussian(None, *torch.broadcast_tensors(*tensors), name, self._dimension)
        return _beta_gaussian(*torch.broadcast_tensors(argument, *tensors), name, self._dimension)

    def _check(self, value: torch.Tensor) -> torch.dtype:
        """The dtype of what is computed from the value."""
        if self._validate_args:
            self._validate_sample(value)
        return torch.promote_types(value.dtype, self.mu.dtype)

    @property
    def mean(self) -> torch.Tensor:
        """mu, also where tails are so heavy that there is no mean."""
        return self.mu

    @property
    def mode(self) -> torch.Tensor:
        """mu."""
        return self.mu

    def rsample(self, sample_shape: Any = torch.Size()) -> torch.Tensor:
        """Draws, differentiable in every parameter: along a fixed seed a draw is a smooth function of them."""
        shape = self._extended_shape(sample_shape)
        elements = shape[: len(shape) - len(self.event_shape)]
        seeds = torch.randint(2**53, elements, dtype=torch.float64, device=self.mu.device)
        direction = ops.beta_gaussian_directions(seeds, self._dimension)
        z = self._function("log_draw", seeds).exp().unsqueeze(-1) * direction
        t = self.mu.double() + self._stretch(z.reshape(shape))
        return t.to(self.mu.dtype)

    def log_prob(self, value: torch.Tensor) -> torch.Tensor:
        """The log density: -inf, with a gradient of 0, off the support."""
        dtype = self._check(value)
        return self._function("log_density", self._distance2(value)).to(dtype)

    def entropy(self) -> torch.Tensor:
        """Shannon's."""
        return self._function("entropy").to(self.mu.dtype)

    def tsallis_entropy(self) -> torch.Tensor:
        """-Omega_alpha, of the same alpha: what this distribution maximises together with its mean score."""
        return self._function("tsallis_entropy").to(self.mu.dtype)

    def cross_omega(self, value: torch.Tensor) -> torch.Tensor:
        """The cross-Omega loss Omega*(f) - f(t) of the score f = -q/2 at a point.

        It is finite off the support too. Its mean over a sample is least where mean and covariance of this distribution
        are those of the sample, and at alpha = 1 it is -log_prob.
        """
        dtype = self._check(value)
        return self._function("cross_omega", self._distance2(value)).to(dtype)

    def fenchel_young(self, other: Self) -> torch.Tensor:
        """The Fenchel-Young loss of this distribution's score against another of the same alpha.

        It is never negative (but for rounding), and 0 where they are the same; at alpha = 1 it is KL(other, self). It
        exists for alpha > n / (n + 2), 1/3 on the line: below, the entropy and the mean score are infinite.
        """
        if self._validate_args and not torch.equal(*torch.broadcast_tensors(self.alpha, other.alpha)):
            raise ValueError("fenchel.torch: fenchel_young: other.alpha must equal alpha, the regularizer's order")
        n = self._dimension
        least = n / (n + 2)
        if self._validate_args and not (self.alpha.double() > least).all():
            raise ValueError(f"fenchel.torch: fenchel_young: alpha must be above {least}, got {self.alpha.min().item()}")
        distance2, trace, v = self._distance2(other.mu), self._trace_of(other), other._function("log_variance").exp()
        at_zero = torch.zeros_like(v)
        conjugate, others = self._function("cross_omega", at_zero), other._function("cross_omega", at_zero)
        # The entropy is Omega* + n v / 2: where the two are alike large parts cancel before they are rounded.
        near = conjugate - others + (distance2 + (trace - n) * v) / 2
        apart = conjugate + (distance2 + trace * v) / 2 - other._function("tsallis_entropy")
        loss = torch.where((trace - n).abs() < n / 2, near, apart)
        return loss.to(torch.promote_types(self.mu.dtype, other.mu.dtype))


def real(x: torch.Tensor) -> torch.Tensor:
    """Of the default type where it is of integers, which draws and densities are not."""
    return x if x.is_floating_point() else x.to(torch.get_default_dtype())


def alpha_tensor(alpha: float | torch.Tensor, mu: torch.Tensor) -> torch.Tensor:
    """A number in float64: alpha - 1 has to keep its digits. One of the CPU serves every device."""
    if not isinstance(alpha, torch.Tensor):
        return torch.full((), alpha, dtype=torch.float64, device=mu.device)
    return alpha.to(mu.device, non_blocking=True) if alpha.dim() == 0 and alpha.is_cpu else alpha
