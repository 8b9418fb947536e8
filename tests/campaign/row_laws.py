"""Laws of maps over rows, of their derivatives and of their losses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from arrays import Array, spread
from laws import EPSILON, Function, finite, must, must_agree


def row_map(f: Function, scores: Array, axes: int = 1) -> None:
    """Rows are distributions; memory does not matter, and rows do not see each other."""
    p = finite(f(scores))
    along = tuple(range(-axes, 0))
    size = math.prod(scores.shape[-axes:])
    must("not negative", p >= 0, p)
    must_agree("mass one", p.sum(along), np.ones(scores.shape[:-axes]), absolute=4e-16 * math.sqrt(size) + 2e-15)
    must("no mass where masked", p[scores == -math.inf] == 0)
    must_agree("strides do not matter", f(spread(scores)), p)
    bad = scores.copy()
    bad[0] = math.nan
    q = f(bad)
    must("a row of NaN is NaN", np.isnan(q[0]))
    must_agree("other rows are untouched", q[1:], p[1:])


def products(jvp: Function, vjp: Function, u: Array, v: Array) -> None:
    """Of a symmetric Jacobian matrix whose rows add up to zero."""
    ju, jv = finite(jvp(u)), finite(vjp(v))
    axes = tuple(range(1, u.ndim))
    largest = np.finfo(float).max
    with np.errstate(all="ignore"):
        sizes = abs(v * ju).sum(axes) + abs(u * jv).sum(axes) + abs(u).max(axes) * abs(v).sum(axes)
        whole = np.isfinite(sizes) & (abs(ju).sum(axes) < largest) & (abs(jv).max(axes) < largest)  # not saturated
        left, right = np.where(whole, (v * ju).sum(axes), 0), np.where(whole, (u * jv).sum(axes), 0)
        must_agree("u . J v = v . J u", left, right, absolute=1e-11 * sizes)
        sums = np.where(whole, ju.sum(axes), 0)
        must_agree("sums to zero", sums, np.zeros(len(u)), absolute=1e-12 * (abs(ju).sum(axes) + abs(u).max(axes)))
    must_agree("strides do not matter", jvp(spread(u)), ju)
    must_agree("strides do not matter", vjp(spread(v)), jv)


def row_loss(loss: Function, f: Function, scores: Array, target: Array, axes: int = 1) -> None:
    """Not negative, zero at the prediction, and its gradient is the difference of the moments, p - q."""
    p, along = f(scores), tuple(range(-axes, 0))
    masked = (scores == -math.inf) & (target > 0)
    values, gradient = loss(scores, target, reduction="none", return_gradient=True)
    open_rows = ~masked.any(along)
    must("not negative", values >= 0, values)
    finite(values[open_rows])
    must("infinite where a target is masked", np.isinf(values[~open_rows]))
    must_agree("gradient = p - q", gradient, p - target, absolute=1e-14)
    must_agree("zero at the prediction", loss(scores, p, reduction="none"), np.zeros(p.shape[:-axes]))
    must_agree("strides do not matter", loss(spread(scores), spread(target), reduction="none"), values)
    mean = loss(scores, target)
    if open_rows.all() and values.sum() < 1e300:
        must_agree("the mean", mean, values.mean(), relative=1e-14)


def conjugacy(conjugate: Any, negentropy: Any, scores: Array, p: Array, alpha: float) -> None:
    """Omega*(z) = z . p - Omega(p), which is computed from alpha - 1: the smaller alpha, the less is left of it."""
    with np.errstate(all="ignore"):
        terms = np.where(p > 0, p * scores, 0.0)
        size, relative = 1 + abs(conjugate) + abs(terms).sum(-1), 1e-13 + EPSILON / alpha
        must_agree("Omega* = z . p - Omega", finite(conjugate), terms.sum(-1) - negentropy, absolute=relative * size)


def thresholds(tau: Any, normalizer: Any, sizes: Any, scores: Array, p: Array, alpha: float) -> None:
    """The support is what lies above the threshold, and the normaliser says the same."""
    must_agree("the size of the support", sizes, (p > 0).sum(-1))
    finite(normalizer)
    if 1 < alpha < math.inf:
        scale = EPSILON * (abs(np.where(p > 0, scores, 0)).max(-1) + abs(finite(tau)) + 1)
        with np.errstate(invalid="ignore"):
            must("the threshold", np.where(p > 0, scores >= (tau - 8 * scale)[:, None], True), scores)
            must("the threshold", np.where((p == 0) & (alpha > 1.2), scores <= (tau + 8 * scale)[:, None], True), scores)
        must_agree("A = tau + 1/(alpha - 1)", normalizer, tau + 1 / (alpha - 1), absolute=4 * scale + 4e-15 / (alpha - 1))


def jacobian(product: Array, p: Array, v: Array, alpha: float) -> None:
    """J v = s (v - s . v / sum s), s = p^(2 - alpha), with more digits; the error is of the largest entry."""
    finite(product)
    if not 0.1 <= alpha <= 5:  # beyond it s overflows
        return
    product, p, v = (x[: 10_000 // x.shape[-1]] for x in (product, p, v))  # more digits take time
    s = np.where(p > 0, np.maximum(p, 5e-324).astype(np.longdouble) ** (2 - alpha), 0)
    centred = v - np.take_along_axis(v, s.argmax(-1, keepdims=True), -1).astype(np.longdouble)
    exact = s * (centred - (s * centred).sum(-1, keepdims=True) / s.sum(-1, keepdims=True))
    absolute = 1e-13 * abs(exact).max(-1, keepdims=True) + 1e-322  # two of the smallest numbers
    must_agree("J v", product, exact.astype(float), absolute=absolute)
