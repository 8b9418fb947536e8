"""Predictions for a score that is a function of torch, such as a network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.distributions import Distribution, constraints
from torch.distributions.utils import lazy_property

from .. import Interval
from ._domain import Domain, Nodes, quadrature
from ._elliptical import _beta_gaussian, alpha_tensor
from ._entmax import entmax
from ._entmax_loss import cross_omega, entmax_loss
from ._rows import Parameter

Function = Callable[[torch.Tensor], torch.Tensor]


def _kind(f: Function, alpha: Parameter) -> tuple[torch.dtype, torch.device]:
    """The dtype and the device of a module's parameters, else those of torch; a learned alpha has a device too."""
    parameters = f.parameters() if isinstance(f, torch.nn.Module) else iter(())
    like = next(parameters, None)
    if like is not None:
        return like.dtype, like.device
    device = alpha.device if isinstance(alpha, torch.Tensor) else torch.get_default_device()
    return torch.get_default_dtype(), device


class NumericDensity(Distribution):
    """The density that is predicted for a score, a function of torch: what `predict` gives.

    p(t) = [1 + (alpha - 1) (f(t) - A)]_+^(1 / (alpha - 1)) for the A that gives it mass 1. Everything has derivatives
    in what f and alpha are made of. Numbers are computed in float64 and rounded to the dtype of f.

    f, alpha, domain, nodes, dtype, device and validate_args are those of `predict`.

    Examples
    --------
    >>> import torch
    >>> from fenchel import Interval
    >>> from fenchel.torch import NumericDensity
    >>> p = NumericDensity(lambda t: 3 * t.square() - t.pow(4), 2.0, Interval(-3, 3))
    >>> p.log_prob(torch.tensor([0.0, 1.0])).exp()
    tensor([0.0000, 0.6731])
    """

    arg_constraints = {}  # noqa: RUF012

    def __init__(
        self,
        f: Function,
        alpha: Parameter,
        domain: Domain,
        nodes: int | None = None,
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
        validate_args: bool | None = None,
    ) -> None:
        own_dtype, own_device = _kind(f, alpha)
        self.f, self.domain = f, domain
        self._rule = quadrature(domain, nodes, dtype or own_dtype, torch.device(device or own_device))
        points, weights, _ = self._rule
        scores = f(points)
        if scores.shape[-1:] != points.shape[:1] or not scores.is_floating_point():
            raise ValueError(
                f"fenchel.torch: predict: f must give scores of shape (..., {len(points)}) for {len(points)} points, "
                f"got {scores.dtype} of shape {tuple(scores.shape)}"
            )
        self._dtype = scores.dtype
        orders = alpha_tensor(alpha, scores)
        batch = torch.broadcast_shapes(orders.shape, scores.shape[:-1])
        self.alpha = orders.expand(batch)
        self._order: Parameter = alpha if not isinstance(alpha, torch.Tensor) else self.alpha.unsqueeze(-1)
        self._scores = scores.double().expand(*batch, -1)
        self.has_rsample = isinstance(domain, Interval)
        super().__init__(batch, points.shape[1:], validate_args)
        if self._validate_args:
            self._check()
        self._probs = entmax(self._scores, self._order, -1, weight=weights)

    def _check(self) -> None:
        alpha, scores = self.alpha.detach(), self._scores.detach()
        bad = alpha[~((alpha > 0) & alpha.isfinite())]
        if bad.numel():
            raise ValueError(f"fenchel.torch: predict: alpha must be positive and finite, got {bad[0].item()}")
        wrong = scores.isnan() | (scores == torch.inf)
        if wrong.any():
            at = wrong.reshape(-1, wrong.shape[-1]).any(0).nonzero()[0, 0]
            raise ValueError(
                f"fenchel.torch: predict: f must be finite or -inf, got {scores[wrong][0].item()} at "
                f"{self._rule.points[at].tolist()}"
            )
        if ((scores == -torch.inf) | (self._rule.weights == 0)).all(-1).any():
            raise ValueError("fenchel.torch: predict: f must be above -inf somewhere, got -inf at all nodes")

    @property
    def support(self) -> constraints.Constraint:
        """Values of any size: the density is 0 outside of the domain."""
        return constraints.real_vector if self.event_shape else constraints.real

    @property
    def points(self) -> torch.Tensor:
        """The nodes, (n,) on the line and (n, d) in space."""
        return self._rule.points

    @property
    def weights(self) -> torch.Tensor:
        """Of the nodes, (n,)."""
        return self._rule.weights.to(self._dtype)

    @property
    def probs(self) -> torch.Tensor:
        """The probabilities of the nodes, (..., n): exactly 0 off the support."""
        return self._probs.to(self._dtype)

    def active_support(self) -> torch.Tensor:
        """Whether a node is in the support, (..., n)."""
        return self._probs.detach() > 0

    @lazy_property
    def _top(self) -> torch.Tensor:
        """The node of the largest score."""
        return self._scores.detach().masked_fill(self._rule.weights == 0, -torch.inf).argmax(-1, keepdim=True)

    @lazy_property
    def _largest(self) -> torch.Tensor:
        """The largest score."""
        return self._scores.gather(-1, self._top).squeeze(-1)

    @lazy_property
    def _log_peak(self) -> torch.Tensor:
        """The log density there, log((alpha - 1) r) / (alpha - 1) where the support ends r below the largest score. A
        large alpha multiplies its rounding: it is moved to where r is between the nodes in the support and the others."""
        weights, am1, on = self._rule.weights, self.alpha.detach().double() - 1, self.active_support()
        found = self._probs.gather(-1, self._top).squeeze(-1).log() - weights[self._top.squeeze(-1)].log()
        r = (self._largest.unsqueeze(-1) - self._scores).detach()
        ends = torch.where(on, r, 0.0).amax(-1), torch.where(on | (weights == 0), torch.inf, r).amin(-1)
        least, most = ((am1.log() + end.log()) / am1 for end in ends)
        return found + torch.where(am1 > 1e6, found.detach().clamp(least, most) - found.detach(), 0.0)

    @lazy_property
    def _conjugate(self) -> torch.Tensor:
        """Omega*(f)."""
        top = self._top.squeeze(-1)
        loss = cross_omega(self._scores, top, self._order, reduction="none", measure=self._rule.weights)
        return loss + self._largest

    def _mean(self, values: torch.Tensor) -> torch.Tensor:
        """Of values (..., n), also where they are infinite off the support."""
        return (self._probs * torch.where(self._probs > 0, values, 0.0)).sum(-1)

    @property
    def normalizer(self) -> torch.Tensor:
        """A. Its derivatives are means under the escort distribution of order 2 - alpha."""
        mean = self._mean(self._scores)
        alpha = self.alpha.double()
        return (alpha * self._conjugate - (alpha - 1) * mean).to(self._dtype)

    def _flat(self, value: torch.Tensor) -> tuple[torch.Tensor, torch.Size]:
        """Values as (*batch, many, *event), and the shape of what is computed from them."""
        if self._validate_args:
            self._validate_sample(value)
        event = len(self.event_shape)
        shape = torch.broadcast_shapes(value.shape[: value.dim() - event], self.batch_shape)
        many = value.expand(shape + self.event_shape).reshape(-1, *self.batch_shape, *self.event_shape)
        return many.movedim(0, len(self.batch_shape)), shape

    def _scores_at(self, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """f in float64, and whether it counts."""
        flat, shape = self._flat(value)
        scores = self.f(flat).double().expand(*self.batch_shape, -1).movedim(-1, 0).reshape(shape)
        if isinstance(self.domain, Nodes):
            return scores, torch.ones_like(scores, dtype=torch.bool)
        # From the device, where the ends lie already: a copy would have to be waited for.
        ends = torch.stack([torch.stack((edge[0], edge[-1])) for edge in self._rule.edges], -1).to(value.dtype)
        lower, upper = ends if self.event_shape else ends[:, 0]
        inside = (value >= lower) & (value <= upper)
        return scores, (inside.all(-1) if self.event_shape else inside).expand(shape)

    def log_prob(self, value: torch.Tensor) -> torch.Tensor:
        """The log density: -inf, with a gradient of 0, off the support. f is called at the values."""
        scores, inside = self._scores_at(value)
        arguments = torch.broadcast_tensors(scores - self._largest, self._log_peak, self.alpha.double())
        found = _beta_gaussian(*arguments, "below_peak", 1)
        return torch.where(inside, found, -torch.inf).to(self._dtype)

    def pdf(self, value: torch.Tensor) -> torch.Tensor:
        """The density."""
        return self.log_prob(value).exp()

    def expectation(self, psi: Function | torch.Tensor) -> torch.Tensor:
        """E_p[psi], of shape (*batch_shape, ...).

        Parameters
        ----------
        psi : callable or Tensor
            A function from points, (n,) or (n, d), to values (n, ...); or the values at the nodes, which may differ in
            the batch: (*batch_shape, n, ...).
        """
        batch, n = self.batch_shape, self._scores.shape[-1:]
        values = psi if isinstance(psi, torch.Tensor) else psi(self.points)
        begin = batch + n if isinstance(psi, torch.Tensor) else n
        if values.shape[: len(begin)] != begin:
            raise ValueError(
                f"fenchel.torch: expectation: psi must have a shape that begins with {tuple(begin)}, got "
                f"{tuple(values.shape)}"
            )
        probs = self._probs.to(torch.promote_types(self._dtype, values.dtype))
        if begin == n:
            return torch.tensordot(probs, values.to(probs.dtype), 1)
        rest = values.flatten(len(begin)) if values.dim() > len(begin) else values.unsqueeze(-1)
        return (probs.unsqueeze(-2) @ rest.to(probs.dtype)).squeeze(-2).reshape(batch + values.shape[len(begin) :])

    @property
    def mean(self) -> torch.Tensor:
        """The mean."""
        return torch.tensordot(self._probs, self.points.double(), 1).to(self._dtype)

    def _centred(self) -> torch.Tensor:
        points = self.points.double()
        return points - torch.tensordot(self._probs, points, 1).unsqueeze(len(self.batch_shape))

    @property
    def variance(self) -> torch.Tensor:
        """The variance, of each coordinate in space."""
        square = self._centred().square()
        if self.event_shape:
            return torch.einsum("...n,...nd->...d", self._probs, square).to(self._dtype)
        return (self._probs * square).sum(-1).to(self._dtype)

    @property
    def covariance_matrix(self) -> torch.Tensor:
        """In space, (..., d, d)."""
        if not self.event_shape:
            raise NotImplementedError("fenchel.torch: covariance_matrix is for densities in space, got one on the line")
        centred = self._centred()
        return torch.einsum("...n,...ni,...nj->...ij", self._probs, centred, centred).to(self._dtype)

    @property
    def mode(self) -> torch.Tensor:
        """The node of the largest score."""
        return self.points[self._top.squeeze(-1)]

    def entropy(self) -> torch.Tensor:
        """Shannon's."""
        density = self._probs / self._rule.weights
        return -self._mean(torch.where(self._probs > 0, density, 1.0).log()).to(self._dtype)

    def tsallis_entropy(self) -> torch.Tensor:
        """-Omega_alpha, of the same alpha: what this density maximises together with its mean score."""
        return (self._conjugate - self._mean(self._scores)).to(self._dtype)

    def cross_omega(self, value: torch.Tensor) -> torch.Tensor:
        """The cross-Omega loss Omega*(f) - f(t) of the score at a point: what to minimise, in the mean over data.

        It is finite off the support too, and infinite outside of the domain. Its derivative in the parameters of f is
        E_p[df] - df(t). At alpha = 1 it is -log_prob.
        """
        scores, inside = self._scores_at(value)
        return torch.where(inside, self._conjugate - scores, torch.inf).to(self._dtype)

    def fenchel_young(self, target: NumericDensity | torch.Tensor) -> torch.Tensor:
        """The Fenchel-Young loss against a distribution on the same nodes: at least 0, and 0 where it is this one.

        It is `cross_omega` in the mean over the target plus Omega of the target. For data on an interval the latter,
        which does not depend on f, is infinite for alpha >= 1: minimise `cross_omega`.

        Parameters
        ----------
        target : NumericDensity or Tensor
            Another density, or the probabilities of the nodes, (*batch_shape, n); or the place of a node among them,
            integers of shape batch_shape. It gets no gradient.
        """
        q = target._probs if isinstance(target, NumericDensity) else target
        if q.is_floating_point():
            q = q.double().expand_as(self._scores)
        loss = entmax_loss(self._scores, q, self._order, reduction="none", measure=self._rule.weights)
        return loss.to(self._dtype)

    def _on_interval(self, what: str) -> torch.Tensor:
        """The edges of the nodes' cells."""
        if not isinstance(self.domain, Interval):
            raise NotImplementedError(f"fenchel.torch: {what} is for densities on an Interval, got {self.domain!r}")
        return self._rule.edges[0]

    def _cumulated(self) -> torch.Tensor:
        """The probability of all nodes before each, (..., n + 1): from 0 to 1, but for rounding."""
        return torch.nn.functional.pad(self._probs.cumsum(-1), (1, 0))

    def cdf(self, value: torch.Tensor) -> torch.Tensor:
        """P(X <= value) on an Interval, with the mass of a node spread evenly over its cell."""
        edges = self._on_interval("cdf")
        flat, shape = self._flat(value)
        t = flat.double().clamp(edges[0], edges[-1])
        cell = (torch.searchsorted(edges, t.detach().contiguous(), right=True) - 1).clamp(0, len(edges) - 2)
        below, inside = self._cumulated().gather(-1, cell), self._probs.gather(-1, cell)
        found = below + inside * (t - edges[cell]) / (edges[cell + 1] - edges[cell])
        return found.movedim(-1, 0).reshape(shape).to(self._dtype)

    def _cells(self, u: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """For u (*batch, many) in [0, 1] the node up to which that much lies, one of positive mass, and which share of
        its own lies below."""
        total = self._cumulated()
        mass, ends = u * total[..., -1:], total[..., 1:].detach().contiguous()
        last = torch.searchsorted(ends, ends[..., -1:].contiguous())
        cell = torch.minimum(torch.searchsorted(ends, mass.detach().contiguous(), right=True), last)
        share = (mass - total.gather(-1, cell)) / self._probs.gather(-1, cell)
        return cell, share.clamp(max=1)

    def icdf(self, value: torch.Tensor) -> torch.Tensor:
        """The quantile of a probability on an Interval: the inverse of `cdf`."""
        edges = self._on_interval("icdf")
        flat, shape = self._flat(value)
        cell, share = self._cells(flat.double())
        found = torch.lerp(edges[cell], edges[cell + 1], share)
        return found.movedim(-1, 0).reshape(shape).to(self._dtype)

    def rsample(self, sample_shape: Any = torch.Size()) -> torch.Tensor:
        """Draws on an Interval, by inversion of torch's uniform numbers: differentiable in f and alpha."""
        self._on_interval("rsample")
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=torch.float64, device=self._scores.device))

    def sample(self, sample_shape: Any = torch.Size()) -> torch.Tensor:
        """Draws: a node, and in an Interval or a Box an even place in the node's cell. torch.manual_seed gives the same
        ones again."""
        with torch.no_grad():
            if isinstance(self.domain, Interval):
                return self.rsample(sample_shape)
            outer = torch.Size(sample_shape)
            shape = (*self.batch_shape, outer.numel())
            u = torch.rand(shape, dtype=torch.float64, device=self._scores.device)
            node, _ = self._cells(u)
            draws = self.points[node]
            if self._rule.edges:
                sides = torch.unravel_index(node, [len(e) - 1 for e in self._rule.edges])
                at = torch.rand((*shape, *self.event_shape), dtype=torch.float64, device=self._scores.device)
                cells = enumerate(zip(self._rule.edges, sides))
                draws = torch.stack([torch.lerp(e[k], e[k + 1], at[..., i]) for i, (e, k) in cells], -1)
            batch = len(self.batch_shape)
            return draws.movedim(batch, 0).reshape(self._extended_shape(outer)).to(self.points.dtype)


