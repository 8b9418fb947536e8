"""Families on the line as distributions of torch: peaks, Gaussians less a constant, flat tops and smooth ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.distributions import Distribution, constraints
from torch.distributions.utils import broadcast_all

from ._constraints import finite, positive_normal
from ._differentiable import Places, Rule, Tensors, differentiable
from ._elliptical import real
from ._library import ops, register_rows
from ._rows import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self

register_rows("line", lambda x, shape, scale, family, function: shape.new_empty(shape.shape))
register_rows("line_gradient", lambda x, shape, scale, family, function: shape.new_empty((*shape.shape, 3)))


class _Line(Rule):
    """x is (the argument, shape, scale), static the names of family and function: all element by element."""

    name = "line"
    count = 3

    @staticmethod
    def vjp(x: Tensors, outputs: Tensors, grad: torch.Tensor, wanted: Places, static: tuple[Any, ...]) -> Tensors:
        slopes = ops.line_gradient(*x, *static)
        return tuple(grad * slopes[..., i] if i in wanted else None for i in range(3))

    @staticmethod
    def jvp(x: Tensors, outputs: Tensors, dx: Tensors, static: tuple[Any, ...]) -> torch.Tensor:
        slopes = ops.line_gradient(*x, *static)
        moves = (slopes[..., i] * d for i, d in enumerate(dx) if d is not None)
        return sum(moves, torch.zeros_like(x[1]))

    @staticmethod
    def hessian(
        x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        family, function = static
        raise NotImplementedError(f"fenchel.torch: {function} of {family} has first derivatives, and no second ones")


_line = differentiable(_Line)

register_rows("line_fenchel_young", lambda mu, *rest: (mu.new_empty(mu.shape), mu.new_empty((*mu.shape, 3))))


class _FenchelYoung(Rule):
    """x is (mu, shape, scale) and those of the target, which have no derivatives."""

    name = "line_fenchel_young"
    count = 6
    results = 2

    @staticmethod
    def vjp(x: Tensors, outputs: Tensors, grad: torch.Tensor, wanted: Places, static: tuple[Any, ...]) -> Tensors:
        return tuple(grad * outputs[1][..., i] if i in wanted else None for i in range(3))

    @staticmethod
    def jvp(x: Tensors, outputs: Tensors, dx: Tensors, static: tuple[Any, ...]) -> torch.Tensor:
        moves = (outputs[1][..., i] * d for i, d in enumerate(dx[:3]) if d is not None)
        return sum(moves, torch.zeros_like(x[0]))

    @staticmethod
    def hessian(
        x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        raise NotImplementedError(f"fenchel.torch: fenchel_young of {static[0]} has first derivatives, and no second ones")


_fenchel_young = differentiable(_FenchelYoung)


class LineFamily(Distribution):
    """A family with a shape, a centre mu and a scale. All is computed in float64, and rounded once."""

    has_rsample = True
    support = constraints.real
    mu: torch.Tensor
    _family: ClassVar[str]
    _names: ClassVar[tuple[str, ...]]
    """Of the parameters, in their order: the shape, unless it is a number, mu and the scale."""
    _fixed_shape: ClassVar[float | None] = None

    def _set(self, parameters: tuple[Parameter, ...], validate_args: bool | None) -> None:
        given = broadcast_all(*parameters)
        for name, x in zip(self._names, given):
            setattr(self, name, real(x))
        super().__init__(self.mu.shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distributions, in a larger batch."""
        new = self._get_checked_instance(type(self), _instance)
        for name in self._names:
            setattr(new, name, getattr(self, name).expand(batch_shape))
        Distribution.__init__(new, torch.Size(batch_shape), validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _shape_and_scale(self) -> tuple[torch.Tensor, torch.Tensor]:
        scale = getattr(self, self._names[-1]).double()
        if self._fixed_shape is not None:
            return torch.full_like(scale, self._fixed_shape), scale
        return getattr(self, self._names[0]).double(), scale

    def _function(self, name: str, x: torch.Tensor | None = None) -> torch.Tensor:
        """One of the library's functions, in float64."""
        shape, scale = self._shape_and_scale()
        if x is not None:
            x, shape, scale = torch.broadcast_tensors(x, shape, scale)
        return _line(x, shape, scale, self._family, name)

    def _check(self, value: torch.Tensor) -> torch.dtype:
        """The dtype of what is computed from the value."""
        if self._validate_args:
            self._validate_sample(value)
        return torch.promote_types(value.dtype, self.mu.dtype)

    def _from_centre(self, value: torch.Tensor) -> torch.Tensor:
        return value.double() - self.mu.double()

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
        """The variance; infinite where there is none."""
        return self._function("variance").to(self.mu.dtype)

    def active_support(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The ends of the support."""
        half, mu = self._function("half_width"), self.mu.double()
        return (mu - half).to(self.mu.dtype), (mu + half).to(self.mu.dtype)

    def log_prob(self, value: torch.Tensor) -> torch.Tensor:
        """The log density: -inf, with a gradient of 0, off the support."""
        dtype = self._check(value)
        return self._function("log_pdf", self._from_centre(value)).to(dtype)

    def cdf(self, value: torch.Tensor) -> torch.Tensor:
        """P(X <= value)."""
        dtype = self._check(value)
        return self._function("cdf", self._from_centre(value)).to(dtype)

    def icdf(self, value: torch.Tensor) -> torch.Tensor:
        """The quantile of a probability, NaN outside of [0, 1]."""
        t = self.mu.double() + self._function("quantile", value.double())
        return t.to(torch.promote_types(value.dtype, self.mu.dtype))

    def rsample(self, sample_shape: Any = torch.Size()) -> torch.Tensor:
        """Draws, differentiable in every parameter: quantiles of torch's uniform numbers."""
        shape = self._extended_shape(sample_shape)
        u = torch.randint(1, 2**53, shape, dtype=torch.float64, device=self.mu.device) / 2**53
        return self.icdf(u).to(self.mu.dtype)

    def entropy(self) -> torch.Tensor:
        """Shannon's."""
        return self._function("entropy").to(self.mu.dtype)

    def tsallis_entropy(self) -> torch.Tensor:
        """Tsallis', of the order in the regularizer: alpha, or 2 where there is none."""
        return self._function("tsallis_entropy").to(self.mu.dtype)

    def cross_omega(self, value: torch.Tensor) -> torch.Tensor:
        """The cross-Omega loss Omega*(f) - f(t) of this distribution's score f at a point.

        It is finite off the support too. Its mean over a sample is least where the moments of this distribution are
        those of the sample.
        """
        dtype = self._check(value)
        return self._function("cross_omega", self._from_centre(value)).to(dtype)


    def fenchel_young(self, other: Self) -> torch.Tensor:
        """The Fenchel-Young loss of this distribution's score against another of the family, which gets no gradient.

        It is never negative (but for rounding), and 0 where they are the same. It is found by quadrature.
        """
        if type(other) is not type(self):
            raise TypeError(f"fenchel.torch: fenchel_young: other must be a {type(self).__name__}, got {other!r}")
        target = (other.mu.double(), *other._shape_and_scale())
        if torch.is_grad_enabled() and any(t.requires_grad for t in target):
            raise ValueError("fenchel.torch: fenchel_young: other must not require a gradient: it gets none; detach it")
        tensors = torch.broadcast_tensors(self.mu.double(), *self._shape_and_scale(), *target)
        loss = _fenchel_young(*tensors, self._family)
        return loss.to(torch.promote_types(self.mu.dtype, other.mu.dtype))


class BetaLaplace(LineFamily):
    """A peak on the line that ends for alpha > 1: Laplace, triangular, uniform and what lies between.

    p(t) = [1 + (alpha - 1) (f(t) - A)]_+^(1 / (alpha - 1)) for the score f(t) = -|t - mu| / b and the A that gives it
    mass 1. Every function has derivatives in its argument and in alpha, mu and b.

    Parameters
    ----------
    alpha : float or Tensor
        Above 1/2; inf is allowed. 1 is Laplace's distribution, 2 the triangular one, inf is uniform on mu +- 1/2.
    mu : float or Tensor
        The centre.
    b : float or Tensor
        The scale of the score, positive.
    validate_args : bool, optional
        As of torch.distributions.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import BetaLaplace
    >>> p = BetaLaplace(2.0, b=torch.tensor(4.0))
    >>> p.active_support()
    (tensor(-2.), tensor(2.))
    >>> p.log_prob(torch.tensor([1.0, 3.0])).exp()
    tensor([0.2500, 0.0000])
    """

    arg_constraints = {  # noqa: RUF012
        "alpha": constraints.greater_than(0.5),
        "mu": finite,
        "b": positive_normal,
    }
    _family = "beta_laplace"
    _names = ("alpha", "mu", "b")
    alpha: torch.Tensor
    b: torch.Tensor

    def __init__(
        self, alpha: Parameter = 2.0, mu: Parameter = 0.0, b: Parameter = 1.0, validate_args: bool | None = None
    ) -> None:
        self._set((alpha, mu, b), validate_args)


class Triangular(LineFamily):
    """The triangular density on mu +- sqrt(b): the prediction of sparsemax (alpha = 2) for the score -|t - mu| / b.

    Every function has derivatives in its argument and in mu and b.

    Parameters
    ----------
    mu : float or Tensor
        The centre.
    b : float or Tensor
        The scale of the score, positive: the square of half the length of the support.
    validate_args : bool, optional
        As of torch.distributions.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import Triangular
    >>> Triangular(torch.tensor(1.0), 4.0).log_prob(torch.tensor([1.0, 2.0, 3.0])).exp()
    tensor([0.5000, 0.2500, 0.0000])
    """

    arg_constraints = {"mu": finite, "b": positive_normal}  # noqa: RUF012
    _family = "beta_laplace"
    _names = ("mu", "b")
    _fixed_shape = 2.0
    b: torch.Tensor

    def __init__(self, mu: Parameter = 0.0, b: Parameter = 1.0, validate_args: bool | None = None) -> None:
        self._set((mu, b), validate_args)


class TruncatedGaussian(LineFamily):
    """A Gaussian density less a constant: the prediction of sparsemax (alpha = 2) for the score kappa N(t; mu, sigma2).

    Every function has derivatives in its argument and in kappa, mu and sigma2.

    Parameters
    ----------
    kappa : float or Tensor
        The factor of the Gaussian, above 1. As it grows the density becomes a truncated parabola.
    mu : float or Tensor
        The centre.
    sigma2 : float or Tensor
        The variance of the Gaussian in the score, not of the distribution; positive.
    validate_args : bool, optional
        As of torch.distributions.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import TruncatedGaussian
    >>> TruncatedGaussian(torch.tensor(2.0)).active_support()
    (tensor(-1.5382), tensor(1.5382))
    """

    arg_constraints = {  # noqa: RUF012
        "kappa": constraints.greater_than(1.0),
        "mu": finite,
        "sigma2": positive_normal,
    }
    _family = "truncated_gaussian"
    _names = ("kappa", "mu", "sigma2")
    kappa: torch.Tensor
    sigma2: torch.Tensor

    def __init__(
        self, kappa: Parameter = 2.0, mu: Parameter = 0.0, sigma2: Parameter = 1.0, validate_args: bool | None = None
    ) -> None:
        self._set((kappa, mu, sigma2), validate_args)


class _TriangularFamily(LineFamily):
    arg_constraints = {  # noqa: RUF012
        "gamma": constraints.nonnegative,
        "mu": finite,
        "b": positive_normal,
    }
    _names = ("gamma", "mu", "b")
    gamma: torch.Tensor
    b: torch.Tensor

    def __init__(
        self, gamma: Parameter = 1.0, mu: Parameter = 0.0, b: Parameter = 1.0, validate_args: bool | None = None
    ) -> None:
        self._set((gamma, mu, b), validate_args)


class _ParabolaFamily(LineFamily):
    arg_constraints = {  # noqa: RUF012
        "gamma": constraints.nonnegative,
        "mu": finite,
        "sigma2": positive_normal,
    }
    _names = ("gamma", "mu", "sigma2")
    gamma: torch.Tensor
    sigma2: torch.Tensor

    def __init__(
        self, gamma: Parameter = 1.0, mu: Parameter = 0.0, sigma2: Parameter = 1.0, validate_args: bool | None = None
    ) -> None:
        self._set((gamma, mu, sigma2), validate_args)


class CappedTriangular(_TriangularFamily):
    """A triangular density with its top cut off: the prediction for -|t - mu| / b where total variation counts.

    The regularizer is (int p^2 - 1) / 2 + gamma int |p'|. Every function has derivatives in its argument and in gamma,
    mu and b.

    Parameters
    ----------
    gamma : float or Tensor
        The weight of the total variation, not negative. 0 gives `Triangular`, a large one is nearly uniform.
    mu : float or Tensor
        The centre.
    b : float or Tensor
        The scale of the score, positive.
    validate_args : bool, optional
        As of torch.distributions.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import CappedTriangular
    >>> CappedTriangular(torch.tensor(1.5)).log_prob(torch.tensor([0.0, 1.5, 2.5])).exp()
    tensor([0.2679, 0.2679, 0.0000])
    """

    _family = "capped_triangular"


class CappedParabola(_ParabolaFamily):
    """A parabola with its top cut off: the prediction for -(t - mu)^2 / (2 sigma2) where total variation counts.

    The regularizer is (int p^2 - 1) / 2 + gamma int |p'|. Every function has derivatives in its argument and in gamma,
    mu and sigma2.

    Parameters
    ----------
    gamma : float or Tensor
        The weight of the total variation, not negative. 0 gives `BetaGaussian` of alpha 2, a large one is nearly uniform.
    mu : float or Tensor
        The centre.
    sigma2 : float or Tensor
        The scale of the score, positive.
    validate_args : bool, optional
        As of torch.distributions.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import CappedParabola
    >>> CappedParabola(torch.tensor(1.0)).active_support()
    (tensor(-1.6510), tensor(1.6510))
    """

    _family = "capped_parabola"


class SmoothTriangular(_TriangularFamily):
    """A triangular density without corners: the prediction for -|t - mu| / b where roughness counts.

    The regularizer is (int p^2 - 1) / 2 + (gamma / 2) int p'^2, of Sobolev. Every function has derivatives in its
    argument and in gamma, mu and b.

    Parameters
    ----------
    gamma : float or Tensor
        The weight of the roughness, not negative. 0 gives `Triangular`.
    mu : float or Tensor
        The centre.
    b : float or Tensor
        The scale of the score, positive.
    validate_args : bool, optional
        As of torch.distributions.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import SmoothTriangular
    >>> SmoothTriangular(torch.tensor(1.0)).active_support()
    (tensor(-2.0279), tensor(2.0279))
    """

    _family = "smooth_triangular"


class SmoothParabola(_ParabolaFamily):
    """A parabola with smooth ends: the prediction for -(t - mu)^2 / (2 sigma2) where roughness counts.

    The regularizer is (int p^2 - 1) / 2 + (gamma / 2) int p'^2, of Sobolev. Every function has derivatives in its
    argument and in gamma, mu and sigma2.

    Parameters
    ----------
    gamma : float or Tensor
        The weight of the roughness, not negative. 0 gives `BetaGaussian` of alpha 2, a large one is nearly a biweight.
    mu : float or Tensor
        The centre.
    sigma2 : float or Tensor
        The scale of the score, positive.
    validate_args : bool, optional
        As of torch.distributions.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import SmoothParabola
    >>> SmoothParabola(torch.tensor(1.0)).active_support()
    (tensor(-1.9847), tensor(1.9847))
    """

    _family = "smooth_parabola"
