#!/usr/bin/env python3
"""Fits a beta-Gaussian to a file of numbers with many processes, by MPI.

Each process reads its part of the file, which may be larger than its memory, and what it sends is a few bytes.
Every process has the whole fit then; the first one prints it.

    python -c "import numpy as np; np.save('x.npy', np.random.default_rng(0).normal(size=10**7))"
    mpirun -n 4 python -m mpi4py mpi_fit.py x.npy --alpha 1
"""
import argparse

import numpy as np
from mpi4py import MPI

import fenchel


def fit(x, alpha=None, processes=MPI.COMM_WORLD):
    """The fit of a vector that every process sees, and reads a part of."""
    rank, size = processes.rank, processes.size
    mine = fenchel.LineMoments().update(x[len(x) * rank // size : len(x) * (rank + 1) // size])
    total = fenchel.LineMoments()
    for share in processes.allgather(mine.to_bytes()):
        total.merge(fenchel.LineMoments.from_bytes(share))
    return fenchel.fit(fenchel.BetaGaussian, total, alpha=alpha)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="an .npy file of numbers")
    parser.add_argument("--alpha", type=float, help="1 is a Gaussian, 2 a parabola; estimated if not given")
    arguments = parser.parse_args()
    try:
        x = np.load(arguments.file, mmap_mode="r")
    except (OSError, ValueError) as error:
        parser.error(f"file must be an .npy file of numbers: {error}")
    result = fit(x, arguments.alpha)
    if MPI.COMM_WORLD.rank == 0:
        print(result)


if __name__ == "__main__":
    main()
