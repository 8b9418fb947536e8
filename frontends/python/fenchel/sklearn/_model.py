"""Models of regressions: the JSON of the command's `regress` (docs/design.md, "Models")."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from .._arrays import FloatArray
from .._model import SCHEMA, ModelPart, number, opened

E = TypeVar("E")


def _line(names: list[str], coefficients: FloatArray, intercept: float) -> dict[str, Any]:
    return {"intercept": number(intercept), "coefficients": dict(zip(names, number(coefficients)))}


def regression_to_dict(model: Any, columns: list[str]) -> dict[str, Any]:
    """Of a fitted BetaGaussianRegressor and the names of its columns, the target first."""
    y, *x = map(str, columns)
    errors, scale_errors = model.standard_errors_, model.scale_standard_errors_
    return {
        "schema": SCHEMA,
        "kind": "regression",
        "y": y,
        "alpha": model.alpha_,
        "noise_loss": model.noise_loss_,
        "loss": number(model.loss_),
        "scale_penalty": number(model.scale_penalty_),
        "mean": _line(x, model.coef_, model.intercept_),
        "scale": {"link": model.link_, **_line(x, model.scale_coef_, model.scale_intercept_)},
        "standard_errors": {
            "mean": _line(x, errors[:-1], errors[-1]),
            "scale": _line(x, scale_errors[:-1], scale_errors[-1]),
        },
    }


def _coefficients(line: ModelPart, names: list[str], finite: bool = True) -> FloatArray:
    part = line.part("coefficients")
    if set(part.content) != set(names):
        raise line.error("coefficients", f"of the columns {', '.join(names)}")
    return np.array([part.finite(name) if finite else part.number(name) for name in names])


def _errors(model: ModelPart, which: str, names: list[str]) -> FloatArray:
    """With that of the intercept last; NaN where the model has none."""
    if "standard_errors" not in model:
        return np.full(len(names) + 1, np.nan)
    line = model.part("standard_errors").part(which)
    return np.append(_coefficients(line, names, finite=False), line.number("intercept"))


def regression_from_dict(kind: type[E], content: Mapping[str, Any]) -> E:
    """A fitted BetaGaussianRegressor."""
    part = opened(content, "regression")
    mean, scale = part.part("mean"), part.part("scale")
    names = list(mean.part("coefficients").content)
    alpha, link = part.finite("alpha"), scale.text("link")
    if not alpha > 1 / 3:
        raise part.error("alpha", "above 1/3")
    if link not in ("log", "linear"):
        raise scale.error("link", "'log' or 'linear'")
    model: Any = kind(alpha, link=link)  # type: ignore[call-arg]
    model.alpha_, model.link_ = alpha, link
    model.coef_, model.intercept_ = _coefficients(mean, names), mean.finite("intercept")
    model.scale_coef_, model.scale_intercept_ = _coefficients(scale, names), scale.finite("intercept")
    model.standard_errors_ = _errors(part, "mean", names)
    model.scale_standard_errors_ = _errors(part, "scale", names)
    model.loss_, model.scale_penalty_ = (
        part.number(key) if key in part else math.nan for key in ("loss", "scale_penalty")
    )
    model.noise_loss_ = part.text("noise_loss") if "noise_loss" in part else "auto"
    model.n_features_in_ = len(names)
    if names != [f"x{i}" for i in range(len(names))]:
        model.feature_names_in_ = np.array(names, dtype=object)
    return model  # type: ignore[no-any-return]
