"""How arguments are drawn: a line of the table with names in braces becomes a line of Python.

A name such as {alpha} is drawn once in a line, so that it means the same wherever it stands; {alpha2} is another alpha. What
is drawn may have names in braces itself, which are its own. Arguments are ordinary in one half of the lines: those the
library must not refuse. In the other half they are extreme, and sometimes wrong. A large line has many rows, and many
levels and draws of families that have formulas, where these are cheap.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

ORDERS = ("1", "4/3", "1.5", "2", "3", "math.nextafter(1, 2)", "1 + 1e-8", "0.9")
"""Orders of regularizers that have code of their own, and neighbours of them."""

LARGE = 200_000
"""How many numbers large rows have together."""


class Draw:
    """The arguments of one line: the same for the same generator."""

    def __init__(self, generator: random.Random, wild: bool, large: bool = False) -> None:
        self.random, self.wild, self.large = generator, wild, large
        rows, columns = generator.choice([1, 2, 7]), generator.choice([1, 2, 3, 5, 17, 64, 200, 1000])
        self.shape = f"({LARGE // columns if large else rows}, {columns})"

    def line(self, template: str) -> str:
        """The template with every name in braces drawn."""
        drawn: dict[str, str] = {}

        def one(match: re.Match[str]) -> str:
            name = match[1]
            if name not in drawn:
                drawn[name] = self.line(DRAWS[name.rstrip("0123456789")](self))
            return drawn[name]

        return re.sub(r"\{(\w+)\}", one, template)

    def any_of(self, *choices: str) -> str:
        return self.random.choice(choices)

    def number(self, ordinary: Callable[[], float], extreme: Callable[[], float], *edges: str) -> str:
        """Ordinary; in a wild line half of the time extreme, or one of the edges of what is allowed."""
        if not self.wild or self.random.random() < 0.5:
            return repr(ordinary())
        return self.any_of(*edges) if edges and self.random.random() < 0.1 else repr(extreme())

    def power(self, least: float, most: float) -> float:
        """Every power of ten between these is as likely."""
        return float(10 ** self.random.uniform(least, most))

    def seed(self) -> int:
        return self.random.randrange(10**6)

    def array(self, shape: str, kinds: tuple[str, ...], wild_kinds: tuple[str, ...] = ()) -> str:
        kind = self.any_of(*kinds, *wild_kinds * self.wild)
        scale = repr(self.power(-6, 6)) if self.wild else self.any_of("1", "10")
        return f'array({self.seed()}, {shape}, "{kind}", {scale})'


def alpha(d: Draw, smallest: str = "1e-300") -> str:
    if d.random.random() < 0.5:
        return d.any_of(*ORDERS)
    edges = "inf", "0", "-1", "nan", "1e308", smallest
    return d.number(lambda: d.random.uniform(0.7, 5), lambda: d.power(-2, 12), *edges)


def loss_alpha(d: Draw) -> str:
    """Of losses over rows, which are computed from alpha - 1: below 1e-16 nothing is left of alpha (reliability.md)."""
    return alpha(d, "1e-15")


def location(d: Draw) -> str:
    sign = d.random.choice([-1, 1])
    return d.number(lambda: d.random.gauss(0, 3), lambda: sign * d.power(-12, 12), "0", "inf", "nan", "1e308", "5e-324")


def scale(d: Draw) -> str:
    edges = "0", "-1", "inf", "nan", "1e308", "1e-307", "5e-324"
    return d.number(lambda: d.random.lognormvariate(0, 1), lambda: d.power(-12, 12), *edges)


def gamma(d: Draw) -> str:
    return d.number(lambda: d.random.lognormvariate(-1, 1), lambda: d.power(-9, 9), "0", "-1", "nan", "1e300")


def kappa(d: Draw) -> str:
    return d.number(lambda: 1 + d.random.lognormvariate(0, 1), lambda: 1 + d.power(-9, 20), "1", "nan", "inf")


def numbers(*kinds: str, wild: tuple[str, ...] = (), shape: str = "") -> Callable[[Draw], str]:
    """Arrays of the shape of the line, or of this one."""
    return lambda d: d.array(shape or d.shape, kinds, wild)


def texts(*choices: str) -> Callable[[Draw], str]:
    return lambda d: d.any_of(*choices)


QUADRATIC = "fenchel.BetaGaussian({alpha}, {mu}, {scale})"
FAMILIES = (
    QUADRATIC,
    "fenchel.BetaLaplace({alpha}, {mu}, {scale})",
    "fenchel.Triangular({mu}, {scale})",
    "fenchel.TruncatedGaussian({kappa}, {mu}, {scale})",
    "fenchel.CappedTriangular({gamma}, {mu}, {scale})",
    "fenchel.CappedParabola({gamma}, {mu}, {scale})",
    "fenchel.SmoothTriangular({gamma}, {mu}, {scale})",
    "fenchel.SmoothParabola({gamma}, {mu}, {scale})",
)
PREDICTED = (
    "fenchel.LocationScale(lambda t: t * t * t / 6, lambda t: t * t / 2, {mu}, {size})",
    "fenchel.predict(fenchel.Tsallis({alpha}), {score})",
    "fenchel.predict(fenchel.Tsallis({alpha}), {score}, fenchel.Interval(-2, 3))",
    "fenchel.predict(fenchel.TotalVariation({small_gamma}), {score}, fenchel.Interval(-2, 3))",
    "fenchel.predict(fenchel.Sobolev({small_gamma}), {score}, fenchel.Interval(-2, 3))",
)
TARGETS = (
    "fenchel.Uniform({mu}, {mu} + {scale})",
    "fenchel.Mixture([0.25, 0.75], [{quadratic}, {quadratic2}])",
    "fenchel.EscortDensity({family}, {order})",
)
COUNTS = (
    "fenchel.SparsePoisson({alpha}, {rate})",
    "fenchel.SparseIntegerGaussian({alpha}, {mu}, {scale})",
)
PREDICTED_COUNTS = (
    "fenchel.predict(fenchel.Tsallis({light}), {score}, fenchel.Integers())",
    "fenchel.predict(fenchel.Tsallis({light}), {score}, fenchel.Naturals())",
    "fenchel.predict(fenchel.Tsallis({light}), {score}, fenchel.IntegerRange(-3, 4))",
)
SHELL_FAMILIES = (
    '"beta-gaussian", alpha={alpha}, mu={mu}, sigma2={scale}',
    '"gaussian", mu={mu}, sigma2={scale}',
    '"student", alpha={heavy}, mu={mu}, sigma2={scale}',
    '"triweight", mu={mu}, sigma2={scale}',
    '"biweight", mu={mu}, sigma2={scale}',
    '"parabola", mu={mu}, sigma2={scale}',
    '"beta-laplace", alpha={alpha}, mu={mu}, b={scale}',
    '"laplace", mu={mu}, b={scale}',
    '"triangular", mu={mu}, b={scale}',
    '"truncated-gaussian", kappa={kappa}, mu={mu}, sigma2={scale}',
    '"location-scale", score="cosh(t)", mu={mu}, sigma={scale}',
    '"capped-triangular", gamma={gamma}, mu={mu}, b={scale}',
    '"capped-parabola", gamma={gamma}, mu={mu}, sigma2={scale}',
    '"smooth-triangular", gamma={gamma}, mu={mu}, b={scale}',
    '"smooth-parabola", gamma={gamma}, mu={mu}, sigma2={scale}',
)
SHELL_COUNTS = (
    '"sparse-poisson", alpha={alpha}, mu={rate}',
    '"sparse-integer-gaussian", alpha={alpha}, mu={mu}, sigma2={scale}',
)
SHELL_SPACE = (
    '"uniform", lower={mu}, upper={mu} + {scale}',
    '"multivariate-beta-gaussian", alpha={light}, mu="{mu},{mu2}", Sigma="{scale},{scale2}"',
)
SHELL_SCORES = (
    '"score", score={formula}, alpha={alpha}',
    '"score", score={formula}, alpha={alpha}, interval="-2,3"',
    '"score", score={formula}, regularizer="total-variation", gamma={small_gamma}, interval="-2,3"',
    '"score", score={formula}, regularizer="sobolev", gamma={small_gamma}, interval="-2,3"',
    '"score", score={formula}, domain="integers", alpha={light}',
    '"score", score={formula}, domain="naturals", alpha={light}',
)
DRAWS: dict[str, Callable[[Draw], str]] = {
    "alpha": alpha,
    "loss_alpha": loss_alpha,
    "order": lambda d: d.number(lambda: d.random.uniform(0.6, 2), lambda: d.power(-3, 3), "0", "-1", "nan"),
    "light": lambda d: d.number(lambda: d.random.uniform(1, 4), lambda: 1 + d.power(-9, 6), "inf"),
    "gamma": gamma,
    "small_gamma": lambda d: d.number(lambda: d.random.uniform(0.01, 1), lambda: d.power(-4, 2), "0"),
    "kappa": kappa,
    "mu": location,
    "scale": scale,
    "rate": lambda d: d.number(lambda: d.random.lognormvariate(1, 1), lambda: d.power(-9, 5), "0", "nan", "inf"),
    "count": texts("1", "2", "3", "8"),
    "seed": lambda d: str(d.seed()),
    "unit": lambda d: repr(d.random.random()),
    "heavy": lambda d: repr(d.random.uniform(0.34, 1)),  # orders that have losses
    "moment": texts("0", "1", "2", "3", "4", "7"),
    "central": lambda d: d.any_of("2", "3", "4", *(("0", "1", "7") if d.wild else ())),
    "scores": numbers("normal", "cauchy", "ties", "masked", wild=("huge", "tiny", "equal", "steep")),
    "plain_scores": numbers("normal", "cauchy", "ties", wild=("huge", "tiny", "equal", "steep")),
    "loss_scores": numbers("normal", "cauchy", "ties", wild=("vast", "tiny", "equal", "steep")),
    "mild_scores": numbers("normal", "ties"),
    "masked_scores": texts("{loss_scores}", "{masked}"),
    "masked": numbers("masked"),
    "direction": numbers("normal", "sparse", wild=("large", "small")),
    "target": numbers("simplex", "onehot"),
    "measure": numbers("positive", wild=("sizes",)),
    "grid": numbers("normal", "ties", wild=("steep", "equal"), shape="(2, 5, 6)"),
    "grid_direction": numbers("normal", "sparse", shape="(2, 5, 6)"),
    "grid_target": numbers("simplex", "onehot", shape="(2, 5, 6)"),
    "levels": lambda d: f'array({d.seed()}, {{many}}, "{d.any_of("uniform", "ends")}")',
    "many": lambda d: "20000" if d.large else "1000",
    "some_levels": lambda d: f'array({d.seed()}, 40, "{d.any_of("uniform", "ends")}")',
    "sample": numbers("normal", "cauchy", "ties", wild=("large", "small"), shape="40"),
    "counts": numbers("counts", shape="40"),
    "points": numbers("normal", wild=("large",), shape="(40, 2)"),
    "vector": numbers("normal", wild=("large", "small"), shape="2"),
    "near": numbers("normal", shape="2"),
    "weights": numbers("simplex", wild=("sizes",), shape="(3, 12)"),
    "values": numbers("normal", wild=("large",), shape="(3, 12)"),
    "few": numbers("normal", wild=("large",), shape="(3, 4)"),
    "cotangent": numbers("normal", wild=("large",), shape="(4, 3)"),
    "ridge": lambda d: d.number(lambda: d.random.uniform(0.01, 1), lambda: d.power(-9, 9), "0", "-1", "nan"),
    "row": numbers("normal", wild=("large",), shape="4"),
    "matrix": texts("spd({seed}, 2, {size})"),
    "size": lambda d: d.number(lambda: d.random.lognormvariate(0, 1), lambda: d.power(-12, 12), "0", "-1", "nan", "1e150"),
    "score": texts(
        "lambda t: -t * t / 2",
        "lambda t: 2 * math.exp(-8 * (t - 1) * (t - 1)) - t * t / 2",
        "lambda t: -abs(t - 0.3)",
        "lambda t: -math.exp(min(abs(t), 700))",
        "lambda t: t * t * (1 - t * t)",
    ),
    "plane_score": texts(
        "lambda x: -(x**2).sum(-1) / 2", "lambda x: np.cos(2 * x[:, 0]) - x[:, 0] ** 2 - x[:, 1] ** 2 / 3"
    ),
    "function": texts("math.cos", "lambda t: t * t", "abs", "lambda t: 1 / (1 + t * t)"),
    "family": texts(*FAMILIES),
    "quadratic": texts(QUADRATIC),
    "predicted": texts(*PREDICTED),
    "line": lambda d: d.any_of("{family}", "{family}", *TARGETS),
    "counted": texts(*COUNTS),
    "predicted_integers": texts(*PREDICTED_COUNTS),
    "numeric": texts("{line}", "{line}", "{counted}"),
    "space": texts(
        "fenchel.MultivariateBetaGaussian({light}, {vector}, {matrix})",
        "fenchel.Elliptical(lambda r: -r / 2, {vector}, {matrix})",
    ),
    "bell": texts("fenchel.MultivariateBetaGaussian({light}, {vector}, {matrix})"),
    "plane": texts(
        "fenchel.predict(fenchel.Tsallis(2), {plane_score}, fenchel.Box([-2, -2], [2, 3]))",
        "fenchel.MultivariateNumericDensity(fenchel.Tsallis({light}), {plane_score}, fenchel.Euclidean(2))",
    ),
    "basis": texts(
        "fenchel.GaussianBasis.linearly_spaced(4, sigma=0.2)",
        "fenchel.PolynomialBasis(3)",
        "fenchel.FourierBasis(2)",
        "fenchel.ConcatenatedBasis(fenchel.PolynomialBasis(1), fenchel.FourierBasis(1))",
    ),
    "bumps": texts(
        "fenchel.GaussianBasis.linearly_spaced(4, sigma=0.2)", "fenchel.GaussianBasis([0.0, 0.5, 1.0, 9.0], 1e-3)"
    ),
    "bumps_in_plane": texts("fenchel.MultivariateGaussianBasis.unit_square(2, 2, [[0.1, 0.02], [0.02, 0.2]])"),
    "by_mean": texts("fenchel.BetaGaussian", "fenchel.CappedParabola", "fenchel.SmoothParabola", "fenchel.Uniform"),
    "by_median": texts(
        "fenchel.BetaLaplace", "fenchel.Triangular", "fenchel.CappedTriangular", "fenchel.SmoothTriangular"
    ),
    "counting": texts("fenchel.SparsePoisson", "fenchel.SparseIntegerGaussian"),
    "dtype": texts('"float64"', '"float32"', '"bfloat16"', '"float16"'),
    "tensor": texts("tensor({scores}, {dtype})"),
    "plain_tensor": texts("tensor({loss_scores})"),
    "positive_tensor": texts("tensor({measure})"),
    "target_tensor": texts("tensor({target})"),
    "sequence": numbers("normal", wild=("large",), shape="(2, 12, 3)"),
    "queries": numbers("normal", "ties", wild=("steep", "equal"), shape="(2, 3, 9, 4)"),
    "keys": numbers("normal", "ties", wild=("steep", "equal"), shape="(2, 3, 13, 4)"),
    "quadratic_or_absolute": texts("BetaGaussian", "BetaLaplace"),
    "gamma_family": texts("CappedTriangular", "CappedParabola", "SmoothTriangular", "SmoothParabola"),
    "fused": texts("Fusedmax", "SmoothSparsemax"),
    "class_losses": texts("EntmaxLoss", "Entmax15Loss", "SparsemaxLoss", "SparsemaxBisectLoss"),
    "heads": texts("None", "1", "2"),
    "causal": texts("False", "True"),
    "window": lambda d: d.any_of("None", "0", "2", "(3, 1)", "(None, 2)", "(1, None)", *("(2**63 - 1)", "40") * d.wild),
    "sinks": lambda d: d.any_of("0", "1", "3", *("2**63 - 1", "40") * d.wild),
    "documents": texts("None", "[0, 0, 0, 0, 1, 1, 5, 5, 5]", "[[-2, -2, 0, 0, 0, 0, 0, 0, 0], 9 * [7]]"),
    "page_size": texts("1", "4", "7", "13"),
    "lengths": texts("[9]", "[4, 5]", "[0, 1, 8]", "[3, 3, 0, 3]", "[1, 2, 1, 2, 1, 2]"),
    "head_scale": texts("None", "0.3", "ftnn.EntmaxAttentionScale(2, 4)"),
    "kind": texts('"both"', '"continuous"', '"discrete"'),
    "tensor_score": texts("lambda t: -t * t / 2", "lambda t: torch.cos(3 * t) - t * t / 2", "lambda t: -abs(t - 0.3)"),
    "tensor_basis": texts(
        "ft.GaussianBasis.linearly_spaced(4)",
        "ft.PolynomialBasis(3)",
        "ft.FourierBasis(2)",
        "ft.FunctionBasis(lambda t: torch.stack([t.sin(), t.cos()], -1), 2)",
        "ft.ConcatenatedBasis(ft.PolynomialBasis(1), ft.FourierBasis(1))",
    ),
    "tensor_basis_in_plane": texts(
        "ft.MultivariateGaussianBasis.unit_square(2, 2, tensor([[0.1, 0.02], [0.02, 0.2]]))",
        "ft.MultivariateGaussianBasis(tensor({points}), tensor({matrix}))",
    ),
    "formula": texts('"-t^2/2"', '"cos(3*t)-t^2/2"', '"-abs(t-0.3)"', '"t^2*(1-t^2)"', '"-exp(abs(t))"'),
    "shell_line": texts(*SHELL_FAMILIES),
    "shell_counts": texts(*SHELL_COUNTS),
    "shell_family": texts(*SHELL_FAMILIES, *SHELL_COUNTS, *SHELL_SPACE),
    "shell_score": texts(*SHELL_SCORES),
    "shell_map": texts(
        'map="softmax"',
        'map="sparsemax"',
        "alpha={alpha}",
        'map="fusedmax", gamma={gamma}',
        'map="smooth-sparsemax", gamma={gamma}',
    ),
    "shell_fit": texts(
        "alpha={light}",
        'family="uniform"',
        'family="beta-laplace", alpha={light}',
        'family="capped-triangular", gamma={gamma}',
        'family="capped-parabola", gamma={gamma}',
        'family="smooth-triangular", gamma={gamma}',
    ),
    "shell_table": numbers("normal", "cauchy", wild=("large", "small", "huge"), shape="(20, 3)"),
    "line_table": lambda d: f"line({d.seed()}, 30)",
    "densities": texts("fenchel.Densities({alpha}, {row}, {scale})"),
}
