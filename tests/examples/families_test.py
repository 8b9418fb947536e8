"""usage: families_test.py PROGRAM"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

FAMILIES = os.path.abspath(sys.argv.pop())
DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


class Families(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_families(self, *arguments):
        return subprocess.run([FAMILIES, *arguments], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)

    def test_draws_the_pictures_of_the_docs(self):
        done = self.run_families(str(self.folder))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        drawn = sorted(self.folder.iterdir())
        self.assertEqual([str(path) for path in drawn], sorted(done.stdout.split()))
        for path in drawn:
            ElementTree.parse(path)
            self.assertEqual(path.read_text(), (DOCS / "images" / path.name).read_text(), path.name)

    def test_each_page_shows_its_picture(self):
        self.run_families(str(self.folder))
        for path in self.folder.iterdir():
            pages = [page for page in DOCS.rglob("*.md") if f"images/{path.name}" in page.read_text(encoding="utf-8")]
            self.assertTrue(pages, f"no page shows {path.name}")

    def test_refuses_a_folder_that_is_not_there(self):
        done = self.run_families("no/such/folder")
        self.assertEqual(done.returncode, 1)
        self.assertIn("families: cannot write no/such/folder/", done.stderr)

    def test_explains_itself(self):
        self.assertIn("usage: families FOLDER", self.run_families("--help").stdout)
        self.assertEqual(self.run_families().returncode, 2)
        self.assertEqual(self.run_families("a", "b").returncode, 2)


if __name__ == "__main__":
    unittest.main()
