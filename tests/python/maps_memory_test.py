"""Where the maps read and write: layouts, dtypes, out=, copies, threads, the GIL, leaks."""

import concurrent.futures
import resource
import sys
import threading
import time
import tracemalloc

import numpy as np
import pytest

import fenchel

Z = np.random.default_rng(0).uniform(0, 3, size=(4, 3, 6))


def escort(p, axis=-1, out=None):
    return fenchel.escort(p, 1.5, axis, out)


ONE_ARRAY = [
    fenchel.softmax,
    fenchel.sparsemax,
    fenchel.entmax,
    fenchel.fusedmax,
    fenchel.smooth_sparsemax,
    escort,
]
TWO_ARRAYS = [
    fenchel.entmax_vjp,
    fenchel.entmax_jvp,
    fenchel.fusedmax_vjp,
    fenchel.fusedmax_jvp,
    fenchel.smooth_sparsemax_vjp,
    fenchel.smooth_sparsemax_jvp,
]


def misaligned(z):
    """A copy whose elements begin at odd addresses."""
    data = np.frombuffer(b"\0" + z.tobytes(), dtype=np.uint8)[1:]
    array = data.view(z.dtype).reshape(z.shape)
    assert not array.flags.aligned
    return array


def layouts(z):
    """Arrays that are equal to z, and lie in memory in other ways."""
    yield "read only", np.frombuffer(z.tobytes(), z.dtype).reshape(z.shape)
    yield "fortran", np.asfortranarray(z)
    yield "misaligned", misaligned(z)
    yield "swapped bytes", z.astype(z.dtype.newbyteorder())
    yield "reversed", np.array(z[::-1, ::-1, ::-1])[::-1, ::-1, ::-1]
    yield "reversed rows", np.array(z[::-1, ::-1])[::-1, ::-1]
    yield "sliced", np.repeat(np.repeat(z, 2, axis=0), 3, axis=2)[::2, :, ::3]
    yield "padded", np.concatenate([z, z], axis=-1)[..., : z.shape[-1]]
    yield "field", np.rec.fromarrays([z, z], names="a,b").a
    yield "list", z.tolist() if z.dtype == np.float64 else z


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("f", ONE_ARRAY)
def test_every_layout_gives_the_same_bits(f, axis, dtype):
    z = Z.astype(dtype)
    rows = np.array(np.moveaxis(z, axis, -1))
    expected = np.moveaxis(f(rows), -1, axis)
    assert expected.dtype == dtype
    for name, array in layouts(z):
        np.testing.assert_array_equal(f(array, axis=axis), expected, err_msg=name)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("f", TWO_ARRAYS)
def test_every_layout_of_products(f, axis):
    p, v = fenchel.sparsemax(Z), Z[::-1]
    expected = np.moveaxis(f(np.array(np.moveaxis(p, axis, -1)), np.array(np.moveaxis(v, axis, -1))), -1, axis)
    for (name, p_array), (_, v_array) in zip(layouts(p), reversed(list(layouts(v)))):
        np.testing.assert_array_equal(f(p_array, v_array, axis=axis), expected, err_msg=name)


def test_broadcast_arrays():
    row = Z[0, 0]
    z = np.broadcast_to(row, (4, 3, 6))
    np.testing.assert_array_equal(fenchel.entmax(z), np.broadcast_to(fenchel.entmax(row), z.shape))
    np.testing.assert_array_equal(fenchel.entmax(z, axis=0), np.full(z.shape, 0.25))
    z = np.broadcast_to(Z[:, :1], Z.shape)
    np.testing.assert_array_equal(fenchel.entmax(z)[:, 2], fenchel.entmax(Z[:, 0]))
    windows = np.lib.stride_tricks.sliding_window_view(Z.ravel(), 5)
    np.testing.assert_array_equal(fenchel.entmax(windows), fenchel.entmax(windows.copy()))


@pytest.mark.parametrize(
    "given,worked", [("f2", "f4"), ("f4", "f4"), (">f4", "f4"), ("f8", "f8"), ("i1", "f8"), ("u8", "f8"), ("?", "f8")]
)
def test_dtypes(given, worked):
    z = np.array([[0, 1, 1], [1, 0, 0]], dtype=given)
    p = fenchel.entmax(z)
    assert p.dtype == worked and p.dtype.isnative
    np.testing.assert_array_equal(p, fenchel.entmax(z.astype(worked)))
    assert fenchel.entmax_loss(z, [0, 0]).dtype == worked
    assert fenchel.entmax_vjp(p, z).dtype == worked
    assert fenchel.entmax_vjp(p.astype("f4"), z.astype("f8")).dtype == "f8"
    assert fenchel.negentropy(p).dtype == worked


