"""Attention over a sequence or a grid: discrete, continuous, or the sum of both."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import nn

from .._attention import continuous_attention
from .._basis import Basis
from .._beta_gaussian import BetaGaussian
from .._mixture import Mixture, fit_mixture
from .._multivariate_beta_gaussian import MultivariateBetaGaussian
from .._rows import Parameter
from .._values import RidgeValues, check_sequence_or_grid, mask, match_weights
from ._entmax import FusedmaxGrid, keep_parameter, show_parameter
from ._learned_alpha import alpha_of_raw, raw_alpha_of

KINDS = ("both", "continuous", "discrete")


class Attended(NamedTuple):
    """What attention looked at: the densities of alpha, mu and Sigma, or weights, or both, one for each context.

    Of mixtures these are the components, along a last dimension, and modes are their weights.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch.nn import Attended
    >>> Attended(alpha=2.0, mu=torch.tensor([0.3]), Sigma=torch.tensor([0.01])).density().active_support()
    (tensor([0.0534]), tensor([0.5466]))
    """

    alpha: Parameter
    """The order of the densities."""
    mu: torch.Tensor | None = None
    """Where they lie: (x, y) in images, with y downwards, (x, y, z) in volumes."""
    Sigma: torch.Tensor | None = None
    """How wide their scores are: sigma2 for sequences, matrices for images and volumes."""
    weights: torch.Tensor | None = None
    """Over positions, of the shape of the scores."""
    modes: torch.Tensor | None = None
    """Of the components of mixtures, along a last dimension that mu and Sigma have too: their weights."""

    def density(self) -> BetaGaussian | MultivariateBetaGaussian:
        """The densities, or the components of mixtures: `active_support()` says from where to where they look, `log_prob`
        is -inf elsewhere."""
        if self.mu is None or self.Sigma is None:
            raise ValueError("Attended: discrete attention has weights and no density")
        if self.Sigma.dim() == self.mu.dim():
            return BetaGaussian(self.alpha, self.mu, self.Sigma)
        return MultivariateBetaGaussian(self.alpha, self.mu, self.Sigma)


class ContinuousAttention(nn.Module):
    """The context of values of a sequence, an image or a volume, under attention [SCD22, Section 9.1].

    Discrete attention is the sum of the values under weights, softmax(scores) or another. Continuous attention makes of
    the weights a density p with their mean and variance, and of the values a function V by ridge regression on a
    basis; the context is E_p[V]. Places are in [0, 1], in the unit square or in the unit cube. A place in an image is
    (x, y): x grows with W, to the right, and y with H, downwards from the first row. One in a volume, or in a video, is
    (x, y, z): z grows with D, its first dimension.

    Parameters
    ----------
    basis : GaussianBasis, MultivariateGaussianBasis or another basis of fenchel.torch
        Of V: on the line for sequences, on R^2 for images, on R^3 for volumes; fixed or learned.
    kind : {"both", "continuous", "discrete"}
        Which context; "both" is the sum.
    alpha : float or Tensor
        Of the densities: 1 is a Gaussian, 2 a parabola of bounded support. A tensor broadcasts to their shape: (heads,
        1) is one for each head.
    learned_alpha : bool
        Whether alpha is trained, from the given value above 1. It is 1 + softplus(raw_alpha) then.
    weights : Module
        From scores to weights along the last dimension: softmax unless said, or such as `Entmax`; or `FusedmaxGrid` over
        images.
    ridge : float
        The strength of the ridge regression.
    positions : {"centres", "ends"} or Tensor
        Where values lie: at the centres of equal cells; at their ends l / L, as in the paper; or at given places, (L,)
        or (L, D).
    floor : float, optional
        Added to the variances of weights, so that no density collapses to a point: that of one cell unless said. The
        paper has none, which is 0; weights that are all at one place then are an error.
    components : int
        How many modes a density has: above 1 it is a mixture, from the weights by EM (see `fit_mixture`), and the context
        is the sum of those of its components.
    iterations : int, optional
        How many steps EM takes for a mixture: until it has converged unless said. With a number nothing waits for a GPU.
    channels_first : bool
        Whether values are (*batch, M, L), (*batch, M, H, W) or (*batch, M, D, H, W), as convolutions have them.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import GaussianBasis
    >>> from fenchel.torch.nn import ContinuousAttention
    >>> attention = ContinuousAttention(GaussianBasis.linearly_spaced(16), kind="continuous")
    >>> values, scores = torch.randn(3, 20, 5), torch.randn(3, 20)
    >>> context, attended = attention(values, scores, lengths=torch.tensor([20, 7, 1]))
    >>> context.shape, attended.mu.shape
    (torch.Size([3, 5]), torch.Size([3]))
    """

    def __init__(
        self,
        basis: Basis,
        kind: str = "both",
        alpha: Parameter = 2.0,
        learned_alpha: bool = False,
        weights: nn.Module | None = None,
        ridge: float = 0.1,
        positions: str | torch.Tensor = "centres",
        floor: float | None = None,
        components: int = 1,
        iterations: int | None = None,
        channels_first: bool = False,
    ) -> None:
        super().__init__()
        if kind not in KINDS:
            raise ValueError(f"ContinuousAttention: kind must be one of {', '.join(KINDS)}, got {kind!r}")
        check_sequence_or_grid("ContinuousAttention", basis)
        self.kind = kind
        self.learned_alpha = learned_alpha
        self.weights = nn.Softmax(-1) if weights is None else weights
        self.value_function = RidgeValues(basis, ridge, positions)
        if floor is not None and not 0 <= floor < math.inf:
            raise ValueError(f"ContinuousAttention: floor must be finite and not negative, got {floor}")
        if components < 1:
            raise ValueError(f"ContinuousAttention: components must be at least 1, got {components}")
        self.floor = floor
        if iterations is not None and iterations < 1:
            raise ValueError(f"ContinuousAttention: iterations must be at least 1, got {iterations}")
        self.components = components
        self.iterations = iterations
        self.channels_first = channels_first
        if not learned_alpha:
            keep_parameter(self, "fixed_alpha", alpha)
            return
        self.raw_alpha = nn.Parameter(raw_alpha_of("ContinuousAttention", alpha).to(torch.get_default_dtype()))

    @property
    def basis(self) -> Basis:
        """The functions that V is made of."""
        return self.value_function.basis

    @property
    def alpha(self) -> Parameter:
        """The alpha in use. A learned one is a float64 tensor."""
        if self.learned_alpha:
            return alpha_of_raw(self.raw_alpha)
        value: Any = self.fixed_alpha
        return value

    def forward(
        self,
        values: torch.Tensor,
        scores: torch.Tensor | None = None,
        *,
        density: tuple[torch.Tensor, torch.Tensor] | None = None,
        lengths: torch.Tensor | None = None,
        key_padding_mask: torch.Tensor | None = None,
        mixing: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, Attended]:
        """The context, and what was attended to.

        Parameters
        ----------
        values : Tensor, shape (*batch, L, M), for grids (*batch, H, W, M) or (*batch, D, H, W, M)
            With `channels_first` M is before L, H or D.
        scores : Tensor, shape (*batch, *queries, L), for grids (*batch, *queries, H, W) or (*batch, *queries, D, H, W)
            One context for each query. -inf is a mask.
        density : (mu, Sigma), optional
            Instead of scores, for the kind "continuous": mu and sigma2 of shape (*batch, *queries); for images points
            (x, y), (*batch, *queries, 2), and matrices (*batch, *queries, 2, 2); for volumes 3 in place of 2.
        lengths : Tensor of int, shape (*batch), optional
            Of sequences that are padded at their end. Padding is not read.
        key_padding_mask : Tensor of bool, shape (*batch, L), optional
            True where a frame is padding, wherever that is: the other frames are the sequence.
        mixing : Tensor, shape (*batch, *queries), optional
            Weights of mixtures, of sum 1 along their last dimension: contexts are summed under them.

        Returns
        -------
        context : Tensor, shape (*batch, *queries, M)
            Without the last dimension of the queries where they are mixed.
        attended : Attended
        """
        size = self.basis.dimension
        if self.channels_first and values.dim() > size:
            values = values.movedim(-size - 1, -1)
        batch, grid = values.shape[: -size - 1], values.shape[-size - 1 : -1]
        _check(self.kind, size, values, scores, density, lengths, key_padding_mask)
        order, padding = None, None
        if key_padding_mask is not None:
            order = key_padding_mask.byte().argsort(dim=-1, stable=True)
            values = values.take_along_dim(order.unsqueeze(-1), -2)
            lengths = (~key_padding_mask).sum(-1)
        if lengths is not None:
            padding = ~mask(lengths, values.shape[-2])
            values = values.masked_fill(padding.unsqueeze(-1), 0)

        contexts, alpha, mu, Sigma = [], self.alpha, None, None
        weights, modes = None, None
        if scores is not None:
            scores = scores.flatten(-size)
            if order is not None:
                scores = scores.take_along_dim(_for_queries(order, scores), -1)
            if padding is not None:
                scores = scores.masked_fill(_for_queries(padding, scores), -math.inf)
            weights = self._weights(scores, grid)
            if self.kind != "continuous":
                contexts.append(_contexts(weights, values.flatten(-size - 1, -2)))
            if self.kind != "discrete" and self.components > 1:
                if isinstance(alpha, torch.Tensor) and alpha.dim() > 0:
                    alpha = alpha.unsqueeze(-1)
                p = self._mixture(alpha, weights, grid, lengths)
                modes, density = p.weights, (p.components.mu, _scale(p.components))
            elif self.kind != "discrete":
                density = self._density(alpha, weights, grid, lengths)
            if order is not None:
                weights = weights.take_along_dim(_for_queries(order.argsort(-1), weights), -1)
            weights = weights.unflatten(-1, grid)
        if density is not None:
            mu, Sigma = density
            seen = continuous_attention(alpha, mu, Sigma, self.basis)
            if modes is not None:
                seen = (modes.unsqueeze(-1) * seen).sum(-2)
            contexts.append(self.value_function.contexts(seen, values, lengths))
        context = contexts[0] if len(contexts) == 1 else contexts[0] + contexts[1]
        if mixing is not None:
            context = (mixing.unsqueeze(-1) * context).sum(-2)
        return context, Attended(alpha, mu, Sigma, weights, modes)

    def _weights(self, scores: torch.Tensor, grid: torch.Size) -> torch.Tensor:
        if isinstance(self.weights, FusedmaxGrid):
            return self.weights(scores.unflatten(-1, grid)).flatten(-2)
        return self.weights(scores)

    def _mixture(
        self, alpha: Parameter, weights: torch.Tensor, grid: torch.Size, lengths: torch.Tensor | None
    ) -> Mixture:
        places = self.value_function.places
        given = None if len(grid) == 1 and places.given is None else places(grid, weights.device)
        p = fit_mixture(
            alpha,
            weights,
            given,
            self.components,
            floor=self.floor,
            lengths=_of_queries(lengths, weights),
            tolerance=1e-9 if self.iterations is None else 0.0,
            max_iterations=self.iterations or 1000,
        )
        if given is not None or places.in_cell == 0.5:
            return p
        mu = p.components.mu + self._beyond_centre(p.components.mu, grid, lengths)
        return Mixture(p.weights, BetaGaussian(alpha, mu, p.components.sigma2, validate_args=False), validate_args=False)

    def _density(
        self, alpha: Parameter, weights: torch.Tensor, grid: torch.Size, lengths: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """mu and Sigma of the densities that the weights become."""
        places = self.value_function.places
        if len(grid) > 1 or places.given is not None:
            return match_weights(alpha, weights, places(grid, weights.device), self.floor)
        mu, Sigma = match_weights(alpha, weights, floor=self.floor, lengths=_of_queries(lengths, weights))
        return mu if places.in_cell == 0.5 else mu + self._beyond_centre(mu, grid, lengths), Sigma

    def _beyond_centre(self, mu: torch.Tensor, grid: torch.Size, lengths: torch.Tensor | None) -> Any:
        """How far positions lie behind the centres of their cells."""
        beyond = self.value_function.places.in_cell - 0.5
        if lengths is None:
            return beyond / grid[0]
        return beyond / _for_queries(lengths.to(mu.dtype).unsqueeze(-1), mu.unsqueeze(-1)).squeeze(-1)

    def extra_repr(self) -> str:
        learned = ", learned_alpha=True" if self.learned_alpha else ""
        floor = "" if self.floor is None else f", floor={self.floor}"
        first = ", channels_first=True" if self.channels_first else ""
        return f"kind={self.kind}, alpha={show_parameter(self.alpha)}{learned}{floor}{first}"


def _scale(p: BetaGaussian | MultivariateBetaGaussian) -> torch.Tensor:
    return p.sigma2 if isinstance(p, BetaGaussian) else p.Sigma


def _contexts(rows: torch.Tensor, matrices: torch.Tensor) -> torch.Tensor:
    """(*batch, *queries, K) times (*batch, K, M)."""
    batch = matrices.shape[:-2]
    queries = rows.shape[len(batch) : -1]
    flat = rows.reshape(*batch, math.prod(queries), rows.shape[-1]).to(matrices.dtype)
    return (flat @ matrices).reshape(*batch, *queries, matrices.shape[-1])


def _of_queries(lengths: torch.Tensor | None, weights: torch.Tensor) -> torch.Tensor | None:
    """Lengths (*batch) as one for each row of the weights."""
    if lengths is None:
        return None
    return _for_queries(lengths.unsqueeze(-1), weights).squeeze(-1).expand(weights.shape[:-1])


def _for_queries(x: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """(*batch, L), the same for all queries of the scores."""
    return x.reshape(*x.shape[:-1], *(1,) * (scores.dim() - x.dim()), x.shape[-1])


def _check(
    kind: str,
    size: int,
    values: torch.Tensor,
    scores: torch.Tensor | None,
    density: tuple[torch.Tensor, torch.Tensor] | None,
    lengths: torch.Tensor | None,
    key_padding_mask: torch.Tensor | None,
) -> None:
    """Shapes that fit, and neither too few arguments nor too many."""
    if values.dim() <= size:
        wanted = ("(*batch, L, M)", "(*batch, H, W, M)", "(*batch, D, H, W, M)")[size - 1]
        raise ValueError(f"ContinuousAttention: values must have shape {wanted}, got {tuple(values.shape)}")
    if (scores is None) == (density is None) or (density is not None and kind != "continuous"):
        raise ValueError(
            "ContinuousAttention: either scores or, for the kind 'continuous', density must be given, got "
            f"{'none' if scores is None and density is None else 'density' if scores is None else 'both'} for {kind!r}"
        )
    batch, grid = values.shape[: -size - 1], values.shape[-size - 1 : -1]
    if scores is not None and (scores.shape[: len(batch)] != batch or scores.shape[len(batch) :][-size:] != grid):
        wanted = ", ".join([*map(str, batch), "*queries", *map(str, grid)])
        raise ValueError(f"ContinuousAttention: scores must have shape ({wanted}), got {tuple(scores.shape)}")
    if (lengths is not None or key_padding_mask is not None) and size > 1:
        raise ValueError("ContinuousAttention: lengths and key_padding_mask are for sequences: mask grids by scores")
    if lengths is not None and (key_padding_mask is not None or lengths.shape != batch):
        raise ValueError(
            f"ContinuousAttention: lengths must have shape {tuple(batch)} and go without key_padding_mask, got "
            f"{tuple(lengths.shape)}"
        )
    wrong = key_padding_mask is not None and key_padding_mask.shape != batch + grid
    if key_padding_mask is not None and (wrong or key_padding_mask.dtype != torch.bool):
        raise ValueError(
            f"ContinuousAttention: key_padding_mask must be of bool and shape {tuple(batch + grid)}, got "
            f"{key_padding_mask.dtype} and {tuple(key_padding_mask.shape)}"
        )
