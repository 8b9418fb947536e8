"""Laws of distributions in space, of attention and of estimation."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import fenchel
import numpy as np
from arrays import Array
from laws import Function, finite, must, must_agree, not_nan
from number_laws import falls_like_a_power


def is_resolved(p: Any) -> bool:
    """Whether doubles next to the mean resolve p."""
    return bool(np.sqrt(np.diag(p.cov())).min() > 1e-9 * abs(p.mean()).max())


def moved_draws(p: Any, seed: int) -> None:
    """A draw moves with the parameters by finite numbers, unless doubles that do not resolve p put it outside of the support."""
    x = p.rvs(random_state=seed)
    if is_resolved(p) or p.logpdf(x) > -math.inf:
        finite(p.sample_gradient(x, [1, 2]))


def space(p: Any, seed: int) -> None:
    """Draws lie in the support, where the density is positive; contours have their mass."""
    x = finite(p.rvs(200, random_state=seed))
    pdf = finite(p.pdf(x))
    must_agree("logpdf", np.exp(p.logpdf(x)), pdf, relative=1e-10)
    must_agree("the mean", p.mean(), p.mode(), relative=1e-12, absolute=1e-12)
    finite([p.cov(), p.entropy()]), not_nan(p.tsallis_entropy(2))
    if is_resolved(p):
        must("positive on draws", pdf > 0, pdf)
        must("in the support", p.support().contains(x))
        cover = p.contour(0.5).contains(x).mean()
        must("half of the mass", abs(cover - 0.5) < 5 / math.sqrt(len(x)), cover)
    must("radial_cdf does not fall", np.diff(p.radial_cdf(np.linspace(0, 9, 30))) >= -1e-12)


def adjoint(forward: Any, backward: Any, direction: Any, cotangent: Any) -> None:
    """cotangent . J direction = (J^T cotangent) . direction, of arrays by name, unless a gradient is beyond the largest
    number, as of a narrow density and a huge cotangent (reliability.md)."""
    finite(forward)
    with np.errstate(over="ignore"):
        left = np.asarray(cotangent) * forward
        if not np.isfinite(left * 1e6).all():  # a derivative in one direction may be larger than that along all
            return
    finite(backward)
    right = np.concatenate([np.ravel(np.asarray(backward[name]) * direction[name]) for name in direction])
    must_agree("adjoint", left.sum(), right.sum(), absolute=1e-9 * (abs(left).sum() + abs(right).sum()))


def statistics(kind: Function, x: Array) -> None:
    """Parts that are merged are the whole; bytes, copies and pickles are the same."""
    whole, half = kind().update(x), kind().update(x[:7])
    half.merge(kind().update(x[7:]))
    must_agree("weight", finite(half.weight), whole.weight, relative=1e-14)
    rounding = 1e-12 * abs(x).max()
    for name in ("mean", "variance", "mean_square"):
        if hasattr(whole, name):
            must_agree(name, finite(getattr(half, name)), getattr(whole, name), relative=1e-12, absolute=rounding)
    copies = [type(whole).from_bytes(whole.to_bytes()), whole.copy(), pickle.loads(pickle.dumps(whole))]
    must("copies are equal", [copied == whole for copied in copies])


def fitted(found: Any, sample: Array, *, matches_mean: bool = False) -> None:
    """Estimates are finite, and the mean is that of the data where the family matches it."""
    must("a Fit", isinstance(found, fenchel.Fit))
    finite([found.parameters, found.weight]), not_nan(found.loss)
    if matches_mean:
        mean, rounding = found.distribution.mean(), 1e-9 * abs(sample).max()
        must_agree("the mean", mean, sample.mean(0), relative=1e-9, absolute=rounding)


def modelled(found: Any) -> None:
    """A fit is JSON and back without loss."""
    model = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    back = fenchel.Fit.from_dict(model)
    must("the same distribution", back.distribution == found.distribution)
    must("the same model", json.loads(json.dumps(back.to_dict())) == model)


def pictured(found: Any, sample: Array) -> None:
    """Three Axes, whose points are numbers."""
    from matplotlib import pyplot

    axes = found.plot(sample)
    for one in axes:
        finite(np.concatenate([line.get_ydata() for line in one.lines if line.get_label() != "density"]))
    must("three", len(axes) == 3)
    pyplot.close(axes[0].figure)


def kernels(p: Any, seed: int) -> None:
    """Draws lie where the density is positive; on the line the distribution function rises from 0 to 1."""
    x = finite(p.rvs(100, random_state=seed))
    pdf, log_pdf = not_nan(p.pdf(x)), not_nan(p.logpdf(x))
    must("not negative", pdf >= 0, pdf)
    must_agree("logpdf", np.exp(log_pdf), pdf, relative=1e-10, absolute=1e-300)
    ends = np.asarray(p.support())
    must("the support holds the draws", (ends[..., 0] <= x.min(0)) & (x.max(0) <= ends[..., 1]))
    if ends.ndim == 1:
        levels = finite(p.cdf(np.sort(x)))
        must("a distribution function", (levels >= 0) & (levels <= 1))
        must("which does not fall", np.diff(levels) >= -1e-12)
    not_nan(p.likelihood_score()), finite(p.least_squares_score())


def local(m: Any, x: Array, y: Array) -> None:
    """Means of targets are among them, where a row is in reach."""
    found = m.predict(x)
    must("in the range of the targets", (found >= y.min() - 1e-9 * abs(y).max()) & (found <= y.max() + 1e-9 * abs(y).max()))
    finite(m.least_squares_score())


def judged(fit: Any, sample: Array) -> None:
    """Scores and distances are in their ranges, a row outside makes the likelihood -inf, intervals hold estimates."""
    found: fenchel.Goodness = fit.goodness(sample)
    finite([found.log_likelihood_inside, found.crps])
    must("a share of the rows", 0 <= found.outside <= found.weight, found.outside)
    must("-inf with rows outside", (found.log_likelihood == -math.inf) == (found.outside > 0), found.log_likelihood)
    must("a distance of functions up to 1", 0 <= found.kolmogorov_smirnov <= 1, found.kolmogorov_smirnov)
    must("not negative", found.anderson_darling >= 0 and found.crps >= -1e-12 * abs(sample).max(), found)
    low, high = fit.confidence_interval(0.9)
    known = np.isfinite(fit.standard_errors)
    must("the estimate is between", (low <= fit.parameters)[known] & (fit.parameters <= high)[known])


def compared(found: fenchel.Comparison) -> None:
    """The best first."""
    scores = [score.crps for score in found.scores if not score.failure]
    must("sorted", finite(scores) == sorted(scores), scores)
    must("the winner is first", found.winner == found.scores[0].name and found.scores[0].crps_difference == 0)


def metric(m: Any, sigma: float) -> None:
    """The tensor is not negative and the curvature not positive; NaN unless sigma is positive."""
    finite(m.constant)
    tensor, curvature = m.tensor(sigma), m.curvature(sigma)
    if sigma > 0:
        must("not negative", tensor >= 0, tensor)
        must("not positive", curvature <= 0, curvature)
    else:
        must("NaN", np.isnan([*tensor, curvature]), [*tensor, curvature])


def distances(distance: Function, p: Any, q: Any) -> None:
    """Zero to itself, the same both ways, not negative."""
    there = finite(distance(p, q))
    must("not negative", there >= 0, there)
    must_agree("the same both ways", there, distance(q, p), relative=1e-9, absolute=1e-12)
    must_agree("zero to itself", distance(p, p), 0.0, absolute=1e-7 * (1 + there))


def transports(p: Any, q: Any, levels: Array) -> None:
    """The optimal map takes quantiles to quantiles."""
    slope, shift = fenchel.optimal_map(p, q)
    x = p.ppf(levels)
    moved, size = slope * x + shift, abs(slope * x) + abs(shift)
    must_agree("quantiles", finite(moved), q.ppf(levels), relative=1e-9, absolute=1e-9 * q.std() + 1e-12 * size)


def mixture_in_space(p: Any, seed: int) -> None:
    x = finite(p.rvs(100, random_state=seed))
    pdf = finite(p.pdf(x))
    must("positive on draws", pdf > 0, pdf)
    must_agree("logpdf", np.exp(p.logpdf(x)), pdf, relative=1e-10)
    finite([p.mean(), p.cov()])


def plane(p: Any, seed: int) -> None:
    """A prediction in the plane: mass one, zero loss at itself, draws where the density is positive."""
    x = finite(p.rvs(50, random_state=seed))
    pdf = finite(p.pdf(x))
    must("positive on draws", pdf > 0, pdf)
    must_agree("logpdf", np.exp(p.logpdf(x)), pdf, relative=1e-10)
    must_agree("mass one", p.expect(lambda y: np.ones(len(y))), 1.0, absolute=1e-6)
    support = p.support()
    must("in the support", isinstance(support, fenchel.LevelSupport) and support.contains(x))
    finite([p.mean(), p.cov(), p.var(), p.entropy(), p.tsallis_entropy(), p.mode(), p.cross_omega(x)])
    must("modes and contours", len(p.modes()) > 0 and len(p.contour(0.5)) > 0)
    finite(support.contours())
    must("zero at the prediction", 0 <= p.fenchel_young(p) <= 1e-6, p.fenchel_young(p))


def attended(p: Any, basis: Any) -> None:
    """The mean of a positive function is positive, and at most its peak."""
    r = finite(fenchel.attend(p, basis))
    peak = basis(basis.mu).max(0)
    must("between 0 and the peak", (r >= 0) & (r <= peak * (1 + 1e-10)), r, peak)


def attended_by(p: Any, basis: Any) -> None:
    """Means are finite, but those of powers of t whose moments do not exist, and of waves that do not end."""
    powers = {fenchel.PolynomialBasis: 4, fenchel.ConcatenatedBasis: 2}.get(type(basis), 0)
    try:
        r = fenchel.attend(p, basis)
    except fenchel.ConvergenceError:
        if isinstance(basis, (fenchel.FourierBasis, fenchel.ConcatenatedBasis)) and falls_like_a_power(p):
            return  # tails like a power, with waves
        raise
    exists = np.isfinite([p.moment(n) if n < powers else 1.0 for n in range(len(r))])
    must("finite", np.isfinite(r) | ~exists, r)


def ridge(regression: Any, values: Array, cotangent: Array) -> None:
    """Coefficients are linear in the values, and vjp is the transpose."""
    coefficients = finite(regression.fit(values).coefficients)
    gradient = regression.vjp(values, cotangent)
    adjoint(coefficients, gradient, {"values": values}, cotangent)


def composed(regression: Any, values: Array, scores: Array, alpha: float, weights_alpha: float) -> None:
    """Both contexts are the sum of one and the other; derivatives are finite."""
    orders: Any = {"alpha": alpha, "weights_alpha": weights_alpha}
    one, other, both = (
        finite(fenchel.compose(scores, values, regression, kind, **orders)) for kind in ("discrete", "continuous", "both")
    )
    must_agree("the sum of both", both, one + other, absolute=1e-12 * (abs(one) + abs(other)).max())
    finite(fenchel.compose_vjp(scores, values, regression, np.ones(len(values)), **orders))


def key_values(queries: Array, keys: Array, values: Array, alpha: float, temperature: float) -> None:
    """Probabilities of mass one, and contexts between the least and the largest value."""
    options = {"alpha": alpha, "temperature": temperature}
    contexts, p = fenchel.key_value_attention(queries, keys, values, return_probabilities=True, **options)
    must_agree("mass one", finite(p).sum(-1), np.ones(len(queries)), absolute=1e-14)
    must("between the values", (contexts <= values.max(0) + 1e-12) & (contexts >= values.min(0) - 1e-12))
    finite(fenchel.key_value_attention_vjp(queries, keys, values, np.ones_like(contexts), **options))


def mixture_fit(found: Any) -> None:
    """Weights that add up to one, components that are finite."""
    must_agree("mass one", sum(found.mixture.weights), 1.0, absolute=1e-12)
    finite([[p.mu, p.sigma2] for p in found.mixture.components])
    finite(found.log_likelihood)
