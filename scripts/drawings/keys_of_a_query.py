#!/usr/bin/env python3
"""Draws docs/images/drawings/keys_of_a_query.svg: how queries on a GPU find the keys with weight, at alpha = 2.

The steps are those of src/backend/cuda/dot_product/sparse_rows.cuh and transposed.cu, for 3 queries instead of 128, and
64 keys in tiles of 16 instead of 64. A set has two neighbours of each tile, as in the code. One tile gives the first
bound, and every tile draws it nearer; the code takes up to eight, and waits for a third more. It stops a little below
the threshold of the maxima, and the drawing has the threshold itself. Lists are drawn in the order of their keys.
"""
import math
import random

from sheet import Sheet

KEYS, TILE, SETS, QUERIES = 64, 16, 8, 3
PITCH, LEFT, PANEL, UNIT = 11, 24, 274, 104
RIGHT = LEFT + KEYS * PITCH + 10
CELL, TALL = 44, 38


def rows_of_scores():
    """Queries that are alike: a part of their scores is common to all."""
    rng = random.Random(15107)
    normal = lambda: math.sqrt(-2 * math.log(1 - rng.random())) * math.cos(2 * math.pi * rng.random())
    common = [0.3 * normal() for _ in range(KEYS)]
    return [[score + 0.25 * normal() for score in common] for _ in range(QUERIES)]


def set_of(key):
    return key % TILE // 2


def threshold(scores):
    """tau with sum max(0, z - tau) = 1, by Newton's method: a step solves on the scores above the last tau."""
    tau, count = -math.inf, 0
    while True:
        above = [z for z in scores if z > tau]
        if len(above) == count:
            return tau
        tau, count = (sum(above) - 1) / len(above), len(above)


