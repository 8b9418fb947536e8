"""Models: the JSON that the command's `fit` and `regress` write and its other commands read (docs/design.md, "Models")."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arrays import FloatArray, shown
from ._distribution import Distribution
from ._gamma import CappedParabola, CappedTriangular, SmoothParabola, SmoothTriangular
from ._integers import SparseIntegerGaussian, SparsePoisson
from ._line import BetaGaussian, BetaLaplace, Triangular, TruncatedGaussian, Uniform
from ._space import MultivariateBetaGaussian

SCHEMA = "fenchel-model-1"
_FAMILIES: dict[str, type[Distribution]] = {
    "beta-gaussian": BetaGaussian,
    "beta-laplace": BetaLaplace,
    "capped-parabola": CappedParabola,
    "capped-triangular": CappedTriangular,
    "multivariate-beta-gaussian": MultivariateBetaGaussian,
    "smooth-parabola": SmoothParabola,
    "smooth-triangular": SmoothTriangular,
    "sparse-integer-gaussian": SparseIntegerGaussian,
    "sparse-poisson": SparsePoisson,
    "triangular": Triangular,
    "truncated-gaussian": TruncatedGaussian,
    "uniform": Uniform,
}
# Members that the command knows by name, with their alpha; that of Student's t is a parameter.
_MEMBERS: dict[str, tuple[type[Distribution], dict[str, float]]] = {
    "biweight": (BetaGaussian, {"alpha": 1.5}),
    "gaussian": (BetaGaussian, {"alpha": 1.0}),
    "laplace": (BetaLaplace, {"alpha": 1.0}),
    "parabola": (BetaGaussian, {"alpha": 2.0}),
    "student": (BetaGaussian, {}),
    "triweight": (BetaGaussian, {"alpha": 4 / 3}),
}
_WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def number(value: Any) -> Any:
    """Numbers as JSON can hold them: what is not finite is "inf", "-inf" or "nan"; arrays are lists."""
    if isinstance(value, (np.ndarray, list, tuple)):
        return [number(entry) for entry in value]
    if isinstance(value, (int, np.integer)):
        return int(value)
    x = float(value)
    return x if math.isfinite(x) else "nan" if math.isnan(x) else "inf" if x > 0 else "-inf"


class ModelPart:
    """An object within a model, whose errors name the key."""

    def __init__(self, content: Any, key: str = "") -> None:
        if not isinstance(content, Mapping):
            raise ValueError(f"model: {key.rstrip('.') or 'it'} must be an object, got {shown(content)}")
        self.content, self.key = content, key

    def __contains__(self, key: str) -> bool:
        return key in self.content

    def error(self, key: str, constraint: str) -> ValueError:
        return ValueError(f"model: {self.key}{key} must be {constraint}, got {shown(self.content[key])}")

    def at(self, key: str) -> Any:
        if key not in self.content:
            raise ValueError(f"model: {self.key}{key} is missing")
        return self.content[key]

    def part(self, key: str) -> ModelPart:
        return ModelPart(self.at(key), f"{self.key}{key}.")

    def text(self, key: str) -> str:
        value = self.at(key)
        if not isinstance(value, str):
            raise self.error(key, "a text")
        return value

    def numbers(self, key: str) -> FloatArray:
        """A number or an array of them."""
        value = self.at(key)
        try:
            entries = np.array(value, dtype=object)
            flat = [_WORDS[x] if isinstance(x, str) else _real(x) for x in entries.ravel()]
        except (KeyError, TypeError, ValueError):
            raise self.error(key, 'a number, "inf", "-inf" or "nan", or a list of them') from None
        return np.array(flat, dtype=float).reshape(entries.shape)

    def number(self, key: str) -> float:
        value = self.numbers(key)
        if value.ndim:
            raise self.error(key, "one number")
        return float(value)

    def finite(self, key: str) -> float:
        value = self.number(key)
        if not math.isfinite(value):
            raise self.error(key, "a finite number")
        return value


def _real(x: Any) -> float:
    if isinstance(x, bool) or not isinstance(x, (int, float, np.integer, np.floating)):
        raise TypeError
    return float(x)


def opened(content: Any, kind: str) -> ModelPart:
    """The model, of this version and kind."""
    model = ModelPart(content)
    for key, expected in (("schema", SCHEMA), ("kind", kind)):
        if model.text(key) != expected:
            raise model.error(key, repr(expected))
    return model


def _by_name(p: Distribution, names: tuple[str, ...], values: FloatArray) -> dict[str, Any]:
    """Numbers of the parameters by their names; on R^N those of the entries of mu and Sigma as arrays."""
    if not isinstance(p, MultivariateBetaGaussian):
        return {name: number(value) for name, value in zip(names, values)}
    n, first = p.dimension, len(names) - p.dimension * (p.dimension + 3) // 2
    Sigma = np.zeros((n, n))
    Sigma[np.tril_indices(n)] = values[first + n :]
    Sigma += np.tril(Sigma, -1).T
    alpha = {"alpha": number(values[0])} if first else {}
    return {**alpha, "mu": number(values[first : first + n]), "Sigma": number(Sigma)}


def _parameters(p: Distribution, names: tuple[str, ...], values: FloatArray) -> dict[str, Any]:
    """Those of the distribution; those of the fit where it ended at another family, as an infinite alpha does."""
    if isinstance(p, Uniform) and "lower" not in names:
        return _by_name(p, names, values)
    return {name: number(getattr(p, name)) for name in p._parameters}


def distribution_to_dict(
    p: Any, names: tuple[str, ...], values: FloatArray, errors: FloatArray, loss: float, weight: float
) -> dict[str, Any]:
    """A model of a distribution, with the keys of the command's `fit` in their order."""
    known = {kind: name for name, kind in _FAMILIES.items()}
    if type(p) not in known:
        raise TypeError(f"to_dict: {type(p).__name__} is made of functions, which JSON does not hold")
    parameters = _parameters(p, names, values)
    support = p.support()
    model: dict[str, Any] = {
        "schema": SCHEMA,
        "kind": "distribution",
        "family": "beta-gaussian" if "sigma2" in parameters and type(p) is Uniform else known[type(p)],
        "parameters": parameters,
        "standard_errors": _by_name(p, names, errors),
        "weight": number(weight),
        "loss": number(loss),
    }
    if isinstance(p, MultivariateBetaGaussian):
        ellipsoid = {name: number(getattr(support, name)) for name in support._parameters}
        return {**model, "support": ellipsoid, "mean": number(p.mean()), "covariance": number(p.cov())}
    return {**model, "support": number(support), "mean": number(p.mean()), "variance": number(p.var())}


