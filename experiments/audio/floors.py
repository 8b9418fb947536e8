"""What a model of sequences has to beat: the most frequent class, and logistic regression on a summary of each clip.

Both learn from the training folds alone, and nothing about them is chosen by a test fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .data import Clips


def summary(clips: Clips) -> torch.Tensor:
    """Mean, deviation and mean absolute difference of neighbouring frames, of each channel over the clip's frames.

    The shape is (clips, 3 channels), in double precision. The clips are meant to be those that were read: after
    `prepared(clips, "clip")` each mean is 0 up to rounding, which a classifier that standardises features enlarges.
    """
    frames, inside, lengths = clips.frames.double(), clips.inside()[..., None], clips.lengths[:, None]
    mean = frames.sum(1) / lengths
    variance = ((frames - mean[:, None]).square() * inside).sum(1) / lengths
    steps = (frames.diff(dim=1).abs() * inside[:, 1:]).sum(1) / (lengths - 1).clamp(min=1)
    return torch.cat([mean, variance.sqrt(), steps], 1)


def majority(clips: Clips) -> dict[int, float]:
    """By test fold the accuracy of the class that is the most frequent in the other folds, the first of equals."""
    accuracy = {}
    for fold in clips.folds.unique().tolist():
        test = clips.folds == fold
        accuracy[fold] = (clips.classes[test] == clips.classes[~test].bincount().argmax()).double().mean().item()
    return accuracy


def logistic_regression(clips: Clips, penalties: Sequence[float] = (0.1, 0.01, 0.001)) -> dict[int, float]:
    """By test fold the accuracy of logistic regression on the `summary`, trained on the other folds.

    The library's own classifier at alpha = 1 standardises features by the training clips, and adds half the penalty
    times the sum of squares of the coefficients to the mean loss. The penalty is the one that does best on the fold after
    the test fold when the rest is trained on, so that no test fold chooses its own.
    """
    from fenchel.sklearn import EntmaxClassifier

    rows, classes, folds = summary(clips).cpu().numpy(), clips.classes.cpu().numpy(), clips.folds.cpu().numpy()

    def score(penalty: float, train: Any, test: Any) -> float:
        model = EntmaxClassifier(alpha=1, penalty=penalty, tol=1e-5).fit(rows[train], classes[train])
        return float(model.score(rows[test], classes[test]))

    names = sorted(set(folds.tolist()))
    accuracy = {}
    for fold, after in zip(names, names[1:] + names[:1]):
        test, choosing = folds == fold, folds == after
        best = max(penalties, key=lambda penalty: score(penalty, ~(test | choosing), choosing))
        accuracy[fold] = score(best, ~test, test)
    return accuracy
