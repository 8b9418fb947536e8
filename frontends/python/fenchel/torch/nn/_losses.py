"""Modules of the losses."""

from __future__ import annotations

import torch
from torch import nn

from .. import _entmax_loss
from .._rows import Parameter
from ._entmax import keep_parameter, show_parameter


class EntmaxLoss(nn.Module):
    """`entmax_loss` as a module.

    Parameters
    ----------
    alpha : float or Tensor
        As in `entmax_loss`. An nn.Parameter is trained with the module, without bounds.
    ignore_index : int
        Rows of this class have loss 0 and do not count in the mean.
    reduction : str
        "none" for one loss a row, "mean" over the rows that are not ignored, or "sum".
    dim : int
        Where the classes are.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch.nn import EntmaxLoss
    >>> loss = EntmaxLoss(alpha=1.5, ignore_index=0)
    >>> loss
    EntmaxLoss(alpha=1.5, ignore_index=0, reduction=mean, dim=-1)
    >>> loss(torch.tensor([[3.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), torch.tensor([0, 2]))
    tensor(0.3959)
    """

    alpha: Parameter

    def __init__(
        self, alpha: Parameter = 1.5, ignore_index: int = -100, reduction: str = "mean", dim: int = -1
    ) -> None:
        super().__init__()
        keep_parameter(self, "alpha", alpha)
        self.ignore_index = ignore_index
        self.reduction = reduction
        self.dim = dim

    def forward(self, scores: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """The loss of scores for a target: classes, of their shape without `dim`, or distributions like them."""
        return _entmax_loss.entmax_loss(scores, target, self.alpha, self.ignore_index, self.reduction, self.dim)

    def extra_repr(self) -> str:
        settings = f"ignore_index={self.ignore_index}, reduction={self.reduction}, dim={self.dim}"
        return f"alpha={show_parameter(self.alpha)}, {settings}"


class SparsemaxLoss(EntmaxLoss):
    """`EntmaxLoss` at alpha = 2, with its ignore_index, reduction and dim. k, of the entmax package, changes nothing.

    Examples
    --------
    >>> from fenchel.torch.nn import SparsemaxLoss
    >>> SparsemaxLoss(reduction="sum")
    SparsemaxLoss(alpha=2, ignore_index=-100, reduction=sum, dim=-1)
    """

    def __init__(
        self, k: int | None = None, ignore_index: int = -100, reduction: str = "mean", dim: int = -1
    ) -> None:
        super().__init__(2.0, ignore_index, reduction, dim)


class Entmax15Loss(EntmaxLoss):
    """`EntmaxLoss` at alpha = 3/2, with its ignore_index, reduction and dim. k, of the entmax package, changes nothing.

    Examples
    --------
    >>> from fenchel.torch.nn import Entmax15Loss
    >>> Entmax15Loss(ignore_index=0)
    Entmax15Loss(alpha=1.5, ignore_index=0, reduction=mean, dim=-1)
    """

    def __init__(
        self, k: int | None = None, ignore_index: int = -100, reduction: str = "mean", dim: int = -1
    ) -> None:
        super().__init__(1.5, ignore_index, reduction, dim)


class EntmaxBisectLoss(EntmaxLoss):
    """`EntmaxLoss` with the arguments of the entmax package: alpha, ignore_index, reduction. n_iter changes nothing.

    Examples
    --------
    >>> from fenchel.torch.nn import EntmaxBisectLoss
    >>> EntmaxBisectLoss(1.25)
    EntmaxBisectLoss(alpha=1.25, ignore_index=-100, reduction=mean, dim=-1)
    """

    def __init__(
        self, alpha: Parameter = 1.5, n_iter: int = 50, ignore_index: int = -100, reduction: str = "mean"
    ) -> None:
        super().__init__(alpha, ignore_index, reduction)


class SparsemaxBisectLoss(EntmaxLoss):
    """`SparsemaxLoss` with its ignore_index and reduction, by another name of the package. n_iter changes nothing.

    Examples
    --------
    >>> from fenchel.torch.nn import SparsemaxBisectLoss
    >>> SparsemaxBisectLoss()
    SparsemaxBisectLoss(alpha=2, ignore_index=-100, reduction=mean, dim=-1)
    """

    def __init__(self, n_iter: int = 50, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(2.0, ignore_index, reduction)
