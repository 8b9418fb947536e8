"""Where a model works: the arithmetic there, and the way of data to it."""

from __future__ import annotations

import torch


def arithmetic(autocast: str | None, device: torch.device) -> torch.autocast:
    """The type of torch.autocast by its name; without a name all is float32."""
    dtype = torch.bfloat16 if autocast is None else getattr(torch, autocast)
    return torch.autocast(device.type, dtype, enabled=autocast is not None)


def sent(x: torch.Tensor, device: torch.device) -> torch.Tensor:
    """On the device; the processor does not wait for a GPU."""
    return x.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else x.to(device)
