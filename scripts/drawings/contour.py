#!/usr/bin/env python3
"""Draws docs/images/drawings/contour.svg: the contour of continuous attention in R^D for alpha > 1, with its nodes.

The numbers are those of src/backend/cpu/attention/space_node.hpp in double, for D = 2, alpha = 3/2 and one function:
saddle, hyperbola, step and end of the trapezoidal rule are computed as there.
"""
import cmath
import math

from sheet import Sheet

ALPHA = 1.5
N = ALPHA / (ALPHA - 1)
V, E2 = (0.9, 0.35), (5.0, 1.5)  # of the function, in the coordinates of docs/math.md: v_a and beta d_a^2 / 2
SLOPE = 0.7602  # kContourSlope
LARGEST_STEP, GAUSSIAN_STEP, POLE_STEP, SMALLEST = 0.14, 0.7, 0.22, 1e-17  # kDoubleRule

LEFT, RIGHT, HIGH = -4.6, 5.0, 4.6  # the part of the plane that is drawn
SCALE, TOP = 76, 44


def exponent(zeta):
    """Phi: the integrand is its exponential."""
    return (N * (zeta - 1 - cmath.log(zeta)) - sum(cmath.log(1 + zeta * v) / 2 for v in V)
            - sum(e2 * zeta / (1 + zeta * v) for v, e2 in zip(V, E2)))


def slopes(zeta):
    """The first three derivatives of Phi at a positive number."""
    first, second, third = N - N / zeta, N / zeta**2, -2 * N / zeta**3
    for v, e2 in zip(V, E2):
        c = 1 / (1 + v * zeta)
        first -= v * c / 2 + e2 * c**2
        second += (v * c) ** 2 / 2 + 2 * e2 * v * c**3
        third -= (v * c) ** 3 + 6 * e2 * v**2 * c**4
    return first, second, third


def find_saddle():
    zeta = 1e-3
    for _ in range(100):
        first, second, _ = slopes(zeta)
        zeta -= first / second
    return zeta


SADDLE = find_saddle()
_, SECOND, THIRD = slopes(SADDLE)
WIDTH = SLOPE * 3 * SADDLE**2 * SECOND / (-(SADDLE**3) * THIRD)
STEP = 1 / math.sqrt(LARGEST_STEP**-2 + SADDLE**2 * SECOND * (WIDTH / GAUSSIAN_STEP) ** 2 + (WIDTH / POLE_STEP) ** 2)


def hyperbola(t):
    return SADDLE * (1 + WIDTH * (1j * math.sinh(t) - SLOPE * (math.cosh(t) - 1)))


def term(t):
    """The integrand in t, over that at the saddle."""
    velocity = 1j * math.cosh(t) - SLOPE * math.sinh(t)
    return abs(cmath.exp(exponent(hyperbola(t)) - exponent(SADDLE)) * velocity)


def nodes():
    """t of the nodes with im >= 0, up to the first whose term is too small."""
    found = [0.0]
    while term(found[-1]) > 2 * SMALLEST:
        found.append(found[-1] + STEP)
    return found


def place(zeta):
    return (zeta.real - LEFT) * SCALE + 12, TOP + (HIGH - zeta.imag) * SCALE


def larger_than_at_the_saddle():
    """Where the integrand is, as rectangles of one cell's height."""
    peak, cell = exponent(SADDLE).real, 0.025
    columns, rows = round((RIGHT - LEFT) / cell), round(2 * HIGH / cell)
    for k in range(rows):
        y = HIGH - (k + 0.5) * cell
        inside = [exponent(complex(LEFT + (i + 0.5) * cell, y)).real > peak for i in range(columns)]
        begins = [i for i in range(columns) if inside[i] and not (i and inside[i - 1])]
        ends = [i + 1 for i in range(columns) if inside[i] and not inside[i + 1 : i + 2] == [True]]
        for begin, end in zip(begins, ends):
            yield (*place(complex(LEFT + begin * cell, y + cell / 2)), (end - begin) * cell * SCALE, cell * SCALE)


def draw():
    title, base = "The contour of attention in R^D for alpha > 1", TOP + 2 * HIGH * SCALE
    sheet = Sheet(24 + (RIGHT - LEFT) * SCALE, base + 62, title)
    sheet.runs(larger_than_at_the_saddle(), "pale")
    sheet.line([place(LEFT), place(RIGHT)], "quiet", 1)
    sheet.line([place(-1j * HIGH), place(1j * HIGH)], "quiet", 1)
    sheet.line([place(SADDLE - 1j * HIGH), place(SADDLE + 1j * HIGH)], "quiet", 1, "4 4")
    sheet.line([place(LEFT), place(0)], "orange", 4)
    sheet.circle(*place(0), 5, "orange")
    for v in V:
        x, y = place(-1 / v)
        sheet.line([(x - 6, y - 6), (x + 6, y + 6)], "orange", 3)
        sheet.line([(x - 6, y + 6), (x + 6, y - 6)], "orange", 3)
    inside = [0.01 * i for i in range(-500, 501) if abs(hyperbola(0.01 * i).imag) <= HIGH]
    sheet.line([place(hyperbola(t)) for t in inside], "blue", 2)
    found = nodes()
    beyond = max(term(t) for t in found if hyperbola(t).imag > HIGH)
    for t in found:
        for zeta in {hyperbola(t), hyperbola(-t)}:
            if abs(zeta.imag) <= HIGH:
                sheet.circle(*place(zeta), 4, "blue")
    sheet.circle(*place(SADDLE), 7, "green")
    x, y = place(SADDLE)
    sheet.text(x + 14, y - 12, "saddle", "title", "green")
    sheet.text(x + 14, y + 22, f"zeta0 = {SADDLE:.2f}", "small", "green")
    x, y = place(complex(LEFT + 0.1, 0))
    sheet.text(x, y - 14, "branch cut", "", "orange")
    for v, name in zip(V, "12"):
        x, y = place(-1 / v)
        sheet.text(x, y + 24, f"-1/v{name}", "small", "orange", "middle")
    x, y = place(0)
    sheet.text(x + 8, y + 20, "0", "small", "orange")
    x, y = place(hyperbola(inside[-1] * 0.87))
    sheet.text(x + 12, y - 4, "the hyperbola, with the nodes", "", "blue")
    sheet.text(x + 16, y + 14, "of the trapezoidal rule", "", "blue")
    x, y = place(SADDLE - 1j * HIGH)
    sheet.text(x + 8, y - 30, "vertical line: the integrand", "small", "quiet")
    sheet.text(x + 8, y - 14, "is largest at the saddle", "small", "quiet")
    x, y = place(complex(RIGHT, 0))
    sheet.text(x - 4, y - 8, "Re zeta", "small", "quiet", "end")
    sheet.text(16, 26, title, "title")
    sheet.text(16, base + 26, f"alpha = 3/2, D = 2, v = {V}, beta d^2 / 2 = {E2}. "
               "Grey: the integrand is larger than at the saddle.", "small")
    sheet.text(16, base + 46, f"{len(found)} nodes have Im zeta >= 0; the others are their conjugates. "
               f"Those beyond the picture have terms below {beyond:.0e} of the first.", "small")
    sheet.write("contour.svg")


if __name__ == "__main__":
    draw()
