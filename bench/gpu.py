"""Every number of docs/benchmarks.md: fenchel on a GPU against the limit of its memory, torch's softmax and cross
entropy, and the packages entmax and adasplash where they are installed.

The limit of an operation is the time in which a copy, timed in the same part of the run, would move the bytes that it
must read and write; a share is that limit over the time. Times are medians of events around single calls, on buffers
that are larger than the cache. Errors are against the CPU's float64 over the first rows. What is timed around calls of
C++ comes from the program bench_cuda, which `make build` makes.

usage: python bench/gpu.py [PART ...] [--markdown PAGE ...] [--program PATH] [--commit TEXT]
"""

from __future__ import annotations

import argparse
import datetime
import gc
import pathlib
import subprocess
import time
from collections.abc import Callable
from functools import partial

import gpu_attention
import gpu_keys
import gpu_losses
import gpu_maps
import torch
from gpu_tables import PARTS, Pages, Table
from gpu_timing import DEVICE, Limit, attempt

ROOT = pathlib.Path(__file__).resolve().parents[1]


def parts(program: gpu_attention.Program) -> dict[str, Callable[[Limit], Table]]:
    """What measures each part of PARTS, in the same order."""
    functions: list[Callable[[Limit], Table]] = [gpu_maps.maps, gpu_maps.bfloat16, gpu_maps.float64, gpu_maps.packages]
    functions += [gpu_maps.backward, gpu_maps.fusedmax, gpu_losses.losses, gpu_losses.autograd, gpu_losses.soft]
    functions += [partial(f, program=program) for f in (gpu_attention.line, gpu_attention.plane)]
    functions += [gpu_keys.keys, partial(gpu_attention.small, program=program)]
    return dict(zip(PARTS, functions, strict=True))


def commit(pages: list[pathlib.Path]) -> str:
    """What is checked out, and whether anything but the pages differs from it."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()

    name = git("rev-parse", "--short", "HEAD")
    ignored = [
        f":(exclude,top){path.resolve().relative_to(ROOT)}" for path in pages if path.resolve().is_relative_to(ROOT)
    ]
    return name + (" with changes" if git("status", "--porcelain", "--", ".", *ignored) else "")


def origin(limit: Limit, made_by: str) -> str:
    """When, where and by what the numbers of a table were made."""
    today = datetime.date.today()
    device = torch.cuda.get_device_name() if DEVICE == "cuda" else "CPU"
    return (
        f"{today.day} {today:%B %Y}, {device}, torch {torch.__version__.split('+')[0]}, CUDA {torch.version.cuda}, "
        f"commit {made_by}; the copy moved {limit.rate / 1e9:.2f} TB/s."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all of them by default")
    parser.add_argument("--markdown", action="append", default=[], type=pathlib.Path, metavar="PAGE",
                        help="write the tables into this page, between its markers; may be given more than once")  # fmt: skip
    parser.add_argument(
        "--program", type=pathlib.Path, default=ROOT / "build/release/bench/bench_cuda", help="bench_cuda"
    )
    parser.add_argument("--commit", metavar="TEXT", help="what the tables say was measured; asked of git by default")
    arguments = parser.parse_args()
    chosen = arguments.parts or PARTS
    if not set(chosen) <= set(PARTS):
        parser.error(f"parts are {', '.join(PARTS)}, got {' '.join(chosen)}")
    if DEVICE == "cuda" and not torch.cuda.is_available():
        parser.exit(1, "gpu.py: torch sees no GPU here\n")
    try:
        pages = Pages(arguments.markdown, chosen)
    except (OSError, ValueError) as fault:
        parser.exit(1, f"gpu.py: {fault}\n")
    made_by = arguments.commit or attempt("git", lambda: commit(arguments.markdown)) or "unknown"
    measured = parts(gpu_attention.Program(arguments.program))
    start = time.perf_counter()
    failed = []
    for part in chosen:
        torch.manual_seed(1)
        print(f"\n{part}, after {time.perf_counter() - start:.0f} s", flush=True)
        limit = attempt(part, Limit)
        table = attempt(part, lambda part=part, limit=limit: measured[part](limit)) if limit else None
        if table:
            print(origin(limit, made_by), flush=True)
            pages.replace(part, table.markdown(origin(limit, made_by)))
        else:
            failed.append(part)
        gc.collect()
        torch.cuda.empty_cache()
    print(f"\nall of it took {time.perf_counter() - start:.0f} s")
    if failed:
        parser.exit(1, f"gpu.py: not measured: {', '.join(failed)}\n")


if __name__ == "__main__":
    main()
