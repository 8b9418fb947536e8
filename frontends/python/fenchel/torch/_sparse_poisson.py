"""Counts that have a largest one, as a distribution of torch."""

from __future__ import annotations

import enum
from typing import Any

import torch
from torch.distributions import Distribution, constraints
from torch.distributions.utils import broadcast_all, lazy_property

from ._differentiable import Places, Rule, Tensors, differentiable
from ._library import ops, register_rows, rows_like
from ._rows import Parameter, parameter

for _name in ("sparse_poisson", "sparse_poisson_curvature"):
    register_rows(_name, lambda mu, alphas, at, alpha, statistic, order: tuple(rows_like(at, -1) for _ in range(3)))


class _Statistic(enum.IntEnum):
    """As fenchel::PoissonStatistic counts them."""

    LOG_PMF = 0
    PMF = 1
    CDF = 2
    QUANTILE = 3
    LOSS = 4
    MEAN = 5
    VARIANCE = 6
    MODE = 7
    ENTROPY = 8


class _SparsePoisson(Rule):
    """x is (mu, alphas, at). The operation gives its derivatives in mu and alpha with its value."""

    name = "sparse_poisson"
    count = 3
    results = 3

    @staticmethod
    def vjp(x: Tensors, outputs: Tensors, grad: torch.Tensor, wanted: Places, static: tuple[Any, ...]) -> Tensors:
        _, d_mu, d_alpha = outputs
        by_alpha = (grad * d_alpha).sum(-1, keepdim=True) if 1 in wanted else None
        return (grad * d_mu).sum(-1, keepdim=True), by_alpha

    @staticmethod
    def jvp(x: Tensors, outputs: Tensors, dx: Tensors, static: tuple[Any, ...]) -> torch.Tensor:
        (value, d_mu, d_alpha), (mu_moves, alpha_moves, _) = outputs, dx
        by_mu = torch.zeros_like(value) if mu_moves is None else d_mu * mu_moves
        return by_mu if alpha_moves is None else by_mu + d_alpha * alpha_moves

    @staticmethod
    def hessian(
        x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        d2_mu, d_mu_alpha, d2_alpha = ops.sparse_poisson_curvature(*x, *static)
        mu_moves, alpha_moves, _ = dx

        def along(by_mu: torch.Tensor, by_alpha: torch.Tensor) -> torch.Tensor:
            moved = 0.0 if mu_moves is None else by_mu * mu_moves
            moved = moved if alpha_moves is None else moved + by_alpha * alpha_moves
            return (grad * moved).sum(-1, keepdim=True)

        return along(d2_mu, d_mu_alpha), along(d_mu_alpha, d2_alpha) if 1 in wanted else None


_sparse_poisson = differentiable(_SparsePoisson)


class SparsePoisson(Distribution):
    """Counts: Poisson for alpha = 1, on finitely many integers above it, over-dispersed below it.

    It is the prediction of the Tsallis regularizer for the score k log(mu) - log(k!) on 0, 1, 2, ...

    Parameters
    ----------
    alpha : float or Tensor
        Positive; inf is allowed. A tensor gets a gradient. The mean is finite from 1/2 on, the variance from 2/3 on, and
        `cross_omega` exists above 1/2.
    mu : float or Tensor
        Positive, 1 unless said; the mean for alpha = 1 only. Either this or `log_mu`.
    log_mu : float or Tensor
        The logarithm of mu, in which `cross_omega` is convex.
    validate_args : bool
        As for every distribution of torch.

    Notes
    -----
    Everything but `sample`, `icdf` and `mode` has first and second derivatives in mu and alpha.
    Numbers are computed in float64 and rounded to the dtype of mu.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import SparsePoisson
    >>> p = SparsePoisson(2.0, torch.tensor(3.0))
    >>> p.log_prob(torch.tensor([0.0, 3.0, 10.0])).exp()
    tensor([0.0000, 0.4233, 0.0000])
    >>> log_mu = torch.tensor([0.0, 1.0], requires_grad=True)
    >>> SparsePoisson(log_mu=log_mu).cross_omega(torch.tensor([1.0, 2.0])).sum().backward()
    >>> log_mu.grad
    tensor([-0.5000,  0.2082])
    """

    arg_constraints = {  # noqa: RUF012
        "alpha": constraints.positive,
        "mu": constraints.positive,
        "log_mu": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self,
        alpha: Parameter = 2.0,
        mu: Parameter | None = None,
        *,
        log_mu: Parameter | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if mu is not None and log_mu is not None:
            raise ValueError("fenchel.torch.SparsePoisson: only one of mu and log_mu may be given")
        self._given_log = log_mu is not None
        of_score = log_mu if log_mu is not None else mu if mu is not None else 1.0
        learned = isinstance(alpha, torch.Tensor)
        given, *alphas = broadcast_all(of_score, *([alpha] if learned else []))
        self._given = given if given.is_floating_point() else given.to(torch.get_default_dtype())
        self._alpha: Parameter = alphas[0] if learned else float(alpha)
        if self._given_log:
            self.log_mu = self._given
        else:
            self.mu = self._given
        super().__init__(given.shape, validate_args=validate_args)

    @lazy_property
    def mu(self) -> torch.Tensor:
        """The parameter of the score."""
        return self.log_mu.exp()

    @lazy_property
    def log_mu(self) -> torch.Tensor:
        """Its logarithm."""
        return self.mu.log()

    @property
    def alpha(self) -> torch.Tensor:
        """The order of the regularizer."""
        if isinstance(self._alpha, torch.Tensor):
            return self._alpha
        return torch.full_like(self._given, self._alpha)

    def expand(self, batch_shape: Any, _instance: Any = None) -> SparsePoisson:
        """The same distributions, in a larger batch."""
        new: SparsePoisson = self._get_checked_instance(SparsePoisson, _instance)
        new._given_log = self._given_log
        new._alpha = self._alpha.expand(batch_shape) if isinstance(self._alpha, torch.Tensor) else self._alpha
        for name in {"mu", "log_mu", "_given"} & self.__dict__.keys():
            setattr(new, name, getattr(self, name).expand(batch_shape))
        super(SparsePoisson, new).__init__(torch.Size(batch_shape), validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _statistic(self, statistic: _Statistic, at: torch.Tensor | None = None, order: float = 1.0) -> torch.Tensor:
        """Rows are the distributions, and what `at` has in front of their batch shape is along the rows."""
        dtype = self._given.dtype
        if at is None:
            return self._rows(statistic, self._given.detach().unsqueeze(-1), order).squeeze(-1).to(dtype)
        shape = torch.broadcast_shapes(at.shape, self.batch_shape)
        if self.batch_shape != shape[len(shape) - len(self.batch_shape) :]:
            return self.expand(shape)._statistic(statistic, at, order)
        outer = len(shape) - len(self.batch_shape)
        numbers = at.detach().expand(shape).flatten(0, outer - 1) if outer else at.detach().expand(shape).unsqueeze(0)
        value = self._rows(statistic, numbers.movedim(0, -1), order)
        return value.movedim(-1, 0).reshape(shape).to(dtype)

    def _rows(self, statistic: _Statistic, at: torch.Tensor, order: float) -> torch.Tensor:
        given = self._given.to(torch.float64).unsqueeze(-1)
        mu = given.exp() if self._given_log else given
        per_row = self._alpha.unsqueeze(-1) if isinstance(self._alpha, torch.Tensor) else self._alpha
        alphas, alpha = parameter(per_row, mu.shape, mu.device)
        return _sparse_poisson(mu, alphas, at.to(torch.float64), alpha, int(statistic), order)

    def _check(self, value: torch.Tensor) -> torch.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return value

    def log_prob(self, value: torch.Tensor) -> torch.Tensor:
        """The logarithm of the probability of counts: -inf outside of the sparse support, where its gradient is 0."""
        return self._statistic(_Statistic.LOG_PMF, self._check(value))

    def prob(self, value: torch.Tensor) -> torch.Tensor:
        """The probability of counts: 0 outside of the sparse support."""
        return self._statistic(_Statistic.PMF, self._check(value))

    def cdf(self, value: torch.Tensor) -> torch.Tensor:
        """The probability of at most `value`, which is any number."""
        return self._statistic(_Statistic.CDF, value)

    def icdf(self, value: torch.Tensor) -> torch.Tensor:
        """The smallest count whose cdf is at least `value`; NaN outside of [0, 1]."""
        return self._statistic(_Statistic.QUANTILE, value)

    def cross_omega(self, value: torch.Tensor) -> torch.Tensor:
        """The cross-Omega loss of counts: what to minimise. -log_prob for alpha = 1, and finite for every alpha.

        Its derivative in log_mu is the mean less the count.
        """
        return self._statistic(_Statistic.LOSS, self._check(value))

    @property
    def mean(self) -> torch.Tensor:
        """The mean: mu for alpha = 1."""
        return self._statistic(_Statistic.MEAN)

    @property
    def variance(self) -> torch.Tensor:
        """The variance."""
        return self._statistic(_Statistic.VARIANCE)

    @property
    def mode(self) -> torch.Tensor:
        """The most probable count, the smaller of two."""
        return self._statistic(_Statistic.MODE)

    def entropy(self) -> torch.Tensor:
        """The Shannon entropy, in nats."""
        return self._statistic(_Statistic.ENTROPY)

    def tsallis_entropy(self, alpha: float | None = None) -> torch.Tensor:
        """The Tsallis entropy of order alpha, -Omega_alpha; Shannon's for alpha = 1. Its own order unless said, which
        must be a number then."""
        order = self._alpha if alpha is None else alpha
        if isinstance(order, torch.Tensor):
            raise NotImplementedError(
                "fenchel.torch.SparsePoisson has tsallis_entropy() of its own order for an alpha that is a number"
            )
        return self._statistic(_Statistic.ENTROPY, order=float(order))

    def sample(self, sample_shape: Any = torch.Size()) -> torch.Tensor:
        """Counts, by inversion of torch's uniform numbers: torch.manual_seed gives the same ones again."""
        with torch.no_grad():
            shape = self._extended_shape(sample_shape)
            return self.icdf(torch.rand(shape, dtype=torch.float64, device=self._given.device))
