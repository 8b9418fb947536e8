#!/usr/bin/env python3
"""Held-out scores of count models: Poisson, negative binomial, Conway-Maxwell-Poisson and the sparse Poisson with the
alpha of largest likelihood, on count data of the folder DATA (a CSV file for each set).

usage: python bench/counts.py DATA [SET ...]

Each set is cut into five parts by a fixed seed; a model that was fitted to four of them is scored on the fifth. Printed
are means over all rows: the log score -log p(y), and the ranked probability score sum_k (F(k) - [y <= k])^2; less is
better in both. A log score is infinite where a count had probability 0. alpha is that of all rows: with its standard
error where there are no features, else the best of 0.6, 0.7, ..., 1.2. The other models are fitted by maximum likelihood with SciPy.
"""
import argparse
import csv
import pathlib
import sys

import numpy as np
import scipy.optimize
import scipy.special
import scipy.stats

import fenchel
from fenchel.sklearn import SparsePoissonRegressor

FOLDS, SEED = 5, 0
# The column of the count, and those of features: numbers, or categories.
SETS = {
    "weldondice": ("value", []), "saxony": ("value", []), "womenqueue": ("value", []), "rutherford": ("value", []),
    "prussian": ("y", []), "horsekicks": ("value", []), "discoveries": ("discoveries", []), "federalist": ("value", []),
    "insectsprays": ("count", ["spray"]), "biochemists": ("art", ["fem", "mar", "kid5", "phd", "ment"]),
    "epil": ("y", ["lbase", "trt", "lage", "V4"]), "warpbreaks": ("breaks", ["wool", "tension"]),
    "quine": ("Days", ["Eth", "Sex", "Age", "Lrn"]),
}


def numbers(column):
    try:
        return np.array([[float(text)] for text in column])
    except ValueError:
        kinds = sorted(set(column))[1:]
        return np.array([[float(text == kind) for kind in kinds] for text in column])


def read(path, target, features):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    y = np.array([int(float(row[target])) for row in rows])
    if "freq" in rows[0]:
        y = np.repeat(y, [int(row["freq"]) for row in rows])
    parts = [numbers([row[name] for row in rows]) for name in features]
    return np.hstack(parts) if parts else np.empty((len(y), 0)), y


def designed(X):
    return np.hstack([np.ones((len(X), 1)), X])


def maximised(loss, start):
    best = scipy.optimize.minimize(loss, start, method="BFGS")
    return scipy.optimize.minimize(loss, best.x, method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-7}).x


class Poisson:
    def fit(self, X, y):
        D = designed(X)
        start = np.zeros(D.shape[1])
        start[0] = np.log(y.mean())
        self.b = scipy.optimize.minimize(lambda b: np.exp(D @ b).mean() - (y * (D @ b)).mean(), start,
                                         jac=lambda b: D.T @ (np.exp(D @ b) - y) / len(y)).x
        return self

    def pmf(self, X, k):
        return scipy.stats.poisson.pmf(k[None, :], np.exp(designed(X) @ self.b)[:, None])


class NegativeBinomial:
    def fit(self, X, y):
        D = designed(X)

        def loss(parameters):
            mu, size = np.exp(np.clip(D @ parameters[:-1], -30, 30)), np.exp(np.clip(parameters[-1], -10, 15))
            return -scipy.stats.nbinom.logpmf(y, size, size / (size + mu)).mean()

        self.parameters = maximised(loss, np.append(Poisson().fit(X, y).b, 2.0))
        return self

    def pmf(self, X, k):
        mu, size = np.exp(designed(X) @ self.parameters[:-1])[:, None], np.exp(np.clip(self.parameters[-1], -10, 15))
        return scipy.stats.nbinom.pmf(k[None, :], size, size / (size + mu))


