"""Arguments that mean nothing: one line that names the argument, and never a crash."""

import copy
import math
import pickle
import subprocess
import sys

import fenchel
import numpy as np
import pytest

P = fenchel.BetaGaussian(2)
BASIS = fenchel.GaussianBasis([0.0, 0.5], 0.2)
MASKED = np.ma.array([1.0, 2.0], mask=[True, False])
RAGGED = [[1.0, 2.0], [3.0]]
HUGE = 10**400

WRONG = [
    ("alpha", lambda: fenchel.BetaGaussian(HUGE), ValueError),
    ("alpha", lambda: fenchel.BetaGaussian(10**5000), ValueError),
    ("alpha", lambda: fenchel.BetaGaussian(np.zeros((40, 40))), TypeError),
    ("alpha", lambda: fenchel.entmax([1.0, 2.0], HUGE), ValueError),
    ("axis", lambda: fenchel.sparsemax([1.0, 2.0], axis=-1.0), TypeError),
    ("axis", lambda: fenchel.sparsemax([1.0, 2.0], axis=None), TypeError),
    ("basis", lambda: fenchel.ValueFunction([1.0], None), TypeError),
    ("centre", lambda: fenchel.AbsoluteMoments("a"), TypeError),
    ("columns", lambda: list(fenchel.batches(np.zeros((1, 2)), columns="01")), TypeError),
    ("columns", lambda: list(fenchel.batches(np.zeros((1, 2)), columns=[1.5])), TypeError),
    ("cotangent", lambda: fenchel.match_weights_vjp(2, [[1.0]], 3), TypeError),
    ("count", lambda: fenchel.FourierBasis(2**63 - 1), ValueError),
    ("count", lambda: fenchel.GaussianBasis.linearly_spaced(10**18), ValueError),
    ("count", lambda: fenchel.set_num_threads("a"), TypeError),
    ("count", lambda: fenchel.set_num_threads(2**31), ValueError),
    ("cuts", lambda: fenchel.FunctionBasis([math.sin], [[0.0], [1.0]]), ValueError),
    ("data", lambda: fenchel.LineMoments.from_bytes(3), TypeError),
    ("data", lambda: fenchel.LineMoments().update(MASKED), ValueError),
    ("data", lambda: fenchel.LineMoments().update(RAGGED), ValueError),
    ("degree", lambda: fenchel.PolynomialBasis(2**63 - 1), ValueError),
    ("dimension", lambda: fenchel.Moments(2**32), ValueError),
    ("dimension", lambda: fenchel.Moments("a"), TypeError),
    ("direction", lambda: fenchel.attend_jvp(P, BASIS, 3), TypeError),
    ("direction", lambda: fenchel.attend_jvp(fenchel.Densities(2, [0.1], [1.0]), BASIS, None), TypeError),
    ("family", lambda: fenchel.fit([], [1.0]), TypeError),
    ("func", lambda: fenchel.MultivariateBetaGaussian(2, [0, 0], [1, 1]).expect(lambda x: "1.5"), TypeError),
    ("functions", lambda: fenchel.FunctionBasis(3), TypeError),
    ("ignore_index", lambda: fenchel.entmax_loss([1.0, 2.0], 0, ignore_index=2**63), ValueError),
    ("indices", lambda: fenchel.MultivariateBetaGaussian(2, [0, 0], [1, 1]).marginal(np.array([2**63])), ValueError),
    ("k", lambda: fenchel.AbsoluteMoments(0).moment(0.5), TypeError),
    ("length", lambda: fenchel.positions(2**63), ValueError),
    ("of", lambda: fenchel.EscortDensity(None, 2), TypeError),
    ("order", lambda: fenchel.LineMoments().central_moment(2**40), ValueError),
    ("order", lambda: P.moment(2**31 - 1), ValueError),
    ("powers", lambda: fenchel.AbsoluteMoments(0, [[1.0]]), ValueError),
    ("reduction", lambda: fenchel.entmax_loss([1.0, 2.0], 0, reduction=["mean"]), ValueError),
    ("rows", lambda: fenchel.grid_positions(2**62, 1), ValueError),
    ("scores", lambda: fenchel.sparsemax(MASKED), ValueError),
    ("sigma", lambda: fenchel.GaussianBasis.linearly_spaced(2, sigma=[[0.1]]), ValueError),
    ("size", lambda: P.rvs(2.5), TypeError),
    ("size", lambda: P.rvs((2.5,)), TypeError),
    ("size", lambda: P.rvs(b"a"), TypeError),
    ("size", lambda: P.rvs((2**40, 2**40)), ValueError),
    ("size", lambda: P.rvs(2**63), ValueError),
    ("weights", lambda: fenchel.match_weights(2, RAGGED), ValueError),
    ("x", lambda: fenchel.MultivariateAffineMap(np.eye(2), np.zeros(2))([1.0, 2.0, 3.0]), ValueError),
    ("x", lambda: P.pdf(RAGGED), ValueError),
]


@pytest.mark.parametrize("name, call, error", WRONG)
def test_message_is_one_line_that_names_the_argument(name, call, error):
    with pytest.raises(error) as raised:
        call()
    message = str(raised.value)
    assert name in message
    assert "\n" not in message
    assert "incompatible function arguments" not in message
    assert len(message) < 300


def test_size_as_in_numpy():
    for size, shape in [(None, ()), (np.array(2), (2,)), (np.array([2, 1]), (2, 1)), ([2, 1], (2, 1)), ((), ())]:
        assert np.shape(P.rvs(size, random_state=0)) == shape


def test_more_draws_than_memory():
    code = "import fenchel; fenchel.BetaGaussian(2).rvs(10**18)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stderr.splitlines()[-1].startswith("MemoryError")


def test_nothing_masked_is_an_array():
    np.testing.assert_array_equal(fenchel.sparsemax(np.ma.array([1.0, 2.0])), [0, 1])


def test_zeros_of_either_sign_are_one_basis():
    a, b = fenchel.GaussianBasis([0.0], 1), fenchel.GaussianBasis([-0.0], 1)
    assert a == b
    assert hash(a) == hash(b)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_value_function_is_pickled(protocol):
    value = fenchel.ValueFunction([[1.0, 2.0]], BASIS)
    for same in (pickle.loads(pickle.dumps(value, protocol)), copy.deepcopy(value)):
        np.testing.assert_array_equal(same(0.3), value(0.3))
