"""Sort-of-CLEVR, generated from its published description.

An image has 75 x 75 pixels and six objects, one of each colour: a square of 11 x 11 pixels or a circle of radius 5,
with centres at least 10 pixels apart. Ten questions about it are about one object, and ten about its relation to
others.
"""

from __future__ import annotations

import torch

from .questions import DataSet, Questions

SIDE = 75
RADIUS = 5
LEAST_DISTANCE = 10
COLOURS = {
    "red": (255, 0, 0),
    "green": (0, 255, 0),
    "blue": (0, 0, 255),
    "orange": (255, 156, 0),
    "gray": (128, 128, 128),
    "yellow": (255, 255, 0),
}
ANSWERS = ("yes", "no", "square", "circle", "1", "2", "3", "4", "5", "6")
KINDS = ("shape", "left", "top", "closest", "furthest", "count")
"""Whether the object is in the left or in the top half; the shape of the object closest to it, or furthest; how many
objects, with it, have its shape."""
RELATIONAL = 3
"""The first kind that is about a relation."""
SORTS = {"one object": list(KINDS[:RELATIONAL]), "relations": list(KINDS[RELATIONAL:])}
VOCABULARY = ("", *COLOURS, "alone", "related", "first", "second", "third")
"""A question has three words: a colour, whether it is about a relation, and which of the three kinds of these it is."""
QUESTIONS_OF_A_SORT = 10
SENTENCES = {
    "shape": "which shape is the {} object?",
    "left": "is the {} object on the left?",
    "top": "is the {} object at the top?",
    "closest": "which shape is closest to the {} object?",
    "furthest": "which shape is furthest from the {} object?",
    "count": "how many have the shape of the {} object?",
}


def generate(train: int = 9800, test: int = 1000, seed: int = 0) -> DataSet:
    """So many images of each part, 20 questions each. The published test set has 200 images: more make for narrower
    intervals."""
    random = torch.Generator().manual_seed(seed)
    parts = [_questions(count, random) for count in (train, test)]
    return DataSet("sort-of-clevr", parts[0], parts[1], list(VOCABULARY), list(ANSWERS), list(KINDS), SORTS)


def sentence(words: torch.Tensor) -> str:
    """The question of three words, as one would ask it."""
    colour, sort, which = (VOCABULARY[word] for word in words.tolist())
    kind = ("first", "second", "third").index(which) + RELATIONAL * (sort == "related")
    return SENTENCES[KINDS[kind]].format(colour)


def centres(images: int, random: torch.Generator) -> torch.Tensor:
    """(images, 6, 2): pixels (x, y), drawn one object after the other, again where it is too close to another."""
    found = torch.empty(images, len(COLOURS), 2, dtype=torch.int64)
    for last in range(len(COLOURS)):
        left = torch.arange(images)
        while len(left) > 0:
            drawn = torch.randint(RADIUS, SIDE - RADIUS, (len(left), 2), generator=random)
            found[left, last] = drawn
            others = found[left, :last]
            close = ((others - drawn.unsqueeze(1)).square().sum(-1) < LEAST_DISTANCE**2).any(-1)
            left = left[close]
    return found


def object_pixels(centre: torch.Tensor, circle: torch.Tensor) -> torch.Tensor:
    """(N, O, 75, 75), of bool, for centres (N, O, 2) and whether an object is a circle, (N, O)."""
    place = torch.arange(SIDE, dtype=torch.int16)
    x, y = (place - centre[..., i, None].to(torch.int16) for i in (0, 1))
    square = (y.abs() <= RADIUS).unsqueeze(-1) & (x.abs() <= RADIUS).unsqueeze(-2)
    disc = y.square().unsqueeze(-1) + x.square().unsqueeze(-2) < (RADIUS + 0.5) ** 2
    return square & (disc | ~circle[..., None, None])


def paint(objects: torch.Tensor) -> torch.Tensor:
    """(N, 3, H, W), of uint8: objects of the colours in their order, the last on top, on white."""
    images = torch.full((len(objects), 3, *objects.shape[-2:]), 255, dtype=torch.uint8)
    for pixels, colour in zip(objects.unbind(1), COLOURS.values()):
        images = torch.where(pixels.unsqueeze(1), torch.tensor(colour, dtype=torch.uint8).view(3, 1, 1), images)
    return images


def answers(
    kind: torch.Tensor, colour: torch.Tensor, centre: torch.Tensor, circle: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Places in ANSWERS, (Q,), and the objects that the answer is about, (Q, 6), of bool.

    Each question has its kind and colour, (Q,), and the centres and shapes of its image, (Q, 6, 2) and (Q, 6). Of
    objects that are equally far the first colour counts.
    """
    row = torch.arange(len(kind))
    own = torch.nn.functional.one_hot(colour, len(COLOURS)).bool()
    x, y = centre[row, colour].unbind(-1)
    distance = (centre - centre[row, colour].unsqueeze(1)).square().sum(-1)
    closest = distance.masked_fill(own, 2 * SIDE**2).argmin(-1)
    furthest = distance.argmax(-1)
    alike = circle == circle[row, colour].unsqueeze(1)

    def shape(of: torch.Tensor) -> torch.Tensor:
        return ANSWERS.index("square") + circle[row, of].long()

    no_if = ANSWERS.index("no")
    halves = [no_if * (2 * x >= SIDE).long(), no_if * (2 * y >= SIDE).long()]
    count = ANSWERS.index("1") - 1 + alike.sum(-1)
    every = torch.stack([shape(colour), *halves, shape(closest), shape(furthest), count])
    one = [torch.nn.functional.one_hot(of, len(COLOURS)).bool() for of in (closest, furthest)]
    about = torch.stack([own, own, own, *one, alike])
    return every[kind, row], about[kind, row]


def _questions(images: int, random: torch.Generator) -> Questions:
    centre = centres(images, random)
    circle = torch.rand(images, len(COLOURS), generator=random) < 0.5
    objects = torch.cat([object_pixels(*some) for some in zip(centre.split(1000), circle.split(1000))])
    image = torch.arange(images).repeat_interleave(2 * QUESTIONS_OF_A_SORT)
    relational = torch.tensor([0, 1]).repeat(images * QUESTIONS_OF_A_SORT)
    colour = torch.randint(len(COLOURS), image.shape, generator=random)
    which = torch.randint(3, image.shape, generator=random)
    kind = which + RELATIONAL * relational
    answer, answering = answers(kind, colour, centre[image], circle[image])
    first = 1 + len(COLOURS)
    return Questions(
        images=torch.cat([paint(some) for some in objects.split(1000)]),
        objects=objects,
        image=image,
        words=torch.stack([1 + colour, first + relational, first + 2 + which], -1),
        answer=answer,
        kind=kind,
        asked=torch.nn.functional.one_hot(colour, len(COLOURS)).bool(),
        answering=answering,
    )
