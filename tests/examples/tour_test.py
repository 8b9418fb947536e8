"""usage: tour_test.py PROGRAM"""
import os
import subprocess
import sys
import unittest

TOUR = os.path.abspath(sys.argv.pop())
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
    def run_tour(self, *arguments):
        return subprocess.run([TOUR, *arguments], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)

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

    def test_explains_itself(self):
        done = self.run_tour("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("usage: tour\n", done.stdout)
        for arguments in (["--unknown"], [""], ["a", "b"]):
            done = self.run_tour(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("usage: tour\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
