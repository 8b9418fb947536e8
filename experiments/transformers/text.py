"""Made text with names that come back: a small grammar, drawn from a seed.

A name is three syllables. It is a new one with probability 1/4, else one of those that the text has had, all alike. So
the letters of a name that comes back can be copied from where it stood before, however far that is; a text of 2048
letters has some thirty names.
"""

from __future__ import annotations

import math
import random
import string
from typing import NamedTuple

import torch

LETTERS = string.ascii_lowercase + " ."
CODES = bytes.maketrans(LETTERS.encode(), bytes(range(len(LETTERS))))
"""For bytes.translate: from a letter to its place in LETTERS."""
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeiou"]
NEW = 0.25
"""How probable it is that a name is new."""
SENTENCES = (
    "@ sees @. ",
    "@ and @ sing. ",
    "@ gives the # to @. ",
    "the # of @ is %. ",
    "@ has a % #. ",
)
WORDS = {"#": ("cup", "hat", "boat", "lamp", "stone"), "%": ("red", "blue", "new", "small")}
FIRST = 2
"""Letters of a name before those that can be copied: the first syllable says which name it is."""


class Text(NamedTuple):
    letters: str
    copies: list[tuple[int, str, int]]
    """Of each name that comes back: where it begins, the name, and how many names were known."""
    known: list[str]
    """All names, in the order in which they were new."""

    @property
    def bits(self) -> list[float]:
        """Of each letter that can be copied, those that who knows the grammar and the names so far needs; else NaN."""
        found = [math.nan] * len(self.letters)
        for start, name, count in self.copies:
            needed = copying_bits(name, self.known[:count])
            found[start + FIRST : start + len(name)] = needed[: max(len(found) - start - FIRST, 0)]
        return found


def copying_bits(name: str, known: list[str]) -> list[float]:
    """Of the letters from FIRST on, for one that is known."""

    def probability(start: str) -> float:
        """Of names that begin so."""
        fitting = sum(syllable.startswith(start[len(start) // 2 * 2 :]) for syllable in SYLLABLES)
        new = fitting / len(SYLLABLES) ** (len(start) // 2 + 1)
        return NEW * new + (1 - NEW) * sum(one.startswith(start) for one in known) / len(known)

    return [-math.log2(probability(name[: i + 1]) / probability(name[:i])) for i in range(FIRST, len(name))]


def write(length: int, draw: random.Random) -> Text:
    """The first letters of a text."""
    parts: list[str] = []
    copies: list[tuple[int, str, int]] = []
    known: list[str] = []
    written = 0
    while written < length:
        for sign in draw.choice(SENTENCES):
            word = sign
            if sign in WORDS:
                word = draw.choice(WORDS[sign])
            elif sign == "@" and known and draw.random() >= NEW:
                word = draw.choice(known)
                copies.append((written, word, len(known)))
            elif sign == "@":
                word = "".join(draw.choices(SYLLABLES, k=3))
                known.append(word)
            parts.append(word)
            written += len(word)
    return Text("".join(parts)[:length], [copy for copy in copies if copy[0] < length], known)


def codes(letters: str) -> bytes:
    """The places of letters in LETTERS."""
    return letters.encode().translate(CODES)


def encode(texts: list[Text]) -> torch.Tensor:
    """(texts, length): the places of letters in LETTERS."""
    return torch.tensor([list(codes(text.letters)) for text in texts])


def decode(letters: torch.Tensor) -> str:
    return "".join(LETTERS[i] for i in letters.tolist())