def predict(
    f: Function,
    alpha: Parameter,
    domain: Domain,
    nodes: int | None = None,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
    validate_args: bool | None = None,
) -> NumericDensity:
    """The density for a score that is a function of torch: the one of largest E_p[f] - Omega_alpha(p) on the domain.

    It is exp(f) / Z for alpha = 1. For alpha > 1 it is 0 where f is low, so that a score with several hills has a
    support with several pieces.

    Parameters
    ----------
    f : callable
        The score, perhaps a network. It takes points t of shape (n,) on an Interval, (n, d) in a Box, and gives scores
        (..., n): dimensions in front are a batch of densities. `log_prob` and `cross_omega` call it with (..., n) or
        (..., n, d) points where there is such a batch, each density its own. -inf is a mask.
    alpha : float or Tensor
        Positive and finite; a tensor broadcasts to the batch, and gets a gradient.
    domain : Interval, Box or Nodes
        `fenchel.Interval` or `Box`, finite, or points with weights.
    nodes : int, optional
        How many values f is known by along each side, a multiple of 4: 512 on an Interval and 64 in a Box unless said.
        For h the distance of nodes, integrals err by O(h^8), and by O(h^(1 + 1/(alpha - 1))) where the support ends
        inside of the domain: h^2 at alpha = 2, h^3 at alpha = 3/2.
    dtype, device : optional
        Of the nodes: those of f's parameters where it is a module, else torch's.
    validate_args : bool, optional
        As of torch.distributions: whether scores and alpha are looked at, which on a GPU waits for them.

    Returns
    -------
    NumericDensity

    Examples
    --------
    A score with two hills, whose distance is learned:

    >>> import torch
    >>> from fenchel import Interval
    >>> from fenchel.torch import predict
    >>> height = torch.tensor(3.0, requires_grad=True)
    >>> p = predict(lambda t: height * t.square() - t.pow(4), 2.0, Interval(-3, 3))
    >>> p.pdf(torch.tensor([0.0, 1.0])).detach()
    tensor([0.0000, 0.6731])
    >>> p.cross_omega(torch.tensor([1.0, -1.5])).mean().backward()
    >>> height.grad  # the mean of t^2 under p less that of the data
    tensor(-0.1922)
    """
    return NumericDensity(f, alpha, domain, nodes, dtype=dtype, device=device, validate_args=validate_args)
