#!/usr/bin/env python3
"""Writes tests/golden/standard_normal.txt: 64 bits and the normal quantile that they stand for."""

import pathlib
import random

import mpmath as mp

mp.mp.dps = 60
HALF = 2**63


def quantile(bits):
    """The quantile at 1/2 + (s + 1/2) / 2^64, s = bits as a signed integer: in the tail a root of log(cdf)."""
    s = bits - 2 * HALF if bits >= HALF else bits
    sign, distance = (-1, ~s) if s < 0 else (1, s)
    if distance < HALF // 2:
        centre = (distance + mp.mpf(1) / 2) / 2**64
        return sign * mp.sqrt(2) * mp.erfinv(2 * centre)
    tail = (HALF - 1 - distance + mp.mpf(1) / 2) / 2**64
    log_tail = mp.log(tail)
    bound = mp.sqrt(-2 * mp.log(2 * tail))
    return sign * mp.findroot(lambda z: mp.log(mp.erfc(z / mp.sqrt(2)) / 2) - log_tail, bound)


def positions():
    """Both ends, each power of two, the joints of the three pieces of AS 241, and some at random."""
    joints = [int(mp.mpf("0.425") * 2**64), HALF - int(mp.exp(-25) * 2**64)]
    found = {0, 1, 2, 3, HALF - 3, HALF - 2, HALF - 1}
    found |= {2**k for k in range(2, 63)} | {HALF - 2**k for k in range(2, 63)}
    found |= {joint + step for joint in joints for step in (-2**20, -2048, -1, 0, 1, 2048, 2**20)}
    rng = random.Random(20240607)
    found |= {rng.randrange(HALF) for _ in range(60)}
    found |= {HALF - 1 - rng.randrange(2 ** rng.randrange(10, 62)) for _ in range(60)}
    return sorted(found)


def main():
    path = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "standard_normal.txt"
    lines = ["# bits, normal quantile at 1/2 + (signed bits + 1/2) / 2^64; made by scripts/golden/standard_normal.py"]
    for i, position in enumerate(positions()):
        bits = position if i % 3 else 2 * HALF - 1 - position
        lines.append(f"{bits:016x} {mp.nstr(quantile(bits), 25)}")
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
