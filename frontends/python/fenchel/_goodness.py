"""How good a fit is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ._arrays import FloatArray


@dataclass(frozen=True)
class Goodness:
    """How good a fit is: what `Fit.goodness` gives. A row of weight w counts as w rows.

    Examples
    --------
    >>> import fenchel
    >>> x = fenchel.BetaGaussian(1.5, mu=5, sigma2=2).rvs(398, random_state=3)
    >>> found = fenchel.fit(fenchel.BetaGaussian, x, alpha=2).goodness()
    >>> found.outside, found.log_likelihood, round(found.log_likelihood_inside, 2), round(found.crps, 4)
    (1.0, -inf, -500.73, 0.5167)
    """

    weight: float
    """Of all rows."""
    outside: float
    """Of the rows outside of the support."""
    log_likelihood: float
    """-inf where a row is outside."""
    log_likelihood_inside: float
    """Of the rows inside."""
    aic: float
    """2 k - 2 `log_likelihood`, for k parameters that were estimated."""
    bic: float
    """k log(`weight`) - 2 `log_likelihood`."""
    loss: float
    """The mean cross-Omega loss of the fit, which cannot be compared across alphas."""
    crps: float
    """The mean continuous ranked probability score E|X - y| - E|X - X'| / 2, which can; NaN in R^N."""
    kolmogorov_smirnov: float
    """The largest difference of the distribution functions of the data and of the fit; NaN in R^N."""
    anderson_darling: float
    """n times the mean of their squared difference over F (1 - F); inf where a row is outside, NaN in R^N."""
    warnings: tuple[str, ...]
    """What makes the fit doubtful, in words."""
    p_values: dict[str, float] | None = None
    """Of both distances by name, where draws of the fit were fitted again."""
    failed: int = 0
    """How many of these draws no member of the family fits."""


class ConfidenceInterval(NamedTuple):
    """The ends of an interval for each parameter, in the order of `Fit.names`.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.fit(fenchel.BetaGaussian, [1.0, 2.0, 3.0, 4.0], alpha=1).confidence_interval().low.round(3)
    array([ 1.404, -0.482])
    """

    low: FloatArray
    high: FloatArray
