"""What a user reads: docs/torch.md names everything, and help() of everything says what it takes and shows it."""

import inspect
import pathlib
import re

import pytest

pytest.importorskip("torch")

import fenchel.torch as ft  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = [(module, name) for module in (ft, ft.nn) for name in module.__all__ if name != "nn"]


def test_the_guide_names_everything():
    named = set(re.findall(r"`(?:nn\.)?([A-Za-z]\w*)", (ROOT / "docs/torch.md").read_text(encoding="utf-8")))
    assert {name for _, name in NAMES} <= named


@pytest.mark.parametrize(("module", "name"), NAMES, ids=lambda x: x if isinstance(x, str) else x.__name__)
def test_help(module, name):
    thing = getattr(module, name)
    help_text = inspect.getdoc(thing)
    assert "Examples\n---" in help_text
    assert set(inspect.signature(thing).parameters) <= set(re.findall(r"\w+", help_text))
    for base in inspect.getmro(thing) if inspect.isclass(thing) else ():
        if base.__module__.startswith("fenchel."):
            public = {n: v for n, v in vars(base).items() if not n.startswith("_") and n != "extra_repr"}
            for n, v in public.items():
                if inspect.isfunction(v) or isinstance(v, (property, classmethod)):
                    assert inspect.getdoc(v), f"{base.__name__}.{n}"
