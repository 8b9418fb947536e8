"""A row of the table."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """Public names, and a line with a law that calls them."""

    names: str
    line: str
    """Python in which {name} is one of the names, {method} what follows its point; other names in braces are drawn."""
