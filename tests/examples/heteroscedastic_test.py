"""usage: heteroscedastic_test.py PROGRAM"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

HETEROSCEDASTIC = os.path.abspath(sys.argv.pop())
ROOT = pathlib.Path(__file__).resolve().parents[2]
# Slope, intercept, 1 - SSE/Var(prediction) and r2, as printed: MATH.md 9.
TABLE = {
    "least squares": ["0.0032457", "2.0272", "0.562", "0.768"],
    "alpha 1": ["0.0034322", "0.8675", "0.668", "0.803"],
    "alpha 4/3": ["0.0034744", "0.6841", "0.684", "0.808"],
    "alpha 3/2": ["0.0035036", "0.5666", "0.694", "0.811"],
    "alpha 2": ["0.0036239", "0.1246", "0.721", "0.815"],
}
LOSSES = ["3.23997", "1.45411", "1.04575", "0.473553"]


class Heteroscedastic(unittest.TestCase):
    def run_in(self, folder, *arguments):
        return subprocess.run([HETEROSCEDASTIC, *map(str, arguments)], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)

    def test_prints_the_table(self):
        done = self.run_in(ROOT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = re.findall(r"^(least squares|alpha [\d/]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)", done.stdout,
                          re.MULTILINE)
        self.assertEqual({name: numbers for name, *numbers in rows}, TABLE)
        searches = re.findall(r"loss ([\d.]+), reached by (\d+) of 10 starts", done.stdout)
        self.assertEqual([loss for loss, _ in searches], LOSSES)
        self.assertTrue(all(int(reached) >= 5 for _, reached in searches), searches)

    def test_draws_what_it_fitted(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = pathlib.Path(folder) / "fits.svg"
            done = self.run_in(folder, ROOT / "data" / "cancer.csv", picture)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            circles = ElementTree.parse(picture).getroot().iter("{http://www.w3.org/2000/svg}circle")
            self.assertEqual(len(list(circles)), 301)

    def test_says_where_the_data_are(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_in(folder)
            self.assertEqual(done.returncode, 1)
            self.assertTrue(done.stderr.startswith("heteroscedastic: data/cancer.csv: "), done.stderr)
            self.assertIn("Run this in the root of the repository", done.stderr)


if __name__ == "__main__":
    unittest.main()
