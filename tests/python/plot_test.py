"""Pictures: what is drawn is what the distributions say, on the Axes that were given, and nothing hides anything."""

import itertools

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

import fenchel  # noqa: E402
from fenchel import plot  # noqa: E402


@pytest.fixture(autouse=True)
def no_traces():
    """Nothing is left open, and no setting is changed."""
    before = matplotlib.rcParams.copy()
    yield
    plt.close("all")
    assert matplotlib.rcParams == before


def series(ax):
    return [line for line in ax.lines if line.get_gid() == "fenchel-series"]


def supports(ax, n):
    return [line for line in ax.lines if line.get_gid() == f"fenchel-support-{n}"]


def assert_nothing_overlaps(ax):
    """Labels, tick labels, legends and titles of the figure lie apart from each other, and inside of it."""
    figure = ax.figure
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    texts = []
    for axes in figure.axes:
        for axis in filter(lambda axis: axis.get_visible(), (axes.xaxis, axes.yaxis)):
            low, high = sorted(axis.get_view_interval())
            ticks = zip(axis.get_majorticklocs(), axis.get_majorticklabels())
            texts += [text for at, text in ticks if low <= at <= high] + [axis.label]
        texts += [axes.title, *([axes.get_legend()] if axes.get_legend() else [])]
    boxes = [text.get_window_extent(renderer) for text in texts
             if text.get_visible() and getattr(text, "get_text", lambda: "legend")()]
    assert len(boxes) > 4
    for box, other in itertools.combinations(boxes, 2):
        assert not box.padded(-0.5).overlaps(other.padded(-0.5))
    for box in boxes:
        assert box.x0 >= -1 and box.y0 >= -1 and box.x1 <= figure.bbox.x1 + 1 and box.y1 <= figure.bbox.y1 + 1


@pytest.mark.parametrize("p", [
    fenchel.BetaGaussian(0.9, 1, 2), fenchel.BetaGaussian(1), fenchel.BetaGaussian(1.5, -3, 0.1),
    fenchel.BetaGaussian(2, 5), fenchel.BetaGaussian(1e6), fenchel.BetaGaussian(np.inf, 2), fenchel.Triangular(1, 3),
    fenchel.BetaLaplace(1.2), fenchel.TruncatedGaussian(1.5), fenchel.CappedTriangular(0.5),
    fenchel.SmoothParabola(0.5, 1, 2**2),
], ids=repr)
def test_density_is_the_pdf_from_end_to_end(p):
    ax = plot.density(p)
    (line,) = series(ax)
    x, y = line.get_data()
    inner = slice(1, -1) if np.isfinite(p.support()).all() else slice(None)
    np.testing.assert_array_equal(y[inner], p.pdf(x[inner]))
    assert y.max() == pytest.approx(p.pdf(p.mode()), rel=1e-3)
    mark = supports(ax, 0)[0].get_xdata()
    if np.isfinite(p.support()).all():
        assert (x[0], x[-1]) == (mark[0], mark[-1]) == p.support()
        assert y[0] == y[-1] == 0
        assert len(supports(ax, 0)) == 1
    else:
        np.testing.assert_allclose(p.cdf(x[[0, -1]]), [0.001, 0.999], rtol=1e-9)
        assert [m.get_marker() for m in supports(ax, 0)[1:]] == ["<", ">"]
    assert np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2) == pytest.approx(1, abs=0.01)
    assert_nothing_overlaps(ax)


def test_density_of_a_support_with_a_gap():
    p = fenchel.predict(fenchel.Tsallis(2), lambda t: 3 * t**2 - t**4)
    ax = plot.density(p)
    x, y = series(ax)[0].get_data()
    for lower, upper in p.pieces():
        inside = (x >= lower) & (x <= upper)
        assert (x[inside][0], x[inside][-1]) == (lower, upper)
        assert y[inside][0] == y[inside][-1] == 0 < y[inside][1:-1].max()
        np.testing.assert_array_equal(y[inside][1:-1], p.pdf(x[inside][1:-1]))
    (first, second) = p.pieces()
    np.testing.assert_array_equal(supports(ax, 0)[0].get_xdata(), [*first, np.nan, *second])


def test_density_with_one_end():
    p = fenchel.predict(fenchel.Tsallis(1), lambda t: -t, fenchel.Interval(0.0, np.inf))
    ax = plot.density(p)
    x, y = series(ax)[0].get_data()
    assert x[0] == 0 and y[0] == 0 and y[1] == pytest.approx(1)
    assert p.sf(x[-1]) == pytest.approx(0.001) and y[-1] > 0
    assert [m.get_marker() for m in supports(ax, 0)[1:]] == [">"]


