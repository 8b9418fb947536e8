"""From discrete to continuous attention: densities from weights, value functions from values."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from ._basis import Basis
from ._differentiable import Places, Rule, Tensors, differentiable, or_zeros
from ._library import ops, register_rows
from ._rows import HALF, Parameter, computed_dtype, parameter


def _density(weights: torch.Tensor, points: torch.Tensor | None) -> torch.Tensor:
    d = 1 if points is None else points.shape[-1]
    return weights.new_empty((*weights.shape[:-1], d + d * d))


def _gradient(weights: torch.Tensor, alphas: torch.Tensor | None, *rest: Any) -> Tensors:
    by_alphas = (0,) if alphas is None else alphas.shape
    return weights.new_empty(weights.shape), weights.new_empty(by_alphas, dtype=torch.float64)


register_rows("match_weights", lambda *args: _density(args[0], args[2]), shared=(2,))
register_rows("match_weights_vjp", _gradient, shared=(2,))
register_rows("match_weights_jvp", lambda *args: _density(args[0], args[2]), shared=(2,))
register_rows("match_weights_vjp_vjp", _gradient, shared=(2,))


class _MatchWeights(Rule):
    """x is (weights, alphas, points, lengths); the last two have no derivative."""

    name = "match_weights"
    count = 4

    @staticmethod
    def vjp(x: Tensors, outputs: Tensors, grad: torch.Tensor, wanted: Places, static: tuple[Any, ...]) -> Tensors:
        return ops.match_weights_vjp(*x, grad, *static)

    @staticmethod
    def jvp(x: Tensors, outputs: Tensors, dx: Tensors, static: tuple[Any, ...]) -> torch.Tensor:
        if dx[2] is not None:
            raise ValueError("match_weights: positions must have no tangent: no derivative in them is computed")
        return ops.match_weights_jvp(*x, or_zeros(dx[0], x[0]), dx[1], *static)

    @staticmethod
    def hessian(
        x: Tensors, outputs: Tensors, grad: torch.Tensor, dx: Tensors, wanted: Places, static: tuple[Any, ...]
    ) -> Tensors:
        return ops.match_weights_vjp_vjp(*x, grad, or_zeros(dx[0], x[0]), dx[1], *static)


_match_weights = differentiable(_MatchWeights)


def match_weights(
    alpha: Parameter,
    weights: torch.Tensor,
    positions: torch.Tensor | None = None,
    floor: float | None = None,
    lengths: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The densities that have the mean of weights over positions, and their covariance plus a floor.

    They are what `continuous_attention` takes at the same alpha. The result has gradients in alpha and weights, of
    second order too.

    Parameters
    ----------
    alpha : float or Tensor
        Finite, above D / (D + 2); a tensor (...) is one for each density, or one for all.
    weights : Tensor
        (..., L), not negative, of sum 1: discrete attention. Those of 16 bits are divided by their sum.
    positions : Tensor, optional
        (L,) or (L, D): the centres of L equal cells of [0, 1] unless said, or of as many as a row has. They have no
        gradient.
    floor : float, optional
        Added to the variances, so that a density never collapses to a point: that of one cell of the unit cube,
        L^(-2/D) / 12, unless said.
    lengths : Tensor of int, optional
        (...): how many weights of a row count. Others are not read.

    Returns
    -------
    mu : Tensor
        (...), or (..., D) for positions (L, D).
    Sigma : Tensor
        The scores' scales: sigma2, (...), or matrices (..., D, D).

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import match_weights
    >>> match_weights(1.0, torch.tensor([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]))
    (tensor([0.3333, 0.6667]), tensor([0.0370, 0.0370]))
    """
    if weights.dim() == 0 or weights.shape[-1] == 0:
        raise ValueError(f"match_weights: weights must have shape (..., L), L > 0, got {tuple(weights.shape)}")
    batch, length = weights.shape[:-1], weights.shape[-1]
    if lengths is not None:
        _check_lengths("match_weights", lengths, batch)
    points = None if positions is None else positions.to(torch.float64)
    if points is not None:
        if points.dim() not in (1, 2) or points.shape[0] != length:
            shape = tuple(points.shape)
            raise ValueError(f"match_weights: positions must have shape ({length},) or ({length}, D), got {shape}")
        if points.requires_grad:
            raise ValueError("match_weights: positions must not need a gradient, got requires_grad=True")
        points = points.reshape(length, -1)
    dtype = computed_dtype(weights.dtype, weights.device)
    if weights.dtype in HALF:
        weights = weights.float()
        if lengths is not None:
            weights = torch.where(mask(lengths, length), weights, 0.0)
        weights = weights / weights.sum(-1, keepdim=True)
    alphas, number = parameter(alpha, batch, weights.device)
    counts = None if lengths is None else lengths.to(torch.int64)
    density = _match_weights(weights, alphas, points, counts, number, floor).to(dtype)
    d = 1 if points is None else points.shape[-1]
    mu, scale = density.split([d, d * d], -1)
    if positions is None or positions.dim() == 1:
        return mu[..., 0], scale[..., 0]
    return mu, scale.unflatten(-1, (d, d))


