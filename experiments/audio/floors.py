"""What a model of sequences has to beat: the most frequent class, and logistic regression on a summary of each clip.

Both learn from the training folds alone, and nothing about them is chosen by a test fold.
"""

from __future__ import annotations

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


def logistic_regression(clips: Clips, penalty: float = 0.01) -> dict[int, float]:
    """By test fold the accuracy of logistic regression on the `summary`, trained on the other folds.

    The library's own classifier at alpha = 1 standardises features by the training clips, and adds half the penalty
    times the sum of squares of the coefficients to the mean loss. The default is that of the classifier.
    """
    from fenchel.sklearn import EntmaxClassifier

    rows, classes, folds = summary(clips).cpu().numpy(), clips.classes.cpu().numpy(), clips.folds.cpu().numpy()
    accuracy = {}
    for fold in sorted(set(folds.tolist())):
        test = folds == fold
        model = EntmaxClassifier(alpha=1, penalty=penalty, tol=1e-5).fit(rows[~test], classes[~test])
        accuracy[fold] = float(model.score(rows[test], classes[test]))
    return accuracy
