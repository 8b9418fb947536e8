"""Pictures of what torch computes: the same as of NumPy's distributions, and images the right way up."""

import numpy as np
import pytest
import torch

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

import fenchel  # noqa: E402
import fenchel.torch as ft  # noqa: E402
from fenchel import plot  # noqa: E402
from fenchel.torch.nn import Attended, ContinuousAttention  # noqa: E402


@pytest.fixture(autouse=True)
def no_traces():
    yield
    plt.close("all")


def series(ax):
    return [np.asarray(line.get_xydata()) for line in ax.lines if line.get_gid() == "fenchel-series"]


def assert_same(ours, theirs):
    assert len(ours) == len(theirs) > 0
    for a, b in zip(ours, theirs):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def test_densities():
    for name, parameters in (("BetaGaussian", (1.5, 0.3, 0.2)), ("TruncatedGaussian", (2.0, 0.1, 0.5)), ("Triangular", (0.1, 2.0))):
        p = getattr(ft, name)(*(torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in parameters))
        assert_same(series(plot.density(p)), series(plot.density(getattr(fenchel, name)(*parameters))))
    with pytest.raises(ValueError, match="p must be one density, got a batch of 2"):
        plot.density(ft.BetaGaussian(2.0, torch.zeros(2)))


def test_attention_takes_batches_and_what_was_attended_to():
    t = np.linspace(0, 1, 50)
    mu, sigma2 = torch.tensor([[0.2, 0.4, 0.7]], dtype=torch.float64), torch.tensor(0.002, dtype=torch.float64)
    heads = [fenchel.BetaGaussian(2, m, 0.002) for m in (0.2, 0.4, 0.7)]
    expected = series(plot.attention(heads, t, np.sin(9 * t)).figure.axes[1])
    batch = plot.attention(ft.BetaGaussian(2.0, mu, sigma2), torch.from_numpy(t), torch.from_numpy(np.sin(9 * t)), labels="abc")
    assert_same(series(batch.figure.axes[1]), expected)
    attended = Attended(2.0, mu, sigma2.expand(1, 3))
    assert_same(series(plot.attention(attended, t, np.sin(9 * t)).figure.axes[1]), expected)


def test_an_image_lies_as_attention_sees_it():
    """The density of attention to one pixel is over that pixel, wherever in the picture it is."""
    basis = ft.MultivariateGaussianBasis.unit_square(3, 3, 0.05 * torch.eye(2, dtype=torch.float64))
    image = np.zeros((4, 8))
    image[3, 1] = 1
    scores = torch.from_numpy(np.where(image == 1, 0.0, -np.inf))
    _, attended = ContinuousAttention(basis)(torch.randn(4, 8, 2, dtype=torch.float64), scores)
    ax = plot.density2d(attended, image=image)
    (shown,) = ax.images
    assert shown.get_extent() == [0, 1, 1, 0] and ax.get_ylim() == (1, 0)
    (outline,) = series(ax)
    at = outline.mean(0)
    row, column = int(at[1] * 4), int(at[0] * 8)
    assert (row, column) == (3, 1)
    assert ax.get_aspect() == 0.5 and (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")
    ax.figure.canvas.draw()
    to_pixels = ax.transData.transform
    assert to_pixels((0.5, 0.9))[1] < to_pixels((0.5, 0.1))[1]


def test_densities_in_the_plane():
    mu = torch.tensor([[0.2, 0.3], [0.7, 0.6]])
    p = ft.MultivariateBetaGaussian(2.0, mu, 0.01 * torch.eye(2))
    ax = plot.density2d(p)
    assert len(series(ax)) == 2
    twins = [fenchel.MultivariateBetaGaussian(2.0, m, 0.01 * np.eye(2)) for m in mu.double().numpy()]
    for ours, theirs in zip(series(ax), series(plot.density2d(twins))):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match=r"image must have shape .* got \(3, 4, 4, 1\)"):
        plot.density2d(p, image=np.zeros((3, 4, 4, 1)))
    with pytest.raises(TypeError, match="p must be a MultivariateBetaGaussian or a MultivariateNumericDensity, got BetaGaussian"):
        plot.density2d(ft.BetaGaussian(2.0, torch.zeros(1)))
