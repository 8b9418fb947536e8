"""usage: tour_test.py PROGRAM"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

TOUR = os.path.abspath(sys.argv.pop())
PICTURE_IN_DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "images" / "tour.svg"
SVG = "{http://www.w3.org/2000/svg}"
ALPHAS = ["0.5", "1", "1.25", "4/3", "1.5", "2", "3", "inf"]
ITEMS = 8


def tables(text):
    """The two tables with a row for each alpha, maps and losses: {alpha: words}."""
    found = []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["alpha"]:
            found.append({})
        elif found and words and words[0] in ALPHAS:
            found[-1][words[0]] = words[1:]
    return found


class Tour(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tour(self, *arguments):
        return subprocess.run([TOUR, *arguments], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)

    def assert_refused(self, path):
        before = sorted(self.folder.rglob("*"))
        done = self.run_tour(str(path))
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"tour: cannot write {path}: ", done.stderr)
        self.assertEqual(sorted(self.folder.rglob("*")), before, "something was left behind")

    def test_prints_the_maps_and_the_losses(self):
        done = self.run_tour()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        maps, losses = tables(done.stdout)
        self.assertEqual(list(maps), ALPHAS)
        self.assertEqual(list(losses), ALPHAS)
        for words in maps.values():
            positive = [float(word) for word in words[:ITEMS] if word != "."]
            self.assertAlmostEqual(sum(positive), 1, delta=5e-4)
            self.assertEqual(len(positive), int(words[ITEMS]))
        for words in losses.values():
            gradient = [float(word) for word in words[:ITEMS] if word != "."]
            self.assertAlmostEqual(sum(gradient), 0, delta=5e-4)
            self.assertEqual(words[ITEMS + 1], "0", "a prediction has no loss as its own target")

    def test_draws_each_bar_and_each_zero(self):
        self.assertIn("drawn in tour.svg", self.run_tour().stdout)
        root = ElementTree.parse(self.folder / "tour.svg").getroot()
        self.assertEqual(root.tag, SVG + "svg")
        maps, _ = tables(self.run_tour("again.svg").stdout)
        zeros = sum(words[:ITEMS].count(".") for words in maps.values())
        bars = ITEMS + len(ALPHAS) * ITEMS - zeros
        self.assertEqual(len(root.findall(SVG + "circle")), zeros + 1, "and one in the legend")
        self.assertEqual(len(root.findall(SVG + "rect")), bars + 4, "and the background and three in the legend")
        self.assertEqual((self.folder / "tour.svg").read_bytes(), (self.folder / "again.svg").read_bytes())

    def test_the_picture_in_the_docs_is_this_one(self):
        self.run_tour("tour.svg")
        self.assertEqual((self.folder / "tour.svg").read_text(), PICTURE_IN_DOCS.read_text())

    def test_replaces_a_file_and_leaves_nothing_else(self):
        (self.folder / "tour.svg").write_text("old")
        self.run_tour()
        self.assertEqual([path.name for path in self.folder.iterdir()], ["tour.svg"])
        self.assertNotEqual((self.folder / "tour.svg").read_text(), "old")

    def test_refuses_a_path_that_cannot_be_written(self):
        self.assert_refused("no/such/folder/tour.svg")
        (self.folder / "folder.svg").mkdir()
        self.assert_refused("folder.svg")
        self.assert_refused("/dev/null")

    def test_explains_itself(self):
        done = self.run_tour("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("usage: tour [FILE]", done.stdout)
        for arguments in (["--unknown"], [""], ["a.svg", "b.svg"]):
            done = self.run_tour(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("usage: tour [FILE]", done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
