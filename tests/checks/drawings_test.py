"""The drawings in docs/images/drawings/ are those that scripts/drawings/ draws, and each is shown on a page."""
import importlib
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts" / "drawings"
DRAWINGS = sorted((ROOT / "docs" / "images" / "drawings").iterdir())
NUMBER = re.compile(r"-?\d+\.?\d*")
PIXEL = 0.11  # other machines may round the last digit of a coordinate differently

sys.path.insert(0, str(SCRIPTS))
sheet = importlib.import_module("sheet")


class Drawings(unittest.TestCase):
    def test_are_those_of_the_scripts(self):
        with tempfile.TemporaryDirectory() as folder:
            sheet.FOLDER = pathlib.Path(folder)
            scripts = [path.stem for path in SCRIPTS.glob("*.py") if path.stem != "sheet"]
            for name in scripts:
                importlib.import_module(name).draw()
            drawn = {path.name: path.read_text(encoding="ascii") for path in sheet.FOLDER.iterdir()}
        self.assertEqual(sorted(drawn), [path.name for path in DRAWINGS])
        self.assertEqual(len(drawn), len(scripts))
        for path in DRAWINGS:
            kept, new = path.read_text(encoding="ascii"), drawn[path.name]
            self.assertEqual(NUMBER.sub("#", kept), NUMBER.sub("#", new), path.name)
            for one, other in zip(NUMBER.findall(kept), NUMBER.findall(new)):
                self.assertLessEqual(abs(float(one) - float(other)), PIXEL, path.name)

    def test_are_shown(self):
        pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
        for path in DRAWINGS:
            self.assertTrue(f"images/drawings/{path.name})" in pages, path.name)


if __name__ == "__main__":
    unittest.main()
