#!/usr/bin/env python3
"""Fits a beta-Gaussian to a file of numbers that may be larger than memory, with Dask.

Each block becomes statistics of a few bytes where it lies, and these are merged in a tree: the blocks never meet.
Any dask.array will do in the place of the file: one from Zarr, HDF5 or Parquet, or one that is computed.

    python -c "import numpy as np; np.save('x.npy', np.random.default_rng(0).normal(size=10**7))"
    python dask_fit.py x.npy --alpha 1
"""
import argparse

import dask
import dask.array as da
import numpy as np

import fenchel


@dask.delayed
def moments(block):
    return fenchel.LineMoments().update(block)


@dask.delayed
def merged(statistics):
    total = fenchel.LineMoments()
    for part in statistics:
        total.merge(part)
    return total


def fit(x, alpha=None, branches=8):
    """The fit of a dask array of numbers."""
    level = [moments(block) for block in x.ravel().to_delayed()]
    while len(level) > 1:
        level = [merged(level[i : i + branches]) for i in range(0, len(level), branches)]
    (total,) = dask.compute(*level)
    return fenchel.fit(fenchel.BetaGaussian, total, alpha=alpha)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="an .npy file of numbers")
    parser.add_argument("--alpha", type=float, help="1 is a Gaussian, 2 a parabola; estimated if not given")
    parser.add_argument("--block", type=int, default=2**20, help="numbers in a block (default: %(default)s)")
    arguments = parser.parse_args()
    try:
        x = np.load(arguments.file, mmap_mode="r")
    except (OSError, ValueError) as error:
        parser.error(f"file must be an .npy file of numbers: {error}")
    fenchel.set_num_threads(1)  # the threads are Dask's
    print(fit(da.from_array(x, chunks=arguments.block), arguments.alpha))


if __name__ == "__main__":
    main()