def _distribution(model: ModelPart, parameters: ModelPart) -> Distribution:
    name = model.text("family")
    if name not in _FAMILIES and name not in _MEMBERS:
        raise model.error("family", f"one of {', '.join(sorted([*_FAMILIES, *_MEMBERS]))}")
    kind, fixed = _MEMBERS.get(name, (_FAMILIES.get(name), {}))
    assert kind is not None
    for key in parameters.content:
        if key not in kind._parameters:
            raise parameters.error(key, f"left out: {name} takes {', '.join(kind._parameters)}")
    values: dict[str, Any] = {key: parameters.numbers(key) for key in kind._parameters if key not in fixed}
    if kind is BetaGaussian and {**values, **fixed}["alpha"] == math.inf:
        ends = model.numbers("support")
        if ends.shape != (2,):
            raise model.error("support", "two ends")
        return Uniform(*ends.tolist())
    if kind is MultivariateBetaGaussian:
        if values["alpha"] == math.inf:
            raise parameters.error("alpha", "finite for points")
        values["alpha"] = float(values["alpha"])
    else:
        values = {key: parameters.number(key) for key in values}
    for key, value in fixed.items():
        if key in parameters and parameters.number(key) != value:
            raise parameters.error(key, f"{value:g} for {name}")
    return kind(**values, **fixed)


def _flat(p: Distribution, part: ModelPart) -> tuple[tuple[str, ...], FloatArray]:
    """Names and numbers of the parameters as a Fit has them."""
    if not isinstance(p, MultivariateBetaGaussian):
        names = tuple(part.content)
        return names, np.array([part.number(name) for name in names])
    n = p.dimension
    rows, columns = np.tril_indices(n)
    alpha = [("alpha", part.number("alpha"))] if "alpha" in part else []
    mu, Sigma = part.numbers("mu"), part.numbers("Sigma")
    for key, value, shape in (("mu", mu, (n,)), ("Sigma", Sigma, (n, n))):
        if value.shape != shape:
            raise part.error(key, f"of shape {shape}")
    entries = [*alpha, *((f"mu[{i}]", mu[i]) for i in range(n)),
               *((f"Sigma[{i},{j}]", Sigma[i, j]) for i, j in zip(rows, columns))]
    return tuple(name for name, _ in entries), np.array([value for _, value in entries])


def distribution_from_dict(
    content: Any,
) -> tuple[Distribution, tuple[str, ...], FloatArray, FloatArray, float, float]:
    """Distribution, names, parameters, standard errors, loss and weight; what is not there is NaN, or of no length."""
    model = opened(content, "distribution")
    parameters = model.part("parameters")
    p = _distribution(model, parameters)
    names, errors = _flat(p, model.part("standard_errors")) if "standard_errors" in model else ((), np.empty(0))
    every, values = _flat(p, parameters)
    for name in names:
        if name not in every:
            raise ValueError(f"model: parameters.{name} is missing, which has a standard error")
    estimates = np.array([values[every.index(name)] for name in names])
    loss, weight = (model.number(key) if key in model else math.nan for key in ("loss", "weight"))
    return p, names, estimates, errors, loss, weight
