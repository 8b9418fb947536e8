"""easy-VQA is read as it was written; a small made-up copy stands for it."""

from __future__ import annotations

import gzip
import pathlib

import pytest
import torch

from experiments.vqa import easy_vqa

torch.set_num_threads(1)


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """Two images: a red rectangle left of the middle, and a yellow one below."""
    place = tmp_path / "easy-vqa"
    place.mkdir()
    images = torch.full((2, 64, 64, 3), 240, dtype=torch.uint8)
    images[0, 20:30, 4:20] = torch.tensor([255, 0, 0], dtype=torch.uint8)
    images[1, 40:60, 20:44] = torch.tensor([255, 255, 0], dtype=torch.uint8)
    for part in ("train", "test"):
        (place / f"{part}_images_64x64x3.u8.gz").write_bytes(gzip.compress(images.numpy().tobytes()))
    (place / "train_questions.tsv").write_text(
        "image\tquestion\tanswer\n0\twhat color is the shape?\tred\n1\tis there a red shape in the image?\tno\n"
    )
    (place / "test_questions.tsv").write_text("image\tquestion\tanswer\n1\twhat color is the shape?\tyellow\n")
    (place / "answers.txt").write_text("no\nred\nyellow\n")
    return tmp_path


def test_load(folder: pathlib.Path):
    data = easy_vqa.load(folder)
    assert data.answers == ["no", "red", "yellow"]
    assert data.vocabulary == ["", "a", "color", "image", "in", "is", "red", "shape", "the", "there", "what"]
    assert data.train.words.shape == (2, 8) and (data.train.words[0, 5:] == 0).all()
    assert data.text(data.train.words[1]) == "is there a red shape in the image"
    assert data.test.answer.tolist() == [2] and data.test.image.tolist() == [1]
    assert data.kinds[data.test.kind[0]] == "colour"
    assert data.train.images.shape == (2, 3, 64, 64)
    assert data.train.images[0, :, 25, 10].tolist() == [255, 0, 0]


def test_the_object_is_what_is_not_background(folder: pathlib.Path):
    data = easy_vqa.load(folder)
    wanted = torch.zeros(64, 64, dtype=torch.bool)
    wanted[40:60, 20:44] = True
    assert torch.equal(data.test.region(torch.tensor(0), data.test.asked), wanted)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("what shape is in the image?", "shape"),
        ("what shape does the image contain?", "shape"),
        ("what is the blue shape?", "shape of a colour"),
        ("what is the color of the shape?", "colour"),
        ("what color is the triangle?", "colour of a shape"),
        ("is there a teal shape?", "is there"),
        ("does the image contain a circle?", "is there"),
        ("is no rectangle present?", "is there not"),
        ("does the image not contain a gray shape?", "is there not"),
    ],
)
def test_kinds(question: str, kind: str):
    assert easy_vqa.kind_of(question) == kind


def test_missing_files_are_named(folder: pathlib.Path):
    (folder / "easy-vqa" / "answers.txt").unlink()
    (folder / "easy-vqa" / "test_questions.tsv").unlink()
    with pytest.raises(FileNotFoundError, match="easy-vqa must have answers.txt, test_questions.tsv"):
        easy_vqa.load(folder)


def test_a_broken_file_of_images_is_refused(folder: pathlib.Path):
    (folder / "easy-vqa" / "train_images_64x64x3.u8.gz").write_bytes(gzip.compress(b"12345"))
    with pytest.raises(ValueError, match="size must be a multiple of 12288 bytes, got 5"):
        easy_vqa.load(folder)
