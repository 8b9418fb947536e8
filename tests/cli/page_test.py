"""What a browser makes of the page of `fenchel report`: on a desktop and a phone, light and dark."""
import pathlib
import sys
import tempfile
import unittest

from browser import Browser, find_chromium
from harness import run

SKIPPED = 77

# Every drawing with what it draws, and what is wrong with its labels.
LOOK = """
(() => {
  const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
  const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
                            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  return [...document.querySelectorAll('figure svg')].filter(svg => !svg.parentElement.closest('svg')).map(svg => {
    const frame = svg.getBoundingClientRect(), faults = [];
    const texts = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim());
    const boxes = texts.map(text => text.getBoundingClientRect());
    const cells = [...svg.querySelectorAll('rect:not(.paper)')].map(cell => cell.getBoundingClientRect())
      .sort((a, b) => a.width * a.height - b.width * b.height);
    texts.forEach((text, i) => {
      const x = (boxes[i].left + boxes[i].right) / 2, y = (boxes[i].top + boxes[i].bottom) / 2;
      const cell = cells.find(cell => cell.left < x && x < cell.right && cell.top < y && y < cell.bottom);
      if (!inside(boxes[i], frame)) faults.push('cut: ' + text.textContent);
      if (cell && !inside(boxes[i], cell)) faults.push('leaves its box: ' + text.textContent);
      for (let k = 0; k < i; ++k)
        if (overlap(boxes[i], boxes[k])) faults.push('overlap: ' + text.textContent + ' | ' + texts[k].textContent);
    });
    const marks = [...svg.querySelectorAll('path, polyline, polygon, line, rect, circle')].filter(mark => {
      const box = mark.getBoundingClientRect();
      return box.width > 0 || box.height > 0;
    });
    return {title: (svg.querySelector('title') || {}).textContent, width: frame.width, height: frame.height,
            marks: marks.length, faults};
  });
})()
"""

# The size of every picture as a reader sees it; 0 where it could not be read.
PICTURES = """[...document.querySelectorAll('figure img')].map(picture =>
  [picture.alt, picture.naturalWidth && picture.width, picture.naturalHeight && picture.height])"""

# How bright the paper is, from 0 to 255.
LIGHT = "(() => { const c = getComputedStyle(document.body).backgroundColor.match(/\\d+/g); return +c[0]; })()"


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        done = run("report", "--output", cls.folder.name, "--quiet")
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        cls.url = (pathlib.Path(cls.folder.name) / "index.html").as_uri()
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def test_every_figure_is_drawn(self):
        names = {}
        for width in (1280, 375):
            for dark in (False, True):
                with self.subTest(width=width, dark=dark):
                    self.browser.show(self.url, width, dark)
                    drawn = self.browser.evaluate(LOOK)
                    self.assertGreater(len(drawn), 30)
                    names[width, dark] = [figure["title"] for figure in drawn]
                    for figure in drawn:
                        self.assertTrue(figure["title"])
                        self.assertGreater(min(figure["width"], figure["height"]), 100, figure)
                        self.assertGreater(figure["marks"], 3, figure)  # paper, grid, axes and more
                        self.assertEqual(figure["faults"], [], figure["title"])
                    pictures = self.browser.evaluate(PICTURES)
                    self.assertGreater(len(pictures), 2)
                    for title, *size in pictures:
                        self.assertTrue(title)
                        self.assertGreater(min(size), 100, title)
                    self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width)
        self.assertEqual(len({tuple(titles) for titles in names.values()}), 1)

    def test_faults_would_be_seen(self):
        self.browser.show("data:text/html,<figure><svg width='200' height='200'><title>A</title>"
                          "<text x='20' y='50'>one label</text><text x='60' y='55'>another</text>"
                          "<text x='20' y='120'>free</text><text x='170' y='180'>too far</text>"
                          "<rect x='20' y='70' width='40' height='30'/><text x='22' y='90'>too wide</text></svg></figure>",
                          375, dark=False)
        self.assertEqual(self.browser.evaluate(LOOK)[0]["faults"],
                         ["overlap: another | one label", "cut: too far", "leaves its box: too wide"])

    def test_prints_within_the_page(self):
        paper = 718  # pixels of A4 between margins of a centimetre
        self.browser.show(self.url, paper, dark=True)
        self.browser.call("Emulation.setEmulatedMedia", media="print",
                          features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.addCleanup(self.browser.call, "Emulation.setEmulatedMedia", media="")
        self.assertGreater(self.browser.evaluate(LIGHT), 200)
        wide = self.browser.evaluate(f"[...document.querySelectorAll('table, svg')].map(part => "
                                     f"[part.getBoundingClientRect().right, part.textContent.trim().slice(0, 40)])"
                                     f".filter(part => part[0] > {paper})")
        self.assertEqual(wide, [])

    def test_wide_tables_show_that_they_scroll(self):
        self.browser.show(self.url, 375, dark=False)
        wide = self.browser.evaluate("[...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth)"
                                     ".map(box => getComputedStyle(box).overflowX + getComputedStyle(box).backgroundAttachment)")
        self.assertGreater(len(wide), 3)
        self.assertEqual(set(wide), {"autolocal, local, scroll, scroll"})

    def test_dark_is_dark(self):
        self.browser.show(self.url, 1280, dark=False)
        self.assertGreater(self.browser.evaluate(LIGHT), 200)
        self.browser.show(self.url, 1280, dark=True)
        self.assertLess(self.browser.evaluate(LIGHT), 60)

    def test_nothing_complains(self):
        self.browser.complaints.clear()
        self.browser.show(self.url, 1280, dark=False)
        self.browser.evaluate("document.title")
        self.assertEqual(self.browser.complaints, [])

    def test_complaints_would_be_seen(self):
        self.browser.complaints.clear()
        self.browser.show("data:text/html,<script>nothing()</script><img src='file:///no/such.png'>", 1280, dark=False)
        self.browser.evaluate("document.title")
        self.assertIn("nothing is not defined", " ".join(self.browser.complaints))
        self.browser.complaints.clear()


if __name__ == "__main__":
    if find_chromium() is None:
        print("no Chromium: the page is not looked at")
        sys.exit(SKIPPED)
    unittest.main()
