"""Modules: layers of sparse probabilities, and the losses that train them."""

from ._continuous_attention import Attended, ContinuousAttention
from ._entmax import Entmax, Entmax15, EntmaxBisect, Fusedmax, FusedmaxGrid, SmoothSparsemax, Sparsemax, SparsemaxBisect
from ._losses import Entmax15Loss, EntmaxBisectLoss, EntmaxLoss, SparsemaxBisectLoss, SparsemaxLoss
from ._multihead import MultiheadContinuousAttention

__all__ = [
    "Attended",
    "ContinuousAttention",
    "Entmax",
    "Entmax15",
    "Entmax15Loss",
    "EntmaxBisect",
    "EntmaxBisectLoss",
    "EntmaxLoss",
    "Fusedmax",
    "FusedmaxGrid",
    "MultiheadContinuousAttention",
    "SmoothSparsemax",
    "Sparsemax",
    "SparsemaxBisect",
    "SparsemaxBisectLoss",
    "SparsemaxLoss",
]