class ConwayMaxwellPoisson:
    """p(k) proportional to exp(nu (k log mu - log k!)), mu of the features."""

    def log_pmf(self, X, k, parameters):
        log_mu, nu = designed(X) @ parameters[:-1], np.exp(np.clip(parameters[-1], -4, 4))
        all_k = np.arange(max(600, 3 * k.max() + 100))
        terms = nu * (all_k[None, :] * log_mu[:, None] - scipy.special.gammaln(all_k + 1)[None, :])
        norm = scipy.special.logsumexp(terms, axis=1, keepdims=True)
        return nu * (k[None, :] * log_mu[:, None] - scipy.special.gammaln(k + 1)[None, :]) - norm

    def fit(self, X, y):
        X_of, where = np.unique(X, axis=0, return_inverse=True)
        k, column = np.unique(y, return_inverse=True)

        def loss(parameters):
            return -self.log_pmf(X_of, k, parameters)[where.ravel(), column].mean()

        self.parameters = maximised(loss, np.append(Poisson().fit(X, y).b, 0.0))
        return self

    def pmf(self, X, k):
        return np.exp(self.log_pmf(X, k, self.parameters))


class SparsePoisson:
    """alpha by likelihood, the rest by the Fenchel-Young loss."""

    def regression(self, X, y, alpha):
        with np.errstate(all="ignore"):
            model = SparsePoissonRegressor(alpha=alpha).fit(X, y)
            return model, sum(p.logpmf(int(count)) for p, count in zip(model.predict_dist(X), y))

    def fit(self, X, y):
        self.model = None
        if X.shape[1] == 0:
            self.fitted = fenchel.fit(fenchel.SparsePoisson, y, alpha="auto")
            self.alpha = self.fitted.distribution.alpha
            return self
        likelihoods = {alpha: self.regression(X, y, alpha)[1] for alpha in (0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2)}
        self.alpha = max(likelihoods, key=lambda alpha: likelihoods[alpha])
        self.model = self.regression(X, y, self.alpha)[0]
        return self

    def pmf(self, X, k):
        laws = [self.fitted.distribution] * len(X) if self.model is None else self.model.predict_dist(X)
        cache = {}
        return np.array([cache.setdefault((p.alpha, p.mu), p.pmf(k)) for p in laws])


MODELS = {"Poisson": Poisson, "negative binomial": NegativeBinomial, "COM-Poisson": ConwayMaxwellPoisson,
          "sparse Poisson": SparsePoisson}


def scores(model, X, y):
    """The log score and the ranked probability score of each row."""
    k = np.arange(4 * y.max() + 200)
    p = model.pmf(X, k)
    with np.errstate(divide="ignore"):
        logs = -np.log(p[np.arange(len(y)), y])
    return logs, ((np.cumsum(p, axis=1) - (k[None, :] >= y[:, None])) ** 2).sum(axis=1)


def held_out(kind, X, y):
    part = np.random.default_rng(SEED).permutation(len(y)) % FOLDS
    results = [scores(kind().fit(X[part != k], y[part != k]), X[part == k], y[part == k]) for k in range(FOLDS)]
    return tuple(np.concatenate(kinds).mean() for kinds in zip(*results))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path, metavar="DATA")
    parser.add_argument("sets", nargs="*", metavar="SET", choices=[[], *SETS])
    arguments = parser.parse_args()
    print("| data | rows | variance / mean | alpha | " + " | ".join(MODELS) + " |")
    print("| --- | --- | --- | --- |" + " --- |" * len(MODELS))
    for name in arguments.sets or SETS:
        path = arguments.data / f"{name}.csv"
        if not path.exists():
            print(f"counts.py: {path} is missing", file=sys.stderr)
            continue
        X, y = read(path, *SETS[name])
        whole = SparsePoisson().fit(X, y)
        alpha = f"{whole.alpha:.2f}" if whole.model else f"{whole.alpha:.2f} +- {whole.fitted.standard_errors[0]:.2f}"
        rows = [held_out(kind, X, y) for kind in MODELS.values()]
        cells = [f"{log:.4f}, {rps:.4f}" for log, rps in rows]
        print(f"| {name} | {len(y)} | {y.var() / y.mean():.2f} | {alpha} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