def test_sizes_of_zero():
    for shape in ((0, 3), (2, 0, 3)):
        z = np.empty(shape, np.float32)
        for f in ONE_ARRAY:
            assert f(z).shape == shape and f(z).dtype == np.float32
            assert f(z, out=z) is z
        for f in TWO_ARRAYS:
            assert f(z, z).shape == shape
        assert fenchel.negentropy(z).shape == fenchel.support_size(z).shape == shape[:-1]
    for f in ONE_ARRAY:
        for shape, axis in (((3, 0), -1), ((0, 3), 0), ((0,), 0)):
            with pytest.raises(ValueError, match="must not be empty along axis"):
                f(np.empty(shape), axis=axis)
    assert fenchel.entmax(np.ones((3, 1))).tolist() == [[1], [1], [1]]
    assert fenchel.entmax(np.ones((1, 3)), axis=0).tolist() == [[1, 1, 1]]


def outs(z):
    """Where to write, in any layout."""
    yield "own", np.empty_like(z)
    yield "fortran", np.empty_like(z, order="F")
    yield "sliced", np.empty((2 * z.shape[0], z.shape[1], 3 * z.shape[2]), z.dtype)[::2, :, ::3]
    yield "padded", np.empty((*z.shape[:2], z.shape[2] + 2), z.dtype)[..., 1:-1]
    yield "reversed", np.empty_like(z)[::-1, ::-1, ::-1]
    yield "misaligned", np.zeros(z.nbytes + 1, np.uint8)[1:].view(z.dtype).reshape(z.shape)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("f", ONE_ARRAY)
def test_out(f, axis, dtype):
    z = Z.astype(dtype)
    expected = f(z, axis=axis)
    for name, out in outs(z):
        assert f(z, axis=axis, out=out) is out
        np.testing.assert_array_equal(out, expected, err_msg=name)
    for name, inplace in layouts(z):
        if isinstance(inplace, np.ndarray) and inplace.flags.writeable and inplace.dtype == dtype:
            assert f(inplace, axis=axis, out=inplace) is inplace
            np.testing.assert_array_equal(inplace, expected, err_msg=name)


@pytest.mark.parametrize("f", ONE_ARRAY)
def test_out_that_overlaps(f):
    data = np.random.default_rng(1).uniform(0, 3, size=(5, 6))
    expected = f(data[:-1])
    assert f(data[:-1], out=data[1:]).base is data
    np.testing.assert_array_equal(data[1:], expected)
    square = np.random.default_rng(2).uniform(0, 3, size=(5, 5))
    expected = f(square)
    f(square, out=square.T)
    np.testing.assert_array_equal(square.T, expected)


@pytest.mark.parametrize("f", TWO_ARRAYS)
def test_out_of_products_may_be_an_input(f):
    p, v = fenchel.sparsemax(Z), Z[::-1].copy()
    expected = f(p, v)
    for read_p, read_v, out in ((p, v.copy(), 1), (p.copy(), v, 0)):
        result = (read_p, read_v)[out]
        assert f(read_p, read_v, out=result) is result
        np.testing.assert_array_equal(result, expected)
    both = p.copy()
    np.testing.assert_array_equal(f(both, both, out=both), f(p, p))


def test_out_of_second_derivatives_may_be_an_input():
    p, grad, weight = fenchel.softmax(Z), Z[::-1].copy(), Z[:, ::-1].copy()
    expected = fenchel.entmax_vjp_vjp(p, grad, weight)
    for i in range(3):
        inputs = [p.copy(), grad.copy(), weight.copy()]
        np.testing.assert_array_equal(fenchel.entmax_vjp_vjp(*inputs, out=inputs[i]), expected)
    expected = fenchel.entmax_hessian_product(Z, grad)
    for i in range(2):
        inputs = [Z.copy(), grad.copy()]
        np.testing.assert_array_equal(fenchel.entmax_hessian_product(*inputs, out=inputs[i]), expected)


def test_out_that_does_not_fit():
    frozen = np.empty_like(Z)
    frozen.flags.writeable = False
    for error, out, message in (
        (ValueError, frozen, "entmax: out must be writable"),
        (ValueError, np.empty((4, 3, 5)), r"entmax: out must have shape \(4, 3, 6\), got \(4, 3, 5\)"),
        (TypeError, np.empty_like(Z, np.float32), "entmax: out must have dtype float64, got float32"),
        (TypeError, np.empty_like(Z, ">f8"), "entmax: out must have dtype float64, got >f8"),
        (TypeError, Z.tolist(), "entmax: out must be a numpy array, got list"),
    ):
        with pytest.raises(error, match=message):
            fenchel.entmax(Z, out=out)


