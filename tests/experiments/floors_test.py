"""What the floors learn, and from which clips."""

import pytest
import torch

from experiments.audio import floors, made_up


def test_the_summary_is_that_of_each_clip_alone():
    clips = made_up.clips()
    rows = floors.summary(clips)
    assert rows.shape == (200, 36)
    for i in (0, 57):
        own = clips.frames[i, : clips.lengths[i]].double()
        steps = (own[1:] - own[:-1]).abs().mean(0)
        torch.testing.assert_close(rows[i], torch.cat([own.mean(0), own.std(0, correction=0), steps]))


def test_the_summary_of_one_frame_has_no_spread():
    clips = made_up.clips()
    one = clips._replace(lengths=torch.ones_like(clips.lengths), frames=clips.frames[:, :1])
    assert (floors.summary(one)[:, 12:] == 0).all()


def test_the_majority_is_that_of_the_training_folds():
    clips = made_up.clips()
    classes = clips.classes.clone()
    classes[clips.folds == 1] = 3
    classes[(clips.folds != 1) & (clips.classes == 0)] = 2
    accuracy = floors.majority(clips._replace(classes=classes))
    assert list(accuracy) == [1, 2, 3, 4]
    assert accuracy[1] == 0
    three = (classes == 3)[clips.folds == 2].double().mean().item()
    assert accuracy[2] == pytest.approx(three)


def test_logistic_regression_finds_the_classes_and_learns_none_from_the_test_fold():
    pytest.importorskip("fenchel.sklearn")
    clips = made_up.clips()
    accuracy = floors.logistic_regression(clips)
    assert list(accuracy) == [1, 2, 3, 4]
    assert min(accuracy.values()) > 0.9
    turned = torch.where(clips.folds == 2, (clips.classes + 1) % 4, clips.classes)
    assert floors.logistic_regression(clips._replace(classes=turned))[2] < 0.1
