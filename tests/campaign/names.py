"""What a line may name: the package, laws and data; and what is public and so must stand in the table."""

from __future__ import annotations

import inspect
import math
from types import ModuleType
from typing import Any

import command_laws
import arrays
import fenchel
import fenchel.torch
import laws
import number_laws
import numpy as np
import other_laws
import row_laws
import torch
import torch_laws

DOCUMENTED = (ValueError, fenchel.ConvergenceError)
"""Errors that are answers."""
MODULES = (arrays, command_laws, laws, row_laws, number_laws, other_laws, torch_laws)
NAMESPACE: dict[str, Any] = {name: thing for module in MODULES for name, thing in vars(module).items()}
NAMESPACE |= {"fenchel": fenchel, "ft": fenchel.torch, "ftnn": fenchel.torch.nn, "torch": torch}
NAMESPACE |= {"np": np, "math": math, "inf": math.inf, "nan": math.nan}


def public(module: ModuleType) -> dict[str, Any]:
    """The public functions, constructors and methods of a module, by the class that defines a method.

    Classes that cannot be made, and tuples and errors, which anybody can make, are none.
    """
    found: dict[str, Any] = {}
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.isclass(thing):
            if inspect.isfunction(thing.__init__):
                found[name] = thing
            for method in filter(lambda m: not m.startswith("_"), dir(thing)):
                owner = next(c for c in thing.__mro__ if method in vars(c))
                if owner.__module__.startswith("fenchel") and callable(getattr(thing, method)):
                    found[f"{owner.__name__}.{method}"] = getattr(thing, method)
        elif callable(thing):
            found[name] = thing
    return found


def parameters(module: ModuleType) -> set[str]:
    """What errors may name."""
    return {parameter for thing in public(module).values() for parameter in inspect.signature(thing).parameters}


PARAMETERS = parameters(fenchel) | parameters(fenchel.torch) | parameters(fenchel.torch.nn)
