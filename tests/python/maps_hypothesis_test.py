"""Laws of the maps over shapes, axes, dtypes, strides, NaN and infinities that nobody thought of."""

import numpy as np
import pytest
import support

import fenchel

pytest.importorskip("hypothesis")
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.extra import numpy as hnp  # noqa: E402

quick = settings(deadline=None, max_examples=50, derandomize=True)
ALPHAS = st.sampled_from([0.5, *support.ALPHAS, np.inf])
GAMMAS = st.sampled_from([0, 1e-3, 0.5, 10])


@st.composite
def arrays(draw, **bounds):
    """An array in some layout, and one of its axes that is not empty."""
    dtype = np.dtype(draw(st.sampled_from(["<f4", "<f8", ">f4", ">f8", "f2"])))
    shape = draw(hnp.array_shapes(max_dims=4, max_side=5))
    z = draw(hnp.arrays(dtype, shape, elements=st.floats(width=8 * dtype.itemsize, **bounds)))
    z = z.transpose(draw(st.permutations(range(z.ndim))))
    steps = st.sampled_from([1, 1, 2, -1, -2])
    z = z[tuple(slice(None, None, draw(steps)) for _ in z.shape)]
    if draw(st.booleans()):
        z = np.broadcast_to(z, (draw(st.integers(0, 3)), *z.shape))
    return z, draw(st.integers(-1, z.ndim - 1).filter(lambda axis: z.shape[axis] > 0))


def plain(z):
    """z in native byte order, at least float32: what is worked on."""
    return z.astype(np.float32 if z.dtype.itemsize <= 4 else np.float64)


def rows(array, axis):
    """The rows one by one, each an array of its own."""
    moved = np.moveaxis(array, axis, -1)
    return [np.array(row) for row in moved.reshape(-1, moved.shape[-1])] if moved.size else []


@quick
@given(arrays(), ALPHAS)
def test_entmax_of_anything(z_axis, alpha):
    z, axis = z_axis
    before = z.copy()
    p = fenchel.entmax(z, alpha, axis)
    np.testing.assert_array_equal(z, before)
    assert p.shape == z.shape and p.dtype == plain(z).dtype
    for scores, probabilities in zip(rows(plain(z), axis), rows(p, axis)):
        np.testing.assert_array_equal(probabilities, fenchel.entmax(scores, alpha))
        if np.isnan(scores).any() or scores.max() == np.inf or scores.max() == -np.inf:
            assert np.isnan(probabilities).all()
            continue
        assert probabilities.sum(dtype=float) == pytest.approx(1, abs=1e-5 if p.dtype == np.float32 else 1e-14)
        assert (probabilities >= 0).all() and (probabilities[scores == -np.inf] == 0).all()
        order = np.argsort(scores)
        assert (np.diff(probabilities[order]) >= 0).all()


@quick
@given(arrays(), GAMMAS, st.sampled_from([fenchel.fusedmax, fenchel.smooth_sparsemax]))
def test_maps_of_neighbours_of_anything(z_axis, gamma, f):
    z, axis = z_axis
    p = f(z, gamma, axis)
    assert p.shape == z.shape and p.dtype == plain(z).dtype
    for scores, probabilities in zip(rows(plain(z), axis), rows(p, axis)):
        np.testing.assert_array_equal(probabilities, f(scores, gamma))
        if np.isnan(scores).any() or scores.max() == np.inf or scores.max() == -np.inf:
            assert np.isnan(probabilities).all()
        else:
            assert (probabilities >= 0).all() and (probabilities[scores == -np.inf] == 0).all()


@quick
@given(arrays(), ALPHAS, st.data())
def test_out_of_anything(z_axis, alpha, data):
    z, axis = z_axis
    expected = fenchel.entmax(z, alpha, axis)
    order = data.draw(st.permutations(range(z.ndim)))
    step = data.draw(st.sampled_from([1, 2, -1]))
    shape = [z.shape[i] * abs(step) for i in order]
    out = np.empty(shape, expected.dtype)[(slice(None, None, step),) * z.ndim].transpose(np.argsort(order))
    assert fenchel.entmax(z, alpha, axis, out) is out
    np.testing.assert_array_equal(out, expected)
    inplace = plain(z)
    fenchel.entmax(inplace, alpha, axis, inplace)
    np.testing.assert_array_equal(inplace, expected)


@quick
@given(arrays(min_value=-8, max_value=8), ALPHAS)
def test_loss_and_derivatives_at_the_prediction(z_axis, alpha):
    z, axis = z_axis
    p = fenchel.entmax(z, alpha, axis)
    losses, gradient = fenchel.entmax_loss(z, p, alpha, axis=axis, reduction="none", return_gradient=True)
    assert np.shape(losses) == tuple(np.delete(z.shape, axis))
    np.testing.assert_array_equal(losses, 0)
    np.testing.assert_array_equal(gradient, 0)
    v = z[::-1]
    jvp, vjp = fenchel.entmax_jvp(p, v, alpha, axis), fenchel.entmax_vjp(p, v, alpha, axis)
    tolerance = 2e-4 if p.dtype == np.float32 else 1e-11
    np.testing.assert_allclose(jvp, vjp, atol=tolerance)
    np.testing.assert_allclose(jvp.sum(axis), 0, atol=tolerance * 10)
    assert (jvp[p == 0] == 0).all()


@quick
@given(hnp.arrays(st.sampled_from([np.int8, np.uint32, np.int64, np.bool_]), hnp.array_shapes(max_dims=3)))
def test_integers_are_doubles(z):
    np.testing.assert_array_equal(fenchel.sparsemax(z), fenchel.sparsemax(z.astype(float)))
