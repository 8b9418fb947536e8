"""The images and questions of Sort-of-CLEVR are those of its description."""

from __future__ import annotations

import pytest
import torch

from experiments.vqa import sort_of_clevr
from experiments.vqa.sort_of_clevr import ANSWERS, COLOURS, KINDS

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def data():
    return sort_of_clevr.generate(train=60, test=20, seed=3)


def test_sizes(data):
    assert data.train.images.shape == (60, 3, 75, 75) and data.train.images.dtype == torch.uint8
    assert len(data.train) == 60 * 20 and len(data.test) == 20 * 20
    assert data.train.words.shape == (1200, 3)
    assert (data.train.image.bincount() == 20).all()
    relational = data.train.kind >= sort_of_clevr.RELATIONAL
    assert (data.train.image[relational].bincount() == 10).all()


def test_centres_keep_their_distance_and_lie_inside():
    centre = sort_of_clevr.centres(300, torch.Generator().manual_seed(0)).float()
    assert centre.min() >= 5 and centre.max() <= 69
    distance = torch.cdist(centre, centre) + 1000 * torch.eye(6)
    assert distance.min() >= 10
    # Draws are uniform but for the distance: the middle of the image is their mean.
    assert (centre.mean((0, 1)) - 37).abs().max() < 1.5


def test_the_same_seed_gives_the_same_images_and_another_others():
    first, again, other = (sort_of_clevr.generate(3, 2, seed=seed).train for seed in (5, 5, 6))
    assert torch.equal(first.images, again.images) and torch.equal(first.answer, again.answer)
    assert not torch.equal(first.images, other.images)
    assert not torch.equal(first.images[:2], sort_of_clevr.generate(3, 2, seed=5).test.images)


def test_squares_have_121_pixels_and_circles_fewer():
    centre = torch.tensor([[[20, 30], [50, 60]]])
    pixels = sort_of_clevr.object_pixels(centre, torch.tensor([[False, True]]))[0]
    assert pixels[0, 25:36, 15:26].all() and pixels[0].sum() == 121
    y, x = pixels[1].nonzero().unbind(-1)
    assert x.min() == 45 and x.max() == 55 and y.min() == 55 and y.max() == 65
    assert abs(pixels[1].sum() - torch.pi * 5.5**2) < 5
    assert not pixels[1, 55, 45]


def test_objects_have_their_colours(data):
    train = data.train
    last = train.objects[:, -1].unsqueeze(1).expand(-1, 3, -1, -1)
    colour = torch.tensor(list(COLOURS.values())[-1], dtype=torch.uint8).view(3, 1, 1).expand_as(train.images)
    assert torch.equal(train.images[last], colour[last])
    nothing = ~train.objects.any(1)
    assert (train.images.movedim(1, -1)[nothing] == 255).all()


def answer_by_hand(kind: str, colour: int, centre: list[list[int]], circle: list[bool]) -> tuple[str, set[int]]:
    """One question after the other, in plain words."""

    def shape(i: int) -> str:
        return "circle" if circle[i] else "square"

    def distance(i: int) -> int:
        return sum((a - b) ** 2 for a, b in zip(centre[i], centre[colour]))

    others = [i for i in range(6) if i != colour]
    if kind == "shape":
        return shape(colour), {colour}
    if kind == "left":
        return ("yes" if centre[colour][0] < 37.5 else "no"), {colour}
    if kind == "top":
        return ("yes" if centre[colour][1] < 37.5 else "no"), {colour}
    if kind == "closest":
        return shape(min(others, key=distance)), {min(others, key=distance)}
    if kind == "furthest":
        return shape(max(others, key=distance)), {max(others, key=distance)}
    alike = {i for i in range(6) if circle[i] == circle[colour]}
    return str(len(alike)), alike


def test_answers():
    random = torch.Generator().manual_seed(7)
    centre = sort_of_clevr.centres(200, random)
    circle = torch.rand(200, 6, generator=random) < 0.5
    kind = torch.arange(200) % 6
    colour = torch.randint(6, (200,), generator=random)
    answer, about = sort_of_clevr.answers(kind, colour, centre, circle)
    for row in range(200):
        wanted = answer_by_hand(KINDS[kind[row]], int(colour[row]), centre[row].tolist(), circle[row].tolist())
        assert (ANSWERS[answer[row]], set(about[row].nonzero()[:, 0].tolist())) == wanted


def test_words_say_what_is_asked(data):
    words, kind = data.test.words, data.test.kind
    assert (words.amax(0) <= torch.tensor([6, 8, 11])).all() and (words.amin(0) >= torch.tensor([1, 7, 9])).all()
    assert torch.equal(3 * (words[:, 1] - 7) + words[:, 2] - 9, kind)
    assert torch.equal(data.test.asked.long().argmax(-1), words[:, 0] - 1)
    assert sort_of_clevr.sentence(torch.tensor([3, 8, 10])) == "which shape is furthest from the blue object?"


def test_regions(data):
    test = data.test
    question = torch.arange(len(test))
    asked = test.region(question, test.asked)
    own = test.objects[test.image, test.words[:, 0] - 1]
    assert torch.equal(asked, own)
    alone = test.kind < sort_of_clevr.RELATIONAL
    assert torch.equal(asked[alone], test.region(question[alone], test.answering))
    closest = test.kind == KINDS.index("closest")
    assert not (test.asked & test.answering)[closest].any()
