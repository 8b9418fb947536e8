"""Modules of the maps from scores to probabilities."""

from __future__ import annotations

import torch
from torch import nn

from .. import _entmax, _fusedmax
from .._rows import Parameter


def keep_parameter(module: nn.Module, name: str, value: Parameter) -> None:
    """A number is an attribute, a tensor a buffer and an nn.Parameter is trained with the module."""
    if isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter):
        module.register_buffer(name, value.detach().clone())
    else:
        setattr(module, name, value)


def show_parameter(value: Parameter) -> str:
    """A number, or the shape of a tensor of many or of none yet."""
    if isinstance(value, torch.Tensor) and (value.numel() != 1 or value.is_meta):
        return f"tensor{tuple(value.shape)}"
    return f"{torch.as_tensor(value).item():.4g}"


class Entmax(nn.Module):
    """`entmax` as a module.

    Parameters
    ----------
    alpha : float or Tensor
        A tensor broadcasts to the shape of the scores with `dim` of size 1: torch.full((heads, 1, 1), 1.5) is one for
        each head of an attention. An nn.Parameter is trained with the module, without bounds.
    dim : int
        Along which probabilities add up to one.
    learned : bool
        Whether alpha is trained, from the given value. It is 1 + sigmoid(raw_alpha) then, so it stays between softmax
        and sparsemax, and the given value must do so, too.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch.nn import Entmax
    >>> Entmax(1.5, learned=True)
    Entmax(alpha=1.5, dim=-1, learned=True)
    """

    _alpha: Parameter

    def __init__(self, alpha: Parameter = 1.5, dim: int = -1, learned: bool = False) -> None:
        super().__init__()
        self.dim = dim
        self.learned = learned
        if not learned:
            keep_parameter(self, "_alpha", alpha)
            return
        start = torch.as_tensor(alpha).detach().to(torch.float64)
        if start.is_cpu and not bool(((start > 1) & (start < 2)).all()):
            raise ValueError(f"fenchel.torch.nn.Entmax: alpha must be between 1 and 2 to be learned, got {alpha}")
        self.raw_alpha = nn.Parameter(torch.logit(start - 1).to(torch.get_default_dtype()))

    @property
    def alpha(self) -> Parameter:
        """The alpha in use. A learned one is a float64 tensor."""
        if self.learned:
            return 1 + torch.sigmoid(self.raw_alpha.to(torch.float64))
        return self._alpha

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        """Probabilities, of the shape of the scores."""
        return _entmax.entmax(scores, self.alpha, self.dim)

    def extra_repr(self) -> str:
        learned = ", learned=True" if self.learned else ""
        return f"alpha={show_parameter(self.alpha)}, dim={self.dim}{learned}"


class EntmaxBisect(Entmax):
    """`Entmax` with the arguments of the entmax package: alpha and dim. n_iter changes nothing: there is no bisection.

    An alpha that is an nn.Parameter is trained with the module, without bounds; `Entmax(learned=True)` has bounds.

    Examples
    --------
    >>> from fenchel.torch.nn import EntmaxBisect
    >>> EntmaxBisect(1.25)
    EntmaxBisect(alpha=1.25, dim=-1)
    """

    def __init__(self, alpha: Parameter = 1.5, dim: int = -1, n_iter: int = 50) -> None:
        super().__init__(alpha, dim)


class Sparsemax(Entmax):
    """`sparsemax` along dim, as a module. k, an argument of the entmax package, changes nothing.

    Examples
    --------
    >>> from fenchel.torch.nn import Sparsemax
    >>> Sparsemax(dim=1)
    Sparsemax(alpha=2, dim=1)
    """

    def __init__(self, dim: int = -1, k: int | None = None) -> None:
        super().__init__(2.0, dim)


class SparsemaxBisect(Entmax):
    """`Sparsemax` along dim, by another name of the entmax package. n_iter changes nothing.

    Examples
    --------
    >>> from fenchel.torch.nn import SparsemaxBisect
    >>> SparsemaxBisect()
    SparsemaxBisect(alpha=2, dim=-1)
    """

    def __init__(self, dim: int = -1, n_iter: int | None = None) -> None:
        super().__init__(2.0, dim)


class Entmax15(Entmax):
    """`entmax15` along dim, as a module. k, an argument of the entmax package, changes nothing.

    Examples
    --------
    >>> from fenchel.torch.nn import Entmax15
    >>> Entmax15()
    Entmax15(alpha=1.5, dim=-1)
    """

    def __init__(self, dim: int = -1, k: int | None = None) -> None:
        super().__init__(1.5, dim)


class _Neighbours(nn.Module):
    """A map with gamma, along dim."""

    gamma: Parameter
    dim: int | tuple[int, int]

    def extra_repr(self) -> str:
        return f"gamma={show_parameter(self.gamma)}, dim={self.dim}"


class Fusedmax(_Neighbours):
    """`fusedmax` as a module.

    Parameters
    ----------
    gamma : float or Tensor
        As in `fusedmax`. An nn.Parameter is trained with the module, without bounds.
    dim : int
        Along which probabilities add up to one.

    Examples
    --------
    >>> from fenchel.torch.nn import Fusedmax
    >>> Fusedmax(0.1)
    Fusedmax(gamma=0.1, dim=-1)
    """

    def __init__(self, gamma: Parameter = 1.0, dim: int = -1) -> None:
        super().__init__()
        self.dim: int = dim
        keep_parameter(self, "gamma", gamma)

    def forward(
        self, scores: torch.Tensor, lengths: torch.Tensor | None = None, weights: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Probabilities, of the shape of the scores."""
        return _fusedmax.fusedmax(scores, self.gamma, self.dim, lengths=lengths, weights=weights)


class SmoothSparsemax(_Neighbours):
    """`smooth_sparsemax` as a module, with the parameters of `Fusedmax`: gamma and dim.

    Examples
    --------
    >>> from fenchel.torch.nn import SmoothSparsemax
    >>> SmoothSparsemax(0.1)
    SmoothSparsemax(gamma=0.1, dim=-1)
    """

    def __init__(self, gamma: Parameter = 1.0, dim: int = -1) -> None:
        super().__init__()
        self.dim: int = dim
        keep_parameter(self, "gamma", gamma)

    def forward(
        self, scores: torch.Tensor, lengths: torch.Tensor | None = None, weights: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Probabilities, of the shape of the scores."""
        return _fusedmax.smooth_sparsemax(scores, self.gamma, self.dim, lengths=lengths, weights=weights)


class FusedmaxGrid(_Neighbours):
    """`fusedmax_grid` as a module; gamma as in `Fusedmax`, and dim a pair. Images on a GPU are computed on the CPU.

    Examples
    --------
    >>> from fenchel.torch.nn import FusedmaxGrid
    >>> FusedmaxGrid(0.1)
    FusedmaxGrid(gamma=0.1, dim=(-2, -1))
    """

    def __init__(self, gamma: Parameter = 1.0, dim: tuple[int, int] = (-2, -1)) -> None:
        super().__init__()
        self.dim: tuple[int, int] = dim
        keep_parameter(self, "gamma", gamma)

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        """Probabilities, of the shape of the scores."""
        return _fusedmax.fusedmax_grid(scores, self.gamma, self.dim)
