"""Statistics: the moments of NumPy, whatever the split, and what is no data."""

import copy
import pickle

import numpy as np
import pytest
from support import at_once

import fenchel

X = np.random.default_rng(1).gamma(2, 3, size=9001)
W = np.random.default_rng(2).integers(0, 4, size=9001).astype(float)
ROWS = np.random.default_rng(3).normal(size=(9001, 3)) @ [[1, 2, 0], [0, 1, 0.5], [0, 0, 3]] + [1e3, 0, -5]
MAKERS = {
    "LineMoments": (fenchel.LineMoments, X),
    "Moments": (lambda: fenchel.Moments(3), ROWS),
    "AbsoluteMoments": (lambda: fenchel.AbsoluteMoments(4.5, (1, 2.5)), X),
    "CountHistogram": (fenchel.CountHistogram, np.floor(X)),
    "RadialMoments": (lambda: fenchel.RadialMoments(ROWS.mean(axis=0), np.cov(ROWS.T)), ROWS),
}
each = pytest.mark.parametrize("make, data", MAKERS.values(), ids=MAKERS)


def numbers(statistics):
    """All that they say, as one array."""
    said = [statistics.weight]
    names = "mean variance covariance minimum maximum values weights mean_square weight_below weight_above"
    for name in names.split():
        if hasattr(statistics, name):
            said.append(getattr(statistics, name))
    if hasattr(statistics, "central_moment"):
        said += [statistics.central_moment(n) for n in (2, 3, 4)]
    if hasattr(statistics, "powers"):
        said += [statistics.moment(k) for k in range(len(statistics.powers))]
    return np.concatenate([np.ravel(part) for part in said])


