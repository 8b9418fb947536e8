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
    bits: list[float]
    """Of each letter that can be copied, those that who knows the grammar and the names so far needs; else NaN."""


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
    letters: list[str] = []
    bits: list[float] = []
    known: list[str] = []
    while len(letters) < length:
        for sign in draw.choice(SENTENCES):
            word, of_word = sign, None
            if sign in WORDS:
                word = draw.choice(WORDS[sign])
            elif sign == "@" and known and draw.random() >= NEW:
                word = draw.choice(known)
                of_word = [math.nan] * FIRST + copying_bits(word, known)
            elif sign == "@":
                word = "".join(draw.choices(SYLLABLES, k=3))
                known.append(word)
            letters += word
            bits += of_word or [math.nan] * len(word)
    return Text("".join(letters[:length]), bits[:length])


def encode(texts: list[Text]) -> torch.Tensor:
    """(texts, length): the places of letters in LETTERS."""
    return torch.tensor([[LETTERS.index(letter) for letter in text.letters] for text in texts])


def decode(letters: torch.Tensor) -> str:
    return "".join(LETTERS[i] for i in letters.tolist())
