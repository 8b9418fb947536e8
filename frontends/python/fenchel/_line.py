"""Distributions on the line: the predictions of the Tsallis regularizer for quadratic, absolute and Gaussian scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, cast

import numpy.typing as npt

from . import _core
from ._arrays import doubles, reals
from ._distribution import LineDistribution
from ._score import Function
from ._value import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self


class BetaGaussian(LineDistribution):
    """A bell on the line that ends for alpha > 1: Student, Gaussian, triweight, biweight, parabola, uniform.

    p(t) = [1 + (alpha - 1) (f(t) - A)]_+^(1 / (alpha - 1)) for the score f(t) = -(t - mu)^2 / (2 sigma2) and the A that
    gives it mass 1, the prediction of the Tsallis regularizer: Student (alpha < 1), Gaussian (1), triweight (4/3),
    biweight (3/2), truncated parabola (2), semicircle (3), uniform (inf).

    Parameters
    ----------
    alpha : float
        Positive; inf is allowed.
    mu : float
        The centre: mean, median and mode.
    sigma2 : float
        The scale of the score, positive. It is the variance for alpha = 1 only: see `from_variance`.

    Examples
    --------
    >>> from fenchel import BetaGaussian
    >>> p = BetaGaussian(alpha=2, mu=1)
    >>> p
    BetaGaussian(alpha=2.0, mu=1.0, sigma2=1.0)
    >>> [round(end, 4) for end in p.support()]
    [-0.1447, 2.1447]
    >>> p.pdf([1.0, 3.0]).round(4)
    array([0.6552, 0.    ])
    """

    __slots__ = ()
    _parameters: ClassVar[tuple[str, ...]] = ("alpha", "mu", "sigma2")

    alpha = Parameter("The order of the regularizer.")
    mu = Parameter("The centre.")
    sigma2 = Parameter("The scale of the score.")

    def __init__(self, alpha: float = 2.0, mu: float = 0.0, sigma2: float = 1.0) -> None:
        self._core = _core.BetaGaussian(*reals(alpha=alpha, mu=mu, sigma2=sigma2))

    @classmethod
    def _of(cls, core: Any) -> Self:
        if core.alpha == math.inf and core != _core.BetaGaussian(core.alpha, core.mu, core.sigma2):
            return cast("Self", Uniform(*core.support()))  # its length is not that of the prediction
        return super()._of(core)

    @classmethod
    def gaussian(cls, mu: float = 0.0, sigma2: float = 1.0) -> BetaGaussian:
        """The Gaussian, alpha = 1, of variance sigma2."""
        return BetaGaussian(1, mu, sigma2)

    @classmethod
    def triweight(cls, mu: float = 0.0, sigma2: float = 1.0) -> BetaGaussian:
        """The triweight, alpha = 4/3."""
        return BetaGaussian(4 / 3, mu, sigma2)

    @classmethod
    def biweight(cls, mu: float = 0.0, sigma2: float = 1.0) -> BetaGaussian:
        """The biweight, alpha = 3/2."""
        return BetaGaussian(1.5, mu, sigma2)

    @classmethod
    def truncated_parabola(cls, mu: float = 0.0, sigma2: float = 1.0) -> BetaGaussian:
        """The truncated parabola, alpha = 2."""
        return BetaGaussian(2, mu, sigma2)

    @classmethod
    def semicircle(cls, mu: float = 0.0, sigma2: float = 1.0) -> BetaGaussian:
        """The semicircle, alpha = 3."""
        return BetaGaussian(3, mu, sigma2)

    @classmethod
    def student(cls, nu: float, mu: float = 0.0, scale: float = 1.0) -> BetaGaussian:
        """Student's t with nu > 1 degrees of freedom: alpha = (nu - 1) / (nu + 1).

        >>> BetaGaussian.student(nu=3).alpha
        0.5
        """
        return BetaGaussian._of(_core.BetaGaussian.student(*reals(nu=nu, mu=mu, scale=scale)))

    @classmethod
    def uniform(cls, lower: float = 0.0, upper: float = 1.0) -> Uniform:
        """The uniform distribution on [lower, upper], alpha = inf."""
        return Uniform(lower, upper)

    @classmethod
    def from_variance(cls, alpha: float, mu: float, variance: float) -> BetaGaussian:
        """The member with this variance; it exists for alpha > 1/3.

        >>> round(BetaGaussian.from_variance(1.5, mu=0, variance=4).var(), 12)
        4.0
        """
        return BetaGaussian._of(_core.BetaGaussian.from_variance(*reals(alpha=alpha, mu=mu, variance=variance)))

    @classmethod
    def from_half_width(cls, alpha: float, mu: float, half_width: float) -> BetaGaussian:
        """The member with support mu +- half_width; it exists for alpha > 1."""
        return BetaGaussian._of(_core.BetaGaussian.from_half_width(*reals(alpha=alpha, mu=mu, half_width=half_width)))

    @classmethod
    def from_canonical(cls, alpha: float, theta: npt.ArrayLike) -> BetaGaussian:
        """The member with score theta[0] t + theta[1] t^2 up to a constant; theta[1] must be negative."""
        pair = doubles("theta", theta)
        if pair.shape != (2,):
            raise ValueError(f"theta must be two numbers, got shape {pair.shape}")
        (order,) = reals(alpha=alpha)
        return BetaGaussian._of(_core.BetaGaussian.from_canonical(order, pair.tolist()))

    def canonical_parameters(self) -> tuple[float, float]:
        """theta = (mu / sigma2, -1 / (2 sigma2)), by which the score is theta[0] t + theta[1] t^2."""
        first, second = self._core.canonical_parameters()
        return float(first), float(second)

    def sample_derivatives(self, x: float) -> dict[str, float]:
        """How a draw x moves with each parameter while its quantile stands still; NaN outside of the support.

        >>> BetaGaussian(2, mu=1, sigma2=8).sample_derivatives(2.5)["mu"]
        1.0
        """
        derivatives: dict[str, float] = self._core.sample_derivatives(*reals(x=x))
        return derivatives

    def escort(self, order: float) -> BetaGaussian:
        """The density proportional to pdf(x)^order on the support: a member of the family."""
        return BetaGaussian._of(self._core.escort(*reals(order=order)))


class Uniform(BetaGaussian):
    """The uniform distribution on [lower, upper]: the beta-Gaussian of alpha = inf.

    BetaGaussian(inf, mu, sigma2) has length 1, as a prediction has; this one has any.

    Examples
    --------
    >>> from fenchel import Uniform
    >>> Uniform(-1, 3).var()
    1.3333333333333333
    """

    __slots__ = ()
    _parameters = ("lower", "upper")

    def __init__(self, lower: float = 0.0, upper: float = 1.0) -> None:
        self._core = _core.BetaGaussian.uniform(*reals(lower=lower, upper=upper))

    @classmethod
    def _of(cls, core: Any) -> Self:
        return cls(*core.support())

    @property
    def lower(self) -> float:
        """Where it begins."""
        return self.support()[0]

    @property
    def upper(self) -> float:
        """Where it ends."""
        return self.support()[1]

    def escort(self, order: float) -> BetaGaussian:
        """Itself."""
        self._core.escort(*reals(order=order))
        return self

    def _core_loss(self, name: str, target: Any) -> tuple[float, dict[str, float]]:
        self._of_score(name)

    def _of_score(self, name: str) -> NoReturn:
        raise TypeError(f"{name}: only BetaGaussian(inf, mu, sigma2) is the prediction of a score, not Uniform")


class BetaLaplace(LineDistribution):
    """A peak on the line that ends for alpha > 1: Laplace, triangular, uniform and what lies between.

    p(t) is the formula of `BetaGaussian` for the score f(t) = -|t - mu| / b: heavy tails (alpha < 1), Laplace (1),
    triangular (2), uniform on mu +- 1/2 (inf).

    Parameters
    ----------
    alpha : float
        Above 1/2; inf is allowed.
    mu : float
        The centre: mean, median and mode.
    b : float
        The scale of the score, positive.

    Examples
    --------
    >>> from fenchel import BetaLaplace
    >>> BetaLaplace(alpha=2, b=4).support()
    (-2.0, 2.0)
    >>> BetaLaplace(alpha=1, mu=3).pdf([3])
    array([0.5])
    """

    __slots__ = ()
    _parameters = ("alpha", "mu", "b")

    alpha = Parameter("The order of the regularizer.")
    mu = Parameter("The centre.")
    b = Parameter("The scale of the score.")

    def __init__(self, alpha: float = 2.0, mu: float = 0.0, b: float = 1.0) -> None:
        self._core = _core.BetaLaplace(*reals(alpha=alpha, mu=mu, b=b))

    @classmethod
    def laplace(cls, mu: float = 0.0, b: float = 1.0) -> Self:
        """The Laplace distribution, alpha = 1."""
        return cls(1, mu, b)

    @classmethod
    def from_variance(cls, alpha: float, mu: float, variance: float) -> Self:
        """The member with this variance; it exists for finite alpha > 2/3."""
        return cls._of(_core.BetaLaplace.from_variance(*reals(alpha=alpha, mu=mu, variance=variance)))

    @classmethod
    def from_mean_deviation(cls, alpha: float, mu: float, deviation: float) -> Self:
        """The member with this E|X - mu|; it exists for finite alpha."""
        return cls._of(_core.BetaLaplace.from_mean_deviation(*reals(alpha=alpha, mu=mu, deviation=deviation)))

    @classmethod
    def from_half_width(cls, alpha: float, mu: float, half_width: float) -> Self:
        """The member with support mu +- half_width; it exists for finite alpha > 1."""
        return cls._of(_core.BetaLaplace.from_half_width(*reals(alpha=alpha, mu=mu, half_width=half_width)))

    def escort(self, order: float) -> BetaLaplace:
        """The density proportional to pdf(x)^order on the support: a member of the family."""
        return BetaLaplace._of(self._core.escort(*reals(order=order)))


class Triangular(LineDistribution):
    """The triangular density on mu +- sqrt(b): the prediction of sparsemax (alpha = 2) for the score -|t - mu| / b.

    Parameters
    ----------
    mu : float
        The centre: mean, median and mode.
    b : float
        The scale of the score, positive: the square of half the length of the support.

    Examples
    --------
    >>> from fenchel import Triangular
    >>> p = Triangular(mu=1, b=4)
    >>> p.support()
    (-1.0, 3.0)
    >>> p.pdf([1, 2, 3])
    array([0.5 , 0.25, 0.  ])
    """

    __slots__ = ()
    _parameters = ("mu", "b")
    _tsallis = 2.0

    mu = Parameter("The centre.")
    b = Parameter("The scale of the score.")

    def __init__(self, mu: float = 0.0, b: float = 1.0) -> None:
        self._core = _core.BetaLaplace(2, *reals(mu=mu, b=b))

    def _core_loss(self, name: str, target: Any) -> tuple[float, dict[str, float]]:
        value, gradient = super()._core_loss(name, target)
        del gradient["alpha"]  # it is 2 here
        return value, gradient

    def expectation_gradient(self, func: Function) -> dict[str, float]:
        """The derivative of `expect`(func) in mu and b, by name."""
        gradient = super().expectation_gradient(func)
        del gradient["alpha"]
        return gradient

    @classmethod
    def from_variance(cls, mu: float, variance: float) -> Self:
        """The member with this variance."""
        return cls._of(_core.BetaLaplace.from_variance(2, *reals(mu=mu, variance=variance)))

    @classmethod
    def from_half_width(cls, mu: float, half_width: float) -> Self:
        """The member with support mu +- half_width."""
        return cls._of(_core.BetaLaplace.from_half_width(2, *reals(mu=mu, half_width=half_width)))

    def escort(self, order: float) -> BetaLaplace:
        """The density proportional to pdf(x)^order on the support: a `BetaLaplace`."""
        return BetaLaplace._of(self._core.escort(*reals(order=order)))


class TruncatedGaussian(LineDistribution):
    """A Gaussian density less a constant: the prediction of sparsemax (alpha = 2) for the score kappa N(t; mu, sigma2).

    As kappa grows it becomes a truncated parabola.

    Parameters
    ----------
    kappa : float
        The factor of the Gaussian, above 1.
    mu : float
        The centre: mean, median and mode.
    sigma2 : float
        The variance of the Gaussian in the score, not of the distribution; positive.

    Examples
    --------
    >>> from fenchel import TruncatedGaussian
    >>> [round(end, 4) for end in TruncatedGaussian().support()]
    [-1.5382, 1.5382]
    """

    __slots__ = ()
    _parameters = ("kappa", "mu", "sigma2")
    _tsallis = 2.0

    kappa = Parameter("The factor of the Gaussian.")
    mu = Parameter("The centre.")
    sigma2 = Parameter("The variance of the Gaussian in the score.")

    def __init__(self, kappa: float = 2.0, mu: float = 0.0, sigma2: float = 1.0) -> None:
        self._core = _core.TruncatedGaussian(*reals(kappa=kappa, mu=mu, sigma2=sigma2))
