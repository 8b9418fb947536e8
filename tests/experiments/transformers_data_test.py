"""The data of the small transformers: names that come back, the bits that they need, and keys that differ."""

from __future__ import annotations

import hashlib
import math
import random
import re

import pytest
import torch

from experiments.transformers import recall, text


def names_of(written):
    """Where names stand, in their order."""
    return list(re.finditer(rf"(?<![a-z])((?:{'|'.join(text.SYLLABLES)}){{3}})(?![a-z])", written.letters))


def test_a_seed_has_one_text():
    assert text.write(300, random.Random(3)) == text.write(300, random.Random(3)) != text.write(300, random.Random(4))
    longer = text.write(500, random.Random(3))
    assert longer.letters.startswith(text.write(300, random.Random(3)).letters) and len(longer.letters) == 500


def test_a_seed_has_the_text_of_the_recorded_results():
    """Another order of draws would be other data: the results that are recorded would not be found again."""
    written = text.write(2000, random.Random(7))
    assert hashlib.sha256(written.letters.encode()).hexdigest()[:16] == "71771a8aa9eabfcd"
    assert sum(bits for bits in written.bits if not math.isnan(bits)) == pytest.approx(36.31296353365876, rel=1e-12)


def test_bits_end_with_the_letters():
    """Wherever a text is cut, in a name or beside one."""
    whole = text.write(400, random.Random(2))
    for length in range(380, 400):
        cut = text.write(length, random.Random(2))
        assert len(cut.bits) == length
        assert cut.bits == pytest.approx(whole.bits[:length], nan_ok=True)


def test_letters_that_can_be_copied_are_those_of_known_names():
    written, known = text.write(1000, random.Random(5)), set()
    for match in names_of(written):
        copied = [not math.isnan(bits) for bits in written.bits[match.start() : match.end()]]
        assert copied == [False] * text.FIRST + [match[1] in known] * (6 - text.FIRST)
        known.add(match[1])
    inside = {i for match in names_of(written) for i in range(match.start(), match.end())}
    assert all(math.isnan(bits) for i, bits in enumerate(written.bits[:-6]) if i not in inside)


def test_a_name_comes_back_from_anywhere():
    """New with probability 1/4, and else any of those before: the oldest third is a third of those that come back."""
    new, places = [], []
    for seed in range(20):
        known = []
        for match in names_of(text.write(2000, random.Random(seed))):
            new.append(match[1] not in known)
            if new[-1]:
                known.append(match[1])
            else:
                places.append((known.index(match[1]) + 0.5) / len(known))
    assert sum(new) / len(new) == pytest.approx(text.NEW, abs=0.03)
    assert sum(place < 1 / 3 for place in places) / len(places) == pytest.approx(1 / 3, abs=0.05)


def test_texts_of_2048_letters_have_thirty_names():
    counts = [len({match[1] for match in names_of(text.write(2048, random.Random(seed)))}) for seed in range(20)]
    assert 30 < sum(counts) / len(counts) < 36


def test_the_bits_of_a_copy_are_those_of_bayes():
    """By all names that there are, one after the other."""
    known = ["bababa", "babebi", "dodudo"]
    probabilities = {}
    for a in text.SYLLABLES:
        for b in text.SYLLABLES:
            for c in text.SYLLABLES:
                probabilities[a + b + c] = text.NEW / len(text.SYLLABLES) ** 3
    for name in known:
        probabilities[name] += (1 - text.NEW) / len(known)
    assert sum(probabilities.values()) == pytest.approx(1)

    def of_start(start):
        return sum(p for name, p in probabilities.items() if name.startswith(start))

    expected = [-math.log2(of_start("babebi"[: i + 1]) / of_start("babebi"[:i])) for i in range(2, 6)]
    assert text.copying_bits("babebi", known) == pytest.approx(expected)
    assert expected[1] == pytest.approx(1, abs=0.1)  # bababa or babebi?


def test_letters_are_numbers_and_back():
    written = text.write(200, random.Random(1))
    letters = text.encode([written, written])
    assert letters.shape == (2, 200) and text.decode(letters[1]) == written.letters


def test_keys_of_a_context_differ_and_answers_are_their_values():
    task = recall.make(3, 500, 20, torch.Generator().manual_seed(0))
    for context in range(3):
        pairs = [tuple(key) for key in task.keys[context].tolist()]
        assert len(set(pairs)) == 500
        values = dict(zip(pairs, task.values[context].tolist()))
        asked = [tuple(key) for key in task.asked[context].tolist()]
        assert [values[key] for key in asked] == task.answers[context].tolist()
    assert 0 <= task.keys.min() and task.keys.max() == recall.SYMBOLS - 1


@pytest.mark.parametrize(("pairs", "expected"), [(64, 1), (8192, 127)])
def test_so_many_keys_share_a_symbol(pairs, expected):
    task = recall.make(4, pairs, 50, torch.Generator().manual_seed(1))
    shared = (task.asked[:, :, None] == task.keys[:, None]).sum(-1) == 1
    assert shared.sum(-1).double().mean().item() == pytest.approx(expected, rel=0.15)
