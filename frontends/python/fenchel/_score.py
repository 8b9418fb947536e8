"""Scores with parameters, and what is known of a prediction's score without a target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import FloatArray, reals, shown, vector
from ._value import Value

Function = Callable[[float], float]
ThetaFunction = Callable[[float, FloatArray], float]


def function_list(name: str, functions: Any) -> list[Any]:
    """One function or several, as a list."""
    several = [functions] if callable(functions) else functions
    try:
        found = list(several)
    except TypeError:
        raise TypeError(f"{name} must be a function or a sequence of them, got {shown(functions)}") from None
    for f in found:
        if not callable(f):
            raise TypeError(f"{name} must be callable, got {shown(f)}")
    return found


class DifferentiableScore(Value):
    """A score with parameters theta."""

    __slots__ = ()

    def __call__(self, t: float) -> float:
        raise NotImplementedError


class LinearScore(DifferentiableScore):
    """The score sum_i theta[i] phi[i](t): a linear family with any functions phi, for `predict`.

    Losses of such a prediction have a derivative in theta, and a Hessian: see `NumericDensity.fenchel_young_hessian`.
    `fit_linear_score` finds theta from data.

    Parameters
    ----------
    theta : array_like, shape (M,)
        Finite.
    phi : sequence of M callables
        Each float -> float.

    Examples
    --------
    >>> from fenchel import LinearScore, Tsallis, predict
    >>> f = LinearScore([3.0, -1.0], [lambda t: t**2, lambda t: t**4])
    >>> f(2.0)
    -4.0
    >>> p = predict(Tsallis(2), f)
    >>> loss, gradient = p.cross_omega([-1.2, 1.2], return_gradient=True)
    >>> gradient["theta"].round(4)
    array([-0.0075,  0.1665])
    """

    __slots__ = ()
    _parameters = ("theta", "phi")

    def __init__(self, theta: npt.ArrayLike, phi: Sequence[Function]) -> None:
        self._core = _core.LinearScore(vector("theta", theta).tolist(), function_list("phi", phi))

    @property
    def theta(self) -> FloatArray:
        """The factors."""
        theta: FloatArray = self._core.theta()
        return theta

    @property
    def phi(self) -> tuple[Function, ...]:
        """The functions."""
        return tuple(self._core.phi)

    def __call__(self, t: float) -> float:
        return float(self._core.value(*reals(t=t)))


class ParametricScore(DifferentiableScore):
    """The score f(t, theta) of parameters that need not enter linearly, with its gradient, for `predict`.

    Losses of such a prediction, and `attend_jacobian`, have a derivative in theta. The gradient is taken on trust.

    Parameters
    ----------
    theta : array_like, shape (M,)
        Finite.
    f : callable
        float and array -> float.
    gradient : sequence of M callables
        The derivatives of f in each theta: each float and array -> float.

    Examples
    --------
    >>> import math
    >>> from fenchel import ParametricScore, Tsallis, predict
    >>> f = ParametricScore(
    ...     [0.5], lambda t, theta: -math.cosh(t - theta[0]), [lambda t, theta: math.sinh(t - theta[0])]
    ... )
    >>> p = predict(Tsallis(2), f)
    >>> loss, gradient = p.cross_omega([0.7], return_gradient=True)
    >>> gradient["theta"].round(4)
    array([-0.2013])
    """

    __slots__ = ("_f", "_gradient", "_theta")
    _parameters = ("theta", "f", "gradient")

    def __init__(self, theta: npt.ArrayLike, f: ThetaFunction, gradient: Sequence[ThetaFunction]) -> None:
        if not callable(f):
            raise TypeError(f"f must be callable, got {shown(f)}")
        at = vector("theta", theta).copy()
        at.flags.writeable = False
        self._theta, self._f, self._gradient = at, f, tuple(function_list("gradient", gradient))
        self._core = _core.ParametricScore(at.tolist(), _at(f, at), [_at(slope, at) for slope in self._gradient])

    @property
    def theta(self) -> FloatArray:
        """The parameters."""
        return self._theta

    @property
    def f(self) -> ThetaFunction:
        """The score as a function of t and theta."""
        return self._f

    @property
    def gradient(self) -> tuple[ThetaFunction, ...]:
        """Its derivatives."""
        return self._gradient

    def __call__(self, t: float) -> float:
        return float(self._f(reals(t=t)[0], self._theta))


def _at(f: ThetaFunction, theta: FloatArray) -> Function:
    return lambda t: f(t, theta)


class Prediction:
    """What is known of the score f of a prediction without a target.

    Derivatives are in the canonical parameters theta of the score, at a fixed regularizer: (mu / sigma2,
    -1 / (2 sigma2)) of a quadratic score, and on R^N (Sigma^-1 mu, -Sigma^-1 / 2); -1 / b at fixed mu of an absolute
    one; log(mu) of `SparsePoisson`; theta of a `LinearScore`. Those of A are in the parameters themselves where the
    family is not of Tsallis with such a score: the gradient is then a dict, and the Hessian has its order. A family
    that has no such function raises a TypeError.
    """

    __slots__ = ()
    if TYPE_CHECKING:
        _core: Any

    def _of_score(self, name: str) -> Any:
        function = getattr(self._core, name, None)
        if function is None:
            raise TypeError(f"{name}: there is none for {type(self).__name__}")
        return function()

    def conjugate(self) -> float:
        """Omega*(f) = max_p E_p[f] - Omega(p), which this distribution attains.

        >>> from fenchel import BetaGaussian
        >>> p = BetaGaussian(2)
        >>> round(p.conjugate() - p.expect(lambda t: -(t**2) / 2) - p.tsallis_entropy(), 12)
        0.0
        """
        return float(self._of_score("conjugate"))

    def normalizer(self) -> float:
        """A of p = exp_{2-alpha}(f - A): log of the integral of exp(f) for alpha = 1.

        >>> from fenchel import BetaGaussian
        >>> round(BetaGaussian(1).normalizer(), 6)  # log(2 pi) / 2
        0.918939
        """
        return float(self._of_score("normalizer"))

    def normalizer_gradient(self) -> Any:
        """The derivative of A in theta: the mean of what theta multiplies under the escort of order 2 - alpha.

        For quadratic scores A is that of theta . phi(t) alone, without the constant -mu^2 / (2 sigma2).

        >>> from fenchel import BetaGaussian
        >>> p = BetaGaussian(1.5, mu=1)
        >>> bool(abs(p.normalizer_gradient()[0] - p.escort(0.5).mean()) < 1e-14)
        True
        """
        return _arrays(self._of_score("normalizer_gradient"))

    def normalizer_hessian(self) -> Any:
        """The second derivative of A in theta."""
        return _arrays(self._of_score("normalizer_hessian"))

    def fenchel_young_hessian(self) -> Any:
        """The second derivative of both losses in theta, which is the same for every target.

        It is the generalized covariance of order 2 - alpha of the functions that theta multiplies: see
        `beta_covariance`. A number where theta is one, else a matrix; on R^N of N + N^2 rows, vec(Theta) last.

        >>> from fenchel import BetaGaussian
        >>> BetaGaussian(1, mu=0, sigma2=2).fenchel_young_hessian()
        array([[2., 0.],
               [0., 8.]])
        """
        return _arrays(self._of_score("fenchel_young_hessian"))

    def threshold(self) -> float:
        """tau, above which the score has mass: the density is positive where f > tau."""
        return float(self._of_score("threshold"))


def _arrays(value: Any) -> Any:
    if isinstance(value, dict):
        return value
    if isinstance(value, tuple):
        return tuple(map(np.array, value))
    return float(value) if np.ndim(value) == 0 else np.array(value)
