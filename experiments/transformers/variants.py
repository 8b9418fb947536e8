"""The four kinds of attention that are compared: they differ in the alpha of the weights and in the scale of the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fenchel.torch.nn import EntmaxAttentionScale, MultiheadAttention


@dataclass(frozen=True)
class Variant:
    """Weights of attention."""

    alpha: float | str
    """A number, or "learned": one of each head, that begins at 1.5."""
    has_scale: bool = False
    """Whether the scale is `EntmaxAttentionScale`, one of each head, that begins at 1 / sqrt(head_dim)."""

    def attention(self, size: int, heads: int, **rest: Any) -> MultiheadAttention:
        """With the same first parameters for each variant, but for those of alpha and of the scale."""
        scale = EntmaxAttentionScale(heads, size // heads) if self.has_scale else None
        return MultiheadAttention(size, heads, batch_first=True, alpha=self.alpha, scale=scale, **rest)


VARIANTS = {
    "softmax": ("softmax", Variant(1.0)),
    "entmax": ("entmax, alpha = 1.5", Variant(1.5)),
    "learned": ("learned alpha", Variant("learned")),
    "scaled": ("learned alpha and scale", Variant("learned", True)),
}
"""Labels and weights by name."""
