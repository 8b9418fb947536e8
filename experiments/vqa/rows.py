"""The rows of the table, from the files in `rows/`, and the settings of each data set, from `settings.toml`."""

from __future__ import annotations

import pathlib
import tomllib
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from .model import Pooling, Size

FOLDER = pathlib.Path(__file__).resolve().parent
GROUPS = ("paper", "ablation", "control", "floor")


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    name: str
    label: str
    group: str
    pooling: Pooling


@dataclass(frozen=True)
class Settings:
    """How the models of a data set are made and trained."""

    size: Size = field(default_factory=Size)
    batch: int = 64
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


def read_rows(names: list[str] | None = None, folder: pathlib.Path = FOLDER / "rows") -> list[Row]:
    """The rows of these names, or all, in the order of their groups."""
    files = {file.stem: file for file in sorted(folder.glob("*.toml"))}
    unknown = [name for name in names or [] if name not in files]
    if unknown:
        raise ValueError(f"rows must be among {', '.join(files)}, got {', '.join(unknown)}")
    found = [_read_row(file) for name, file in files.items() if names is None or name in names]
    return sorted(found, key=lambda row: GROUPS.index(row.group))


def _read_row(file: pathlib.Path) -> Row:
    content = tomllib.loads(file.read_text())
    label, group = content.pop("label"), content.pop("group")
    return Row(file.stem, label, group, Pooling(**content))


def read_settings(data: str, file: pathlib.Path = FOLDER / "settings.toml") -> Settings:
    """Of the data set of this name."""
    content: dict[str, Any] = tomllib.loads(file.read_text())[data]
    of_size = {one.name for one in fields(Size)}
    size = Size(**{key: value for key, value in content.items() if key in of_size})
    return Settings(size, **{key: value for key, value in content.items() if key not in of_size})


def configuration(row: Row, settings: Settings) -> dict[str, Any]:
    """All that decides a result but for the seeds, for the file of results."""
    return {"pooling": asdict(row.pooling), **asdict(settings)}
