"""The ```python blocks of a page run one after the other, and print what the ```text block after each says."""

import contextlib
import io
import os
import pathlib
import re
import sys

import pytest

import fenchel

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from blocks import split  # noqa: E402
from sources import markdown_files  # noqa: E402

os.environ.setdefault("MPLBACKEND", "Agg")

# What the blocks of a page import besides fenchel and NumPy.
NEEDS = {
    "README.md": ["matplotlib", "torch"],
    "docs/cuda.md": ["torch"],
    "docs/python.md": ["duckdb", "matplotlib", "pandas", "polars", "pyarrow", "scipy", "sklearn"],
    "docs/python_gallery.md": ["matplotlib", "sklearn"],
    "docs/small_transformers.md": ["torch"],
    "docs/sparse_attention.md": ["torch"],
    "docs/statistics.md": ["matplotlib"],
    "docs/torch.md": ["torch"],
    "docs/torch_attention.md": ["matplotlib", "torch"],
    "docs/transformers.md": ["torch", "transformers"],
}


def blocks_of(page):
    """Pairs of a python block of a page and what it must print."""
    blocks = split((ROOT / page).read_text(encoding="utf-8"))[0]
    return [(block, after.text if after and after.language == "text" else "")
            for block, after in zip(blocks, [*blocks[1:], None]) if block.language == "python"]


PAGES = [str(path) for path in markdown_files(ROOT) if blocks_of(path)]


def test_pages_that_need_packages_are_there():
    assert NEEDS.keys() <= set(PAGES)


def test_the_guide_names_everything():
    named = set(re.findall(r"`([A-Za-z]\w*)", (ROOT / "docs/python.md").read_text(encoding="utf-8")))
    assert set(fenchel.__all__) - {"__version__"} <= named


@pytest.mark.parametrize("page", PAGES)
def test_blocks_print_what_is_said(page, tmp_path, monkeypatch):
    for package in NEEDS.get(page, []):
        pytest.importorskip(package)
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for block, expected in blocks_of(page):
        printed = io.StringIO()
        code = compile("\n" * block.line + block.text, ROOT / page, "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        assert printed.getvalue() == expected, f"{page}:{block.line}"
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
