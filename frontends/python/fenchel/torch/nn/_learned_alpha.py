"""An alpha above 1 that is learned: 1 + softplus of a number that may be anything."""

from __future__ import annotations

import torch
from torch import nn

from .._rows import Parameter


def raw_alpha_of(name: str, alpha: Parameter) -> torch.Tensor:
    """The raw number of alpha, float64; an error of `name` unless alpha is finite and above 1."""
    excess = torch.as_tensor(alpha).detach().to(torch.float64) - 1
    if excess.is_cpu and not bool(((excess > 0) & torch.isfinite(excess)).all()):
        raise ValueError(f"{name}: alpha must be finite and above 1 to be learned, got {alpha}")
    # The inverse of softplus, log(exp(x) - 1), without overflow.
    return excess + (-torch.expm1(-excess)).log()


def alpha_of_raw(raw: torch.Tensor) -> torch.Tensor:
    """float64, so that an alpha near 1 keeps its digits."""
    return 1 + nn.functional.softplus(raw.to(torch.float64))
