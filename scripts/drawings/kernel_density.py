#!/usr/bin/env python3
"""Draws docs/images/drawings/kernel_density.svg: kernels that end, beside kernels that do not.

On the left the density of waiting times with Epanechnikov and with Gaussian kernels of one standard deviation, on the
right that of times that cannot be negative, on the line and reflected at 0 (docs/math.md 10).
"""
import math
import random

from sheet import Sheet

WIDTH, HEIGHT, LEFT, PANEL, GAP, BASE, TOP = 860, 330, 36, 380, 28, 262, 60


def epanechnikov(u):
    return 3 / (4 * math.sqrt(5)) * max(0.0, 1 - u * u / 5)


def gaussian(u):
    return math.exp(-u * u / 2) / math.sqrt(2 * math.pi)


def density(kernel, data, h, t):
    return sum(kernel((t - x) / h) for x in data) / (len(data) * h)


def pieces(data, reach):
    """The union of the supports of all kernels."""
    found = []
    for x in sorted(data):
        if found and x - reach <= found[-1][1]:
            found[-1][1] = x + reach
        else:
            found.append([x - reach, x + reach])
    return found


def panel(sheet, left, low, high, most, curves, data):
    """Each curve is a function, a colour and a width."""
    def at(t, y):
        return left + (t - low) / (high - low) * PANEL, BASE - y / most * (BASE - TOP)

    sheet.line([(left, BASE), (left + PANEL, BASE)], "quiet", 1)
    for curve, colour, dash in curves:
        points = [low + (high - low) * k / 400 for k in range(401)]
        sheet.line([at(t, curve(t)) for t in points], colour, 2, dash)
    for x in data:
        px, _ = at(x, 0)
        sheet.line([(px, BASE + 4), (px, BASE + 12)], "ink", 1)
    for k in range(math.ceil(low), math.floor(high) + 1, 2):
        sheet.text(at(k, 0)[0], BASE + 46, str(k), "small", "quiet", "middle")
    return at


def draw():
    rng = random.Random(4)
    two = [rng.gauss(2, 0.5) for _ in range(12)] + [rng.gauss(6.6, 0.6) for _ in range(18)]
    times = [rng.expovariate(0.7) for _ in range(40)]
    sheet = Sheet(WIDTH, HEIGHT, "Kernel densities")
    h = 0.35
    sheet.text(LEFT, 24, "One bandwidth, two kernels", "title")
    at = panel(sheet, LEFT, -0.5, 9.5, 0.5, [
        (lambda t: density(gaussian, two, h, t), "orange", "5 4"),
        (lambda t: density(epanechnikov, two, h, t), "blue", "")], two)
    for low, high in pieces(two, h * math.sqrt(5)):
        sheet.line([(at(low, 0)[0], BASE + 20), (at(high, 0)[0], BASE + 20)], "blue", 4)
    sheet.text(LEFT + 8, TOP - 12, "alpha = 2: 0 between the groups; bars: its support", "small", "blue")
    sheet.text(LEFT + 8, TOP + 6, "alpha = 1: nowhere 0", "small", "orange")

    right = LEFT + PANEL + GAP
    sheet.text(right, 24, "Times that are not negative", "title")
    panel(sheet, right, -2, 8.5, 0.75, [
        (lambda t: density(epanechnikov, times, h, t), "orange", "5 4"),
        (lambda t: density(epanechnikov, times, h, t) + density(epanechnikov, times, h, -t) if t >= 0 else 0.0,
         "blue", "")], times)
    sheet.text(right + 160, TOP + 6, "domain = [0, inf): reflected at 0", "small", "blue")
    lost = sum(density(epanechnikov, times, h, -k / 1000) for k in range(1, 800)) / 1000
    sheet.text(right + 160, TOP + 24, f"on the line: {100 * lost:.0f}% lies below 0", "small", "orange")
    sheet.write("kernel_density.svg")


if __name__ == "__main__":
    draw()
