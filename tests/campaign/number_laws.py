"""Laws of distributions of numbers, and of their losses."""

from __future__ import annotations

import math
from typing import Any

import fenchel
import numpy as np
from arrays import Array
from laws import EPSILON, Function, finite, must, must_agree, not_nan

FIRST, LAST = -(2**63), 2**63 - 1
"""Of the integers of 64 bits."""


def inside(p: Any, x: Any) -> Any:
    """Whether these are points of the closed support."""
    lower, upper = p.support()
    return (x >= lower) & (x <= upper)


def around(p: Any, levels: Array) -> Array:
    """Points of the support, its ends, their neighbours, and points far outside."""
    lower, upper = p.support()
    ends = [e for end in (lower, upper) for e in (math.nextafter(end, -math.inf), end, math.nextafter(end, math.inf))]
    far = [-1e308, -1.0, 0.0, 1.0, 1e308, -math.inf, math.inf]
    return np.sort(np.concatenate([p.ppf(levels), ends, far]))


def spacing_mass(p: Any, x: Any) -> Any:
    """What the distribution function moves by within some roundings of x."""
    if not hasattr(p, "pdf"):
        return 0.0
    lower, upper = p.support()
    with np.errstate(all="ignore"):
        wide = 8 * (np.spacing(abs(x)) + EPSILON * (abs(p.median()) + (upper - lower if upper - lower < math.inf else 0)))
        by_density = wide * np.fmax(p.pdf(x), np.fmax(p.pdf(x - wide), p.pdf(x + wide)))
        return np.fmin(1.0, np.fmax(by_density, p.cdf(x + wide) - p.cdf(x - wide)))


def tails(p: Any, levels: Array) -> None:
    """Both are probabilities that add up to one, monotone, and 0 and 1 outside of the support."""
    x = around(p, levels)
    below, above = p.cdf(x), p.sf(x)
    lower, upper = p.support()
    must("a probability", (below >= 0) & (below <= 1), below)
    must("a probability", (above >= 0) & (above <= 1), above)
    must_agree("cdf + sf = 1", below + above, np.ones(x.shape), absolute=1e-12)
    must("cdf does not fall", np.diff(below) >= -1e-13, x[1:])
    rounding = spacing_mass(p, upper) if math.isfinite(upper) else 0.0
    must_agree("cdf at the upper end", p.cdf(upper), 1.0, absolute=1e-13 + rounding)
    must("0 below the support", below[x < lower] == 0)
    must("0 above the support", above[x > upper] == 0)
    with np.errstate(divide="ignore"):
        for log, tail in ((p.logcdf(x), below), (p.logsf(x), above)):
            seen = tail > 1e-300
            must_agree("the logarithm of a tail", log[seen], np.log(tail[seen]), absolute=1e-9, relative=1e-9)
            not_nan(log)


def quantiles(p: Any, q: Array) -> None:
    """They lie in the support, do not fall, and cdf(ppf(q)) = q; NaN outside of [0, 1]."""
    for inverse, forward in ((p.ppf, p.cdf), (p.isf, p.sf)):
        x = not_nan(inverse(q))
        must("in the support", inside(p, x), q, x)
        bound = 1e-12 + spacing_mass(p, x)
        if hasattr(p, "pdf"):
            must_agree("cdf(ppf(q)) = q", forward(x), q, absolute=bound)
        elif forward == p.cdf:
            must("cdf(ppf(q)) >= q", forward(x) >= q - bound, q, x)
            before = np.where(x == math.inf, 2.0**63 - 1024, x - 1)  # inf is what no integer of 64 bits is
            must("ppf(q) is the least", (forward(before) <= q + bound) | (x == p.support()[0]), q, x)
    x = p.ppf(np.sort(q))
    must("ppf does not fall", x[1:] >= x[:-1] - 8 * EPSILON * np.fmin(abs(x[1:]), 1e300), x[1:], x[:-1])
    must("NaN outside of [0, 1]", np.isnan(p.ppf([-0.1, 1.1, math.nan])))
    low, high = p.interval(float(q[0]))
    must("an interval", low <= high + 1e-12 * p.std(), low, high)
    must_agree("the median", p.median(), p.ppf(0.5), relative=1e-12, absolute=1e-12 * abs(high - low))


