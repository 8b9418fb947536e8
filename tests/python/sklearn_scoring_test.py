"""fenchel_young_loss and fenchel_young_scorer: scikit-learn's losses, zeros, folds, searches."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fenchel.sklearn import EntmaxClassifier, fenchel_young_loss, fenchel_young_scorer

RNG = np.random.default_rng(5)
P = RNG.dirichlet([1, 2, 3, 1], 200)
Y = np.array([RNG.choice(list("abcd"), p=p) for p in P])
WEIGHTS = RNG.uniform(0, 2, len(Y))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
def test_the_losses_of_scikit_learn(weights):
    np.testing.assert_allclose(
        fenchel_young_loss(Y, P, alpha=1, sample_weight=weights), log_loss(Y, P, sample_weight=weights), rtol=1e-12
    )
    brier = np.average(np.sum((P - (Y[:, None] == np.array(list("abcd")))) ** 2, axis=1), weights=weights)
    np.testing.assert_allclose(fenchel_young_loss(Y, P, alpha=2, sample_weight=weights), brier / 2, rtol=1e-12)
    two, p = Y == "c", P[:, 2]
    expected = brier_score_loss(two, p, sample_weight=weights)
    for given in (p, p[:, None], np.column_stack([1 - p, p])):
        np.testing.assert_allclose(fenchel_young_loss(two, given, alpha=2, sample_weight=weights), expected, rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.7, 1.3, 1.5, 3])
def test_other_alphas_by_the_formula(alpha):
    of_class = P[np.arange(len(Y)), np.searchsorted(list("abcd"), Y)]
    losses = 1 - alpha * of_class ** (alpha - 1) + (alpha - 1) * np.sum(P**alpha, axis=1)
    expected = np.mean(losses) / (alpha * (alpha - 1))
    np.testing.assert_allclose(fenchel_young_loss(Y, P, alpha=alpha), expected, rtol=1e-10)


def test_a_probability_of_zero_is_punished_but_not_without_bound():
    assert fenchel_young_loss([0, 1], [[1.0, 0.0], [1.0, 0.0]], alpha=1.5) == pytest.approx(1)
    assert fenchel_young_loss([0, 1], [[1.0, 0.0], [1.0, 0.0]], alpha=2) == pytest.approx(0.5)
    assert np.isinf(fenchel_young_loss([0, 1], [[1.0, 0.0], [1.0, 0.0]], alpha=1))


def test_it_is_at_most_the_loss_that_the_classifier_minimises():
    X, y = load_iris(return_X_y=True)
    for alpha in (1, 1.5, 2):
        model = EntmaxClassifier(alpha).fit(X, y)
        loss = fenchel_young_loss(y, model.predict_proba(X), alpha=alpha)
        assert loss <= model.loss_ * (1 + 1e-12)
        if alpha == 1:
            assert loss == pytest.approx(model.loss_, rel=1e-12)


def test_scores_any_classifier_in_searches():
    X, y = load_iris(return_X_y=True)
    scorer = pickle.loads(pickle.dumps(fenchel_young_scorer(1)))
    for model in (LogisticRegression(max_iter=1000), RandomForestClassifier(10, random_state=0)):
        ours = cross_val_score(model, X, y, scoring=fenchel_young_scorer(2))
        assert np.all((-0.2 < ours) & (ours < 0))
    theirs = cross_val_score(EntmaxClassifier(1.0), X, y, scoring="neg_log_loss")
    np.testing.assert_allclose(cross_val_score(EntmaxClassifier(1.0), X, y, scoring=scorer), theirs, rtol=1e-10)
    # Log loss cannot choose between alphas with zeros; this can.
    model = make_pipeline(StandardScaler(), EntmaxClassifier())
    alphas = {"entmaxclassifier__alpha": [1.0, 1.5, 2.0]}
    search = GridSearchCV(model, alphas, scoring=fenchel_young_scorer(1.5), cv=3).fit(X, y)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"])) and -0.2 < search.best_score_ < 0
    results = cross_validate(model, X, y, scoring={"loss": fenchel_young_scorer(), "accuracy": "accuracy"})
    assert np.all(results["test_loss"] < 0) and np.all(results["test_accuracy"] > 0.8)
    assert repr(fenchel_young_scorer(1.25)) == "fenchel_young_scorer(1.25)"


def test_folds_may_lack_a_class():
    X, y = load_iris(return_X_y=True)
    scores = cross_val_score(EntmaxClassifier(), X[30:120], y[30:120], scoring=fenchel_young_scorer(), cv=KFold(10))
    assert np.all(scores < 0)
    assert fenchel_young_loss([0, 0], [[0.9, 0.1, 0], [1, 0, 0]], labels=[0, 1, 2]) > 0


def test_what_is_refused():
    for y, p, arguments, message in [
        ([0, 1], [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]], {}, "a column for each label, got 3 columns for 2 labels"),
        ([0, 3], [[0.5, 0.5], [1.0, 0.0]], {"labels": [0, 1]}, "labels alone, got 3"),
        ([0, 1], [[0.5, 0.6], [1.0, 0.0]], {}, "the sum of row 0 must be 1, got 1.1"),
        ([0, 1], [[0.5, 0.5], [1.5, -0.5]], {}, "row 1 must not be negative"),
        ([0, 1], [[0.5, 0.5], [np.nan, 1]], {}, "NaN"),
        ([0, 1], [[0.5, 0.5]], {}, "inconsistent"),
        ([0, 1], [[0.5, 0.5], [1, 0]], {"alpha": 0}, "alpha must be positive"),
        ([0, 1], [[0.5, 0.5], [1, 0]], {"sample_weight": [1, -1]}, "Negative values"),
        ([0, 1], [[0.5, 0.5], [1, 0]], {"sample_weight": [1]}, "sample_weight.shape"),
        ([0.5, 1.2], [[0.5, 0.5], [1, 0]], {}, "Unknown label type"),
    ]:
        with pytest.raises(ValueError, match=message):
            fenchel_young_loss(y, p, **arguments)
