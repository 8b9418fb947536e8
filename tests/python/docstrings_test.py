"""Whoever calls help() reads what a thing is, and sees it at work."""

import importlib
import inspect

import pytest

import fenchel

ABSTRACT = {"Basis", "Distribution", "Domain", "IntegerDistribution", "IntegerDomain", "IntegerPrediction", "LineDistribution",
            "NumericDistribution", "Regularizer", "Statistics"}


def documented(module):
    return [pytest.param(getattr(module, name), id=name) for name in module.__all__ if name != "__version__"]


def check(thing):
    text = inspect.getdoc(thing)
    assert thing.__doc__ and text
    first, _, rest = text.partition("\n")
    if "->" in first and first.startswith(thing.__name__):  # a signature of nanobind
        first = rest.strip().partition("\n")[0]
    assert first.endswith("."), first
    if inspect.isclass(thing) and (thing.__name__ in ABSTRACT or issubclass(thing, Exception)):
        return
    assert ">>> " in text, "there is no example"


@pytest.mark.parametrize("thing", documented(fenchel))
def test_of_fenchel(thing):
    check(thing)


@pytest.mark.parametrize("name, needs", [("sklearn", "sklearn"), ("plot", "matplotlib")])
def test_of_modules_that_need_more(name, needs):
    pytest.importorskip(needs)
    for thing in documented(importlib.import_module(f"fenchel.{name}")):
        check(*thing.values)


def test_methods_say_what_they_give():
    for name in fenchel.__all__:
        thing = getattr(fenchel, name)
        for method, value in vars(thing).items() if inspect.isclass(thing) else []:
            if not method.startswith("_") and (inspect.isfunction(value) or isinstance(value, (property, classmethod))):
                assert inspect.getdoc(getattr(thing, method)), f"{name}.{method}"
