#!/usr/bin/env python3
"""Draws docs/images/drawings/derivatives.svg: how fenchel.torch makes every mode of differentiation from four functions.

The boxes and arrows are the classes and calls of frontends/python/fenchel/torch/_differentiable.py.
"""
from sheet import Sheet

WIDE, TALL = 250, 76
VALUE, VJP, JVP, HESSIAN = (325, 52), (60, 236), (590, 236), (325, 420)  # upper left corners


def box(sheet, corner, colour, name, formula, kernel):
    x, y = corner
    sheet.rectangle(x, y, WIDE, TALL, colour, 0.12, 8)
    sheet.frame(x, y, WIDE, TALL, colour)
    sheet.text(x + WIDE / 2, y + 22, name, "title", "ink", "middle", halo=False)
    sheet.text(x + WIDE / 2, y + 43, formula, "", "ink", "middle", halo=False)
    sheet.text(x + WIDE / 2, y + 63, kernel, "code", "quiet", "middle", halo=False)


def draw():
    sheet = Sheet(900, 690, "Four functions give first and second derivatives in torch")
    sheet.text(24, 28, "Four functions give first and second derivatives in torch", "title")
    value_left, value_right = (VALUE[0], VALUE[1] + 46), (VALUE[0] + WIDE, VALUE[1] + 46)
    sheet.arrow([value_left, (VJP[0] + 125, VALUE[1] + 46), (VJP[0] + 125, VJP[1] - 3)], "blue")
    sheet.text(VJP[0] + 133, VALUE[1] + 112, "backward", "", "blue")
    sheet.text(VJP[0] + 133, VALUE[1] + 129, "1  reverse mode", "small", "blue")
    sheet.arrow([value_right, (JVP[0] + 125, VALUE[1] + 46), (JVP[0] + 125, JVP[1] - 3)], "orange")
    sheet.text(JVP[0] + 117, VALUE[1] + 112, "jvp", "", "orange", "end")
    sheet.text(JVP[0] + 117, VALUE[1] + 129, "2  forward mode", "small", "orange", "end")

    upper, lower = VJP[1] + 26, VJP[1] + 54
    sheet.arrow([(VJP[0] + WIDE, upper), (JVP[0] - 3, upper)], "blue")
    sheet.text(450, upper - 8, "3  backward, in the cotangent", "small", "blue", "middle")
    sheet.arrow([(JVP[0], lower), (VJP[0] + WIDE + 3, lower)], "blue")
    sheet.text(450, lower + 18, "5  backward, in the direction", "small", "blue", "middle")

    foot = VJP[1] + TALL
    sheet.arrow([(VJP[0] + 90, foot), (VJP[0] + 90, HESSIAN[1] + 50), (HESSIAN[0] - 3, HESSIAN[1] + 50)], "blue")
    sheet.text(VJP[0] + 82, foot + 84, "3  backward,", "small", "blue", "end")
    sheet.text(VJP[0] + 82, foot + 100, "in x", "small", "blue", "end")
    sheet.arrow([(VJP[0] + 160, foot), (VJP[0] + 160, HESSIAN[1] + 24), (HESSIAN[0] - 3, HESSIAN[1] + 24)], "orange")
    sheet.text(VJP[0] + 168, foot + 62, "4  jvp, in x", "small", "orange")
    loop = VJP[0] + 222
    sheet.arrow([(loop, foot), (loop, foot + 26), (loop + 60, foot + 26), (loop + 60, foot - 6),
                 (VJP[0] + WIDE + 3, foot - 6)], "orange")
    sheet.text(loop + 68, foot + 30, "4  jvp, in the cotangent", "small", "orange")
    right = HESSIAN[0] + WIDE + 3
    sheet.arrow([(JVP[0] + 125, foot), (JVP[0] + 125, HESSIAN[1] + 38), (right, HESSIAN[1] + 38)], "blue")
    sheet.text(JVP[0] + 133, foot + 62, "5  backward, in x", "small", "blue")

    box(sheet, VALUE, "green", "Value", "y = f(x)", "the operation itself")
    box(sheet, VJP, "green", "Vjp", "the gradient of <cotangent, y> in x", "Rule.vjp")
    box(sheet, JVP, "green", "Jvp", "how y moves along a direction of x", "Rule.jvp")
    box(sheet, HESSIAN, "green", "Hessian", "the Hessian of <cotangent, y> in x", "times a direction: Rule.hessian")
    sheet.text(450, HESSIAN[1] + TALL + 20, "To differentiate it is an error:", "small", "quiet", "middle")
    sheet.text(450, HESSIAN[1] + TALL + 36, "there are no third derivatives.", "small", "quiet", "middle")

    rows = [("1", "blue", "reverse mode", "loss.backward(), torch.func.grad, vjp, jacrev"),
            ("2", "orange", "forward mode", "torch.func.jvp, jacfwd"),
            ("3", "blue", "reverse over reverse", "create_graph=True, grad(grad(f))"),
            ("4", "orange", "forward over reverse", "torch.func.hessian = jacfwd(jacrev(f))"),
            ("5", "blue", "reverse over forward", "jacrev(jacfwd(f))")]
    for k, (number, colour, mode, calls) in enumerate(rows):
        y = 572 + 22 * k
        sheet.text(60, y, f"{number}  {mode}", "", colour)
        sheet.text(260, y, calls, "code")
    sheet.text(600, 572, "Compiled code has reverse mode,", "small", "quiet")
    sheet.text(600, 590, "by a rule on the operation itself.", "small", "quiet")
    sheet.text(600, 616, "vmap: torch derives it for each box.", "small", "quiet")
    sheet.text(600, 642, "Forward over forward is missing:", "small", "quiet")
    sheet.text(600, 660, "Jvp has no jvp.", "small", "quiet")
    sheet.write("derivatives.svg")


if __name__ == "__main__":
    draw()
