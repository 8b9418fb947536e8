#!/usr/bin/env python3
"""Draws docs/images/drawings/entmax_row.svg: how the CPU computes one row of entmax at alpha = 3/2.

The steps are those of src/backend/cpu/entmax/row.cpp and closed_form.hpp, on a row of 64 scores, with vectors of 2
numbers instead of 8 or 16 and blocks of 4 vectors instead of 8. The code asks the summits in rows of 1000 or more.
"""
import math
import random

from sheet import Sheet

AM1, COLUMNS, LANES, BLOCK, GROUPS = 0.5, 64, 2, 8, 4
PITCH, LEFT, PANEL, UNIT = 11, 24, 196, 30


def row_of_scores():
    rng = random.Random(20)
    normal = lambda: math.sqrt(-2 * math.log(1 - rng.random())) * math.cos(2 * math.pi * rng.random())
    return [0.7 * normal() + 1.5 * math.exp(-((i - 41) / 4) ** 2) for i in range(COLUMNS)]


def find_summits(z):
    """The places of the maxima in each lane of a group of blocks; block k belongs to group k mod GROUPS."""
    best = {}
    for i, score in enumerate(z):
        key = (i // BLOCK % GROUPS, i % LANES)
        if key not in best or score > z[best[key]]:
            best[key] = i
    return sorted(best.values())


def lower_bound(d):
    """c = P^{-am1} of some scores less the maximum, by three steps of `solve`."""
    c = 1.0
    for k in range(3):
        e = [max(0.0, 1 + AM1 * c * x) ** (1 / AM1) for x in d]
        total, escort = sum(e), sum(y ** (1 - AM1) for y in e)
        r, ratio = c * total**-AM1, total / escort
        change = ratio * (r - 1)
        if k < 2:  # Halley's
            second = sum(1.0 for y in e if y > 0)  # E^{1 - 2 am1}
            change /= 1 - min(0.5, (1 - r) * (1 - AM1) / (2 * AM1) * (ratio * second / escort - 1))
        c = max(1.0, c / (1 + change) if change > -1 else 1.0)
    return c


def level_by_turns(d):
    """P^am1 on the candidates, and the supports on which the quadratic equation was solved."""
    level, last, turns = 1.0, -1, []
    for turn in range(12):
        above = [max(0.0, level + x / 2) for x in d]
        count, total, squares = sum(a > 0 for a in above), sum(above), sum(a * a for a in above)
        missing = 1 - squares
        discriminant = total**2 + count * missing
        if turn == 0 or discriminant < 0:
            norm = math.sqrt(squares)
            level += norm * (1 - norm) / total
            continue
        turns.append(count)
        level += missing / (total + math.sqrt(discriminant))
        if count == last:
            break
        last = count
    return level, turns


def draw():
    z = row_of_scores()
    top = max(z)
    summits = find_summits(z)
    c = lower_bound([z[i] - top for i in summits])
    widest, cut = top - 1 / AM1, top - 1 / (AM1 * c)
    candidates = [i for i in range(COLUMNS) if z[i] > cut]
    level, turns = level_by_turns([z[i] - top for i in candidates])
    p = {i: max(0.0, level + (z[i] - top) / 2) ** 2 for i in candidates}
    tau = top - 2 * level
    support = [i for i in candidates if p[i] > 0]
    assert abs(sum(p.values()) - 1) < 1e-12

    width = LEFT + COLUMNS * PITCH + 236
    sheet = Sheet(width, 3 * PANEL + 20, "One row of entmax")
    blocks = [range(b, b + BLOCK) for b in range(0, COLUMNS, BLOCK)]
    skipped = [block for block in blocks if max(z[i] for i in block) <= cut]

    def bar(i, base, colour, opacity=1.0, height=None):
        h = UNIT * (z[i] - min(z) + 0.15) if height is None else height
        sheet.rectangle(LEFT + i * PITCH + 2, base - h, PITCH - 4, h, colour, opacity)

    def level_line(base, score, colour, words):
        y = base - UNIT * (score - min(z) + 0.15)
        sheet.line([(LEFT, y), (LEFT + COLUMNS * PITCH, y)], colour, 1.5, "5 4")
        sheet.text(LEFT + COLUMNS * PITCH + 8, y + 4, words, "small", colour)

    bases = [k * PANEL + PANEL - 12 for k in range(3)]
    for k, title in enumerate([
            f"1. One pass finds the maximum of each block, and {len(summits)} large scores: the summits.",
            f"2. The summits bound the support. {len(candidates)} candidates lie above the bound; "
            f"{len(skipped)} of {len(blocks)} blocks are skipped whole.",
            f"3. The equation is solved on the candidates in closed form: {len(support)} probabilities are positive."]):
        sheet.text(LEFT, k * PANEL + 24, title, "title")
        for block in blocks:
            x = LEFT + block[0] * PITCH
            sheet.line([(x, bases[k] + 4), (x + BLOCK * PITCH - 3, bases[k] + 4)], "quiet", 2)
    for i in range(COLUMNS):
        bar(i, bases[0], "green" if i in summits else "quiet", 1 if i in summits else 0.45)
        in_skipped = any(i in block for block in skipped)
        bar(i, bases[1], "blue" if i in candidates else "quiet", 1 if i in candidates else 0.12 if in_skipped else 0.45)
    for block in blocks:
        y = bases[0] - UNIT * (max(z[i] for i in block) - min(z) + 0.15)
        sheet.line([(LEFT + block[0] * PITCH, y), (LEFT + BLOCK * PITCH + block[0] * PITCH - 3, y)], "ink", 1.2)
    sheet.text(LEFT + COLUMNS * PITCH + 8, bases[0] - 60, "green: summits", "small", "green")
    sheet.text(LEFT + COLUMNS * PITCH + 8, bases[0] - 42, "line: maximum of a block", "small")
    level_line(bases[1], top, "ink", f"max = {top:.2f}")
    level_line(bases[1], widest, "quiet", f"max - 1/am1 = {widest:.2f}, for any row")
    level_line(bases[1], cut, "blue", f"max - 1/(am1 c) = {cut:.2f}, c = {c:.2f}")
    scale = (PANEL - 62) / max(p.values())
    for i in candidates:
        if p[i] > 0:
            bar(i, bases[2], "orange", height=scale * p[i])
        else:
            sheet.circle(LEFT + (i + 0.5) * PITCH, bases[2] - 5, 3, "blue")
    x = LEFT + COLUMNS * PITCH + 8
    sheet.text(x, bases[2] - 78, f"largest probability P = {max(p.values()):.3f}", "small", "orange")
    sheet.text(x, bases[2] - 60, f"threshold tau = {tau:.2f}", "small", "orange")
    sheet.text(x, bases[2] - 42, f"solved on {' and then '.join(map(str, turns[:-1]))} scores", "small")
    sheet.text(x, bases[2] - 24, "blue dot: a candidate", "small", "blue")
    sheet.text(x, bases[2] - 8, "whose probability is 0", "small", "blue")
    sheet.write("entmax_row.svg")


if __name__ == "__main__":
    draw()
