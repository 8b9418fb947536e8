"""The numbers of a GPU in docs/benchmarks.md: fenchel against the limit of the memory, torch's softmax and cross
entropy, and the packages entmax and adasplash where they are installed.

The limit of an operation is the time in which a copy, timed in the same part of the run, would move the bytes that it
must read and write; a share is that limit over the time. Times are medians of events around single calls, on buffers
that are larger than the cache. Errors are against the CPU's float64 over the first rows. What is timed around calls of
C++ comes from the program bench_cuda, which `make build` makes.

usage: python bench/gpu.py [PART ...] [--markdown PAGE ...] [--program PATH] [--commit TEXT]
"""

from __future__ import annotations

import gc
import pathlib
from collections.abc import Callable
from functools import partial

import gpu_attention
import gpu_decoding
import gpu_keys
import gpu_losses
import gpu_maps
import parts
import torch
from gpu_timing import DEVICE, Limit
from tables import PARTS, Table


def tables(program: gpu_attention.Program) -> dict[str, Callable[[Limit], Table]]:
    """What measures each part, in the order of PARTS."""
    functions: list[Callable[[Limit], Table]] = [gpu_maps.maps, gpu_maps.bfloat16, gpu_maps.float64, gpu_maps.packages]
    functions += [gpu_maps.backward, gpu_maps.fusedmax, gpu_losses.losses, gpu_losses.autograd, gpu_losses.soft]
    functions += [partial(f, program=program) for f in (gpu_attention.line, gpu_attention.plane)]
    functions += [gpu_keys.keys, gpu_decoding.decoding, partial(gpu_attention.small, program=program)]
    return dict(zip(PARTS["gpu.py"], functions, strict=True))


def main() -> None:
    parser = parts.parser("gpu.py", __doc__ or "")
    built = parts.ROOT / "build/release/bench/bench_cuda"
    parser.add_argument("--program", type=pathlib.Path, default=built, help="bench_cuda")
    arguments = parser.parse_args()
    if DEVICE == "cuda" and not torch.cuda.is_available():
        parser.exit(1, "gpu.py: torch sees no GPU here\n")
    measured = tables(gpu_attention.Program(arguments.program))

    def measure(part: str) -> tuple[Table, str, str]:
        gc.collect()
        torch.cuda.empty_cache()
        limit = Limit()
        table = measured[part](limit)
        device = torch.cuda.get_device_name() if DEVICE == "cuda" else "CPU"
        machine = f"{device}, torch {torch.__version__.split('+')[0]}, CUDA {torch.version.cuda}"
        return table, machine, f"; the copy moved {limit.rate / 1e9:.2f} TB/s"

    parts.run(parser, arguments, measure)


if __name__ == "__main__":
    main()
