"""Does what docs/adding_a_distribution.md says, in a tree of its own: the family compiles and its laws hold.

A block without a language belongs to the line before it: "`FILE`:" is a new file, "`FILE`, after `LINE`:" what stands
after that line of one that there is. $FENCHEL_BUILD is a build tree, $CXX the compiler, with $CXXFLAGS.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from check_trees import SCRIPTS

sys.path.insert(0, str(SCRIPTS))
from blocks import split  # noqa: E402

ROOT = SCRIPTS.parent
BUILD = pathlib.Path(os.environ.get("FENCHEL_BUILD", ROOT / "build" / "dev"))
STEP = re.compile(r"`(\S+)`(?:, after `(.+)`)?:")
FLAGS = ["-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-DFENCHEL_STATIC", "-Iinclude", "-Isrc", "-Ifrontends", "-Itests"]


def steps(text):
    """Triples of file, line after which to write (None for a new file) and what to write."""
    blocks, prose = split(text)
    for block in blocks:
        said = [line for number, line in prose if number < block.line and line.strip()]
        step = STEP.fullmatch(said[-1].strip()) if said and not block.language else None
        if step:
            yield step[1], step[2], block.text


def follow(root, text):
    """Applies the steps of a page to a tree, and gives the files that it made."""
    made = []
    for name, after, block in steps(text):
        path = root / name
        if after is None:
            if path.exists():
                raise ValueError(f"{name} is there already")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block, encoding="utf-8")
            made.append(name)
            continue
        before, line, rest = path.read_text(encoding="utf-8").partition(after + "\n")
        if not line:
            raise ValueError(f"{name} has no line '{after}'")
        path.write_text(before + line + block + rest, encoding="utf-8")
    return made


class AddingADistribution(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = (ROOT / "docs" / "adding_a_distribution.md").read_text(encoding="utf-8")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        for name in ["include", "src", "frontends/cli", "tests/support", "tests/CMakeLists.txt"]:
            (cls.root / name).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, cls.root / name)
        subprocess.run(["git", "init", "--quiet", cls.root], check=True)
        cls.made = follow(cls.root, cls.page)

    def compile(self, *arguments):
        packages = subprocess.run(["pkg-config", "--cflags", "eigen3"], check=True, capture_output=True, text=True).stdout
        done = subprocess.run([os.environ.get("CXX", "c++"), *FLAGS, *shlex.split(os.environ.get("CXXFLAGS", "")),
                               *packages.replace("-I", "-isystem").split(), *arguments], cwd=self.root,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_family_compiles_and_its_laws_hold(self):
        sources = [name for name in self.made if name.endswith(".cpp")]
        self.assertEqual(len(sources), 2, sources)
        self.compile(*sources, "src/predict/integers.cpp", BUILD / "src" / "libfenchel.a", "-fopenmp", "-lgtest", "-lgtest_main",
                     "-pthread", "-o", "laws")
        done = subprocess.run([self.root / "laws"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("[  PASSED  ] 3 tests", done.stdout)

    def test_the_lists_name_its_files(self):
        for name in self.made:
            folder, place = name.partition("/")[::2]
            listed = self.root / ("include/fenchel/fenchel.hpp" if folder == "include" else f"{folder}/CMakeLists.txt")
            self.assertIn(place, listed.read_text(encoding="utf-8"))

    def test_the_command_knows_it(self):
        self.compile("-fsyntax-only", "frontends/cli/families/table.cpp")

    def test_the_folders_are_those_of_the_design(self):
        done = subprocess.run([sys.executable, SCRIPTS / "check_includes", self.root], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_a_page_that_leads_nowhere_is_found(self):
        with self.assertRaisesRegex(ValueError, "src/CMakeLists.txt has no line 'nothing'"):
            follow(self.root, "`src/CMakeLists.txt`, after `nothing`:\n\n```\n  a.cpp\n```\n")
        with self.assertRaisesRegex(ValueError, "src/core/error.cpp is there already"):
            follow(self.root, "`src/core/error.cpp`:\n\n```\nint x;\n```\n")
        self.assertEqual(list(steps("`a.cpp`:\n\n```text\n1\n```\n")), [])


if __name__ == "__main__":
    unittest.main()
