"""The picture of a fit and data, with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from ._arrays import FloatArray
from ._distribution import LineDistribution
from ._integers import IntegerDistribution
from .plot import density, pmf

_BARS = 100
_DATA = "0.75"
_POINT, _OUTSIDE = "#0072B2", "#D55E00"


class _Data:
    """The values in ascending order, each once, with their weights."""

    def __init__(self, values: FloatArray, weights: FloatArray | None) -> None:
        if not np.isfinite(values).all():
            raise ValueError("plot: data must be finite")
        self.t, place = np.unique(values, return_inverse=True)
        self.weight = np.bincount(place, weights, minlength=self.t.size).astype(float)
        self.t, self.weight = self.t[self.weight > 0], self.weight[self.weight > 0]
        if not self.t.size:
            raise ValueError("plot: data must have a row")
        self.total = float(self.weight.sum())
        self.up_to = np.cumsum(self.weight) / self.total
        self.middle = self.up_to - self.weight / (2 * self.total)

    def quantile(self, share: float) -> float:
        """The least value up to which this share of the data lies."""
        return float(self.t[min(int(np.searchsorted(self.up_to, share)), self.t.size - 1)])

    def edges(self) -> FloatArray:
        """Of bars as wide as Freedman and Diaconis say: 2 interquartile ranges over the cube root of the weight."""
        low, high = self.t[0], self.t[-1]
        width = 2 * (self.quantile(0.75) - self.quantile(0.25)) / self.total ** (1 / 3)
        count = min(math.ceil((high - low) / width), _BARS) if width > 0 and high > low else 1
        return np.linspace(low, high, count + 1) if high > low else np.array([low - 0.5, low + 0.5])


def _outside(p: Any, t: FloatArray) -> npt.NDArray[np.bool_]:
    """Where the distribution says that nothing is."""
    if isinstance(p, IntegerDistribution):
        lower, upper = p.support()
        return np.asarray((t < lower) | (t > upper) | (np.floor(t) != t))
    return np.asarray(~np.any([(t >= lower) & (t <= upper) for lower, upper in p.pieces()], axis=0))


def _draw_density(ax: Axes, p: Any, data: _Data, outside: npt.NDArray[np.bool_]) -> None:
    if isinstance(p, IntegerDistribution):
        ax.bar(data.t, data.weight / data.total, 0.8, color=_DATA, label="data", zorder=0.5)
        pmf(p, ax=ax, label="probability", color=_POINT)
    else:
        ax.hist(data.t, data.edges().tolist(), weights=data.weight, density=True, color=_DATA, edgecolor="white", linewidth=0.5,
                label="data", zorder=0.5)
        density(p, ax=ax, label="density", color=_POINT)
    if outside.any():
        label = f"outside of the support: {data.weight[outside].sum():.12g} of {data.total:.12g} rows"
        ax.plot(data.t[outside], np.zeros(outside.sum()), "x", color=_OUTSIDE, label=label, clip_on=False, zorder=5)
    ax.set_ylim(top=1.25 * ax.get_ylim()[1])  # room for the legend
    ax.legend(frameon=False, loc="upper left", fontsize="small", ncols=2)


def _draw_points(
    ax: Axes, title: str, x: FloatArray, y: FloatArray, outside: npt.NDArray[np.bool_], ends: tuple[float, float]
) -> None:
    ax.plot(ends, ends, color=_DATA, linewidth=1.2)
    ax.plot(x[~outside], y[~outside], ".", color=_POINT, markersize=4, clip_on=False)
    ax.plot(x[outside], y[outside], "x", color=_OUTSIDE, markersize=6, clip_on=False)
    ax.set(title=title, xlabel="of the model", ylabel="of the data")
    ax.set_box_aspect(1)
    ax.spines[["top", "right"]].set_visible(False)


def draw(p: Any, values: FloatArray, weights: FloatArray | None, ax: Sequence[Any] | None) -> Any:
    """Draws on three Axes, and returns them."""
    if not isinstance(p, (LineDistribution, IntegerDistribution)):
        raise TypeError(f"plot: the distribution must be on the line or on the integers, got {type(p).__name__}")
    if ax is None:
        ax = plt.subplots(1, 3, figsize=(12, 3.8), width_ratios=[1.7, 1, 1], layout="constrained")[1]
    axes = np.asarray(ax, dtype=object)
    if axes.shape != (3,) or not all(isinstance(one, Axes) for one in axes):
        raise TypeError("plot: ax must be three matplotlib Axes or None")
    data = _Data(values, weights)
    outside = _outside(p, data.t)
    _draw_density(axes[0], p, data, outside)
    ranks = np.asarray(p.ppf(data.middle), dtype=float)
    ends = (min(ranks[0], data.t[0]), max(ranks[-1], data.t[-1]))
    _draw_points(axes[1], "Quantiles", ranks, data.t, outside, ends)
    discrete = isinstance(p, IntegerDistribution)
    shares = np.asarray(p.cdf(np.floor(data.t) if discrete else data.t))
    _draw_points(axes[2], "Shares up to each value", shares, data.up_to if discrete else data.middle,
                 np.zeros_like(outside), (0, 1))
    axes[2].set(xlim=(0, 1), ylim=(0, 1))
    return axes