def density(p: Any, levels: Array) -> None:
    """Not negative, and 0 outside of the support, as its logarithm says too."""
    x = around(p, levels)
    pdf, log_pdf = finite(p.pdf(x)), not_nan(p.logpdf(x))
    must("not negative", pdf >= 0, x, pdf)
    outside = ~inside(p, x)
    must("0 outside of the support", pdf[outside] == 0, x[outside], pdf[outside])
    with np.errstate(divide="ignore"):
        must_agree("logpdf", np.exp(log_pdf), pdf, relative=1e-11, absolute=1e-300)


def probabilities(p: Any, levels: Array) -> None:
    """On the integers: probabilities that add up to the distribution function, and none between."""
    k = np.unique(np.clip(np.round(p.ppf(levels)), -1e15, 1e15))
    pmf = finite(p.pmf(k))
    must("a probability", (pmf >= 0) & (pmf <= 1), k, pmf)
    must_agree("pmf = cdf(k) - cdf(k - 1)", pmf, p.cdf(k) - p.cdf(k - 1), absolute=1e-12)
    with np.errstate(divide="ignore"):
        must_agree("logpmf", np.exp(p.logpmf(k)), pmf, relative=1e-11, absolute=1e-300)
    must("0 between", p.pmf(k + 0.5) == 0)