@pytest.mark.parametrize("p", [
    fenchel.SparsePoisson(mu=4), fenchel.SparsePoisson(1, 7), fenchel.SparseIntegerGaussian(mu=-3.2, sigma2=5),
    fenchel.IntegerTable(2, [1, 0, 0, 3]),
], ids=repr)
def test_pmf_has_a_stem_for_each_probable_integer(p):
    ax = plot.pmf(p)
    k, probability = series(ax)[0].get_data()
    assert (probability > 0).all() and (k == np.round(k)).all()
    np.testing.assert_array_equal(probability, p.pmf(k))
    assert probability.sum() == pytest.approx(1, abs=0.003)
    stems = ax.collections[0].get_segments()
    np.testing.assert_array_equal([stem[1] for stem in stems], np.stack([k, probability], -1))
    np.testing.assert_array_equal([stem[0] for stem in stems], np.stack([k, 0 * k], -1))
    assert_nothing_overlaps(ax)


def test_pmfs_stand_side_by_side():
    ax = plot.pmf(fenchel.SparsePoisson(1, 4), label="Poisson")
    assert plot.pmf(fenchel.SparsePoisson(mu=4), label="sparse", ax=ax) is ax
    first, second = series(ax)
    assert not set(first.get_xdata()) & set(second.get_xdata())
    assert first.get_marker() != second.get_marker() and first.get_color() != second.get_color()
    assert_nothing_overlaps(ax)


@pytest.mark.parametrize("alpha", [1, 1.5, 2, np.inf])
def test_density2d(alpha):
    p = fenchel.MultivariateBetaGaussian(alpha, [1, -2], [[2, 0.8], [0.8, 1]])
    draws = p.rvs(100, random_state=0)
    ax = plot.density2d(p, samples=draws)
    outline = np.stack(series(ax)[0].get_data(), -1)
    ellipse = p.support() if alpha > 1 else p.contour(0.998)
    assert ellipse.contains(p.mu + (1 - 1e-9) * (outline - p.mu)).all()
    assert not ellipse.contains(p.mu + (1 + 1e-9) * (outline - p.mu)).any()
    np.testing.assert_array_equal(ax.lines[1].get_data(), draws.T)
    assert ax.get_aspect() == 1
    assert_nothing_overlaps(ax)
    shown = ax.transData.transform(outline)
    assert all(ax.bbox.contains(*point) for point in shown)
    assert shown[:, 1].max() < ax.get_legend().get_window_extent().y0


def test_regression():
    sklearn = pytest.importorskip("fenchel.sklearn")
    X = np.linspace(0, 10, 60)[:, None]
    y = 1 + 0.5 * X[:, 0] + (0.5 + 0.1 * X[:, 0]) * fenchel.BetaGaussian(2).rvs(60, random_state=1)
    for alpha in (1, 2):
        model = sklearn.BetaGaussianRegressor(alpha, random_state=0).fit(X, y)
        ax = plot.regression(model, X, y, confidence=0.8)
        grid, mean = series(ax)[0].get_data()
        assert (grid[0], grid[-1]) == (0, 10)
        np.testing.assert_array_equal(mean, model.predict(grid[:, None]))
        np.testing.assert_array_equal(ax.lines[1].get_data(), [X[:, 0], y])
        bands = {band.get_label(): band.get_paths()[0].get_extents() for band in ax.collections}
        assert set(bands) == {"0.8 interval"} | ({"support"} if alpha > 1 else set())
        low, high = model.predict_interval(grid[:, None], 0.8).T
        np.testing.assert_allclose((bands["0.8 interval"].y0, bands["0.8 interval"].y1), (low.min(), high.max()))
        assert_nothing_overlaps(ax)


def test_densities_on_given_axes_differ():
    _, (left, right) = plt.subplots(1, 2, layout="constrained", figsize=(10, 4))
    for alpha in (1, 4 / 3, 1.5, 2):
        assert plot.density(fenchel.BetaGaussian(alpha), label=f"alpha {alpha:.2f}", ax=right) is right
    assert not left.lines
    assert len({line.get_color() for line in series(right)}) == 4
    assert len({str(line.get_linestyle()) for line in series(right)}) == 4
    heights = [supports(right, n)[0].get_ydata()[0] for n in range(4)]
    assert heights == sorted(heights, reverse=True)
    zero = right.transAxes.inverted().transform(right.transData.transform((0, 0)))[1]
    assert 0 < heights[3] < heights[0] < zero
    assert len(right.get_legend().get_texts()) == 4
    assert_nothing_overlaps(right)


