"""Pictures with matplotlib.

Each function draws on the Axes `ax`, or on those of a new figure, and returns them; drawing on them again adds to the
picture. Nothing is shown or saved, and no setting of matplotlib is changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

import fenchel

from ._arrays import FloatArray, doubles
from ._distribution import Distribution, LineDistribution
from ._integers import IntegerDistribution
from ._predict_space import MultivariateNumericDensity
from ._space import MultivariateBetaGaussian

__all__ = ["attention", "density", "density2d", "pmf", "regression"]

# Okabe and Ito's colours, which colour-blind readers tell apart, in an order in which greys in print differ too.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#000000")
_DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (2, 1)))
_MARKERS = ("o", "s", "^", "D", "v", "P")
_SIGNAL = "0.45"
_SERIES = "fenchel-series"
_SUPPORT = "fenchel-support-"
# What is drawn of a support that has no end, as a probability.
_SHOWN = 0.998


def _axes(ax: Axes | None) -> Axes:
    if ax is None:
        return plt.subplots(layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be matplotlib Axes or None, got {type(ax).__name__}")
    return ax


def _series(ax: Axes) -> int:
    """How many distributions have been drawn there."""
    return sum(line.get_gid() == _SERIES for line in ax.lines)


def _finish(ax: Axes, xlabel: str, ylabel: str, legend: bool) -> Axes:
    if not ax.get_xlabel():
        ax.set_xlabel(xlabel)
    if not ax.get_ylabel():
        ax.set_ylabel(ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    if legend:
        ax.legend(frameon=False)
    return ax


def _ends(p: Any) -> tuple[float, float]:
    """The ends of the support, or of nearly all of the probability where there is no end."""
    shown = p.interval(_SHOWN)
    lower, upper = (end if math.isfinite(end) else quantile for end, quantile in zip(p.support(), shown))
    return lower, upper


def _pieces(p: LineDistribution) -> list[tuple[float, float]]:
    """The intervals of the support, as far as they are drawn."""
    pieces = p.pieces()
    first, last = _ends(p)
    return list(zip([first, *(a for a, _ in pieces[1:])], [*(b for _, b in pieces[:-1]), last]))


def _curve(p: LineDistribution) -> tuple[FloatArray, FloatArray]:
    """Points of the density, which falls to zero at each end of its support, dense where it may rise steeply."""
    near = np.concatenate([[0, 0], np.geomspace(1e-6, 1e-3, 16), np.arange(1, 257) / 512])
    grids = [[a + (b - a) * near, (b - (b - a) * near)[::-1]] for a, b in _pieces(p)]
    x = np.concatenate([half for grid in grids for half in grid])
    y = np.asarray(p.pdf(x))
    size = 2 * near.size
    y[::size] = y[size - 1 :: size] = 0
    lower, upper = p.support()
    drawn = slice(math.isinf(lower), x.size - math.isinf(upper))
    return x[drawn], y[drawn]


def _array(x: Any) -> Any:
    """What is a tensor as an array, on the CPU and without its history."""
    return x.detach().cpu().numpy() if hasattr(x, "detach") else x


def _densities(p: Any) -> list[Any]:
    """The distributions of a sequence, and those of torch, of each of which the class here has the same name: a batch of
    them, or what attention looked at (`Attended`), is as many as it holds."""
    if isinstance(p, Distribution):
        return [p]
    if hasattr(p, "density") and hasattr(p, "weights"):
        p = p.density()
    if not type(p).__module__.startswith("fenchel.torch."):
        return [q for part in p for q in _densities(part)] if isinstance(p, Iterable) else [p]
    family = getattr(fenchel, type(p).__name__)
    batch, event = tuple(p.batch_shape), len(p.event_shape)
    shapes = {"mu": event, "Sigma": 2 * event}
    values = {}
    for name in family._parameters:
        x = _array(getattr(p, name)).astype(float)
        inner = x.shape[x.ndim - shapes.get(name, 0) :]
        values[name] = np.broadcast_to(x, (*batch, *inner)).reshape(-1, *inner)
    return [family(**{name: x[i] for name, x in values.items()}) for i in range(math.prod(batch))]


def _line_distribution(name: str, p: object) -> LineDistribution:
    if isinstance(p, LineDistribution):
        return p
    hints = {IntegerDistribution: ": use pmf", MultivariateBetaGaussian: ": use density2d"}
    hint = next((hint for kind, hint in hints.items() if isinstance(p, kind)), "")
    raise TypeError(f"{name}: p must be a distribution on the line, got {type(p).__name__}{hint}")


def _mark_support(ax: Axes, x: FloatArray, n: int, ends: tuple[float, float], color: Any) -> None:
    """Marks the n-th support in a strip below zero; an arrow says that there is no end."""
    style = {"color": color, "transform": ax.get_xaxis_transform(), "gid": f"{_SUPPORT}{n}"}
    ax.plot(x, np.zeros_like(x), linewidth=4, solid_capstyle="butt", **style)
    for end, at, marker in zip(ends, (x[0], x[-1]), "<>"):
        if not math.isfinite(end):
            ax.plot([at], [0], marker=marker, markersize=8, linestyle="none", **style)
    for line in ax.lines:
        if (gid := line.get_gid() or "").startswith(_SUPPORT):
            above = n - int(gid.removeprefix(_SUPPORT))
            line.set_ydata(np.full(np.shape(line.get_xdata()), 0.015 + 0.025 * above))
    strip = 0.015 + 0.025 * (n + 1)
    top = 1.06 * ax.dataLim.y1
    ax.set_ylim(-strip / (1 - strip) * top, top)
    ax.yaxis.set_major_locator(MaxNLocator(5))


def density(p: Any, *, ax: Axes | None = None, label: str | None = None, color: Any = None) -> Axes:
    """Draw a density on the line, from one end of its support to the other.

    The support is the thick line below. Where it has no end, an arrow says so, and 99.8% of the probability is drawn.

    Parameters
    ----------
    p : LineDistribution
        What to draw: of NumPy or of torch, then one and no batch.
    ax : matplotlib Axes, optional
        Where to draw. Several densities drawn there differ in colour and dashes.
    label : str, optional
        The name in the legend.
    color : color, optional
        Any that matplotlib knows.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from fenchel import BetaGaussian, plot
    >>> ax = plot.density(BetaGaussian(1), label="Gaussian")
    >>> ax = plot.density(BetaGaussian(2), label="parabola", ax=ax)
    >>> ax.get_ylabel()
    'density'
    """
    drawn = _densities(p)
    if len(drawn) != 1:
        raise ValueError(f"density: p must be one density, got a batch of {len(drawn)}")
    p = _line_distribution("density", drawn[0])
    ax = _axes(ax)
    n = _series(ax)
    x, y = _curve(p)
    color = _COLORS[n % len(_COLORS)] if color is None else color
    ax.plot(x, y, color=color, linestyle=_DASHES[n % len(_DASHES)], linewidth=1.8, label=label, gid=_SERIES)
    ax.fill_between(x, 0, y, color=color, alpha=0.15, linewidth=0)
    _mark_support(ax, np.concatenate([(*piece, np.nan) for piece in _pieces(p)])[:-1], n, p.support(), color)
    return _finish(ax, "t", "density", label is not None)


def pmf(p: IntegerDistribution, *, ax: Axes | None = None, label: str | None = None, color: Any = None) -> Axes:
    """Draw the probabilities of integers as stems; integers of probability zero have none.

    Parameters
    ----------
    p : IntegerDistribution
        What to draw.
    ax : matplotlib Axes, optional
        Where to draw. Several distributions drawn there stand side by side.
    label : str, optional
        The name in the legend.
    color : color, optional
        Any that matplotlib knows.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from fenchel import SparsePoisson, plot
    >>> ax = plot.pmf(SparsePoisson(mu=3))
    >>> ax.get_ylabel()
    'probability'
    """
    if not isinstance(p, IntegerDistribution):
        hint = ": use density" if isinstance(p, LineDistribution) else ""
        raise TypeError(f"pmf: p must be a distribution on the integers, got {type(p).__name__}{hint}")
    ax = _axes(ax)
    n = _series(ax)
    lower, upper = _ends(p)
    k = np.arange(int(lower), int(upper) + 1)
    probability = np.asarray(p.pmf(k))
    k, probability = k[probability > 0], probability[probability > 0]
    color = _COLORS[n % len(_COLORS)] if color is None else color
    at = k + 0.16 * n
    ax.vlines(at, 0, probability, color=color, linewidth=1.8)
    ax.plot(at, probability, _MARKERS[n % len(_MARKERS)], color=color, label=label, gid=_SERIES, clip_on=False)
    ax.set_ylim(0, 1.06 * ax.dataLim.y1)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    return _finish(ax, "k", "probability", label is not None)


def attention(p: Any, times: npt.ArrayLike, signal: npt.ArrayLike, *, ax: Axes | None = None,
              labels: Sequence[str] | None = None) -> Axes:
    """Draw where densities attend to a signal: their supports as bands, and below the signal their curves.

    Parameters
    ----------
    p : LineDistribution or sequence of them
        The densities over time, one for each head of attention. A density of torch may be a batch, and an `Attended` of
        fenchel.torch.nn is the densities that it has.
    times, signal : array_like
        The signal, and when it was observed: one number, or one for each channel, at each time.
    ax : matplotlib Axes, optional
        Where to draw. The scale of the densities, on the right, belongs to Axes of its own.
    labels : sequence of str, optional
        The names of the densities in the legend.

    Returns
    -------
    matplotlib Axes
        Those of the signal.

    Examples
    --------
    >>> import numpy as np
    >>> from fenchel import BetaGaussian, plot
    >>> t = np.linspace(0, 1, 200)
    >>> ax = plot.attention(BetaGaussian(2, 0.3, 0.002), t, np.sin(20 * t))
    >>> ax.get_xlabel()
    'time'
    """
    heads = [_line_distribution("attention", q) for q in _densities(p)]
    t, values = doubles("times", _array(times)), doubles("signal", _array(signal))
    if not heads or not t.size:
        raise ValueError("attention: there must be a signal and a density")
    if t.ndim != 1 or values.shape[:1] != t.shape or values.ndim > 2:
        raise ValueError(f"attention: signal must have one row for each time, got shapes {values.shape} and {t.shape}")
    if labels is not None and len(labels) != len(heads):
        raise ValueError(f"attention: labels must be {len(heads)} in number, got {len(labels)}")
    ax = _axes(ax)
    ax.plot(t, values, color=_SIGNAL, linewidth=1)
    over = ax.twinx()
    for i, head in enumerate(heads):
        density(head, ax=over)
        if np.isfinite(head.support()).all():
            ax.axvspan(*head.support(), color=_COLORS[i % len(_COLORS)], alpha=0.1, linewidth=0)
    # The curves have the lower third, the signal the part above them, and the legend what is left.
    low, high = over.get_ylim()
    over.set_ylim(3 * low, 3 * high)
    over.set_yticks([tick for tick in MaxNLocator(3).tick_values(0, high) if 0 <= tick <= high])
    over.set_ylabel("density", y=0.2)
    over.spines["right"].set_visible(True)
    low, high = np.nanmin(values), np.nanmax(values)
    height = (high - low or 1) / (0.48 if labels else 0.58)
    ax.set_yticks([tick for tick in MaxNLocator(4).tick_values(low, high) if low <= tick <= high])
    ax.set_ylim(low - 0.38 * height, low + 0.62 * height)
    if labels:
        curves = [line for line in over.lines if line.get_gid() == _SERIES]
        ax.legend(curves, labels, loc="upper left", ncols=len(labels), frameon=False)
    _finish(ax, "time", "signal", False)
    ax.yaxis.label.set_y(0.62)
    return ax


def density2d(p: Any, *, samples: npt.ArrayLike | None = None, image: npt.ArrayLike | None = None,
              ax: Axes | None = None) -> Axes:
    """Draw a density in the plane as filled contours, and the edge of its support.

    Where the support is the whole plane, the edge of 99.8% of the probability is drawn, dashed. Over an image, and
    where there are several densities, contours are lines.

    Parameters
    ----------
    p : MultivariateBetaGaussian, MultivariateNumericDensity or sequence of them
        In two dimensions, of rank 2. A density of torch may be a batch, and an `Attended` of fenchel.torch.nn is the
        densities that it has.
    samples : array_like of shape (n, 2), optional
        Points to draw over it.
    image : array_like of shape (H, W), (H, W, 3) or (H, W, 4), optional
        What to draw below, on the unit square, as attention sees it: x to the right, and y downwards from the first row.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from fenchel import MultivariateBetaGaussian, plot
    >>> p = MultivariateBetaGaussian(2, [0, 0], [[1, 0.5], [0.5, 1]])
    >>> ax = plot.density2d(p, samples=p.rvs(100, random_state=0))
    >>> ax.get_aspect()
    1.0
    """
    heads = _densities(p)
    if not heads:
        raise ValueError("density2d: there must be a density")
    for q in heads:
        if not isinstance(q, (MultivariateBetaGaussian, MultivariateNumericDensity)):
            raise TypeError("density2d: p must be a MultivariateBetaGaussian or a MultivariateNumericDensity, "
                            f"got {type(q).__name__}")
        rank = getattr(q, "rank", q.dimension)
        if (q.dimension, rank) != (2, 2):
            raise ValueError(f"density2d: p must have dimension and rank 2, got {q.dimension} and {rank}")
    points = None if samples is None else doubles("samples", _array(samples))
    if points is not None and (points.ndim != 2 or points.shape[1] != 2):
        raise ValueError(f"density2d: samples must have shape (n, 2), got {points.shape}")
    pixels = None if image is None else np.asarray(_array(image))
    if pixels is not None and not (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in (3, 4))):
        raise ValueError(f"density2d: image must have shape (H, W), (H, W, 3) or (H, W, 4), got {pixels.shape}")
    ax = _axes(ax)
    if pixels is not None:
        ax.imshow(pixels, extent=(0, 1, 1, 0), cmap="gray", aspect="auto", zorder=0)
    for i, q in enumerate(heads):
        _draw_outlines(ax, q, _COLORS[(i + 1) % len(_COLORS)], filled=pixels is None and len(heads) == 1, named=i == 0)
    if points is not None:
        ax.plot(*points.T, ".", color="black" if pixels is None else "white", markersize=3, label="samples")
    if pixels is not None:
        ax.set(xlim=(0, 1), ylim=(1, 0), aspect=pixels.shape[0] / pixels.shape[1])
        return _finish(ax, "x", "y", False)
    ax.set_aspect("equal")
    # The legend has the part above the ellipse.
    box = ax.dataLim
    ax.set_xlim(box.x0 - 0.05 * box.width, box.x1 + 0.05 * box.width)
    ax.set_ylim(box.y0 - 0.05 * box.height, box.y1 + 0.15 * box.height)
    _finish(ax, "$t_1$", "$t_2$", False)
    ax.legend(loc="upper left", ncols=2, frameon=False)
    return ax


def _outlines(p: MultivariateBetaGaussian | MultivariateNumericDensity) -> tuple[bool, list[FloatArray]]:
    """Whether the support ends, and the lines of its edge, or of that of nearly all of the probability."""
    if isinstance(p, MultivariateNumericDensity):
        lines = p.support().contours()
        return (True, lines) if lines else (False, p.contour(_SHOWN))
    bounded = math.isfinite(p.support().radius2)
    ellipse = p.support() if bounded else p.contour(_SHOWN)
    turn = np.linspace(0, 2 * np.pi, 361)
    circle = np.stack([np.cos(turn), np.sin(turn)], -1)
    return bounded, [circle @ np.linalg.cholesky(ellipse.radius2 * ellipse.shape).T + ellipse.centre]


def _draw_outlines(ax: Axes, p: MultivariateBetaGaussian | MultivariateNumericDensity, color: Any, filled: bool,
                   named: bool) -> None:
    """The contours of a density, and the edge of its support."""
    bounded, outlines = _outlines(p)
    corners = np.concatenate(outlines)
    x, y = np.linspace(corners.min(0), corners.max(0), 201).T
    values = p.pdf(np.stack(np.meshgrid(x, y), -1))
    levels = MaxNLocator(10 if filled else 4).tick_values(0, values.max())
    if filled:
        fill = ax.contourf(x, y, values, levels=levels, cmap="Blues", vmin=0, vmax=1.5 * values.max())
    else:
        ax.contour(x, y, values, levels=levels[1:-1], colors=[color], linewidths=0.8)
    name = "support" if bounded else f"{_SHOWN:.1%} of the probability"
    broken = np.insert(corners, np.cumsum([len(line) for line in outlines])[:-1], np.nan, axis=0)
    (line,) = ax.plot(*broken.T, color=color, linewidth=1.8, linestyle="-" if bounded else "--", gid=_SERIES,
                      label=name if named else None)
    if filled:
        fill.set_clip_path(Path.make_compound_path(*map(Path, outlines)), line.get_transform())
        ax.figure.colorbar(fill, cax=ax.inset_axes((1.03, 0, 0.04, 1)), label="density")


def regression(estimator: Any, X: npt.ArrayLike, y: npt.ArrayLike, *, confidence: float = 0.9,
               ax: Axes | None = None) -> Axes:
    """Draw a fitted regression on one feature: the observations, the mean, an interval and the support.

    Parameters
    ----------
    estimator : fenchel.sklearn.BetaGaussianRegressor
        Fitted to one feature.
    X : array_like of shape (n, 1)
        The feature, which gives the range that is drawn.
    y : array_like of shape (n,)
        The observations.
    confidence : float
        The probability of the inner band.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import fenchel, fenchel.plot, fenchel.sklearn
    >>> import numpy as np
    >>> x = np.linspace(0, 10, 100)[:, None]
    >>> y = x[:, 0] + fenchel.BetaGaussian(2).rvs(100, random_state=0)
    >>> model = fenchel.sklearn.BetaGaussianRegressor(random_state=0).fit(x, y)
    >>> ax = fenchel.plot.regression(model, x, y, confidence=0.5)
    >>> ax.get_legend_handles_labels()[1]
    ['support', '0.5 interval', 'mean', 'observed']
    """
    features, observed = doubles("X", X), doubles("y", y)
    if features.ndim != 2 or features.shape[1] != 1 or observed.shape != features.shape[:1]:
        raise ValueError(f"regression: X must have shape (n, 1) and y (n,), got {features.shape} and {observed.shape}")
    ax = _axes(ax)
    grid = np.linspace(features.min(), features.max(), 201)
    predicted = estimator.predict_dist(grid[:, None])
    inner = np.array([p.interval(confidence) for p in predicted])
    outer = np.array([p.support() for p in predicted])
    if np.isfinite(outer).all():
        ax.fill_between(grid, *outer.T, color=_COLORS[4], alpha=0.25, linewidth=0, label="support")
    ax.fill_between(grid, *inner.T, color=_COLORS[0], alpha=0.3, linewidth=0, label=f"{confidence:.3g} interval")
    ax.plot(grid, estimator.predict(grid[:, None]), color=_COLORS[0], linewidth=1.8, label="mean", gid=_SERIES)
    ax.plot(features[:, 0], observed, ".", color="black", markersize=4, label="observed")
    return _finish(ax, "feature", "response", True)
