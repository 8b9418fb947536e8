"""Mixtures of beta-Gaussians as distributions of torch, and from weights by EM."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributions import Categorical, MixtureSameFamily, MultivariateNormal, Normal

import fenchel

from ._beta_gaussian import BetaGaussian
from ._multivariate_beta_gaussian import MultivariateBetaGaussian
from ._rows import Parameter
from ._values import match_weights


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
    tolerance: float = 1e-9,
    max_iterations: int = 1000,
) -> Mixture:
    """From weights over positions, as discrete attention has them, to densities with several modes.

    A mixture of Gaussians is fitted to each row by EM, as `fenchel.fit_mixture` does, on the CPU and without a
    gradient. How much each component answers for each position then stays, and the weights move the components through
    it: a component is the `match_weights` of its share. So the result has gradients in weights and alpha, those of one
    step of EM.

    Parameters
    ----------
    alpha : float or Tensor
        Of the densities, as in `match_weights`; a tensor broadcasts to (..., K).
    weights : Tensor, shape (..., L)
        Not negative, of sum 1.
    positions : Tensor, shape (L,) or (L, D), optional
        The centres of L equal cells of [0, 1] unless said.
    components : int
        K. One that EM leaves empty has weight 0.
    floor : float, optional
        As in `match_weights`.
    tolerance, max_iterations
        When EM ends, as in `fenchel.fit_mixture`.

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
    batch, length = weights.shape[:-1], weights.shape[-1]
    if positions is None:
        places = torch.from_numpy(fenchel.positions(length))
    else:
        places = positions.detach().double().cpu()
    shares = []
    for row in weights.detach().reshape(-1, length).double().cpu():
        found = fenchel.fit_mixture(
            2.0, row.numpy(), places.numpy(), components, tolerance=tolerance, max_iterations=max_iterations
        ).mixture
        shares.append(_responsibilities(found, places, components))
    share = torch.stack(shares) if shares else places.new_empty((0, components, length))
    share = share.to(weights.device).unflatten(0, batch) if batch else share[0].to(weights.device)
    parts = weights.double().unsqueeze(-2) * share
    mixing = parts.sum(-1)
    # One that is empty is where all weight is, and counts for nothing.
    each = torch.where(mixing.unsqueeze(-1) > 0, parts, weights.double().unsqueeze(-2))
    each = each / each.sum(-1, keepdim=True)
    at = None if positions is None else places.to(weights.device)
    mu, Sigma = (x.to(weights.dtype) for x in match_weights(alpha, each, at, floor))
    mixing = (mixing / mixing.sum(-1, keepdim=True)).to(weights.dtype)
    family = BetaGaussian if Sigma.dim() == mu.dim() else MultivariateBetaGaussian
    return Mixture(mixing, family(alpha, mu, Sigma), validate_args=False)


def _responsibilities(found: Any, places: torch.Tensor, components: int) -> torch.Tensor:
    """(K, L): the probability that a component, of the mixture of Gaussians that EM found, is where a position is from."""
    logs = []
    for weight, p in zip(found.weights, found.components):
        if places.dim() == 1:
            gaussian: Any = Normal(p.mu, p.var() ** 0.5)
        else:
            gaussian = MultivariateNormal(torch.tensor(p.mu), torch.tensor(p.cov()))
        logs.append(gaussian.log_prob(places) + torch.tensor(weight, dtype=torch.float64).log())
    share = torch.softmax(torch.stack(logs), 0)
    return torch.cat([share, share.new_zeros(components - len(logs), share.shape[1])])
