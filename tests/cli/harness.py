"""What the tests of the command line share: running it, and reading what it wrote."""
import csv
import io
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

FENCHEL = os.environ["FENCHEL"]
SECONDS = 120


def run(*arguments, stdin=b"", cwd=None, env=None):
    """A finished run of `fenchel ARGUMENTS`, with stdout and stderr as text."""
    done = subprocess.run([FENCHEL, *map(str, arguments)], input=stdin if isinstance(stdin, bytes) else stdin.encode(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, cwd=cwd,
                          env={**os.environ, **(env or {})})
    done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
    return done


def csv_text(names, rows):
    return "\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n"


class CommandLine(unittest.TestCase):
    """A test case with a folder of its own, in which commands run."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def run_fenchel(self, *arguments, **options):
        return run(*arguments, cwd=self.folder, **options)

    def succeed(self, *arguments, **options):
        """The standard output of a run that must succeed, and say nothing on standard error but warnings of a fit."""
        done = self.run_fenchel(*arguments, **options)
        said = [line for line in done.stderr.splitlines() if not line.startswith("fenchel fit: warning: ")]
        self.assertEqual((done.returncode, said), (0, []), arguments)
        return done.stdout

    def json(self, *arguments, **options):
        return json.loads(self.succeed(*arguments, "--json", **options))

    def table(self, *arguments, **options):
        """The columns of CSV output, by name."""
        rows = list(csv.reader(io.StringIO(self.succeed(*arguments, **options))))
        return {name: [float(row[k]) for row in rows[1:]] for k, name in enumerate(rows[0])}

    def fail_with(self, status, message, *arguments, **options):
        """A run that ends with that status and says that one line."""
        done = self.run_fenchel(*arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (status, message + "\n"), arguments)

    def assert_agree(self, got, expected, tolerance, name=""):
        """The same keys and texts, and numbers that agree relative to the larger of 1 and the number."""
        self.assertEqual(type(got), type(expected), name)
        if isinstance(expected, dict):
            self.assertEqual(list(got), list(expected), name)
        if isinstance(expected, (dict, list)):
            pairs = expected.items() if isinstance(expected, dict) else enumerate(expected)
            self.assertEqual(len(got), len(expected), name)
            for key, value in pairs:
                self.assert_agree(got[key], value, tolerance, f"{name}.{key}")
        elif isinstance(expected, float):
            self.assertAlmostEqual(got, expected, delta=tolerance * max(1, abs(expected)), msg=name)
        else:
            self.assertEqual(got, expected, name)
