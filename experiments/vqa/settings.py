"""The settings of each data set, from `settings.toml`, and the rows of the table, from the files in `rows/`."""

from __future__ import annotations

import pathlib
import tomllib
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from .. import command
from .model import Pooling, Size

FOLDER = pathlib.Path(__file__).resolve().parent


@dataclass(frozen=True)
class Settings:
    """How the models of a data set are made and trained."""

    size: Size = field(default_factory=Size)
    batch: int = 64
    """Of questions."""
    together: int = 1
    """How many questions about one image, which follow each other in the data, a batch has: the image is seen once."""
    epochs: int = 4
    rate: float = 1e-3
    """The learning rate of Adam, after a warm up; it falls to 0 as a cosine does."""
    warm_up: float = 0.05
    """The part of the steps in which the rate rises."""
    train: int | None = None
    test: int | None = None
    """How many images to generate, where the data set is generated."""

    def with_epochs(self, epochs: int | None) -> Settings:
        return self if epochs is None else replace(self, epochs=epochs)


def read_settings(data: str, file: pathlib.Path = FOLDER / "settings.toml") -> Settings:
    """Of the data set of this name."""
    content: dict[str, Any] = tomllib.loads(file.read_text())[data]
    of_size = {one.name for one in fields(Size)}
    size = Size(**{key: value for key, value in content.items() if key in of_size})
    return Settings(size, **{key: value for key, value in content.items() if key not in of_size})


def read_rows(names: list[str] | None = None) -> list[command.Row]:
    """The rows of these names, or all."""
    return command.read_rows(FOLDER / "rows", Pooling, names)


def configuration(row: command.Row, settings: Settings) -> dict[str, Any]:
    """All that decides a result but for the seeds, for the file of results."""
    return {"pooling": asdict(row.pooling), **asdict(settings)}
