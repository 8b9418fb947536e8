"""easy-VQA: 5000 images of one shape in one of eight colours, 48248 questions, 13 answers and an official split."""

from __future__ import annotations

import gzip
import pathlib
import re

import torch

from .questions import DataSet, Questions

SIDE = 64
COLOURS = ("black", "blue", "brown", "gray", "green", "red", "teal", "yellow")
SHAPES = ("circle", "rectangle", "triangle")
KINDS = ("shape", "shape of a colour", "colour", "colour of a shape", "is there", "is there not")
SORTS = {"which": list(KINDS[:4]), "yes or no": list(KINDS[4:])}
DARKEST_BACKGROUND = 180
"""Every channel of a background is above it, and of each colour at least one is below."""


def load(folder: pathlib.Path) -> DataSet:
    """The data set in the folder `easy-vqa` of the folder of all data."""
    place = folder / "easy-vqa"
    names = ["answers.txt"]
    names += [f"{part}_{what}" for part in ("train", "test") for what in ("images_64x64x3.u8.gz", "questions.tsv")]
    missing = [name for name in names if not (place / name).is_file()]
    if missing:
        raise FileNotFoundError(f"easy-VQA: {place} must have {', '.join(missing)}")
    answers = (place / "answers.txt").read_text().split()
    tables = {part: _read_table(place / f"{part}_questions.tsv") for part in ("train", "test")}
    vocabulary = ["", *sorted({word for _, question, _ in tables["train"] for word in tokens(question)})]
    longest = max(len(tokens(question)) for _, question, _ in tables["train"])
    parts = {}
    for part, table in tables.items():
        images = _read_images(place / f"{part}_images_64x64x3.u8.gz")
        words = torch.zeros(len(table), longest, dtype=torch.int64)
        for row, (_, question, _) in enumerate(table):
            found = [vocabulary.index(word) for word in tokens(question)]
            words[row, : len(found)] = torch.tensor(found)
        about = torch.ones(len(table), 1, dtype=torch.bool)
        parts[part] = Questions(
            images=images,
            objects=object_pixels(images).unsqueeze(1),
            image=torch.tensor([image for image, _, _ in table]),
            words=words,
            answer=torch.tensor([answers.index(answer) for _, _, answer in table]),
            kind=torch.tensor([KINDS.index(kind_of(question)) for _, question, _ in table]),
            asked=about,
            answering=about,
        )
    return DataSet("easy-vqa", parts["train"], parts["test"], vocabulary, answers, list(KINDS), SORTS)


def tokens(question: str) -> list[str]:
    """The words of a question, without its question mark."""
    return re.findall("[a-z]+", question.lower())


def kind_of(question: str) -> str:
    """One of KINDS: what is asked for, and whether the question names a shape or a colour of it."""
    words = tokens(question)
    if words[0] != "what":
        return "is there not" if "not" in words or "no" in words else "is there"
    if "color" in words:
        return "colour of a shape" if any(shape in words for shape in SHAPES) else "colour"
    return "shape of a colour" if any(colour in words for colour in COLOURS) else "shape"


def object_pixels(images: torch.Tensor) -> torch.Tensor:
    """(N, H, W), of bool: what is not the near-white background of images (N, 3, H, W)."""
    return images.amin(1) < DARKEST_BACKGROUND


def _read_table(file: pathlib.Path) -> list[tuple[int, str, str]]:
    rows = [line.split("\t") for line in file.read_text().splitlines()[1:]]
    return [(int(image), question, answer) for image, question, answer in rows]


def _read_images(file: pathlib.Path) -> torch.Tensor:
    content = gzip.decompress(file.read_bytes())
    if len(content) == 0 or len(content) % (3 * SIDE * SIDE) != 0:
        raise ValueError(f"{file}: size must be a multiple of {3 * SIDE * SIDE} bytes, got {len(content)}")
    pixels = torch.frombuffer(bytearray(content), dtype=torch.uint8)
    return pixels.view(-1, SIDE, SIDE, 3).permute(0, 3, 1, 2).contiguous()
