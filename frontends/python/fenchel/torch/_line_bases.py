"""Bases on the line that are not Gaussian: powers, waves, functions of one's own, and several bases together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import fenchel

from ._basis import Basis
from ._beta_gaussian import BetaGaussian
from ._differentiable import Places, Rule, Tensors, differentiable
from ._library import ops, register_rows

_SIZES: dict[str, Callable[[int], int]] = {"polynomial": lambda degree: degree + 1, "fourier": lambda waves: 2 * waves + 1}
"""How many functions a basis has."""

register_rows(
    "attend_line",
    lambda mu, sigma2, alphas, basis, count, *rest: mu.new_empty((*mu.shape, _SIZES[basis](count))),
)
register_rows(
    "attend_line_gradient",
    lambda mu, sigma2, alphas, basis, count, *rest: mu.new_empty((*mu.shape, 3, _SIZES[basis](count))),
)


class _AttendLine(Rule):
    """x is (mu, sigma2, alphas), static the basis."""

    name = "attend_line"
    count = 3

    @staticmethod
    def vjp(x: Tensors, outputs: Tensors, grad: torch.Tensor, wanted: Places, static: tuple[Any, ...]) -> Tensors:
        product = (ops.attend_line_gradient(*x, *static) * grad.unsqueeze(-2)).sum(-1)
        return tuple(product[..., i] if i in wanted else None for i in range(3))

    @staticmethod
    def jvp(x: Tensors, outputs: Tensors, dx: Tensors, static: tuple[Any, ...]) -> torch.Tensor:
        slopes = ops.attend_line_gradient(*x, *static)
        moves = (slopes[..., i, :] * d.unsqueeze(-1) for i, d in enumerate(dx) if d is not None)
        return sum(moves, torch.zeros_like(outputs[0]))

    @staticmethod
    def hessian(
        x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        raise NotImplementedError(
            f"fenchel.torch: attention with a {static[0]} basis has first derivatives, and no second ones"
        )


_attend_line = differentiable(_AttendLine)


class LineBasis(Basis):
    """A fixed basis on the line that has no centres."""

    learned = False

    @property
    def event_shape(self) -> torch.Size:
        """(): it is on the line."""
        return torch.Size()

    @property
    def dimension(self) -> int:
        """1."""
        return 1

    def attend(self, alpha: torch.Tensor, mu: torch.Tensor, sigma2: torch.Tensor) -> torch.Tensor:
        """E_p[psi], (..., N), for densities of tensors of one shape, in float64."""
        raise NotImplementedError


class PolynomialBasis(LineBasis):
    """psi_k(t) = ((t - centre) / width)^k, k = 0, ..., degree.

    A centre and a width of the place where t lies keep high degrees usable. Attention has derivatives of first order,
    and no kernel for a GPU.

    Parameters
    ----------
    degree : int
        The highest power.
    centre, width : float
        Where the powers are 0, and the unit of length.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import PolynomialBasis
    >>> PolynomialBasis(2)(torch.tensor(3.0))
    tensor([1., 3., 9.])
    """

    def __init__(self, degree: int, centre: float = 0.0, width: float = 1.0) -> None:
        super().__init__()
        basis = fenchel.PolynomialBasis(degree, centre, width)
        self.degree, self.centre, self.width = basis.degree, basis.centre, basis.width

    @property
    def count(self) -> int:
        """How many functions there are, N."""
        return self.degree + 1

    def forward(self, t: torch.Tensor) -> torch.Tensor:
        """psi(t), (..., N), at positions t, (...)."""
        powers = torch.arange(self.degree + 1, dtype=torch.float64, device=t.device)
        return (((t[..., None].double() - self.centre) / self.width) ** powers).to(t.dtype)

    def attend(self, alpha: torch.Tensor, mu: torch.Tensor, sigma2: torch.Tensor) -> torch.Tensor:
        """E_p[psi], (..., N), for densities of tensors of one shape, in float64."""
        return _attend_line(mu, sigma2, alpha, "polynomial", self.degree, self.centre, self.width)

    def extra_repr(self) -> str:
        return f"degree={self.degree}, centre={self.centre}, width={self.width}"


class FourierBasis(LineBasis):
    """Waves: 1, then cos(2 pi k t / period) and sin(2 pi k t / period) for k = 1, ..., waves: 2 waves + 1 functions.

    Attention has derivatives of first order, and no kernel for a GPU.

    Parameters
    ----------
    count : int
        How many frequencies there are: `waves`, later, as `basis.count` is how many functions a basis has.
    period : float
        The longest period.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import FourierBasis
    >>> FourierBasis(1, period=4)(torch.tensor(1.0)).round(decimals=4)
    tensor([1., 0., 1.])
    """

    def __init__(self, count: int, period: float = 1.0) -> None:
        super().__init__()
        basis = fenchel.FourierBasis(count, period)
        self.waves, self.period = basis.count, basis.period

    @property
    def count(self) -> int:
        """How many functions there are, N."""
        return 2 * self.waves + 1

    def forward(self, t: torch.Tensor) -> torch.Tensor:
        """psi(t), (..., N), at positions t, (...)."""
        k = torch.arange(1, self.waves + 1, dtype=torch.float64, device=t.device)
        turns = 2 * torch.pi * k * t[..., None].double() / self.period
        waves = torch.stack([turns.cos(), turns.sin()], -1).flatten(-2)
        return torch.cat([torch.ones_like(t[..., None], dtype=torch.float64), waves], -1).to(t.dtype)

    def attend(self, alpha: torch.Tensor, mu: torch.Tensor, sigma2: torch.Tensor) -> torch.Tensor:
        """E_p[psi], (..., N), for densities of tensors of one shape, in float64."""
        return _attend_line(mu, sigma2, alpha, "fourier", self.waves, 0.0, self.period)

    def extra_repr(self) -> str:
        return f"waves={self.waves}, period={self.period}"


class ConcatenatedBasis(LineBasis):
    """The functions of several bases on the line, one basis after the other.

    Parameters
    ----------
    *bases : bases on the line
        Gaussian ones may be learned.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import ConcatenatedBasis, FourierBasis, PolynomialBasis
    >>> ConcatenatedBasis(PolynomialBasis(1), FourierBasis(1))(torch.tensor(0.5)).round(decimals=4)
    tensor([ 1.0000,  0.5000,  1.0000, -1.0000,  0.0000])
    """

    def __init__(self, *bases: Basis) -> None:
        super().__init__()
        if not bases:
            raise ValueError("ConcatenatedBasis: bases must not be empty")
        for basis in bases:
            if not isinstance(basis, Basis) or basis.event_shape:
                raise TypeError(f"ConcatenatedBasis: bases must be bases on the line, got {basis!r}")
        self.bases = torch.nn.ModuleList(bases)
        self.learned = any(basis.learned for basis in bases)

    @property
    def count(self) -> int:
        """How many functions there are, N."""
        return sum(basis.count for basis in self.parts())

    def forward(self, t: torch.Tensor) -> torch.Tensor:
        """psi(t), (..., N), at positions t, (...)."""
        return torch.cat([basis(t) for basis in self.bases], -1)

    def parts(self) -> list[Basis]:
        """The bases."""
        return [basis for basis in self.bases if isinstance(basis, Basis)]

    def extra_repr(self) -> str:
        return ""


class FunctionBasis(LineBasis):
    """Functions of one's own, such as a network, as a basis, with expectations by quadrature.

    psi is called on tensors of positions, and its parameters get gradients. E_p[psi] is the mean over quantiles of p,
    by the double exponential rule: to ten digits for functions that are smooth over the width of p, to three for those
    with a kink. Densities get gradients through the quantiles, of first order in alpha, so psi must be differentiable.

    Parameters
    ----------
    function : callable
        From positions t, (...), to psi(t), (..., N); a Module is trained with this basis.
    count : int
        N.
    nodes : int
        How many quantiles on each side of the median.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import FunctionBasis, continuous_attention
    >>> basis = FunctionBasis(lambda t: torch.stack([t.cos(), t.square()], -1), 2)
    >>> continuous_attention(1.0, torch.tensor(0.0), torch.tensor(1.0), basis)
    tensor([0.6065, 1.0000])
    """

    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor], count: int, nodes: int = 32) -> None:
        super().__init__()
        if not callable(function):
            raise TypeError(f"FunctionBasis: function must be callable, got {function!r}")
        if count < 1 or nodes < 1:
            raise ValueError(f"FunctionBasis: count and nodes must be positive, got {count} and {nodes}")
        self.function = function
        self._count = count
        self.nodes = nodes
        self.learned = isinstance(function, torch.nn.Module) and any(True for _ in function.parameters())

    @property
    def count(self) -> int:
        """How many functions there are, N."""
        return self._count

    def forward(self, t: torch.Tensor) -> torch.Tensor:
        """psi(t), (..., N), at positions t, (...)."""
        psi = self.function(t)
        if psi.shape != (*t.shape, self._count):
            wanted = (*t.shape, self._count)
            raise ValueError(f"FunctionBasis: function must give shape {wanted}, got {tuple(psi.shape)}")
        return psi

    def attend(self, alpha: torch.Tensor, mu: torch.Tensor, sigma2: torch.Tensor) -> torch.Tensor:
        """E_p[psi], (..., N), for densities of tensors of one shape, in float64."""
        if not mu.is_cuda:  # the mean of 1 checks the densities; on a GPU that would mean to wait for it
            ops.attend_line(mu.detach(), sigma2.detach(), alpha.detach(), "polynomial", 0, 0.0, 1.0)
        step = 3.6 / self.nodes
        s = step * torch.arange(1, self.nodes + 1, dtype=torch.float64, device=mu.device)
        u = torch.sigmoid(-torch.pi * s.sinh())
        weights = step * torch.pi * s.cosh() * u * (1 - u)
        down = BetaGaussian(alpha, torch.zeros_like(mu), sigma2, validate_args=False).icdf(
            u.reshape(-1, *(1,) * mu.dim())
        )
        t = torch.cat([mu + down, mu.unsqueeze(0), mu - down])
        psi = self(t.to(self._dtype())).double()
        all_weights = torch.cat([weights, weights.new_full((1,), step * torch.pi / 4), weights])
        return torch.tensordot(all_weights, psi, 1)

    def _dtype(self) -> torch.dtype:
        """Of positions: that of a network's parameters."""
        parameters = self.function.parameters() if isinstance(self.function, torch.nn.Module) else iter(())
        return next((p.dtype for p in parameters if p.is_floating_point()), torch.float64)

    def extra_repr(self) -> str:
        return f"count={self.count}, nodes={self.nodes}"