def test_density_keeps_what_is_there():
    ax = plt.figure(layout="constrained").add_subplot()
    ax.set_xlabel("error in mm")
    heights, *_ = ax.hist(fenchel.BetaGaussian(2).rvs(200, random_state=1), 60, density=True)
    plot.density(fenchel.BetaGaussian(2), ax=ax, color="red")
    assert ax.get_xlabel() == "error in mm" and ax.get_ylabel() == "density"
    assert ax.get_ylim()[1] > max(heights)
    assert series(ax)[0].get_color() == "red"


def test_without_axes_each_call_has_its_own_figure():
    p = fenchel.BetaGaussian(2)
    assert plot.density(p).figure is not plot.density(p).figure


def test_attention():
    heads = [fenchel.BetaGaussian(2, 0.3, 0.002), fenchel.BetaGaussian(1.5, 0.75, 0.001)]
    t = np.linspace(0, 1, 300)
    signal = 40 + np.sin(30 * t)
    ax = plot.attention(heads, t, signal, labels=["first", "second"])
    np.testing.assert_array_equal(ax.lines[0].get_data(), [t, signal])
    (over,) = [axes for axes in ax.figure.axes if axes is not ax]
    for p, line, band in zip(heads, series(over), ax.patches):
        assert (line.get_xdata()[0], line.get_xdata()[-1]) == p.support()
        assert (band.get_x(), band.get_x() + band.get_width()) == pytest.approx(p.support())
        np.testing.assert_array_equal(line.get_ydata()[1:-1], p.pdf(line.get_xdata()[1:-1]))
    assert_nothing_overlaps(ax)
    lowest, highest = ax.transData.transform([(0, signal.min()), (0, signal.max())])[:, 1]
    assert over.transData.transform((0, max(p.pdf(p.mode()) for p in heads)))[1] < lowest
    assert ax.get_legend().get_window_extent().y0 > highest


def test_attention_to_channels_of_a_gaussian():
    ax = plot.attention(fenchel.BetaGaussian(1), np.arange(5.0), np.ones((5, 3)))
    assert len(ax.lines) == 3 and not ax.patches and ax.get_legend() is None


PLANE = fenchel.MultivariateBetaGaussian(2, [0, 0], [[1, 0], [0, 1]])


@pytest.mark.parametrize("call, message", [
    (lambda: plot.density(3.0), "density: p must be a distribution on the line, got float"),
    (lambda: plot.density(fenchel.SparsePoisson(mu=2)),
     "density: p must be a distribution on the line, got SparsePoisson: use pmf"),
    (lambda: plot.density(PLANE),
     "density: p must be a distribution on the line, got MultivariateBetaGaussian: use density2d"),
    (lambda: plot.density2d(fenchel.BetaGaussian(2)),
     "density2d: p must be a MultivariateBetaGaussian or a MultivariateNumericDensity, got BetaGaussian"),
    (lambda: plot.density2d(PLANE.marginal([0])), "density2d: p must have dimension and rank 2, got 1 and 1"),
    (lambda: plot.density2d(fenchel.MultivariateBetaGaussian(2, [0, 0], [[1, 1], [1, 1]])),
     "density2d: p must have dimension and rank 2, got 2 and 1"),
    (lambda: plot.density2d(PLANE, samples=[1, 2, 3]), "density2d: samples must have shape (n, 2), got (3,)"),
    (lambda: plot.regression(None, [1, 2], [1, 2]),
     "regression: X must have shape (n, 1) and y (n,), got (2,) and (2,)"),
    (lambda: plot.pmf(fenchel.BetaGaussian(2)),
     "pmf: p must be a distribution on the integers, got BetaGaussian: use density"),
    (lambda: plot.density(fenchel.BetaGaussian(2), ax=plt.figure()), "ax must be matplotlib Axes or None, got Figure"),
    (lambda: plot.attention(fenchel.BetaGaussian(2), [0, 1, 2], [1, 2]),
     "attention: signal must have one row for each time, got shapes (2,) and (3,)"),
    (lambda: plot.attention(fenchel.BetaGaussian(2), [0, 1], [1, 2], labels=["a", "b"]),
     "attention: labels must be 1 in number, got 2"),
    (lambda: plot.attention([], [], []), "attention: there must be a signal and a density"),
])
def test_bad_arguments(call, message):
    with pytest.raises((TypeError, ValueError)) as error:
        call()
    assert str(error.value) == message