def draws(p: Any, seed: int, count: int = 1000) -> None:
    """In the support, the same for the same seed, and of the distribution function (Kolmogorov; one in e^50 errs).

    A draw that no integer of 64 bits is, as of tails like a power, is the first or the last of them (reliability.md)."""
    x = not_nan(p.rvs(count, random_state=seed))
    must("in the support", inside(p, x), x)
    must_agree("the same for the same seed", p.rvs((2, count // 2), random_state=seed).reshape(-1), x)
    x, rank = np.sort(x), np.arange(count) / count
    before = x if hasattr(p, "pdf") else np.where(x == LAST, 2.0**63 - 1024, np.where(x == FIRST, -math.inf, x - 1.0))
    distance = np.maximum(rank + 1 / count - p.cdf(x), p.cdf(before) - rank) - spacing_mass(p, x)
    must("of the distribution function", distance * math.sqrt(count) <= 5, x, distance)


def moments(p: Any) -> None:
    """They fit together, and lie in the support."""
    lower, upper = p.support()
    mean, variance = not_nan(p.mean()), not_nan(p.var())
    wide = EPSILON * 64 * max(abs(mean), abs(upper - lower))
    if math.isfinite(mean):
        must("the mean lies in the support", lower - wide <= mean <= upper + wide, mean)
    must("the median lies in the support", inside(p, p.median()), p.median())
    must("the mode lies in the support", inside(p, p.mode()), p.mode())
    must("not negative", variance >= 0, variance)
    # A variance below the smallest normal number has lost digits that its root has.
    must_agree("std^2 = var", p.std(), math.sqrt(variance), relative=1e-15, absolute=2.0**-511)
    must_agree("moment(0)", p.moment(0), 1.0, relative=1e-12)
    must_agree("moment(1)", p.moment(1), mean, relative=1e-12, absolute=1e-12 * p.std())
    must_agree("central_moment(2)", p.central_moment(2), variance, relative=1e-10)
    if 1e-100 < variance < 1e100 and math.isfinite(p.central_moment(4)):
        skewness, kurtosis = not_nan(p.skewness()), not_nan(p.kurtosis())
        must("kurtosis >= skewness^2 + 1", kurtosis >= skewness**2 + 1 - 1e-9, skewness, kurtosis)


def a_moment(p: Any, method: str, order: int) -> None:
    """A number or inf. One of an odd order that does not exist, of two tails like a power, has no sign: it is NaN."""
    found = getattr(p, method)(order)
    without_sign = order % 2 == 1 and p.central_moment(order + 1) == math.inf and falls_like_a_power(p)
    must("not NaN", without_sign or not math.isnan(found), found)


def entropies(p: Any, order: float) -> None:
    """Shannon's is finite; that of another order may be beyond doubles."""
    finite(p.entropy()), not_nan(p.tsallis_entropy(order))
    must_agree("Shannon's is that of order 1", p.tsallis_entropy(1), p.entropy(), relative=1e-12, absolute=1e-12)


def expectations(p: Any, function: Function) -> None:
    """The mass is one, and a mean lies between the extremes of the function."""
    rounding = 1e-9 + spacing_mass(p, p.median())
    must_agree("mass one", p.expect(lambda t: 1.0), 1.0, absolute=rounding)
    mean = mean_of(p, function, lambda p: p.expect(lambda t: min(max(function(t), -1.0), 2.0)))
    must("between the extremes", -1 - rounding <= mean <= 2 + 2 * rounding, mean)


def canonical(alpha: float, linear: float, quadratic: float) -> None:
    """A member has the parameters that it was made from, unless its location is less than the smallest number."""
    found = fenchel.BetaGaussian.from_canonical(alpha, [linear, quadratic]).canonical_parameters()
    smallest = 5e-324 * (1 + 2 * abs(quadratic))
    must_agree("the same", finite(found), [linear, quadratic], relative=1e-12, absolute=np.array([smallest, 0.0]))


def mean_deviation(p: Any, expected: float) -> None:
    """E|X - mu| by quadrature, up to the mass between neighbouring doubles (reliability.md)."""
    found = finite(p.expect(lambda t: abs(t - p.mu)))
    must_agree("the mean deviation", found, expected, relative=1e-8 + float(spacing_mass(p, p.median())))


def mean_of(p: Any, function: Function, mean: Function) -> Any:
    """What mean(p) finds of a function is finite. Waves in tails like a power may be too many for it (reliability.md)."""
    try:
        return finite(mean(p))
    except fenchel.ConvergenceError:
        if not (function is math.cos and falls_like_a_power(p)):
            raise
        return 0.0


def falls_like_a_power(p: Any) -> bool:
    """Whether a distribution has such a tail: far out its logarithm hardly falls."""
    if not hasattr(p, "logpdf"):
        return bool(p.alpha < 1)
    low, high = p.ppf([0.25, 0.75])
    return bool(p.logpdf(high + 1e6 * (high - low)) > -1e4)


def beta_covariances(p: Any, order: float, phi: Function, psi: Function) -> None:
    """Finite, unless the power of the density is beyond the largest number. Under a tail like a power the integral may not
    exist, and waves may be too many for it (reliability.md)."""
    try:
        found = not_nan(fenchel.beta_covariance(p, order, phi, psi))
    except (ValueError, fenchel.ConvergenceError) as error:
        waves = isinstance(error, fenchel.ConvergenceError) and math.cos in (phi, psi)
        diverges = "the integral with p^beta must be finite" in str(error)
        if not ((waves or diverges) and falls_like_a_power(p)):
            raise
        return
    if (order - 1) * p.logpdf(p.mode()) < 600:
        finite(found)


def zero_loss(p: Any, rounding: float = 0.0) -> None:
    """Zero at the prediction: exactly, or relative to the entropy."""
    loss, gradient = p.fenchel_young(p, return_gradient=True)
    size = 1 + abs(finite(p.cross_omega(p)))
    must("zero at the prediction", 0 <= loss <= rounding * size, loss)
    finite(gradient)


def losses(p: Any, q: Any) -> None:
    """Not negative against another prediction, and finite against points."""
    must("not negative", not_nan(p.fenchel_young(q)) >= 0, p.fenchel_young(q))
    value, gradient = p.cross_omega(q, return_gradient=True)
    not_nan(value)
    for part in gradient.values():
        not_nan(part)


def moment_gap(p: Any, sample: Array, slope: Function) -> tuple[float, float, float]:
    """E_p - E_sample of a function, and the bounds of its error: doubles may not resolve p (docs/reliability.md)."""
    data = np.array([slope(t) for t in sample.tolist()])
    size = p.expect(lambda t: abs(slope(t))) + abs(data).mean()
    return p.expect(slope) - data.mean(), 0.0, (1e-8 + float(spacing_mass(p, p.median()))) * size


def moment_difference(p: Any, sample: Array, **slopes: Function) -> None:
    """The gradient in a parameter is E_p - E_sample of the derivative of the score in it."""
    _, gradient = p.cross_omega(sample, return_gradient=True)
    for name, slope in slopes.items():
        must_agree(f"gradient in {name}", gradient[name], *moment_gap(p, sample, slope))


def gaussian(t: float, mu: float, sigma2: float) -> float:
    """The density of the Gaussian."""
    return math.exp(-(t - mu) / sigma2 * (t - mu) / 2) / math.sqrt(2 * math.pi) / math.sqrt(sigma2)


def linear_moment_difference(f: Any, alpha: float, sample: Array) -> None:
    """The gradient in theta of a linear score is E_p[phi] - E_sample[phi]."""
    p: Any = fenchel.predict(fenchel.Tsallis(alpha), f)
    _, gradient = p.cross_omega(sample, return_gradient=True)
    for by_theta, phi in zip(gradient["theta"], f.phi):
        must_agree("gradient in theta", by_theta, *moment_gap(p, sample, phi))
