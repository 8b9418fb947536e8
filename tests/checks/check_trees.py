"""Small git trees to run a check on."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"


def load_script(name):
    """A script of SCRIPTS as a module."""
    sys.path.insert(0, str(SCRIPTS))
    loader = importlib.machinery.SourceFileLoader(name, str(SCRIPTS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


class CheckTest(unittest.TestCase):
    """A test of the script SCRIPTS / self.check, called with self.arguments."""
    arguments = ()

    def run_on(self, files):
        """Runs the check on a tree of {path: text}; gives its exit status and all that it printed."""
        with tempfile.TemporaryDirectory() as root:
            subprocess.run(["git", "init", "--quiet", root], check=True)
            for path, text in files.items():
                file = pathlib.Path(root, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, SCRIPTS / self.check, *self.arguments, root],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def assert_clean(self, files):
        self.assertEqual(self.run_on(files), (0, ""))

    def assert_fault(self, files, message):
        status, output = self.run_on(files)
        self.assertNotEqual(status, 0)
        self.assertIn(message, output)
