"""EntmaxClassifier: the numbers of scikit-learn, exact zeros, labels and weights."""

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import fenchel
from fenchel.sklearn import EntmaxClassifier

X, Y = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(X)


def sparsemax(z):
    """The projection of a vector onto the simplex, by sorting."""
    s = np.sort(z)[::-1]
    tau = max((np.cumsum(s) - 1) / np.arange(1, len(s) + 1))
    return np.maximum(z - tau, 0)


@pytest.mark.parametrize("classes", [2, 3])
def test_alpha_one_is_logistic_regression(classes):
    x, y = X[Y < classes], Y[Y < classes]
    x = StandardScaler().fit_transform(x)
    ours = EntmaxClassifier(1.0, penalty=0.01).fit(x, y)
    # For two classes ours are two rows of coefficients, each half of theirs: half of the sum of squares.
    theirs = LogisticRegression(C=(2 if classes == 2 else 1) / (0.01 * len(y)), tol=1e-12, max_iter=10_000).fit(x, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(x), theirs.predict_proba(x), atol=1e-5)
    np.testing.assert_allclose(ours.decision_function(x), theirs.decision_function(x), atol=1e-4)
    assert ours.coef_.shape == theirs.coef_.shape and ours.intercept_.shape == theirs.intercept_.shape


@pytest.mark.parametrize("alpha", [0.5, 1, 1.5, 2, 3])
def test_probabilities(alpha):
    model = EntmaxClassifier(alpha).fit(X, Y)
    p, scores = model.predict_proba(X), model.decision_function(X)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert p.min() >= 0 and ((p == 0).mean() > 0.3 if alpha > 1 else p.min() > 0)
    np.testing.assert_allclose(scores, X @ model.coef_.T + model.intercept_, rtol=1e-14)
    np.testing.assert_array_equal(model.predict(X), p.argmax(axis=1))
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))
    # The gradient in the intercepts is 0.
    np.testing.assert_allclose(p.mean(axis=0), 1 / 3, atol=1e-8)
    assert model.score(X, Y) > 0.9


def test_alpha_two_is_sparsemax():
    model = EntmaxClassifier(2.0).fit(X, Y)
    expected = [sparsemax(z) for z in model.decision_function(X)]
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-14)
    assert np.array_equal(model.predict_proba(X) == 0, np.array(expected) == 0)
    two = EntmaxClassifier(2.0).fit(X, Y == 1)
    expected = np.clip((1 + two.decision_function(X)) / 2, 0, 1)
    np.testing.assert_allclose(two.predict_proba(X), np.column_stack([1 - expected, expected]), atol=1e-14)


def test_labels_of_any_kind():
    names = load_iris().target_names
    numbers, strings = EntmaxClassifier().fit(X, Y), EntmaxClassifier().fit(X, names[Y])
    assert list(strings.classes_) == list(names)
    np.testing.assert_array_equal(strings.predict(X), names[numbers.predict(X)])
    np.testing.assert_array_equal(strings.predict_proba(X), numbers.predict_proba(X))
    x, y = load_breast_cancer(return_X_y=True)
    for labels in (y == 1, np.where(y, "benign", "malignant"), np.where(y, 7, -7)):
        model = EntmaxClassifier().fit(x, labels)
        assert model.score(x, labels) > 0.97 and model.decision_function(x).shape == (len(x),)
        assert model.coef_.shape == (1, 30) and set(model.predict(x)) == set(labels)


@pytest.mark.parametrize("alpha", [1, 1.5, 2])
def test_digits_converge_by_default(alpha):
    x, y = load_digits(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = EntmaxClassifier(alpha).fit(x, y)
    assert model.score(x, y) > 0.98
    # By more threads the same bits: there are several batches.
    fenchel.set_num_threads(3)
    np.testing.assert_array_equal(EntmaxClassifier(alpha).fit(x, y).coef_, model.coef_)
    fenchel.set_num_threads(1)
    np.testing.assert_array_equal(EntmaxClassifier(alpha).fit(x, y).coef_, model.coef_)
    fenchel.set_num_threads(0)


def test_separable_classes_have_no_loss():
    model = EntmaxClassifier(1.5, penalty=0.0).fit(X[:, 2:], Y == 0)
    assert 0 <= model.loss_ < 1e-9
    p = model.predict_proba(X[:, 2:])
    assert (p == 0).sum() > 100 and np.minimum(p, 1 - p).max() < 1e-3


def test_weights_are_repeated_rows():
    weights = np.arange(len(Y)) % 3
    weighted = EntmaxClassifier().fit(X, Y, sample_weight=weights)
    repeated = EntmaxClassifier().fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)


def test_what_is_refused():
    for x, y, message in [
        (X, np.zeros(150), "one class"),
        (X, X[:, 0], "Unknown label type"),
        (X, Y[:-1], "inconsistent"),
        (X[:, :0], Y, "0 feature"),
    ]:
        with pytest.raises(ValueError, match=message):
            EntmaxClassifier().fit(x, y)
