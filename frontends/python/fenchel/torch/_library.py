"""The compiled operations, and what each needs beside its kernel: shapes without data, and a rule for vmap."""

from __future__ import annotations

import ctypes
import pathlib
from collections.abc import Callable
from typing import Any

import torch

from fenchel import _core

_PATH = pathlib.Path(__file__).with_name("libfenchel_torch_ops.so")
_CUDA_PATH = pathlib.Path(__file__).with_name("libfenchel_torch_ops_cuda.so")
if not _PATH.exists():
    raise ImportError(
        "fenchel was built without torch, so fenchel.torch has no operations: with torch 2.10 or later installed, "
        "install fenchel again (pip install --force-reinstall --no-deps .)"
    )
torch.ops.load_library(_PATH)
ctypes.CDLL(str(_PATH)).fenchel_set_torch_check(ctypes.c_void_p(_core.signal_check()))  # Ctrl-C ends operations
if torch.version.cuda is not None and _CUDA_PATH.exists():
    torch.ops.load_library(_CUDA_PATH)
ops: Any = torch.ops.fenchel
_without_kernel = torch.library.Library("fenchel", "IMPL", "CUDA")
_without_rule = torch.library.Library("fenchel", "IMPL", "Autograd")


def rows_like(x: torch.Tensor, dim: int) -> torch.Tensor:
    """What a kernel allocates for rows along `dim`: neighbours of a row are neighbours in memory."""
    return torch.empty_like(x.movedim(dim, -1), memory_format=torch.contiguous_format).movedim(-1, dim)


def per_row_like(parameter: torch.Tensor | None, any_tensor: torch.Tensor, dim: int) -> torch.Tensor:
    """What a kernel allocates for a number a row: nothing, of shape (0), where there is no such parameter."""
    if parameter is None:
        return any_tensor.new_empty(0, dtype=torch.float64)
    return rows_like(parameter, dim)


def without_autograd(name: str) -> None:
    """An operation that autograd does not look at, since those who call it record the call themselves."""
    _without_rule.impl(name, torch.library.fallthrough_kernel)


def _refuse_on_cuda(name: str) -> None:
    """An operation without a kernel for a GPU says so: torch would list its dispatch keys."""
    if torch._C._dispatch_has_kernel_for_dispatch_key(f"fenchel::{name}", "CUDA"):
        return

    def refuse(*args: Any) -> Any:
        if _CUDA_PATH.exists():
            reason, remedy = "has no kernel for a GPU", "move its tensors to the CPU, with x.cpu()"
        else:
            reason = "was built without CUDA"
            remedy = (
                "where there is an nvcc install fenchel again (pip install --force-reinstall --no-deps .), or move its "
                "tensors to the CPU, with x.cpu()"
            )
        raise NotImplementedError(f"fenchel.torch: the operation {name} {reason}: {remedy}")

    _without_kernel.impl(name, refuse)


def register_rows(
    name: str,
    fake: Callable[..., Any],
    shared: tuple[int, ...] = (),
    summed: bool = False,
    on_cpu: tuple[int, ...] = (),
) -> None:
    """For an operation whose tensors all have the rows' leading dimensions, and whose dims are counted from the end:
    vmap then is one more leading dimension.

    But the arguments at the places `shared` are one for all rows, and so are gradients in them, which there are where
    `summed` and the last argument say so: then vmap is a call for each element of its batch. The arguments at the places
    `on_cpu` are there whatever the device of the others is.
    """

    def fake_on_one_device(*args: Any) -> Any:
        """A meta tensor among tensors with data would be told to have a result, of numbers that nobody computed."""
        devices = {x.device for i, x in enumerate(args) if isinstance(x, torch.Tensor) and i not in on_cpu}
        if len(devices) > 1:
            raise ValueError(f"fenchel::{name}: tensors must be on one device, got {sorted(map(str, devices))}")
        return fake(*args)

    torch.library.register_fake(f"fenchel::{name}", fake_on_one_device)
    _refuse_on_cuda(name)

    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> tuple[Any, Any]:
        operation = getattr(ops, name)
        if any(in_dims[i] is not None for i in shared) or (summed and args[-1]):
            calls = [
                operation(*(x if dim is None else x.select(dim, k) for x, dim in zip(args, in_dims)))
                for k in range(info.batch_size)
            ]
            if isinstance(calls[0], torch.Tensor):
                return torch.stack(calls), 0
            return tuple(map(torch.stack, zip(*calls))), (0,) * len(calls[0])

        def batched(i: int, x: Any, dim: int | None) -> Any:
            if i in shared or not isinstance(x, torch.Tensor):
                return x
            return x.expand(info.batch_size, *x.shape) if dim is None else x.movedim(dim, 0)

        result = operation(*map(batched, range(len(args)), args, in_dims))
        if isinstance(result, torch.Tensor):
            return result, 0
        # A number a row that is not there has no batch either.
        return result, tuple(None if r.shape == (0,) else 0 for r in result)

    torch.library.register_vmap(f"fenchel::{name}", vmap)