def _check_lengths(where: str, lengths: torch.Tensor, batch: torch.Size) -> None:
    if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype == torch.bool:
        raise TypeError(f"{where}: lengths must be integers, got {lengths.dtype}")
    if lengths.shape != batch:
        raise ValueError(f"{where}: lengths must have shape {tuple(batch)}, got {tuple(lengths.shape)}")


def mask(lengths: torch.Tensor, length: int) -> torch.Tensor:
    """Which of `length` columns count, (..., length)."""
    return torch.arange(length, device=lengths.device) < lengths[..., None]


class RidgeValues(torch.nn.Module):
    """Value functions V(t) = B^T psi(t) from values at positions, by ridge regression.

    B = argmin |F B - H|^2 + ridge |B|^2 for the values H at L positions and the basis F there. r @ B is the context
    of r = continuous_attention(...). What B is of H, a matrix for each length, is computed in float64: of a fixed basis
    once, and kept; of a learned one each time, with gradients.

    Parameters
    ----------
    basis : GaussianBasis, MultivariateGaussianBasis or another basis of fenchel.torch
        psi, N functions: on the line for sequences, on R^2 for grids, on R^3 for volumes.
    ridge : float or Tensor
        Positive. The paper has 0.1. A tensor without dimensions gets a gradient, and a Parameter is learned.
    positions : {"centres", "ends"} or Tensor
        Where values lie: at the centres (l - 1/2) / L of equal cells of [0, 1], of the unit square or of the unit cube;
        at the ends l / L of these cells, as in the paper; or at given places, (L,) or (L, D). A place is (x, y) or
        (x, y, z): x grows with the last dimension of a grid, along a row of an image, y with the one before, downwards,
        and z with the first.

    Examples
    --------
    >>> import torch
    >>> from fenchel.torch import GaussianBasis, RidgeValues
    >>> value_function = RidgeValues(GaussianBasis.linearly_spaced(8, sigma=0.12), ridge=0.01)
    >>> values = torch.sin(torch.arange(20.0) / 4)[:, None]
    >>> b = value_function(values)
    >>> b.shape
    torch.Size([8, 1])
    >>> value_function.basis(torch.tensor([0.5])) @ b
    tensor([[0.6999]])
    """

    kept = 256
    """How many matrices are kept, one for each length or grid."""
    largest_table = 2**25
    """How many numbers the matrices of all lengths may have, to be kept together on a GPU."""

    def __init__(
        self,
        basis: Basis,
        ridge: Parameter = 0.1,
        positions: str | torch.Tensor = "centres",
    ) -> None:
        super().__init__()
        if isinstance(ridge, torch.Tensor) and ridge.dim() > 0:
            raise ValueError(f"RidgeValues: ridge must be a number, got a tensor of shape {tuple(ridge.shape)}")
        if not 0 < float(ridge) < math.inf:
            raise ValueError(f"RidgeValues: ridge must be positive and finite, got {float(ridge)}")
        check_sequence_or_grid("RidgeValues", basis)
        self.basis = basis
        self.ridge: Parameter = ridge if isinstance(ridge, torch.Tensor) else float(ridge)
        self.places = Positions(basis.event_shape, positions)
        self._source: tuple[Any, ...] = ()
        self._matrices: dict[Any, torch.Tensor] = {}

    def forward(self, values: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """`fit`."""
        return self.fit(values, lengths)

    def fit(self, values: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """The coefficients B.

        Parameters
        ----------
        values : Tensor
            (..., L, M); for a basis on R^2 (..., height, width, M), row by row, and on R^3 (..., depth, height, width,
            M).
        lengths : Tensor of int, optional
            (...), of padded sequences: each lies on as many cells as it is long, and its padding is not read. One that is
            not in [1, L] is an error, or NaN on a GPU, which nobody waits for.

        Returns
        -------
        Tensor
            (..., N, M), of the dtype of values; under autocast, float32 at least.
        """
        dtype = computed_dtype(values.dtype, values.device)
        return self._combined(lambda matrix, observed: (matrix.mT @ observed.double()).to(dtype), values, lengths)

    def contexts(
        self, expectations: torch.Tensor, values: torch.Tensor, lengths: torch.Tensor | None = None
    ) -> torch.Tensor:
        """r @ B for expectations r = E_p[psi], without B where that costs less.

        B is linear in the values, so a context is a sum of values under weights r @ G^T, which have signs and need not
        add up to one. A few queries cost less through these weights than through B.

        Parameters
        ----------
        expectations : Tensor
            (*batch, *queries, N), as of `continuous_attention`.
        values, lengths
            As in `fit`, for the same batch.

        Returns
        -------
        Tensor
            (*batch, *queries, M), of the dtype of `fit`.
        """
        batch = values.shape[: -self.basis.dimension - 1]
        if (expectations.shape[: len(batch)], *expectations.shape[len(batch) :][-1:]) != (batch, self.basis.count):
            wanted = ", ".join([*map(str, batch), "*queries", str(self.basis.count)])
            raise ValueError(f"RidgeValues: expectations must have shape ({wanted}), got {tuple(expectations.shape)}")
        queries = expectations.shape[len(batch) : -1]
        count, size, dtype = math.prod(queries), values.shape[-1], computed_dtype(values.dtype, values.device)

        def context(matrix: torch.Tensor, observed: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
            length = observed.shape[-2]
            if count * length * (self.basis.count + size) < self.basis.count * size * (length + count):
                return (rows.double() @ matrix.mT).to(dtype) @ observed.to(dtype)
            return rows.to(dtype) @ (matrix.mT @ observed.double()).to(dtype)

        rows = expectations.reshape(*batch, count, self.basis.count)
        return self._combined(context, values, lengths, rows).reshape(*batch, *queries, size)

    def _combined(
        self,
        combine: Callable[..., torch.Tensor],
        values: torch.Tensor,
        lengths: torch.Tensor | None,
        *rows: torch.Tensor,
    ) -> torch.Tensor:
        """combine(G, H, *rows) for the values H, (..., L, M), and rows of the same batch, without what is padding."""
        d = self.basis.dimension
        if values.dim() < d + 1 or 0 in values.shape[-d - 1 : -1]:
            wanted = ("(..., L, M)", "(..., height, width, M)", "(..., depth, height, width, M)")[d - 1]
            raise ValueError(f"RidgeValues: values must have shape {wanted}, got {tuple(values.shape)}")
        if not values.is_floating_point():
            raise TypeError(f"RidgeValues: values must be of a floating point type, got {values.dtype}")
        grid = tuple(values.shape[-d - 1 : -1])
        observed = values.flatten(-d - 1, -2)
        transformed = torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active()
        keeps = not (transformed or self.basis.learned or isinstance(self.ridge, torch.Tensor))
        if lengths is None:
            make = partial(self._matrix_of_grid, grid)
            return combine(self._kept(grid, values.device, make) if keeps else make(values.device), observed, *rows)
        if d != 1 or self.places.given is not None:
            what = f"a basis on R^{d}" if d != 1 else "positions that are given"
            raise ValueError(f"RidgeValues: lengths must be None for {what}, got shape {tuple(lengths.shape)}")
        _check_lengths("RidgeValues", lengths, values.shape[:-2])
        # Those on a GPU are not: that would mean to wait for it.
        looked_at = not transformed and not lengths.is_cuda
        bad = lengths[(lengths < 1) | (lengths > grid[0])] if looked_at else lengths.new_empty(0)
        if bad.numel() > 0:
            raise ValueError(f"RidgeValues: lengths must be in [1, {grid[0]}], got {bad[0].item()}")
        if keeps and looked_at:
            return self._by_length(combine, lengths, observed, *rows)
        observed = torch.where(mask(lengths, grid[0])[..., None], observed, 0.0)
        known = torch.where((lengths < 1) | (lengths > grid[0]), 0, lengths)
        if keeps and grid[0] ** 2 * self.basis.count <= self.largest_table:
            every = torch.arange(grid[0] + 1, device=values.device)
            table = self._kept((grid[0], "every length"), values.device, lambda _: self._of_each(every, grid[0]))
            return combine(table[known], observed, *rows)
        return combine(self._of_each(known, grid[0]), observed, *rows)

    def _by_length(
        self, combine: Callable[..., torch.Tensor], lengths: torch.Tensor, *tensors: torch.Tensor
    ) -> torch.Tensor:
        """`combine` for the sequences of each length that there is, whose matrix is kept, without their padding."""
        counts = lengths.reshape(-1)
        observed, *rest = (x.reshape(counts.numel(), *x.shape[lengths.dim() :]) for x in tensors)
        parts, places = [], []
        for count in counts.unique().tolist() or [observed.shape[1]]:
            matrix = self._kept((count,), observed.device, partial(self._matrix_of_grid, (count,)))
            places.append((counts == count).nonzero()[:, 0])
            parts.append(combine(matrix, observed[places[-1], :count], *(x[places[-1]] for x in rest)))
        combined = torch.cat(parts)[torch.cat(places).argsort()]
        return combined.reshape(*lengths.shape, *combined.shape[1:])

    def _of_each(self, lengths: torch.Tensor, length: int) -> torch.Tensor:
        """G of each row, computed: 0 beyond its length, and NaN for a length of 0."""
        cells = torch.arange(length, device=lengths.device, dtype=torch.float64)
        matrix = self._matrix((cells + self.places.in_cell) / lengths[..., None], mask(lengths, length))
        return torch.where((lengths > 0)[..., None, None], matrix, math.nan)

    def _matrix_of_grid(self, grid: tuple[int, ...], device: torch.device) -> torch.Tensor:
        return self._matrix(self.places(grid, device))

    def _matrix(self, t: torch.Tensor, here: torch.Tensor | None = None) -> torch.Tensor:
        """B = G^T H: G for positions t, of which only those `here` count."""
        design = self.basis(t)
        if here is not None:
            design = torch.where(here[..., None], design, 0.0)
        # The smaller system; in a graph one that serves all lengths.
        if not torch.compiler.is_compiling() and design.shape[-2] < design.shape[-1]:
            return torch.linalg.solve_ex(self._regularised(design @ design.mT), design)[0]
        return torch.linalg.solve_ex(self._regularised(design.mT @ design), design, left=False)[0]

    def _regularised(self, system: torch.Tensor) -> torch.Tensor:
        ridge = self.ridge.to(system) if isinstance(self.ridge, torch.Tensor) else self.ridge
        return system + ridge * torch.eye(system.shape[-1], dtype=system.dtype, device=system.device)

    def _kept(self, name: Any, device: torch.device, make: Callable[[torch.device], torch.Tensor]) -> torch.Tensor:
        """What `make` gives for a fixed basis, as long as the basis stays what it is."""
        now = (*self.basis.buffers(), *self.places.buffers())
        # What is kept in inference mode serves training too.
        with torch.inference_mode(False), torch.no_grad():
            if len(self._source) != len(now) or not all(map(_is_still, self._source, now)):
                self._source, self._matrices = tuple(map(_remembered, now)), {}
            key = (name, device)
            if key not in self._matrices:
                if len(self._matrices) >= self.kept:
                    del self._matrices[next(iter(self._matrices))]
                self._matrices[key] = make(now[0].device if now else device)
        return self._matrices[key]

    def __getstate__(self) -> dict[str, Any]:
        """Without what is kept, which is made again when it is asked for."""
        return self.__dict__ | {"_source": (), "_matrices": {}}

    def extra_repr(self) -> str:
        return f"ridge={float(self.ridge)}"


def check_sequence_or_grid(where: str, basis: Basis) -> None:
    if basis.event_shape not in ((), (2,), (3,)):
        raise ValueError(f"{where}: basis must be on the line, on R^2 or on R^3, got R^{basis.dimension}")


def _version(x: torch.Tensor) -> int:
    """How often it was written to; of a tensor of inference mode torch does not know."""
    return -1 if x.is_inference() else x._version


def _remembered(x: torch.Tensor) -> Any:
    """Its values; of a tensor on a GPU, to compare which would mean to wait, the tensor itself and its version."""
    return (x, _version(x)) if x.is_cuda else x.clone()


def _is_still(remembered: Any, x: torch.Tensor) -> bool:
    if isinstance(remembered, tuple):
        return remembered[0] is x and remembered[1] == _version(x)
    return not x.is_cuda and remembered.device == x.device and bool(remembered.equal(x))


class Positions(torch.nn.Module):
    """Where the cells of a sequence, an image or a volume lie: as words say, or as given."""

    given: torch.Tensor | None

    def __init__(self, event_shape: torch.Size, positions: str | torch.Tensor) -> None:
        super().__init__()
        self.in_cell = 0.5
        """Where in its cell a position lies, from 0 to 1."""
        if isinstance(positions, torch.Tensor):
            if positions.dim() == 0 or positions.shape[1:] != event_shape or positions.shape[0] == 0:
                wanted = "(L,)" if not event_shape else f"(L, {event_shape[0]})"
                raise ValueError(f"positions must have shape {wanted}, as the basis has, got {tuple(positions.shape)}")
            self.register_buffer("given", positions.detach().double(), persistent=False)
            return
        self.given = None
        if positions not in ("centres", "ends"):
            raise ValueError(f"positions must be 'centres', 'ends' or a tensor, got {positions!r}")
        self.in_cell = 0.5 if positions == "centres" else 1.0

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        """A cast leaves them in float64, and a move moves them."""
        kept = self.given
        super()._apply(fn, recurse)
        if kept is not None and self.given is not None and self.given.dtype != kept.dtype:
            self.given = kept.to(self.given.device)
        return self

    def forward(self, grid: tuple[int, ...], device: torch.device) -> torch.Tensor:
        """(L,) for a sequence; (height * width, 2) or (depth * height * width, 3), row by row, for grids."""
        if self.given is not None:
            if self.given.shape[0] != math.prod(grid):
                count = math.prod(grid)
                raise ValueError(f"positions must be as many as values, {count}, got {self.given.shape[0]}")
            return self.given.to(device)
        sides = [(torch.arange(n, device=device, dtype=torch.float64) + self.in_cell) / n for n in grid]
        if len(sides) == 1:
            return sides[0]
        return torch.stack(torch.meshgrid(*sides, indexing="ij")[::-1], -1).flatten(0, -2)
