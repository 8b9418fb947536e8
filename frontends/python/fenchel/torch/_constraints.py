"""What parameters must be: torch's own constraints let infinity pass."""

from __future__ import annotations

import torch
from torch.distributions import biject_to, constraints, transform_to, transforms


class Finite(constraints.Constraint):
    """Finite numbers."""

    def check(self, value: torch.Tensor) -> torch.Tensor:
        """Where it is satisfied."""
        return value.isfinite()


class PositiveFinite(constraints.Constraint):
    """Finite numbers above 0."""

    def check(self, value: torch.Tensor) -> torch.Tensor:
        """Where it is satisfied."""
        return value.isfinite() & (value > 0)


class PositiveNormal(constraints.Constraint):
    """Finite numbers above 0 with finite reciprocals: no subnormal doubles."""

    def check(self, value: torch.Tensor) -> torch.Tensor:
        """Where it is satisfied."""
        return value.isfinite() & (value.double() >= torch.finfo(torch.float64).tiny)


finite, positive_finite, positive_normal = Finite(), PositiveFinite(), PositiveNormal()
finite_vector = constraints.independent(finite, 1)

for registry in (biject_to, transform_to):
    registry.register(finite, lambda _: transforms.identity_transform)
    for positive in (positive_finite, positive_normal):
        registry.register(positive, lambda _: transforms.ExpTransform())
