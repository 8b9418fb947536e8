"""The fenced blocks of Markdown files, which the checks run."""
import re

FENCE = re.compile(r"```(\w*)\s*$")


class Block:
    def __init__(self, language, line):
        self.language, self.line, self.lines = language, line, []

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)


def split(text):
    """The fenced blocks of a Markdown text, and its other lines as pairs of number and text."""
    blocks, prose, inside = [], [], False
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if inside and line.strip() == "```":
            inside = False
        elif inside:
            blocks[-1].lines.append(line)
        elif fence:
            inside = True
            blocks.append(Block(fence[1], number))
        else:
            prose.append((number, line))
    return blocks, prose
