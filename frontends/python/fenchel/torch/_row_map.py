"""Derivatives of a map from scores to probabilities that has a parameter."""

from __future__ import annotations

from typing import Any

import torch

from ._differentiable import Places, Rule, Tensors, or_zeros
from ._library import ops, per_row_like, register_rows, rows_like


class RowMap(Rule):
    """x is (scores, parameters), and others that have no derivatives. Derivatives are functions of p and of x but for
    the scores."""

    count = 2

    @staticmethod
    def is_unread(static: tuple[Any, ...]) -> bool:
        return True

    @classmethod
    def vjp(cls, x: Tensors, outputs: Tensors, grad: torch.Tensor, wanted: Places, static: tuple[Any, ...]) -> Tensors:
        return getattr(ops, f"{cls.name}_vjp").default(outputs[0], *x[1:], grad, *static)

    @classmethod
    def jvp(cls, x: Tensors, outputs: Tensors, dx: Tensors, static: tuple[Any, ...]) -> torch.Tensor:
        (p,), (d_scores, d_parameters, *_) = outputs, dx
        return getattr(ops, f"{cls.name}_jvp")(p, *x[1:], or_zeros(d_scores, p), d_parameters, *static)


def register_row_map(name: str) -> None:
    """The operations `name`, `name`_vjp and `name`_jvp: scores or p come first, parameters second, and dim last."""
    register_rows(name, lambda *args: rows_like(args[0], args[-1]))
    register_rows(f"{name}_jvp", lambda *args: rows_like(args[0], args[-1]))
    register_rows(f"{name}_vjp", gradient_like)


def gradient_like(*args: Any) -> Tensors:
    """What a kernel allocates for a gradient in scores and parameters."""
    return rows_like(args[0], args[-1]), per_row_like(args[1], args[0], args[-1])
