"""The pictures in the documents are those of `fenchel report`, and each is shown somewhere."""
import pathlib
import re
import tempfile
import unittest

from harness import run

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = sorted((ROOT / "docs" / "images").glob("*.svg"))
NUMBER = re.compile(r"-?\d+\.?\d*")
PIXEL = 0.02  # other processors may round the last digit of a coordinate differently


class Pictures(unittest.TestCase):
    def test_are_those_of_the_report(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run("report", "--output", folder, "--quiet").returncode, 0)
            self.assertGreater(len(PICTURES), 15)
            for picture in PICTURES:
                with self.subTest(picture=picture.name):
                    drawn = (pathlib.Path(folder) / "figures" / picture.name).read_text()
                    kept = picture.read_text()
                    self.assertEqual(NUMBER.sub("#", drawn), NUMBER.sub("#", kept))
                    for one, other in zip(NUMBER.findall(drawn), NUMBER.findall(kept)):
                        self.assertLessEqual(abs(float(one) - float(other)), PIXEL)

    def test_are_shown(self):
        pages = "".join(page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
        for picture in PICTURES:
            self.assertIn(f"images/{picture.name})", pages)


if __name__ == "__main__":
    unittest.main()
