"""Continuous attention on the line as one would write it in torch: what the benchmarks compare with."""

from __future__ import annotations

import math

import torch

import fenchel.torch as ft


def plain_attention(alpha: float, mu: torch.Tensor, sigma2: torch.Tensor, basis: ft.GaussianBasis) -> torch.Tensor:
    """E_p[psi] in closed form: a product of Gaussians for alpha = 1; for alpha = 2 the moments of psi under
    p(t) = (a^2 - (t - mu)^2) / (2 sigma2) on |t - mu| < a = (3 sigma2 / 2)^{1/3}."""
    centre, sd = basis.mu.to(mu), basis.sigma.to(mu)
    variance, delta, sigma2 = sd.square(), mu[:, None] - centre, sigma2[:, None]
    if alpha == 1:
        total = sigma2 + variance
        return torch.exp(-(delta**2) / (2 * total)) / torch.sqrt(2 * math.pi * total)
    width = (1.5 * sigma2) ** (1 / 3)
    u, v = (delta - width) / sd, (delta + width) / sd
    phi_u, phi_v = (torch.exp(-(w**2) / 2) / math.sqrt(2 * math.pi) for w in (u, v))
    mass = (torch.erf(v / math.sqrt(2)) - torch.erf(u / math.sqrt(2))) / 2
    moments = (width**2 - delta**2 - variance) * mass + 2 * delta * sd * (phi_u - phi_v)
    return (moments - variance * (u * phi_u - v * phi_v)) / (2 * sigma2)
