"""The arrays in a line: short to write, and the same wherever the line is run."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def array(seed: int, shape: Any, kind: str = "normal", scale: float = 1.0) -> Array:
    """Numbers of a kind. The last axis of a simplex, of masks and of steep rows runs along a row."""
    random = np.random.default_rng(seed)
    x = random.standard_normal(shape)
    if kind == "normal":
        return x * scale
    if kind == "cauchy":
        return random.standard_cauchy(shape) * scale
    if kind == "ties":
        return np.round(x) * scale
    if kind == "equal":
        return np.full(shape, scale)
    if kind == "steep":
        return np.cumsum(np.exp(x), -1) * scale
    if kind == "sparse":
        return np.where(x > 0.5, x, 0.0) * scale
    if kind == "huge":
        return np.sign(x) * 10.0 ** random.uniform(290, 308, shape)
    if kind == "vast":  # differences and sums of these are no infinities
        return np.sign(x) * 10.0 ** random.uniform(290, 306, shape)
    if kind == "tiny":
        return np.sign(x) * 10.0 ** random.uniform(-323, -290, shape)
    if kind == "large":
        return np.sign(x) * 10.0 ** random.uniform(10, 60, shape)
    if kind == "small":
        return np.sign(x) * 10.0 ** random.uniform(-60, -10, shape)
    if kind == "sizes":
        return 10.0 ** random.uniform(-300, 300, shape)
    if kind == "positive":
        return np.exp(x) * scale
    if kind == "uniform":
        return random.random(shape)
    if kind == "ends":
        small = 10.0 ** random.uniform(-320, 0, shape)
        return np.where(x > 1, 1 - small, np.where(x > -1, small, np.where(x > -1.5, 0.0, 1.0)))
    if kind == "counts":
        return random.poisson(3, shape).astype(float)
    if kind == "masked":
        x = np.where(random.random(shape) < 0.3, -np.inf, x * scale)
        x[..., 0] = scale
        return x
    if kind == "simplex":
        x = np.exp(2 * x) * (random.random(shape) < 0.7) + 1e-3
        return np.asarray(x / x.sum(-1, keepdims=True))
    if kind == "onehot":
        return (x == x.max(-1, keepdims=True)).astype(float)
    raise ValueError(f"kind must be one that array knows, got {kind}")


def spd(seed: int, dimension: int, scale: float) -> Array:
    """A symmetric positive definite matrix of this size."""
    root = array(seed, (dimension, dimension))
    with np.errstate(over="ignore"):
        return (root @ root.T + np.eye(dimension)) * scale


def spread(x: Array) -> Array:
    """The same array in memory with gaps, its axes in another order, beginning at an odd place."""
    wide = np.full((*(2 * n + 1 for n in reversed(x.shape)),), np.nan)
    view = wide[tuple(slice(1, None, 2) for _ in x.shape)].transpose()
    view[...] = x
    return view


def line(seed: int, rows: int) -> Array:
    """Two columns: x, and a line in it with noise."""
    x = array(seed, (rows, 2))
    return np.stack([x[:, 0], 1 + 2 * x[:, 0] + x[:, 1]], 1)
