"""Attention over a finite set of keys, as transformers have it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import FloatArray, matrix, real_numbers, reals


def key_value_attention(
    queries: npt.ArrayLike, keys: npt.ArrayLike, values: npt.ArrayLike, alpha: float = 1.5,
    mask: npt.ArrayLike | None = None, *, temperature: float | None = None, return_probabilities: bool = False,
) -> Any:
    """Where each query looks among the keys, and the mean of the values there: softmax attention with any alpha.

    Row i is the mean of the values under entmax of the scores queries[i] . keys[l] / temperature.

    Parameters
    ----------
    queries : array_like, shape (n, d)
    keys : array_like, shape (L, d)
    values : array_like, shape (L, M)
    alpha : float
        Positive; 1 is softmax, 2 sparsemax, inf looks at the best keys alone.
    mask : array_like, shape (n, L), optional
        Booleans, False where a query may not look; or numbers to add to the scores before they are divided, such as
        -inf. A query without a key has a row of NaN.
    temperature : float, optional
        sqrt(d) unless given.
    return_probabilities : bool
        Also give the probabilities.

    Returns
    -------
    contexts : ndarray, shape (n, M)
    probabilities : ndarray, shape (n, L)
        With `return_probabilities`.

    Examples
    --------
    >>> from fenchel import key_value_attention
    >>> queries, keys, values = [[1.0, 0.0]], [[2.0, 0.0], [1.0, 0.0], [-2.0, 0.0]], [[0.0], [1.0], [5.0]]
    >>> contexts, p = key_value_attention(queries, keys, values, alpha=2, return_probabilities=True)
    >>> p.round(4), contexts.round(4)
    (array([[0.8536, 0.1464, 0.    ]]), array([[0.1464]]))
    """
    contexts, probabilities = _core.key_value_attention(*_arguments(queries, keys, values, alpha, mask, temperature))
    return (contexts, probabilities) if return_probabilities else contexts


def key_value_attention_vjp(
    queries: npt.ArrayLike, keys: npt.ArrayLike, values: npt.ArrayLike, cotangent: npt.ArrayLike, alpha: float = 1.5,
    mask: npt.ArrayLike | None = None, *, temperature: float | None = None,
) -> dict[str, Any]:
    """The gradient of sum(cotangent * key_value_attention(...)): "queries", "keys", "values" and "alpha".

    A query whose cotangent is 0 counts for nothing, even where it has no key.

    Examples
    --------
    >>> from fenchel import key_value_attention_vjp
    >>> key_value_attention_vjp([[1.0]], [[2.0], [1.5]], [[0.0], [1.0]], [[1.0]], alpha=2)["queries"]
    array([[-0.25]])
    """
    arguments = _arguments(queries, keys, values, alpha, mask, temperature)
    run: Any = _core.key_value_attention_vjp
    gradients = run(*arguments, matrix("cotangent", cotangent))
    return dict(zip(("queries", "keys", "values", "alpha"), gradients))


def _arguments(
    queries: npt.ArrayLike, keys: npt.ArrayLike, values: npt.ArrayLike, alpha: float, mask: npt.ArrayLike | None,
    temperature: float | None,
) -> tuple[Any, ...]:
    """As C++ takes them."""
    q, k, v = matrix("queries", queries), matrix("keys", keys), matrix("values", values)
    (order,) = reals(alpha=alpha)
    scale = math.sqrt(q.shape[1]) if temperature is None else reals(temperature=temperature)[0]
    return _core.Tsallis(order, scale), q, k, v, _additive(mask)


def _additive(mask: npt.ArrayLike | None) -> FloatArray:
    if mask is None:
        return np.empty((0, 0))
    given = real_numbers("mask", mask)
    return matrix("mask", np.where(given, 0.0, -np.inf) if given.dtype == bool else given)
