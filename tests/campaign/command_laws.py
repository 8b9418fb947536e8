"""Laws of the command: status 0 and numbers, or status 1 or 2 and one line of an error; never a signal, never NaN."""

from __future__ import annotations

import functools
import json
import math
import os
import re
import subprocess
import tempfile
from typing import Any

import numpy as np
from arrays import Array
from laws import must, must_agree

FENCHEL = os.environ.get("FENCHEL", "fenchel")


def csv(x: Array) -> str:
    """A table with the columns a, b, c, ..., in numbers that read back; a mask is an empty field."""
    fields = [["" if v == -math.inf else repr(v) for v in row] for row in np.atleast_2d(x.T).T.tolist()]
    return "\n".join(map(",".join, [[chr(97 + k) for k in range(len(fields[0]))], *fields])) + "\n"


def command(*words: str, table: Array | None = None, **options: Any) -> Any:
    """What `fenchel WORDS --OPTION VALUE` writes as JSON, or as text what it draws; ValueError is what it refused."""
    given = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    is_text = words[0] in ("plot", "report")
    arguments = [FENCHEL, *words, *given, *(["--output=-"] if words[0] == "plot" else [] if is_text else ["--json"])]
    done = subprocess.run(arguments, input=csv(table) if table is not None else "", capture_output=True, text=True)
    must(f"status {done.returncode}: {done.stderr}", done.returncode in (0, 1, 2))
    if done.returncode:
        one_line = re.fullmatch(r"fenchel \w+( \w+)?: .*\n", done.stderr)
        must(f"one line that begins with the command: {done.stderr}", one_line is not None)
        must(f"no table after an error: {done.stdout[:80]}", done.stdout == "")
        raise ValueError(done.stderr.strip())
    return done.stdout if is_text else json.loads(done.stdout)


def numbers(x: Any) -> list[float]:
    """All numbers of JSON, of which none is NaN."""
    if isinstance(x, dict):
        return numbers(list(x.values()))
    if isinstance(x, list):
        return [number for part in x for number in numbers(part)]
    must("not NaN", x not in ("nan", "-nan") and x == x)
    return [float(x)] if isinstance(x, (int, float)) or x in ("inf", "-inf") else []


def answered(record: Any) -> None:
    """Numbers; only standard errors, and the intervals that they make, may be none."""
    may_lack = ("standard_errors", "intervals", "warnings")
    must("numbers", len(numbers({name: x for name, x in record.items() if name not in may_lack})) > 0)


def ranked(record: Any) -> None:
    """Families by their scores, the best first."""
    scores = [score["crps"] for score in record["scores"] if "failure" not in score]
    must("sorted", scores == sorted(numbers(scores)), scores)
    must("the winner is first", record["winner"] == record["scores"][0]["family"])


def described(record: Any) -> None:
    """A density: its quantiles rise, and lie in the support, as mean, median and mode do."""
    numbers({name: x for name, x in record.items() if name not in ("skewness", "kurtosis")})  # there may be none
    if isinstance(record.get("mean"), list) or "support" not in record:
        return
    lower, upper = map(float, record["support"])
    quantiles = np.array([float(x) for x in record["quantiles"].values()])
    must("quantiles in the support", (quantiles >= lower) & (quantiles <= upper), quantiles)
    must("quantiles rise", np.diff(quantiles) >= 0)
    middle = np.array([float(record["mode"]), float(record["median"])])
    must("mode and median in the support", (middle >= lower) & (middle <= upper), middle)


def tabled(record: Any) -> None:
    """Values at points: not negative, cdf + survival = 1."""
    rows = np.array([[float(x) for x in row] for row in record["rows"]])
    must("a density or a probability", rows[:, 1] >= 0, rows[:, 1])
    if rows.shape[1] > 3:
        must_agree("cdf + survival = 1", rows[:, 3] + rows[:, 4], np.ones(len(rows)), absolute=1e-12)


def mapped(record: Any) -> None:
    """Rows of mass one."""
    rows = np.array([[float(x) for x in row] for row in record["rows"]])
    must_agree("mass one", rows.sum(1), np.ones(len(rows)), absolute=1e-13)


def model_of(*words: str, table: Array, **options: Any) -> str:
    """The file of a model that `fenchel WORDS --OPTION VALUE` writes, for the same words always the same file."""
    record = command(*words, "-", table=table, **options)
    path = os.path.join(tempfile.gettempdir(), f"fenchel-campaign-{os.getpid()}.json")
    with open(path, "w") as file:
        json.dump(record, file)
    return path


def predicted(record: Any) -> None:
    """The mean lies in the support, and the central interval between its ends."""
    rows = np.array([[float(x) for x in row] for row in record["rows"]])
    for middle in (0, 3, 4):
        must("within the support", (rows[:, 1] <= rows[:, middle]) & (rows[:, middle] <= rows[:, 2]), rows[:, middle])


def drawn(text: str) -> None:
    must("SVG without NaN", text.startswith("<svg") and text.rstrip().endswith("</svg>") and "nan" not in text)


@functools.cache
def listed(*words: str) -> tuple[str, ...]:
    """What the help of the command lists: commands, or for a command with densities its families."""
    text = subprocess.run([FENCHEL, *words, "--help"], capture_output=True, text=True, check=True).stdout
    if "Commands:" in text:
        block = text.partition("Commands:\n")[2].partition("\n\n")[0]
        return tuple(re.findall(r"^  (\S+) ", block, re.MULTILINE))
    block = text.partition("FAMILY REQUIRED")[2].partition("\n\n")[0]
    return tuple(dict.fromkeys(re.findall(r"^ {32}([a-z-]+) ", block, re.MULTILINE)))