def test_moments_of_numpy():
    s = fenchel.LineMoments().update(X)
    assert s.weight == X.size and s.minimum == X.min() and s.maximum == X.max()
    np.testing.assert_allclose([s.mean, s.variance], [X.mean(), X.var()], rtol=1e-12)
    central = [np.mean((X - X.mean()) ** n) for n in (2, 3, 4)]
    np.testing.assert_allclose([s.central_moment(n) for n in (2, 3, 4)], central, rtol=1e-11)

    m = fenchel.Moments(3).update(ROWS)
    np.testing.assert_allclose(m.mean, ROWS.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(m.covariance, np.cov(ROWS.T, bias=True), rtol=1e-10, atol=1e-12)
    assert m.dimension == 3

    a = fenchel.AbsoluteMoments(4.5, (1, 2.5)).update(X)
    np.testing.assert_allclose([a.moment(0), a.moment(1)], [np.mean(abs(X - 4.5) ** p) for p in (1, 2.5)], rtol=1e-12)
    assert (a.weight_below, a.weight_above) == (np.sum(X < 4.5), np.sum(X > 4.5))
    assert a.centre == 4.5 and a.powers == (1.0, 2.5)

    h = fenchel.CountHistogram().update(np.floor(X))
    values, counts = np.unique(np.floor(X), return_counts=True)
    np.testing.assert_array_equal(h.values, values)
    np.testing.assert_array_equal(h.weights, counts)
    np.testing.assert_allclose([h.mean, h.variance], [np.floor(X).mean(), np.floor(X).var()], rtol=1e-12)

    r = fenchel.RadialMoments(m.mean, m.covariance).update(ROWS)
    centred = ROWS - ROWS.mean(axis=0)
    q = np.einsum("ni,ij,nj->n", centred, np.linalg.inv(np.cov(ROWS.T, bias=True)), centred)
    np.testing.assert_allclose([r.mean, r.mean_square], [3, np.mean(q**2)], rtol=1e-9)


@each
@pytest.mark.parametrize("weights", [None, W], ids=["alone", "weighted"])
def test_any_split_gives_the_same(make, data, weights):
    def share(a, b):
        return make().update(data[a:b], None if weights is None else weights[a:b])

    whole = make().update(data, weights)
    merged = share(0, 1).merge(share(1, 17)).merge(share(17, 17)).merge(share(17, None))
    np.testing.assert_allclose(numbers(merged), numbers(whole), rtol=1e-12)
    updated = make()
    for a in range(0, len(data), 1000):
        assert updated.update(data[a : a + 1000], None if weights is None else weights[a : a + 1000]) is updated
    np.testing.assert_allclose(numbers(updated), numbers(whole), rtol=1e-12)
    streamed = make().update((data[a : a + 777] for a in range(0, len(data), 777)), weights)
    np.testing.assert_allclose(numbers(streamed), numbers(whole), rtol=1e-12)


@each
def test_weights_are_repeats(make, data):
    weighted, repeated = make().update(data, W), make().update(np.repeat(data, W.astype(int), axis=0))
    keep = ~np.isinf(numbers(weighted))
    if isinstance(weighted, fenchel.LineMoments):
        keep[3:5] = False  # extremes count values of weight 0
    np.testing.assert_allclose(numbers(weighted)[keep], numbers(repeated)[keep], rtol=1e-11)


@each
def test_bytes_pickles_and_copies(make, data):
    s = make().update(data, W)
    for other in (type(s).from_bytes(s.to_bytes()), pickle.loads(pickle.dumps(s)), copy.copy(s), copy.deepcopy(s)):
        assert other == s and other is not s and type(other) is type(s)
        np.testing.assert_array_equal(numbers(other), numbers(s))
    other = s.copy().update(data[:1])
    assert other != s and s.weight == W.sum()
    assert make().merge(s) == s
    assert s != "something else"
    with pytest.raises(TypeError):
        hash(s)
    twice = s.copy().merge(s)
    assert twice.weight == 2 * s.weight
    itself = s.copy()
    assert itself.merge(itself) == twice
    assert f"weight {s.weight:g}" in repr(s) and type(s).__name__ in repr(s)


@each
def test_bad_bytes(make, data):
    s = make().update(data[:5])
    for bad in (b"", b"abc", s.to_bytes()[:-1], s.to_bytes() + b"x", b"X" + s.to_bytes()[1:]):
        with pytest.raises(ValueError):
            type(s).from_bytes(bad)
    with pytest.raises(ValueError):
        fenchel.LineMoments.from_bytes(fenchel.CountHistogram().to_bytes())


@each
def test_an_entry_that_cannot_be_used_is_named_and_nothing_is_added(make, data):
    s = make().update(data)
    before = s.to_bytes()
    bad = data.copy()
    bad[5000, ...] = np.nan
    with pytest.raises(ValueError, match=r"row 5000, column 0: .*nan"):
        s.update(bad)
    with pytest.raises(ValueError, match=r"row 5000, column 0: .*nan"):
        s.update([bad[:4000], bad[4000:]])
    negative = W.copy()
    negative[8000] = -1
    with pytest.raises(ValueError, match=r"row 8000: weight must be finite and not negative, got -1"):
        s.update(data, negative)
    assert s.to_bytes() == before


def test_the_column_is_named():
    bad = ROWS.copy()
    bad[7, 2] = np.inf
    with pytest.raises(ValueError, match="row 7, column 2: .*inf"):
        fenchel.Moments(3).update(bad)
    with pytest.raises(ValueError, match="row 1, column 0: .*got 0.5"):
        fenchel.CountHistogram().update([1, 0.5])


@pytest.mark.parametrize(
    "bad, error, match",
    [
        (lambda: fenchel.LineMoments().update(["a"]), TypeError, "real numbers"),
        (lambda: fenchel.LineMoments().update([1j]), TypeError, "real numbers"),
        (lambda: fenchel.LineMoments().update(None), TypeError, "must be an array, .*got a NoneType"),
        (lambda: fenchel.LineMoments().update([[1, 2]]), ValueError, "1 column, got 2"),
        (lambda: fenchel.LineMoments().update(np.zeros((2, 2, 2))), ValueError, r"shape \(2, 2, 2\)"),
        (lambda: fenchel.Moments(2).update([1, 2]), ValueError, r"rows by columns, got shape \(2,\)"),
        (lambda: fenchel.Moments(0), ValueError, "dimension"),
        (lambda: fenchel.Moments(1.5), TypeError, None),
        (lambda: fenchel.LineMoments().update([1, 2], [1]), ValueError, "one entry for each of 2 rows, got 1"),
        (lambda: fenchel.LineMoments().update([1, 2], [1, 2, 3]), ValueError, "one entry for each of 2 rows, got 3"),
        (lambda: fenchel.LineMoments().update([1, 2], 1.0), ValueError, "weights must be a vector"),
        (lambda: fenchel.LineMoments().update([1], ["w"]), TypeError, "weights must be real"),
        (lambda: fenchel.LineMoments().merge(fenchel.Moments(1)), TypeError, "LineMoments, got Moments"),
        (lambda: fenchel.Moments(1).merge(fenchel.Moments(2)), ValueError, None),
        (lambda: fenchel.AbsoluteMoments(0).merge(fenchel.AbsoluteMoments(1)), ValueError, None),
        (lambda: fenchel.AbsoluteMoments(np.nan), ValueError, "nan"),
        (lambda: fenchel.AbsoluteMoments(0, [0]), ValueError, None),
        (lambda: fenchel.AbsoluteMoments(0).moment(1), ValueError, None),
        (lambda: fenchel.LineMoments().central_moment(5), ValueError, "5"),
        (lambda: fenchel.RadialMoments([0, 0], np.zeros((2, 2))), ValueError, "positive definite"),
        (lambda: fenchel.RadialMoments([0, 0], np.eye(3)), ValueError, "as many"),
        (lambda: fenchel.RadialMoments(0, np.eye(1)), ValueError, "vector"),
    ],
)
def test_bad_arguments(bad, error, match):
    with pytest.raises(error, match=match):
        bad()


def test_arrays_of_all_kinds():
    x = np.arange(10.0)
    expected = fenchel.LineMoments().update(x)
    fixed = x.copy()
    fixed.flags.writeable = False
    buffer = np.zeros(81, np.uint8)
    unaligned = buffer[1:].view(np.float64)
    unaligned[:] = x
    for same in (
        x.astype(np.float32),
        x.astype(np.int8),
        x.astype(">f8"),
        np.repeat(x, 2)[::2],
        x[::-1][::-1],
        x.reshape(-1, 1),
        list(x),
        fixed,
        unaligned,
    ):
        assert fenchel.LineMoments().update(same) == expected
    assert fenchel.LineMoments().update(3.0) == fenchel.LineMoments().update([3.0])
    assert fenchel.LineMoments().update([]) == fenchel.LineMoments()
    assert fenchel.LineMoments().update(np.empty((0, 1))).weight == 0
    assert np.isnan(fenchel.LineMoments().mean) and fenchel.LineMoments().minimum == np.inf
    assert np.isnan(fenchel.Moments(2).covariance).all()
    assert fenchel.Moments(3).update(list(ROWS[:5])) == fenchel.Moments(3).update(ROWS[:5])
    assert fenchel.Moments(1).update(x) == fenchel.Moments(1).update([x])
    assert fenchel.Moments(2).update(np.asfortranarray(ROWS[:, :2])) == fenchel.Moments(2).update(ROWS[:, :2].copy())


@each
def test_threads_at_once(make, data):
    s = make()
    at_once(4, lambda: s.update(data))
    assert s.weight == 4 * len(data)
