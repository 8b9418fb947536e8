"""How many threads the library uses."""

from __future__ import annotations

from . import _core
from ._arrays import integer


def num_threads() -> int:
    """The most threads that functions over arrays use.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.num_threads() >= 1
    True
    """
    return int(_core.num_threads())


def set_num_threads(count: int) -> None:
    """Let functions over arrays use at most `count` threads; 0 is OpenMP's default. Results are the same.

    Examples
    --------
    >>> import fenchel
    >>> fenchel.set_num_threads(1)
    >>> fenchel.num_threads()
    1
    >>> fenchel.set_num_threads(0)
    """
    _core.set_num_threads(integer("count", count, limit=2**31))
