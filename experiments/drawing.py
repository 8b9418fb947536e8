"""What the pictures of both experiments share."""

from __future__ import annotations

import pathlib
from typing import Any


def save_small(figure: Any, file: pathlib.Path, dpi: int, colours: int) -> None:
    """A figure of matplotlib as a PNG file with a palette of so many colours."""
    from matplotlib import pyplot
    from PIL import Image

    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=dpi)
    pyplot.close(figure)
    with Image.open(file) as drawn:
        small = drawn.convert("RGB").quantize(colours, dither=Image.Dither.NONE)
    small.save(file, optimize=True)