def peak_bytes(f):
    """What NumPy allocates at most during a call."""
    tracemalloc.start()
    try:
        f()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_rows_are_read_and_written_in_place():
    z = np.random.default_rng(0).normal(size=(1000, 100))
    out, small = np.empty_like(z), z.nbytes // 10
    frozen = z.view()
    frozen.flags.writeable = False
    for rows in (z, frozen, z[::-1], np.broadcast_to(z[0], z.shape), z.reshape(10, 100, 100)[::2].reshape(-1, 100)):
        target = out[: len(rows)]
        assert peak_bytes(lambda: fenchel.entmax(rows, out=target)) < small
        assert peak_bytes(lambda: fenchel.entmax_vjp(rows, rows, out=target)) < small
    assert peak_bytes(lambda: fenchel.entmax(z.T, axis=0, out=out.T)) < small
    assert peak_bytes(lambda: fenchel.entmax(z.reshape(10, 100, 100), out=out.reshape(10, 100, 100))) < small
    assert peak_bytes(lambda: fenchel.entmax(z)) < z.nbytes + small
    assert peak_bytes(lambda: fenchel.entmax(z, axis=0)) < 2 * z.nbytes + small
    assert peak_bytes(lambda: fenchel.entmax(z.astype(np.float32))) < 2 * z.nbytes
    crooked = misaligned(z)
    assert z.nbytes < peak_bytes(lambda: fenchel.entmax(crooked, out=out)) < z.nbytes + small


def test_threads_that_call_at_once():
    rng = np.random.default_rng(4)
    batches = [rng.normal(size=(200, 50)) for _ in range(16)]
    expected = [fenchel.entmax(z, 1.3) for z in batches]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            for p, q in zip(pool.map(lambda z: fenchel.entmax(z, 1.3), batches), expected):
                np.testing.assert_array_equal(p, q)
    threads = fenchel.num_threads()
    try:
        for count in (1, 3):
            fenchel.set_num_threads(count)
            np.testing.assert_array_equal(fenchel.entmax(batches[0], 1.3), expected[0])
    finally:
        fenchel.set_num_threads(0)
    assert fenchel.num_threads() == threads


def test_the_gil_is_released():
    """Python switches threads by itself only where it is asked to, so that only a call lets the other thread run."""
    z = np.random.default_rng(5).normal(size=(1000, 1000))
    target = np.zeros(1000, int)
    count, stop = [0], threading.Event()

    def counts():
        while not stop.is_set():
            count[0] += 1
            time.sleep(0)

    interval = sys.getswitchinterval()
    other = threading.Thread(target=counts)
    sys.setswitchinterval(1000)
    try:
        other.start()
        for call in (
            lambda: fenchel.entmax(z),
            lambda: fenchel.entmax_vjp(z, z),
            lambda: fenchel.entmax_loss(z, target),
            lambda: fenchel.fusedmax(z),
            lambda: fenchel.smooth_sparsemax(z),
            lambda: fenchel.negentropy(z),
        ):
            for _ in range(100):
                before = count[0]
                call()
                if count[0] > before:
                    break
            else:
                pytest.fail("no other thread ran during 100 calls")
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        other.join()


def test_no_leak_over_many_calls():
    z, v = np.random.default_rng(6).normal(size=(2, 2, 3))
    alphas, frozen = np.array([1.5, 2]), z.copy()
    frozen.flags.writeable = False
    out, classes = np.empty_like(z), np.array([0, 1])

    def calls(count):
        for _ in range(count):
            fenchel.entmax(z)
            fenchel.entmax(frozen, alphas, out=out)
            fenchel.sparsemax(z, axis=0)
            fenchel.entmax_vjp(z, v, return_alpha_gradient=True)
            fenchel.entmax_loss(z, classes, return_gradient=True)
            fenchel.fusedmax(z, 0.5, lengths=classes + 1)
            try:
                fenchel.entmax(z, -1)
            except ValueError:
                pass

    calls(300)
    references = [sys.getrefcount(x) for x in (z, v, frozen, out, classes, alphas)]
    blocks, memory = sys.getallocatedblocks(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    calls(5000)
    assert [sys.getrefcount(x) for x in (z, v, frozen, out, classes, alphas)] == references
    assert sys.getallocatedblocks() - blocks < 500
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 2048  # kilobytes
