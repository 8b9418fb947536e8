"""How long EntmaxClassifier takes beside LogisticRegression, on the digits of scikit-learn.

    python bench/classification.py                  # by one thread and by two
    python bench/classification.py --threads 1 4

The features are standardised and the penalty is the same, so that at alpha = 1 both minimise the same function. The times
are the best of several fits in turn; processor time counts all threads. The gradient is what scikit-learn's is at its end:
it also stops where the loss no longer falls.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import fenchel
import numpy as np
from fenchel.sklearn import EntmaxClassifier
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

PENALTY = 0.01
ALPHAS = (1.0, 1.5, 2.0)
Rows = tuple[np.ndarray, np.ndarray]


def gradient(model: Any, rows: Rows) -> float:
    """The largest entry of the gradient of the objective of alpha = 1."""
    X, y = rows
    residual = model.predict_proba(X)
    residual[np.arange(len(y)), y] -= 1
    slopes = residual.T @ X / len(y) + PENALTY * model.coef_
    return float(max(abs(slopes).max(), abs(residual.mean(axis=0)).max()))


def measure(models: dict[str, Any], rows: Rows, rounds: int) -> dict[str, tuple[float, float]]:
    """Seconds and processor seconds of each model, the least of the rounds."""
    best = {name: (np.inf, np.inf) for name in models}
    for _ in range(rounds):
        for name, model in models.items():
            elapsed, processor = time.perf_counter(), time.process_time()
            model.fit(*rows)
            taken = time.perf_counter() - elapsed, time.process_time() - processor
            best[name] = min(best[name][0], taken[0]), min(best[name][1], taken[1])
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    X, y = load_digits(return_X_y=True)
    rows = StandardScaler().fit_transform(X), y
    print("| threads | tolerance | model | ms | processor ms | over LogisticRegression | iterations | accuracy | gradient |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for threads in options.threads:
        fenchel.set_num_threads(threads)
        with threadpool_limits(threads):
            for tol in (1e-4, 1e-9):
                logistic = LogisticRegression(C=1 / (PENALTY * len(y)), tol=tol, max_iter=10_000)
                models = {"LogisticRegression": logistic}
                models |= {f"alpha = {alpha:g}": EntmaxClassifier(alpha, penalty=PENALTY, tol=tol) for alpha in ALPHAS}
                times = measure(models, rows, options.rounds)
                for name, model in models.items():
                    elapsed, processor = times[name]
                    ratio = elapsed / times["LogisticRegression"][0]
                    slope = f"{gradient(model, rows):.1e}" if name in ("LogisticRegression", "alpha = 1") else ""
                    print(
                        f"| {threads} | {tol:g} | {name} | {1e3 * elapsed:.1f} | {1e3 * processor:.1f} | {ratio:.2f} | "
                        f"{np.max(model.n_iter_)} | {model.score(*rows):.4f} | {slope} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
