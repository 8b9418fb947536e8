"""Where the predictions of `predict` live, and the nodes at which it looks at a score."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch

from .. import Box, Interval

_PER_PANEL = 4
"""The nodes of a panel: the rule of Gauss and Legendre, exact for polynomials of degree 7."""


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


def _side(
    lower: float, upper: float, nodes: int, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Nodes, weights and edges of panels of equal length, made on the device: a copy would have to be waited for."""
    x, w = np.polynomial.legendre.leggauss(_PER_PANEL)
    length = (upper - lower) / (nodes // _PER_PANEL)
    starts = lower + length * torch.arange(nodes // _PER_PANEL, dtype=torch.float64, device=device)
    points = torch.stack([starts + length * (float(at) + 1) / 2 for at in x], -1).flatten()
    weights = torch.stack([torch.full_like(starts, length * float(weight) / 2) for weight in w], -1).flatten()
    ends = [torch.full_like(starts[:1], end) for end in (lower, upper)]
    return points, weights, torch.cat([ends[0], lower + weights.cumsum(0)[:-1], ends[1]])


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
        lower, upper = tuple(map(float, domain.lower)), tuple(map(float, domain.upper))
    else:
        raise TypeError(f"fenchel.torch: predict: domain must be an Interval, a Box or Nodes, got {domain!r}")
    if not all(map(math.isfinite, (*lower, *upper))):
        raise ValueError(f"fenchel.torch: predict: domain must be finite, got {domain!r}")
    line = isinstance(domain, Interval)
    count = nodes if nodes is not None else 512 if line else 64
    if count < _PER_PANEL or count % _PER_PANEL:
        raise ValueError(f"fenchel.torch: predict: nodes must be a positive multiple of {_PER_PANEL}, got {count}")
    sides = [_side(a, b, count, device) for a, b in zip(lower, upper)]
    points, weights, edges = zip(*sides)
    if line:
        return Rule(points[0].to(dtype), weights[0], edges)
    at = torch.stack(torch.meshgrid(*points, indexing="ij"), -1).flatten(0, -2)
    product = torch.stack(torch.meshgrid(*weights, indexing="ij"), -1).prod(-1).flatten()
    return Rule(at.to(dtype), product, edges)
