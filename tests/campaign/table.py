"""The one table: for each front end its public names, how their arguments are drawn, and the laws that they keep."""

from __future__ import annotations

from command_table import COMMAND
from python_table import PYTHON
from row import Row
from torch_table import MODULES, TORCH

TABLE: dict[str, list[Row]] = {
    "fenchel": PYTHON,
    "fenchel.torch": TORCH,
    "fenchel.torch.nn": MODULES,
    "command": COMMAND,
}
