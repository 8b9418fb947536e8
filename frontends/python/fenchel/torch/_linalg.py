"""Linear algebra that does not wait for a GPU."""

from __future__ import annotations

import itertools

import torch


def cholesky(x: torch.Tensor) -> torch.Tensor:
    """The lower factors. On a GPU what is not positive definite becomes NaN: to raise an error would mean to wait."""
    if not x.is_cuda:
        return torch.linalg.cholesky(x)
    factor, info = torch.linalg.cholesky_ex(x)
    return torch.where((info == 0)[..., None, None], factor, torch.nan)


def eigh(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Eigenvalues, in no order, and eigenvectors, as columns, of small symmetric matrices, without a gradient.

    By Jacobi's rotations, as many for every matrix: torch.linalg.eigh waits to learn whether it converged. One rotation
    is enough for 2 x 2, and errors of larger ones are squared by every sweep.
    """
    size = x.shape[-1]
    x = x.detach()
    eye = torch.eye(size, dtype=x.dtype, device=x.device).expand_as(x)
    vectors, tiny = eye, torch.finfo(x.dtype).tiny
    for _ in range(1 if size == 2 else 8):
        for p, q in itertools.combinations(range(size), 2):
            gap, twice = x[..., q, q] - x[..., p, p], 2 * x[..., p, q]
            steep = torch.where(gap < 0, -twice, twice) / (gap.abs() + gap.hypot(twice)).clamp(min=tiny)
            cosine = (1 + steep.square()).rsqrt()
            rotation = eye.clone()
            rotation[..., p, p] = rotation[..., q, q] = cosine
            rotation[..., p, q] = steep * cosine
            rotation[..., q, p] = -steep * cosine
            x, vectors = rotation.mT @ x @ rotation, vectors @ rotation
    return x.diagonal(dim1=-2, dim2=-1), vectors
