"""Attention over a finite set of keys, against entmax and difference quotients."""

import math

import numpy as np
import pytest

import fenchel
from fenchel import key_value_attention, key_value_attention_vjp

RNG = np.random.default_rng(2)
QUERIES, KEYS, VALUES = RNG.normal(size=(3, 4)), RNG.normal(size=(5, 4)), RNG.normal(size=(5, 2))
ALLOWED = np.array([[1, 1, 0, 1, 1], [0, 1, 0, 0, 0], [1, 1, 1, 1, 1]], bool)


@pytest.mark.parametrize("alpha", [1, 1 + 1e-8, 1.5, 2, 5, math.inf])
def test_is_entmax_of_scores(alpha):
    scores = QUERIES @ KEYS.T / 2
    contexts, p = key_value_attention(QUERIES, KEYS, VALUES, alpha, return_probabilities=True)
    np.testing.assert_allclose(p, fenchel.entmax(scores, alpha), atol=1e-14)
    np.testing.assert_allclose(contexts, p @ VALUES, atol=1e-14)
    masked = np.where(ALLOWED, scores, -np.inf)
    contexts, p = key_value_attention(QUERIES, KEYS, VALUES, alpha, ALLOWED, return_probabilities=True)
    np.testing.assert_allclose(p, fenchel.entmax(masked, alpha), atol=1e-14)
    assert (p[~ALLOWED] == 0).all()
    added = key_value_attention(QUERIES, KEYS, VALUES, alpha, np.where(ALLOWED, 0.0, -np.inf))
    np.testing.assert_array_equal(added, contexts)


def test_temperature_and_nothing_to_see():
    hot = key_value_attention(QUERIES, KEYS, VALUES, 2, temperature=7.0)
    np.testing.assert_allclose(hot, fenchel.sparsemax(QUERIES @ KEYS.T / 7) @ VALUES, atol=1e-14)
    blind = ALLOWED & np.array([[True], [False], [True]])
    contexts = key_value_attention(QUERIES, KEYS, VALUES, 2, blind)
    assert np.isnan(contexts[1]).all() and np.isfinite(contexts[[0, 2]]).all()


@pytest.mark.parametrize("alpha", [1, 1.5, 2])
def test_gradient(alpha):
    cotangent = RNG.normal(size=(3, 2))
    inputs = {"queries": QUERIES, "keys": KEYS, "values": VALUES}
    gradient = key_value_attention_vjp(**inputs, cotangent=cotangent, alpha=alpha, mask=ALLOWED)
    for name, x in [*inputs.items(), ("alpha", np.array(float(alpha)))]:
        direction, h = RNG.normal(size=x.shape), 1e-6
        above, below = (
            (cotangent * key_value_attention(**({**inputs, "alpha": alpha, "mask": ALLOWED} | {name: x + step * direction}))).sum()
            for step in (h, -h)
        )
        assert abs((gradient[name] * direction).sum() - (above - below) / (2 * h)) < 1e-7, name


def test_errors():
    with pytest.raises(ValueError, match="keys"):
        key_value_attention(QUERIES, KEYS[:, :2], VALUES)
    with pytest.raises(ValueError, match="alpha must be positive, got -1"):
        key_value_attention(QUERIES, KEYS, VALUES, -1)
    with pytest.raises(ValueError, match="queries must be a matrix"):
        key_value_attention(QUERIES[0], KEYS, VALUES)
    with pytest.raises(ValueError, match="mask"):
        key_value_attention(QUERIES, KEYS, VALUES, mask=ALLOWED[:2])
