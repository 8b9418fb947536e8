"""scripts/feature_table finds what is missing: run on copies of this tree with something taken away."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from check_trees import SCRIPTS

ROOT = SCRIPTS.parent
READ = ["docs/features.md", "include/fenchel", "frontends/python/fenchel", "frontends/torch", "frontends/cli/families",
        "frontends/cli/commands"]


class FeatureTable(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for path in READ:
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copy if (ROOT / path).is_file() else shutil.copytree
            copy(ROOT / path, self.root / path)

    def change(self, path, old, new):
        text = (self.root / path).read_text(encoding="utf-8")
        self.assertIn(old, text)
        (self.root / path).write_text(text.replace(old, new), encoding="utf-8")

    def said(self):
        done = subprocess.run([sys.executable, SCRIPTS / "feature_table", "--check", self.root], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_accepts_this_tree(self):
        self.assertEqual(self.said(), (0, ""))

    def test_finds_a_page_that_is_old(self):
        self.change("docs/features.md", "| softmax, sparsemax, entmax | map | yes |", "| softmax | map | yes |")
        self.assertIn("docs/features.md:1: is not up to date", self.said()[1])

    def test_finds_what_is_gone(self):
        for path, old, new, message in [
            ("include/fenchel/backend/cuda/weighted_entmax.hpp", "weighted_entmax", "other", "CUDA has no"),
            ("frontends/python/fenchel/__init__.py", '    "LocationScale",\n', "", "Python has no LocationScale.pdf"),
            ("frontends/python/fenchel/torch/__init__.py", '    "SparsePoisson",\n', "", "torch has no SparsePoisson.log_prob"),
            ("frontends/python/fenchel/torch/integrations/transformers.py", "def register(", "def other(",
             "torch has no transformers: register"),
            ("frontends/torch/CMakeLists.txt", "  ops/weighted_entmax.cpp\n", "", "torch on CUDA has no op weighted_entmax"),
            ("frontends/cli/families/table.cpp", '"smooth-parabola"', '"other"', "command has no density smooth-parabola"),
        ]:
            with self.subTest(message):
                before = (self.root / path).read_text(encoding="utf-8")
                self.change(path, old, new)
                status, output = self.said()
                (self.root / path).write_text(before, encoding="utf-8")
                self.assertEqual(status, 1)
                self.assertIn(message, output)

    def test_finds_a_distribution_that_no_row_names(self):
        self.change("frontends/python/fenchel/__init__.py", '__all__ = [\n', '__all__ = [\n    "Unheard",\n')
        with open(self.root / "frontends/python/fenchel/_line.py", "a") as file:
            file.write("\n\nclass Unheard(LineDistribution):\n    pass\n")
        self.assertIn("no row names the distribution Unheard of Python", self.said()[1])


if __name__ == "__main__":
    unittest.main()
