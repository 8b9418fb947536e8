"""The gallery: the page and the pictures in the documents are those that its script makes."""

import json
import pathlib
import sys

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from PIL import Image  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "python"))

import gallery  # noqa: E402

DOCS = ROOT / "docs"
PICTURES = DOCS / gallery.IMAGES
AGAIN = "run examples/python/gallery.py docs again"


def test_page_is_that_of_the_script():
    assert (DOCS / "python_gallery.md").read_text(encoding="utf-8") == gallery.page(), AGAIN
    assert {path.stem for path in PICTURES.iterdir()} == {example.__name__ for example in gallery.EXAMPLES}


@pytest.mark.parametrize("example", gallery.EXAMPLES, ids=lambda example: example.__name__)
def test_picture_shows_the_same_data(example, tmp_path):
    gallery.save(example, tmp_path)
    plt.close("all")
    name = f"{example.__name__}.png"
    with Image.open(tmp_path / name) as drawn, Image.open(PICTURES / name) as kept:
        assert drawn.size == kept.size
        assert drawn.text["Title"] == kept.text["Title"] == example.__name__
        now, then = (np.array(json.loads(image.text["Description"])) for image in (drawn, kept))
    np.testing.assert_allclose(now, then, rtol=1e-5, atol=1e-8, err_msg=AGAIN)
    assert (PICTURES / name).stat().st_size < 60_000


def test_writes_where_it_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gallery, "EXAMPLES", [gallery.counts])
    for arguments, folder in [([], "gallery"), (["other/place"], "other/place")]:
        monkeypatch.setattr(sys, "argv", ["gallery.py", *arguments])
        gallery.main()
        plt.close("all")
        assert (tmp_path / folder / "images/python/counts.png").is_file()
        assert "## Counts that cannot be large" in (tmp_path / folder / "python_gallery.md").read_text(encoding="utf-8")
        assert folder in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"gallery", "other"}
