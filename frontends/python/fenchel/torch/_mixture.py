"""Mixtures of beta-Gaussians as distributions of torch, and from weights by EM."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributions import Categorical, MixtureSameFamily

from ._beta_gaussian import BetaGaussian
from ._gaussian_em import responsibilities
from ._multivariate_beta_gaussian import MultivariateBetaGaussian
from ._rows import Parameter
from ._values import mask, match_weights


class Mixture(MixtureSameFamily):
    """The mixture sum_k weights[k] components[k] of beta-Gaussians, on the line or on R^N.

    It is torch's MixtureSameFamily: `log_prob`, `cdf` on the line, `mean`, `variance` and `sample` have derivatives in
    the weights and in the parameters of the components.

    Parameters
    ----------
    weights : Tensor, shape (..., K)
        Not negative, of sum 1.
    components : BetaGaussian or MultivariateBetaGaussian
        Of batch shape (..., K).
    validate_args : bool, optional
        As of torch.distributions.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import BetaGaussian, Mixture
    >>> p = Mixture(torch.tensor([0.25, 0.75]), BetaGaussian(2.0, torch.tensor([-2.0, 2.0])))
    >>> p.mean
    tensor(1.)
    >>> p.log_prob(torch.tensor([0.0, 2.0])).exp()
    tensor([0.0000, 0.4914])
    """

    def __init__(
        self,
        weights: torch.Tensor,
        components: BetaGaussian | MultivariateBetaGaussian,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(components, (BetaGaussian, MultivariateBetaGaussian)):
            given = type(components).__name__
            raise TypeError(f"Mixture: components must be a BetaGaussian or a MultivariateBetaGaussian, got {given}")
        super().__init__(Categorical(probs=weights, validate_args=validate_args), components, validate_args)

    @property
    def weights(self) -> torch.Tensor:
        """Of the components, (..., K)."""
        return self.mixture_distribution.probs

    @property
    def components(self) -> Any:
        """The densities that are mixed, of batch shape (..., K)."""
        return self.component_distribution


def fit_mixture(
    alpha: Parameter,
    weights: torch.Tensor,
    positions: torch.Tensor | None = None,
    components: int = 2,
    *,
    floor: float | None = None,
    lengths: torch.Tensor | None = None,
    tolerance: float = 1e-9,
    max_iterations: int = 1000,
) -> Mixture:
    """From weights over positions, as discrete attention has them, to densities with several modes.

    A mixture of Gaussians is fitted to each row by EM, as `fenchel.fit_mixture` does, for all rows at once, on their
    device and without a gradient. How much each component answers for each position then stays, and the weights move
    the components through it: a component is the `match_weights` of its share. So the result has gradients in weights
    and alpha, those of one step of EM.

    Parameters
    ----------
    alpha : float or Tensor
        Of the densities, as in `match_weights`; a tensor broadcasts to (..., K).
    weights : Tensor, shape (..., L)
        Not negative, of sum 1.
    positions : Tensor, shape (L,) or (L, D), optional
        The centres of L equal cells of [0, 1] unless said, or of as many as a row has.
    components : int
        K. One that EM leaves empty has weight 0, and so have those that a row has too few positions of positive weight
        for.
    floor : float, optional
        As in `match_weights`.
    lengths : Tensor of int, shape (...), optional
        How many weights of a row count. Others are not read.
    tolerance : float
        EM ends where a step adds no more to the mean log density of any row. To know that it waits for a GPU: with a
        tolerance of 0 exactly `max_iterations` steps are made, nothing waits, and a CUDA graph can capture them.
    max_iterations : int
        The most steps.

    Returns
    -------
    Mixture
        Of batch shape (...), with K components. `nn.ContinuousAttention(components=K)` attends with it.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import fit_mixture
    >>> p = fit_mixture(2.0, torch.tensor([0.2, 0.3, 0.0, 0.0, 0.0, 0.2, 0.3]))
    >>> p.components.mu, p.weights
    (tensor([0.8714, 0.1571]), tensor([0.5000, 0.5000]))
    """
    if weights.dim() == 0 or weights.shape[-1] == 0:
        raise ValueError(f"fit_mixture: weights must have shape (..., L), L > 0, got {tuple(weights.shape)}")
    if components < 1:
        raise ValueError(f"fit_mixture: components must be positive, got {components}")
    if max_iterations < 0:
        raise ValueError(f"fit_mixture: max_iterations must not be negative, got {max_iterations}")
    if not tolerance >= 0:
        raise ValueError(f"fit_mixture: tolerance must not be negative, got {tolerance}")
    at = None if positions is None else positions.detach().to(weights.device, torch.float64)
    # It names what is wrong with the arguments. Places about this mean keep their digits.
    with torch.no_grad():
        middle, _ = match_weights(1.0, weights, at, 1.0, lengths)
    w = weights.double()
    if lengths is not None:
        w = torch.where(mask(lengths, weights.shape[-1]), w, 0.0)
    w = w / w.sum(-1, keepdim=True)
    with torch.no_grad():
        places = _places(weights, at, lengths) - middle.double().reshape(-1, 1, 1 if at is None else at[0].numel())
        rows = w.detach().reshape(-1, w.shape[-1])
        share = responsibilities(rows, places, components, tolerance, max_iterations)
    share = share.reshape(*w.shape[:-1], components, w.shape[-1])
    parts = w.unsqueeze(-2) * share
    mixing = parts.sum(-1)
    # One that is empty is where all weight is, and counts for nothing.
    each = torch.where(mixing.unsqueeze(-1) > 0, parts, w.unsqueeze(-2))
    each = each / each.sum(-1, keepdim=True)
    counts = None if lengths is None else lengths.unsqueeze(-1).expand(mixing.shape)
    mu, Sigma = (x.to(weights.dtype) for x in match_weights(alpha, each, at, floor, counts))
    mixing = (mixing / mixing.sum(-1, keepdim=True)).to(weights.dtype)
    family = BetaGaussian if Sigma.dim() == mu.dim() else MultivariateBetaGaussian
    return Mixture(mixing, family(alpha, mu, Sigma, validate_args=False), validate_args=False)


def _places(weights: torch.Tensor, positions: torch.Tensor | None, lengths: torch.Tensor | None) -> torch.Tensor:
    """(R, L, D), or (1, L, D) where rows share them."""
    length = weights.shape[-1]
    if positions is not None:
        return positions.reshape(1, length, -1)
    cells = torch.arange(length, dtype=torch.float64, device=weights.device) + 0.5
    return (cells / (length if lengths is None else lengths.reshape(-1, 1))).reshape(-1, length, 1)
