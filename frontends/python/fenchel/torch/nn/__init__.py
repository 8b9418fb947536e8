"""Modules: layers of sparse probabilities, and the losses that train them."""

from ._attention_scale import EntmaxAttentionScale
from ._continuous_attention import Attended, ContinuousAttention
from ._entmax import Entmax, Entmax15, EntmaxBisect, Fusedmax, FusedmaxGrid, SmoothSparsemax, Sparsemax, SparsemaxBisect
from ._losses import Entmax15Loss, EntmaxBisectLoss, EntmaxLoss, SparsemaxBisectLoss, SparsemaxLoss
from ._multihead import MultiheadContinuousAttention
from ._multihead_attention import MultiheadAttention
from ._sparsify import sparsify

__all__ = [
    "Attended",
    "ContinuousAttention",
    "Entmax",
    "Entmax15",
    "Entmax15Loss",
    "EntmaxAttentionScale",
    "EntmaxBisect",
    "EntmaxBisectLoss",
    "EntmaxLoss",
    "Fusedmax",
    "FusedmaxGrid",
    "MultiheadAttention",
    "MultiheadContinuousAttention",
    "SmoothSparsemax",
    "Sparsemax",
    "SparsemaxBisect",
    "SparsemaxBisectLoss",
    "SparsemaxLoss",
    "sparsify",
]
