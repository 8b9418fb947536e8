"""Arguments that the functions of rows share."""

from __future__ import annotations

from collections.abc import Sequence

import torch

Parameter = float | torch.Tensor
HALF = (torch.float16, torch.bfloat16)


def computed_dtype(dtype: torch.dtype, device: torch.device) -> torch.dtype:
    """float32 for the half types under autocast, of which the meta device knows nothing."""
    if dtype not in HALF or device.type == "meta":
        return dtype
    return torch.float32 if torch.is_autocast_enabled(device.type) else dtype


def dim_from_end(scores: torch.Tensor, dim: int) -> int:
    """dim, counted from the end."""
    size = scores.dim()
    if -size <= dim < 0:
        return dim
    if size == 0:
        raise IndexError("fenchel.torch: scores must have at least one dimension, got shape ()")
    if not 0 <= dim < size:
        raise IndexError(f"fenchel.torch: dim must be in [{-size}, {size - 1}], got {dim}")
    return dim - size


def scores_and_dim(scores: torch.Tensor, dim: int) -> tuple[torch.Tensor, int]:
    """scores, in float32 under autocast, and dim counted from the end."""
    if scores.dtype in HALF:
        scores = scores.to(computed_dtype(scores.dtype, scores.device))
    return scores, dim_from_end(scores, dim)


def parameter(
    value: Parameter, shape: Sequence[int], device: torch.device, name: str = "alpha"
) -> tuple[torch.Tensor | None, float]:
    """As the operations take it: (None, the number), or (float64 of that shape, a number that is not used).

    A single number of the CPU serves every device, as in torch.
    """
    if not isinstance(value, torch.Tensor):
        return None, float(value)
    if value.dim() > len(shape) or any(v not in (1, s) for v, s in zip(reversed(value.shape), reversed(shape))):
        raise ValueError(f"fenchel.torch: {name} must broadcast to {tuple(shape)}, got shape {tuple(value.shape)}")
    if value.dim() == 0 and value.is_cpu:
        value = value.to(device, non_blocking=True)
    return value.to(torch.float64).expand(tuple(shape)), 0.0


def parameter_of_rows(
    value: Parameter, scores: torch.Tensor, dim: int, name: str = "alpha"
) -> tuple[torch.Tensor | None, float]:
    """The same for rows of scores along dim, one a row."""
    if not isinstance(value, torch.Tensor):
        return None, float(value)
    shape = list(scores.shape)
    shape[dim] = 1
    return parameter(value, shape, scores.device, name)
