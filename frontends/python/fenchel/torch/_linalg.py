"""Linear algebra that does not wait for a GPU."""

from __future__ import annotations

import torch


def cholesky(x: torch.Tensor) -> torch.Tensor:
    """The lower factors. On a GPU what is not positive definite becomes NaN: to raise an error would mean to wait."""
    if not x.is_cuda:
        return torch.linalg.cholesky(x)
    factor, info = torch.linalg.cholesky_ex(x)
    return torch.where((info == 0)[..., None, None], factor, torch.nan)
