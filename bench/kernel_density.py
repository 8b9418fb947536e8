#!/usr/bin/env python3
"""Kernel density estimation: fenchel beside scikit-learn's KernelDensity, on the line and in the plane.

    python bench/kernel_density.py                    # a million rows and queries, on one thread and on two
    python bench/kernel_density.py --rows 100000 --threads 1

scikit-learn answers a part of the queries only, one after the other, and its time is per query. Both are asked for the
density at the same points; the error is the largest difference from a plain sum over all rows, over the largest density
of the sums. Seconds are of the processor (user and system), and elapsed ones beside them.
"""
import argparse
import math
import resource
import time

import numpy as np
from sklearn.neighbors import KernelDensity as Theirs

import fenchel

KERNELS = {"epanechnikov": 2.0, "gaussian": 1.0}
BANDWIDTHS = {1: 0.06, 2: 0.1}
"""About those of Silverman's rule for a million normal rows."""


def timed(work):
    used, begin = time.process_time(), time.perf_counter()
    result = work()
    return result, time.process_time() - used, time.perf_counter() - begin


def plain(points, queries, alpha, h):
    """The sum over all rows, by definition."""
    n = points.shape[1]
    reach = math.inf if alpha == 1 else math.sqrt(n + 2 + 2 / (alpha - 1))
    out = []
    for query in queries:
        q = (((points - query) / h) ** 2).sum(1)
        out.append(np.exp(-q / 2).sum() if alpha == 1 else np.maximum(0, 1 - q / reach**2).sum())
    one = fenchel.KernelDensity(np.zeros((1, n)), alpha, h)
    return np.array(out) * one.pdf(np.zeros(n)) / len(points)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--queries", type=int, default=10**6)
    parser.add_argument("--part", type=int, default=300, help="queries that scikit-learn answers")
    parser.add_argument("--rtol", type=float, nargs="*", default=[0.0, 1e-4], help="scikit-learn's tolerances")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--dimensions", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--kernels", nargs="*", default=list(KERNELS), choices=list(KERNELS))
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    print("| N | kernel | who | build, s | a query, us (elapsed) | error |\n| --- | --- | --- | --- | --- | --- |")
    for n in arguments.dimensions:
        points, queries = rng.normal(size=(arguments.rows, n)), rng.normal(size=(arguments.queries, n))
        h = BANDWIDTHS[n]
        part = queries[: arguments.part]
        for kernel in arguments.kernels:
            alpha = KERNELS[kernel]
            want = plain(points, part[:100], alpha, h)
            least = math.inf
            # In the plane Gaussian kernels reach hundreds of thousands of rows.
            many = queries if (n, kernel) != (2, "gaussian") else queries[: max(100, arguments.queries // 200)]
            for threads in arguments.threads:
                fenchel.set_num_threads(threads)
                ours, build, _ = timed(lambda: fenchel.KernelDensity(points, alpha, h))
                got, used, elapsed = timed(lambda: ours.pdf(many))
                error = abs(got[: len(want)] - want).max() / want.max()
                least = min(least, used / len(many))
                print(f"| {n} | {kernel} | fenchel, threads = {threads} | {build:.2f} | {used / len(many) * 1e6:.3g} "
                      f"({elapsed / len(many) * 1e6:.3g}) | {error:.1e} |", flush=True)
            fenchel.set_num_threads(0)
            # scikit-learn's kernels that end have their end as the bandwidth.
            width = h if alpha == 1 else h * ours.radius
            for rtol in arguments.rtol:
                theirs, build, _ = timed(lambda: Theirs(kernel=kernel, bandwidth=width, rtol=rtol).fit(points))
                got, used, elapsed = timed(lambda: np.exp(theirs.score_samples(part)))
                error = abs(got[: len(want)] - want).max() / want.max()
                print(f"| {n} | {kernel} | scikit-learn, rtol = {rtol:g} | {build:.2f} | {used / len(part) * 1e6:.3g} "
                      f"({elapsed / len(part) * 1e6:.3g}), {used / len(part) / least:.3g} times | {error:.1e} |", flush=True)
    print(f"\nlargest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
