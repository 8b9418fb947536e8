#!/usr/bin/env python3
"""Writes python_gallery.md and its pictures into a folder.

An example is a function: its docstring is the text of the page, its body the code, and the figure of the Axes that it
returns the picture.

    python gallery.py          # into ./gallery
    python gallery.py docs     # those of the documents, from the root of the repository
"""

import argparse
import ast
import inspect
import json
import pathlib
import sys
import textwrap

import matplotlib.pyplot as plt
import numpy as np

import fenchel
from fenchel import plot
from fenchel.sklearn import BetaGaussianRegressor

IMAGES = pathlib.PurePosixPath("images/python")


def one_score_many_alphas():
    """One score, four values of alpha.

    The larger alpha, the sooner the density ends. The thick lines are the supports; arrows say that there is no end.
    """
    ax = None
    for alpha, name in [(1, "Gaussian"), (4 / 3, "triweight"), (2, "parabola"), (np.inf, "uniform")]:
        ax = plot.density(fenchel.BetaGaussian(alpha), label=name, ax=ax)
    return ax


def families_on_the_line():
    """Families with one variance.

    All have variance 1, so that only their shapes differ.
    """
    ax = plot.density(fenchel.Triangular.from_variance(mu=0, variance=1), label="triangular")
    plot.density(fenchel.CappedParabola.from_variance(gamma=0.2, mu=0, variance=1), label="capped parabola", ax=ax)
    plot.density(fenchel.SmoothTriangular.from_variance(gamma=1, mu=0, variance=1), label="smooth triangular", ax=ax)
    return ax


def any_score():
    """A score of your own.

    `predict` takes any Python function. Where the score is low for a while, the support has a gap.
    """
    def score(t):
        return 2 * np.cos(2 * t) - t**2 / 8

    ax = plot.density(fenchel.predict(fenchel.Tsallis(1), score), label="alpha = 1")
    plot.density(fenchel.predict(fenchel.Tsallis(2), score), label="alpha = 2", ax=ax)
    return ax


def any_score_plane():
    """A score of your own in the plane.

    There the function takes points, an array of shape (n, 2). Three hills, two of which share a piece of the support.
    """
    def hills(x):
        centres = np.array([[0, 0], [1.3, 0.4], [0.2, 2.2]])
        return 2 * np.logaddexp.reduce([-2 * ((x - c) ** 2).sum(-1) for c in centres])

    p = fenchel.predict(fenchel.Tsallis(2), hills, fenchel.Euclidean(2))
    ax = plot.density2d(p, samples=p.rvs(300, random_state=0))
    return ax


def fitted():
    """Data and a fit.

    The shape alpha is estimated too, and with it where the data must end.
    """
    data = fenchel.BetaGaussian(1.5, mu=10, sigma2=4).rvs(5000, random_state=0)
    p = fenchel.BetaGaussian.fit(data, alpha="auto")
    _, ax = plt.subplots(layout="constrained")
    ax.hist(data, bins=40, density=True, color="0.85", label="data")
    plot.density(p, label=f"alpha = {p.alpha:.2f}", ax=ax)
    return ax


def counts():
    """Counts that cannot be large.

    An integer of probability zero has no stem: the sparse Poisson distribution knows a largest count.
    """
    ax = plot.pmf(fenchel.SparsePoisson(1, 4), label="Poisson, mean 4")
    plot.pmf(fenchel.SparsePoisson(1.5, 4), label="alpha = 3/2", ax=ax)
    plot.pmf(fenchel.SparsePoisson(2, 4), label="alpha = 2", ax=ax)
    return ax


def attention():
    """Attention over a signal.

    Two heads look at a noisy signal. Each sees nothing outside of its support, the shaded band.
    """
    t = np.linspace(0, 1, 400)
    bursts = np.exp(-(((t - 0.3) / 0.08) ** 2)) + 0.5 * np.exp(-(((t - 0.75) / 0.06) ** 2))
    signal = bursts * np.sin(80 * t) + np.random.default_rng(0).normal(0, 0.05, t.size)
    heads = [fenchel.BetaGaussian(2, mu=0.3, sigma2=0.003), fenchel.BetaGaussian(1.5, mu=0.75, sigma2=0.001)]
    ax = plot.attention(heads, t, signal, labels=["head 1, alpha = 2", "head 2, alpha = 3/2"])
    return ax


def plane():
    """In the plane.

    A density on an ellipse, and draws from it: none falls outside.
    """
    p = fenchel.MultivariateBetaGaussian(alpha=2, mu=[1, 0], Sigma=[[2, 0.8], [0.8, 1]])
    ax = plot.density2d(p, samples=p.rvs(300, random_state=0))
    return ax


def regression():
    """Regression with bounded noise.

    The noise grows with the feature, and so do the bands. A few observations may lie outside of the support: their loss
    is large, not infinite.
    """
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 10, 200)
    noise = fenchel.BetaGaussian(2).rvs(x.size, random_state=rng)
    y = 2 + 0.5 * x + (0.3 + 0.15 * x) * noise
    model = BetaGaussianRegressor(alpha=2, random_state=0).fit(x[:, None], y)
    ax = plot.regression(model, x[:, None], y)
    return ax


EXAMPLES = [one_score_many_alphas, families_on_the_line, any_score, any_score_plane, fitted, counts,
            attention, plane, regression]

HEADER = """# Gallery

Pictures made with `fenchel.plot` and matplotlib, each under the code that draws it. The functions take the Axes to draw
on as `ax=`, return them, and leave the rest to you: titles, scales, `ax.figure.savefig("picture.svg")`.
`examples/python/gallery.py` writes this page; [python.md](python.md) explains what is drawn, and what alpha means.
"""


def block(code):
    return f"```python\n{code}\n```\n"


def body(example):
    """The source of an example without its name, its docstring and what it returns."""
    source = inspect.getsource(example)
    statements = ast.parse(source).body[0].body
    return textwrap.dedent("\n".join(source.splitlines()[statements[1].lineno - 1 : statements[-2].end_lineno]))


def page():
    imports = [line for line in inspect.getsource(sys.modules[__name__]).splitlines()
               if line.startswith(("import matplotlib", "import numpy", "import fenchel", "from fenchel"))]
    parts = [HEADER, block("\n".join(imports))]
    for example in EXAMPLES:
        title, text = inspect.getdoc(example).split(".\n\n")
        picture = f"![{title}]({IMAGES / example.__name__}.png)\n"
        parts += [f"## {title}\n", text + "\n", block(body(example)), picture]
    return "\n".join(parts)


def limits(ax):
    """What the picture of an example says about the data that it shows."""
    return [axes.dataLim.bounds for axes in ax.figure.axes]


def save(example, folder):
    ax = example()
    about = {"Title": example.__name__, "Description": json.dumps(limits(ax)), "Software": None}
    ax.figure.savefig(folder / f"{example.__name__}.png", dpi=100, metadata=about)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default="gallery",
                        help="where to write; it is made if it is not there (default: %(default)s)")
    docs = parser.parse_args().folder
    plt.switch_backend("Agg")
    (docs / IMAGES).mkdir(parents=True, exist_ok=True)
    for example in EXAMPLES:
        save(example, docs / IMAGES)
    (docs / "python_gallery.md").write_text(page(), encoding="utf-8")
    print(f"{len(EXAMPLES)} pictures are in {docs / IMAGES}, the page is {docs / 'python_gallery.md'}")


if __name__ == "__main__":
    main()
