"""Attention over arrays of any shape, type and layout: what contiguous doubles give, or an error that says why not."""

import numpy as np
import pytest

import fenchel

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies
numpy_st = pytest.importorskip("hypothesis.extra.numpy")

TINY = np.finfo(float).tiny  # of a subnormal sigma2 the reciprocal is no number
BASIS = fenchel.GaussianBasis([0.0, 0.5, 2.0], [0.1, 0.5, 1.0])
SETTINGS = hypothesis.settings(deadline=None, max_examples=50, derandomize=True)
DTYPES = st.sampled_from([np.float64, np.float32, np.float16, np.int32, np.uint8, ">f8", "<f4"])
SHAPES = numpy_st.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)


@st.composite
def layouts(draw, shape):
    """An array of this shape that may lie backwards, in another order, with gaps, unaligned, or not be writable."""
    dtype = np.dtype(draw(DTYPES))
    array = np.asarray(draw(numpy_st.arrays(np.uint8, shape, elements=st.integers(1, 6)))).astype(dtype)
    kind = draw(st.sampled_from(["plain", "backwards", "fortran", "gaps", "unaligned", "read only"]))
    if kind == "backwards":
        return np.flip(np.flip(array).copy())
    if kind == "fortran":
        return array.copy(order="F")
    if kind == "gaps":
        return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array
    if kind == "unaligned":
        return np.frombuffer(b"x" + array.tobytes(), np.uint8)[1:].view(dtype).reshape(array.shape)
    array.flags.writeable = kind == "plain"
    return array


@SETTINGS
@hypothesis.given(st.data(), SHAPES, st.sampled_from([0.8, 1, 1.5, 2, 5]))
def test_layouts(data, shape, alpha):
    mu, sigma2 = data.draw(layouts(shape)), data.draw(layouts(shape))
    before = mu.copy(), sigma2.copy()
    r = fenchel.attend(fenchel.Densities(alpha, mu, sigma2), BASIS)
    plain = (np.array(x, float, order="C") for x in (mu, sigma2))
    expected = fenchel.attend(fenchel.Densities(alpha, *plain), BASIS)
    assert r.shape == (*shape, 3)
    single = all(x.dtype.kind == "f" and x.dtype.itemsize <= 4 for x in (mu, sigma2))
    assert r.dtype == (np.float32 if single else np.float64)
    np.testing.assert_allclose(r, expected, rtol=2e-5 if single else 0, atol=1e-40)
    np.testing.assert_array_equal(mu, before[0])
    np.testing.assert_array_equal(sigma2, before[1])
    gradient = fenchel.attend_vjp(fenchel.Densities(alpha, mu, sigma2), BASIS, np.ones(r.shape))
    assert all(x.shape == shape and x.dtype == r.dtype and np.isfinite(x).all() for x in gradient.values())


@SETTINGS
@hypothesis.given(numpy_st.arrays(np.float64, 3), numpy_st.arrays(np.float64, 3), st.floats())
def test_any_numbers(mu, sigma2, alpha):
    """Where all densities exist, values are finite and not negative; else there is an error of one line."""
    exist = np.isfinite(mu).all() and (np.isfinite(sigma2) & (sigma2 >= TINY)).all() and alpha > 0
    try:
        r = fenchel.attend(fenchel.Densities(alpha, mu, sigma2), BASIS)
    except (ValueError, fenchel.ConvergenceError) as error:
        assert "\n" not in str(error)
        assert not exist or isinstance(error, fenchel.ConvergenceError)
        return
    assert exist and np.isfinite(r).all() and (r >= 0).all()


@SETTINGS
@hypothesis.given(SHAPES, SHAPES, SHAPES)
def test_any_shapes(alpha, mu, scale):
    try:
        shape = np.broadcast_shapes(alpha, mu, scale)
    except ValueError:
        with pytest.raises(ValueError, match="must be of one batch"):
            fenchel.attend(fenchel.Densities(np.ones(alpha), np.ones(mu), np.ones(scale)), BASIS)
        return
    r = fenchel.attend(fenchel.Densities(np.ones(alpha), np.ones(mu), np.ones(scale)), BASIS)
    assert r.shape == (*shape, 3)
    np.testing.assert_array_equal(r, np.broadcast_to(fenchel.attend(fenchel.Densities(1, 1.0, 1.0), BASIS), r.shape))
