"""A sheet of SVG in the colours of the project's charts, which follow the reader's light or dark system."""
import html
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "images" / "drawings"

# ink, quiet ink, paper, blue, orange, green: those of frontends/plot/theme.cpp
LIGHT = {"ink": "#1f2328", "quiet": "#6b737d", "paper": "#ffffff", "pale": "#e6e9ed",
         "blue": "#005b9a", "orange": "#d04a00", "green": "#008a68"}
DARK = {"ink": "#e6e9ed", "quiet": "#8f98a3", "paper": "#15181d", "pale": "#2b3038",
        "blue": "#36a8ff", "orange": "#f2522a", "green": "#0c9d6c"}


def _rules(colours):
    return "".join(f".{name}{{fill:{colour}}}.{name}-line{{stroke:{colour};fill:none}}"
                   for name, colour in colours.items())


class Sheet:
    """Marks are drawn in the order of the calls. A mark's colour is a name in LIGHT and DARK."""

    def __init__(self, width, height, title):
        style = ("text{font:13px system-ui,sans-serif}.small{font-size:12px}.title{font-weight:600;font-size:15px}"
                 ".code{font-family:ui-monospace,monospace;font-size:12px}"
                 ".halo{stroke-width:4px;stroke-linejoin:round;paint-order:stroke}")
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                      f'viewBox="0 0 {width} {height}" role="img"><title>{html.escape(title)}</title>\n<style>{style}\n'
                      f'{_rules(LIGHT)}.halo{{stroke:{LIGHT["paper"]}}}\n@media screen and (prefers-color-scheme:dark)'
                      f'{{{_rules(DARK)}.halo{{stroke:{DARK["paper"]}}}}}\n</style>\n'
                      f'<rect class="paper" width="{width}" height="{height}"/>\n']

    def add(self, mark):
        self.parts.append(mark + "\n")

    def rectangle(self, x, y, width, height, colour, opacity=1.0, radius=0):
        self.add(f'<rect class="{colour}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
                 f'rx="{radius}" fill-opacity="{opacity:g}"/>')

    def runs(self, rectangles, colour):
        """Many rectangles as one mark."""
        path = "".join(f"M{x:.1f} {y:.2f}h{width:.1f}v{height:.2f}h{-width:.1f}z" for x, y, width, height in rectangles)
        self.add(f'<path class="{colour}" shape-rendering="crispEdges" d="{path}"/>')

    def frame(self, x, y, width, height, colour, dash=""):
        self.add(f'<rect class="{colour}-line" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
                 f'rx="8" stroke-width="1.5" stroke-dasharray="{dash}"/>')

    def line(self, points, colour, width=1.5, dash=""):
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.add(f'<path class="{colour}-line" d="{path}" stroke-width="{width:g}" stroke-dasharray="{dash}"/>')

    def circle(self, x, y, radius, colour):
        self.add(f'<circle class="{colour}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>')

    def text(self, x, y, words, kind="", colour="ink", anchor="start", halo=True):
        kinds = f"{colour} {kind}{' halo' if halo else ''}"
        self.add(f'<text class="{kinds}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
                 f'{html.escape(words)}</text>')

    def arrow(self, points, colour, width=1.8):
        """A line whose last point has a head."""
        (x0, y0), (x1, y1) = points[-2:]
        length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
        u, v = (x1 - x0) / length, (y1 - y0) / length
        back, side = 9, 4.5
        head = [(x1, y1), (x1 - back * u - side * v, y1 - back * v + side * u),
                (x1 - back * u + side * v, y1 - back * v - side * u)]
        self.line([*points[:-1], (x1 - back * u, y1 - back * v)], colour, width)
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in head)
        self.add(f'<polygon class="{colour}" points="{corners}"/>')

    def write(self, name):
        (FOLDER / name).write_text("".join(self.parts) + "</svg>\n", encoding="ascii")
