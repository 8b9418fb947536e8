"""EM for mixtures of Gaussians over weighted places, for many rows at once: src/attention/gaussian_em.cpp in torch."""

from __future__ import annotations

import torch
from torch.distributions import Normal

from ._linalg import eigh

CANDIDATES = 512
"""How many places of a row may become centres, at most."""

RELATIVE_FLOOR = 1e-6
"""Of the variances of a component, in those of its row."""

TIE = 1e-9
"""The relative difference of distances that is taken for rounding."""

TABLE = 2**22
"""How many distances are held at once."""


def responsibilities(
    weights: torch.Tensor, places: torch.Tensor, components: int, tolerance: float, max_iterations: int
) -> torch.Tensor:
    """(R, K, L): the probability that what is at a place is from a component of the mixture that EM finds.

    weights are (R, L), of sum 1, and places (R, L, D) or (1, L, D), in float64. A component that is left empty, as all
    are that a row has no distinct places for, has probability 0. A row is done when a step adds no more than the
    tolerance to its mean log density, and then stays. With a tolerance of 0 nobody looks, and all steps are made.
    """
    _, mean, variances, axes = _moments(weights.unsqueeze(-2), weights.unsqueeze(-2), places)
    t = places - mean
    # Where all weight is at one place, distances to the others stay finite.
    extent = torch.finfo(t.dtype).eps * t.square().sum(-1).amax(-1)
    floor = RELATIVE_FLOOR * torch.maximum(variances.squeeze(-2).mean(-1), extent)
    floor = floor.clamp(min=torch.finfo(t.dtype).tiny)[:, None, None]
    white = t @ axes.squeeze(-3) / variances.maximum(floor).sqrt()

    rows = max(1, TABLE // (min(weights.shape[-1], CANDIDATES) * weights.shape[-1]))
    chunks = zip(weights.split(rows), white.split(rows))
    labels = torch.cat([_start(w, x, components) for w, x in chunks])
    share = (labels.unsqueeze(-2) == torch.arange(components, device=t.device)[:, None]).to(t.dtype)
    share, level = _step(weights, t, floor, share)
    if tolerance == 0:
        for _ in range(max_iterations):
            share, _ = _step(weights, t, floor, share)
        return share
    moving = torch.arange(len(weights), device=t.device)
    for _ in range(max_iterations):
        share[moving], now = _step(weights[moving], t[moving], floor[moving], share[moving])
        further = now - level > tolerance
        moving, level = moving[further], now[further]
        if len(moving) == 0:
            break
    return share


def _moments(
    parts: torch.Tensor, otherwise: torch.Tensor, t: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Mass, mean, variances along principal axes, and these axes, of parts (R, K, L); of other weights where empty."""
    mass = parts.sum(-1)
    each = torch.where((mass > torch.finfo(mass.dtype).eps).unsqueeze(-1), parts, otherwise)
    each = each / each.sum(-1, keepdim=True)
    mean = each @ t
    about = t.unsqueeze(-3) - mean.unsqueeze(-2)
    return mass, mean, *eigh(about.mT @ (each.unsqueeze(-1) * about))


def _step(
    weights: torch.Tensor, t: torch.Tensor, floor: torch.Tensor, share: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The Gaussians of their shares, their shares, and the mean log density."""
    mass, mean, variances, axes = _moments(weights.unsqueeze(-2) * share, weights.unsqueeze(-2), t)
    mass = torch.where(mass > torch.finfo(mass.dtype).eps, mass, 0.0)
    centre, deviation = mean.unsqueeze(-2) @ axes, variances.maximum(floor).sqrt().unsqueeze(-2)
    along = Normal(centre, deviation, validate_args=False).log_prob(t.unsqueeze(-3) @ axes).sum(-1)
    logs = along + (mass / mass.sum(-1, keepdim=True)).log().unsqueeze(-1)
    density = torch.where(weights > 0, logs.logsumexp(-2), 0.0)
    return logs.softmax(-2), (weights * density).sum(-1)


def _start(weights: torch.Tensor, white: torch.Tensor, components: int) -> torch.Tensor:
    """Which centre each place belongs to, (R, L).

    Centres are chosen one by one, each the candidate that leaves the least sum of weight times square distance to the
    nearest centre; then each is chosen again.
    """
    chosen, allowed = _candidates(weights)
    coordinates = [(x.take_along_dim(chosen, -1), x) for x in white.unbind(-1)]
    squares = ((here.unsqueeze(-1) - x.unsqueeze(-2)).square() for here, x in coordinates)
    table = sum(squares, weights.new_zeros(()))

    def best_beside(others: list[torch.Tensor]) -> torch.Tensor:
        left = table
        for other in others:
            left = torch.minimum(left, other.unsqueeze(-2))
        sums = torch.where(allowed, (left @ weights.unsqueeze(-1)).squeeze(-1), torch.inf)
        return table.take_along_dim(_first_least(sums, -1)[:, None, None], -2).squeeze(-2)

    nearest: list[torch.Tensor] = []
    for _ in range(components):
        nearest.append(best_beside(nearest))
    for k in range(components):
        nearest[k] = best_beside(nearest[:k] + nearest[k + 1 :])
    return _first_least(torch.stack(nearest, -2), -2)


def _first_least(x: torch.Tensor, dim: int) -> torch.Tensor:
    """Where the least is, the first of those that differ by rounding: equal cells have ties, the same on every device."""
    return (x <= x.amin(dim, keepdim=True) * (1 + TIE)).int().argmax(dim)


def _candidates(weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The places that may become centres, in their order, and which of these are meant.

    They are all of positive weight, or, of more than CANDIDATES, those at even steps of the cumulative weight.
    """
    allowed = weights > 0
    length = weights.shape[-1]
    if length <= CANDIDATES:
        return torch.arange(length, device=weights.device).expand_as(weights), allowed
    steps = (weights.cumsum(-1) * CANDIDATES).floor()
    rises = steps.diff(dim=-1, prepend=torch.zeros_like(steps[..., :1])) > 0
    allowed = allowed & (rises | (allowed.sum(-1, keepdim=True) <= CANDIDATES))
    chosen = (~allowed).int().argsort(stable=True, dim=-1)[..., :CANDIDATES]
    return chosen, allowed.take_along_dim(chosen, -1)
