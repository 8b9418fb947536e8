"""Where the predictions of `predict` live, and the nodes at which it looks at a score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from .. import Interval

_PER_PANEL = 4
"""The nodes of a panel: the rule of Gauss and Legendre, exact for polynomials of degree 7."""


class Box:
    """The points between two corners: a rectangle in the plane.

    Parameters
    ----------
    lower, upper : sequence of float
        The corners, a number for each coordinate.

    Examples
    --------
    >>> from fenchel.torch import Box
    >>> Box([0, 0], [1, 2])
    Box(lower=(0.0, 0.0), upper=(1.0, 2.0))
    """

    def __init__(self, lower: Sequence[float], upper: Sequence[float]) -> None:
        self.lower, self.upper = tuple(map(float, lower)), tuple(map(float, upper))
        if len(self.lower) != len(self.upper) or not self.lower:
            raise ValueError(
                f"fenchel.torch: Box: upper must have as many coordinates as lower, at least one, got {self.upper}"
            )
        for i, (a, b) in enumerate(zip(self.lower, self.upper)):
            if not a < b:
                raise ValueError(f"fenchel.torch: Box: upper[{i}] must be above lower[{i}] = {a}, got {b}")

    def __repr__(self) -> str:
        return f"Box(lower={self.lower}, upper={self.upper})"


class Nodes:
    """Points with weights, which `predict` takes for the domain: a base measure that is given by hand.

    Parameters
    ----------
    points : Tensor
        Of shape (n,) on the line, or (n, d) in space.
    weights : Tensor
        Of shape (n,): how much of the domain each point stands for, at least 0. With weights 1 the points are a finite
        set, and the prediction is `entmax` of the scores.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import Nodes, predict
    >>> p = predict(lambda t: -t.square() / 2, 2.0, Nodes(torch.tensor([-1.0, 0.0, 1.0]), torch.ones(3)))
    >>> p.probs
    tensor([0.1667, 0.6667, 0.1667])
    """

    def __init__(self, points: torch.Tensor, weights: torch.Tensor) -> None:
        if points.dim() not in (1, 2) or weights.shape != points.shape[:1]:
            raise ValueError(
                "fenchel.torch: Nodes: points and weights must have shapes (n,) or (n, d) and (n,), got "
                f"{tuple(points.shape)} and {tuple(weights.shape)}"
            )
        self.points, self.weights = points, weights


Domain = Interval | Box | Nodes


class Rule(NamedTuple):
    """A quadrature rule."""

    points: torch.Tensor
    """(n,) or (n, d)."""
    weights: torch.Tensor
    """(n,), in float64."""
    edges: tuple[torch.Tensor, ...]
    """Along each side where the cells of its nodes begin, and where the last one ends, in float64: a cell is as long as
    the node's weight, and contains the node (theorem of Chebyshev, Markov and Stieltjes). None for Nodes."""


def _side(lower: float, upper: float, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of panels of equal length."""
    x, w = np.polynomial.legendre.leggauss(_PER_PANEL)
    length = (upper - lower) / (nodes // _PER_PANEL)
    starts = lower + length * np.arange(nodes // _PER_PANEL)
    return (starts[:, np.newaxis] + length * (x + 1) / 2).ravel(), np.tile(length * w / 2, nodes // _PER_PANEL)


def quadrature(domain: Domain, nodes: int | None, dtype: torch.dtype, device: torch.device) -> Rule:
    """Nodes for a domain; those of Nodes are its own."""
    if isinstance(domain, Nodes):
        if nodes is not None:
            raise ValueError(f"fenchel.torch: predict: nodes must not be given for Nodes, got {nodes}")
        return Rule(domain.points, domain.weights.double(), ())
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    if isinstance(domain, Interval):
        lower, upper = (domain.lower,), (domain.upper,)
    elif isinstance(domain, Box):
        lower, upper = domain.lower, domain.upper
    else:
        raise TypeError(f"fenchel.torch: predict: domain must be an Interval, a Box or Nodes, got {domain!r}")
    if not all(map(math.isfinite, (*lower, *upper))):
        raise ValueError(f"fenchel.torch: predict: domain must be finite, got {domain!r}")
    line = isinstance(domain, Interval)
    count = nodes if nodes is not None else 512 if line else 64
    if count < _PER_PANEL or count % _PER_PANEL:
        raise ValueError(f"fenchel.torch: predict: nodes must be a positive multiple of {_PER_PANEL}, got {count}")
    sides = [_side(a, b, count) for a, b in zip(lower, upper)]
    points = [torch.as_tensor(x) for x, _ in sides]
    weights = [torch.as_tensor(w) for _, w in sides]
    ends = torch.tensor([lower, upper], dtype=torch.float64)
    edges = tuple(
        torch.cat([ends[:1, i], ends[0, i] + w.cumsum(0)[:-1], ends[1:, i]]).to(device) for i, w in enumerate(weights)
    )
    if line:
        return Rule(points[0].to(device, dtype), weights[0].to(device), edges)
    at = torch.stack(torch.meshgrid(*points, indexing="ij"), -1).flatten(0, -2)
    product = torch.stack(torch.meshgrid(*weights, indexing="ij"), -1).prod(-1).flatten()
    return Rule(at.to(device, dtype), product.to(device), edges)
