"""The typed stub of the extension module, kept in the sources, is the one of the module that is tested."""

import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("nanobind")
STUB = pathlib.Path(__file__).resolve().parents[2] / "frontends" / "python" / "fenchel" / "_core.pyi"


def test_stub_is_that_of_the_module(tmp_path):
    made = tmp_path / "_core.pyi"
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "fenchel._core", "-o", made], check=True)
    assert STUB.read_text() == made.read_text(), f"write it anew: python -m nanobind.stubgen -m fenchel._core -o {STUB}"
