"""Where a model looks, against where the objects are: mass inside, overlap of regions, and area.

Attention becomes a map of the mass of each pixel. The weight of a cell is spread evenly over its pixels. A density is
taken at the middle of each pixel, and what lies outside of the image is in no pixel. Several heads, or components, are
averaged.
"""

from __future__ import annotations

import torch

from fenchel.torch.nn import Attended

MOST = 0.95
"""The part of the mass that the region of attention holds where nothing is left out altogether."""


def pixel_mass(attended: Attended, side: int) -> torch.Tensor:
    """(..., side, side): the mass of attention in each pixel, for what was attended to by (..., heads) densities, or
    mixtures, or weights."""
    if attended.mu is None:
        weights = attended.weights.mean(-3)
        size = side // weights.shape[-1]
        return weights.repeat_interleave(size, -1).repeat_interleave(size, -2) / size**2
    mass = density_at_pixels(attended, side) / side**2
    if attended.modes is not None:
        mass = (attended.modes[..., None, None] * mass).sum(-3)
    return mass.mean(-3)


def density_at_pixels(attended: Attended, side: int) -> torch.Tensor:
    """(*densities, side, side): p at the middle of each pixel.

    With q(t) = (t - mu)^T Sigma^-1 (t - mu), it is p(mu) exp(-q(t) / 2) at alpha = 1 and else
    p(mu) [1 - q(t) / r^2]_+^(1 / (alpha - 1)), where q = r^2 bounds the support: log_prob for many points at once.
    """
    p = attended.density()
    peak = p.log_prob(p.mu).exp()[..., None, None]
    radius2 = p.active_support()[2][..., None, None]
    along = (torch.arange(side, device=p.mu.device, dtype=p.mu.dtype) + 0.5) / side
    x = (along - p.mu[..., :1]).unsqueeze(-2)
    y = (along - p.mu[..., 1:]).unsqueeze(-1)
    inverse = torch.linalg.inv(p.Sigma)[..., None, None]
    q = inverse[..., 0, 0, :, :] * x * x + 2 * inverse[..., 0, 1, :, :] * x * y + inverse[..., 1, 1, :, :] * y * y
    am1 = float(attended.alpha) - 1
    if am1 == 0:
        return peak * torch.exp(-q / 2)
    return peak * (1 - q / radius2).clamp(min=0) ** (1 / am1)


def region(mass: torch.Tensor, sparse: bool) -> torch.Tensor:
    """(..., side, side), of bool: the pixels that a model looks at.

    They are those of any mass where attention is sparse, and otherwise the fewest that hold 95 % of the mass in the
    image, with those that have as much mass as the last of them.
    """
    if sparse:
        return mass > 0
    falling = mass.flatten(-2).sort(-1, descending=True).values
    sums = falling.cumsum(-1)
    last = (sums < MOST * sums[..., -1:]).sum(-1, keepdim=True).clamp(max=falling.shape[-1] - 1)
    return mass >= falling.gather(-1, last).unsqueeze(-1)


def inside(mass: torch.Tensor, objects: torch.Tensor) -> torch.Tensor:
    """The mass of attention in the pixels (..., side, side) of objects."""
    return (mass * objects).sum((-2, -1))


def overlap(looked_at: torch.Tensor, objects: torch.Tensor) -> torch.Tensor:
    """Intersection over union of two regions."""
    common, either = ((looked_at & objects).sum((-2, -1)), (looked_at | objects).sum((-2, -1)))
    return common / either.clamp(min=1)


def area(looked_at: torch.Tensor) -> torch.Tensor:
    """Of a region, as a part of the image."""
    return looked_at.float().mean((-2, -1))
