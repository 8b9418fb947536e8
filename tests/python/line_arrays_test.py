"""Functions of distributions on the line over arrays of any shape, type and strides."""

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

import fenchel

FAMILIES = [(fenchel.BetaGaussian, 1.5), (fenchel.BetaLaplace, 1), (fenchel.SmoothParabola, 1, 0.3)]

numbers = st.floats(-3, 3, allow_nan=False) | st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0])


@settings(deadline=None, max_examples=50, derandomize=True)
@given(st.data())
def test_arrays_are_their_elements(data):
    family, *parameters = data.draw(st.sampled_from(FAMILIES))
    p = family(*parameters)
    f = getattr(p, data.draw(st.sampled_from(["pdf", "logpdf", "cdf", "logsf", "ppf", "isf"])))
    dtype = data.draw(st.sampled_from([np.float64, np.float32, np.float16, ">f8", np.int8, np.uint32, np.bool_]))
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    of_floats = hnp.arrays(np.float64, shape, elements=numbers)
    x = data.draw(of_floats if np.dtype(dtype).kind == "f" else hnp.arrays(dtype, shape)).astype(dtype)
    x = x[tuple(slice(None, None, data.draw(st.sampled_from([1, -1, 2]))) for _ in shape)].T
    out = f(x)
    assert np.shape(out) == x.shape and np.asarray(out).dtype == np.float64
    expected = [f(float(v)) for v in x.ravel()]
    np.testing.assert_array_equal(np.ravel(out), np.array(expected, dtype=float))