class Row:
    """What the first tile and the pass over all keys, the last tile first, find in the scores of a query."""

    def __init__(self, z):
        self.z = z
        self.maxima = self.largest(range(TILE))
        bound = threshold([z[j] for j in self.maxima])
        self.bounds, self.candidates, seen = {}, [], self.maxima
        for tile in reversed(range(KEYS // TILE)):
            self.bounds[tile] = bound
            keys = range(tile * TILE, (tile + 1) * TILE)
            self.candidates += [j for j in keys if z[j] > bound]
            seen = self.largest([*seen, *keys])
            bound = max(bound, threshold([z[j] for j in seen]))
        self.tau = threshold([z[j] for j in self.candidates])
        self.weights = {j: z[j] - self.tau for j in sorted(self.candidates) if z[j] > self.tau}
        assert abs(self.tau - threshold(z)) < 1e-12 and abs(sum(self.weights.values()) - 1) < 1e-12

    def largest(self, keys):
        """The key of the largest score in each set."""
        return [max((j for j in keys if set_of(j) == s), key=self.z.__getitem__) for s in range(SETS)]


def cell(sheet, x, y, colour, name, weight):
    """An entry of a list: a key or a query, and the weight."""
    sheet.rectangle(x, y, CELL - 4, TALL, colour, 0.14, 5)
    sheet.text(x + CELL / 2 - 2, y + 16, name, "", "ink", "middle", halo=False)
    sheet.text(x + CELL / 2 - 2, y + 32, f"{weight:.2f}", "small", colour, "middle", halo=False)


def draw():
    rows = [Row(z) for z in rows_of_scores()]
    row, z = rows[0], rows[0].z
    support = list(row.weights)
    bases = [PANEL - 44, 2 * PANEL - 44]
    third = 2 * PANEL + 4
    sheet = Sheet(RIGHT + 192, third + 244, "The keys of a query")

    def height(score):
        return UNIT * (score - min(z) + 0.1)

    def bar(j, base, colour, opacity=1.0, low=0.0):
        sheet.rectangle(LEFT + j * PITCH + 2, base - height(z[j]), PITCH - 4, height(z[j]) - low, colour, opacity)

    def level(base, score, colour, first=0, end=KEYS):
        y = base - height(score)
        sheet.line([(LEFT + first * PITCH, y), (LEFT + end * PITCH - 3, y)], colour, 1.5, "5 4")
        return y

    def words(y, colour, lines):
        for k, line in enumerate(lines):
            sheet.text(RIGHT, y + 17 * k, line, "", colour)

    sheet.text(LEFT, 24, f"1. The largest scores of query a in each of {SETS} sets of some keys give a first bound.",
               "title")
    sheet.text(LEFT, PANEL + 24, f"2. One pass over all keys keeps {len(row.candidates)} scores, and draws the bound "
               f"nearer. {len(support)} keys have weight.", "title")
    sheet.text(LEFT, third + 24, f"3. The list of a query has its {len(support)} pairs of key and weight. "
               "The output reads the values of these keys only.", "title")

    for j in range(KEYS):
        most, kept = j in row.maxima, j in row.candidates
        bar(j, bases[0], "green" if most else "quiet", 1 if most else 0.35)
        bar(j, bases[1], "blue" if kept else "quiet", 1 if kept else 0.35)
        if j in row.weights:
            bar(j, bases[1], "orange", low=height(row.tau))
    for j in range(0, KEYS, 2):
        sheet.text(LEFT + (j + 1) * PITCH, bases[0] + 18, str(set_of(j) + 1), "small",
                   "green" if j in row.maxima or j + 1 in row.maxima else "quiet", "middle")
    for base, below in zip(bases, (24, 4)):
        for j in range(0, KEYS, TILE):
            x = LEFT + j * PITCH
            sheet.line([(x, base + below), (x + TILE * PITCH - 3, base + below)], "quiet", 2)

    for n, j in enumerate(row.weights):
        sheet.text(LEFT + (j + 0.5) * PITCH, bases[1] + 21, str(j) if n else f"key {j}", "", "orange", "middle")

    y = level(bases[0], row.bounds[KEYS // TILE - 1], "green")
    words(y - 18, "green", ["green: the largest of a set"])
    words(y + 4, "green", ["first lower bound of the", f"threshold: {round(row.bounds[KEYS // TILE - 1], 2) + 0:.2f}"])
    words(bases[0] - 16, "quiet", ["numbers: sets of keys,", f"{SETS} here, 32 on the GPU", "lines: tiles of keys"])
    y = level(bases[1], row.tau, "orange")
    words(y - 35, "orange", ["orange: the weights, what", "is above the threshold", f"threshold: {row.tau:.2f}"])
    for tile, bound in row.bounds.items():
        y = level(bases[1], bound, "green", tile * TILE, (tile + 1) * TILE)
    y = bases[1] - height(row.bounds[KEYS // TILE - 1])
    words(y + 6, "green", ["green: lower bounds, from", "right to left"])
    words(y + 45, "blue", ["blue: the candidates"])
    words(bases[1] - 16, "quiet", ["grey: keys without weight", "alpha = 2"])

    terms = " + ".join(f"{weight:.2f} value {j}" for j, weight in row.weights.items())
    sheet.text(LEFT, third + 52, f"output of query a  =  {terms}", "", "orange")
    top = third + 104
    sheet.text(LEFT, top - 26, "by queries: for the gradients of queries", "")
    for k, one in enumerate(rows):
        colour, y = "quiet" if k else "orange", top + k * (TALL + 6)
        sheet.text(LEFT, y + 24, f"query {'abc'[k]}", "", "ink" if k else "orange")
        for n, (j, weight) in enumerate(one.weights.items()):
            cell(sheet, LEFT + 62 + n * CELL, y, colour, str(j), weight)
    keys = sorted(set().union(*(one.weights for one in rows)))
    left = RIGHT + 180 - len(keys) * CELL
    middle = top + 1.5 * TALL + 6
    sheet.arrow([(LEFT + 62 + len(support) * CELL + 8, middle), (left - 14, middle)], "ink")
    sheet.text((LEFT + 62 + len(support) * CELL + left) / 2 - 3, middle - 10, "the backward pass sorts by key", "", "ink",
               "middle")
    sheet.text(left, top - 26, "by keys: for the gradients of keys and values", "")
    for n, j in enumerate(keys):
        x = left + n * CELL
        sheet.text(x + CELL / 2 - 2, top - 6, f"key {j}" if n == 0 else str(j), "", "ink", "middle")
        users = [k for k, one in enumerate(rows) if j in one.weights]
        for at, k in enumerate(users):
            cell(sheet, x, top + at * (TALL + 6), "quiet" if k else "orange", "abc"[k], rows[k].weights[j])
    sheet.write("keys_of_a_query.svg")


if __name__ == "__main__":
    draw()
