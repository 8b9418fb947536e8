"""The files of tests/golden."""

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "golden"


def lines(name):
    """The words of each line that is no comment: none of a blank line."""
    return [line.split() for line in (FOLDER / name).read_text().splitlines() if not line.startswith("#")]


def cases(name):
    """The cases of a file, with blank lines between them: each a dict from the name of a line to its numbers."""
    found = [{}]
    for words in lines(name):
        if words:
            found[-1][words[0]] = [float(x) for x in words[1:]]
        else:
            found.append({})
    return [case for case in found if case]
